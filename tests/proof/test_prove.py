"""Proofs of claims: verdicts, counterexamples, the text of a proof, and the command."""

import os
import subprocess
import sys
from dataclasses import replace
from functools import wraps
from types import SimpleNamespace

import pytest
import sympy

from mmsim.claims.claim import Precondition
from mmsim.claims.formulas import GCD
from mmsim.claims.verify import Provenance
from mmsim.cli.main import main
from mmsim.errors import FormatError
from mmsim.proof.kept import from_json, to_json
from mmsim.proof.prove import ClaimProof, domains, prove
from mmsim.proof.shown import proof_text
from mmsim.proof.terms import Undecided
from mmsim_algorithms import claims
from mmsim_algorithms.reports.proofs import page_of

CLAIMS = {claim.id: claim for claim in claims()}
DIAGONAL = CLAIMS["SMM-L5.1"]
MADE = Provenance("2026-11-26T10:00:00+00:00", "1d2e3f", "0.2.0", "ab12")


def test_a_claim_is_proved_at_each_width():
    proof = prove(DIAGONAL, range(1, 5))
    assert (proof.widths, proof.verdict) == ([1, 2, 3, 4], "proved for each w up to 4")
    assert prove(DIAGONAL, [4, 8]).verdict == "proved for w = 4, 8"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda n, p, w, l: 2 * n / p * (p / w + l),
        lambda n, p, w, l: n / p * (p / w + l - 1),
        lambda n, p, w, l: 2 * n / p * (p / w + l - 1) + (n / w**2 - 1) * (n / p - 1),
    ],
)
def test_a_wrong_formula_is_refuted_by_a_run(wrong):
    proof = prove(replace(DIAGONAL, formula=wrong), [4])
    case = dict(proof.against)
    measured, claimed = case.pop("measured"), case.pop("claimed")
    assert not proof.proved
    assert proof.verdict.startswith("refuted: on=DMM") or "n=" in proof.verdict
    assert DIAGONAL.run(schedule="synchronous", **case).time == measured
    assert str(wrong(**{name: case[name] for name in "npwl"})).removesuffix(".0") == claimed
    assert all(
        one.holds(**{k: case[k] for k in one.holds.__code__.co_varnames})
        for one in DIAGONAL.requires
    )


def test_a_case_without_a_value_refutes_too():
    claim = CLAIMS["ICPP-L7.d"]
    wrong = replace(claim, formula=lambda n, w, d, L: n / w / (sympy.Integer(1) * d - 1))
    against = prove(wrong, [3]).against
    assert (against["d"], against["claimed"]) == (1, "zoo")


def test_what_was_seen_before_there_are_too_many_cases_refutes_too(monkeypatch):
    monkeypatch.setattr("mmsim.proof.prove.MOST_CASES", 20)
    claim = CLAIMS["SMM-L5.3.swap"]
    wrong = replace(claim, formula=wraps(claim.formula)(lambda **sizes: claim.formula(**sizes) + 1))
    proof = prove(wrong, [2])
    assert proof.why.endswith("there are too many cases, or it takes too long")
    assert proof.against["measured"] + 1 == int(proof.against["claimed"])


def test_a_case_of_the_grid_refutes_what_the_failing_part_does_not():
    claim = CLAIMS["SMM-ST"]
    other = wraps(claim.formula)(lambda **sizes: claim.formula(**{**sizes, "n": sizes["n"] + 5}))
    proof = prove(replace(claim, formula=other), [3])
    assert "the root of a number" in proof.why
    assert proof.against["w"] == 3
    assert proof.against["measured"] == claim.formula(**{k: proof.against[k] for k in "nw"})


def test_a_case_with_0_refutes_too():
    claim = CLAIMS["SCAN-scan-then-add"]
    wrong = replace(claim, formula=wraps(claim.formula)(lambda **sizes: claim.formula(**sizes) + 1))
    assert prove(wrong, [3]).against["k"] == 0


def test_formulas_without_a_rule():
    for wrong in (lambda n: sympy.exp(n), lambda n, p: n / (p + 1), lambda n, p: 1 / (n - p)):
        against = prove(replace(DIAGONAL, formula=wrong), [3]).against
        case = {name: value for name, value in against.items() if name in DIAGONAL.parameters}
        assert against["measured"] == DIAGONAL.formula(**case)
    rounded = replace(DIAGONAL, formula=lambda n, p: GCD((n + 1) / p, 3))  # not of a whole number
    assert "greatest common divisor" in prove(rounded, [3]).why


def test_an_empty_domain_proves_nothing():
    never = Precondition("n = 3", lambda n: True)  # a sentence that says something else
    proof = prove(replace(DIAGONAL, requires=(*DIAGONAL.requires, never)), [4])
    assert "w=4: no sizes seem to satisfy the conditions" in proof.why


