"""Permuting an array on the UMM (SMM section 7).

A row of w words is an address group, so permuting within rows is free of conflicts; a column-wise
permutation is a transpose, a row-wise permutation, and the transpose back. Colouring makes any
permutation of w^2 words of row-wise, column-wise and row-wise ones, and so on for w^4, w^8, ...

The permutation is known offline. Its destinations lie in tables, as many words as the array; SMM
doesn't charge reading them. Every claim here says whether it counts all accesses or only those to
the data, a and b.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from algorithms.colouring import colour
from algorithms.errors import require
from algorithms.grids import FULL_WARPS, LATENCIES, WIDTHS
from algorithms.schedules import three_steps
from algorithms.umm_transpose import (
    GROUPS,
    R_SHARES,
    R_THREADS,
    REGISTERS,
    SHARES,
    W_THREADS,
    direct,
    rotating,
    swap_time,
    tile,
    tiled,
    transpose,
)
from mmsim.claims import Case, Claim, Precondition, correct, root

Integers = npt.NDArray[np.int64]


@mm.program
def row_wise(T: mm.Thread, a: mm.Array, b: mm.Array, d: mm.Array) -> None:
    """SMM section 7, [Row-wise permutation algorithm]: a[i][j] goes to column d[i][j].

    Warp W(q) permutes rows q, q + p/w, q + 2p/w, ...
    """
    w = a.shape[1]
    for x in range(T.id, a.size, T.count):
        i, j = x // w, x % w
        b[i, d[i, j]] = a[i, j]


@mm.program
def column_wise(T: mm.Thread, a: mm.Array, b: mm.Array, d: mm.Array) -> None:
    """SMM section 7, [Column-wise permutation on the UMM] (Lemma 7.2): w threads, w registers.

    Row j of d says where column j goes: a[i][j] to row d[j][i]. A single warp does it, in place
    after the first step: it has read a row before it writes one.
    """
    rotating(T, a, b)
    row_wise(T, b, b, d)
    rotating(T, b, b)


@mm.program
def permutation(
    T: mm.Thread, a: mm.Array, b: mm.Array, first: mm.Array, second: mm.Array, third: mm.Array
) -> None:
    """SMM section 7, [Permutation on the UMM] (Lemma 7.4): w^2 words, w threads, w registers."""
    row_wise(T, a, b, first)
    column_wise(T, b, b, second)
    row_wise(T, b, b, third)


@mm.program
def one_pass(
    T: mm.Thread, a: mm.Array, b: mm.Array, source: mm.Array, row: mm.Array, column: mm.Array
) -> None:
    """Better than the paper: any permutation of w^2 words, each read once and written once.

    Thread T(i) takes the words of colour i: one from each row of a (Lemma 7.3 (1)), one for each
    row of b (Lemma 7.3 (2)). So w registers, which the transpose needs anyway, hold all of them.
    """
    w, i = a.shape[0], T.id
    r = mm.registers(w)
    for t in range(w):
        r[row[t, i]] = a[t, source[t, i]]
    for t in range(w):
        b[t, column[t, i]] = r[t]


@row_wise.example
@column_wise.example
def rows_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A w x w matrix, a random permutation for each row (or column), w threads."""
    a = np.arange(width * width).reshape(width, width)
    return mm.Example(a, np.zeros_like(a), random_rows(width, width, seed), threads=width)


