"""Claims about the fast Fourier transform of n numbers; all derived here."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from math import isqrt
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Claim, ClaimError, Precondition, log2, maximum, root
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.fft.programs import (
    columns,
    in_place,
    near,
    roots,
    rows,
    signal,
    stockham,
    transformed,
)
from mmsim_algorithms.grids import (
    BOTH,
    PAIRS,
    POWERS_OF_TWO,
    exact,
    machine,
    power_of_two,
    powers,
)

SECTION = 1
DERIVED = "FFT, derived here"

LARGE = Precondition("2w^2 <= n", lambda n, w: 2 * w * w <= n)
SQUARE = Precondition(
    "n is a square; n and w are powers of two; 2w <= sqrt n",
    lambda n, w: isqrt(n) ** 2 == n and power_of_two(n, w) and 2 * w <= isqrt(n),
)
BLOCKS = Precondition("d divides sqrt(n)/w", lambda n, w, d: isqrt(n) % (d * w) == 0)


def right(run: mm.Run, name: str, n: int) -> mm.Run:
    """Return the run, refused unless this array holds the transform of `signal`."""
    if not near(run.arrays[name], signal(n)):
        raise ClaimError(f"{run.program} on {run.machine} left no transform in {name!r}")
    return run


def plain(
    program: mm.Program, schedule: mm.Schedule, on: str, n: int, p: int, w: int, l: int
) -> mm.Run:
    """In place or by Stockham's way on a DMM or UMM."""
    run = machine(on, w, l).run(
        *(program, signal(n), roots(n, n // 2), np.zeros(n, complex)), threads=p, schedule=schedule
    )
    even = program is stockham and (n.bit_length() - 1) % 2 == 0
    return right(run, "x" if even else "y", n)


def on_hmm(schedule: mm.Schedule, n: int, w: int, d: int, L: int, l: int) -> mm.Run:
    """By columns and rows on an HMM."""
    return right(transformed(mm.HMM(d, w, L, l), signal(n), schedule=schedule), "y", n)


def in_global_memory(schedule: mm.Schedule, n: int, w: int, d: int, L: int, l: int) -> mm.Run:
    """By Stockham's way on an HMM, all in the global memory."""
    run = mm.HMM(d, w, L, l).run(
        *(stockham, signal(n), roots(n, n // 2), np.zeros(n, complex)),
        threads=n // 2,
        schedule=schedule,
    )
    return right(run, "x", n)


def launches(program: mm.Program, on: str, n: Any, p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `plain`."""
    arrays = {"x": (n,), "z": (exact(n) / 2,), "y": (n,)}
    return [SymbolicLaunch(program, arrays, threads=p, machine=machine(on, w, l))]


def of_global_memory(n: Any, w: Any, d: Any, L: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `in_global_memory`."""
    half = exact(n) / 2
    arrays = {"x": (n,), "z": (half,), "y": (n,)}
    return [SymbolicLaunch(stockham, arrays, threads=half, machine=mm.HMM(d, w, L, l))]


def of_blocks(n: Any, w: Any, d: Any, L: Any, l: Any) -> list[SymbolicLaunch]:
    """The launches of `on_hmm`."""
    s, half, hmm = root(n), exact(n) / 2, mm.HMM(d, w, L, l)
    x, z = (s, s), (s / 2,)
    return [
        SymbolicLaunch(program, arguments, half, hmm, block_size=s * w / 2)
        for program, arguments in (
            (columns, {"x": x, "z": z, "f": x, "y": x, "w": w}),
            (rows, {"x": x, "z": z, "y": x, "w": w}),
        )
    ]


WAYS = {"in place": in_place, "stockham": stockham}


def any_way(schedule: mm.Schedule, way: str, **case: Any) -> mm.Run:
    """One of `WAYS`."""
    return plain(WAYS[way], schedule, **case)


def binary(large: bool = False) -> Iterator[Case]:
    """Powers of two up to 2048."""
    for on, w, l in product(BOTH, (2, 4, 16), (1, 30)):
        for n in powers(2 * w * w if large else 2 * w, 2048, 4):
            for p in sorted({max(w, n // 16), n // 2}):
                yield {"on": on, "n": n, "p": p, "w": w, "l": l}


def squares() -> Iterator[Case]:
    """Sides up to 32 on 1 to 4 DMMs."""
    for w, m, d, (L, l) in product((2, 4, 8), (2, 4), (1, 2, 4), ((1, 1), (100, 1), (10, 3))):
        if m % d == 0:
            yield {"n": (w * m) ** 2, "w": w, "d": d, "L": L, "l": l}


CLAIMS = [
    Claim(
        id="FFT-in-place",
        source=DERIVED,
        title="Fourier transform in place, then a bit reversal, DMM and UMM",
        formula=lambda n, p, w, l: (
            (n / w) * (2 * log2(n) + 2 * log2(w))
            + (n / 2) * (log2(n) - 2 * log2(w) + 4)
            + (5 * n / (2 * p) * log2(n) + 2 * n / p) * (l - 1)
        ),
        kind="exact",
        grid=lambda: binary(True),
        run=partial(plain, in_place),
        launches=partial(launches, in_place),
        requires=(POWERS_OF_TWO, PAIRS, LARGE),
        note="the naive way: the roots of later steps lie ever farther apart, w/2 stages a warp "
        "and step; the bit reversal writes a stage for each word",
    ),
    Claim(
        id="FFT-stockham",
        source=DERIVED,
        title="Fourier transform by Stockham's way, DMM and UMM",
        formula=lambda n, p, w, l: (
            (n / (2 * w)) * (5 * log2(n) + 2 * log2(w)) + 5 * n / (2 * p) * log2(n) * (l - 1)
        ),
        kind="exact",
        grid=binary,
        run=partial(plain, stockham),
        launches=partial(launches, stockham),
        requires=(POWERS_OF_TWO, PAIRS),
        note="three reads and two writes for a pair; writes h < w apart have two stages",
    ),
    Claim(
        id="FFT-LB",
        source=DERIVED,
        title="lower bound for a Fourier transform by pairs with roots from a table, DMM and UMM",
        formula=lambda n, p, w, l: maximum(
            5 * n * log2(n) / (2 * w) + l - 1, 5 * n * l * log2(n) / (2 * p)
        ),
        kind="lower",
        grid=lambda: (
            {"way": way, **case} for way, case in product(WAYS, binary(True)) if case["n"] <= 128
        ),
        run=any_way,
        requires=(POWERS_OF_TWO, PAIRS),
        note="for programs that read two numbers and a root for each of n/2 log n pairs and write "
        "two numbers. A stage serves w threads at most, and each of p threads waits l for each of "
        "its numbers. A thread with more registers takes several steps at once: 2n/w + l - 1 is "
        "all that holds for every number of registers",
    ),
    Claim(
        id="FFT-HMM.global",
        source=DERIVED,
        title="Fourier transform by Stockham's way, global memory of an HMM, n/2 threads",
        formula=lambda n, w, L: (n / (2 * w)) * (5 * log2(n) + 2 * log2(w)) + 5 * log2(n) * (L - 1),
        kind="exact",
        grid=squares,
        run=in_global_memory,
        launches=of_global_memory,
        requires=(SQUARE,),
    ),
    Claim(
        id="FFT-HMM",
        source=DERIVED,
        title="Fourier transform by columns and rows in shared memory, HMM, n/2 threads",
        formula=lambda n, w, d, L, l: (
            10 * (n / (2 * w) + L - 1)
            + 2 * (n / (2 * w * w) + L - 1)
            + (8 + 5 * log2(n)) * (n / (2 * d * w) + l - 1)
            + 2 * (n / (2 * d * w * w) + l - 1)
        ),
        kind="exact",
        grid=squares,
        run=on_hmm,
        launches=of_blocks,
        requires=(SQUARE, BLOCKS),
        note="ten global rounds instead of 5 log n; the second and the fourth part fetch and "
        "store the roots of a side",
    ),
]