def test_what_a_proof_takes_from_the_claim_is_said():
    known = prove(CLAIMS["SMM-L7.2"], [3])
    assert known.known == known.verdict == "proved for w = 3, given the stages of b"
    assert prove(CLAIMS["CFP-A.conflict-free"], [2]).given == ["a", "b"]
    assert prove(CLAIMS["CFP-A.D"], [2]).given == []  # C is its name for a sum


def test_without_a_width_nothing_is_proved():
    proof = prove(DIAGONAL, [])
    assert (proof.proved, proof.asked) == (False, [])
    powers = CLAIMS["SUM-tree"]  # its width is a power of two
    proof = prove(powers, [3])
    assert (proof.widths, proof.proved, proof.known) == ([], False, "")
    assert proof.why == "no sizes satisfy its conditions at these widths"
    assert [*proof_text(powers, 3, float("inf"))][-1] == "For w=3: no sizes satisfy the conditions"
    assert prove(powers, [3, 4]).verdict == "proved for w = 3, 4"


def test_all_cases_of_a_finite_domain_are_a_proof():
    proof = prove(CLAIMS["SMM-E1.DMM"])
    assert proof.verdict == "proved: the one case of its domain"
    wrong = replace(CLAIMS["SMM-E1.DMM"], formula=lambda: 6)
    assert not prove(wrong, [4]).proved


def test_other_claims_are_checked_only():
    bound, misprint = prove(CLAIMS["SMM-T3.1a.O"]), prove(CLAIMS["SMM-L5.1.printed"])
    assert (bound.why, misprint.why) == ("it is a bound", "it is a misprint")
    assert misprint.verdict == "checked on 204 cases"
    alone = prove(replace(DIAGONAL, launches=None))
    assert alone.why == "its launches are not given with symbols"


def test_measures_read_what_a_run_has():
    for id_ in ("CFP-T1.copy.read", "CFP-T2.identical", "SMM-L7.3", "RAP-E3", "CFP-F7"):
        assert prove(CLAIMS[id_], [4]).proved, id_
    counting = replace(DIAGONAL, measure=lambda run: len(run.rounds))
    assert "counts rounds" in prove(counting, [4]).why
    largest = replace(DIAGONAL, measure=lambda run: max(row.stages for row in run.rounds))
    assert "compares single rounds" in prove(largest, [4]).why


def test_the_text_of_a_proof():
    text = "\n".join(proof_text(DIAGONAL, 32, float("inf")))
    for said in (
        "SMM-L5.1, diagonal transpose, DMM: T = 2*n*(l + p/w - 1)/p",
        "For w=32, on=DMM: 1 case",
        "Whole numbers from 1 on: l, n/p, p/32, sqrt(n)/32",
        "sqrt(n) + 1 apart: 1 stage, as no two of them lie in one bank",
        "and 30 other kinds of requests, of 1 stage\n",
        "n/32 requests, n/32 stages, n/p rounds",
        "n/32 + (l - 1) * n/p = l*n/p + n/32 - n/p time units",
        "Together, T = 2*n*(l + p/32 - 1)/p",
        "The difference is 0",
    ):
        assert said in text
    wrong = replace(DIAGONAL, formula=lambda n: n)
    with pytest.raises(Undecided, match="measured - claimed"):
        list(proof_text(wrong, 4, float("inf")))


def test_kept_proofs():
    found = [prove(DIAGONAL, [4]), ClaimProof("SMM-T3.1a", 3, why="x")]
    assert from_json(to_json(found, MADE)) == (MADE, found)
    for text in ("{", '{"format": "x"}', '{"format": "mmsim proofs 1", "made": {}, "proofs": []}'):
        with pytest.raises(FormatError):
            from_json(text)
    page = page_of(MADE, found)
    assert "1 of 2 exact claims are proved: 1 for each width up to 4" in page
    assert "| SMM-T3.1a | `T = n*(l + p/w - 1)/p` | checked on 3 cases | `x` |" in page
    page = page_of(MADE, [ClaimProof("SMM-T3.1a", 3, why="word " * 100)])
    assert "word ...` |" in page
    assert max(map(len, page.splitlines())) < 220


def test_the_command(tmp_path, capsys):
    file = tmp_path / "proofs.json"
    call = ["prove", "RAP-E3", "SMM-L5.1", "--widths", "2,4-5", "--jobs", "1", "--json", str(file)]
    assert main(call) == 0
    printed = capsys.readouterr().out
    assert "proved for w = 2, 4, 5" in printed
    assert "2 of 2 exact claims are proved; 5 bounds and misprints are left out" in printed
    _, found = from_json(file.read_text())
    assert found[0].claim == "SMM-L5.1"
    assert main(["prove", "SMM-ROT", "--widths", "2", "--show"]) == 0
    assert "The difference is 0" in capsys.readouterr().out
    assert main(["prove", "SMM-T3.1a.O", "--show"]) == 1
    assert capsys.readouterr().out == "not proved: SMM-T3.1a.O: it is a bound\n\n"
    assert main(["prove", "SMM-E1", "SMM-L7.2", "--widths", "3", "--show"]) == 0
    printed = capsys.readouterr().out
    assert "The domain is finite, and each of its cases was run:\n  T = 5, claimed 5" in printed
    assert main(["prove", "SMM-T3.1a.printed", "SMM-T6.1", "--show"]) == 1
    assert "not proved: its launches are not given with symbols" in capsys.readouterr().out
    assert main(["prove", "SMM-L5.1", "--show", "--json", str(file)]) == 2
    assert "write one of them" in capsys.readouterr().err
    assert main(["prove", "nothing"]) == 2
    assert "the papers are SMM, CFP" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["0", "1-x", "5-2000", "", "3-", "8-4"])
