"""The checked runs and the cases for the claims about permuting on the UMM."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product

import numpy as np

import mmsim as mm
from mmsim.claims import Case, correct, within
from mmsim_algorithms.grids import LATENCIES, WIDTHS
from mmsim_algorithms.transpose.umm_claims import REGISTERS
from mmsim_algorithms.umm_permutation.programs import (
    Integers,
    Step,
    chosen,
    column_wise,
    permute,
    random_rows,
    row_wise,
    steps,
)


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
    run = correct(run, b=_moved(a, chosen(n, seed=n)).reshape(-1, w))
    return within(run, w if r is None else r)


def rows_permuted(schedule: mm.Schedule, p: int, w: int, l: int) -> mm.Run:
    """A row-wise permutation of w x w, checked."""
    a = np.arange(w * w).reshape(w, w)
    d = random_rows(w, w, seed=w)
    run = mm.UMM(w, l).run(row_wise, a, np.zeros_like(a), d, threads=p, schedule=schedule)
    b = np.empty_like(a)
    np.put_along_axis(b, d, a, axis=1)
    return correct(run, a=a, b=b)


def columns_permuted(schedule: mm.Schedule, w: int, l: int) -> mm.Run:
    """A column-wise permutation of w x w with w registers, checked."""
    a = np.arange(w * w).reshape(w, w)
    d = random_rows(w, w, seed=w)
    run = mm.UMM(w, l).run(column_wise, a, np.zeros_like(a), d, threads=w, schedule=schedule)
    b = np.empty_like(a)
    np.put_along_axis(b, d.T, a, axis=0)
    return within(correct(run, a=a, b=b), w)


def matrix_permuted(
    program: mm.Program,
    tables: Callable[[Integers, int], tuple[Integers, Integers, Integers]],
    schedule: mm.Schedule,
    w: int,
    l: int,
    seed: int,
) -> mm.Run:
    """Any permutation of w x w by a single warp with w registers, checked."""
    a, P = np.arange(w * w).reshape(w, w), chosen(w * w, seed)
    arguments = (a, np.zeros_like(a), *tables(P, w))
    run = mm.UMM(w, l).run(program, *arguments, threads=w, schedule=schedule)
    return within(correct(run, a=a, b=_moved(a.reshape(-1), P).reshape(w, w)), w)


def _moved(a: Integers, P: Integers) -> Integers:
    """a[i] at P[i]."""
    b = np.empty_like(a)
    b[P] = a
    return b


def time_of_data(run: mm.Run) -> int:
    """Time of the rounds on a and b, which SMM charges."""
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


def one_warp_less() -> Iterator[Case]:
    """Lemma 7.1 with a warp less than rows, so that one row waits for all the others.

    The latency is above all else.
    """
    return ({"p": w * (w - 1), "w": w, "l": 20_000} for w in (4, 8, 16, 32))


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
    """n = w^8: 256, 6561 and 65536 words, whole shares."""
    for w, p, l in (
        (2, 16, 1),
        (2, 64, 2),
        (2, 128, 5),
        (2, 128, 30),
        (3, 243, 1),
        (3, 729, 2),
        (3, 2187, 30),
        (4, 4096, 1),
        (4, 16384, 30),
    ):
        yield {"n": w**8, "p": p, "w": w, "l": l}


def eighth_power_any() -> Iterator[Case]:
    """n = w^8: 256, 6561 and 65536 words, shares that aren't whole."""
    for w, p, l in (
        (2, 12, 2),
        (2, 126, 30),
        (2, 126, 20_000),
        (3, 240, 1),
        (3, 2184, 30),
        (4, 16380, 30),
    ):
        yield {"n": w**8, "p": p, "w": w, "l": l}


def one_warp_too_few() -> Iterator[Case]:
    """n = 2^(2^k), a warp less than tiles, and a latency above all else."""
    for depth, n in ((2, 16), (3, 256)):
        yield {"n": n, "p": n // 2 - 2, "w": 2, "l": 20_000, "k": depth}


def squared_powers() -> Iterator[Case]:
    """n = w^(2^k), with whole shares and others."""
    for w, depth in ((2, 1), (2, 2), (3, 1), (3, 2), (4, 1), (8, 1), (12, 1)):
        n = w ** (2**depth)
        shares = {*_shares(n, w, w, True), *_shares(n, w, w, False)}
        for p, l in product(sorted(shares), (1, 30)):
            yield {"n": n, "p": p, "w": w, "l": l, "k": depth}
    yield {"n": 256, "p": 126, "w": 2, "l": 30, "k": 3}
    yield from one_warp_too_few()


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
    yield from ({**case, "r": 2} for case in one_warp_too_few())


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
