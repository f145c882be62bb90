"""Accesses to a w x w matrix, and its transposes (RAP sections III and IV).

There are w² threads, thread T(i w + j) for each i and j. The programs know nothing of layouts: the
matrix is placed as it is (the papers' RAW), under RAS or under RAP, by `mm.place`.

The paper writes its transposes in place, a[j][i] <- a[i][j]. That is right where all threads read
before any writes, as under the synchronous schedule. Without lock step it is a race. On a DMM or a
UMM the rule of turns happens to hide it: every warp sends one read, requests complete in the order
of their dispatches, so the warps go round and round in order and all reads come before the first
write. On the global memory of an HMM whose DMMs hold unequal numbers of warps it shows: the DMM
with fewer is done reading first and writes over what the other has yet to read (`race`). A second
matrix to write to makes it right everywhere, a barrier where all threads are one block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from algorithms.grids import RAP_WIDTH, WIDTHS, widths_and_latencies
from mmsim.claims import Case, Claim, Curve, Precondition, Series, correct

Integers = npt.NDArray[np.int64]


# Section III: contiguous, stride and diagonal access.


@mm.program
def contiguous(T: mm.Thread, a: mm.Array) -> None:
    """RAP section III, [Contiguous Access]: T(i w + j) accesses a[i][j]."""
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    a[i, j]


@mm.program
def stride(T: mm.Thread, a: mm.Array) -> None:
    """RAP section III, [Stride Access]: T(i w + j) accesses a[j][i]."""
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    a[j, i]


@mm.program
def diagonal(T: mm.Thread, a: mm.Array) -> None:
    """RAP section III, [Diagonal Access]: T(i w + j) accesses a[j][(i + j) mod w]."""
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    a[j, (i + j) % w]


@mm.program
def diagonal_transposed(T: mm.Thread, a: mm.Array) -> None:
    """RAP section III, [Diagonal Access], the other: T(i w + j) accesses a[(i + j) mod w][j]."""
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    a[(i + j) % w, j]


@mm.program
def any_access(T: mm.Thread, a: mm.Array, row: mm.Array, column: mm.Array) -> None:
    """Any access: T(t) accesses a[row[t]][column[t]], after reading the two indices."""
    a[row[T.id], column[T.id]]


# Section III: the transposes, in place as the paper writes them.


@mm.program
def crsw(T: mm.Thread, a: mm.Array) -> None:
    """RAP section III, [Contiguous Read Stride Write]: a[j][i] <- a[i][j]."""
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    a[j, i] = a[i, j]


@mm.program
def srcw(T: mm.Thread, a: mm.Array) -> None:
    """RAP section III, [Stride Read Contiguous Write]: a[i][j] <- a[j][i]."""
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    a[i, j] = a[j, i]


@mm.program
def drdw(T: mm.Thread, a: mm.Array) -> None:
    """RAP section III, [Diagonal Read Diagonal Write].

    a[j][(i + j) mod w] <- a[(i + j) mod w][j].
    """
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    a[j, (i + j) % w] = a[(i + j) % w, j]


# The same in place, with a barrier between reading and writing: right without lock step too, where
# all threads are one block.


@mm.program
def crsw_with_barrier(T: mm.Thread, a: mm.Array) -> None:
    """CRSW in place by one block: all threads have read before the first writes."""
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    c = a[i, j]
    T.barrier()
    a[j, i] = c


@mm.program
def srcw_with_barrier(T: mm.Thread, a: mm.Array) -> None:
    """SRCW in place by one block: all threads have read before the first writes."""
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    c = a[j, i]
    T.barrier()
    a[i, j] = c


@mm.program
def drdw_with_barrier(T: mm.Thread, a: mm.Array) -> None:
    """DRDW in place by one block: all threads have read before the first writes."""
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    c = a[(i + j) % w, j]
    T.barrier()
    a[j, (i + j) % w] = c


# The same out of place, as in the paper's CUDA: right under both schedules.


@mm.program
def crsw_to(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """CRSW from a to b (RAP section III's CUDA): b[j][i] <- a[i][j]."""
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    b[j, i] = a[i, j]


@mm.program
def srcw_to(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """SRCW from a to b: b[i][j] <- a[j][i]."""
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    b[i, j] = a[j, i]


@mm.program
def drdw_to(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """DRDW from a to b: b[j][(i + j) mod w] <- a[(i + j) mod w][j]."""
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    b[j, (i + j) % w] = a[(i + j) % w, j]


ACCESSES = {
    "contiguous": contiguous,
    "stride": stride,
    "diagonal": diagonal,
    "diagonal transposed": diagonal_transposed,
}
IN_PLACE = {"CRSW": crsw, "SRCW": srcw, "DRDW": drdw}
WITH_BARRIER = {"CRSW": crsw_with_barrier, "SRCW": srcw_with_barrier, "DRDW": drdw_with_barrier}
OUT_OF_PLACE = {"CRSW": crsw_to, "SRCW": srcw_to, "DRDW": drdw_to}
LAYOUTS: dict[str, Callable[[int, int], mm.layout.Layout]] = {
    "RAW": lambda w, seed: mm.layout.RowMajor(),
    "RAS": mm.layout.RAS,
    "RAP": mm.layout.RAP,
}


# What `mmsim run` starts from.


@contiguous.example
@stride.example
@diagonal.example
@diagonal_transposed.example
@crsw.example
@srcw.example
@drdw.example
@crsw_with_barrier.example
@srcw_with_barrier.example
@drdw_with_barrier.example
def matrix_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A w x w matrix under RAP, a thread for each element."""
    return mm.Example(mm.place(matrix(width), mm.layout.RAP(width, seed)), threads=width * width)


@crsw_to.example
@srcw_to.example
@drdw_to.example
def matrices_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """Two w x w matrices under RAP, a thread for each element."""
    a, layout = matrix(width), mm.layout.RAP(width, seed)
    return mm.Example(
        mm.place(a, layout), mm.place(np.zeros_like(a), layout), threads=width * width
    )


@any_access.example
def any_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A random access: w cells with replacement."""
    row, column = np.random.RandomState(seed).randint(width, size=(2, width))
    return mm.Example(
        mm.place(matrix(width), mm.layout.RAP(width, seed)), row, column, threads=width
    )


# Host code of the claims.


def matrix(w: int) -> Integers:
    """The numbers 0 .. w² - 1 in row-major order."""
    return np.arange(w * w).reshape(w, w)


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
    """A matrix transposed in place, checked where the program makes it right.

    Without a barrier that is under the synchronous schedule only; see `race` for the other.
    """
    chosen = {"in place": IN_PLACE, "with barrier": WITH_BARRIER}[programs][transpose]
    a = mm.place(matrix(w), LAYOUTS[layout](w, seed))
    run = mm.DMM(w, l).run(chosen, a, threads=w * w, schedule=schedule)
    racy = programs == "in place" and schedule == "asynchronous"
    return run if racy else correct(run, a=matrix(w).T)


def race(programs: str = "in place", schedule: mm.Schedule = "asynchronous") -> mm.Run:
    """CRSW of a 4 x 4 matrix on an HMM of two DMMs, with three warps on one and one on the other.

    In place and asynchronously it goes wrong: W(3), alone on its DMM, reads its row, and in its
    next turn writes a[2][3], before W(2), the third of its DMM, has read row 2. A barrier doesn't
    help, since the two blocks don't wait for each other. A race is for the event engine.
    """
    machine, a = mm.HMM(dmms=2, width=4, global_latency=1), matrix(4)
    if programs == "out of place":
        return machine.run(
            crsw_to, a, np.zeros_like(a), threads=16, block_size=12, schedule=schedule
        )
    chosen = {"in place": crsw, "with barrier": crsw_with_barrier}[programs]
    return machine.run(
        chosen, a, threads=16, block_size=12, schedule=schedule, engine="events", trace=False
    )


def cells(
    pattern: str, w: int, count: int, random: np.random.RandomState
) -> tuple[Integers, Integers]:
    """The rows and the columns that `count` warps access, each in a w x w matrix.

    "contiguous", "stride", "diagonal" and "diagonal transposed" are section III's, warp by warp;
    "random" draws w cells with replacement. The others are made by somebody who knows that it is
    RAP but not which permutation: "antidiagonal" a[j][-j], "shuffled diagonal" a[j][s_j] for a
    permutation s of the columns, "two to a row" two cells in each of w/2 rows, "half diagonal" w/2
    cells of the diagonal below w/2 of another.
    """
    lane = np.arange(w)
    warp = np.arange(count)[:, None]
    if pattern == "random":
        rows, columns = random.randint(w, size=(2, count, w))
        return rows, columns
    if pattern == "shuffled diagonal":
        return lane + 0 * warp, random.random_sample((count, w)).argsort(axis=1)
    row, column = {
        "contiguous": (warp + 0 * lane, lane + 0 * warp),
        "stride": (lane + 0 * warp, warp + 0 * lane),
        "diagonal": (lane + 0 * warp, warp + lane),
        "diagonal transposed": (warp + lane, lane + 0 * warp),
        "antidiagonal": (lane + 0 * warp, warp - lane),
        "two to a row": (lane // 2 + warp, (lane // 2) + (lane % 2) * (w // 2) + warp),
        "half diagonal": (lane + warp, (lane % max(w // 2, 1)) + warp),
    }[pattern]
    return row % w, column % w


PATTERNS = (
    "random",
    "diagonal",
    "diagonal transposed",
    "antidiagonal",
    "shuffled diagonal",
    "two to a row",
    "half diagonal",
)


def many_raps(schedule: mm.Schedule, pattern: str, w: int, m: int, seed: int = 0) -> mm.Run:
    """m warps, each with an access of its own to a matrix of its own under a RAP of its own.

    The m matrices lie one below the other in one array, so that m independent random permutations
    are the shifts of its m w rows.
    """
    random = np.random.RandomState(seed)
    shifts = random.random_sample((m, w)).argsort(axis=1).ravel()
    row, column = cells(pattern, w, m, random)
    row = row + w * np.arange(m)[:, None]
    return mm.DMM(w, 1).run(
        any_access,
        mm.place(np.zeros((m * w, w), dtype=np.int64), mm.layout.RAS(w, shifts=tuple(shifts))),
        row.ravel(),
        column.ravel(),
        threads=m * w,
        schedule=schedule,
    )


def stages(array: str = "", kind: str = "") -> Callable[[mm.Run], int]:
    """The stages of the accesses to an array, of reads or writes; by default of all."""

    def measure(run: mm.Run) -> int:
        return sum(
            row.stages
            for row in run.accesses
            if array in ("", row.array) and kind in ("", row.kind)
        )

    return measure


def log_over_loglog(count: Any, w: Any) -> Any:
    """floor(count ln w / ln ln w), a whole number, so that claims compare exactly."""
    import sympy

    return sympy.floor(count * sympy.log(w) / sympy.log(sympy.log(w)))


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
            for w, l in widths_and_latencies():
                yield {**dict(zip(more, values, strict=True)), "w": w, "l": l}

    return grid


def own(l: int = 0, **choices: Iterable[Any]) -> Callable[[], list[Case]]:
    """The widest matrix of Table II with every combination of the given choices."""
    size = {"w": RAP_WIDTH, "l": l} if l else {"w": RAP_WIDTH}
    return lambda: [
        {**dict(zip(choices, values, strict=True)), **size} for values in product(*choices.values())
    ]


def _lemma_1() -> Iterator[Claim]:
    for name, names, formula in (
        ("contiguous", ("contiguous",), lambda w, l: w + l - 1),
        ("stride", ("stride",), lambda w, l: w**2 + l - 1),
        ("diagonal", ("diagonal", "diagonal transposed"), lambda w, l: w + l - 1),
    ):
        yield Claim(
            id=f"RAP-L1.{name}",
            source="RAP, section III",
            title=f"{name} access of a w x w matrix, DMM, w² threads",
            formula=formula,
            kind="exact",
            grid=timed(access=names),
            run=accessed,
            own=own(30, access=names),
        )
    for name, names, formula in (
        ("CRSW-SRCW", ("CRSW", "SRCW"), lambda w, l: w**2 + w + 2 * l - 2),
        ("DRDW", ("DRDW",), lambda w, l: 2 * (w + l - 1)),
    ):
        yield Claim(
            id=f"RAP-L1.{name}",
            source="RAP, Lemma 1",
            title=f"{name.replace('-', ' and ')} transpose of a w x w matrix, DMM, w² threads",
            formula=formula,
            kind="exact",
            grid=timed(transpose=names),
            run=transposed,
            own=own(30, transpose=names),
        )
        yield Claim(
            id=f"RAP-L1.{name}.in-place",
            source="RAP, Lemma 1",
            title=f"{name.replace('-', ' and ')} transpose in place, as the paper writes it",
            formula=formula,
            kind="exact",
            grid=timed(transpose=names, programs=("in place", "with barrier")),
            run=transposed_in_place,
            note="right in lock step; asynchronously the result is asked for with the barrier only",
            own=own(30, transpose=names, programs=("in place", "with barrier")),
        )


def _theorem_2() -> Iterator[Claim]:
    yield Claim(
        id="RAP-TH2",
        source="RAP, Theorem 2",
        title="contiguous and stride access under RAP: w warps of congestion 1",
        formula=lambda w: w,
        kind="exact",
        grid=each(access=("contiguous", "stride"), layout=("RAP",), seed=SEEDS),
        run=accessed,
        measure=stages(),
        quantity="S",
        own=own(access=("contiguous", "stride"), layout=("RAP",)),
    )
    yield Claim(
        id="RAP-TH2.transpose",
        source="RAP, Theorem 2",
        title="CRSW and SRCW transpose under RAP",
        formula=lambda w, l: 2 * (w + l - 1),
        kind="exact",
        grid=timed(transpose=("CRSW", "SRCW"), layout=("RAP",)),
        run=transposed,
        own=own(30, transpose=("CRSW", "SRCW"), layout=("RAP",)),
    )
    yield Claim(
        id="RAP-TH2.O",
        source="RAP, Theorem 2",
        title="any access under RAP: stages of m warps, each under its own random permutation",
        formula=lambda m, w: log_over_loglog(m, w),
        kind="upper",
        constant=2,
        grid=lambda: [
            {"pattern": pattern, "w": w, "m": 200}
            for pattern in PATTERNS
            for w in (4, 5, 8, 16, 32, 64)
        ],
        run=many_raps,
        curve=congestion_curve,
        measure=stages("a"),
        quantity="S",
        requires=(Precondition("4 <= w", lambda w: w >= 4),),
        note="the bound is on the expected congestion, so S/m is a mean over m random "
        "permutations; the accesses are made without knowing them. The proof's own bound, "
        "2 (e^2 ln w / ln ln w + 1/2), is more than w itself up to w = 42",
        own=own(pattern=("diagonal",), m=(100,)),
    )
    yield Claim(
        id="RAP-TH2.any.printed",
        source="RAP, abstract",
        title="any access under RAP, w = 32: stages of m warps, as printed",
        formula=lambda m: m * 353 / 100,
        kind="upper",
        grid=lambda: [{"pattern": "diagonal", "w": 32, "m": 4000}],
        run=many_raps,
        measure=stages("a"),
        quantity="S",
        printed=True,
        note="3.53 is the stride access under RAS; Table II itself has 3.61 for the diagonal one",
    )
    yield Claim(
        id="RAP-TH2.any",
        source="RAP, Table II",
        title="any access of our patterns under RAP, w = 32, corrected",
        formula=lambda m: m * 366 / 100,
        kind="upper",
        grid=lambda: [{"pattern": pattern, "w": 32, "m": 1000} for pattern in PATTERNS],
        run=many_raps,
        measure=stages("a"),
        quantity="S",
        note="Table II's 3.61 and two standard errors of a mean over 1000 permutations",
    )


def _tables() -> Iterator[Claim]:
    yield Claim(
        id="RAP-T2.1",
        source="RAP, Table II",
        title="accesses whose congestion is 1: stages of w warps",
        formula=lambda w: w,
        kind="exact",
        grid=lambda: _table_2(range(3), (*WIDTHS, 64)),
        run=accessed,
        measure=stages(),
        quantity="S",
        own=lambda: _table_2(range(1), (128, RAP_WIDTH)),
    )
    yield Claim(
        id="RAP-T2.w",
        source="RAP, Table II",
        title="stride access under RAW, whose congestion is w: stages of w warps",
        formula=lambda w: w * w,
        kind="exact",
        grid=lambda: ({"access": "stride", "w": w} for w in (*WIDTHS, 64)),
        run=accessed,
        measure=stages(),
        quantity="S",
        own=lambda: ({"access": "stride", "w": w} for w in (128, RAP_WIDTH)),
    )
    one = {
        "reads": [("CRSW", "RAW"), ("CRSW", "RAS"), ("CRSW", "RAP"), ("SRCW", "RAP")],
        "writes": [("SRCW", "RAW"), ("SRCW", "RAS"), ("SRCW", "RAP"), ("CRSW", "RAP")],
    }
    for what, worst in (("reads", "SRCW"), ("writes", "CRSW")):
        yield Claim(
            id=f"RAP-T3.{what}.1",
            source="RAP, Table III",
            title=f"transposes whose {what} have congestion 1: stages of w warps",
            formula=lambda w: w,
            kind="exact",
            grid=partial(_table_3, [*one[what], ("DRDW", "RAW")]),
            run=transposed,
            measure=stages(kind=what.removesuffix("s")),
            quantity="S",
        )
        yield Claim(
            id=f"RAP-T3.{what}.w",
            source="RAP, Table III",
            title=f"{worst} under RAW, whose {what} have congestion w: stages of w warps",
            formula=lambda w: w * w,
            kind="exact",
            grid=partial(_table_3, [(worst, "RAW")]),
            run=transposed,
            measure=stages(kind=what.removesuffix("s")),
            quantity="S",
        )


def _table_2(seeds: Iterable[int], widths: Iterable[int]) -> Iterator[Case]:
    ones = [
        *(("contiguous", layout) for layout in LAYOUTS),
        ("stride", "RAP"),
        ("diagonal", "RAW"),
        ("diagonal transposed", "RAW"),
    ]
    for (access, layout), seed, w in product(ones, seeds, widths):
        yield {"access": access, "layout": layout, "seed": seed, "w": w}


def _table_3(rows: list[tuple[str, str]]) -> Iterator[Case]:
    for (transpose, layout), w in product(rows, WIDTHS):
        for seed in range(1 if layout == "RAW" else 3):
            yield {"transpose": transpose, "layout": layout, "seed": seed, "w": w}


def congestion_curve() -> Curve:
    """Mean congestions that the paper calls Õ(log w / log log w), beside that, over w."""
    from algorithms.rap_simulation import curves

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


CLAIMS = [*_lemma_1(), *_theorem_2(), *_tables()]
