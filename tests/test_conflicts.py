"""What one warp's request costs: the congestion of banks, the number of address groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmsim.conflicts import stage_counts, stage_of, stages


def counts(warps, width, conflict, number=None):
    """`stage_counts` of warps given as lists of addresses."""
    addresses = np.array([address for warp in warps for address in warp], np.int64)
    owners = np.repeat(np.arange(len(warps)), [len(warp) for warp in warps])
    return stage_counts(addresses, owners, number or len(warps), width, conflict).tolist()


@pytest.mark.parametrize(
    ("warps", "width", "banks", "groups"),
    [
        ([[0, 1, 10, 6], [8, 9, 14, 15]], 4, [2, 1], [3, 2]),  # SMM Figure 4
        ([[7, 5, 15, 0], [10, 11, 12, 9]], 4, [2, 1], [3, 2]),  # ICPP Figure 3
        ([[0, 5, 10, 15]], 4, [1], [4]),  # distinct banks
        ([[1, 5, 9, 13]], 4, [4], [4]),  # all in bank 1, as RAP Figure 2 (2)
        ([[5, 5, 5, 5]], 4, [1], [1]),  # RAP Figure 2 (3): merged
        ([[0, 4, 0, 4]], 4, [2], [2]),  # merged in pairs
        ([[4, 5, 6, 7]], 4, [1], [1]),  # contiguous
        ([[3, 4, 5, 6]], 4, [1], [2]),  # contiguous, over the edge of a group
        ([[0, 4, 8, 12], [1, 5, 9, 13]], 4, [4, 4], [4, 4]),  # CFP's transpose
        ([[9]], 4, [1], [1]),
        ([[3, 1, 2]], 1, [3], [3]),
    ],
)
def test_examples(warps, width, banks, groups):
    assert [stages(warp, width, "bank") for warp in warps] == banks
    assert [stages(warp, width, "group") for warp in warps] == groups
    assert counts(warps, width, "bank") == banks
    assert counts(warps, width, "group") == groups


def test_a_bank_fills_its_stages_in_ascending_order_of_address():
    assert stage_of([12, 4, 8, 1, 4, 5], 4, "bank") == [2, 0, 1, 0, 0, 1]


def test_groups_travel_in_ascending_order():
    assert stage_of([12, 4, 8, 1, 4, 13], 4, "group") == [3, 1, 2, 0, 1, 3]


def test_warps_without_a_request_take_no_stage():
    assert counts([[0, 4], [], [3]], 4, "bank", number=5) == [2, 0, 1, 0, 0]
    assert counts([[0, 4], [], [3]], 4, "group", number=5) == [2, 0, 1, 0, 0]
    assert counts([], 4, "bank", number=2) == [0, 0]


def most_in_one_bank(warp, width):
    return max(len({a for a in warp if a % width == bank}) for bank in range(width))


def groups(warp, width):
    return len({address // width for address in warp})


WARPS = st.lists(st.lists(st.integers(0, 60), min_size=1, max_size=12), min_size=1, max_size=6)


@given(WARPS, st.integers(1, 9))
def test_all_three_ways_to_count_agree_with_the_definition(warps, width):
    for conflict, definition in (("bank", most_in_one_bank), ("group", groups)):
        expected = [definition(warp, width) for warp in warps]
        assert [stages(warp, width, conflict) for warp in warps] == expected
        assert [max(stage_of(warp, width, conflict)) + 1 for warp in warps] == expected
        assert counts(warps, width, conflict) == expected


@given(WARPS, st.integers(1, 9))
def test_a_stage_takes_one_address_of_a_bank_or_one_group(warps, width):
    for warp in warps:
        in_bank = {
            (s, a % width, a) for s, a in zip(stage_of(warp, width, "bank"), warp, strict=True)
        }
        assert len({(stage, bank) for stage, bank, _ in in_bank}) == len(set(warp))
        in_group = zip(stage_of(warp, width, "group"), warp, strict=True)
        order = sorted({(address // width, stage) for stage, address in in_group})
        assert [stage for _, stage in order] == list(range(len(order)))
