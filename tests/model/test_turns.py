"""Turns: which ready warp a free memory unit dispatches next (docs/machines.md)."""

from hypothesis import given
from hypothesis import strategies as st

from mmsim.model.turns import GroupsInTurn, WarpsInOrder, WarpsInTurn

WARPS = 7
DMMS = 3

# A warp's number: it becomes ready (unless it is). None: the unit dispatches.
HAPPENINGS = st.lists(st.none() | st.integers(0, WARPS - 1), max_size=60)


def play(turns, happenings):
    """The warps dispatched, None where none was ready."""
    ready, dispatched = set(), []
    for warp in happenings:
        if warp is None:
            dispatched.append(turns.pop())
            ready.discard(dispatched[-1])
        elif warp not in ready:
            turns.push(warp)
            ready.add(warp)
    return dispatched


def first_after(last, ready, count):
    """The first of `ready` that comes after `last` when one counts 0 .. count-1 in a circle."""
    circle = [(last + step) % count for step in range(1, count + 1)]
    return next(number for number in circle if number in ready)


class PlainWarpsInTurn:
    def __init__(self):
        self.ready, self.last = set(), -1

    def push(self, warp):
        self.ready.add(warp)

    def pop(self):
        if not self.ready:
            return None
        self.last = first_after(self.last, self.ready, WARPS)
        self.ready.remove(self.last)
        return self.last


class PlainDMMsInTurn:
    def __init__(self, dmm_of_warp):
        self.dmm_of_warp = dmm_of_warp
        self.ready, self.last_dmm, self.last_warp = set(), -1, [-1] * DMMS

    def push(self, warp):
        self.ready.add(warp)

    def pop(self):
        if not self.ready:
            return None
        self.last_dmm = first_after(self.last_dmm, set(map(self.dmm_of_warp, self.ready)), DMMS)
        here = {warp for warp in self.ready if self.dmm_of_warp(warp) == self.last_dmm}
        warp = first_after(self.last_warp[self.last_dmm], here, WARPS)
        self.last_warp[self.last_dmm] = warp
        self.ready.remove(warp)
        return warp


def dispatched(turns, *ready):
    for warp in ready:
        turns.push(warp)
    return [turns.pop() for _ in ready]


def test_warps_in_turn_start_with_warp_0():
    assert dispatched(WarpsInTurn(), 2, 0, 1) == [0, 1, 2]


def test_warps_in_turn_go_on_after_the_one_dispatched_last():
    turns = WarpsInTurn()
    assert dispatched(turns, 1) == [1]
    assert dispatched(turns, 0, 1, 3) == [3, 0, 1]  # 2 isn't ready; after 3 comes 0
    assert dispatched(turns, 1) == [1]  # the same again if no other is ready


def test_none_ready():
    for turns in (WarpsInTurn(), GroupsInTurn(lambda warp: 0), WarpsInOrder()):
        assert turns.pop() is None
        assert dispatched(turns, 5) == [5]
        assert turns.pop() is None


def test_dmms_in_turn_and_warps_in_turn_within_each():
    turns = GroupsInTurn(lambda warp: warp // 4)  # warps 0..3 on DMM 0, 4..6 on DMM 1
    assert dispatched(turns, 0, 1, 2, 4, 5) == [0, 4, 1, 5, 2]
    assert dispatched(turns, 0, 3, 4, 6) == [6, 3, 4, 0]  # on from DMM 0; in it on from warp 2


def test_a_dmm_without_a_ready_warp_is_passed_over():
    turns = GroupsInTurn(lambda warp: warp)
    assert dispatched(turns, 0) == [0]
    assert dispatched(turns, 0, 2) == [2, 0]


def test_in_order_is_the_order_of_coming():
    assert dispatched(WarpsInOrder(), 3, 0, 2) == [3, 0, 2]


@given(HAPPENINGS)
def test_warps_in_turn_as_the_plain_model(happenings):
    assert play(WarpsInTurn(), happenings) == play(PlainWarpsInTurn(), happenings)


@given(HAPPENINGS, st.lists(st.integers(0, DMMS - 1), min_size=WARPS, max_size=WARPS))
def test_dmms_in_turn_as_the_plain_model(happenings, dmms):
    def dmm_of_warp(warp):
        return dmms[warp]

    assert play(GroupsInTurn(dmm_of_warp), happenings) == play(
        PlainDMMsInTurn(dmm_of_warp), happenings
    )
