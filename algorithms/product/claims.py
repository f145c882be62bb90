"""Claims about the product of two s x s matrices of n = s^2 words; all derived here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from math import isqrt
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Claim, Precondition, correct, root, within
from mmsim.claims.launch import Rotated, SymbolicLaunch
from mmsim_algorithms.grids import (
    BOTH,
    FAST,
    FULL_WARPS,
    TWO_LANES,
    WHOLE_ROWS,
    WHOLE_SHARES,
    exact,
    machine,
)
from mmsim_algorithms.product.programs import (
    by_columns,
    by_rows,
    factors,
    in_registers,
    tiled,
    tiled_by_rows,
)

SECTION = 1
DERIVED = "MATMUL, derived here"
ORDERS = {"rows": by_rows, "columns": by_columns}

ONE_TILE = Precondition("n = w^2", lambda n, w: n == w * w)
PARTS = Precondition("tw divides s", lambda n, w, t: isqrt(n) % (t * w) == 0)
TILES = Precondition("d divides n/w^2", lambda n, w, d: n % (d * w * w) == 0)


def multiplied(
    order: str, schedule: mm.Schedule, on: str, n: int, p: int, w: int, l: int
) -> mm.Run:
    """The product by p threads in one of `ORDERS`, checked."""
    a, b = factors(n)
    run = machine(on, w, l).run(ORDERS[order], a, b, np.zeros_like(a), threads=p, schedule=schedule)
    return correct(run, c=a @ b)


def under_rap(schedule: mm.Schedule, n: int, w: int, l: int, seed: int) -> mm.Run:
    """The product by columns with a and c under a RAP, checked."""
    a, b = factors(n)
    layout = mm.layout.RAP(w, seed)
    run = mm.DMM(w, l).run(
        by_columns,
        mm.place(a, layout),
        b,
        mm.place(np.zeros_like(a), layout),
        threads=n,
        schedule=schedule,
    )
    return correct(run, c=a @ b)


def by_parts(schedule: mm.Schedule, on: str, n: int, w: int, l: int, t: int) -> mm.Run:
    """The product with t x t elements in the registers of a thread, checked."""
    a, b = factors(n)
    run = machine(on, w, l).run(
        in_registers, a, b, np.zeros_like(a), t, threads=n // (t * t), schedule=schedule
    )
    return within(correct(run, c=a @ b), t * t + t)


def in_global_memory(schedule: mm.Schedule, n: int, w: int, d: int, L: int, l: int) -> mm.Run:
    """The product by rows on an HMM, all in the global memory, checked."""
    a, b = factors(n)
    run = mm.HMM(d, w, L, l).run(
        by_rows, a, b, np.zeros_like(a), threads=n, block_size=w * w, schedule=schedule
    )
    return correct(run, c=a @ b)


def by_tiles(schedule: mm.Schedule, n: int, w: int, d: int, L: int, l: int) -> mm.Run:
    """The product by tiles on an HMM, checked."""
    a, b = factors(n)
    run = mm.HMM(d, w, L, l).run(
        tiled, a, b, np.zeros_like(a), w, threads=n, block_size=w * w, schedule=schedule
    )
    return correct(run, c=a @ b)


def by_rotated_tiles(
    layout: str, schedule: mm.Schedule, n: int, w: int, d: int, L: int, l: int
) -> mm.Run:
    """a b^T by tiles on an HMM, with the rows under RAP or RAW, checked."""
    a, b = factors(n)
    r = np.random.RandomState(n).permutation(w) * (layout == "RAP")
    run = mm.HMM(d, w, L, l).run(
        *(tiled_by_rows, a, b, np.zeros_like(a), r, w),
        threads=n,
        block_size=w * w,
        schedule=schedule,
    )
    return correct(run, c=a @ b.T)


def multiplying(order: str, on: str, n: Any, p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `multiplied`."""
    return [SymbolicLaunch(ORDERS[order], _shapes(n), threads=p, machine=machine(on, w, l))]


