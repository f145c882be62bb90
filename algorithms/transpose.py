"""Transposing a matrix on the DMM and the UMM (SMM section 5)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from math import isqrt

import numpy as np

import mmsim as mm
from algorithms.grids import (
    ENOUGH_THREADS,
    FULL_WARPS,
    LATENCIES,
    WHOLE_SHARES,
    WIDTHS,
    machine,
    widths_and_latencies,
)
from mmsim.claims import Case, Claim, Precondition, correct, gcd, minimum, root


@mm.program
def straightforward(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """SMM section 5, [Straightforward transposing algorithm]."""
    rows = a.shape[0]
    n, p, i = a.size, T.count, T.id
    for t in range(n // p):
        j = (t * p + i) // rows
        k = (t * p + i) % rows
        b[j, k] = a[k, j]


@mm.program
def diagonal(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """SMM section 5, [Transpose by the diagonal access on the DMM] (Lemma 5.1)."""
    rows = a.shape[0]
    n, p, i = a.size, T.count, T.id
    for t in range(n // p):
        j = (t * p + i) // rows
        k = (t * p + i) % rows
        b[(j + k) % rows, k] = a[k, (j + k) % rows]


@mm.program
def rotating(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """SMM section 5, [Transpose by the rotating technique on the UMM]: w threads, w registers."""
    w, i = a.shape[0], T.id
    r = mm.registers(w)
    for t in range(w):
        r[t] = a[t, (t + i) % w]
    for t in range(w):
        b[t, (t - i) % w] = r[(t - i) % w]


@straightforward.example
@diagonal.example
def matrix_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A matrix of `size` words (default: w x w), a thread for each."""
    side = isqrt(size) if size else width
    a = np.arange(side * side).reshape(side, side)
    return mm.Example(a, np.zeros_like(a), threads=side * side)


@rotating.example
def tile_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A w x w matrix, w threads."""
    a = np.arange(width * width).reshape(width, width)
    return mm.Example(a, np.zeros_like(a), threads=width)


def transposed(
    program: mm.Program, schedule: mm.Schedule, on: str, n: int, p: int, w: int, l: int
) -> mm.Run:
    """Transpose a matrix of n words with p threads, checked."""
    side = isqrt(n)
    a = np.arange(n).reshape(side, side)
    run = machine(on, w, l).run(program, a, np.zeros_like(a), threads=p, schedule=schedule)
    return correct(run, a=a, b=a.T)


def stages_of_reads(run: mm.Run) -> int:
    """Stages of all reads."""
    return sum(row.stages for row in run.accesses if row.kind == "read")


def sides(on: str, multiples: bool) -> Iterator[Case]:
    """Matrices whose side w divides (or not), from one warp to a thread for each word."""
    for w, l in widths_and_latencies():
        chosen = (w, 2 * w) if multiples else sorted({w + 1, 6, 9, 12} - {w, 2 * w, 3 * w})
        for side in chosen:
            n = side * side
            if side > 32 or n < w or (not multiples and side % w == 0):
                continue
            shares = [p for p in (w, 3 * w, side, side * w, n) if w <= p and n % p == 0]
            for p in sorted(set(shares)):
                yield {"on": on, "n": n, "p": p, "w": w, "l": l}


def all_sides(on: str) -> Iterator[Case]:
    """Sides that w divides and sides that it doesn't."""
    return (case for multiples in (True, False) for case in sides(on, multiples))


def narrow_rows() -> Iterator[Case]:
    """Erratum 3: a thread for each word, rows twice as long as the width."""
    for w, l in product((2, 3, 4, 8, 12, 16, 32), (1, 5)):
        n = (2 * w) ** 2
        yield {"on": "UMM", "n": n, "p": n, "w": w, "l": l}


def one_column_short() -> Iterator[Case]:
    """Sides of w - 1: a warp of the diagonal transpose steps by w words."""
    for w, l in product((4, 8, 12, 16, 32, 64), (1, 5)):
        n = (w - 1) ** 2
        yield {"on": "DMM", "n": n, "p": n, "w": w, "l": l}


SQUARE = Precondition("n is a square", lambda n: isqrt(n) ** 2 == n)
WHOLE_ROWS = Precondition("w divides sqrt n", lambda n, w: isqrt(n) % w == 0)
EXACT = (SQUARE, FULL_WARPS, WHOLE_SHARES, WHOLE_ROWS)
ORDER = (SQUARE, ENOUGH_THREADS, WHOLE_SHARES)


