"""Claims of SMM section 5 about transposing on the UMM."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from math import isqrt
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Claim, Growth, Precondition, ceiling, correct, root, within
from mmsim_algorithms.grids import FULL_WARPS, LATENCIES, TWO_LANES, WIDTHS
from mmsim_algorithms.transpose import launches
from mmsim_algorithms.transpose.dmm_claims import SQUARE, WHOLE_ROWS
from mmsim_algorithms.transpose.umm import (
    apart,
    direct,
    local,
    local_as_printed,
    mirror,
    rotating,
    tile,
    tiled,
    transpose,
)

SECTION = 5


def transposed(
    program: mm.Program,
    schedule: mm.Schedule,
    n: int,
    p: int,
    w: int,
    l: int,
    r: int | None = None,
) -> mm.Run:
    """Transpose a matrix of n words with p threads and r registers (w of them), checked."""
    a = np.arange(n).reshape(isqrt(n), isqrt(n))
    run = transpose(mm.UMM(w, l), a, p, r, schedule, program)
    return within(correct(run, a=a, b=a.T), w if r is None else r)


def transposed_with(schedule: mm.Schedule, n: int, p: int, w: int, l: int, r: int) -> mm.Run:
    """The paper's transpose: in place if possible, out of place with one register."""
    return transposed(tiled if r > 1 else apart, schedule, n, p, w, l, r)


