"""Proofs as data: they verify, and a change of any number in them is refused."""

import copy
import json
from functools import cache
from random import Random

import pytest

from mmsim.claims import registered
from mmsim.cli.main import main
from mmsim.errors import EndlessError
from mmsim.proof.certificate import certificate, to_json
from mmsim.verifier.cases import Case
from mmsim.verifier.polynomials import Refused, of, symbol
from mmsim.verifier.proof import read_proofs, verify
from mmsim.verifier.requests import Rounds

CLAIMS = {claim.id: claim for claim in registered()}
PROVED = [
    *(("SMM-T3.1a", 2), ("SMM-ST", 3), ("SMM-ROT", 4), ("SMM-L5.1", 2), ("SMM-L5.2.local", 2)),
    *(("SMM-L7.2", 2), ("CFP-A.copy", 2), ("CFP-E1.D", None), ("CFP-T2.shuffle", 2)),
    *(("ICPP-L1.shared", 3), ("ICPP-L5.d", 2), ("SUM-tree", 2), ("SUM-HMM", 1), ("SCAN-tree", 2)),
    *(("SAT-2R2W", 2), ("MATMUL-rows", 2), ("MATMUL-HMM.tiled", 2), ("CONV-direct.UMM", 2)),
    *(("POLY-diagonals", 2), ("HIST-HMM", 2), ("HIST-atomic", 2), ("SPMV-ell", 2)),
    *(("SMM-T6.3", 3), ("ASM-HMM", 2), ("SAT-2R1W.reads", 4), ("STENCIL-columns", 2)),
]


@cache
def proof_of(name, width):
    return json.loads(to_json([certificate(CLAIMS[name], width, 30)]))["proofs"][0]


@pytest.mark.parametrize(("name", "width"), PROVED)
def test_the_proof_verifies(name, width):
    done = verify(list(CLAIMS.values()), proof_of(name, width))
    assert 0 < done["cases"] <= done["runs"]
    assert done["requests"]
    assert done["requests of runs"]


def test_a_run_with_too_many_accesses_is_left_out(monkeypatch):
    tried = []

    def endless(_, numbers):
        tried.append(numbers)
        raise EndlessError("100,000 accesses", program="sum")

    monkeypatch.setattr("mmsim.verifier.proof.traced", endless)
    done = verify(list(CLAIMS.values()), proof_of("SUM-tree", 2))
    assert done["cases"] > done["runs"] == 0
    assert len(tried) <= 2 * done["cases"]  # larger sizes aren't tried after it


def test_of_a_wide_range_a_few_points_are_kept():
    case = Case({"n": symbol("n")}, {"n": 10**9}, [])
    rounds = Rounds.__new__(Rounds)
    rounds.case = case
    with rounds.over([("i", [[0, {}]], [[1, {"n": 1}]])]) as ranges:
        assert ranges == [("i", of(0), symbol("n"))]
        assert 1 < len(case.samples) <= 13
        assert all(0 <= point["i"] < point["n"] for point in case.samples)


def refused(proof, words=None):
    with pytest.raises(Refused, match=words) as error:
        verify(list(CLAIMS.values()), proof)
    return str(error.value)


@pytest.mark.parametrize(
    ("name", "width", "parts"), [("ICPP-L4.shuffle", 3, 1), ("CFP-T2.wide.transpose", 1, 2)]
)
def test_an_empty_domain_is_seen_to_be_empty(name, width, parts):
    """3 divides no power of two; and 4w <= n = w^2 is false for w = 1."""
    done = verify(list(CLAIMS.values()), proof_of(name, width))
    assert dict(done) == {"cases": 0, "runs": 0, "points of the domain": 0, "empty cases": parts}


@pytest.mark.parametrize(
    ("w", "facts", "empty"),
    [
        (3, [["divides", "w", "p"], ["divides", "p", "n"], ["power", "n", "2"]], True),
        (6, [["divides", "w", "sqrt(n)"], ["power", "n", "2"]], True),
        (4, [["divides", "w", "p"], ["divides", "p", "n"], ["power", "n", "2"]], False),
        (3, [["divides", "w", "p"], ["divides", "n", "p"], ["power", "n", "2"]], False),
        (3, [["divides", "w", "p"], ["divides", "p", "n"], ["power", "n", "3"]], False),
        (3, [["divides", "p", "n"], ["divides", "n", "p"], ["power", "n", "2"]], False),
        (4, [["divides", "4*n + 3", "w"]], True),
        (3, [["divides", "4*n + 3", "w"]], False),
        (1, [["equal", "n", "w**2"], ["least", "n - 4*w"]], True),
        (4, [["equal", "n", "w**2"], ["least", "n - 4*w"]], False),
    ],
)
def test_conditions_that_no_sizes_satisfy(w, facts, empty):
    values = {"w": of(w), "n": symbol("n"), "p": symbol("p")}
    assert Case(values, {"n": 0, "p": 1}, facts).empty == empty


def test_an_equation_that_no_sizes_satisfy():
    """4 = 2xy, where x is 3 or more."""
    case = Case({"n": symbol("n"), "p": symbol("p")}, {"n": 3, "p": 1}, [])
    case.equal = [of(4) - symbol("n") * symbol("p") * 2]
    assert case.empty
    case.lows["n"] = 2
    assert not case.empty


