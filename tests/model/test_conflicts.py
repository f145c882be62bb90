"""The cost of one warp's request: the congestion of banks, the number of address groups."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmsim.model.conflicts import Banks, Conflict, Groups, InParts, InTurn


class AnotherBanks(Conflict):
    """The rule of banks as a user would write it: nothing but what has to be written."""

    name, place, free = "another", "bank", "conflict-free"

    def cells(self, addresses):
        return addresses % self.width

    def stage_of(self, addresses, lanes=None):
        return Banks(self.width).stage_of(addresses)


def counts(warps, conflict, number=None):
    """`stage_counts` of warps given as lists of addresses."""
    addresses = np.array([address for warp in warps for address in warp], np.int64)
    owners = np.repeat(np.arange(len(warps)), [len(warp) for warp in warps])
    return conflict.stage_counts(addresses, owners, number or len(warps)).tolist()


def test_a_bank_fills_its_stages_in_ascending_order_of_address():
    assert Banks(4).stage_of([12, 4, 8, 1, 4, 5]) == [2, 0, 1, 0, 0, 1]


def test_warps_without_a_request_take_no_stage():
    for kind in (Banks, Groups, AnotherBanks):
        assert counts([[0, 4], [], [3]], kind(4), number=5) == [2, 0, 1, 0, 0]
        assert counts([], kind(4), number=2) == [0, 0]


def most_in_one_bank(warp, width):
    return max(len({a for a in warp if a % width == bank}) for bank in range(width))


def groups(warp, width):
    return len({address // width for address in warp})


WARPS = st.lists(st.lists(st.integers(0, 60), min_size=1, max_size=12), min_size=1, max_size=6)


@given(WARPS, st.integers(1, 9))
def test_all_three_ways_to_count_agree_with_the_definition(warps, width):
    kinds = (Banks, most_in_one_bank), (AnotherBanks, most_in_one_bank), (Groups, groups)
    for kind, definition in kinds:
        conflict = kind(width)
        expected = [definition(warp, width) for warp in warps]
        assert [conflict.stages(warp) for warp in warps] == expected
        assert [max(conflict.stage_of(warp)) + 1 for warp in warps] == expected
        assert counts(warps, conflict) == expected


@given(st.permutations(range(12)), st.integers(1, 9))
def test_warps_may_come_in_any_order_of_lanes(order, width):
    addresses, warps = np.arange(12) * 3 % 17, np.array([0, 0, 0, 1, 1, 3, 3, 3, 3, 5, 5, 5])
    for kind in (Banks, AnotherBanks, Groups):
        expected = kind(width).stage_counts(addresses, warps, 7).tolist()
        assert kind(width).stage_counts(addresses[order], warps[order], 7).tolist() == expected


@given(WARPS, st.integers(1, 9))
def test_a_stage_takes_one_address_of_a_bank_or_one_group(warps, width):
    for warp in warps:
        in_bank = {
            (s, a % width, a) for s, a in zip(Banks(width).stage_of(warp), warp, strict=True)
        }
        assert len({(stage, bank) for stage, bank, _ in in_bank}) == len(set(warp))
        in_group = zip(Groups(width).stage_of(warp), warp, strict=True)
        order = sorted({(address // width, stage) for stage, address in in_group})
        assert [stage for _, stage in order] == list(range(len(order)))


ASKED = st.dictionaries(st.integers(0, 15), st.integers(0, 60), min_size=1)


@given(
    st.lists(ASKED, min_size=1, max_size=4), st.integers(1, 16), st.sampled_from([Banks, Groups])
)
def test_parts_take_the_stages_of_their_own_requests(warps, width, kind):
    rule, requests = InParts(width, kind(4)), [sorted(warp.items()) for warp in warps]
    parts = [
        [
            [(lane, a) for lane, a in request if lane // width == part]
            for part in sorted({lane // width for lane, _ in request})
        ]
        for request in requests
    ]
    expected = [sum(kind(4).stages([a for _, a in part]) for part in own) for own in parts]
    lanes = [np.array([lane for lane, _ in request]) for request in requests]
    addresses = [[a for _, a in request] for request in requests]
    whole = np.concatenate(addresses), np.repeat(np.arange(len(warps)), list(map(len, requests)))
    counted = rule.stage_counts(*whole, len(warps) + 1, np.concatenate(lanes))
    assert counted.tolist() == [*expected, 0]
    for of_lanes, asked, own, stages in zip(lanes, addresses, parts, expected, strict=True):
        assert rule.stages(asked, of_lanes) == stages
        travels = dict(zip(of_lanes.tolist(), rule.stage_of(asked, of_lanes), strict=True))
        before = 0
        for part in own:  # each part's stages follow those of the part before
            alone = kind(4).stage_of([a for _, a in part])
            assert [travels[lane] for lane, _ in part] == [before + stage for stage in alone]
            before += max(alone) + 1
    firsts = np.cumsum([0, *map(len, requests)])[:-1]
    begins = np.cumsum([0, *(len(part) for own in parts for part in own)])[:-1]
    assert rule.parts(firsts, np.concatenate(lanes)).tolist() == begins.tolist()


@pytest.mark.parametrize(
    ("rule", "cells"),
    [(Banks(4), [0, 3, 1, 2]), (Banks(3), [0, 1, 2, 1]), (Groups(4), [0, 1, 2, 2])],
)
def test_where_a_word_lies(rule, cells):
    """Banks of a power of 2 and of another number, which are found in two ways."""
    assert rule.cells(np.array([0, 7, 9 if rule.width == 4 else 8, 10])).tolist() == cells


def test_the_papers_rules_are_asked_without_lanes():
    """Only a rule that is `by_lane` is given lanes, which take time to find."""
    assert not Banks(4).by_lane
    assert not Groups(4).by_lane
    assert InParts(2, Banks(4)).by_lane


@pytest.mark.parametrize("rule", [Banks(10**6), Banks(10**6).of_atomics(), Banks(3)])
def test_stages_of_few_lanes_at_many_banks_are_those_of_each_warp(rule):
    """There only the banks are counted that are asked for."""
    random = np.random.RandomState(0)
    for lanes in (1, 5, 200):
        warps = np.sort(random.randint(0, 40, lanes))
        addresses = random.choice([0, 7, rule.width, 5 * rule.width + 7], lanes)
        found = rule.stage_counts(addresses, warps, 40).tolist()
        asked = [addresses[warps == warp].tolist() for warp in range(40)]
        assert found == [rule.stages(one) if one else 0 for one in asked]


@pytest.mark.parametrize("far", [8, 1 << 61])
def test_atomics_of_several_warps_are_counted_however_far_apart_their_words_are(far):
    addresses = np.array([far, 0, far, 1, far, 0, far + 1])
    warps = np.array([0, 0, 0, 0, 1, 1, 3])
    rule = InTurn(4, Groups(4))
    assert rule.stage_counts(addresses, warps, 4).tolist() == [3, 2, 0, 1]
