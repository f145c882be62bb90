"""Claims about a sparse n x n matrix times a vector, k nonzero words a row; derived here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim.claims import Case, Claim, Precondition, correct, gcd, maximum, minimum
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.grids import (
    BINARY_WIDTH,
    BOTH,
    FULL_WARPS,
    TWO_LANES,
    WHOLE_SHARES,
    exact,
    machine,
    power_of_two,
)
from mmsim_algorithms.sparse.programs import (
    compressed,
    ell,
    ell_shared,
    grouped,
    row_of_thread,
    row_of_warp,
    scattered,
    times,
    values,
)

SECTION = 1
DERIVED = "SPMV, derived here"

SHORT = Precondition("k <= n", lambda n, k: k <= n)
WHOLE_ROWS = Precondition("w divides k and n", lambda n, w, k: k % w == n % w == 0)
WARPS = Precondition("p/w divides n", lambda n, p, w: p % w == 0 == n * w % p)
EXCHANGE = Precondition(
    "w is a power of two by warps", lambda way, w: way != "warps" or power_of_two(w)
)
WIDE = Precondition("w^2 divides n", lambda n, w: n % (w * w) == 0)
SHARES = Precondition("dw divides p", lambda p, w, d: p % (d * w) == 0)
GROUPED = Precondition(
    "rows iw to iw + w - 1 have the same k consecutive columns, from iw on (modulo n)",
    lambda n, w, k: is_grouped(grouped(n, k, w), w),
)
SCATTERED = Precondition(
    "the t-th columns of rows iw to iw + w - 1 are in w groups and in w banks",
    lambda n, w, k: is_scattered(scattered(n, k, w), w),
)


def is_grouped(columns: npt.NDArray[Any], w: int) -> bool:
    """Return whether each w rows have the same consecutive columns, from the first row's number on.

    >>> is_grouped(np.array([[0, 1], [0, 1], [2, 0], [2, 0]]), 2)
    False
    """
    n, k = columns.shape
    return all(
        columns[row].tolist() == [(row // w * w + place) % n for place in range(k)]
        for row in range(n)
    )


def is_scattered(columns: npt.NDArray[Any], w: int) -> bool:
    """Return whether the t-th columns of each w rows are in w groups and w banks.

    >>> is_scattered(np.array([[0], [3]]), 2), is_scattered(np.array([[0], [2]]), 2)
    (True, False)
    """
    warps = columns.reshape(-1, w, columns.shape[1])
    return all(
        len(set(asked.tolist())) == w
        for warp in warps
        for column in warp.T
        for asked in (column // w, column % w)
    )


def by_threads(schedule: mm.Schedule, on: str, n: int, p: int, w: int, l: int, k: int) -> mm.Run:
    """Compressed rows, a thread for each row; `grouped` columns."""
    c = grouped(n, k, w)
    words, x = values(n, k)
    run = machine(on, w, l).run(
        *(row_of_thread, *compressed(c, words), x, np.zeros(n, int)), threads=p, schedule=schedule
    )
    return correct(run, y=times(c, words, x))


def by_warps(schedule: mm.Schedule, on: str, n: int, p: int, w: int, l: int, k: int) -> mm.Run:
    """Compressed rows, a warp for each row; `grouped` columns."""
    c = grouped(n, k, w)
    words, x = values(n, k)
    run = machine(on, w, l).run(
        *(row_of_warp, *compressed(c, words), x, np.zeros(n, int), w),
        threads=p,
        schedule=schedule,
    )
    return correct(run, y=times(c, words, x))


def by_columns(schedule: mm.Schedule, on: str, n: int, p: int, w: int, l: int, k: int) -> mm.Run:
    """ELLPACK; `grouped` columns."""
    c = grouped(n, k, w)
    words, x = values(n, k)
    run = machine(on, w, l).run(
        *(ell, c.T.copy(), words.T.copy(), x, np.zeros(n, int)), threads=p, schedule=schedule
    )
    return correct(run, y=times(c, words, x))


def on_hmm(
    program: mm.Program,
    schedule: mm.Schedule,
    n: int,
    p: int,
    w: int,
    d: int,
    L: int,
    l: int,
    k: int,
) -> mm.Run:
    """ELLPACK on an HMM, a block for each DMM; `scattered` columns."""
    c: npt.NDArray[Any] = scattered(n, k, w)
    words, x = values(n, k)
    run = mm.HMM(d, w, L, l).run(
        *(program, c.T.copy(), words.T.copy(), x, np.zeros(n, int)),
        threads=p,
        block_size=p // d,
        schedule=schedule,
    )
    return correct(run, y=times(c, words, x))


def of_rows(
    program: mm.Program, on: str, n: Any, p: Any, w: Any, l: Any, k: Any
) -> list[SymbolicLaunch]:
    """The launch of `by_threads` and of `by_warps`."""
    arguments = {"r": (n + 1,), "c": (n * k,), "v": (n * k,), "x": (n,), "y": (n,)}
    if program is row_of_warp:
        arguments["w"] = w
    values: dict[str, Callable[..., Any]] = {
        "r": lambda i: i * k,
        "c": lambda e: (e // k // w * w + e % k) % n,
    }
    return [SymbolicLaunch(program, arguments, p, machine(on, w, l), contents=values)]


def of_columns(on: str, n: Any, p: Any, w: Any, l: Any, k: Any) -> list[SymbolicLaunch]:
    """The launch of `by_columns`."""
    arrays = {"c": (k, n), "v": (k, n), "x": (n,), "y": (n,)}
    values = {"c": lambda t, i: (i // w * w + t) % n}
    return [SymbolicLaunch(ell, arrays, p, machine(on, w, l), contents=values)]


def of_hmm(
    program: mm.Program, n: Any, p: Any, w: Any, d: Any, L: Any, l: Any, k: Any
) -> list[SymbolicLaunch]:
    """The launch of `on_hmm`."""
    arrays = {"c": (k, n), "v": (k, n), "x": (n,), "y": (n,)}
    values = {"c": lambda t, i: (i % w * (w + 1) + (i // w + t) * w) % n}
    block, hmm = exact(p) / d, mm.HMM(d, w, L, l)
    return [SymbolicLaunch(program, arrays, p, hmm, block_size=block, contents=values)]


WAYS: dict[str, Callable[..., mm.Run]] = {
    "threads": by_threads,
    "warps": by_warps,
    "columns": by_columns,
}


def any_way(schedule: mm.Schedule, way: str, **case: Any) -> mm.Run:
    """One of `WAYS`."""
    return WAYS[way](schedule, **case)


def matrices(on: tuple[str, ...]) -> Iterator[Case]:
    """Up to 128 rows with 1 to 40 nonzero words, a thread for each row or less."""
    for name, w, m, l in product(on, (2, 3, 8, 16), (1, 8), (1, 30)):
        n = w * m
        for p, k in product(sorted({w, n}), (1, 3, 8, 12, 40)):
            if k <= n:
                yield {"on": name, "n": n, "p": p, "w": w, "l": l, "k": k}


def small() -> Iterator[Case]:
    """The cases with 16 rows at most."""
    return (case for case in matrices(BOTH) if case["n"] <= 16)


def whole_rows() -> Iterator[Case]:
    """Up to 64 rows with w to 4w nonzero words, a warp for each row or less."""
    for on, w, m, l in product(BOTH, (2, 4, 8, 16), (1, 4), (1, 30)):
        for p, k in product(sorted({w, m * w}), (w, 4 * w)):
            if k <= m * w and (m > 1 or p == m * w):
                yield {"on": on, "n": m * w, "p": p, "w": w, "l": l, "k": k}


def multiprocessors() -> Iterator[Case]:
    """Up to 256 rows on 1 to 4 DMMs."""
    for w, m, d, k in product((2, 4, 8), (1, 4), (1, 2, 4), (1, 5)):
        n = m * w * w
        for p, (L, l) in product(sorted({d * w, n}), ((1, 1), (100, 1), (10, 3))):
            if n % p == 0 and p % (d * w) == 0:
                yield {"n": n, "p": p, "w": w, "d": d, "L": L, "l": l, "k": k}


CLAIMS = [
    Claim(
        id="SPMV-threads.DMM",
        source=DERIVED,
        title="sparse matrix in compressed rows, a thread for each row, DMM",
        formula=lambda n, p, w, l, k: (
            (n / w) * (3 + k * (1 + 2 * gcd(k, w))) + 3 * (1 + k) * (n / p) * (l - 1)
        ),
        kind="exact",
        grid=lambda: matrices(("DMM",)),
        run=by_threads,
        launches=partial(of_rows, row_of_thread),
        requires=(FULL_WARPS, WHOLE_SHARES, SHORT, GROUPED),
        note="a warp's columns, and its nonzero words, lie k apart; its word of x is one",
    ),
    Claim(
        id="SPMV-threads.UMM",
        source=DERIVED,
        title="sparse matrix in compressed rows, a thread for each row, UMM",
        formula=lambda n, p, w, l, k: (
            (n / w) * (4 + k * (1 + 2 * minimum(k, w))) + 3 * (1 + k) * (n / p) * (l - 1)
        ),
        kind="exact",
        grid=lambda: matrices(("UMM",)),
        run=by_threads,
        launches=partial(of_rows, row_of_thread),
        requires=(FULL_WARPS, WHOLE_SHARES, SHORT, TWO_LANES, GROUPED),
        note="words that lie k apart are in k groups, or each in its own; the ends of a warp's "
        "rows are in two",
    ),
    Claim(
        id="SPMV-warps",
        source=DERIVED,
        title="sparse matrix in compressed rows, a warp for each row, DMM and UMM",
        formula=lambda n, p, w, l, k: 3 * n * (1 + k / w) * (1 + (w / p) * (l - 1)),
        kind="exact",
        grid=whole_rows,
        run=by_warps,
        launches=partial(of_rows, row_of_warp),
        requires=(FULL_WARPS, WARPS, WHOLE_ROWS, BINARY_WIDTH, SHORT, GROUPED),
        note="columns, nonzero words and words of x are w adjacent words each; the sums of the "
        "lanes are added by exchange, which is free",
    ),
    Claim(
        id="SPMV-ell",
        source=DERIVED,
        title="sparse matrix in ELLPACK, DMM and UMM",
        formula=lambda n, p, w, l, k: (3 * k + 1) * (n / p) * (p / w + l - 1),
        kind="exact",
        grid=lambda: matrices(BOTH),
        run=by_columns,
        launches=of_columns,
        requires=(FULL_WARPS, WHOLE_SHARES, SHORT, GROUPED),
        note="each access is to w adjacent words, or to one",
    ),
    Claim(
        id="SPMV-LB",
        source=DERIVED,
        title="lower bound for a sparse matrix times a vector, DMM and UMM",
        formula=lambda n, p, w, l, k: maximum((2 * k + 1) * n / w + l - 1, (2 * k + 1) * n * l / p),
        kind="lower",
        grid=lambda: (
            *({"way": way, **case} for way in ("threads", "columns") for case in small()),
            *({"way": "warps", **case} for case in whole_rows() if case["n"] <= 16),
        ),
        run=any_way,
        requires=(FULL_WARPS, SHORT, EXCHANGE),
        note="the kn columns and the kn nonzero words are read, n words are written",
    ),
    Claim(
        id="SPMV-HMM.global",
        source=DERIVED,
        title="sparse matrix in ELLPACK, words of x in different groups, global memory of an HMM",
        formula=lambda n, p, w, L, k: (2 * k + 1) * n / w + k * n + (3 * k + 1) * (n / p) * (L - 1),
        kind="exact",
        grid=multiprocessors,
        run=partial(on_hmm, ell),
        launches=partial(of_hmm, ell),
        requires=(WIDE, WHOLE_SHARES, SHARES, SCATTERED),
        note="the columns of w rows are in w groups, and in w banks: each word of x is a stage",
    ),
    Claim(
        id="SPMV-HMM.shared",
        source=DERIVED,
        title="the same with a copy of x in each shared memory",
        formula=lambda n, p, w, d, L, l, k: (
            (2 * k + 1 + d) * (n / p) * (p / w + L - 1) + (d + k) * (n / p) * (p / (d * w) + l - 1)
        ),
        kind="exact",
        grid=multiprocessors,
        run=partial(on_hmm, ell_shared),
        launches=partial(of_hmm, ell_shared),
        requires=(WIDE, WHOLE_SHARES, SHARES, SCATTERED),
        note="x is fetched d times, dn/w stages, and then each request for it has one stage",
    ),
]