@pytest.mark.parametrize(("number", "empty"), [(32, True), (36, False)])
def test_bounds_that_no_sizes_satisfy(number, empty):
    """32 is no square."""
    case = Case({"n": symbol("n")}, {"n": 1}, [])
    case.least = [symbol("n") ** 2 - number, number - symbol("n") ** 2]
    assert case.empty == empty


def numbers(value, path=()):
    """The places of numbers in a value of lists and dictionaries."""
    if isinstance(value, int):
        yield path
    elif isinstance(value, list | dict):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(one, (*path, key))


def changed(value, path, change):
    """A copy of a value with another number at a place."""
    found = copy.deepcopy(value)
    inner = found
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = change(inner[path[-1]])
    return found


@pytest.mark.parametrize(
    ("name", "width"), [("SMM-T3.1a", 2), ("SMM-ROT", 3), ("MATMUL-HMM.tiled", 2), ("SUM-tree", 2)]
)
def test_no_number_can_be_another_one(name, width):
    proof = proof_of(name, width)
    kept = [
        path
        for path in numbers(proof)
        if path[-1] != "warp"  # where there is one warp, 0 may have any power
    ]
    for path in Random(name).sample(kept, 6):
        refused(changed(proof, path, lambda value: value + 1))


LEAF = ("domains", 0, "tree", "parts", "0", "parts", "0", "parts", "0", "parts", "0", "leaf")
ROW = (*LEAF, "launches", 0, 0)
CLASS = (*ROW, "made", 0, "made", 0, "classes", 0)


@pytest.mark.parametrize(
    ("path", "change", "words"),
    [
        ((*LEAF, "claimed", 0, 0), lambda value: value + 1, "the claimed term is"),
        ((*LEAF, "measured", 0, 0), lambda value: value + 1, "the measured term is"),
        ((*ROW, "stages", 0, 0), lambda value: value + 1, "line 18 of contiguous, m: stages are"),
        ((*ROW, "rounds", 0, 0), lambda value: value + 1, "line 18 of contiguous, m: rounds are"),
        ((*ROW, "line"), lambda value: value + 1, "the run has . requests of line 1"),
        ((*CLASS, "stages", 0, 0), lambda value: value + 1, "has 2 stages in the data, but 1"),
        ((*CLASS, "lanes"), lambda value: value - 1, "the run has . requests of line 18"),
        ((*CLASS, "words", 0, 0, 0, 1), lambda value: value + 2, "stages in the data|the run has"),
        ((*CLASS, "ranges", 0, 1), lambda _: [[-1, {}]], "may end before it begins"),
        ((*CLASS, "ranges", 0, 2, 0, 0), lambda value: value + 1, "contiguous, m: requests are"),
        ((*LEAF, "launches", 0), lambda _: [], "the measured term is"),
        (LEAF[:4], lambda _: {}, "this part of the domain isn't covered"),
        (LEAF[:4], lambda parts: {**parts, "1": None}, "more parts than"),
        (("domains",), lambda domains: domains[1:], "a part of the domain is missing"),
        (("domains", 0, "facts", 0, 1), lambda _: "2*w", "the condition .* is false where"),
        (("domains", 0, "facts"), lambda _: [], "it isn't a condition that"),
        (("domains", 0, "tree"), lambda _: {"leaf": 1}, "this is no proof"),
        (("claim",), lambda _: "SMM", "'SMM' is no claim"),
    ],
)
def test_a_false_statement_is_named(path, change, words):
    said = refused(changed(proof_of("SMM-T3.1a", 2), path, change), words)
    assert path == ("claim",) or said.startswith("SMM-T3.1a, w = 2")


def test_a_wrong_sum_is_refused():
    proof = proof_of("POLY-diagonals", 2)
    paths = [path for path in numbers(proof) if "sums" in path and path[-3] == 2]
    assert paths
    refused(changed(proof, paths[0], lambda value: value + 1), "is not the sum of")


def test_a_symbol_has_one_meaning():
    text = json.dumps(proof_of("SMM-T3.1a", 2))
    assert '"p/w"' in text
    refused(json.loads(text.replace('"p/w"', '"l"')), "it isn't a condition that")


def test_the_command_writes_and_verifies(tmp_path, capsys):
    file = tmp_path / "proofs.json"
    call = ["prove", "SMM-ROT", "SMM-ST", "--widths", "2-3", "--data", str(file)]
    assert main(call) == 0
    assert capsys.readouterr().out.startswith("4 proofs in ")
    assert main(["prove", "--check", str(file)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert len(out) == 4
    assert out[0].startswith("SMM-ST, w = 2: verified: ")
    text = file.read_text("utf-8")
    proofs = read_proofs(text)
    place = next(path for path in numbers(proofs) if "claimed" in path)
    file.write_text(to_json(changed(proofs, place, lambda value: value + 1)), "utf-8")
    assert main(["prove", "--check", str(file)]) == 1
    assert "mmsim: refused: SMM-ST, w = 2, case 1 (" in capsys.readouterr().err
    file.write_text("[]", "utf-8")
    assert main(["prove", "--check", str(file)]) == 1
    assert "this is no file of proofs" in capsys.readouterr().err


def test_what_has_no_form_as_data_says_why(tmp_path, capsys):
    file = tmp_path / "proofs.json"
    assert main(["prove", "RAP-L1.stride", "--widths", "4", "--data", str(file)]) == 1
    assert "RAP-L1.stride, w = 4: no proof as data: " in capsys.readouterr().err
    assert read_proofs(file.read_text("utf-8")) == []
