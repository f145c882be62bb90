"""The formulas of times are found from runs alone."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mmsim as mm
from mmsim.claims import FitError, registered
from mmsim.claims.fit import fit_claim, fit_numbers, fitted
from mmsim.claims.terms import Term, terms_of
from mmsim.cli.main import main

GRID = [
    dict(zip("npwl", values, strict=True))
    for values in product((64, 128, 256, 512), (8, 16, 32, 64), (2, 4, 8, 16), (1, 2, 4, 8))
]
FEW = [
    case for case in GRID if case["n"] < 512 and case["p"] < 64 and case["w"] < 16 and case["l"] < 8
]
"""A search in vain tries everything, which takes ten times as long in all of the grid."""
OF_TIMES = ("n/w", "l*n/p", "n/p", "p/w", "l", "w", "l*w", "n", "n*log2(n)/w", "l*log2(n)", "1")
TERMS = [
    term for term in terms_of({name: [2, 4, 8, 16] for name in "npwl"}) if str(term) in OF_TIMES
]
assert len(TERMS) == len(OF_TIMES)
EXACT = [claim for claim in registered() if claim.kind == "exact" and not claim.printed]


def numbers(formula, grid=GRID):
    return [formula(**case) for case in grid]


@mm.program
def copy(T, a, b):
    for i in range(T.id, len(a), T.count):
        b[i] = a[i]


def test_the_time_of_a_program():
    grid = {"n": [128, 256, 512], "p": [16, 32, 64], "w": [4, 8, 16], "l": [1, 5, 8]}
    found = mm.fit(
        copy,
        grid,
        machine=lambda w, l: mm.DMM(w, l),
        arguments=lambda n: (np.arange(n), np.zeros(n, int)),
    )
    assert found.unique
    assert str(found) == "T = 2*l*n/p - 2*n/p + 2*n/w\nexact in all 81 cases"
    assert str(found.statement) == "Eq(T, 2*n*(l/p + 1/w - 1/p))"
    assert found.value({"n": 1024, "p": 32, "w": 32, "l": 7}) == 2 * 32 * (7 + 1 - 1)


def test_what_is_measured_may_be_something_else():
    def run(w, l):
        return mm.DMM(w, l).run(copy, np.arange(64), np.zeros(64, int), threads=16)

    found = mm.fit(
        run,
        {"w": [2, 4, 8, 16], "l": [1, 2, 4]},
        measure=lambda run: sum(row.stages for row in run.accesses),
        quantity="S",
    )
    assert str(found).startswith("S = 128/w\n")


@settings(max_examples=6, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(1, 9), st.sampled_from(TERMS)),
        min_size=1,
        max_size=4,
        unique_by=lambda one: str(one[1]),
    )
)
def test_a_sum_of_terms_is_found(parts):
    """A formula of as few terms is found that is exact in all cases; if only one, it is the sum."""
    wanted = [sum(factor * term.value(case) for factor, term in parts) for case in FEW]
    found = fit_numbers(FEW, wanted)
    assert found.exact
    assert [found.value(case) for case in FEW] == wanted
    assert len(found.terms) <= len(parts)
    if found.unique and len(found.terms) == len(parts):
        assert {(Fraction(factor), str(term)) for factor, term in parts} == {
            (factor, str(term)) for factor, term in found.terms
        }


def test_a_sum_is_found_whose_largest_terms_look_like_others():
    found = fit_numbers(
        GRID, numbers(lambda n, p, w, l: n + n * (n.bit_length() - 1) // w + 4 * w + 9 * n // p)
    )
    assert {str(term) for _, term in found.terms} == {"n", "n*log2(n)/w", "w", "n/p"}
    assert found.exact


def test_what_is_no_sum_of_terms_is_left_over():
    wanted = numbers(lambda n, p, w, l: n // w + min(p, l * w), FEW)
    found = fit_numbers(FEW, wanted)
    assert not found.exact
    assert 0 < found.share < 1
    assert str(found).startswith("T ~ ")
    assert f"left over in {len(FEW)} cases: at most" in str(found)
    apart = [abs(found.value(case) - one) for case, one in zip(FEW, wanted, strict=True)]
    assert max(apart) == found.left_over > 0


def test_one_wrong_number_is_seen():
    wanted = numbers(lambda n, p, w, l: n // w + l, FEW)
    assert fit_numbers(FEW, wanted).exact
    wanted[17] += 1
    assert not fit_numbers(FEW, wanted).exact


def test_formulas_that_the_cases_cant_distinguish_are_named():
    cases = [{"w": w, "l": l, "p": p} for w, l, p in product((2, 4), (1, 2, 3), (2, 4, 8))]
    found = fit_numbers(cases, [(case["w"] - 1) * case["l"] for case in cases])
    assert found.exact
    cases = [case for case in cases if case["l"] in (1, 2)]
    found = fit_numbers(cases, [3 * case["l"] - 2 + case["w"] for case in cases])
    assert not found.unique
    assert "so is T = " in str(found)


def test_parameters_that_follow_from_others_are_named():
    cases = [
        {"n": w * w, "p": w, "w": w, "l": l, "x": "text"} for w in (2, 4, 8, 16) for l in (1, 2, 5)
    ]
    found = fit_numbers(cases, [2 * case["l"] * case["w"] for case in cases])
    assert found.tied == ("p = w", "n = w^2")
    assert str(found) == "T = 2*l*w\nexact in all 12 cases\nin all cases p = w, n = w^2"


def test_logarithms_are_found():
    cases = [{"n": 2**a, "w": 2**b} for a in range(3, 9) for b in range(1, 5)]
    values = [
        3 * case["n"] // case["w"] * (case["n"].bit_length() - 1) ** 2 + case["w"] for case in cases
    ]
    assert str(fit_numbers(cases, [int(v) for v in values])).startswith("T ")
    exact = [
        Fraction(case["n"], case["w"]) * (case["n"].bit_length() - 1) ** 2 + 5 for case in cases
    ]
    found = fit_numbers(cases, exact)
    assert found.formula == "n*log2(n)^2/w + 5"
    assert str(found.statement.rhs) == "n*log2(n)**2/w + 5"
    assert str(Term((("w", 2),), ("n", 1))) == "w^2*log2(n)"


def test_too_little_is_refused():
    with pytest.raises(FitError, match="4 cases are too few for a formula; give a grid of at"):
        fit_numbers([{"w": w} for w in (1, 2, 3, 4)], [1, 2, 3, 4])
    with pytest.raises(FitError, match="no parameter takes two whole numbers"):
        fit_numbers([{"w": 4, "kind": str(n)} for n in range(8)], [1] * 8)
    with pytest.raises(FitError, match="say on which machines 'copy' runs"):
        mm.fit(copy, {"n": [1, 2]})
    with pytest.raises(FitError, match="the grid lacks p"):
        mm.fit(copy, {"n": [4, 8]}, machine=lambda: mm.DMM(2, 2), arguments=lambda n: ())
    with pytest.raises(FitError, match="can't be the name of a quantity"):
        mm.fit(lambda n: None, {"n": [1]}, quantity="a b")


@pytest.mark.parametrize("name", ["SMM-T4.1.hidden", "ICPP-L4.D", "RAP-L1.DRDW", "SMM-L7.4"])
def test_a_claims_formula_is_found_from_its_runs(name):
    (claim,) = (one for one in EXACT if one.id == name)
    found = fit_claim(claim, 40)
    assert found.outcome == "found"
    assert found.fit.cases <= 40


def test_a_claim_that_is_wrong_outside_its_runs_is_seen():
    (good,) = (one for one in EXACT if one.id == "SMM-L7.4")
    bad = replace(good, formula=lambda w, l: 9 * l * w)
    assert fit_claim(bad, 40).outcome == "wrong"


@pytest.mark.long
def test_most_exact_claims_are_found_and_none_is_wrong():
    outcomes = [one.outcome for one in fitted(EXACT)]
    assert "wrong" not in outcomes
    assert outcomes.count("found") >= 40


def test_the_command_finds_the_formula_of_a_claim(capsys):
    assert main(["fit", "--claim", "SMM-L7.4.one-pass", "SMM-E1.DMM"]) == 0
    text = capsys.readouterr().out
    assert "T = 5*l*w" in text
    assert "3 exact claims: 2 found, 1 too few cases" in " ".join(text.split())


def test_the_command_reads_a_sweep(tmp_path, capsys):
    file = tmp_path / "rows.jsonl"
    call = "sweep mmsim_algorithms.access:stride --width 4 8 16 --latency 1 5 7 --size 4096"
    status = main([*call.split(), "--threads", "64", "128", "--out", str(file), "--jobs", "1"])
    assert status == 0
    capsys.readouterr()
    assert main(["fit", str(file)]) == 0
    text = capsys.readouterr().out
    assert "stride synchronous dmm: T = 4096*l/p - 4096/p + 4096\n" in text
    assert "exact in all 18 cases" in text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is empty"),
        ('{"key": "k1", "source": "", "error": "E", "message": ""}\n', "every case in it failed"),
    ],
)
def test_the_command_reports_a_file_without_times(tmp_path, capsys, text, why):
    file = tmp_path / "rows.jsonl"
    file.write_text(text)
    assert main(["fit", str(file)]) == 2
    assert f"{file} has no times to fit: {why}; sweep again" in capsys.readouterr().err
