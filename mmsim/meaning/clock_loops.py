"""Loops that only wait for the clock: their trips are taken together.

A trip of such a loop reads the clock, computes, and tests. It keeps nothing for the next trip. The
ranges of its variables, over the readings of many trips, may show that no lane leaves in any of
them. Then all but the last of these trips are one step: the time goes on as by their readings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product, starmap
from typing import Any

import numpy as np

from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import BOOL, Type, is_int, is_whole, limits
from mmsim.ir.operators import Mask, Value, row_of
from mmsim.ir.ranges import Ranges
from mmsim.ir.row import Range
from mmsim.ir.typed import may_refuse
from mmsim.ir.walk import names, parts
from mmsim.meaning.frame import Frame

EITHER: Range = (0, 1)
"""The range of a test that may hold or not."""


class OfReadings(Ranges):
    """The ranges of a trip's variables, which are set one after another; tests are decided."""

    def __post_init__(self) -> None:
        """Begin without variables."""

    def set(self, variable: str, found: Range) -> None:
        """Set a variable."""
        self.variables[variable] = self._held(found, self.typing.variables[variable]) or found

    def _held(self, found: Range | None, type_: Type) -> Range | None:
        """The same for values out of range that all wrap around by the same distance."""
        if found is None or not is_int(type_):
            return found
        low, high = limits(type_)
        size = high - low + 1
        by = (found[0] - low) // size * size
        return super()._held((found[0] - by, found[1] - by), type_)

    def _of(self, value: ir.Expr) -> Range | None:
        if isinstance(value, ir.Choose) and (test := self.of(value.test)) not in (None, EITHER):
            return self.of(value.then if test == (1, 1) else value.other)
        return super()._of(value)

    def _operation(self, value: ir.Operating) -> Range | None:
        row, sides = row_of(value), self.sides(value)
        if self.typing.of(value) != BOOL or sides is None:
            return super()._operation(value)
        if row.kind == "not":
            return 1 - sides[0][1], 1 - sides[0][0]
        if row.kind != "compare" or row.sign in ("==", "!="):
            return EITHER
        corners = list(starmap(row.compute, product(*sides)))
        return min(corners), max(corners)


@dataclass(frozen=True)
class ClockLoop:
    """A loop without branches that reads the clock, `readings` times in a trip.

    `given` are the variables that it reads and doesn't set.
    """

    meaning: Any
    loop: ir.While
    readings: int
    given: tuple[str, ...]

    @classmethod
    def of(cls, meaning: Any, loop: ir.While) -> ClockLoop | None:
        """A loop of a program that is ready to run; None if it does more than to wait."""
        every = loop.prelude + loop.body
        values = [one.value for one in every if isinstance(one, ir.Assign) and not one.text]
        readings = [one for one in every if isinstance(one, ir.Exchange) and one.op == "clock"]
        if not readings or len(values) + len(readings) < len(every):
            return None
        of = meaning.typing.of
        for part in (part for value in (*values, loop.test) for part in parts(value)):
            plain = isinstance(part, ir.Const | ir.Var | ir.Number | ir.Operation | ir.Choose)
            if not plain or not is_whole(of(part)) or may_refuse(part, of):
                return None
        named = {one.target for one in every if isinstance(one, ir.Assign | ir.Exchange)}
        given, known = set[str](), set[str | None]()
        for part, target in _order(loop):
            used = set() if isinstance(part, ir.Exchange) else names((part,))
            if not used & named <= known:
                return None  # it keeps something for the next trip
            given |= used - named
            known.add(target)
        return cls(meaning, loop, len(readings), tuple(sorted(given)))

    def trips(self, frame: Frame, mask: Mask) -> int:
        """Trips, before a first one, of which certainly no active lane leaves the loop."""
        given = [self._held(frame, mask, name) for name in self.given]
        begin = _ends(frame.read, mask)
        if begin is None or None in given:
            return 0
        ranges = OfReadings(self.meaning.typing, {}, self.meaning.numbers, self.meaning.extent)
        ranges.variables = dict(zip(self.given, given, strict=True))  # type: ignore[arg-type]
        most = self.meaning.max_accesses - frame.steps
        few, many = 0, 2
        while many <= most and self._stays(ranges, begin, many):
            few, many = many, 2 * many
        many = min(many, most + 1)
        while many - few > 1:
            middle = (few + many) // 2
            stays = self._stays(ranges, begin, middle)
            few, many = (middle, many) if stays else (few, middle)
        return few

    def _stays(self, ranges: OfReadings, begin: Range, trips: int) -> bool:
        """Return whether no lane leaves in so many trips after readings in a range."""
        first, last = begin[0] + 1, begin[1] + 1 + (trips - 1) * self.readings
        read = 0
        for part, target in _order(self.loop):
            if isinstance(part, ir.Exchange):
                found: Range | None = (first + read, last + read)
                read += 1
            else:
                found = ranges.of(part)
            if found is None:
                return False
            if target is None and part is self.loop.test and found[0] < 1:
                return False
            if target is not None:
                ranges.set(target, found)
        return True

    def _held(self, frame: Frame, mask: Mask, name: str) -> Range | None:
        """The range of a variable at the active lanes; None if one has no value."""
        slot = self.meaning.slots.get(name)
        if slot is None or slot in frame.partial:
            return None
        return _ends(frame.variables[slot], mask)


def _order(loop: ir.While) -> Iterator[tuple[Any, str | None]]:
    """The readings of the clock and the values of a trip, in order, each with its variable."""
    for part in (*loop.prelude, loop.test, *loop.body):
        if isinstance(part, ir.Assign):
            yield part.value, part.target
        elif isinstance(part, ir.Exchange):
            yield part, part.target
        else:
            yield part, None


def _ends(value: Value, mask: Mask) -> Range | None:
    """The least and the greatest number at the active lanes."""
    if value is None:
        return None
    if not isinstance(value, np.ndarray):
        return int(value), int(value)
    here = value if mask is True else value[np.broadcast_to(mask, value.shape)]
    return int(here.min()), int(here.max())
