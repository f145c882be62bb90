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


class Plainly:
    """The DMMs in turn, and the warps of each."""

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


def test_none_ready():
    for turns in (WarpsInTurn(), GroupsInTurn(lambda warp: 0), WarpsInOrder()):
        assert turns.pop() is None
        assert dispatched(turns, 5) == [5]
        assert turns.pop() is None


def test_in_order_is_the_order_of_coming():
    assert dispatched(WarpsInOrder(), 3, 0, 2) == [3, 0, 2]


@given(HAPPENINGS)
def test_warps_in_turn_as_the_plain_model(happenings):
    assert play(WarpsInTurn(), happenings) == play(Plainly(lambda warp: 0), happenings)


@given(HAPPENINGS, st.lists(st.integers(0, DMMS - 1), min_size=WARPS, max_size=WARPS))
def test_dmms_in_turn_as_the_plain_model(happenings, dmms):
    def dmm_of_warp(warp):
        return dmms[warp]

    assert play(GroupsInTurn(dmm_of_warp), happenings) == play(Plainly(dmm_of_warp), happenings)
