"""The times of a sweep over one of its parameters, with the formula of a claim."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mmsim.claims.claim import Claim, call_with
from mmsim.errors import LaunchError, MMSimError, shown
from mmsim.host.arguments import several
from mmsim.host.guesses import advised
from mmsim.sweeps.rows import RESULTS, SweepRow
from mmsim.view.figures.paper import COLUMN, MARKERS, RING, drawing, legend_above, marks, words
from mmsim.view.figures.terms import formula_of, short
from mmsim.view.figures.times import scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SYMBOLS = {"n": "size", "p": "threads", "w": "width", "l": "latency", "L": "latency", "d": "dmms"}
"""The papers' letters, and their names on the command line."""


@advised()
def sweep(
    rows: Sequence[SweepRow], over: str, claim: Claim | None = None, *, axes: Axes | None = None
) -> Axes:
    """Draw the time of each row over a parameter, with the times that a claim predicts.

    Rows that differ in other parameters too are separate series, eight at most. Rows of failed
    cases are left out.

    Parameters
    ----------
    rows
        The result of `mmsim.sweep`, or some of its rows.
    over
        The parameter of the horizontal axis, a number in each row. For machines also "width",
        "latency", "dmms" or "shared_latency".
    claim
        A claim whose formula is evaluated for each row that satisfies its preconditions. Its
        letters n, p, w, l, L, d are columns of these names, or size, threads, width, latency, dmms.
    axes
        Where to draw.

    Examples
    --------
    >>> import numpy as np, mmsim as mm
    >>> rows = [{"w": w, "n": 64, "time": 64 // w} for w in (4, 8)]
    >>> axes = mm.figures.sweep(rows, "w")
    >>> [[int(y) for y in line.get_ydata()] for line in axes.lines]
    [[16, 8]]
    """
    rows = several("rows are those of a sweep", rows)
    for row in rows:
        if not isinstance(row, Mapping):
            raise LaunchError(f"a row of a sweep is a dictionary, not {shown(row)}")
    if not isinstance(over, str):
        raise LaunchError(f"over must be the name of a parameter, not {shown(over)}")
    if claim is not None and not isinstance(claim, Claim):
        raise LaunchError(f"claim must be a Claim, not {shown(claim)}")
    good = [row for row in rows if row.get("error") is None]
    if not good:
        raise MMSimError("no row to draw: every case of the sweep failed")
    for row in good:
        if isinstance(row.get(over), bool) or not isinstance(row.get(over), int | float):
            known = ", ".join(name for name in _parameters(row) if name != over)
            raise MMSimError(f"{over!r} isn't a number in every row; there are {known}")
    series = _series(good, over)
    if len(series) > len(MARKERS):
        raise MMSimError(
            f"{len(series)} series ({', '.join(list(series)[:3])}, ...), and {len(MARKERS)} can be "
            "distinguished; draw fewer of the rows"
        )
    with drawing(axes, COLUMN, 2.2) as drawn:
        lines: set[tuple[tuple[float, float], ...]] = set()
        heights: list[float] = []
        for number, (name, points) in enumerate(series.items()):
            drawn.plot(
                [row[over] for row in points],
                [row["time"] for row in points],
                **marks(number),
                label=name or "simulated",
            )
            if claim is not None:
                line = tuple(_claimed(claim, points, over))
                if line and line not in lines:
                    drawn.plot(
                        *zip(*line, strict=True),
                        **RING,
                        zorder=1,
                        label="" if lines else f"{claim.id}: {words(short(formula_of(claim)))}",
                    )
                    lines.add(line)
                    heights += [claimed for _, claimed in line]
        if claim is not None and not lines:
            raise MMSimError(f"no row keeps the preconditions of {claim.id}")
        x = sorted({float(row[over]) for row in good})
        heights += [float(row["time"]) for row in good]
        scale(drawn, x, heights)
        style = "italic" if len(over) == 1 else "normal"
        drawn.set_xlabel(words(over.replace("_", " ")), style=style)
        drawn.set_ylabel("time units")
        legend_above(drawn, columns=2 if claim is None else 1)
    return drawn


def _parameters(row: SweepRow) -> list[str]:
    return [name for name in row if name not in RESULTS]


def _series(rows: list[SweepRow], over: str) -> dict[str, list[SweepRow]]:
    """The rows by their other parameters, each in order of the value."""
    names = dict.fromkeys(name for row in rows for name in _parameters(row) if name != over)
    if "machine" in names:  # its kind and numbers first, as its text repeats them
        names["machine"] = names.pop("machine")
    chosen: list[str] = []

    def kinds(names: list[str]) -> int:
        return len({tuple(row.get(name) for name in (over, *names)) for row in rows})

    for name in names:
        if kinds([*chosen, name]) > kinds(chosen):
            chosen.append(name)
    found: dict[str, list[SweepRow]] = {}
    for row in rows:
        label = ", ".join(_label(name, row.get(name)) for name in chosen)
        found.setdefault(label, []).append(row)
    return {label: sorted(found[label], key=lambda row: float(row[over])) for label in found}


def _label(name: str, value: Any) -> str:
    return words(value if isinstance(value, str) else f"{name}={value}".replace("_", " "))


def _claimed(claim: Claim, rows: list[SweepRow], over: str) -> list[tuple[float, float]]:
    """The points of a claim's formula, for the rows that satisfy its preconditions."""
    if claim.quantity != "T":
        raise MMSimError(
            f"{claim.id} is about {claim.title}, not about a time; it can't be drawn over times"
        )
    points: list[tuple[float, float]] = []
    for row in rows:
        case = {**{s: row[name] for s, name in SYMBOLS.items() if name in row}, **row}
        lacking = [name for name in claim.parameters if case.get(name) is None]
        if lacking:
            wanted = " and ".join(
                f"{name} ({SYMBOLS.get(name, 'a parameter')})" for name in lacking
            )
            raise MMSimError(f"the formula of {claim.id} needs {wanted}, which the rows don't have")
        if all(
            call_with(condition.holds, case)
            for condition in claim.requires
            if set(inspect.signature(condition.holds).parameters) <= set(case)
        ):
            points.append((float(row[over]), float(claim.evaluate(case))))
    return points
