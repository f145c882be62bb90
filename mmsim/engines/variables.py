"""What changes in the variables of a sequencer's threads, for its trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mmsim.language.frame import Frame
from mmsim.language.meaning import Steps
from mmsim.launch import Launch
from mmsim.results.variables import Change, TracedVariable


def traced_variables(launch: Launch) -> tuple[TracedVariable, ...]:
    """The variables and register arrays of a program, without the arrays of its memory."""
    meaning = launch.meaning
    meaning.ready()  # numbers the variables
    registers = {local.name for local in launch.program.code.locals if local.kind == "registers"}
    found = []
    for one in launch.program.code.variables:
        if one.name in registers:
            dtype, shape = meaning.typing.arrays[one.name], meaning.locals[one.name]
            found.append(TracedVariable(one.name, one.text, one.function, dtype.name, shape))
        elif one.name in meaning.slots:
            dtype = meaning.typing.variables[one.name]
            found.append(TracedVariable(one.name, one.text, one.function, dtype.name, None))
    return tuple(found)


class Watch:
    """Adds to `changes` what has changed in a frame's variables since it was last asked.

    `warps` are the numbers of the frame's warps, whose lanes begin at `firsts`.
    """

    def __init__(
        self,
        launch: Launch,
        variables: tuple[TracedVariable, ...],
        frame: Frame,
        warps: list[int],
        firsts: list[int],
        changes: list[Change],
    ) -> None:
        self.frame = frame
        self.changes = changes
        ends = zip(firsts, [*firsts[1:], frame.lanes], strict=True)
        self.warps = [(warp, slice(*part)) for warp, part in zip(warps, ends, strict=True)]
        slots = launch.meaning.slots
        self.plain = [
            (slots[one.name], one.name, one.dtype.startswith("float"))
            for one in variables
            if one.shape is None
        ]
        # Of each variable the value and the mask as the frame has them, and what every lane holds.
        self.seen: list[tuple[Any, Any]] = [(None, None)] * len(slots)
        self.told: list[list[Any]] = [[None] * frame.lanes] * len(slots)
        # Of each register array the bytes, and each of its elements over the lanes.
        self.bytes = {name: array.tobytes() for name, array in frame.registers.items()}
        self.elements = {name: array.tolist() for name, array in frame.registers.items()}

    def look(self, now: int) -> None:
        """Note what has changed, as changes at time `now`."""
        frame = self.frame
        for slot, name, is_float in self.plain:
            value, partial = frame.variables[slot], frame.partial.get(slot)
            seen = self.seen[slot]
            if value is seen[0] and partial is seen[1]:
                continue  # a frame never changes a variable's array in place
            self.seen[slot] = value, partial
            new = value.tolist() if isinstance(value, np.ndarray) else [value] * frame.lanes
            if partial is not None:
                new = [one if here else None for one, here in zip(new, partial, strict=True)]
            self._compare(now, name, 0, self.told[slot], new, is_float)
            self.told[slot] = new
        for name, array in frame.registers.items():
            data = array.tobytes()
            if data == self.bytes[name]:
                continue
            self.bytes[name] = data
            elements = array.tolist()
            is_float = array.dtype.kind == "f"
            for element, (old, new) in enumerate(zip(self.elements[name], elements, strict=True)):
                self._compare(now, name, element, old, new, is_float)
            self.elements[name] = elements

    def _compare(
        self, now: int, name: str, element: int, old: list[Any], new: list[Any], is_float: bool
    ) -> None:
        """A change for each warp in which a lane has changed."""
        for warp, part in self.warps:
            own, before = new[part], old[part]
            # 0.0 equals -0.0, but they aren't the same.
            if own != before or (is_float and str(own) != str(before)):
                self.changes.append(Change(now, warp, name, element, tuple(own)))


def watched(steps: Steps, watch: Watch, clock: Callable[[], int]) -> Steps:
    """The same steps; before each, and at the end, the watch looks at what has changed."""
    values: Any = None
    while True:
        try:
            want = steps.send(values)
        except StopIteration as end:
            watch.look(clock())
            return end.value  # type: ignore[no-any-return]
        watch.look(clock())
        values = yield want