def rotated_columns(n: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `under_rap`, for any permutation."""
    shifts = dict.fromkeys("ac", Rotated((0,)))
    return [SymbolicLaunch(by_columns, _shapes(n), n, mm.DMM(w, l), layouts=shifts)]


def in_parts(on: str, n: Any, w: Any, l: Any, t: Any) -> list[SymbolicLaunch]:
    """The launch of `by_parts`."""
    sizes = {**_shapes(n), "t": t}
    return [SymbolicLaunch(in_registers, sizes, exact(n) / t**2, machine(on, w, l))]


def in_blocks(program: mm.Program, n: Any, w: Any, d: Any, L: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `in_global_memory` and of `by_tiles`."""
    sizes = {**_shapes(n), **({"w": w} if program is tiled else {})}
    return [SymbolicLaunch(program, sizes, n, mm.HMM(d, w, L, l), w * w)]


def rotated_blocks(layout: str, n: Any, w: Any, d: Any, L: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `by_rotated_tiles`: no conflicts under RAP."""
    sizes = {**_shapes(n), "r": (w,), "w": w}
    launch = SymbolicLaunch(tiled_by_rows, sizes, n, mm.HMM(d, w, L, l), w * w)
    if layout == "RAP":
        return [replace(launch, stages={"two": 1})]
    return [replace(launch, contents={"r": lambda i: 0 * i})]


def _shapes(n: Any) -> dict[str, Any]:
    return dict.fromkeys("abc", (root(n), root(n)))


def matrices() -> Iterator[Case]:
    """Sides up to 32, a thread for each element and fewer."""
    for on, w, m, l in product(BOTH, (2, 3, 4, 5, 8, 16, 32), (1, 2, 3), (1, 30)):
        s = m * w
        for p in sorted({s * w, s * s}):
            if s <= 32:
                yield {"on": on, "n": s * s, "p": p, "w": w, "l": l}


def parts() -> Iterator[Case]:
    """Sides up to 32, t x t elements for each thread."""
    for on, w, m, t, l in product(BOTH, (2, 3, 4, 8), (1, 2), (1, 2, 3, 4), (1, 30)):
        s = m * t * w
        if s <= 32:
            yield {"on": on, "n": s * s, "w": w, "l": l, "t": t}


def tiles() -> Iterator[Case]:
    """Sides up to 32 on 1 to 4 DMMs."""
    for w, m, d in product((2, 3, 4, 8, 16), (1, 2, 3, 4), (1, 2, 4)):
        for L, l in ((1, 1), (100, 1), (10, 3)):
            if w * m <= 32 and m * m % d == 0:
                yield {"n": (w * m) ** 2, "w": w, "d": d, "L": L, "l": l}


def more_tiles() -> Iterator[Case]:
    """1 to 16 tiles on a side, l = 1."""
    for w, m, d in product((2, 3, 4), (1, 2, 4, 8, 16), (1, 4)):
        for L in (1, 100):
            if m * m % d == 0 and w * m <= 48:
                yield {"n": (w * m) ** 2, "w": w, "d": d, "L": L, "l": 1}


def _claims() -> Iterator[Claim]:
    yield Claim(
        id="MATMUL-rows",
        source=DERIVED,
        title="product, a warp along a row of c, DMM and UMM",
        formula=lambda n, p, w, l: (2 * root(n) + 1) * (p / w + l - 1) * n / p,
        kind="exact",
        grid=matrices,
        run=partial(multiplied, "rows"),
        launches=partial(multiplying, "rows"),
        requires=(FULL_WARPS, WHOLE_SHARES, WHOLE_ROWS),
        note="for each of s products a word of a, the same for a warp, and w words of a row of b",
    )
    yield Claim(
        id="MATMUL-columns",
        source=DERIVED,
        title="product, a warp down a column of c, DMM and UMM",
        formula=lambda n, p, w, l: (root(n) * (p + p / w + 2 * (l - 1)) + p + l - 1) * n / p,
        kind="exact",
        grid=matrices,
        run=partial(multiplied, "columns"),
        launches=partial(multiplying, "columns"),
        requires=(FULL_WARPS, WHOLE_SHARES, WHOLE_ROWS),
        note="the naive order: a warp reads a column of a and writes one of c, w stages each",
    )
    yield Claim(
        id="MATMUL-columns.RAP",
        source=DERIVED,
        title="the same of w x w matrices with a and c under RAP, DMM",
        formula=lambda w, l: (2 * w + 1) * (w + l - 1),
        kind="exact",
        grid=lambda: [
            {"n": w * w, "w": w, "l": l, "seed": seed}
            for w, l, seed in product((2, 3, 4, 8, 16, 32), (1, 5, 30), (0, 1))
        ],
        run=under_rap,
        launches=rotated_columns,
        requires=(ONE_TILE,),
        note="no column meets a conflict, whatever the permutation: the time of MATMUL-rows",
    )
    yield Claim(
        id="MATMUL-registers",
        source=DERIVED,
        title="product, t x t elements of c in the registers of a thread, DMM and UMM",
        formula=lambda n, w, l, t: (2 * t * root(n) + t**2) * (n / (t**2 * w) + l - 1),
        kind="exact",
        grid=parts,
        run=by_parts,
        launches=in_parts,
        requires=(WHOLE_ROWS, PARTS),
        note="n/t^2 threads; 2t words are read for t^2 products. It holds t^2 + t registers",
    )
    yield Claim(
        id="MATMUL-LB",
        source=DERIVED,
        title="lower bound: both factors are read and the product is written",
        formula=lambda n, w, l: 3 * n / w + l - 1,
        kind="lower",
        grid=matrices,
        run=partial(multiplied, "rows"),
        requires=(WHOLE_ROWS,),
    )
    yield Claim(
        id="MATMUL-HMM.global",
        source=DERIVED,
        title="product on an HMM, all of it in the global memory",
        formula=lambda n, w, L: (2 * root(n) + 1) * (n / w + L - 1),
        kind="exact",
        grid=tiles,
        run=in_global_memory,
        launches=partial(in_blocks, by_rows),
        requires=(WHOLE_ROWS, TILES),
        note="the naive way, the same on any number of DMMs",
    )
    yield Claim(
        id="MATMUL-HMM.tiled",
        source=DERIVED,
        title="product on an HMM by w x w tiles in the shared memory",
        formula=lambda n, w, d, L, l: (
            (2 * root(n) / w + 1) * (n / w + L - 1)
            + 2 * root(n) * (1 + 1 / w) * (n / (d * w) + l - 1)
        ),
        kind="exact",
        grid=tiles,
        run=by_tiles,
        launches=partial(in_blocks, tiled),
        requires=(WHOLE_ROWS, TILES),
        note="s/w pairs of tiles are fetched, two rounds each; each word is used w times",
    )
    yield Claim(
        id="MATMUL-HMM.O",
        source=DERIVED,
        title="product on an HMM by tiles, l = 1",
        formula=lambda n, w, d, L: root(n) / w * (n / w + L) + n * root(n) / (d * w),
        kind="upper",
        constant=3,
        grid=more_tiles,
        run=by_tiles,
        requires=(WHOLE_ROWS, TILES, FAST, TWO_LANES),
    )
    for layout in ("RAW", "RAP"):
        yield Claim(
            id=f"MATMUL-HMM.{layout}",
            source=DERIVED,
            title=f"a b^T on an HMM by tiles, the second under {layout}",
            formula=_raw if layout == "RAW" else _rap,
            kind="exact",
            grid=tiles,
            run=partial(by_rotated_tiles, layout),
            launches=partial(rotated_blocks, layout),
            requires=(WHOLE_ROWS, TILES),
            note="a warp reads a column of the tile, "
            + (
                "w stages"
                if layout == "RAW"
                else "one stage whatever the permutation; two rounds fetch the rotations"
            ),
        )


def _rap(n: Any, w: Any, d: Any, L: Any, l: Any) -> Any:
    rounds = 2 * root(n) * (1 + 1 / w)
    return (2 * root(n) / w + 3) * (n / w + L - 1) + rounds * (n / (d * w) + l - 1)


def _raw(n: Any, w: Any, d: Any, L: Any, l: Any) -> Any:
    return _rap(n, w, d, L, l) + root(n) * (n / d - n / (d * w))


CLAIMS = list(_claims())
