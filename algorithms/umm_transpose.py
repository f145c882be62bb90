"""Transposing a matrix on the UMM, with w registers and with fewer (SMM section 5).

A warp reads a tile of side x side words into its registers row by row, rotated so that no thread
holds two words of one row of the result, and writes it transposed, row by row again. With w
registers to a thread (Lemma 5.2) side = w and every thread works for itself. With r < w registers
(Lemma 5.3) side = sqrt(rw), and `group` = sqrt(w/r) threads with r registers each work as a single
thread with sqrt(rw). So the programs for Lemma 5.3 with group = 1 are those for Lemma 5.2.

Matrices of one size may lie one below the other; each is transposed by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from algorithms.errors import require
from algorithms.grids import FULL_WARPS, LATENCIES, WIDTHS
from mmsim.claims import Case, Claim, Precondition, ceiling, correct, root


@mm.program
def rotating(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """SMM section 5, [Transpose by the rotating technique on the UMM]: w threads, w registers."""
    w, i = a.shape[0], T.id
    r = mm.registers(w)
    for t in range(w):
        r[t] = a[t, (t + i) % w]
    for t in range(w):
        b[t, (t - i) % w] = r[(t - i) % w]


@mm.program
def local(T: mm.Thread, a: mm.Array, b: mm.Array, side: int, group: int) -> None:
    """SMM section 5, the local transpose: every tile by itself, where it is.

    Thread h of group i holds a[k][(i+k) mod side] for k = h (mod group); the threads of a group
    access the memory in turn. Erratum 4 is mended: the write goes along a row.
    """
    w = side * group
    across, tiles = a.shape[1] // side, a.size // (side * side)
    i, h = T.id % w // group, T.id % group
    r = mm.registers(side // group)
    for tile in range(T.id // w, tiles, T.count // w):
        top, left = tile // across * side, tile % across * side
        for k in range(side):
            if k % group == h:
                r[k // group] = a[top + k, left + (i + k) % side]
        for t in range(side):
            k = (t - i) % side
            if k % group == h:
                b[top + t, left + k] = r[k // group]


@mm.program
def local_as_printed(T: mm.Thread, a: mm.Array, b: mm.Array, side: int, group: int) -> None:
    """SMM Lemma 5.3 as printed: group i writes b[(i+t) mod side][t], a column at each step."""
    w = side * group
    across, tiles = a.shape[1] // side, a.size // (side * side)
    i, h = T.id % w // group, T.id % group
    r = mm.registers(side // group)
    for tile in range(T.id // w, tiles, T.count // w):
        top, left = tile // across * side, tile % across * side
        for t in range(side):
            if t % group == h:
                r[t // group] = a[top + t, left + (i + t) % side]
        for t in range(side):
            if t % group == h:
                b[top + (i + t) % side, left + t] = r[t // group]


@mm.program
def swap(T: mm.Thread, b: mm.Array, side: int) -> None:
    """SMM section 5, the global transpose, in place: tiles A[i][j] and A[j][i] change places.

    A thread swaps two words at a step. The tiles of the diagonal stay; the others pair off as
    (i, i+1), then (i, i+2), ... around the m x m tiles of a matrix, m(m-1)/2 pairs in all.
    """
    rows, words = b.shape[1], side * side
    m, matrices = rows // side, b.shape[0] // rows
    pairs = m * (m - 1) // 2
    for x in range(T.id, matrices * pairs * words, T.count):
        matrix, pair = x // words // pairs, x // words % pairs
        i, j = pair % m, (pair % m + pair // m + 1) % m
        u, v = x // side % side, x % side
        above = matrix * rows + i * side + u
        below = matrix * rows + j * side + u
        one, other = b[above, j * side + v], b[below, i * side + v]
        b[above, j * side + v] = other
        b[below, i * side + v] = one


@mm.program
def mirror(T: mm.Thread, a: mm.Array, b: mm.Array, side: int) -> None:
    """The global transpose as a copy from a to b: every tile A[i][j] goes to the place of A[j][i].

    SMM section 5 calls it "just a copy of data".
    """
    rows = a.shape[0]
    words, m = side * side, rows // side
    for x in range(T.id, a.size, T.count):
        i, j = x // words // m, x // words % m
        u, v = x // side % side, x % side
        b[i * side + u, j * side + v] = a[j * side + u, i * side + v]


@mm.program
def tiled(T: mm.Thread, a: mm.Array, b: mm.Array, side: int, group: int) -> None:
    """SMM Lemmas 5.2 and 5.3: the local transpose, then the global one, in a single launch."""
    local(T, a, b, side, group)
    T.barrier()
    swap(T, b, side)


@mm.program
def direct(T: mm.Thread, a: mm.Array, b: mm.Array, side: int, group: int) -> None:
    """Better than the paper: each tile goes at once to its place in b, and whole groups at once.

    There is nothing left to swap, and a warp waits r times for a tile to be read and r times for
    it to be written, not sqrt(rw) times. The matrices needn't be square: b's are as wide as a's are
    high.
    """
    w = side * group
    rows, columns = b.shape[1], a.shape[1]
    across, tiles = columns // side, a.size // (side * side)
    i, h = T.id % w // group, T.id % group
    r = mm.registers(side // group)
    for tile in range(T.id // w, tiles, T.count // w):
        top, left = tile // across * side, tile % across * side
        for x in range(side // group):
            k = x * group + h
            r[x] = a[top + k, left + (i + k) % side]
        for x in range(side // group):
            t = x * group + (h + i) % group
            k = (t - i) % side
            b[top // rows * columns + left + t, top % rows + k] = r[k // group]


@rotating.example
def tile_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A w x w matrix, w threads."""
    a = np.arange(width * width).reshape(width, width)
    return mm.Example(a, np.zeros_like(a), threads=width)


