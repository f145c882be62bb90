"""Every claim of the papers comes out as it must; every listed row of the ledger has one.

Each claim is verified in a few cases all over its grid, with every machine and every other choice;
`make verify` and the long tests take all cases.
"""

import sys
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import mmsim as mm
import mmsim_algorithms
from mmsim.claims import ClaimError, registered, verify_claim
from mmsim.claims.claim import call_with
from mmsim.ir.liveness import Registers
from mmsim.meaning.launch import Launch
from mmsim_algorithms import permutations
from mmsim_algorithms.access.bounds_claims import READS, RUNS
from tests.kit.runs.some_cases import some

CLAIMS = mmsim_algorithms.claims()
BY_ID = {claim.id: claim for claim in CLAIMS}
COSTLY = {
    *("DP-HMM.O", "ICPP-T3.least", "ICPP-T3.most", "POLY-diagonals.O", "POLY-eager.O", "RAP-TH2.O"),
    *("RAP-TH2.any.printed", "SMM-w8", "SMM-w8.tables", "SORT-merge.free.O"),
    *("SORT-columns.O", "SORT-merging.O"),
    *("ASM-HMM.O", "DP-HMM", "ICPP-T3.eps.most", "RAP-T2.mean.least", "RAP-T2.mean.most"),
    *("RAP-T4.O", "SAT-1R1W.O", "SCAN-tree.O", "SMM-L5.3.swap.printed", "SMM-T7.6"),
    *("SMM-w4.tables", "SORT-bitonic.O", "SUM-async.O"),
    *("DP-LB.sums", "RAP-T1.RAS.stride.least", "RAP-T1.RAS.stride.most", "SAT-hybrid", "SAT-trees"),
    *("SAT-trees.O", "SAT-trees.O.any", "SMM-w4.steps.tables"),
    *("ASM-flat.O", "DP-HMM.global", "SCAN-doubling.O", "SMM-C3.2.O", "SMM-L7.5"),
    *("LIST-positions.O", "POLY-pipeline.O", "RAP-T1.RAS.any", "RAP-T1.RAS.worst"),
    *("SAT-hybrid.matrix", "SAT-LB", "SCAN-TCU.calls.O", "SMM-w4.steps.data", "SMM-w4.steps.O"),
}
"""Claims of which a few cases take seconds, too: left to `make verify` and the long tests."""

each_claim = pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)


def verify_in(claim, cases):
    verdict = verify_claim(replace(claim, grid=lambda: cases), own_size=False)
    expected = "holds in part" if claim.only else "refuted" if claim.printed else "holds"
    assert verdict.result == expected, verdict.reason
    assert verdict.cases == len(cases)


@pytest.mark.parametrize(
    "claim", [one for one in CLAIMS if one.id not in COSTLY], ids=lambda claim: claim.id
)
def test_verdict(claim):
    if claim.kind == "upper":  # its growth is seen over many sizes
        verify_in(claim, some(claim.cases(), 12, sys.maxsize))
    elif claim.printed:  # a case must contradict it
        verify_in(claim, some(claim.cases(), 12))
    else:
        verify_in(claim, some(claim.cases()))


@pytest.mark.long
@each_claim
def test_verdict_in_every_case(claim):
    verify_in(claim, claim.cases())


def test_some_cases_have_every_choice_and_lie_all_over_the_grid():
    grid = [{"on": on, "n": n} for on in ("DMM", "UMM") for n in range(100)]
    found = some(grid, 4)
    assert {case["on"] for case in found} == {"DMM", "UMM"}
    assert [case["n"] for case in found] == [0, 50, 0, 50]
    last = [*grid, {"on": "HMM", "n": 7}]
    assert some(last, 4)[-1] == last[-1]
    assert some(grid[:6]) == grid[:6]


GRIDS = [
    (
        "SMM-T3.1a SMM-T3.1b SMM-T3.1c SMM-C3.2 SMM-L5.1 SMM-ROT SMM-L5.2",
        {"w": {2, 3, 4, 5, 8, 12, 16, 32}, "l": {1, 2, 5, 30}},
        {},
    ),
    (
        "CFP-A.D CFP-A.S CFP-A.conflict-free",
        {"w": {2, 3, 4, 5, 8, 12, 16, 32}},
        {"l": {1, 2, 5, 30}, "permutation": set(permutations.NAMED)},
    ),
    (
        "ICPP-L5.d ICPP-L7.d ICPP-L8.d IEICE-3",
        {"d": {1, 2, 3, 4}},
        {"L": {1, 5, 30, 100}, "w": {1, 2, 3, 4, 5, 8}},
    ),
]
"""Claims, and the parameters of which their cases have at least, or just, these values."""


