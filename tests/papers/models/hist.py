"""Histograms by atomics: docs/algorithms/histogram.md."""

from __future__ import annotations

import random

from models.cost import RULES, Rounds, Rule, atomic_banks, atomic_groups, banks, groups, warps

ATOMIC: dict[str, Rule] = {"DMM": atomic_banks, "UMM": atomic_groups}


def repeated(n: int, w: int, k: int) -> list[int]:
    """The values: those of the first k threads of a warp are 0, of the next k they are 1, ...

    >>> repeated(8, w=4, k=3)
    [0, 0, 0, 1, 0, 0, 0, 1]
    """
    return [i % w // k for i in range(n)]


def skewed(n: int, m: int, skew: int) -> list[int]:
    """Values below m, drawn at random; the larger `skew`, the more of them are small."""
    draws = random.Random(n * m + skew)
    return [int(m * draws.random() ** (1 + skew)) for _ in range(n)]


def counted(on: str, values: list[int], p: int, w: int, l: int) -> int:
    """The time if all threads share the bins: each value is read and counted."""
    rounds, n = Rounds(w), len(values)
    for first in range(0, n, p):
        rounds.add(RULES[on], l, warps(range(first, first + p), w))
        rounds.add(ATOMIC[on], l, warps(values[first : first + p], w))
    return rounds.time


def atomic(on: str, n: int, p: int, w: int, l: int, k: int) -> int:
    """The time with k threads of a warp for a value."""
    return counted(on, repeated(n, w, k), p, w, l)


def atomic_any(on: str, n: int, p: int, w: int, l: int, m: int, skew: int) -> int:
    """The time with any values."""
    return counted(on, skewed(n, m, skew), p, w, l)


def lanes(n: int, p: int, w: int, l: int, m: int, skew: int) -> int:
    """The time with a column of bins for each lane, on the DMM.

    Bin v of lane j lies at v·w + j. In the end a thread adds the words of bin v, from v mod w on.
    """
    rounds, values = Rounds(w), skewed(n, m, skew)
    for first in range(0, n, p):
        own = range(first, first + p)
        rounds.add(banks, l, warps(own, w))
        rounds.add(atomic_banks, l, warps([values[i] * w + i % w for i in own], w))
    for first in range(0, m, p):
        bins = range(first, min(first + p, m))
        for word in range(w):
            rounds.add(banks, l, warps([v * w + (v + word) % w for v in bins], w))
        rounds.add(banks, l, warps(bins, w))
    return rounds.time


def in_global_memory(n: int, p: int, w: int, d: int, L: int, l: int, k: int, m: int) -> int:
    """The time if all threads share the bins in the global memory of an HMM."""
    return counted("UMM", repeated(n, w, k), p, w, L)


def in_blocks(n: int, p: int, w: int, d: int, L: int, l: int, k: int, m: int) -> int:
    """The time with bins for each of d blocks, which are added to those of all in the end."""
    rounds, values, block = Rounds(w), repeated(n, w, k), p // d
    own_bins = [range(first, min(first + block, m)) for first in range(0, m, block)]
    for bins in own_bins:  # clear
        rounds.shared(l, [warps(bins, w)] * d)
    for first in range(0, n, p):
        rounds.add(groups, L, warps(range(first, first + p), w, block))
        asked = [warps(values[b : b + block], w) for b in range(first, first + p, block)]
        rounds.together([(atomic_banks, l, warps_of_dmm) for warps_of_dmm in asked])
    for bins in own_bins:  # add
        rounds.shared(l, [warps(bins, w)] * d)
        rounds.add(atomic_groups, L, warps(bins, w) * d)
    return rounds.time


MODELS = {
    "HIST-atomic": atomic,
    "HIST-atomic.any": atomic_any,
    "HIST-lanes": lanes,
    "HIST-LB": atomic_any,
    "HIST-HMM.global": in_global_memory,
    "HIST-HMM": in_blocks,
}

OPEN = {
    "HIST-atomic.any": "the values are random",
    "HIST-LB": "the values are random",
}
