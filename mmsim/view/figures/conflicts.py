"""The words that one access to a tile requests from the banks, phase by phase."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mmsim.errors import LaunchError, MMSimError, shown
from mmsim.host.arguments import whole
from mmsim.host.guesses import advised
from mmsim.model.questions import ATOMICS, BANKS, Conflicts, Request
from mmsim.printable import counted
from mmsim.view.figures.access import threads_of
from mmsim.view.figures.paper import COLOURS, PAGE, cell, columns_above, describe, drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ALONE, COLLIDES = COLOURS[0], COLOURS[5]
"""The colours of the only requested word of a bank, and of one of several."""
HEIGHT, GAP = 0.19, 0.5
"""The height of a row of cells in inches, and the gap between two phases in rows."""


@advised()
def conflicts(conflicts: Conflicts, value: int | None = None, *, axes: Axes | None = None) -> Axes:
    """Draw the words of one request, below their banks, phase by phase.

    A column is a bank. A cell is a requested word with its thread (* stands for several threads);
    in an atomic operation each thread has a cell. A row is a stage; in a compare and swap, two
    stages. Several requested words of one bank are red, with their number above them. Phases and
    stages count from 0, as in the printed table.

    Parameters
    ----------
    conflicts
        The result of `mmsim.conflicts`.
    value
        The number of the threads' value to draw. Default: that of the request with the most stages.
    axes
        Where to draw.

    Examples
    --------
    >>> import mmsim as mm
    >>> found = mm.conflicts("(32,32):(32,1)", lambda thread, value: (thread % 4, thread // 4))
    >>> axes = mm.figures.conflicts(found)
    >>> [text.get_text() for text in axes.texts][:2]  # above bank 0; below it threads 0, 1, ...
    ['×4', '0']
    """
    if not isinstance(conflicts, Conflicts):
        raise LaunchError(
            f"this figure is drawn of what mmsim.conflicts found, not of {shown(conflicts)}"
        )
    request = _request(conflicts, value)
    drawn_of = [
        {bank: _cells(conflicts, words) for bank, words in sorted(phase.words.items())}
        for phase in request.phases
    ]
    tall = [max(map(len, cells.values())) for cells in drawn_of]
    with drawing(axes, PAGE, 0.75 + HEIGHT * (sum(tall) + 2 * GAP * len(tall))) as drawn:
        ticks: dict[float, str] = {}
        top = 0.0
        of_phases = zip(request.phases, drawn_of, tall, strict=True)
        for number, (phase, cells, rows) in enumerate(of_phases):
            top += GAP if number == 0 else 2 * GAP
            each = phase.stages // rows
            for row in range(rows):
                stage = str(row) if each == 1 else f"{each * row}–{each * row + each - 1}"
                name = f"phase {number}, " if row == 0 else ""
                ticks[top + row + 0.5] = f"{name}stage{'' if each == 1 else 's'} {stage}"
            grid: Any = {"colors": "#DDDDDD", "linewidth": 0.5, "zorder": 0}
            drawn.vlines(range(BANKS + 1), top, top + rows, **grid)
            drawn.hlines([top + row for row in range(rows + 1)], 0, BANKS, **grid)
            for bank, own in cells.items():
                colour = COLLIDES if bank in phase.worst else ALONE
                if bank in phase.worst:
                    where: Any = {"ha": "center", "va": "bottom", "gid": f"count-{number}-{bank}"}
                    text = drawn.text(bank + 0.5, top - 0.05, f"×{len(own)}", **where)
                    text.set(color=COLLIDES, fontweight="bold")
                for row, threads in enumerate(own):
                    gid = f"word-{number}-{bank}-{row}"
                    cell(drawn, bank, top + row, threads_of(threads, BANKS), colour, gid=gid)
            top += rows
        drawn.set(xlim=(-0.05, BANKS + 0.05), ylim=(top + 0.1, -0.6 * GAP))
        drawn.set_yticks(list(ticks), list(ticks.values()))
        middles = [bank + 0.5 for bank in range(BANKS)]
        columns_above(drawn, middles, list(map(str, range(BANKS))))
        drawn.spines[:].set_visible(False)
        drawn.set_xlabel(f"bank (cells show their thread; {_counted(conflicts, request)})")
        describe(
            drawn,
            f"words that one request wants of {BANKS} banks, {_counted(conflicts, request)}",
            (
                f"phase {number}: {counted(len(phase.threads), 'thread')} want several words of "
                f"{counted(len(phase.worst), 'bank')}"
                for number, phase in enumerate(request.phases)
            ),
        )
    return drawn


def _request(found: Conflicts, value: int | None) -> Request:
    """The request to draw: a value's request, or the one with the most stages."""
    if value is not None:
        whole("value", value, 0)
    chosen = [one for one in found.requests if value is None or one.value == value]
    if not chosen:
        raise MMSimError(
            "no thread takes part, so there is nothing to draw"
            if value is None
            else f"no thread has a value {value} in this access; values count from 0"
        )
    return max(chosen, key=lambda one: (one.stages, -one.value))


def _counted(found: Conflicts, request: Request) -> str:
    """The drawn request in words."""
    stages = counted(request.stages, "stage")
    least = sum(phase.least for phase in request.phases)
    of = f"value {request.value}, " if len(found.requests) > 1 else ""
    return f"{of}{stages}, {least} at best"


def _cells(found: Conflicts, words: dict[int, tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The threads of each cell of a bank: a word's, or a single one if requests don't merge."""
    every = [threads for _, threads in sorted(words.items())]
    if found.kind in ATOMICS:
        return [(thread,) for threads in every for thread in threads]
    return every