@pytest.mark.parametrize(("ids", "least", "just"), GRIDS)
def test_exact_grids_cover_the_required_parameters(ids, least, just):
    for id_ in ids.split():
        cases = BY_ID[id_].cases()
        assert set(product(*least.values())) <= {tuple(map(case.get, least)) for case in cases}
        assert {name: {case[name] for case in cases} for name in just} == just
        assert len({case["n"] for case in cases}) > 5


@pytest.mark.parametrize(
    ("id_", "outside"),
    [
        ("ICPP-T3.eps.least", {"n": 64, "w": 16}),
        ("ICPP-T3.most", {"n": 64, "w": 8, "count": 1}),
        *(("ICPP-T1.d_designated", {"n": 64, "w": 1}), ("ICPP-T1.s_designated", {"n": 4, "w": 2})),
        *(("ICPP-L5", {"rows": 12, "n": 32, "w": 2}), ("ICPP-L4.transpose", {"n": 80, "w": 2})),
        ("ICPP-T9", {"permutation": "shuffle", "n": 36, "w": 2}),
        ("ICPP-LB", {"algorithm": "shuffle", "n": 36, "w": 2, "d": 1}),
        *(("RAP-TH2.O", {"w": 2, "m": 200}), ("RAP-TH2.O", {"w": 6, "m": 200})),
        *(("RAP-TH2.O", {"w": 8, "m": 15}), ("RAP-TH2.any", {"w": 8, "m": 15})),
        *(("RAP-L4", {"w": 2, "in_row": 1}), ("RAP-L4", {"w": 41, "in_row": 1})),
        ("RAP-TH3", {"w": 64, "in_row": 1, "t": 16}),
        *(("RAP-TH3", {"w": 9, "in_row": 1, "t": 2}), ("RAP-T4.O", {"w": 2, "p": 16})),
        ("RAP-T4.O", {"w": 8, "p": 8}),
        *(("RAP-T2.mean.most", {"w": 16, "m": 400, "hundredths": 300}), ("RAP-CUDA", {"w": 16})),
    ],
)
def test_a_domain_ends_where_the_claim_says_nothing(id_, outside):
    case = {**BY_ID[id_].cases()[0], **outside}
    assert not all(call_with(condition.holds, case) for condition in BY_ID[id_].requires)


@pytest.mark.parametrize(
    "claim",
    [claim for claim in CLAIMS if "register" in claim.title],
    ids=lambda claim: claim.id,
)
def test_a_claim_that_names_registers_refuses_a_run_that_needs_more(claim, monkeypatch):
    claim.run(schedule="synchronous", **claim.cases()[0])
    monkeypatch.setattr(Launch, "registers", Registers(data=999, words=999))
    with pytest.raises(ClaimError, match="needs 999 registers for data, the claim names"):
        claim.run(schedule="synchronous", **claim.cases()[0])


def test_registered_through_the_entry_point():
    assert {claim.id for claim in CLAIMS} <= {claim.id for claim in registered()}


@pytest.mark.parametrize("program", RUNS)
def test_the_lower_bounds_notice_a_program_that_skips_words(program):
    (claim,) = (c for c in CLAIMS if c.id == ("SMM-T4.1" if program in READS else "SMM-T4.1.moved"))
    one = [{"program": program, "on": "DMM", "n": 1024, "p": 1024, "w": 4, "l": 1}]
    assert verify_claim(replace(claim, grid=lambda: one)).result == "holds"

    def quarter(schedule, program, on, n, p, w, l):
        return RUNS[program](schedule=schedule, on=on, n=n // 4, p=p // 4, w=w, l=l)

    assert verify_claim(replace(claim, grid=lambda: one, run=quarter)).result == "fails"


def test_erratum_2_counterexample_of_the_ledger():
    """w = 9, sqrt n = 12: a warp of the diagonal transpose meets congestion 3."""
    from mmsim_algorithms.transpose import diagonal

    a = np.arange(144).reshape(12, 12)
    run = mm.DMM(9, 1).run(diagonal, a, np.zeros_like(a), threads=144, trace=True)
    assert max(dispatch.stage_count for dispatch in run.trace.dispatches) == 3


def test_erratum_3_counterexample_of_the_ledger():
    """w = 8, sqrt n = 16, p = 256: the reads take 256 stages where the claim allows 32."""
    from mmsim_algorithms.transpose import straightforward

    a = np.arange(256).reshape(16, 16)
    run = mm.UMM(8, 1).run(straightforward, a, np.zeros_like(a), threads=256)
    assert [row.stages for row in run.accesses if row.kind == "read"] == [256]


def test_diagonal_transpose_can_meet_a_single_bank():
    """sqrt n = w - 1: a warp steps by w words; the paper's 'regardless of n' is too much."""
    from mmsim_algorithms.transpose import diagonal

    a = np.arange(961).reshape(31, 31)
    run = mm.DMM(32, 1).run(diagonal, a, np.zeros_like(a), threads=961, trace=True)
    assert max(dispatch.stage_count for dispatch in run.trace.dispatches) == 31
