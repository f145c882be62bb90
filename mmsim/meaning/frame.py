"""The state of one sequencer: a set of lanes that runs a program in SIMD fashion.

Variables keep the lanes that have left a loop, a trip of it or a call, until these meet again. No
variable of a program can have their names.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator
from dataclasses import InitVar, dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from mmsim.errors import Place
from mmsim.ir.dtypes import Integers
from mmsim.ir.nodes import AtomicOp, BarrierOp, BarrierScope, HeapUse, Strength
from mmsim.ir.operators import Mask, Value, union, without
from mmsim.meaning.leniency import Lenient
from mmsim.model.memory import ArrayInMemory
from mmsim.model.threads import Grid

Kind = Literal["read", "write", "atomic"]
Words = npt.NDArray[Any] | None
NONE: dict[Any, Any] = {}
"""Shared by all empty frames: there is one for each warp. Never written."""


@dataclass(frozen=True, eq=False)
class Site:
    """One memory access of the program's text.

    For an atomic, `op` is its operation. `returns` says whether the old value of an atomic is used,
    or whether a read is `strong` (see `ir.MemoryAccess`). A `part` is stored by the atomic. A lane
    accesses `vector` adjacent elements together, usually one. A compiler knows that all lanes of a
    warp access one word by a `merged` atomic, and can let one lane do all. A read of a `matrix` is
    that of a row.
    """

    number: int
    array: str
    kind: Kind
    place: Place
    op: AtomicOp | None = None
    returns: bool = False
    vector: int = 1
    strong: Strength = ""
    part: bool = False
    merged: bool = False
    matrix: bool = False
    heap: HeapUse = ""

    @property
    def orders(self) -> bool:
        """Return whether it is an atomic or strong: it races with none of these, and orders."""
        return self.kind == "atomic" or bool(self.strong)

    @property
    def served_as(self) -> str:
        """The kind of access for a unit's rule: see `Conflict.of_access`."""
        if self.op in ("cas", "part_cas"):
            return "cas"
        return "ldmatrix" if self.matrix else self.kind


@dataclass(slots=True, eq=False)
class Request:
    """One SIMD memory access of a sequencer, as it is yielded to the engine.

    `elements` holds, for each active lane in order, the row-major number of the element in its
    array. `lanes` are the positions of those lanes in the sequencer (None: all of them). `values`
    are the operands of a write or an atomic, `compare` those of a comparison, of the array's type.
    The engine sends back the values of a read, and the old values of an atomic that `returns`. A
    vector has an entry for each element, in ascending order, and `lanes` has the lane for each.
    """

    site: Site
    elements: Integers
    lanes: Integers | None
    values: Words
    compare: Words = None

    def evaluate(self, array: ArrayInMemory, blocks: Integers | int) -> tuple[Words, Words]:
        """The words that its lanes receive and those that they leave; memory stays unchanged.

        A read leaves nothing, and a write receives nothing. The engines decide time and cost.
        """
        if self.values is None:
            return array.read(self.elements, blocks), None
        op = self.site.op
        if op is None:
            return None, self.values
        return array.in_turn(op, self.elements, blocks, self.values, self.compare)


@dataclass(frozen=True)
class Waiting:
    """A sequencer's message at a barrier: its place and the lanes that are there.

    `scope` marks a barrier of the whole grid. One with an `op` has the `test` of each lane; then
    the engine sends back the result for each lane.
    """

    place: Place
    lanes: Mask
    scope: BarrierScope = "block"
    op: BarrierOp | None = None
    test: Value = None


@dataclass(frozen=True)
class Spinning:
    """A sequencer's message: unless others change memory, it repeats a loop forever.

    `lanes` are in the loop. It goes on for any answer.
    """

    place: Place
    lanes: Mask


@dataclass(frozen=True)
class Reading:
    """A sequencer's message: lanes read the clock, `count` times in a row.

    The engine sends back the time of the last reading, for all lanes of the sequencer or for each.
    """

    lanes: Mask
    count: int = 1


class Changes:
    """Counts the changes of memory, for sequencers that may repeat a loop forever."""

    def __init__(self) -> None:
        self.count = 0

    def note(
        self, request: Request, array: ArrayInMemory, blocks: Integers | int, new: Any
    ) -> None:
        """Note that a request is about to leave new words; the same words are no change."""
        old = array.read(request.elements, blocks)
        if old.tobytes() != np.asarray(new, old.dtype).tobytes():
            self.count += 1


Steps = Generator[Request | Waiting | Spinning | Reading, Any, Mask]