@permutation.example
def permutation_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A w x w matrix, a random permutation of it, w threads."""
    a = np.arange(width * width).reshape(width, width)
    tables = three_steps(chosen(width * width, seed), width)
    return mm.Example(a, np.zeros_like(a), *tables, threads=width)


@one_pass.example
def one_pass_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """The same permutation in one pass."""
    a = np.arange(width * width).reshape(width, width)
    tables = one_pass_tables(chosen(width * width, seed), width)
    return mm.Example(a, np.zeros_like(a), *tables, threads=width)


@dataclass(frozen=True)
class Turn:
    """A step: transpose every rows x columns matrix."""

    rows: int
    columns: int


Step = Integers | Turn
"""A table for `row_wise`, a row of w destinations for each row of the array, or a transpose."""


def by_squares(P: Integers, w: int) -> list[Step]:
    """SMM section 7: the steps that permute rows of w^(2^k) words, row i of P for row i.

    A row is a square matrix; its rows and its columns are permuted by the same method, three times
    with two transposes between. 3^k row-wise permutations, 3^k - 1 transposes.
    """
    length = P.shape[1]
    if length == w:
        return [P]
    side = isqrt(length)
    require(
        w > 1 and side * side == length and side >= w,
        f"each row has w^(2^k) words, not {length} (w = {w})",
        "SMM section 7",
    )
    first, second, third = _stacked([three_steps(row, side) for row in P])
    turn = Turn(side, side)
    return [
        *by_squares(first, w),
        turn,
        *by_squares(second, w),
        turn,
        *by_squares(third, w),
    ]


def by_groups(P: Integers, w: int) -> list[Step]:
    """Better than the paper: the steps that permute rows of w^m words, whatever m is.

    A row is a matrix with w columns. Its rows are address groups at once, so only its columns are
    permuted by the same method: 2m - 1 row-wise permutations, 2m - 2 transposes.
    """
    rows, rest = divmod(P.shape[1], w)
    require(
        w > 1 and rows > 0 and rest == 0,
        f"each row has w^m words; in the end {P.shape[1]} are left (w = {w})",
        "SMM section 7, improved",
    )
    if rows == 1:
        return [P]
    first, second, third = _stacked([_three_steps(row, rows, w) for row in P])
    return [first, Turn(rows, w), *by_groups(second, w), Turn(w, rows), third]


def _three_steps(P: Integers, rows: int, columns: int) -> tuple[Integers, Integers, Integers]:
    """`three_steps` for a matrix that needn't be square: the graph has degree `columns`."""
    i, j = np.divmod(np.arange(P.size), columns)
    to_row, to_column = np.divmod(P, columns)
    colours = colour(i, to_row, rows)
    first, third = np.empty((2, rows, columns), dtype=np.int64)
    second = np.empty((columns, rows), dtype=np.int64)
    first[i, j] = colours
    second[colours, i] = to_row
    third[to_row, colours] = to_column
    return first, second, third


def _stacked(tables: Sequence[tuple[Integers, ...]]) -> tuple[Integers, ...]:
    """Tables of many matrices, those of each step one below the other."""
    return tuple(np.concatenate(step) for step in zip(*tables, strict=True))


def one_pass_tables(P: Integers, w: int) -> tuple[Integers, Integers, Integers]:
    """What `one_pass` reads: for row t and colour i the column in a, the row and column in b."""
    first, second, third = three_steps(P, w)
    return np.argsort(first, axis=1), np.ascontiguousarray(second.T), third


def steps(P: npt.ArrayLike, w: int, improved: bool = False) -> list[Step]:
    """Prepare a permutation: by squares as in the paper, or by groups if `improved`.

    Raises `PreconditionError` unless P is a permutation of w^(2^k) (improved: w^m) words.
    """
    table = np.asarray(P)
    require(
        table.ndim == 1
        and table.dtype.kind in "iu"
        and np.array_equal(np.sort(table), np.arange(table.size)),
        f"P is a permutation of 0..n-1, not {table}",
        "SMM section 7",
    )
    return (by_groups if improved else by_squares)(table.astype(np.int64)[None, :], w)


