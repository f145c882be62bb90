"""Claims of SMM section 5 about the straightforward and the diagonal transpose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import product
from math import isqrt
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.claims import (
    Case,
    Claim,
    Growth,
    Precondition,
    correct,
    cube_root,
    gcd,
    minimum,
    root,
)
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.grids import (
    ENOUGH_THREADS,
    FULL_WARPS,
    WHOLE_SHARES,
    WIDTHS,
    machine,
    once,
    widths_and_latencies,
)
from mmsim_algorithms.transpose.dmm import diagonal, straightforward

SECTION = 5


def transposed(
    program: mm.Program, schedule: mm.Schedule, on: str, n: int, p: int, w: int, l: int
) -> mm.Run:
    """Transpose a matrix of n words with p threads, checked."""
    side = isqrt(n)
    a = np.arange(n).reshape(side, side)
    run = machine(on, w, l).run(program, a, np.zeros_like(a), threads=p, schedule=schedule)
    return correct(run, a=a, b=a.T)


def transposing(
    program: mm.Program, on: str, n: Any, p: Any, w: Any, l: Any
) -> list[SymbolicLaunch]:
    """The launch of `transposed`."""
    shape = root(n), root(n)
    return [SymbolicLaunch(program, {"a": shape, "b": shape}, threads=p, machine=machine(on, w, l))]


def stages_of_reads(run: mm.Run) -> int:
    """Stages of all reads."""
    return sum(row.stages for row in run.accesses if row.kind == "read")


def sides(on: str) -> Iterator[Case]:
    """Matrices whose side is a multiple of w, from one warp to a thread for each word."""
    for w, l in widths_and_latencies():
        for side in (w, 2 * w):
            n = side * side
            shares = (w, 3 * w, side, side * w, n)
            for p in sorted({p for p in shares if n % p == 0 and side <= 32}):
                yield {"on": on, "n": n, "p": p, "w": w, "l": l}


def any_sides(on: str) -> Iterator[Case]:
    """Sides from w on, divisible by w or not, with the worst ones for a warp."""
    for w, l in product(WIDTHS, (1, 30)):
        chosen = {w, w + 1, w + 2, w + 3, w + w // 5, 3 * w // 2, 2 * w - 1, 2 * w, 3 * w - 1}
        for side in sorted(chosen):
            n = side * side
            for p in sorted({p for p in (n, side * w, 2 * side) if n % p == 0 and p >= w}):
                yield {"on": on, "n": n, "p": p, "w": w, "l": l}


def thread_for_each_word(on: str, *shapes: tuple[int, int]) -> list[Case]:
    """A thread for each word of matrices of the given widths and sides."""
    return [
        {"on": on, "n": side * side, "p": side * side, "w": w, "l": l}
        for (w, side), l in product(shapes, (1, 5))
    ]


def one_latency(on: str, shapes: Iterable[tuple[int, int]]) -> list[Case]:
    """The same with l = 1, so that stages count most: for growth along w."""
    return [case for case in thread_for_each_word(on, *shapes) if case["l"] == 1]


TWICE_AS_LONG = [(w, 2 * w) for w in (2, 3, 4, 8, 12, 16, 32)]
ONE_COLUMN_SHORT = [(w, 2 * w - 1) for w in (4, 8, 12, 16, 32, 64)]

PILED_UP = [
    *ONE_COLUMN_SHORT,
    *((m**3 + 1, m**2 - less) for m in range(2, 10) for less in (0, 1)),
]
"""Widths and sides where one of the transposes meets more conflicts than any constant."""
ANY_N = "SMM, section 5: banks of the diagonal transpose"

SQUARE = Precondition("n is a square", lambda n: isqrt(n) ** 2 == n)
WHOLE_ROWS = Precondition("w divides sqrt n", lambda n, w: isqrt(n) ** 2 == n and isqrt(n) % w == 0)
WIDE = Precondition("w <= sqrt n", lambda n, w: w <= isqrt(n))
EXACT = (SQUARE, FULL_WARPS, WHOLE_SHARES, WHOLE_ROWS)
ORDER = (SQUARE, ENOUGH_THREADS, WHOLE_SHARES)


def piles_up(n: int, w: int) -> bool:
    """Return whether sqrt n is 2w - 1, or m^2 or m^2 - 1 with w = m^3 + 1."""
    m = round((w - 1) ** (1 / 3))
    return isqrt(n) == 2 * w - 1 or (m**3 == w - 1 and m > 1 and isqrt(n) in (m**2, m**2 - 1))


def in_time(schedule: mm.Schedule, n: int, w: int, **case: Any) -> mm.Run:
    """Transpose by the program that has no pile of requests: straightforward unless n = m^4."""
    program = diagonal if isqrt(isqrt(n)) ** 4 == n and isqrt(n) < w else straightforward
    return transposed(program, schedule, n=n, w=w, **case)


def _piled_up(w: Any) -> Any:
    """T/(n/w + nl/p) of the straightforward transpose: w = m^3 + 1, sqrt n = m^2, p = n, l = 1.

    The n/w stages, rounded up to m, of writing b; m times as many of reading a.
    """
    m = cube_root(w - 1)
    return (m**2 + m) / (m**4 / w + 1)


def _diagonals_piled_up(w: Any) -> Any:
    """T/(n/w + nl/p) of the diagonal transpose: w = m^3 + 1, sqrt n = m^2 - 1, p = n, l = 1."""
    side = cube_root(w - 1) ** 2 - 1
    return 2 * side / (side**2 / w + 1)


def _claims() -> Iterator[Claim]:
    yield Claim(
        id="SMM-ST",
        source="SMM, section 5",
        title="straightforward transpose, DMM: stages of its reads",
        formula=lambda n, w: n * gcd(root(n), w) / w,
        kind="exact",
        grid=lambda: sides("DMM"),
        run=partial(transposed, straightforward),
        launches=partial(transposing, straightforward),
        measure=stages_of_reads,
        quantity="S",
        requires=EXACT,
        note="exact only where w divides sqrt n; a warp that turns into the next column has fewer "
        "conflicts",
    )
    yield Claim(
        id="SMM-ST.bound",
        source="SMM, section 5",
        title="straightforward transpose, DMM: stages of its reads, any sqrt n >= w",
        formula=lambda n, w: n * gcd(root(n), w) / w,
        kind="upper",
        grid=lambda: (
            case
            for case in once(
                (*any_sides("DMM"), *thread_for_each_word("DMM", (4, 6), (8, 12), (9, 12)))
            )
            if case["p"] % case["w"] == 0
        ),
        run=partial(transposed, straightforward),
        measure=stages_of_reads,
        quantity="S",
        requires=(SQUARE, FULL_WARPS, WHOLE_SHARES, WIDE),
    )
    yield Claim(
        id="SMM-ST.O.printed",
        source="SMM, section 5",
        title="straightforward transpose, DMM, any n, as printed",
        formula=lambda n, p, w, l: n / w * gcd(root(n), w) + n * l / p,
        kind="upper",
        grid=lambda: one_latency("DMM", [(m**3 + 1, m**2) for m in range(2, 10)]),
        run=partial(transposed, straightforward),
        requires=ORDER,
        printed=True,
        growth=Growth("w", _piled_up),
        note="'it is not difficult to see', for p threads and any n. With w = m^3 + 1 and sqrt n = "
        "m^2 the gcd is 1, but a request of a warp covers m columns, which pile up m deep in a "
        "bank: with w = 730, sqrt n = 81 it takes 90 time units where the formula gives 9.99",
    )
    yield Claim(
        id="SMM-ST.O",
        source="SMM, section 5",
        title="straightforward transpose, DMM, sqrt n >= w",
        formula=lambda n, p, w, l: n / w * gcd(root(n), w) + n * l / p,
        kind="upper",
        constant=3,
        grid=lambda: any_sides("DMM"),
        run=partial(transposed, straightforward),
        requires=(*ORDER, WIDE),
    )
    yield Claim(
        id="SMM-ST.UMM.printed",
        source="SMM, section 5",
        title="straightforward transpose, UMM, as printed",
        formula=lambda n, p, w, l: minimum(n, n**2 / (p * w)) + n * l / p,
        kind="upper",
        grid=lambda: one_latency("UMM", [(w, 2 * w) for w in (2, 4, 8, 16, 32, 64)]),
        run=partial(transposed, straightforward),
        requires=ORDER,
        printed=True,
        growth=Growth("w", lambda w: (4 * w**2 + 4 * w) / (4 * w + 1)),
        note="'it is not difficult to see': the bound of the stride access, whose stride is n/p; "
        "here it is sqrt n. For p = n = 4w^2 each of the n reads of a has an address group of its "
        "own: with w = 64 it takes 16640 time units where the formula gives 257",
    )
    yield Claim(
        id="SMM-ST.UMM",
        source="SMM, section 5",
        title="straightforward transpose, UMM, corrected",
        formula=lambda n, p, w, l: minimum(n, n * root(n) / w) + n * l / p,
        kind="upper",
        constant=2,
        grid=lambda: once(
            (
                *any_sides("UMM"),
                *thread_for_each_word("UMM", *TWICE_AS_LONG, (32, 11), (64, 35), (128, 43)),
            )
        ),
        run=partial(transposed, straightforward),
        requires=ORDER,
    )
    yield Claim(
        id="SMM-L5.1",
        source="SMM, Lemma 5.1",
        title="diagonal transpose, DMM",
        formula=lambda n, p, w, l: 2 * (p / w + l - 1) * n / p,
        kind="exact",
        grid=lambda: sides("DMM"),
        run=partial(transposed, diagonal),
        launches=partial(transposing, diagonal),
        requires=EXACT,
    )
    yield Claim(
        id="SMM-L5.1.printed",
        source="SMM, section 5",
        title="diagonal transpose, DMM, as printed",
        formula=lambda n, p, w, l: (p / w + l - 1) * n / p,
        kind="exact",
        grid=lambda: sides("DMM"),
        run=partial(transposed, diagonal),
        requires=EXACT,
        printed=True,
        note="'the total computing time is (p/w + l - 1) n/p', above Lemma 5.1: one round at each "
        "step where the algorithm has two, a read and a write. With n = p = 16, w = 4, l = 5 it "
        "takes 16 time units, not 8",
    )
    yield Claim(
        id="SMM-L5.1.O.printed",
        source="SMM, section 5, algorithm above Lemma 5.1",
        title="diagonal transpose, DMM, its time for any n, as printed",
        formula=lambda n, p, w, l: n / w + n * l / p,
        kind="upper",
        grid=lambda: one_latency("DMM", [(w, 2 * w - 1) for w in (4, 8, 12, 16, 32, 64)]),
        run=partial(transposed, diagonal),
        requires=ORDER,
        printed=True,
        growth=Growth("w", lambda w: (7 * w**2 - 8 * w + 4) / ((2 * w - 1) ** 2 / w + 1)),
        misprint=ANY_N,
        note="section 5, before the algorithm, states it for every n. A warp steps by sqrt n + 1 "
        "words: where w divides that, it meets few banks, as with "
        "w even and sqrt n = 2w - 1. With w = 64 it takes 28164 time units where the formula gives "
        "253. The lemma itself, that a transpose can be done in this time, holds there: "
        "SMM-L5.1.lemma",
    )
    yield Claim(
        id="SMM-L5.1.O.narrow.printed",
        source="SMM, section 5, algorithm above Lemma 5.1",
        title="diagonal transpose, DMM, its time for sqrt n < w, as printed",
        formula=lambda n, p, w, l: n / w + n * l / p,
        kind="upper",
        grid=lambda: one_latency("DMM", [(m**3 + 1, m**2 - 1) for m in range(3, 10)]),
        run=partial(transposed, diagonal),
        requires=ORDER,
        printed=True,
        growth=Growth("w", _diagonals_piled_up),
        misprint=ANY_N,
        note="the same for narrow matrices, which the corrected claim leaves out: with "
        "w = m^3 + 1 and sqrt n = m^2 - 1 a request of a warp covers m diagonals, m deep in a "
        "bank. The lemma itself holds there: SMM-L5.1.lemma",
    )
    yield Claim(
        id="SMM-L5.1.lemma",
        source="SMM, Lemma 5.1",
        title="transpose, DMM, where the diagonal or the straightforward one piles up",
        formula=lambda n, p, w, l: n / w + n * l / p,
        kind="upper",
        constant=4,
        grid=lambda: once(thread_for_each_word("DMM", *PILED_UP)),
        run=in_time,
        requires=(*ORDER, Precondition("sqrt n is one of w's worst", piles_up)),
        note="a transpose can be done in this time: by the straightforward one where sqrt n is "
        "2w - 1, or m^2 - 1 with w = m^3 + 1, by the diagonal one where it is m^2. For other n "
        "SMM-L5.1.O and SMM-ST.O have the time of either",
    )
    yield Claim(
        id="SMM-L5.1.O",
        source="SMM, Lemma 5.1",
        title="diagonal transpose, DMM, sqrt n >= w, corrected",
        formula=lambda n, p, w, l: n / w * gcd(root(n) + 1, w) + n * l / p,
        kind="upper",
        constant=5,
        grid=lambda: once(
            (
                *any_sides("DMM"),
                *thread_for_each_word("DMM", *ONE_COLUMN_SHORT, (32, 38), (64, 66)),
            )
        ),
        run=partial(transposed, diagonal),
        requires=(*ORDER, WIDE),
        note="where w divides sqrt n the gcd is 1 and the paper's bound holds",
    )


CLAIMS = list(_claims())
