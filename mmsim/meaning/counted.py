"""A meaning that counts: how often each warp issues each operation of a program."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.ir import nodes as ir
from mmsim.ir.compiled import known_values
from mmsim.ir.operations import Counting, Operations
from mmsim.ir.operators import Mask
from mmsim.meaning.frame import Frame, Steps
from mmsim.meaning.launch import Launch
from mmsim.meaning.meaning import Access, Local, Meaning, Nested

Note = Callable[[Frame, Mask], None]


class Counted(Meaning):
    """A program that counts the operations of its warps while it runs.

    A warp issues an operation if at least one of its lanes is active. `warps` has the number of
    each of the `kinds` of operations by warp. While it `rests`, nothing is counted. `known` are
    the numbers from another launch, if there was one that counts the same.
    """

    rests = False
    known: npt.NDArray[np.float64] | None = None

    def begin(self, launch: Launch) -> None:
        """Prepare to count a launch: before it runs."""
        grid = self.grid = launch.grid
        ranges = launch.ranges
        known = known_values(self.typing, self.constant, ranges)
        self.counting = Counting(
            self.code.body,
            self.typing.of,
            ranges.of,
            known,
            self.shapes,
            self.code.arithmetic,
            frozenset(self.locals),
        )
        found = (*self.counting.entry.values(), *self.counting.trip.values())
        self.kinds = sorted({kind for one in found for kind in one})
        self.warps = np.zeros((len(self.kinds), grid.warps))
        self._last: tuple[Any, Any] = (None, None)
        self._full = grid.threads % grid.block_size == 0 and grid.block_size % grid.width == 0

    def rewind(self) -> None:
        self.warps[:] = 0
        self.known = None

    def _note(self, found: Operations) -> Note | None:
        """A function that counts operations for the warps of active lanes."""
        if not found:
            return None
        rows = [self.kinds.index(kind) for kind in found]
        numbers = np.array(list(found.values()), float)[:, None]

        def note(frame: Frame, mask: Mask) -> None:
            if self.rests:
                return
            active = self._active(frame, mask)
            if isinstance(active, int):
                self.warps[rows, active] += numbers[:, 0]
            else:
                self.warps[rows] += numbers * active

        return note

    def _active(self, frame: Frame, mask: Mask) -> int | npt.NDArray[np.bool_]:
        """The warps with an active lane, or the number of the frame's one."""
        grid = self.grid
        if frame.lanes != grid.threads or grid.warps == 1:
            return int(grid.warp[frame.thread(0)])
        if mask is True:
            return np.ones(grid.warps, np.bool_)
        if self._last[0] is mask:
            return self._last[1]  # type: ignore[no-any-return]
        lanes: npt.NDArray[np.bool_] = np.asarray(mask)
        active: npt.NDArray[np.bool_]
        if self._full:
            active = np.logical_or.reduce(lanes.reshape(-1, grid.width), axis=1)
        else:
            active = np.logical_or.reduceat(lanes, grid.warp_ends[:-1])
        self._last = mask, active
        return active

    def _statement(self, statement: ir.Stmt, is_last: bool = False) -> Local | Access | Nested:
        found = self.counting.entry.get(statement.number, Operations())
        made = super()._statement(statement, is_last)
        note = self._note(found)
        if note is None:
            return made
        if isinstance(made, Local):
            return Local(partial(_local, note, made.execute))
        if isinstance(made, Access):
            return Access(partial(_local, note, made.begin), made.finish)
        return Nested(partial(_nested, note, made.steps))

    def _while(self, statement: ir.While, is_last: bool) -> Callable[[Frame, Mask], Steps]:
        return self._trips(statement, super()._while, is_last)

    def _for(self, statement: ir.For, is_last: bool) -> Callable[[Frame, Mask], Steps]:
        return self._trips(statement, super()._for, is_last)

    def _trips(
        self, loop: Any, make: Callable[[Any, bool], Callable[[Frame, Mask], Steps]], is_last: bool
    ) -> Callable[[Frame, Mask], Steps]:
        """A loop whose trips are counted, too."""
        self._trip = self._note(self.counting.trip[loop.number])
        return make(loop, is_last)

    def _loop(self, body: ir.Block, is_last: bool) -> tuple[int, Callable[[Frame, Mask], Steps]]:
        note = self._trip
        loop, iteration = super()._loop(body, is_last)
        return loop, iteration if note is None else partial(_nested, note, iteration)


def _local(note: Note, run: Callable[[Frame, Mask], Any], frame: Frame, mask: Mask) -> Any:
    note(frame, mask)
    return run(frame, mask)


def _nested(note: Note, run: Callable[[Frame, Mask], Steps], frame: Frame, mask: Mask) -> Steps:
    note(frame, mask)
    return (yield from run(frame, mask))


def counted(launch: Launch) -> Counted:
    """Let a launch count the operations of its warps; call it before the launch runs."""
    meaning = launch.meaning
    shapes = {name: of for name, of in meaning.shapes.items() if name not in meaning.locals}
    made = Counted(
        meaning.typing, meaning.numbers, shapes, meaning.uniform, meaning.max_accesses,
        meaning.width,
    )  # fmt: skip
    made.begin(launch)
    launch.meaning = made
    return made
