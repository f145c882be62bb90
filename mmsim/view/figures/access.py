"""One access as the papers draw it (SMM Figure 4, ICPP Figure 3): cells, and stage by stage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mmsim.errors import MMSimError, shown
from mmsim.host.arguments import several, whole
from mmsim.host.guesses import advised
from mmsim.model.byte_banks import Packed
from mmsim.model.conflicts import Conflict, Groups
from mmsim.printable import counted
from mmsim.results import Dispatch, Run
from mmsim.view.figures.paper import COLUMN, PAGE, cell, check_run, columns_above, describe, drawing
from mmsim.view.palette import WARPS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GAP = 0.7
FEW_ROWS = 8
TALL = 40
NARROW, WIDEST = 16, 64


@advised()
def access(run: Run, numbers: int | Sequence[int] = 0, *, axes: Axes | None = None) -> Axes:
    """Draw the memory's cells, the requested ones with their threads, and their stages.

    The upper part shows the cells: a column is a bank, a row an address group. A cell is a word if
    banks have bytes and a word holds several elements. Each row of the lower part is a stage, in
    the order in which the stages enter the pipeline.

    Parameters
    ----------
    run
        A run with a trace.
    numbers
        The numbers in `run.trace.dispatches`: one, or several of the same unit.
    axes
        Where to draw.

    Examples
    --------
    SMM's Figure 4: W(0) requests m[0], m[1], m[10], m[6]; W(1) requests m[8], m[9], m[14], m[15].

    >>> import numpy as np, mmsim as mm
    >>> @mm.program
    ... def read(T, m, asked):
    ...     m[asked[T.id]]
    >>> asked = np.array([0, 1, 10, 6, 8, 9, 14, 15])
    >>> run = mm.DMM(4, 3).run(read, np.arange(16), asked, threads=8, trace=True)
    >>> axes = mm.figures.access(run, [2, 3])
    >>> [label.get_text() for label in axes.get_yticklabels()][-3:]
    ['W(0), stage 1', 'W(0), stage 2', 'W(1), stage 1']
    """
    check_run(run)
    chosen = _chosen(run, numbers)
    rule, elements = _of_words(run.trace.rule(chosen[0]), run.machine.width)
    width = rule.width
    if width > WIDEST:
        raise MMSimError(
            f"cells of {width} banks are too many to be legible; at most {WIDEST} are drawn"
        )
    columns, on_groups = rule.table(width)
    named = columns == list(range(width)) or rule.name == "group"  # of w words, one of each bank
    groups = _groups(run, chosen, width * elements)
    stages = [(one, stage) for one in chosen for stage in range(one.stage_count)]
    asked: dict[int, list[tuple[int, int]]] = {}  # (warp, thread) by address
    for one in chosen:
        for thread, address in zip(one.threads, one.addresses, strict=True):
            asked.setdefault(address // elements, []).append((one.warp, thread))

    height = 0.31 if width <= NARROW else 0.17 if len(groups) + len(stages) <= TALL else 0.125
    inches = 0.6 + height * (len(groups) + len(stages) + GAP)
    with drawing(axes, COLUMN if width <= NARROW // 2 else PAGE, inches) as drawn:
        ticks: dict[float, str] = {}
        top = 0.0
        for place, group in enumerate(groups):
            if place and groups[place - 1] != group - 1:
                top += 0.3
            for bank, address in enumerate(range(group * width, (group + 1) * width)):
                warps_threads = asked.get(address, [])
                _cell(drawn, bank, top, address, warps_threads, f"cell-{address}", width)
            of_rule = f"A[{group}]" if rule.name == "group" else f"{rule.name} {group}"
            ticks[top + 0.5] = of_rule if on_groups else f"m[{group * width * elements}] …"
            top += 1
        top += GAP
        for one, stage in stages:
            here: dict[int, list[tuple[int, int]]] = {}
            for thread, address in one.in_stage(stage):
                here.setdefault(address // elements, []).append((one.warp, thread))
            for bank in range(width):
                _cell(drawn, bank, top, None, [], f"register-{one.warp}-{stage}-{bank}", width)
            for address, threads in here.items():
                gid = f"stage-{one.warp}-{stage}-{address}"
                _cell(drawn, address % width, top, address, threads, gid, width)
            ticks[top + 0.5] = f"W({one.warp}), {_phase(one, stage)}stage {stage + 1}"
            top += 1
        drawn.set(xlim=(-0.05, width + 0.05), ylim=(top + 0.05, -0.05))
        drawn.set_yticks(list(ticks), list(ticks.values()))
        middles = [bank + 0.5 for bank in range(width)]
        name = ("B[{}]" if width <= NARROW else "{}") if named else "+{}"
        columns_above(drawn, middles, [name.format(column) for column in range(width)])
        drawn.spines[:].set_visible(False)
        if width > NARROW:
            column = "bank" if named else "word"
            drawn.set_xlabel(f"{column} (cells show their thread, * where it is one of several)")
        on_words = rule.name == "group" or not named
        row = counted(width, "word" if on_words else "bank")
        if rule.name == "group":
            row = f"address groups of {row}"
        describe(drawn, f"{row} of {chosen[0].unit}", map(_said, chosen))
    return drawn


def _of_words(rule: Conflict, width: int) -> tuple[Conflict, int]:
    """The rule for whole words if a word holds several elements, and how many it holds.

    >>> from mmsim.model.byte_banks import ByteBanks, ByteGroups
    >>> _of_words(ByteBanks(32).of_words(1), 32), _of_words(ByteGroups(32).of_words(2), 32)
    ((Banks(width=32), 4), (Groups(width=32), 2))
    """
    if isinstance(rule, Packed):
        return rule.rule, rule.elements
    if isinstance(rule, Groups) and rule.width > width:
        return Groups(width), rule.width // width
    return rule, 1


def _said(one: Dispatch) -> str:
    addresses = ", ".join(map(str, one.addresses))
    return f"W({one.warp}) asks for {addresses} in {counted(one.stage_count, 'stage')}"


def _chosen(run: Run, given: int | Sequence[int]) -> list[Dispatch]:
    dispatches = run.trace.dispatches
    numbers: list[Any] = [given]
    if not isinstance(given, int | np.integer):
        numbers = several("numbers must be those of dispatches", given)
    for number in numbers:
        whole("numbers", number, None)
        if not 0 <= number < len(dispatches):
            raise MMSimError(
                f"the trace has {len(dispatches)} dispatches, none with number {shown(number)}"
            )
    chosen = [dispatches[number] for number in numbers]
    if not chosen:
        raise MMSimError("no dispatch to draw; give the number of at least one")
    units = list(dict.fromkeys(one.unit for one in chosen))
    if len(units) > 1:
        raise MMSimError(f"these dispatches are of several units, {', '.join(units)}; draw each")
    names = list(dict.fromkeys(one.array for one in chosen))
    sizes = {one.data.dtype.itemsize for one in run.trace.arrays if one.name in names}
    if run.machine.bank_bytes is not None and len(sizes) > 1:
        several_sizes = f"elements of several sizes, of {', '.join(names)}"
        raise MMSimError(f"these dispatches are for {several_sizes}; draw each")
    return chosen


def _groups(run: Run, chosen: list[Dispatch], width: int) -> list[int]:
    """The rows to draw: all rows of the requested arrays if few, else the requested rows."""
    asked = {address // width for one in chosen for address in one.addresses}
    whole = set(asked)
    for array in run.trace.arrays:
        for one in chosen:
            if one.array == array.name and array.addresses.size:
                rows = array.addresses[one.copy] // width
                whole |= {*range(int(rows.min()), int(rows.max()) + 1)}
    return sorted(whole if len(whole) <= FEW_ROWS else asked)


def _phase(dispatch: Dispatch, stage: int) -> str:
    """The phase of a stage, if the request has several phases."""
    if dispatch.phase_count == 1:
        return ""
    later = zip(dispatch.stages, dispatch.phases, strict=True)
    return f"phase {min(phase for own, phase in later if own >= stage) + 1}, "


def _cell(
    axes: Axes,
    bank: int,
    top: float,
    address: int | None,
    asked: list[tuple[int, int]],
    gid: str,
    width: int,
) -> None:
    """Draw a cell with its address and the threads that request it, in the colour of their warp."""
    colour = WARPS[asked[0][0] % len(WARPS)] if asked else "#FFFFFF"
    threads = threads_of((thread for _, thread in asked), width)
    own = str(address) if address is not None and width <= NARROW else ""
    label = "\n".join(part for part in (own, threads) if part)
    cell(axes, bank, top, label, colour, spacing=0.95, gid=gid)


def threads_of(threads: Iterable[int], width: int) -> str:
    """The threads of one cell, as a short text."""
    numbers = sorted(threads)
    if not numbers:
        return ""
    letter = "T" if width <= NARROW else ""
    if len(numbers) == 1:
        return f"{letter}{numbers[0]}"
    if width > NARROW // 2:
        return f"{letter}{numbers[0]}{'…' if letter else '*'}"
    if len(numbers) == 2:
        return f"{letter}{numbers[0]},{numbers[1]}"
    if numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{letter}{numbers[0]}–{numbers[-1]}"
    return f"{letter}{numbers[0]},…,{numbers[-1]}"
