"""Claims about the optimal triangulation of a polygon with n sides and a base."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Claim, Precondition, correct, maximum
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.grids import machine
from mmsim_algorithms.triangulation.programs import (
    by_diagonals,
    by_rows,
    diagonal_arrangement,
    eager,
    empty,
    least,
    weights,
)

SECTION = 1
PAPER = "POLY, CANDAR 2013"
DERIVED = "POLY, derived here"

TWO_SIDES = Precondition("n > 1", lambda n: n > 1)
SIDES = Precondition("w <= n", lambda n, w: w <= n)
THREADS = Precondition("w <= p <= n^2", lambda n, p, w: w <= p <= n * n)
FEW = Precondition("w <= p <= n", lambda n, p, w: w <= p <= n)


def rows(schedule: mm.Schedule, n: int, w: int, l: int, p: int = 0) -> mm.Run:
    """Row by row, by p threads, or a thread for each side."""
    u = weights(n, n)
    c = np.zeros((n, n), int)
    run = mm.UMM(w, l).run(by_rows, u, c, threads=p or n, schedule=schedule)
    return correct(run, c=least(u))


def diagonals(
    program: mm.Program, schedule: mm.Schedule, n: int, p: int, w: int, l: int, on: str = "UMM"
) -> mm.Run:
    """By p threads in the diagonal arrangement; the words outside it stay unchanged."""
    u = weights(n, n)
    c = empty(n) if program is eager else np.zeros((n, n), int)
    arguments = diagonal_arrangement(u), c
    run = machine(on, w, l).run(
        program, *arguments, threads=p, schedule=schedule, max_accesses=100_000 + 4 * n**3
    )
    inside = np.add.outer(np.arange(n), np.arange(n)) < n
    return correct(run, c=np.where(inside, diagonal_arrangement(least(u)), c))


def of_rows(n: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `rows`."""
    return [SymbolicLaunch(by_rows, {"u": (n, n), "c": (n, n)}, n, mm.UMM(w, l))]


PROGRAMS: dict[str, Callable[..., mm.Run]] = {
    "rows": rows,
    "diagonals": partial(diagonals, by_diagonals),
    "eager": partial(diagonals, eager),
}


def any_program(schedule: mm.Schedule, program: str, **case: Any) -> mm.Run:
    """One of `PROGRAMS`."""
    return PROGRAMS[program](schedule, **case)


def polygons() -> Iterator[Case]:
    """Up to 31 sides, a thread for each."""
    for w, n, l in product((2, 3, 8), (8, 13, 16, 31), (1, 5, 30)):
        if w <= n:
            yield {"n": n, "w": w, "l": l}


def threads(most: int) -> Iterator[Case]:
    """8 to 64 sides; n threads and fewer, or n and n^2/2 where `most` is 2."""
    for w, n, l in product((3, 8), (8, 12, 16, 32, 64), (1, 30)):
        few = (n // 2, n) if n <= 16 else (n,)
        for p in (n, n * n // 2) if most == 2 else few:
            if w <= p:
                yield {"n": n, "p": p, "w": w, "l": l}


CLAIMS = [
    Claim(
        id="POLY-rows",
        source=DERIVED,
        title="optimal triangulation, matrices row by row, n threads, UMM",
        formula=lambda n, l: n * (n - 1) * (n + 4) / 3 + (n - 1) * (n + 2) * (l - 1),
        kind="exact",
        grid=polygons,
        run=rows,
        launches=of_rows,
        requires=(SIDES, TWO_SIDES),
        note="the naive way: words of a diagonal lie n + 1 apart, each in a group of its own",
    ),
    Claim(
        id="POLY-diagonals.O",
        source=DERIVED,
        title="optimal triangulation, diagonal arrangement, UMM",
        formula=lambda n, p, w, l: n**3 / w + n**3 * l / p + n * l,
        kind="upper",
        grid=lambda: threads(1),
        run=PROGRAMS["diagonals"],
        requires=(SIDES, FEW),
        note="for p <= n: then n^3 l/p is above the n^2 l of n diagonals with n rounds each",
    ),
    Claim(
        id="POLY-eager.O",
        source=PAPER,
        title="optimal triangulation, each sum as soon as both its parts are known, UMM",
        formula=lambda n, p, w, l: n**3 / w + n**3 * l / p + n * l,
        kind="upper",
        constant=4,
        grid=lambda: (
            *threads(2),
            *({"n": n, "p": n * n, "w": 3, "l": 1000} for n in (8, 16, 32)),
        ),
        run=PROGRAMS["eager"],
        requires=(SIDES, THREADS),
        note="for p up to n^2: seven rounds at most after each of n - 1 diagonals. With p = n^2 "
        "the ratio tends to 7/2 as l and then n grow",
    ),
    Claim(
        id="POLY-LB",
        source=PAPER,
        title="lower bound for the optimal triangulation, UMM",
        formula=lambda n, p, w, l: maximum(
            n * (n - 1) * (n + 4) / (3 * w) + l - 1,
            n * (n - 1) * (n + 4) * l / (3 * p),
            2 * (n - 1) * l,
        ),
        kind="lower",
        grid=lambda: (
            {"program": program, **case}
            for program, case in product(PROGRAMS, threads(2))
            if case["n"] <= 16
        ),
        run=any_program,
        requires=(SIDES, THREADS, TWO_SIDES),
        note="for programs that read both words of each of the (n^3 - n)/6 sums, and for each of "
        "n(n - 1)/2 elements read its weight and write it. An element of each diagonal is read "
        "after it was written, and then one of the next diagonal is written",
    ),
]
