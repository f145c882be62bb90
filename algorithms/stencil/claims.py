"""Claims about a five-point stencil on a torus of n = s^2 words; all derived here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from math import isqrt
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Claim, Precondition, correct, maximum, root
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.grids import (
    BOTH,
    FULL_WARPS,
    TWO_LANES,
    WHOLE_ROWS,
    WHOLE_SHARES,
    exact,
    machine,
)
from mmsim_algorithms.stencil.programs import by_bands, by_columns, by_rows, matrix, stencil

SECTION = 1
DERIVED = "STENCIL, derived here"

WIDE = Precondition("2w <= s", lambda n, w: 2 * w <= isqrt(n))
BANDS = Precondition("rd divides s", lambda n, d, r: isqrt(n) % (r * d) == 0)


def plain(
    program: mm.Program, schedule: mm.Schedule, on: str, n: int, p: int, w: int, l: int
) -> mm.Run:
    """By rows or by columns in one memory."""
    a = matrix(n)
    run = machine(on, w, l).run(program, a, np.zeros_like(a), threads=p, schedule=schedule)
    return correct(run, b=stencil(a))


def bands(schedule: mm.Schedule, n: int, w: int, d: int, L: int, l: int, r: int) -> mm.Run:
    """By bands on an HMM."""
    a = matrix(n)
    run = mm.HMM(d, w, L, l).run(
        *(by_bands, a, np.zeros_like(a), r),
        threads=n // r,
        block_size=isqrt(n),
        schedule=schedule,
    )
    return correct(run, b=stencil(a))


def in_global_memory(
    schedule: mm.Schedule, n: int, w: int, d: int, L: int, l: int, r: int
) -> mm.Run:
    """By rows on an HMM with as many threads, all in the global memory."""
    a = matrix(n)
    run = mm.HMM(d, w, L, l).run(
        *(by_rows, a, np.zeros_like(a)),
        threads=n // r,
        block_size=isqrt(n),
        schedule=schedule,
    )
    return correct(run, b=stencil(a))


def order(program: mm.Program, on: str, n: Any, p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `plain`."""
    shape = root(n), root(n)
    return [SymbolicLaunch(program, {"a": shape, "b": shape}, threads=p, machine=machine(on, w, l))]


def blocks(
    program: mm.Program, n: Any, w: Any, d: Any, L: Any, l: Any, r: Any
) -> list[SymbolicLaunch]:
    """The launch of `bands` and of `in_global_memory`."""
    shape = root(n), root(n)
    sizes: dict[str, Any] = {"a": shape, "b": shape}
    if program is by_bands:
        sizes["r"] = r
    threads, block = exact(n) / r, root(n)
    return [SymbolicLaunch(program, sizes, threads, mm.HMM(d, w, L, l), block)]


ORDERS: dict[str, Callable[..., mm.Run]] = {
    "rows": partial(plain, by_rows),
    "columns": partial(plain, by_columns),
}


def any_order(schedule: mm.Schedule, order: str, **case: Any) -> mm.Run:
    """One of `ORDERS`."""
    return ORDERS[order](schedule, **case)


def matrices(on: tuple[str, ...], least: int = 1) -> Iterator[Case]:
    """Sides up to 48; a thread for each word, for each row, and a warp."""
    for name, w, m, l in product(on, (2, 3, 8, 16), (1, 2, 3), (1, 30)):
        n = (w * m) ** 2
        for p in sorted({w, w * m, n}):
            if m >= least and n // p <= 512:
                yield {"on": name, "n": n, "p": p, "w": w, "l": l}


def banded() -> Iterator[Case]:
    """Sides up to 32 on 1 to 4 DMMs, bands of 1 to 8 rows."""
    for w, m, d, r in product((2, 3, 8), (2, 4), (1, 2, 4), (1, 2, 4, 8)):
        for L, l in ((1, 1), (100, 1), (10, 3)):
            if w * m % (r * d) == 0:
                yield {"n": (w * m) ** 2, "w": w, "d": d, "L": L, "l": l, "r": r}


def large() -> Iterator[Case]:
    """Many DMMs with broad bands, so that the global memory binds."""
    for d, r in ((4, 8), (8, 8), (16, 16)):
        yield {"n": 256 * 256, "w": 32, "d": d, "L": 100, "l": 1, "r": r}


