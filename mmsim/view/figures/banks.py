"""The use of each bank: a map of banks and time, or of banks and rounds."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from mmsim.errors import MMSimError, shown
from mmsim.host.arguments import one_of
from mmsim.host.guesses import advised
from mmsim.model.byte_banks import ByteBanks
from mmsim.model.conflicts import Conflict
from mmsim.printable import counted
from mmsim.results import Dispatch, Run
from mmsim.view.figures import paper

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MANY = 20_000
"""With so many cells or more, the map is an image inside the vector file."""

LONGEST, WIDEST = 2**24, 2**16
"""The most time units and the most banks of a map: it has a number for each pair."""

NAMED = 16
"""The most rows of a map in which every row has its name."""


def use(
    run: Run, unit: str, over: Literal["time", "round"] = "time"
) -> tuple[list[int], npt.NDArray[np.int64]]:
    """The rows (such as banks, or the address groups in use), and the words that each served.

    Several requests of a warp for one address count once, as the memory serves only one. The
    columns are time units (a stage counts when it is dispatched) or rounds.
    """
    trace = run.trace
    conflict = trace.conflict(unit)
    dispatches = [dispatch for dispatch in trace.dispatches if dispatch.unit == unit]
    columns, _ = conflict.table(conflict.width)
    used = {place for dispatch in dispatches for place in dispatch.places}
    rows = sorted(used if columns is None else set(columns))
    row_of = {place: row for row, place in enumerate(rows)}
    starts = [row.start for row in run.rounds]
    words = np.zeros((len(rows), trace.time if over == "time" else len(starts)), dtype=np.int64)
    for dispatch in dispatches:
        for _, place, stage in _served(run, dispatch, conflict):
            begun = bisect_right(starts, dispatch.time) - 1
            column = begun if over == "round" else dispatch.time + stage
            words[row_of[place], column] += 1
    return rows, words


def _served(run: Run, dispatch: Dispatch, rule: Conflict) -> set[tuple[int, int, int]]:
    """The words that a request is served, the bank or group of each, and its stage.

    If banks have bytes, short elements share words, and long elements have several words.
    """
    served = zip(dispatch.addresses, dispatch.places, dispatch.stages, strict=True)
    if type(rule) is not ByteBanks:
        return set(served)
    size = next(one.data.dtype.itemsize for one in run.trace.arrays if one.name == dispatch.array)
    words = range(max(size // rule.bank_bytes, 1))
    firsts = ((address * size // rule.bank_bytes, stage) for address, _, stage in served)
    return {
        (first + word, (first + word) % rule.width, stage)
        for first, stage in firsts
        for word in words
    }


def step(count: int) -> int:
    """The distance between numbered columns, of so many columns: 1, 2, 5, 10, ..."""
    found = 1
    while count / found > 10:
        found = found * 5 // 2 if str(found)[0] == "2" else found * 2
    return found


@advised()
def banks(
    run: Run,
    unit: str | None = None,
    over: Literal["time", "round"] = "time",
    *,
    axes: Axes | None = None,
) -> Axes:
    """Draw a map of the words that each bank served: white for none, darker for more.

    For a unit with address groups, the rows are the groups in use.

    Parameters
    ----------
    run
        A run with a trace.
    unit
        The memory unit: "memory", or on the HMM "global", "shared[0]", ... Default: the first unit
        that served a request.
    over
        "time": a column is a time unit, and a stage counts at its dispatch. "round": a column is a
        round of the synchronous schedule.
    axes
        Where to draw.

    Examples
    --------
    >>> import numpy as np, mmsim as mm
    >>> @mm.program
    ... def read(T, a):
    ...     a[2 * T.id]
    >>> run = mm.DMM(4, 3).run(read, np.arange(16), threads=8, trace=True)
    >>> axes = mm.figures.banks(run, over="round")
    >>> axes.collections[0].get_array().ravel().tolist()  # bank 0, 1, 2, 3
    [4, 0, 4, 0]
    """
    paper.check_run(run)
    served = [one.unit for one in run.trace.dispatches]
    known = [one.name for one in run.trace.units if one.name in served]
    if not known:
        raise MMSimError(f"no unit served {run.program!r} a request; there is nothing to draw")
    one_of("over", over, ("time", "round"))
    if over == "round" and not run.rounds:
        raise MMSimError(f"this run of {run.program!r} has no rounds, without lock step")
    unit = known[0] if unit is None else unit
    if not isinstance(unit, str) or unit not in known:
        raise MMSimError(f"no unit {shown(unit)} served a request; {', '.join(known)} did")
    if over == "time" and run.trace.time > LONGEST:
        raise MMSimError(
            f"a map over {run.trace.time} time units is too long to draw ({LONGEST}); draw it over "
            "'round'"
        )
    if run.trace.conflict(unit).width > WIDEST:
        raise MMSimError(
            f"a map of {run.trace.conflict(unit).width} banks is too tall to draw ({WIDEST})"
        )
    rows, words = use(run, unit, over)
    count = words.shape[1]
    with paper.drawing(axes, paper.COLUMN, 0.75 + min(2.8, max(0.9, 0.13 * len(rows)))) as drawn:
        mesh = drawn.pcolormesh(
            np.arange(count + 1),
            np.arange(len(rows) + 1),
            words,
            cmap="Blues",
            vmin=0,
            vmax=max(1, int(words.max())),
            edgecolors="#BBBBBB" if words.size <= 600 else "none",
            linewidth=0.3,
            rasterized=words.size > MANY,
        )
        if words.max() > 1:
            bar = drawn.figure.colorbar(mesh, ax=drawn, pad=0.02, label="words")
            paper.small_ticks(bar.ax)
            paper.whole_numbers(bar.ax.yaxis)
        name = run.trace.conflict(unit).place
        named = f"{name} of {unit}" if len(run.trace.units) > 1 else name
        one = "time unit" if over == "time" else "round"
        drawn.set(xlabel=one, ylabel=named, ylim=(len(rows), 0))
        marks = range(0, len(rows), -(-len(rows) // NAMED))
        drawn.set_yticks([row + 0.5 for row in marks], [str(rows[row]) for row in marks])
        if over == "round":  # a round is not a span of time: its number belongs below its middle
            marks = range(0, count, step(count))
            drawn.set_xticks([column + 0.5 for column in marks], list(map(str, marks)))
        else:
            paper.whole_numbers(drawn.xaxis)
        most = f"at most {int(words.max())} of a bank at a time"
        sums = (f"{name} {row}: {int(own.sum())}" for row, own in zip(rows, words, strict=True))
        paper.describe(drawn, f"words that {unit} served over {counted(count, one)}, {most}", sums)
    return drawn