@dataclass(slots=True, eq=False)
class Frame:
    """Variables, registers and masks of the lanes of one sequencer.

    `variables[slot]` is None until a lane assigns it. `partial[slot]` holds the lanes that have
    assigned it, unless all have; `passed[slot]` are some of them that have read it. `live` are the
    lanes that haven't returned, `idle` those that are known to have nothing more to do: see
    `Meaning`. `steps` counts accesses and trips of loops.
    `watched` is called with it at each, `synced` with the lanes of each `mm.warp.sync()`. `within`
    is the latest index of all lanes that was found in range, with its extent, at first T.id: arrays
    of a frame don't change. `offsets` are the word offsets of the arrays with a layout. With
    `changes`, the sequencer says that it is `Spinning`. If it is `lenient`, `unset` collects the
    lanes without a value while a variable is computed; it is None at any other time. `waiting` has
    those that wait for the other part of a branch. `lent` are the arrays for loops of one lane, see
    `alone`; `warps` are those of its lanes, see `exchange`, once they exchange. `read` is the
    latest reading of the clock, of all lanes or of each. `texts` are what the launch has written,
    `line` by lane what a lane is writing. `worded` gives the message of an error that the program
    raises with a value.
    """

    lanes: int
    fields: dict[str, Value]
    slots: InitVar[int]
    registers: dict[str, npt.NDArray[Any]]
    variables: list[Value] = field(init=False)
    partial: dict[int, npt.NDArray[np.bool_]] = field(init=False)
    passed: dict[int, Mask] = field(init=False)
    live: Mask = True
    idle: Mask = False
    offsets: dict[str, Integers] = field(init=False)
    steps: int = 0
    changes: Changes | None = None
    lent: Any = None
    warps: Any = None
    lenient: Lenient | None = None
    unset: Mask | None = None
    waiting: tuple[Any, ...] = ()
    watched: Callable[[int], None] | None = None
    synced: Callable[[Mask], None] | None = None
    read: Value = None
    texts: list[str] = field(default_factory=list)
    line: dict[int, str] = field(default_factory=dict)
    within: tuple[Value, int] = field(init=False)
    worded: Callable[[str, object], str] = field(init=False)

    def __post_init__(self, slots: int) -> None:
        self.variables = [None] * slots
        self.partial, self.offsets, self.passed = NONE, NONE, {}
        ids = self.fields["id"]
        self.within = ids, ids.item(-1) + 1

    def thread(self, lane: int) -> int:
        """The thread id of a lane."""
        return int(self.fields["id"][lane])

    def assign(self, slot: int, value: Value, mask: Mask) -> None:
        """Set a variable at the active lanes."""
        if mask is True:
            self.variables[slot] = value
            if self.partial:
                self.partial.pop(slot, None)
            return
        assert isinstance(mask, np.ndarray)
        old = self.variables[slot]
        if old is None:
            self.variables[slot] = value
            self._note(slot, mask)
            return
        self.variables[slot] = np.where(mask, value, old)
        if slot in self.partial:
            known = self.partial[slot] | mask
            if known.all():
                del self.partial[slot]
            else:
                self.partial[slot] = known

    def forget(self, slot: int, mask: Mask) -> None:
        """Make a variable unassigned at the active lanes."""
        self.passed.pop(slot, None)
        if mask is True:
            self.variables[slot] = None
            self.partial.pop(slot, None)
        elif self.variables[slot] is not None:
            self._note(slot, np.logical_not(mask) & self.partial.get(slot, True))

    def _note(self, slot: int, known: npt.NDArray[np.bool_]) -> None:
        """Note the lanes that have assigned a variable."""
        if self.partial is NONE:
            self.partial = {}
        self.partial[slot] = known


def frame_fields(
    grid: Grid, warp: int | Integers | None, needed: Collection[str]
) -> tuple[int, dict[str, Value]]:
    """The number of lanes and the needed fields of T, for a warp, for some threads or (None) all.

    A field with the same value for all lanes is one number. `id` is always there.
    """
    if isinstance(warp, np.ndarray):
        own = {"id": grid.id, "block": grid.block, "warp": grid.warp}
        own |= {"index": grid.index, "lane": grid.lane}
        return len(warp), {name: own[name][warp] for name in {"id", *needed} & own.keys()}
    if warp is None:
        first, end = 0, grid.threads
    else:
        first, end = grid.warp_ends.item(warp), grid.warp_ends.item(warp + 1)
    part = slice(first, end)
    fields: dict[str, Value] = {"id": grid.id[part]}
    if "block" in needed and warp is not None:
        fields["block"] = grid.block_of_warp(warp)
    elif "block" in needed:
        fields["block"] = grid.block if grid.blocks > 1 else 0
    if "warp" in needed:
        fields["warp"] = warp if warp is not None else grid.warp if grid.warps > 1 else 0
    if "index" in needed:
        fields["index"] = grid.index[part]
    if "lane" in needed:
        fields["lane"] = grid.lane[part]
    return end - first, fields


def broken(loop: int) -> str:
    """The name for the lanes that have left a loop."""
    return f"loop {loop}"


def continued(loop: int) -> str:
    """The name for the lanes that have left a trip of a loop."""
    return f"trip of loop {loop}"


def left(scope: str) -> str:
    """The name for the lanes that have left a scope."""
    return f"scope {scope}"


def return_lanes(frame: Frame, mask: Mask) -> Mask:
    """End lanes."""
    frame.live = without(frame.live, mask)
    return False


def forget_lanes(slots: list[int], registers: tuple[str, ...], frame: Frame, mask: Mask) -> Mask:
    """Let lanes begin a call: its variables are unassigned, its registers hold 0."""
    for slot in slots:
        frame.forget(slot, mask)
    for name in registers:
        frame.registers[name][:, slice(None) if mask is True else mask] = 0
    return mask


def scope_lanes(
    leavers: int, body: Callable[[Frame, Mask], Steps], frame: Frame, mask: Mask
) -> Steps:
    """Run the body of a call; lanes that leave it go on behind it."""
    frame.variables[leavers] = False
    through = yield from body(frame, mask)
    return union(through, frame.variables[leavers])


def leave_lanes(leavers: int, is_last: bool, frame: Frame, mask: Mask) -> Mask:
    """Let lanes leave a loop, a trip or a call; the variable keeps them.

    If that is the last that has an effect, they have nothing more to do.
    """
    if is_last:
        frame.idle = union(frame.idle, mask)
    frame.variables[leavers] = union(frame.variables[leavers], mask)
    return False