def _claims() -> Iterator[Claim]:
    yield Claim(
        id="SMM-ST",
        source="SMM, section 5",
        title="straightforward transpose, DMM: stages of its reads",
        formula=lambda n, w: n * gcd(root(n), w) / w,
        kind="exact",
        grid=lambda: sides("DMM", multiples=True),
        run=partial(transposed, straightforward),
        measure=stages_of_reads,
        quantity="S",
        requires=EXACT,
        note="exact only where w divides sqrt n; a warp that turns into the next column has fewer "
        "conflicts",
    )
    yield Claim(
        id="SMM-ST.bound",
        source="SMM, section 5",
        title="straightforward transpose, DMM: stages of its reads, any sqrt n",
        formula=lambda n, w: n * gcd(root(n), w) / w,
        kind="upper",
        grid=lambda: (case for case in all_sides("DMM") if case["p"] % case["w"] == 0),
        run=partial(transposed, straightforward),
        measure=stages_of_reads,
        quantity="S",
        requires=(SQUARE, FULL_WARPS, WHOLE_SHARES),
    )
    yield Claim(
        id="SMM-ST.O",
        source="SMM, section 5",
        title="straightforward transpose, DMM",
        formula=lambda n, p, w, l: n / w * gcd(root(n), w) + n * l / p,
        kind="upper",
        constant=3,
        grid=lambda: all_sides("DMM"),
        run=partial(transposed, straightforward),
        requires=ORDER,
    )
    yield Claim(
        id="SMM-ST.UMM.printed",
        source="SMM, section 5",
        title="straightforward transpose, UMM, as printed",
        formula=lambda n, p, w, l: minimum(n, n**2 / (p * w)) + n * l / p,
        kind="upper",
        constant=2,
        grid=narrow_rows,
        run=partial(transposed, straightforward),
        requires=ORDER,
        printed=True,
        note="the stride is sqrt n, not n/p; for p > n/w the ratio grows like w, so that no "
        "constant will do",
    )
    yield Claim(
        id="SMM-ST.UMM",
        source="SMM, section 5",
        title="straightforward transpose, UMM, corrected",
        formula=lambda n, p, w, l: minimum(n, n * root(n) / w) + n * l / p,
        kind="upper",
        constant=2,
        grid=lambda: (*all_sides("UMM"), *narrow_rows()),
        run=partial(transposed, straightforward),
        requires=ORDER,
    )
    yield Claim(
        id="SMM-L5.1",
        source="SMM, Lemma 5.1",
        title="diagonal transpose, DMM",
        formula=lambda n, p, w, l: 2 * (p / w + l - 1) * n / p,
        kind="exact",
        grid=lambda: sides("DMM", multiples=True),
        run=partial(transposed, diagonal),
        requires=EXACT,
    )
    yield Claim(
        id="SMM-L5.1.printed",
        source="SMM, section 5",
        title="diagonal transpose, DMM, as printed",
        formula=lambda n, p, w, l: (p / w + l - 1) * n / p,
        kind="exact",
        grid=lambda: sides("DMM", multiples=True),
        run=partial(transposed, diagonal),
        requires=EXACT,
        printed=True,
        note="the paper counts one round at each step; the algorithm has two, a read and a write",
    )
    yield Claim(
        id="SMM-L5.1.any-n.printed",
        source="SMM, section 5",
        title="diagonal transpose, DMM, regardless of n, as printed",
        formula=lambda n, p, w, l: 2 * (p / w + l - 1) * n / p,
        kind="exact",
        grid=lambda: [{"on": "DMM", "n": 144, "p": 36, "w": 9, "l": l} for l in LATENCIES],
        run=partial(transposed, diagonal),
        requires=(SQUARE, FULL_WARPS, WHOLE_SHARES),
        printed=True,
        note="w must divide sqrt n: with w = 9, sqrt n = 12 a warp meets congestion 3",
    )
    yield Claim(
        id="SMM-L5.1.O.printed",
        source="SMM, Lemma 5.1",
        title="diagonal transpose, DMM, regardless of n, as printed",
        formula=lambda n, p, w, l: n / w + n * l / p,
        kind="upper",
        constant=4,
        grid=one_column_short,
        run=partial(transposed, diagonal),
        requires=ORDER,
        printed=True,
        note="a warp steps by sqrt n + 1 words: where w divides that, it meets a single bank, and "
        "the ratio grows like w",
    )
    yield Claim(
        id="SMM-L5.1.O",
        source="SMM, Lemma 5.1",
        title="diagonal transpose, DMM, any sqrt n, corrected",
        formula=lambda n, p, w, l: n / w * gcd(root(n) + 1, w) + n * l / p,
        kind="upper",
        constant=4,
        grid=lambda: (*all_sides("DMM"), *one_column_short()),
        run=partial(transposed, diagonal),
        requires=ORDER,
        note="where w divides sqrt n the gcd is 1 and the paper's bound holds",
    )
    yield Claim(
        id="SMM-ROT",
        source="SMM, section 5",
        title="rotating transpose of w x w, UMM, w threads, w registers",
        formula=lambda w, l: 2 * w * l,
        kind="exact",
        grid=lambda: [
            {"on": "UMM", "n": w * w, "p": w, "w": w, "l": l}
            for w, l in product((*WIDTHS, 7, 9), (*LATENCIES, 3))
        ],
        run=partial(transposed, rotating),
        requires=(Precondition("n = w^2, p = w", lambda n, p, w: n == w * w and p == w),),
    )


CLAIMS = list(_claims())
