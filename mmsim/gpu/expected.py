"""The cost of a program's accesses in the model, and on a GPU for words of other sizes.

The hardware should count the model's number. This is impossible if some words don't have 4 bytes,
or if the kernel reads a layout's table. Then a second number is predicted by the machine with sizes
of words, and from the reads of the table one by one. A difference counts as explained only if
this prediction is exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mmsim.api.binding import bind
from mmsim.api.machines import DMM, HMM
from mmsim.api.result import Run
from mmsim.cuda_c.body import Space
from mmsim.cuda_c.kernels import WARP, Kernel
from mmsim.cuda_c.text import word_type
from mmsim.frontend.program import Program
from mmsim.gpu.words import WORD_BYTES, CardDMM, CardHMM
from mmsim.ir import nodes as ir
from mmsim.ir.walk import all_parts, statements
from mmsim.model.conflicts import Groups
from mmsim.model.threads import asked
from mmsim.results.rows import AccessRow, Kind

Memory = Literal["shared", "global"]
Place = tuple[Memory, Kind]

# Atomics in global memory meet in the second-level cache, which no rule of a unit describes.
PLACES: tuple[Place, ...] = (
    ("shared", "read"),
    ("shared", "write"),
    ("shared", "atomic"),
    ("global", "read"),
    ("global", "write"),
)


@dataclass(frozen=True)
class Expected:
    """The expected counts of one kind of access: the `model`'s stages, by words of `sizes`.

    `reasons` say why the hardware may differ, `predicted` is its count in this case. `fewer` says
    why it may count less than the model, by an unknown number.
    """

    model: int
    sizes: tuple[int, ...]
    reasons: tuple[str, ...]
    predicted: int
    fewer: str = ""

    def why(self, hardware: int) -> str | None:
        """The reason for the hardware's count: "" if it is the model's, None if unknown."""
        if hardware == self.model:
            return ""
        if self.reasons and hardware == self.predicted:
            return "; ".join(self.reasons)
        if self.fewer and 0 < hardware < self.model:
            return self.fewer
        return None


def machine_of(space: Space) -> DMM | HMM:
    """The machine for comparison with a kernel of a space: stages don't depend on latency."""
    return DMM(WARP, 1) if space == "shared" else HMM(1, WARP, 1)


def expected(
    program: Program,
    arguments: tuple[Any, ...],
    how: dict[str, Any],
    written: Kernel,
) -> dict[Place, Expected]:
    """The expected counts of a program's kernel, for the memories that its space counts.

    `how` gives its threads, as `Example.launch`.
    """
    machine = machine_of(written.space)
    run = machine.run(program, *arguments, **how)
    launch = bind(machine, program, arguments, asked(**how))
    tables = [one.name for one in written.arguments if one.role == "offsets"]
    places = [one for one in PLACES if written.space == "global" or one[0] == "shared"]
    rows = {place: _rows(run, place, written.space) for place in places}
    sizes = {
        place: {
            row.array: word_type(launch.arrays[row.array].dtype, place[0] == "shared").itemsize
            for row in rows[place]
        }
        for place in places
    }
    reasons = {place: tuple(_reasons(place, sizes[place], tables)) for place in places}
    predicted: Mapping[Place, int] = {}
    if any(reasons.values()):
        card = CardDMM(WARP, 1) if written.space == "shared" else CardHMM(1, WARP, 1)
        again = card.run(program, *arguments, **how)
        predicted = {place: _stages(_rows(again, place, written.space)) for place in places}
    found = {}
    for place in places:
        number = model = _stages(rows[place])
        if reasons[place]:
            number = predicted[place]
            if place == ("global", "read") and tables:
                number += _reads_of_tables(program, arguments, how, tables)
        known = tuple(sorted(set(sizes[place].values())))
        fewer = _fewer(program, place)
        found[place] = Expected(model, known, reasons[place], number, fewer)
    return found


def _fewer(program: Program, place: Place) -> str:
    """The reason why hardware may count less than the model at a place, "" if it can't."""
    if place[1] == "read":
        return _unused_reads(program)
    return _merged_counts(program) if place == ("shared", "atomic") else ""


def _merged_counts(program: Program) -> str:
    """The reason why an atomic may cost less: it adds 1, and the old value is not used.

    Then NVIDIA's assembler counts the lanes of an address, and adds that number (ATOMS.POPC.INC).
    """
    atomics = [one for one in statements(program.code.body) if isinstance(one, ir.Atomic)]
    dropped = [one.value for one in atomics if one.op == "add" and one.target is None]
    if any(isinstance(value, ir.Const) and value.value == 1 for value in dropped):
        return "lanes that add 1 to a word, and don't use its old value, are merged"
    return ""


def _unused_reads(program: Program) -> str:
    """The reason why a read may be missing: no thread of a warp may read the register it goes to.

    For a computed place in a register array, NVIDIA's assembler keeps one register. It makes each
    read that may fill the register conditional on the place.
    """
    body = program.code.body
    loops = {one.target for one in statements(body) if isinstance(one, ir.For)}
    reads = (part for part in all_parts(body) if isinstance(part, ir.RegisterRead))
    places = [index for read in reads for index in read.index]
    plain = (isinstance(one, ir.Const) or getattr(one, "name", None) in loops for one in places)
    if all(plain):
        return ""
    return "the assembler leaves out reads into registers that no thread of the warp uses"


def _rows(run: Run, place: Place, space: Space) -> list[AccessRow]:
    """The accesses of one place; all memory of a DMM is shared memory."""
    memory, kind = place
    wanted = "memory" if space == "shared" else memory
    return [row for row in run.accesses if row.kind == kind and row.space == wanted]


def _stages(rows: list[AccessRow]) -> int:
    return sum(row.stages for row in rows)


def _reasons(place: Place, sizes: Mapping[str, int], tables: list[str]) -> Iterator[str]:
    """The properties of a kernel for which the hardware's count differs from the model's."""
    for size in sorted(set(sizes.values()) - {WORD_BYTES}):
        names = ", ".join(name for name, own in sizes.items() if own == size)
        if size > WORD_BYTES and place[0] == "shared":
            yield f"{size}-byte words in {names}: a warp is served as two half-warps"
        elif place[0] == "global":
            several = "byte" if size == 1 else "bytes"
            yield f"words of {size} {several} in {names}: an address group holds {128 // size}"
    if place == ("global", "read") and tables:
        names = ", ".join(tables)
        yield f"the kernel also reads a table of where the words of {names} lie"


def _reads_of_tables(
    program: Program, arguments: tuple[Any, ...], options: dict[str, Any], tables: list[str]
) -> int:
    """The address groups of the tables with the places of these arrays' words."""
    run = machine_of("global").run(program, *arguments, **options, engine="events")
    asked = [one.elements for one in run.trace.dispatches if one.array in tables]
    return sum(Groups(WARP).stages(list(elements)) for elements in asked)