def test_wrong_widths(text, capsys):
    with pytest.raises(SystemExit):
        main(["prove", f"--widths={text}"])
    assert "width" in capsys.readouterr().err


def test_a_proof_is_the_same_in_each_process():
    """The order of sets of texts has no influence."""
    call = [sys.executable, "-m", "mmsim", "prove", "SMM-L5.2.copy", "--show", "--widths", "3"]
    printed = [
        subprocess.run(
            call, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]
    assert printed[0] == printed[1] != b""


def test_an_interrupt_keeps_what_is_done(tmp_path, monkeypatch, capsys):
    file = tmp_path / "proofs.json"
    file.write_text("of another day")
    finished = []

    def interrupted(ids, widths, seconds, processes, done):
        for id_ in finished:
            done(ClaimProof(id_, 3))
        raise KeyboardInterrupt

    monkeypatch.setattr("mmsim.proof.kept.prove_registered", interrupted)
    call = ["prove", "SMM-L5.1", "SMM-ROT", "--json", str(file)]
    assert main(call) == 130
    assert "interrupted; 0 of 7 claims are done" in capsys.readouterr().err
    assert file.read_text() == "of another day"
    finished += ["SMM-ROT", "SMM-L5.1"]
    assert main(call) == 130
    shown = capsys.readouterr()
    assert "interrupted; 2 of 7 claims are done" in shown.err
    assert "checked on 3 cases" in shown.out
    assert [one.claim for one in from_json(file.read_text())[1]] == ["SMM-L5.1", "SMM-ROT"]


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("SORT-partition", 1),  # whatever the words are
        ("CFP-A.D", 2),  # n is a power of two for some permutations
        ("SMM-SP", 2),  # two machines
    ],
)
def test_texts_that_make_no_difference(name, count):
    assert len(list(domains(CLAIMS[name], 4))) == count


def test_verify_says_what_is_proved(capsys, tmp_path, monkeypatch):
    page = tmp_path / "page.html"
    call = ["verify", "--claim", "SMM-ROT", "--points", "1", "--html", str(page)]
    assert main(call) == 0
    printed = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "proved for each" in printed
    assert "a proof opens by mmsim prove SMM-ROT --show" in printed
    assert (
        '<a href="#proof-SMM-ROT">proved for each w up to 64</a>; checked on ' in page.read_text()
    )
    monkeypatch.setattr("mmsim.proof.kept.texts_in", lambda group, name: ["{"])
    assert main(call) == 1
    said = capsys.readouterr()
    assert "a file proofs.json of a package: these are not proofs" in said.err
    assert "proved" not in said.out
    assert "checked on" in said.out


@pytest.mark.parametrize(
    ("seconds_of", "most", "tried"),
    [
        (lambda width: 0.5, 64, 64),
        (lambda width: width, 64, 5),  # 15 s for 5 widths: far more than 60 for 64
        (lambda width: width, 8, 8),  # of few widths nothing is foreseen
        (lambda width: 16 if width == 3 else 0, 64, 3),  # a width takes a quarter of the time
    ],
)
def test_a_proof_that_will_take_too_long_is_given_up(monkeypatch, seconds_of, most, tried):
    now, widths = [0.0], []

    def cases(claim, domain, until):
        widths.append(domain.fixed["w"])
        now[0] += seconds_of(widths[-1])
        if now[0] > until:
            raise Undecided("it takes too long")
        return [None]

    monkeypatch.setattr("mmsim.proof.prove.time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr("mmsim.proof.prove.proved_cases", cases)
    proof = prove(CLAIMS["SMM-L5.1"], range(1, most + 1), seconds=60)
    assert widths == list(range(1, tried + 1))
    assert proof.proved == (tried == most)
    assert bool(proof.why) == (tried < most)


def test_the_first_of_many_widths_takes_half_of_the_time_at_most(monkeypatch):
    ends = []

    def cases(claim, domain, until):
        ends.append(until)
        raise Undecided("it takes too long")

    monkeypatch.setattr("mmsim.proof.prove.time", SimpleNamespace(monotonic=lambda: 0))
    monkeypatch.setattr("mmsim.proof.prove.proved_cases", cases)
    prove(CLAIMS["SMM-L5.1"], range(1, 65), seconds=60)
    assert ends == [30, 15, 15]