@tiled.example
@direct.example
@local.example
@local_as_printed.example
def tiles_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A matrix of 3 x 3 tiles of w x w (or of `size` words), a warp for each column of tiles."""
    side = isqrt(size) if size else 3 * width
    a = np.arange(side * side).reshape(side, side)
    return mm.Example(a, np.zeros_like(a), width, 1, threads=side)


@swap.example
def swap_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """The same matrix; tiles of w x w are swapped in place."""
    a, _, side, _ = tiles_example(width, size).arguments
    return mm.Example(a, side, threads=len(a))


@mirror.example
def mirror_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """The same matrix; tiles of w x w are copied."""
    a, b, side, _ = tiles_example(width, size).arguments
    return mm.Example(a, b, side, threads=len(a))


def tile(w: int, registers: int) -> tuple[int, int]:
    """The side sqrt(rw) of a tile and the size sqrt(w/r) of a group (SMM Lemma 5.3).

    >>> tile(16, 16), tile(16, 4), tile(16, 1)
    ((16, 1), (8, 2), (4, 4))
    """
    r, where = registers, "SMM Lemma 5.3"
    require(1 <= r <= w, f"a thread has 1 <= r <= w registers, not r = {r}, w = {w}", where)
    group = isqrt(w // r)
    require(
        r * group * group == w,
        f"rw and w/r are square numbers, not {r * w} and {w}/{r} (w = {w}, r = {r})",
        where,
    )
    return r * group, group


def transpose(
    machine: mm.UMM,
    a: npt.NDArray[Any],
    threads: int,
    registers: int | None = None,
    schedule: mm.Schedule = "synchronous",
    program: mm.Program = tiled,
) -> mm.Run:
    """Transpose a (its last two dimensions); the result is in `run.arrays["b"]`.

    Parameters
    ----------
    a
        A matrix, or an array of matrices. They are square, but for the program `direct`.
    registers
        The registers of a thread: w (Lemma 5.2, the default) or fewer (Lemma 5.3).
    program
        `tiled` (the paper's), `direct`, or `local` alone.

    Raises `PreconditionError` where the lemma asks for something else.
    """
    w, p = machine.width, threads
    r = w if registers is None else registers
    where = "SMM Lemma 5.2" if r == w else "SMM Lemma 5.3"
    side, group = tile(w, r)
    require(a.ndim >= 2, f"the array has two dimensions, not {a.ndim}", where)
    rows, columns = a.shape[-2:]
    shape = f"not {rows} x {columns}"
    require(program is direct or rows == columns, f"the matrix is square, {shape}", where)
    require(
        rows > 0 and columns > 0 and rows % side == 0 and columns % side == 0,
        f"tiles of {side} x {side} fill the matrix: {side} divides its sides, {shape}",
        where,
    )
    require(p % w == 0, f"the number p of threads is a multiple of w = {w}, not {p}", where)
    most = a.size // r
    require(w <= p <= most, f"w <= p <= n/{'w' if r == w else 'r'} = {most}, not p = {p}", where)
    source = a.reshape(-1, columns)
    target = np.zeros((a.size // rows, rows), a.dtype)
    return machine.run(program, source, target, side, group, threads=p, schedule=schedule)


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
    return correct(run, a=a, b=a.T)


def locally(
    program: mm.Program,
    schedule: mm.Schedule,
    n: int,
    p: int,
    w: int,
    l: int,
    r: int | None = None,
) -> mm.Run:
    """Only the tiles, each where it is, checked."""
    a = np.arange(n).reshape(isqrt(n), isqrt(n))
    run = transpose(mm.UMM(w, l), a, p, r, schedule, program)
    side, _ = tile(w, w if r is None else r)
    tiles = a.reshape(isqrt(n) // side, side, isqrt(n) // side, side)
    return correct(run, a=a, b=tiles.swapaxes(1, 3).reshape(a.shape))


def swapped(schedule: mm.Schedule, n: int, p: int, w: int, l: int, r: int) -> mm.Run:
    """Only the global transpose of tiles with r registers, checked."""
    side, _ = tile(w, r)
    m = isqrt(n) // side
    b = np.arange(n).reshape(isqrt(n), isqrt(n))
    run = mm.UMM(w, l).run(swap, b, side, threads=p, schedule=schedule)
    return correct(run, b=b.reshape(m, side, m, side).swapaxes(0, 2).reshape(b.shape))


def copied(schedule: mm.Schedule, n: int, p: int, w: int, l: int) -> mm.Run:
    """The local transpose from a to b, then all tiles copied to a third array: two launches."""
    machine = mm.UMM(w, l)
    a = np.arange(n).reshape(isqrt(n), isqrt(n))
    tiles = transpose(machine, a, p, schedule=schedule, program=local)
    b = tiles.arrays["b"]
    whole = machine.run(mirror, b, np.zeros_like(b), w, threads=p, schedule=schedule)
    return correct(mm.total([tiles, whole]), b=a.T)


def rotated(schedule: mm.Schedule, n: int, p: int, w: int, l: int) -> mm.Run:
    """One w x w matrix with w threads, checked."""
    a = np.arange(n).reshape(w, w)
    run = mm.UMM(w, l).run(rotating, a, np.zeros_like(a), threads=p, schedule=schedule)
    return correct(run, a=a, b=a.T)


REGISTERS = ((4, 1), (8, 2), (9, 1), (12, 3), (16, 4), (16, 1), (18, 2), (32, 8))


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


def with_w_registers(whole: bool = True, latencies: Sequence[int] = LATENCIES) -> Iterator[Case]:
    """Lemma 5.2: w <= p <= n/w."""
    for w, l in product((*WIDTHS, 7), latencies):
        for n, p in _matrices(w, w, whole):
            yield {"n": n, "p": p, "w": w, "l": l}


def with_r_registers(whole: bool = True, all_too: bool = False) -> Iterator[Case]:
    """Lemma 5.3: w <= p <= n/r; r = w only if asked for."""
    chosen = (*REGISTERS, (3, 3), (8, 8)) if all_too else REGISTERS
    for (w, r), l in product(chosen, (1, 30) if whole else (30,)):
        for n, p in _matrices(w, r, whole):
            yield {"n": n, "p": p, "w": w, "l": l, "r": r}


def one_row_of_tiles() -> Iterator[Case]:
    """Erratum 4: all w registers, a warp for each tile; the wider, the worse."""
    for w, l in product((4, 8, 16, 32), (1, 5)):
        yield {"n": 4 * w * w, "p": 4 * w, "w": w, "l": l, "r": w}


def odd_shares() -> Iterator[Case]:
    """n/p = 3 and 5 x 5 tiles: the swap's second step has few pairs left."""
    for l in LATENCIES:
        yield {"n": 225, "p": 75, "w": 3, "l": l}


def swap_time(n: Any, p: Any, w: Any, l: Any, r: Any, side: Any) -> Any:
    """What `swap` takes: four rounds at a step, p pairs of words at a step.

    n words in all are matrices of side x side words; a diagonal holds sqrt(rw) side of them.
    """
    pairs = (n - n * root(r * w) / side) / 2
    return 4 * (root(w / r) * pairs / w + (l - 1) * ceiling(pairs / p))


SQUARE = Precondition("n is a square", lambda n: isqrt(n) ** 2 == n)
WHOLE_TILES = Precondition("w divides sqrt n", lambda n, w: isqrt(n) % w == 0)
W_THREADS = Precondition("w <= p <= n/w", lambda n, p, w: w <= p <= n // w)
R_THREADS = Precondition("w <= p <= n/r", lambda n, p, w, r: w <= p <= n // r)
GROUPS = Precondition("rw and w/r are squares", lambda w, r: r * isqrt(w // r) ** 2 == w)
SHARES = Precondition("p w divides n", lambda n, p, w: n % (p * w) == 0)
R_SHARES = Precondition("p r divides n", lambda n, p, r: n % (p * r) == 0)

ORDER = (SQUARE, WHOLE_TILES, FULL_WARPS, W_THREADS)
EXACT = (*ORDER, SHARES)
R_ORDER = (SQUARE, WHOLE_TILES, FULL_WARPS, GROUPS, R_THREADS)
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
        requires=(Precondition("n = w^2, p = w", lambda n, p, w: n == w * w and p == w),),
    )
    yield Claim(
        id="SMM-L5.2",
        source="SMM, Lemma 5.2",
        title="transpose, UMM, w registers: local transpose and swap in place",
        formula=lambda n, p, w, l: 2 * (p / w + l - 1) * n / p + swap_time(n, p, w, l, w, root(n)),
        kind="exact",
        grid=with_w_registers,
        run=partial(transposed, tiled),
        requires=EXACT,
        note="a swap leaves the tiles of the diagonal alone: (n - w sqrt n)/2 pairs of words, two "
        "reads and two writes each",
    )
    yield Claim(
        id="SMM-L5.2.local",
        source="SMM, section 5",
        title="transpose, UMM, w registers: local transpose only",
        formula=lambda n, p, w, l: 2 * (p / w + l - 1) * n / p,
        kind="exact",
        grid=with_w_registers,
        run=partial(locally, local),
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
        requires=EXACT,
        note="two launches, a third array; the global transpose costs the same as the local one if "
        "it is a copy of all tiles",
    )
    yield Claim(
        id="SMM-L5.2.copy.bound",
        source="SMM, section 5",
        title="transpose, UMM, w registers: the swap costs at most the local transpose again",
        formula=lambda n, p, w, l: 4 * (p / w + l - 1) * n / p,
        kind="upper",
        grid=odd_shares,
        run=partial(transposed, tiled),
        requires=EXACT,
        printed=True,
        note="not the paper's words: a first reading, that swapping costs the local transpose "
        "again. Its stages are fewer, but where n/p is odd the last step of the swap, for few "
        "pairs, has four latencies all the same",
    )
    yield Claim(
        id="SMM-L5.2.O",
        source="SMM, Lemma 5.2",
        title="transpose, UMM, w registers, any shares",
        formula=lambda n, p, w, l: n / w + n * l / p,
        kind="upper",
        constant=8,
        grid=lambda: with_w_registers(whole=False, latencies=(1, 30)),
        run=partial(transposed, tiled),
        requires=ORDER,
        note="2 + 2 for n/w; rounding shares up at most doubles the latencies",
    )
    yield Claim(
        id="SMM-L5.2.direct",
        source="SMM, section 5, improved",
        title="transpose, UMM, w registers: each tile at once to its place, no swap",
        formula=lambda n, p, w, l: 2 * (p / w + l - 1) * n / p,
        kind="exact",
        grid=lambda: with_w_registers(latencies=(1, 30)),
        run=partial(transposed, direct),
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
        grid=with_r_registers,
        run=partial(transposed, tiled),
        requires=R_EXACT,
        note="the swap isn't 'just a copy' in O(n/w + nl/p): a row of a tile is a sqrt(w/r)-th of "
        "an address group, and the parts go to different groups; its stages grow by sqrt(w/r), "
        "which the lemma's bound allows for",
    )
    yield Claim(
        id="SMM-L5.3.swap.printed",
        source="SMM, section 5",
        title="global transpose, UMM, r registers, as printed: just a copy of data",
        formula=lambda n, p, w, l: n / w + n * l / p,
        kind="upper",
        constant=4,
        grid=lambda: [
            {"n": 4 * w * w, "p": 4 * w * w, "w": w, "l": 1, "r": 1} for w in (4, 9, 16, 25, 36)
        ],
        run=swapped,
        requires=(SQUARE, WHOLE_TILES, FULL_WARPS, GROUPS, R_THREADS),
        printed=True,
        note="r = 1: a word by word swap of tiles narrower than w meets sqrt w groups at each "
        "request, so that no constant will do",
    )
    yield Claim(
        id="SMM-L5.3.local",
        source="SMM, section 5",
        title="transpose, UMM, r registers, corrected: local transpose only",
        formula=lambda n, p, w, l, r: 2 * root(w / r) * (p / w + l - 1) * n / p,
        kind="exact",
        grid=lambda: with_r_registers(all_too=True),
        run=partial(locally, local),
        requires=R_EXACT,
    )
    yield Claim(
        id="SMM-L5.3.local.printed",
        source="SMM, section 5",
        title="transpose, UMM, r registers, as printed: local transpose only",
        formula=lambda n, p, w, l, r: 2 * root(w / r) * (p / w + l - 1) * n / p,
        kind="exact",
        grid=with_r_registers,
        run=partial(locally, local_as_printed),
        requires=R_EXACT,
        printed=True,
        note="b[(i+t) mod sqrt(rw)][t] is a column: sqrt(rw) address groups at each write",
    )
    yield Claim(
        id="SMM-L5.3.O.printed",
        source="SMM, Lemma 5.3",
        title="transpose, UMM, r registers, as printed: local transpose only",
        formula=lambda n, p, w, l, r: (n / w + n * l / p) * root(w / r),
        kind="upper",
        constant=8,
        grid=one_row_of_tiles,
        run=partial(locally, local_as_printed),
        requires=R_ORDER,
        printed=True,
        note="writing columns takes n time units or more, so the ratio grows like sqrt(rw)",
    )
    yield Claim(
        id="SMM-L5.3.O",
        source="SMM, Lemma 5.3",
        title="transpose, UMM, r registers, corrected, any shares",
        formula=lambda n, p, w, l, r: (n / w + n * l / p) * root(w / r),
        kind="upper",
        constant=8,
        grid=lambda: (*with_r_registers(whole=False, all_too=True), *one_row_of_tiles()),
        run=partial(transposed, tiled),
        requires=R_ORDER,
    )
    yield Claim(
        id="SMM-L5.3.direct",
        source="SMM, section 5, improved",
        title="transpose, UMM, r registers: whole groups at once, no swap",
        formula=lambda n, p, w, l, r: 2 * (root(w / r) * p / w + l - 1) * n / p,
        kind="exact",
        grid=lambda: with_r_registers(all_too=True),
        run=partial(transposed, direct),
        requires=R_EXACT,
        note="O((n/w) sqrt(w/r) + nl/p): fewer registers cost bandwidth, not latency",
    )


CLAIMS = list(_claims())
