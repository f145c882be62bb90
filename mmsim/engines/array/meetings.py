"""Words in which warps of a block meet between two barriers, where their order would matter.

The array engine doesn't know in which order warps that wait for no barrier make their accesses. In
an array that both strong loads and writes access, or whose atomics don't commute, the event engine
would know it. Between two barriers of its block, though, a word that a single warp accesses depends
on no other warp. Nor does one that several warps access in one way that commutes: all of them read
it, or all make atomics of one kind without using old words, or exchange it for the same value. A
launch that keeps to this has the same results in any order. The first access that doesn't is
noticed before its word is used, and the event engine takes the launch.
"""

from __future__ import annotations

import numpy as np

from mmsim.ir.atomics import COMMUTING, bits
from mmsim.ir.dtypes import Integers
from mmsim.meaning.frame import Request
from mmsim.meaning.launch import Launch

ALONE = 0
"""The way of accesses that don't commute."""
MOST_WAYS = 64
OF_A_WORD, OF_A_LANE = 8, 64
"""Bytes of a stamp, and of a lane's numbers while its access is noted."""


class Meet(Exception):
    """Two warps access a word, and their order may matter."""


class Meetings:
    """The latest accesses of the words of some shared arrays.

    A stamp is the number of an interval between barriers, of a way, and of a warp of the block: the
    only one that has accessed the word in the interval, or `several`. `sizes` are those of the
    arrays. Of arrays `of_grid` it is a warp of the grid. Atomics of `Launch.in_turn` commute there,
    because they take effect in the right order. Some of these arrays are parameters, for which the
    whole launch is one interval.
    """

    def __init__(self, launch: Launch, of_grid: frozenset[str] | None = None) -> None:
        names = launch.in_turn if of_grid is None else of_grid
        self.sizes = {name: launch.arrays[name].size for name in names}
        self._stamps: dict[str, Integers] = {}
        self._blocks = launch.grid.blocks
        self._of_block = self._several = launch.grid.warps_per_block
        self._parameters: set[str] = set()
        self._in_turn = launch.in_turn if of_grid is not None else frozenset[str]()
        if of_grid is not None:
            self._of_block, self._several = 0, launch.grid.warps
            self._parameters = {name for name in of_grid if not launch.arrays[name].shared}
        self._shift = self._several.bit_length()
        self._ways: dict[str, int] = {"read": 1}

    def needed(self, threads: int) -> int:
        """The approximate bytes for a launch of so many threads."""
        words = sum(map(self._words, self.sizes))
        return OF_A_WORD * words + (OF_A_LANE * threads if words else 0)

    def _words(self, array: str) -> int:
        """The words of all copies of an array."""
        return self.sizes[array] * (1 if array in self._parameters else self._blocks)

    def note(
        self, request: Request, blocks: Integers, warps: Integers, intervals: Integers
    ) -> None:
        """Note a request; raise `Meet` if the order of warps may matter.

        `blocks` and `warps` are those of each lane, `intervals` those in which all warps are.
        """
        array, way, shift = request.site.array, self._way(request), self._shift
        words = request.elements
        if array not in self._parameters:
            words = blocks * self.sizes[array] + words
        if (stamps := self._stamps.get(array)) is None:
            stamps = self._stamps[array] = np.full(self._words(array), -1)
        own = warps - blocks * self._of_block
        begins: Integers | int = 0
        if array not in self._parameters:
            begins = (intervals[warps] * MOST_WAYS) << shift
        before = stamps[words] - begins
        ways = before >> shift
        is_other = (before >= 0) & (before & ((1 << shift) - 1) != own)
        if is_other.any() and (way == ALONE or (ways[is_other] != way).any()):
            raise Meet
        ways = np.where((before < 0) | (ways == way), way, ALONE) << shift
        left = begins + ways + np.where(is_other, self._several, own)
        stamps[words] = left
        together = stamps[words] != left
        if together.any():  # several warps access a word by this request
            if way == ALONE:
                raise Meet
            several = begins + (way << shift) + self._several
            stamps[words[together]] = np.broadcast_to(several, together.shape)[together]

    def _way(self, request: Request) -> int:
        """The number of a request's way: accesses of one way commute, but for those `ALONE`."""
        site, values, key = request.site, request.values, None
        if values is None:
            key = "read"
        elif site.kind == "atomic" and site.array in self._in_turn:
            key = "in turn"
        elif site.op == "exch" and not site.returns:
            words = bits(values)
            if (words == words[0]).all():
                key = f"exch {words[0]}"
        elif site.op in COMMUTING and not site.returns and values.dtype.kind in "iu":
            key = COMMUTING[site.op]
        if key is None or (key not in self._ways and len(self._ways) + 1 == MOST_WAYS):
            return ALONE
        return self._ways.setdefault(key, len(self._ways) + 1)
