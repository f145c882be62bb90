"""Claims about counting n values in m bins by atomics; all derived here."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim.claims import Case, Claim, Precondition, ceiling, correct, maximum
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.grids import BOTH, FULL_WARPS, WHOLE_SHARES, exact, machine
from mmsim_algorithms.histogram.programs import by_lanes, histogram, in_place, repeated

SECTION = 1
DERIVED = "HIST, derived here"

REPEATED = Precondition("k <= w", lambda w, k: 1 <= k <= w)
BINS = Precondition("w divides m", lambda w, m: m % w == 0)
SHARES = Precondition("dw divides p", lambda p, w, d: p % (d * w) == 0)


def values(n: int, m: int, skew: int) -> npt.NDArray[Any]:
    """n random values below m; with a larger skew more of them are small."""
    return np.random.RandomState(n + m).permutation(n) * m // n // (1 + skew)


def counts(x: npt.NDArray[Any], m: int) -> npt.NDArray[Any]:
    """Count each number below m."""
    return np.bincount(x, minlength=m)


def counted(
    schedule: mm.Schedule, on: str, x: npt.NDArray[Any], m: int, p: int, w: int, l: int
) -> mm.Run:
    """In place on a DMM or UMM."""
    h = np.zeros(m, int)
    run = machine(on, w, l).run(in_place, x, h, threads=p, schedule=schedule)
    return correct(run, h=counts(x, m))


def counted_repeated(
    schedule: mm.Schedule, on: str, n: int, p: int, w: int, l: int, k: int
) -> mm.Run:
    """In place, k threads of each warp with the same value."""
    return counted(schedule, on, repeated(n, k, w), w, p, w, l)


def counted_any(
    schedule: mm.Schedule, on: str, n: int, p: int, w: int, l: int, m: int, skew: int
) -> mm.Run:
    """In place, random values."""
    return counted(schedule, on, values(n, m, skew), m, p, w, l)


def counted_by_lanes(
    schedule: mm.Schedule, n: int, p: int, w: int, l: int, m: int, skew: int
) -> mm.Run:
    """With a column of bins for each lane on a DMM, random values."""
    x = values(n, m, skew)
    c, h = np.zeros((m, w), int), np.zeros(m, int)
    run = mm.DMM(w, l).run(by_lanes, x, c, h, threads=p, schedule=schedule)
    return correct(run, h=counts(x, m))


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
    m: int,
) -> mm.Run:
    """On an HMM, a block for each DMM, k threads of each warp with the same value."""
    x, h = repeated(n, k, w), np.zeros(m, int)
    run = mm.HMM(d, w, L, l).run(program, x, h, threads=p, block_size=p // d, schedule=schedule)
    return correct(run, h=counts(x, m))


def in_blocks(schedule: mm.Schedule, **case: Any) -> mm.Run:
    """Each block in its shared memory."""
    return on_hmm(histogram, schedule, **case)


def in_global_memory(schedule: mm.Schedule, **case: Any) -> mm.Run:
    """All in the global memory."""
    return on_hmm(in_place, schedule, **case)


def of_repeated(on: str, n: Any, p: Any, w: Any, l: Any, k: Any) -> list[SymbolicLaunch]:
    """The launch of `counted_repeated`."""
    arrays, values = {"x": (n,), "h": (w,)}, {"x": lambda i: i % w // k}
    return [SymbolicLaunch(in_place, arrays, p, machine(on, w, l), contents=values)]


def of_lanes(n: Any, p: Any, w: Any, l: Any, m: Any) -> list[SymbolicLaunch]:
    """The launch of `counted_by_lanes`."""
    return [SymbolicLaunch(by_lanes, {"x": (n,), "c": (m, w), "h": (m,)}, p, mm.DMM(w, l))]


def of_hmm(
    program: mm.Program, n: Any, p: Any, w: Any, d: Any, L: Any, l: Any, k: Any, m: Any
) -> list[SymbolicLaunch]:
    """The launch of `on_hmm`."""
    arrays, values = {"x": (n,), "h": (m,)}, {"x": lambda i: i % w // k}
    block, hmm = exact(p) / d, mm.HMM(d, w, L, l)
    return [SymbolicLaunch(program, arrays, p, hmm, block_size=block, contents=values)]


def repetitions() -> Iterator[Case]:
    """Up to 512 values, 1 to w of a warp's the same."""
    for on, w, l in product(BOTH, (2, 3, 8, 16), (1, 5, 30)):
        for warps, share, k in product((1, 4), (1, 8), sorted({1, 2, (w + 1) // 2, w})):
            p = warps * w
            yield {"on": on, "n": share * p, "p": p, "w": w, "l": l, "k": k}


def random_values(on: tuple[str, ...]) -> Iterator[Case]:
    """Up to 512 values in 1 to 64 bins."""
    for name, w, l in product(on, (2, 3, 8, 16), (1, 30)):
        for warps, share, m, skew in product((1, 4), (1, 8), (w, 4 * w), (0, 2)):
            p = warps * w
            yield {"on": name, "n": share * p, "p": p, "w": w, "l": l, "m": m, "skew": skew}


def multiprocessors() -> Iterator[Case]:
    """Up to 1024 values on 1 to 4 DMMs."""
    for w, d, (L, l) in product((2, 4, 8), (1, 2, 4), ((1, 1), (100, 1), (10, 3))):
        for warps, share, k, m in product((1, 4), (1, 8), (1, w), (w, 4 * w)):
            p = warps * d * w
            hmm = {"p": p, "w": w, "d": d, "L": L, "l": l}
            yield {"n": share * p, **hmm, "k": k, "m": m}


CLAIMS = [
    Claim(
        id="HIST-atomic",
        source=DERIVED,
        title="histogram by atomics, k threads of a warp with the same value, DMM and UMM",
        formula=lambda n, p, w, l, k: (1 + k) * n / w + 2 * (n / p) * (l - 1),
        kind="exact",
        grid=repetitions,
        run=counted_repeated,
        launches=of_repeated,
        requires=(FULL_WARPS, WHOLE_SHARES, REPEATED),
        note="atomics on one address do not merge; the values are adjacent, in "
        "different banks and in one group",
    ),
    Claim(
        id="HIST-atomic.any",
        source=DERIVED,
        title="histogram by atomics, any values, DMM and UMM",
        formula=lambda n, p, w, l: n + n / w + 2 * (n / p) * (l - 1),
        kind="upper",
        grid=lambda: random_values(BOTH),
        run=counted_any,
        requires=(FULL_WARPS, WHOLE_SHARES),
        note="a stage for each value at most, which HIST-atomic takes for k = w",
    ),
    Claim(
        id="HIST-lanes",
        source=DERIVED,
        title="histogram with a column of m bins for each lane, any values, DMM",
        formula=lambda n, p, w, l, m: (
            2 * n / w + m * (w + 1) / w + (2 * n / p + (w + 1) * ceiling(m / p)) * (l - 1)
        ),
        kind="exact",
        grid=lambda: (
            {name: value for name, value in case.items() if name != "on"}
            for case in random_values(("DMM",))
        ),
        run=counted_by_lanes,
        launches=of_lanes,
        requires=(FULL_WARPS, WHOLE_SHARES, BINS),
        note="lane k asks bank k only; the w columns are added along diagonals, w + 1 accesses "
        "for each bin",
    ),
    Claim(
        id="HIST-LB",
        source=DERIVED,
        title="lower bound for a histogram by atomics, DMM and UMM",
        formula=lambda n, p, w, l: maximum(2 * n / w + l - 1, 2 * n * l / p),
        kind="lower",
        grid=lambda: random_values(BOTH),
        run=counted_any,
        requires=(FULL_WARPS, WHOLE_SHARES),
        note="each value is read, and each is counted by an atomic of its own",
    ),
    Claim(
        id="HIST-HMM.global",
        source=DERIVED,
        title="histogram by atomics in the global memory of an HMM",
        formula=lambda n, p, w, L, k: (1 + k) * n / w + 2 * (n / p) * (L - 1),
        kind="exact",
        grid=multiprocessors,
        run=in_global_memory,
        launches=partial(of_hmm, in_place),
        requires=(SHARES, WHOLE_SHARES, REPEATED, BINS),
    ),
    Claim(
        id="HIST-HMM",
        source=DERIVED,
        title="histogram of each block in its shared memory, then of all, HMM",
        formula=lambda n, p, w, d, L, l, k, m: (
            (n / p) * (p / w + L - 1)
            + (n / p) * (k * p / (d * w) + l - 1)
            + (2 + d) * m / w
            + ceiling(m * d / p) * (2 * (l - 1) + L - 1)
        ),
        kind="exact",
        grid=multiprocessors,
        run=in_blocks,
        launches=partial(of_hmm, histogram),
        requires=(SHARES, WHOLE_SHARES, REPEATED, BINS),
        note="the conflicts are served in d shared memories in parallel; each block's bins are "
        "cleared, read, and added to those of all",
    ),
]