def locally(
    program: mm.Program,
    schedule: mm.Schedule,
    n: int,
    p: int,
    w: int,
    l: int,
    r: int | None = None,
) -> mm.Run:
    """Only the tiles, each in its place, checked."""
    a = np.arange(n).reshape(isqrt(n), isqrt(n))
    run = transpose(mm.UMM(w, l), a, p, r, schedule, program)
    registers = w if r is None else r
    side, _ = tile(w, registers)
    tiles = a.reshape(isqrt(n) // side, side, isqrt(n) // side, side)
    return within(correct(run, a=a, b=tiles.swapaxes(1, 3).reshape(a.shape)), registers)


def copied(schedule: mm.Schedule, n: int, p: int, w: int, l: int) -> mm.Run:
    """The local transpose from a to b, then all tiles copied to a third array: two launches."""
    machine = mm.UMM(w, l)
    a = np.arange(n).reshape(isqrt(n), isqrt(n))
    tiles = transpose(machine, a, p, schedule=schedule, program=local)
    b = tiles.arrays["b"]
    whole = machine.run(mirror, b, np.zeros_like(b), w, threads=p, schedule=schedule)
    return within(correct(mm.total([tiles, whole]), b=a.T), w)


def rotated(schedule: mm.Schedule, n: int, p: int, w: int, l: int) -> mm.Run:
    """One w x w matrix with w threads, checked."""
    a = np.arange(n).reshape(w, w)
    run = mm.UMM(w, l).run(rotating, a, np.zeros_like(a), threads=p, schedule=schedule)
    return within(correct(run, a=a, b=a.T), w)


REGISTERS = ((4, 1), (8, 2), (9, 1), (12, 3), (16, 4), (16, 1), (18, 2), (32, 8))
"""Widths w and numbers r < w of registers for which rw and w/r are squares."""


def _matrices(w: int, r: int, whole: bool) -> Iterator[tuple[int, int]]:
    """n and p: matrices of m x m tiles of w x w, from one warp to n/r threads.

    `whole`: every warp gets as many tiles as any other.
    """
    for m in (1, 2, 3, 5):
        tiles = (m * w) ** 2 // (r * w)
        if m > 1 and m * w > 20:
            break
        few = {1, m * m, tiles} if whole else {2, tiles // 2 + 1, tiles - 1}
        for warps in sorted(few):
            if 1 <= warps <= tiles and (not whole or tiles % warps == 0):
                yield (m * w) ** 2, warps * w


def with_w_registers(
    whole: bool = True, latencies: Sequence[int] = LATENCIES, least: int = 1
) -> Iterator[Case]:
    """Lemma 5.2: w <= p <= n/w with `least` registers or more."""
    for w, l in product((*WIDTHS, 7), latencies):
        for n, p in _matrices(w, w, whole) if w >= least else ():
            yield {"n": n, "p": p, "w": w, "l": l}


def with_r_registers(whole: bool = True, all_too: bool = False, least: int = 1) -> Iterator[Case]:
    """Lemma 5.3: w <= p <= n/r with `least` registers or more; r = w only if asked for."""
    chosen = (*REGISTERS, (3, 3), (8, 8)) if all_too else REGISTERS
    for (w, r), l in product(chosen, (1, 30) if whole else (30,)):
        for n, p in _matrices(w, r, whole) if r >= least else ():
            yield {"n": n, "p": p, "w": w, "l": l, "r": r}


def nearly_a_warp_each() -> Iterator[Case]:
    """The worst shares of tiles at a latency above all else, where constants are needed.

    With w = 2 and m x m tiles, m(m - 1) - 1 warps take two tiles or one, and two steps of pairs
    or one.
    """
    for m in (4, 8, 16):
        yield {"n": 4 * m * m, "p": 2 * (m * (m - 1) - 1), "w": 2, "l": 20_000}


def one_tile() -> Iterator[Case]:
    """Erratum 4: all w registers, a single tile and a single warp."""
    for w in (2, 4, 8, 16, 32):
        yield {"n": w * w, "p": w, "w": w, "l": 1, "r": w}


def one_row_of_tiles() -> Iterator[Case]:
    """Erratum 4: all w registers, a warp for each tile; the wider, the worse."""
    for w in (4, 8, 16, 32, 64):
        yield {"n": 4 * w * w, "p": 4 * w, "w": w, "l": 1, "r": w}


def swap_time(n: Any, p: Any, w: Any, l: Any, r: Any, side: Any) -> Any:
    """The time of `swap`: four rounds at a step, p pairs of words at a step.

    The n words are matrices of side x side words; a diagonal of tiles holds sqrt(rw) side words.
    """
    pairs = (n - n * root(r * w) / side) / 2
    return 4 * (root(w / r) * pairs / w + (l - 1) * ceiling(pairs / p))


W_THREADS = Precondition("w <= p <= n/w", lambda n, p, w: w <= p <= n // w)
R_THREADS = Precondition("w <= p <= n/r", lambda n, p, w, r: w <= p <= n // r)
TWO = Precondition("r >= 2", lambda r: r >= 2)
GROUPS = Precondition("rw and w/r are squares", lambda w, r: r * isqrt(w // r) ** 2 == w)
SHARES = Precondition("p w divides n", lambda n, p, w: n % (p * w) == 0)
R_SHARES = Precondition("p r divides n", lambda n, p, r: n % (p * r) == 0)

ORDER = (SQUARE, WHOLE_ROWS, FULL_WARPS, W_THREADS)
EXACT = (*ORDER, SHARES)
R_ORDER = (SQUARE, WHOLE_ROWS, FULL_WARPS, GROUPS, R_THREADS)
R_EXACT = (*R_ORDER, R_SHARES)


def _claims() -> Iterator[Claim]:
    yield Claim(
        id="SMM-ROT",
        source="SMM, section 5",
        title="rotating transpose of w x w, UMM, w threads, w registers",
        formula=lambda w, l: 2 * w * l,
        kind="exact",
        grid=lambda: [
            {"n": w * w, "p": w, "w": w, "l": l}
            for w, l in product((*WIDTHS, 7, 9), (*LATENCIES, 3))
        ],
        run=rotated,
        launches=launches.rotated,
        requires=(Precondition("n = w^2, p = w", lambda n, p, w: n == w * w and p == w),),
    )
    yield Claim(
        id="SMM-L5.2",
        source="SMM, Lemma 5.2",
        title="transpose, UMM, w registers: local transpose and swap in place",
        formula=lambda n, p, w, l: 2 * (p / w + l - 1) * n / p + swap_time(n, p, w, l, w, root(n)),
        kind="exact",
        grid=lambda: with_w_registers(least=2),
        run=partial(transposed, tiled),
        launches=partial(launches.by_w, tiled),
        requires=(*EXACT, TWO_LANES),
        note="a swap holds two words, so w >= 2. It leaves the tiles of the diagonal alone: "
        "(n - w sqrt n)/2 pairs of words, two reads and two writes each",
    )
    yield Claim(
        id="SMM-L5.2.local",
        source="SMM, section 5",
        title="transpose, UMM, w registers: local transpose only",
        formula=lambda n, p, w, l: 2 * (p / w + l - 1) * n / p,
        kind="exact",
        grid=with_w_registers,
        run=partial(locally, local),
        launches=partial(launches.by_w, local),
        requires=EXACT,
    )
    yield Claim(
        id="SMM-L5.2.copy",
        source="SMM, section 5",
        title="transpose, UMM, w registers: local transpose, then all tiles copied",
        formula=lambda n, p, w, l: 4 * (p / w + l - 1) * n / p,
        kind="exact",
        grid=lambda: with_w_registers(latencies=(1, 30)),
        run=copied,
        launches=launches.then_copied,
        requires=EXACT,
        note="two launches, a third array; the global transpose costs the same as the local one if "
        "it is a copy of all tiles. The swap of SMM-L5.2 has fewer stages, but where n/p is odd "
        "its last step takes four latencies for few pairs: 676 against 648 for n = 225, p = 75, "
        "w = 3, l = 30",
    )
    yield Claim(
        id="SMM-L5.2.O",
        source="SMM, Lemma 5.2",
        title="transpose, UMM, w registers, any shares",
        formula=lambda n, p, w, l: n / w + n * l / p,
        kind="upper",
        constant=8,
        grid=lambda: (
            *with_w_registers(whole=False, latencies=(1, 30), least=2),
            *nearly_a_warp_each(),
        ),
        run=partial(transposed, tiled),
        requires=(*ORDER, TWO_LANES),
        note="2 + 2 for n/w; rounding shares up at most doubles the latencies. No smaller constant "
        "is enough: with w = 2, n = 4m^2 and p = 2(m^2 - m - 1) the ratio tends to 8 as l and then "
        "m grow",
    )
    yield Claim(
        id="SMM-L5.2.direct",
        source="SMM, section 5, improved",
        title="transpose, UMM, w registers: each tile directly to its place, no swap",
        formula=lambda n, p, w, l: 2 * (p / w + l - 1) * n / p,
        kind="exact",
        grid=lambda: with_w_registers(latencies=(1, 30)),
        run=partial(transposed, direct),
        launches=partial(launches.by_w, direct),
        requires=EXACT,
        note="the cost of a copy (Corollary 3.2); rows of tiles are address groups everywhere",
    )
    yield Claim(
        id="SMM-L5.3",
        source="SMM, Lemma 5.3",
        title="transpose, UMM, r registers, corrected: local transpose and swap in place",
        formula=lambda n, p, w, l, r: (
            2 * root(w / r) * (p / w + l - 1) * n / p + swap_time(n, p, w, l, r, root(n))
        ),
        kind="exact",
        grid=lambda: with_r_registers(least=2),
        run=partial(transposed, tiled),
        launches=partial(launches.by_r, tiled),
        requires=(*R_EXACT, TWO),
        note="a swap in place holds two words, so r >= 2. Swapped word by word the stages grow by "
        "sqrt(w/r), as a row of a tile is a sqrt(w/r)-th of an address group, and the parts go to "
        "different groups; the lemma's bound allows for it. By groups: SMM-L5.3.copy",
    )
    yield Claim(
        id="SMM-L5.3.apart",
        source="SMM, Lemma 5.3",
        title="transpose, UMM, r registers, corrected: local transpose, then tiles copied by words",
        formula=lambda n, p, w, l, r: (
            2 * root(w / r) * (p / w + l - 1) * n / p + 2 * (root(w / r) * p / w + l - 1) * n / p
        ),
        kind="exact",
        grid=with_r_registers,
        run=partial(transposed, apart),
        launches=partial(launches.by_r, apart),
        requires=R_EXACT,
        note="out of place, so that one register is enough",
    )
    yield Claim(
        id="SMM-L5.3.local",
        source="SMM, section 5",
        title="transpose, UMM, r registers, corrected: local transpose only",
        formula=lambda n, p, w, l, r: 2 * root(w / r) * (p / w + l - 1) * n / p,
        kind="exact",
        grid=lambda: with_r_registers(all_too=True),
        run=partial(locally, local),
        launches=partial(launches.by_r, local),
        requires=R_EXACT,
    )
    yield Claim(
        id="SMM-L5.3.local.printed",
        source="SMM, section 5, algorithm above Lemma 5.3",
        title="transpose of sqrt(rw) x sqrt(rw), UMM, w threads, r registers, as printed",
        formula=lambda w, l, r: l * root(r * w),
        kind="upper",
        grid=one_tile,
        run=partial(locally, local_as_printed),
        requires=R_ORDER,
        printed=True,
        growth=Growth("w", lambda w: w + 1),
        note="'can be done in O(l sqrt(rw))', above Lemma 5.3, with writes to b[(i+0) mod "
        "sqrt(rw)][0] and so on: a column, sqrt(rw) address groups at each write. For r = w, l = 1 "
        "the ratio is w + 1: with w = 32 it takes 1056 time units where the formula gives 32. "
        "The lemma holds: SMM-L5.3.O",
    )
    yield Claim(
        id="SMM-L5.3.O",
        source="SMM, Lemma 5.3",
        title="transpose, UMM, r registers, corrected, any shares",
        formula=lambda n, p, w, l, r: (n / w + n * l / p) * root(w / r),
        kind="upper",
        constant=8,
        grid=lambda: (
            *with_r_registers(whole=False, all_too=True),
            *one_row_of_tiles(),
            *({**case, "r": 2} for case in nearly_a_warp_each()),
        ),
        run=transposed_with,
        requires=R_ORDER,
        note="in place with two registers or more, out of place with one. The constant is that of "
        "SMM-L5.2.O, which is the case r = w",
    )
    yield Claim(
        id="SMM-L5.3.direct",
        source="SMM, section 5, improved",
        title="transpose, UMM, r registers: by whole groups, no swap",
        formula=lambda n, p, w, l, r: 2 * (root(w / r) * p / w + l - 1) * n / p,
        kind="exact",
        grid=lambda: with_r_registers(all_too=True),
        run=partial(transposed, direct),
        launches=partial(launches.by_r, direct),
        requires=R_EXACT,
        note="O((n/w) sqrt(w/r) + nl/p): fewer registers cost bandwidth, not latency",
    )


CLAIMS = list(_claims())
