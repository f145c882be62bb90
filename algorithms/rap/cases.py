"""The checked runs and the cases for RAP's claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import product
from math import ceil, floor, sqrt
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Curve, Series, correct
from mmsim_algorithms.grids import LATENCIES, RAP_WIDTH, WIDTHS
from mmsim_algorithms.printed import table
from mmsim_algorithms.rap.estimates import Integers, permutations
from mmsim_algorithms.rap.patterns import cells
from mmsim_algorithms.rap.programs import (
    ACCESSES,
    IN_PLACE,
    LAYOUTS,
    OUT_OF_PLACE,
    WITH_BARRIER,
    any_access,
    matrix,
)


def accessed(
    schedule: mm.Schedule, access: str, w: int, l: int = 1, layout: str = "RAW", seed: int = 0
) -> mm.Run:
    """All of a matrix, accessed in the named way."""
    a = mm.place(matrix(w), LAYOUTS[layout](w, seed))
    return mm.DMM(w, l).run(ACCESSES[access], a, threads=w * w, schedule=schedule)


def transposed(
    schedule: mm.Schedule, transpose: str, w: int, l: int = 1, layout: str = "RAW", seed: int = 0
) -> mm.Run:
    """A matrix transposed from a to b, checked."""
    a, placed = matrix(w), LAYOUTS[layout](w, seed)
    run = mm.DMM(w, l).run(
        OUT_OF_PLACE[transpose],
        mm.place(a, placed),
        mm.place(np.zeros_like(a), placed),
        threads=w * w,
        schedule=schedule,
    )
    return correct(run, a=a, b=a.T)


def transposed_in_place(
    schedule: mm.Schedule,
    transpose: str,
    w: int,
    l: int = 1,
    layout: str = "RAW",
    seed: int = 0,
    programs: str = "in place",
) -> mm.Run:
    """A matrix transposed in place, checked if the program is right.

    Without a barrier it is right only under the synchronous schedule; `race` shows the other.
    """
    chosen = {"in place": IN_PLACE, "with barrier": WITH_BARRIER}[programs][transpose]
    a = mm.place(matrix(w), LAYOUTS[layout](w, seed))
    run = mm.DMM(w, l).run(chosen, a, threads=w * w, schedule=schedule)
    racy = programs == "in place" and schedule == "asynchronous"
    return run if racy else correct(run, a=matrix(w).T)


def many_matrices(
    schedule: mm.Schedule,
    pattern: str,
    w: int,
    m: int,
    layout: str = "RAP",
    seed: int = 0,
    trace: bool = False,
) -> mm.Run:
    """m warps, each with its own access to its own matrix under RAS or RAP.

    The m matrices lie one below the other in one array. Its m w rows are shifted by m independent
    random permutations (RAP) or by m w independent random numbers (RAS).
    """
    random = np.random.RandomState(seed)
    if layout == "RAP":
        shifts = permutations(m, w, random).ravel()
    else:
        shifts = random.randint(w, size=m * w)
    row, column = cells(pattern, w, m, random)
    row = row + w * np.arange(m)[:, None]
    return mm.DMM(w, 1).run(
        any_access,
        mm.place(np.zeros((m * w, w), dtype=np.int64), mm.layout.RAS(w, shifts=tuple(shifts))),
        row.ravel(),
        column.ravel(),
        threads=m * w,
        schedule=schedule,
        trace=trace,
    )


ERRORS = 5
"""Standard errors between a mean and a limit of its expectation."""


def congestions_of(run: mm.Run) -> Integers:
    """The congestion of each warp's access to `a`, in order of dispatch, from the trace."""
    return np.array([one.stage_count for one in run.trace.dispatches if one.array == "a"])


def _chance(run: mm.Run) -> float:
    """Five standard errors of the sum of the congestions."""
    found = congestions_of(run)
    return ERRORS * float(found.std(ddof=1)) * sqrt(len(found))


def low_sum(run: mm.Run) -> int:
    """The stages at `a` less five standard errors: a lower limit of the expectation."""
    return floor(stages("a")(run) - _chance(run))