def permute(
    machine: mm.UMM,
    a: npt.NDArray[Any],
    prepared: Sequence[Step],
    threads: int,
    registers: int | None = None,
    schedule: mm.Schedule = "synchronous",
    improved: bool = False,
) -> mm.Run:
    """Permute a by prepared steps, one launch for each; the result is in `run.arrays["b"]`.

    It is the array's words in rows of w.

    Parameters
    ----------
    registers
        The registers of a thread: w (Lemma 7.5, the default) or fewer (Theorem 7.6).
    improved
        Transpose by `direct`; steps that were prepared as improved need it.

    Raises `PreconditionError` where the lemma asks for something else.
    """
    w, p, n = machine.width, threads, a.size
    r = w if registers is None else registers
    where = "SMM Lemma 7.5" if r == w else "SMM Theorem 7.6"
    tile(w, r)
    require(p % w == 0, f"the number p of threads is a multiple of w = {w}, not {p}", where)
    require(w <= p <= n // r, f"w <= p <= n/{'w' if r == w else 'r'} = {n // r}, not {p}", where)
    program = direct if improved else tiled
    launches = []
    b = a
    for step in prepared:
        if isinstance(step, Turn):
            matrices = b.reshape(-1, step.rows, step.columns)
            run = transpose(machine, matrices, p, r, schedule, program)
        else:
            require(
                step.shape == (n // w, w),
                f"the steps are for {step.size} words in rows of {step.shape[1]}, the array has "
                f"{n}, w = {w}",
                where,
            )
            rows = b.reshape(-1, w)
            run = machine.run(
                row_wise, rows, np.zeros_like(rows), step, threads=p, schedule=schedule
            )
        b = run.arrays["b"]
        launches.append(run)
    return mm.total(launches)


def random_rows(rows: int, w: int, seed: int) -> Integers:
    """A random permutation of 0..w-1 for each row."""
    drawn: Integers = np.random.RandomState(seed).rand(rows, w).argsort(axis=1)
    return drawn


def chosen(n: int, seed: int) -> Integers:
    """A permutation for a case: 0 is the transpose of a square (else the reversal), others random.

    Unlike a row-wise one, the transpose sends each row to all rows.
    """
    if seed:
        return np.random.RandomState(seed).permutation(n).astype(np.int64)
    if isqrt(n) ** 2 == n:
        return np.arange(n).reshape(isqrt(n), isqrt(n)).T.reshape(-1).copy()
    return np.arange(n)[::-1].copy()


@cache
def _prepared(n: int, w: int, improved: bool) -> list[Step]:
    return steps(chosen(n, seed=n), w, improved)


def permuted(
    schedule: mm.Schedule,
    n: int,
    p: int,
    w: int,
    l: int,
    r: int | None = None,
    improved: bool = False,
    **_: int,
) -> mm.Run:
    """Permute n words at random with p threads and r registers (w of them), checked."""
    a = np.arange(n) + n
    prepared = _prepared(n, w, improved)
    run = permute(mm.UMM(w, l), a, prepared, p, r, schedule, improved)
    return correct(run, b=_moved(a, chosen(n, seed=n)).reshape(-1, w))


def rows_permuted(schedule: mm.Schedule, p: int, w: int, l: int) -> mm.Run:
    """A row-wise permutation of w x w, checked."""
    a = np.arange(w * w).reshape(w, w)
    d = random_rows(w, w, seed=w)
    run = mm.UMM(w, l).run(row_wise, a, np.zeros_like(a), d, threads=p, schedule=schedule)
    b = np.empty_like(a)
    np.put_along_axis(b, d, a, axis=1)
    return correct(run, a=a, b=b)


def columns_permuted(schedule: mm.Schedule, w: int, l: int) -> mm.Run:
    """A column-wise permutation of w x w, checked."""
    a = np.arange(w * w).reshape(w, w)
    d = random_rows(w, w, seed=w)
    run = mm.UMM(w, l).run(column_wise, a, np.zeros_like(a), d, threads=w, schedule=schedule)
    b = np.empty_like(a)
    np.put_along_axis(b, d.T, a, axis=0)
    return correct(run, a=a, b=b)


def matrix_permuted(
    program: mm.Program,
    tables: Callable[[Integers, int], tuple[Integers, Integers, Integers]],
    schedule: mm.Schedule,
    w: int,
    l: int,
    seed: int,
) -> mm.Run:
    """Any permutation of w x w by a single warp, checked."""
    a, P = np.arange(w * w).reshape(w, w), chosen(w * w, seed)
    arguments = (a, np.zeros_like(a), *tables(P, w))
    run = mm.UMM(w, l).run(program, *arguments, threads=w, schedule=schedule)
    return correct(run, a=a, b=_moved(a.reshape(-1), P).reshape(w, w))


def _moved(a: Integers, P: Integers) -> Integers:
    """a[i] at P[i]."""
    b = np.empty_like(a)
    b[P] = a
    return b


def time_of_data(run: mm.Run) -> int:
    """Time of the rounds on a and b: what SMM charges."""
    return sum(row.time for row in run.rounds if row.array in ("a", "b"))


def all_stages(run: mm.Run) -> int:
    """Stages of all accesses, to tables too."""
    return run.stages


def one_matrix(whole: bool = True) -> Iterator[Case]:
    """Lemma 7.1: w x w, w <= p <= w^2."""
    for w, l in product(WIDTHS, LATENCIES):
        for warps in sorted({1, 2, 3, w // 2, w - 1, w}):
            if 1 <= warps <= w and (not whole or w % warps == 0):
                yield {"p": warps * w, "w": w, "l": l}


def one_warp() -> Iterator[Case]:
    """Lemma 7.2: w x w, p = w."""
    return ({"w": w, "l": l} for w, l in product(WIDTHS, LATENCIES))


def one_warp_any() -> Iterator[Case]:
    """Lemma 7.4: w x w, p = w, a transpose and a random permutation."""
    for w, l, seed in product(WIDTHS, LATENCIES, (0, 1)):
        yield {"w": w, "l": l, "seed": seed}


def _shares(n: int, w: int, r: int, whole: bool) -> list[int]:
    """Numbers of threads: one warp, some, a warp for each row of tiles, all that are allowed."""
    tiles = n // (r * w)
    some = {1, w, tiles} if whole else {2, tiles - 1}
    return [q * w for q in sorted(some) if 1 <= q <= tiles and (not whole or tiles % q == 0)]


def fourth_power(latencies: Sequence[int] = LATENCIES, whole: bool = True) -> Iterator[Case]:
    """n = w^4."""
    for w, l in product((2, 3), latencies):
        for p in _shares(w**4, w, w, whole):
            yield {"n": w**4, "p": p, "w": w, "l": l}
    for w in (4, 5):
        yield {"n": w**4, "p": w**3, "w": w, "l": 30}


def eighth_power() -> Iterator[Case]:
    """n = w^8: 256 words, whole shares."""
    for p, l in ((16, 1), (64, 2), (128, 5), (128, 30)):
        yield {"n": 256, "p": p, "w": 2, "l": l}


def eighth_power_any() -> Iterator[Case]:
    """n = w^8: 256 words, shares that aren't whole."""
    for p, l in ((12, 2), (126, 30)):
        yield {"n": 256, "p": p, "w": 2, "l": l}


def squared_powers() -> Iterator[Case]:
    """n = w^(2^k), with shares that are whole and shares that aren't."""
    for w, depth in ((2, 1), (2, 2), (3, 1), (3, 2), (4, 1), (8, 1), (12, 1)):
        n = w ** (2**depth)
        shares = {*_shares(n, w, w, True), *_shares(n, w, w, False)}
        for p, l in product(sorted(shares), (1, 30)):
            yield {"n": n, "p": p, "w": w, "l": l, "k": depth}
    yield {"n": 256, "p": 126, "w": 2, "l": 30, "k": 3}


def squared_powers_and_registers() -> Iterator[Case]:
    """n = w^(2^k), fewer registers than w, whole shares and others."""
    for w, r in ((4, 1), (8, 2), (9, 1), (12, 3), (16, 4), (16, 1), (3, 3)):
        for depth in (1, 2):
            n = w ** (2**depth)
            if n > 256:
                break
            for p in (w, *_shares(n, w, r, False)):
                if w <= p <= n // r:
                    yield {"n": n, "p": p, "w": w, "l": 30 if p > w else 1, "r": r, "k": depth}


def any_power() -> Iterator[Case]:
    """n = w^m for every m: a warp, some, as many as there are tiles."""
    for w, most in ((2, 8), (3, 5), (4, 4), (5, 3), (7, 3)):
        for m in range(2, most + 1):
            for warps, l in ((w ** (m - 2), 1), (w ** (m - 2), 30), (w ** ((m - 1) // 2), 5)):
                yield {"n": w**m, "p": warps * w, "w": w, "l": l, "m": m}


def any_power_and_registers() -> Iterator[Case]:
    """n = w^m, fewer registers than w."""
    for (w, r), m, l in product(REGISTERS, (2, 3), (1, 30)):
        tiles = w**m // (r * w)
        if w**m < 1000:
            for warps in sorted({w // r, tiles}):
                yield {"n": w**m, "p": warps * w, "w": w, "l": l, "r": r, "m": m}


def _round(p: Any, w: Any, l: Any) -> Any:
    """The time of a round in which each of p threads accesses a word of its warp's group."""
    return p / w + l - 1


P_TO_MATRIX = Precondition("w <= p <= w^2", lambda p, w: w <= p <= w * w)
WHOLE_ROWS = Precondition("p divides w^2", lambda p, w: w * w % p == 0)
FOURTH = Precondition("n = w^4", lambda n, w: n == w**4)
EIGHTH = Precondition("n = w^8", lambda n, w: n == w**8)
SQUARED = Precondition("n = w^(2^k)", lambda n, w, k: n == w ** (2**k))
POWER = Precondition("n = w^m", lambda n, w, m: n == w**m)

DATA = "charged are a and b only, as in the paper: the time of their rounds"
ALL = "charged is everything, the tables too: a row-wise permutation reads one"


def _small_claims() -> Iterator[Claim]:
    """w x w: Lemmas 7.1 to 7.4."""
    yield Claim(
        id="SMM-L7.1",
        source="SMM, Lemma 7.1",
        title="row-wise permutation of w x w, UMM: a and b",
        formula=lambda p, w, l: 2 * _round(p, w, l) * w**2 / p,
        kind="exact",
        grid=one_matrix,
        run=rows_permuted,
        measure=time_of_data,
        requires=(FULL_WARPS, P_TO_MATRIX, WHOLE_ROWS),
        note=DATA,
    )
    yield Claim(
        id="SMM-L7.1.tables",
        source="SMM, Lemma 7.1",
        title="row-wise permutation of w x w, UMM: all accesses",
        formula=lambda p, w, l: 3 * _round(p, w, l) * w**2 / p,
        kind="exact",
        grid=one_matrix,
        run=rows_permuted,
        requires=(FULL_WARPS, P_TO_MATRIX, WHOLE_ROWS),
        note=ALL,
    )
    yield Claim(
        id="SMM-L7.1.O",
        source="SMM, Lemma 7.1",
        title="row-wise permutation of w x w, UMM, any shares: all accesses",
        formula=lambda p, w, l: w + w**2 * l / p,
        kind="upper",
        constant=6,
        grid=lambda: one_matrix(whole=False),
        run=rows_permuted,
        requires=(FULL_WARPS, P_TO_MATRIX),
        note=f"{ALL}; rounding shares up at most doubles the latencies",
    )
    yield Claim(
        id="SMM-L7.2",
        source="SMM, Lemma 7.2",
        title="column-wise permutation of w x w, UMM, w threads, w registers: a and b",
        formula=lambda w, l: 6 * w * l,
        kind="exact",
        grid=one_warp,
        run=columns_permuted,
        measure=time_of_data,
        note=DATA,
    )
    yield Claim(
        id="SMM-L7.2.tables",
        source="SMM, Lemma 7.2",
        title="column-wise permutation of w x w, UMM, w threads, w registers: all accesses",
        formula=lambda w, l: 7 * w * l,
        kind="exact",
        grid=one_warp,
        run=columns_permuted,
        note=ALL,
    )
    yield Claim(
        id="SMM-L7.3",
        source="SMM, Lemma 7.3",
        title="colouring by rows: each request of Lemma 7.4 takes one stage",
        formula=lambda w: 13 * w,
        kind="exact",
        grid=one_warp_any,
        run=partial(matrix_permuted, permutation, three_steps),
        measure=all_stages,
        quantity="S",
        note="the words of a row have different colours, so step 1 stays within it; those of a "
        "colour go to different rows, so step 2 stays within a column",
    )
    yield Claim(
        id="SMM-L7.4",
        source="SMM, Lemma 7.4",
        title="any permutation of w^2 words, UMM, w threads, w registers: a and b",
        formula=lambda w, l: 10 * w * l,
        kind="exact",
        grid=one_warp_any,
        run=partial(matrix_permuted, permutation, three_steps),
        measure=time_of_data,
        note=DATA,
    )
    yield Claim(
        id="SMM-L7.4.tables",
        source="SMM, Lemma 7.4",
        title="any permutation of w^2 words, UMM, w threads, w registers: all accesses",
        formula=lambda w, l: 13 * w * l,
        kind="exact",
        grid=one_warp_any,
        run=partial(matrix_permuted, permutation, three_steps),
        note=ALL,
    )
    yield Claim(
        id="SMM-L7.4.one-pass",
        source="SMM, section 7, improved",
        title="any permutation of w^2 words, UMM, a colour to each thread: a and b",
        formula=lambda w, l: 2 * w * l,
        kind="exact",
        grid=one_warp_any,
        run=partial(matrix_permuted, one_pass, one_pass_tables),
        measure=time_of_data,
        note=f"{DATA}; w threads can't read w^2 words and write them in less",
    )
    yield Claim(
        id="SMM-L7.4.one-pass.tables",
        source="SMM, section 7, improved",
        title="any permutation of w^2 words, UMM, a colour to each thread: all accesses",
        formula=lambda w, l: 5 * w * l,
        kind="exact",
        grid=one_warp_any,
        run=partial(matrix_permuted, one_pass, one_pass_tables),
        note="charged is everything: three tables are read",
    )


def _large_claims() -> Iterator[Claim]:
    """n words in several launches: w^4, w^8, Lemma 7.5, Theorem 7.6."""
    yield Claim(
        id="SMM-w4",
        source="SMM, section 7",
        title="any permutation of w^4 words, UMM, w registers: all accesses",
        formula=lambda p, w, l: w**3 + w**4 * l / p,
        kind="upper",
        constant=70,
        grid=lambda: fourth_power((1, 30), whole=False),
        run=permuted,
        requires=(FOURTH, FULL_WARPS, W_THREADS),
        note=ALL,
    )
    yield Claim(
        id="SMM-w4.data",
        source="SMM, section 7",
        title="any permutation of w^4 words, UMM, w registers: a and b",
        formula=lambda n, p, w, l: (
            34 * _round(p, w, l) * n / p + 2 * swap_time(n, p, w, l, w, w**2)
        ),
        kind="exact",
        grid=lambda: fourth_power((1, 5)),
        run=permuted,
        measure=time_of_data,
        requires=(FOURTH, FULL_WARPS, W_THREADS, SHARES),
        note=f"{DATA}. Nine row-wise permutations, eight local transposes, two swaps",
    )
    yield Claim(
        id="SMM-w4.tables",
        source="SMM, section 7",
        title="any permutation of w^4 words, UMM, w registers: all accesses",
        formula=lambda n, p, w, l: (
            43 * _round(p, w, l) * n / p + 2 * swap_time(n, p, w, l, w, w**2)
        ),
        kind="exact",
        grid=fourth_power,
        run=permuted,
        requires=(FOURTH, FULL_WARPS, W_THREADS, SHARES),
        note=ALL,
    )
    yield Claim(
        id="SMM-w8",
        source="SMM, section 7",
        title="any permutation of w^8 words, UMM, w registers: all accesses",
        formula=lambda p, w, l: w**7 + w**8 * l / p,
        kind="upper",
        constant=240,
        grid=eighth_power_any,
        run=permuted,
        requires=(EIGHTH, FULL_WARPS, W_THREADS),
        note=ALL,
    )
    yield Claim(
        id="SMM-w8.tables",
        source="SMM, section 7",
        title="any permutation of w^8 words, UMM, w registers: all accesses",
        formula=lambda n, p, w, l: (
            133 * _round(p, w, l) * n / p
            + 6 * swap_time(n, p, w, l, w, w**2)
            + 2 * swap_time(n, p, w, l, w, w**4)
        ),
        kind="exact",
        grid=eighth_power,
        run=permuted,
        requires=(EIGHTH, FULL_WARPS, W_THREADS, SHARES),
        note=f"{ALL}. 27 row-wise permutations, 26 local transposes, eight swaps",
    )
    yield Claim(
        id="SMM-L7.5",
        source="SMM, Lemma 7.5",
        title="any permutation of n = w^(2^k) words, UMM, w registers: all accesses",
        formula=lambda n, p, w, l, k: 3**k * (n / w + n * l / p),
        kind="upper",
        constant=10,
        grid=squared_powers,
        run=permuted,
        requires=(SQUARED, FULL_WARPS, W_THREADS),
        note=f"{ALL}. The constant grows with n: 3^k = (log n / log w)^1.58. The paper's w^c x w^c "
        "is by squares only where c is a power of two, and its last transposes are of w^c x w^c, "
        "not w^(c/2) x w^(c/2)",
    )
    yield Claim(
        id="SMM-L7.5.any-power",
        source="SMM, Lemma 7.5, improved",
        title="any permutation of n = w^m words, UMM, w registers, by groups: all accesses",
        formula=lambda n, p, w, l, m: (10 * m - 7) * _round(p, w, l) * n / p,
        kind="exact",
        grid=any_power,
        run=partial(permuted, improved=True),
        requires=(POWER, FULL_WARPS, W_THREADS, SHARES),
        note=f"{ALL}. Matrices of w columns instead of square ones, tiles transposed at once to "
        "their place: every power of w, 2m - 1 row-wise permutations, 2m - 2 transposes",
    )
    yield Claim(
        id="SMM-T7.6",
        source="SMM, Theorem 7.6",
        title="any permutation of n = w^(2^k) words, UMM, r registers: all accesses",
        formula=lambda n, p, w, l, r, k: 3**k * (n / w + n * l / p) * root(w / r),
        kind="upper",
        constant=10,
        grid=squared_powers_and_registers,
        run=permuted,
        requires=(SQUARED, FULL_WARPS, R_THREADS, GROUPS),
        note=ALL,
    )
    yield Claim(
        id="SMM-T7.6.any-power",
        source="SMM, Theorem 7.6, improved",
        title="any permutation of n = w^m words, UMM, r registers, by groups: all accesses",
        formula=lambda n, p, w, l, r, m: (
            3 * (2 * m - 1) * (p / w + l - 1) * n / p
            + 2 * (2 * m - 2) * (root(w / r) * p / w + l - 1) * n / p
        ),
        kind="exact",
        grid=any_power_and_registers,
        run=partial(permuted, improved=True),
        requires=(POWER, FULL_WARPS, R_THREADS, GROUPS, R_SHARES),
        note=f"{ALL}. Fewer registers cost bandwidth, not latency",
    )


CLAIMS = [*_small_claims(), *_large_claims()]
