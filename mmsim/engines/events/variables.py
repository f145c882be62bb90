"""The changes of the variables of a sequencer's threads, for its trace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mmsim.meaning.frame import Frame
from mmsim.meaning.launch import Launch
from mmsim.results.events import Change, TracedVariable

Seen = tuple[str, Any, Any]
"""A variable's name, its value in a frame, and the lanes with a value, None for all.

A register array has a row for each element.
"""


def traced_variables(launch: Launch) -> tuple[TracedVariable, ...]:
    """The variables and register arrays of a program, without the arrays of its memory."""
    meaning = launch.meaning
    meaning.ready()  # numbers the variables
    registers = {local.name for local in launch.code.locals if local.kind == "registers"}
    found = []
    for one in launch.code.variables:
        if one.name in registers:
            dtype, shape = meaning.typing.arrays[one.name], meaning.locals[one.name]
            found.append(TracedVariable(one.name, one.text, one.function, dtype.name, shape))
        elif one.name in meaning.slots:
            dtype = meaning.typing.variables[one.name]
            found.append(TracedVariable(one.name, one.text, one.function, dtype.name, None))
    return tuple(found)


class Changes:
    """Finds the changes of a sequencer's variables since its last call.

    `warps` are the sequencer's; their lanes begin at `firsts`.
    """

    def __init__(
        self,
        launch: Launch,
        variables: tuple[TracedVariable, ...],
        frame: Frame,
        warps: range,
        firsts: list[int],
    ) -> None:
        self.frame = frame
        ends = zip(firsts, [*firsts[1:], frame.lanes], strict=True)
        self.warps = [(warp, slice(*part)) for warp, part in zip(warps, ends, strict=True)]
        slots = launch.meaning.slots
        plain = [one for one in variables if one.shape is None]
        self.plain = [(slots[one.name], one.name) for one in plain]
        self.floats = {one.name for one in variables if one.dtype.startswith(("float", "complex"))}
        # The value and the mask of each variable, as the frame has them.
        self.seen: list[tuple[Any, Any]] = [(None, None)] * len(slots)
        # The values of every lane, of a register array for each of its elements.
        self.held: dict[str, list[list[Any]]] = {}
        nothing = [None] * frame.lanes
        self.held |= {name: [nothing] for _, name in self.plain}
        self.held |= {name: array.tolist() for name, array in frame.registers.items()}
        self.bytes = {name: array.tobytes() for name, array in frame.registers.items()}

    def look(self) -> Iterator[Seen]:
        """The values that the frame has assigned since; `compare` makes changes from them."""
        frame = self.frame
        for slot, name in self.plain:
            value, partial = frame.variables[slot], frame.partial.get(slot)
            seen = self.seen[slot]
            if value is seen[0] and partial is seen[1]:
                continue  # a frame never changes a variable's array in place
            self.seen[slot] = value, partial
            yield name, value, partial
        for name, array in frame.registers.items():
            data = array.tobytes()
            if data != self.bytes[name]:
                self.bytes[name] = data
                yield name, array.copy(), None

    def compare(self, now: int, seen: Seen) -> Iterator[Change]:
        """A change at time `now` for each element and each warp in which a lane has changed."""
        name, value, partial = seen
        if isinstance(value, np.ndarray):
            new = value.tolist() if value.ndim > 1 else [value.tolist()]
        else:
            new = [[value] * self.frame.lanes]
        if partial is not None:
            new = [[one if here else None for one, here in zip(new[0], partial, strict=True)]]
        is_float = name in self.floats
        for element, (old, now_held) in enumerate(zip(self.held[name], new, strict=True)):
            for warp, part in self.warps:
                own, before = now_held[part], old[part]
                # 0.0 equals -0.0, but they aren't the same.
                if own != before or (is_float and str(own) != str(before)):
                    yield Change(now, warp, name, element, tuple(own))
        self.held[name] = new