def high_sum(run: mm.Run) -> int:
    """The stages at `a` plus five standard errors: an upper limit of the expectation."""
    return ceil(stages("a")(run) + _chance(run))


def stages(array: str = "", kind: str = "") -> Callable[[mm.Run], int]:
    """The stages of the accesses to an array, of reads or writes; by default of all."""

    def measure(run: mm.Run) -> int:
        return sum(
            row.stages
            for row in run.accesses
            if array in ("", row.array) and kind in ("", row.kind)
        )

    return measure


# Claims.

SEEDS = range(10)


def each(**choices: Iterable[Any]) -> Callable[[], Iterator[Case]]:
    """A grid of every width with every combination of the given choices."""

    def grid() -> Iterator[Case]:
        for values in product(*choices.values()):
            for w in WIDTHS:
                yield {**dict(zip(choices, values, strict=True)), "w": w}

    return grid


def timed(**more: Iterable[str]) -> Callable[[], Iterator[Case]]:
    """A grid of every width and latency with every combination of the given names."""

    def grid() -> Iterator[Case]:
        for values in product(*more.values()):
            for w, l in product(WIDTHS, LATENCIES):
                yield {**dict(zip(more, values, strict=True)), "w": w, "l": l}

    return grid


def own(l: int = 0, **choices: Iterable[Any]) -> Callable[[], list[Case]]:
    """The widest matrix of Table II with every combination of the given choices."""
    size = {"w": RAP_WIDTH, "l": l} if l else {"w": RAP_WIDTH}
    return lambda: [
        {**dict(zip(choices, values, strict=True)), **size} for values in product(*choices.values())
    ]


def ones_of_table_2(seeds: Iterable[int], widths: Iterable[int]) -> Iterator[Case]:
    ones = [
        *(("contiguous", layout) for layout in LAYOUTS),
        ("stride", "RAP"),
        ("diagonal", "RAW"),
        ("diagonal transposed", "RAW"),
    ]
    for (access, layout), seed, w in product(ones, seeds, widths):
        yield {"access": access, "layout": layout, "seed": seed, "w": w}


def cases_of_table_3(rows: list[tuple[str, str]]) -> Iterator[Case]:
    for (transpose, layout), w in product(rows, WIDTHS):
        for seed in range(1 if layout == "RAW" else 3):
            yield {"transpose": transpose, "layout": layout, "seed": seed, "w": w}


@cache
def figures_of_table_2() -> dict[tuple[str, str, int], int]:
    """Cells of Table II that are means, in hundredths: by access, layout and w."""
    return {
        (row["access"], row["layout"], w): int(row[f"w{w}"].replace(".", ""))
        for row in table("rap_table2")
        for w in (16, 32, 64, 128, 256)
        if "." in row[f"w{w}"] and row["layout"] != "RAW"
    }


def means_of_table_2(m: int) -> Iterator[Case]:
    """The cells of the smaller widths, each over m warps."""
    for (access, layout, w), figure in figures_of_table_2().items():
        if w <= 32:
            case = {"pattern": access, "layout": layout, "w": w, "m": m}
            yield {**case, "hundredths": figure}


def mean_of_table_2(schedule: mm.Schedule, hundredths: int, **case: Any) -> mm.Run:
    """The run of such a cell, traced for its warps' congestions."""
    return many_matrices(schedule, **case, trace=True)


def congestion_curve() -> Curve:
    """Mean congestions, Õ(log w / log log w) in the paper, and this bound, over w."""
    from mmsim_algorithms.rap.curves import curves

    points = curves(samples=1000)
    kinds = [("stride", "RAS"), ("diagonal", "RAP"), ("random", "RAP"), ("malicious", "3P")]
    measured = [
        (f"{access}, {layout}", [p for p in points if (p.access, p.layout) == (access, layout)])
        for access, layout in kinds
    ]
    series = [
        Series(name, tuple(p.w for p in own), tuple(p.mean for p in own)) for name, own in measured
    ]
    bound = [(p.w, p.log_ratio) for p in measured[0][1]]
    series.append(Series("ln w / ln ln w", *zip(*bound, strict=True)))
    return Curve("congestion", "w", "stages", tuple(series))