CLAIMS = [
    Claim(
        id="STENCIL-rows.DMM",
        source=DERIVED,
        title="stencil of five points by rows, DMM",
        formula=lambda n, p, w, l: 6 * (n / p) * (p / w + l - 1),
        kind="exact",
        grid=lambda: matrices(("DMM",)),
        run=ORDERS["rows"],
        launches=partial(order, by_rows),
        requires=(FULL_WARPS, WHOLE_SHARES, WHOLE_ROWS),
        note="five reads and a write. A warp's neighbours on the left are w adjacent words, "
        "or w - 1 with the last of the row: in different banks either way",
    ),
    Claim(
        id="STENCIL-rows.UMM",
        source=DERIVED,
        title="stencil of five points by rows, UMM",
        formula=lambda n, p, w, l: (n / p) * (8 * p / w + 6 * (l - 1)),
        kind="exact",
        grid=lambda: matrices(("UMM",), 2),
        run=ORDERS["rows"],
        launches=partial(order, by_rows),
        requires=(FULL_WARPS, WHOLE_SHARES, WHOLE_ROWS, WIDE, TWO_LANES),
        note="the neighbours on the left, and those on the right, lie in two groups",
    ),
    Claim(
        id="STENCIL-columns",
        source=DERIVED,
        title="stencil of five points by columns, DMM and UMM",
        formula=lambda n, p, l: 6 * (n / p) * (p + l - 1),
        kind="exact",
        grid=lambda: matrices(BOTH),
        run=ORDERS["columns"],
        launches=partial(order, by_columns),
        requires=(FULL_WARPS, WHOLE_SHARES, WHOLE_ROWS),
        note="the naive order: a warp's words are in one bank and in w groups",
    ),
    Claim(
        id="STENCIL-LB",
        source=DERIVED,
        title="lower bound for a stencil with five words read for each result, DMM and UMM",
        formula=lambda n, p, w, l: maximum(6 * n / w + l - 1, 6 * n * l / p),
        kind="lower",
        grid=lambda: (
            {"order": order, **case}
            for order, case in product(ORDERS, matrices(BOTH))
            if case["n"] <= 256
        ),
        run=any_order,
        requires=(FULL_WARPS, WHOLE_SHARES, WHOLE_ROWS),
        note="5n words are read and n written. A stage serves w threads at most, and each of p "
        "threads waits l for each of its words. A thread that keeps words from one result to the "
        "next reads fewer; STENCIL-HMM.LB is for all",
    ),
    Claim(
        id="STENCIL-HMM.global",
        source=DERIVED,
        title="stencil by rows with n/r threads, in the global memory of an HMM",
        formula=lambda n, w, L, r: 8 * n / w + 6 * r * (L - 1),
        kind="exact",
        grid=banded,
        run=in_global_memory,
        launches=partial(blocks, by_rows),
        requires=(WHOLE_ROWS, WIDE, BANDS, TWO_LANES),
    ),
    Claim(
        id="STENCIL-HMM.bands",
        source=DERIVED,
        title="stencil by bands of r rows in shared memory, HMM",
        formula=lambda n, w, d, L, l, r: (
            (2 * r + 2) * (n / (r * w) + L - 1) + (6 * r + 2) * (n / (r * d * w) + l - 1)
        ),
        kind="exact",
        grid=banded,
        run=bands,
        launches=partial(blocks, by_bands),
        requires=(WHOLE_ROWS, WIDE, BANDS),
        note="of the global memory 2n/w + 2n/(rw) stages, where the n words that are read and "
        "those that are written take 2n/w",
    ),
    Claim(
        id="STENCIL-HMM.LB",
        source=DERIVED,
        title="lower bound for any stencil on an HMM",
        formula=lambda n, w, L: maximum(2 * n / w + L - 1, n / w + 2 * L - 1),
        kind="lower",
        grid=lambda: (*banded(), *large()),
        run=bands,
        requires=(WHOLE_ROWS, WIDE, BANDS),
        note="n words of the global memory are read and n written, w in a time unit; the word read "
        "last is in a result, which is written after it",
    ),
]
