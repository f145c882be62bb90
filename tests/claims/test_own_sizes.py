"""The claims at the sizes that the papers themselves measure."""

from concurrent.futures import Future
from dataclasses import replace
from typing import ClassVar

import pytest

import mmsim_algorithms
from mmsim.claims import parallel, verify_claim
from mmsim.errors import RoomError
from mmsim.host import free_memory
from mmsim_algorithms import permutations
from mmsim_algorithms.hmm_permutation import plan

CLAIMS = {claim.id: claim for claim in mmsim_algorithms.claims()}
OWN = [claim for claim in CLAIMS.values() if claim.has_own_size]
SMALL = [claim for claim in OWN if claim.paper not in ("ICPP", "IEICE")]
SMALL.append(CLAIMS["IEICE-2.shuffle"])
"""Claims whose own size takes a moment and little memory."""


def at_its_own_size(claim):
    return verify_claim(replace(claim, grid=claim.own, own=tuple, curve=None))


@pytest.mark.parametrize("claim", SMALL, ids=lambda claim: claim.id)
def test_verdict(claim):
    verdict = at_its_own_size(claim)
    assert verdict.result == "holds", verdict.reason


@pytest.mark.long
def test_verdicts_at_the_large_sizes():
    """One test, so that all of them are run by one process."""
    for claim in OWN:
        if claim not in SMALL:
            verdict = at_its_own_size(claim)
            assert verdict.result == "holds", (claim.id, verdict.reason)


def test_icpp_goes_up_to_its_largest_arrays():
    bounds = {"ICPP-LB", "ICPP-LB.sum"}
    exempt = ("ICPP-E1", "ICPP-T3")
    found = {
        claim.id: claim
        for claim in CLAIMS.values()
        if claim.paper == "ICPP" and not claim.printed and not claim.id.startswith(exempt)
    }
    assert len(found) > 25
    assert bounds < set(found)
    for claim in found.values():
        if claim.id not in bounds:
            assert claim.has_own_size, claim.id
    for id_ in ("ICPP-L1.global", "ICPP-L4.D", "ICPP-L4.transpose", "ICPP-L8.d", "ICPP-T9"):
        assert all((case["n"], case["w"]) == (2**24, 32) for case in CLAIMS[id_].own_cases())


def test_icpp_counts_the_distribution_of_its_random_permutation():
    (case,) = CLAIMS["ICPP-L4.D"].own_cases()
    assert case["permutation"] == "random"
    assert 0.9999 * case["n"] < case["D"] < case["n"]


@pytest.mark.parametrize("id_", ["IEICE-1", "IEICE-2.shuffle", "IEICE-2.transpose", "IEICE-3"])
def test_ieice_runs_four_million_words_on_eight_dmms(id_):
    (case,) = CLAIMS[id_].own_cases()
    assert (case["n"], case["w"], case.get("d", case.get("k"))) == (2**22, 32, 8)


@pytest.mark.parametrize(
    "id_", ["RAP-L1.stride", "RAP-L1.DRDW", "RAP-TH2", "RAP-TH2.O", "RAP-T2.1"]
)
def test_rap_goes_up_to_width_256(id_):
    assert max(case["w"] for case in CLAIMS[id_].own_cases()) == 256


def test_sizes_that_are_no_larger_than_the_grids_are_in_the_grids():
    for id_ in ("CFP-A.copy", "CFP-A.D", "CFP-A.S", "CFP-A.conflict-free"):
        assert any((case["n"], case["w"]) == (1024, 32) for case in CLAIMS[id_].cases())
    assert any(case["w"] == 32 for case in CLAIMS["RAP-T3.reads.1"].cases())


def test_a_plan_for_which_there_is_no_room_is_refused(monkeypatch):
    P = permutations.random(2**12)
    monkeypatch.setattr(free_memory, "SMALL", 0)
    monkeypatch.setattr(free_memory, "available", lambda: 2**18)
    with pytest.raises(RoomError, match="the plan for 4096 words needs about"):
        plan(P, 32)


def test_a_claim_is_left_out_where_memory_is_short(monkeypatch):
    claim = CLAIMS["ICPP-L7"]
    monkeypatch.setattr(free_memory, "available", lambda: 2**24)
    verdict = verify_claim(
        replace(
            claim,
            grid=lambda: [{"rows": 4, "n": 16, "w": 4, "d": 1, "L": 5}],
            own=lambda: [{"rows": 1024, "n": 2**20, "w": 32, "d": 1, "L": 5}],
        )
    )
    assert (verdict.result, verdict.cases, verdict.own) == ("holds", 1, ())
    assert "a table for the rows of 1048576 words needs about 0.1 GiB" in verdict.left_out


class Inline:
    """A pool of one process that works immediately and keeps what it was given."""

    pools: ClassVar[list["Inline"]] = []

    def __init__(self, workers, mp_context):
        assert workers == 1
        self.given = []
        self.pools.append(self)

    def shutdown(self):
        return None

    def submit(self, function, id_, points):
        self.given.append(id_)
        future = Future()
        future.set_result(verify_claim(replace(CLAIMS[id_], curve=None), own_size=False))
        return future


@pytest.fixture
def pools(monkeypatch):
    monkeypatch.setattr(parallel, "ProcessPoolExecutor", Inline)
    monkeypatch.setattr(Inline, "pools", [])
    return Inline.pools


def test_all_own_sizes_fall_to_one_process(pools):
    ids = ["SMM-E1.DMM", "RAP-T2.w", "SMM-E1.UMM", "ICPP-L1.shared.one"]
    done = []
    verdicts = parallel.verify_registered(ids, 3, done.append)
    assert [verdict.id for verdict in verdicts] == ids
    assert len(done) == 4
    assert [pool.given for pool in pools] == [
        ["RAP-T2.w", "ICPP-L1.shared.one"],
        ["SMM-E1.DMM"],
        ["SMM-E1.UMM"],
    ]


def test_the_process_of_the_own_sizes_then_helps_with_the_others(pools):
    ids = ["SMM-E1.DMM", "SMM-E1.UMM", "RAP-T2.w", "ICPP-E1.DMM"]
    parallel.verify_registered(ids, 2, lambda _: None)
    assert [pool.given[0] for pool in pools] == ["RAP-T2.w", "SMM-E1.DMM"]
    assert {pool.given[1] for pool in pools} == {"SMM-E1.UMM", "ICPP-E1.DMM"}


def test_one_process_keeps_the_order(pools):
    ids = ["SMM-E1.DMM", "RAP-T2.w", "SMM-E1.UMM"]
    parallel.verify_registered(ids, 1, lambda _: None)
    assert [pool.given for pool in pools] == [ids]


def test_without_own_sizes_every_process_takes_part(pools):
    parallel.verify_registered(["SMM-E1.DMM", "SMM-E1.UMM"], 3, lambda _: None)
    assert [pool.given for pool in pools] == [["SMM-E1.DMM"], ["SMM-E1.UMM"], []]
