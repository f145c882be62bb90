"""Claims about the direct convolution."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Claim, Precondition, ceiling, correct, log2, maximum
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.convolution.programs import direct, in_shared_memory, sequences
from mmsim_algorithms.grids import (
    FAST,
    FULL_WARPS,
    WHOLE_SHARES,
    exact,
    machine,
    power_of_two,
    powers,
)

SECTION = 1
PAPER = "CONV, IPDPSW 2013"
DERIVED = "CONV, derived here"

ROWS = Precondition(
    "w >= 2 divides m; dw divides n", lambda n, m, w, d: m % w == n % (d * w) == 0 < w - 1
)
THREADS = Precondition(
    "dkw divides p, and p/k divides n", lambda n, p, w, d, k: p % (d * k * w) == k * n % p == 0
)
TREE = Precondition("k is a power of two; k divides m", lambda m, k: power_of_two(k) and m % k == 0)
SHORT = Precondition("md <= n and d^2 <= n", lambda n, m, d: m * d <= n and d * d <= n)
MOST = Precondition("k = 1, or p = kn", lambda n, p, k: k == 1 or p == k * n)
REQUIRES = (ROWS, THREADS, TREE)


def convolved(schedule: mm.Schedule, on: str, n: int, m: int, p: int, w: int, l: int) -> mm.Run:
    """The convolution on a DMM or a UMM, checked."""
    a, b = sequences(m, n)
    run = machine(on, w, l).run(direct, a, b, np.zeros(n, int), threads=p, schedule=schedule)
    return correct(run, c=np.convolve(a, b, "valid"))


def on_hmm(
    schedule: mm.Schedule, n: int, m: int, p: int, w: int, d: int, k: int, L: int, l: int
) -> mm.Run:
    """The convolution on an HMM, a block for each DMM, checked."""
    a, b = sequences(m, n)
    run = mm.HMM(d, w, L, l).run(
        *(in_shared_memory, a, b, np.zeros(n, int), k),
        threads=p,
        block_size=p // d,
        schedule=schedule,
    )
    return correct(run, c=np.convolve(a, b, "valid"))


def convolving(on: str, n: Any, m: Any, p: Any, w: Any, l: Any) -> list[SymbolicLaunch]:
    """The launch of `convolved`."""
    sizes = {"a": (m,), "b": (m + n - 1,), "c": (n,)}
    return [SymbolicLaunch(direct, sizes, threads=p, machine=machine(on, w, l))]


def in_blocks(
    n: Any, m: Any, p: Any, w: Any, d: Any, k: Any, L: Any, l: Any
) -> list[SymbolicLaunch]:
    """The launch of `on_hmm`."""
    sizes = {"a": (m,), "b": (m + n - 1,), "c": (n,), "k": k}
    return [SymbolicLaunch(in_shared_memory, sizes, p, mm.HMM(d, w, L, l), exact(p) / d)]


def flat(*on: str) -> Iterator[Case]:
    """A thread for each word of c, or fewer; m below, at and above w."""
    for name, w, l in product(on, (2, 3, 4, 8, 32), (1, 30)):
        for m, warps, share in product((1, w, 2 * w + 1), (1, 3), (1, 4)):
            sizes = {"n": warps * w * share, "m": m, "p": warps * w}
            yield {"on": name, **sizes, "w": w, "l": l}


def multiprocessors(*latencies: tuple[int, int]) -> Iterator[Case]:
    """1 to 4 DMMs, up to w threads for each word of c."""
    for w, d, (L, l) in product((2, 4, 12), (1, 4), latencies):
        for m, k, warps, share in product((w, 3 * w), (1, 4), (1, 3), (1, 4)):
            p = d * k * w * warps
            if m % k == 0 and (k == 1 or share == 1):
                sizes = {"n": p // k * share, "m": m, "p": p}
                yield {**sizes, "w": w, "d": d, "k": k, "L": L, "l": l}


def more_words() -> Iterator[Case]:
    """Up to 2^9 words of c and 64 of a, l = 1; up to four threads for a word."""
    for w, (d, L), m in product((2, 4), ((1, 1), (4, 100)), powers(4, 64)):
        for n in powers(32, 512):
            for p, k in ((n // 2, 1), (4 * n, 4)):
                if m * d <= n:
                    yield {"n": n, "m": m, "p": p, "w": w, "d": d, "k": k, "L": L, "l": 1}


def a_thread_for_each_product() -> Iterator[Case]:
    """k = m threads for each word of c, whose trees then take longer than the products."""
    for m in (8, 16, 32):
        yield {"n": 128, "m": m, "p": 128 * m, "w": 4, "d": 1, "k": m, "L": 1, "l": 1}


def _time(n: Any, m: Any, p: Any, w: Any, d: Any, k: Any, L: Any, l: Any) -> Any:
    fetched = ceiling(m * d / p) + ceiling((n + d * m - d) / p)
    return (
        2 * (n + d * m) / w
        + (fetched + n * k / p) * (L - 1)
        + (n / d + 2 * m) / w
        + fetched * (l - 1)
        + 2 * m * n / (d * w)
        + 2 * m * n / p * (l - 1)
        + n / (d * w) * (3 * (k - 1) - log2(k))
        + 2 * n * k / p * log2(k) * (l - 1)
    )


def _claims() -> Iterator[Claim]:
    yield Claim(
        id="CONV-direct.DMM",
        source=DERIVED,
        title="direct convolution of m and m + n - 1 words, DMM",
        formula=lambda n, m, p, w, l: (2 * m + 1) * (p / w + l - 1) * n / p,
        kind="exact",
        grid=partial(flat, "DMM"),
        run=convolved,
        launches=convolving,
        requires=(FULL_WARPS, WHOLE_SHARES),
        note="2m reads for each of n words, and a write",
    )
    yield Claim(
        id="CONV-direct.UMM",
        source=DERIVED,
        title="direct convolution of m and m + n - 1 words, UMM",
        formula=lambda n, m, p, w, l: (
            (3 * m + 1 - ceiling(m / w)) * n / w + (2 * m + 1) * (l - 1) * n / p
        ),
        kind="exact",
        grid=partial(flat, "UMM"),
        run=convolved,
        launches=convolving,
        requires=(FULL_WARPS, WHOLE_SHARES),
        note="the naive way on an HMM: all of it in the global memory, where w adjacent "
        "words are in two groups except for every w-th product",
    )
    yield Claim(
        id="CONV-HMM",
        source=DERIVED,
        title="direct convolution on an HMM, k threads for each word of c",
        formula=_time,
        kind="exact",
        grid=lambda: multiprocessors((100, 1), (10, 3)),
        run=on_hmm,
        launches=in_blocks,
        requires=REQUIRES,
        note="each DMM fetches a and n/d + m - 1 words of b; then 2m reads for each word of c, and "
        "a tree of the k sums",
    )
    yield Claim(
        id="CONV-HMM.O",
        source=PAPER,
        title="direct convolution on an HMM, shared latency 1",
        formula=lambda n, m, p, w, d, L: n / w + m * n / (d * w) + n * L / p + L + ceiling(log2(m)),
        kind="upper",
        constant=5,
        grid=lambda: (*more_words(), *a_thread_for_each_product()),
        run=on_hmm,
        requires=(*REQUIRES, SHORT, MOST, FAST),
        note="k = 1 for p <= n. Fetching a takes dm/w stages, no more than mn/(dw) for d^2 <= n, "
        "and its rounds no more than nL/p + L for md <= n. With k = 1 four is enough. With k = m "
        "and d = 1 the trees add less than 3mn/w to the 2mn/w of the products: the ratio tends to "
        "5 as m and n grow",
    )
    yield Claim(
        id="CONV-LB",
        source=PAPER,
        title="lower bound: all words are read, n are written",
        formula=lambda n, m, p, w, L: maximum(
            (2 * (n + m) - 1) / w + L - 1, (2 * (n + m) - 1) * L / p
        ),
        kind="lower",
        grid=lambda: multiprocessors((100, 1)),
        run=on_hmm,
        requires=REQUIRES,
        note="mn/(dw) is a bound for programs that read two words for each product; with several "
        "words of c in registers fewer do",
    )


CLAIMS = list(_claims())
