"""The product of s x s matrices, n = s^2: docs/algorithms/product.md."""

from __future__ import annotations

import random
from functools import partial
from math import isqrt

from models.cost import RULES, Rounds, banks, groups, place, warps


def elements(n: int, p: int, first: int, by_rows: bool) -> list[tuple[int, int]]:
    """The elements (i, j) of c that the p threads make at the same time."""
    s = isqrt(n)
    pairs = [divmod(thread, s) for thread in range(first, min(first + p, n))]
    return pairs if by_rows else [(i, j) for j, i in pairs]


def rotated(i: int, j: int, s: int, rotations: list[int]) -> int:
    """The place of word (i, j) where row i is rotated: RAP, and RAW if all rotations are 0."""
    return i * s + (j + rotations[i]) % s


def flat(
    by_rows: bool, on: str, n: int, p: int, w: int, l: int, rotations: list[int] | None = None
) -> int:
    """The time in one memory: for each of s products a read of a and one of b, then a write."""
    rounds, s = Rounds(w), isqrt(n)
    a, b, c = place(w, n, n, n)
    rotations = rotations or [0] * s
    for first in range(0, n, p):
        made = elements(n, p, first, by_rows)
        for k in range(s):
            left = [a + rotated(i, k, s, rotations) for i, _ in made]
            rounds.add(RULES[on], l, warps(left, w))
            rounds.add(RULES[on], l, warps([b + k * s + j for _, j in made], w))
        rounds.add(RULES[on], l, warps([c + rotated(i, j, s, rotations) for i, j in made], w))
    return rounds.time


def permutation(w: int, seed: int) -> list[int]:
    """A random permutation of 0, ..., w - 1. Any has the same time."""
    drawn = list(range(w))
    random.Random(seed).shuffle(drawn)
    return drawn


def columns_rap(n: int, w: int, l: int, seed: int) -> int:
    """The time down the columns of w x w matrices under RAP; a thread for each element."""
    return flat(False, "DMM", n, n, w, l, permutation(w, seed))


def registers(on: str, n: int, w: int, l: int, t: int) -> int:
    """The time with t x t elements for each thread, s/t apart: adjacent threads, adjacent words."""
    rounds, s = Rounds(w), isqrt(n)
    a, b, c = place(w, n, n, n)
    side = s // t
    threads = [divmod(thread, side) for thread in range(side * side)]
    parts = [part * side for part in range(t)]
    for k in range(s):
        for part in parts:
            rounds.add(RULES[on], l, warps([a + (i + part) * s + k for i, _ in threads], w))
        for part in parts:
            rounds.add(RULES[on], l, warps([b + k * s + j + part for _, j in threads], w))
    for row in parts:
        for column in parts:
            words = [c + (i + row) * s + j + column for i, j in threads]
            rounds.add(RULES[on], l, warps(words, w))
    return rounds.time


def hmm_global(n: int, w: int, d: int, L: int, l: int) -> int:
    """The time of the rows in the global memory of an HMM."""
    return flat(True, "UMM", n, n, w, L)


def tiled(n: int, w: int, d: int, L: int, l: int, turned: bool, rap: bool = False) -> int:
    """The time by tiles on an HMM: c = a b, or a b^T (`turned`), the second tile under RAP or RAW.

    A block makes a tile of c. Both programs for a b^T fetch the w rotations, of 0 for RAW, in two
    rounds: a warp reads one for the row that it stores, and all of them for the column that it
    reads.
    """
    rounds, s = Rounds(w), isqrt(n)
    m = s // w
    a, b, c, turns = place(w, n, n, n, w)
    rotations = permutation(w, n) if rap else [0] * w
    tiles = [(I, J) for I in range(m) for J in range(m)]
    span = range(w)

    def fetched(start: int, corners: list[tuple[int, int]]) -> None:
        rows = [start + (I * w + i) * s + J * w for I, J in corners for i in span]
        rounds.add(groups, L, [range(row, row + w) for row in rows])

    def shared(words: list[list[int]], tile: int) -> None:
        dmms: list[list[list[int]]] = [[] for _ in range(d)]
        for block in range(m * m):
            start = (block // d * 2 + tile) * w * w
            dmms[block % d] += [[start + word for word in warp] for warp in words]
        rounds.shared(l, dmms)

    if turned:
        rounds.add(groups, L, [[turns + i] * w for _ in tiles for i in span])
        rounds.add(groups, L, [[turns + j for j in span] for _ in tiles for _ in span])
    plain = [[i * w + j for j in span] for i in span]
    second = [[rotated(i, j, w, rotations) for j in span] for i in span]
    for K in range(m):
        fetched(a, [(I, K) for I, _ in tiles])
        shared(plain, 0)
        fetched(b, [(J, K) if turned else (K, J) for _, J in tiles])
        shared(second, 1)
        for k in span:
            shared([[i * w + k] * w for i in span], 0)
            column = [rotated(j, k, w, rotations) for j in span]
            shared([column if turned else plain[k]] * w, 1)
    fetched(c, tiles)
    return rounds.time


def with_tensor_unit(n: int, w: int, l: int, L: int) -> Rounds:
    """The product on a DMM of latency L with a tensor unit of latency l: √n warps.

    The unit takes a stage for each word that it is sent. For each column J of tiles of c and each K
    all warps read the w rows of the tile (K, J) of b, and warp i reads and sends row i of the tiles
    (., K) of a. Then warp i writes row i of the tiles (., J) of c.
    """
    rounds, s = Rounds(w), isqrt(n)
    a, b, c = place(w, n, n, n)

    def row(start: int, i: int, tile: int) -> range:
        return range(start + i * s + tile * w, start + i * s + (tile + 1) * w)

    for J in range(s // w):
        for K in range(s // w):
            for k in range(K * w, (K + 1) * w):
                rounds.add(banks, L, [row(b, k, J)] * s)
            sent = [row(a, i, K) for i in range(s)]
            rounds.add(banks, L, sent)
            rounds.add(lambda words, w: len(words), l, sent, "call")
        rounds.add(banks, L, [row(c, i, J) for i in range(s)])
    return rounds


def tensor_calls(n: int, w: int, l: int, L: int) -> int:
    """The time of the calls of the tensor unit alone."""
    return with_tensor_unit(n, w, l, L).times["call"]


MODELS = {
    "MATMUL-rows": partial(flat, True),
    "MATMUL-columns": partial(flat, False),
    "MATMUL-columns.RAP": columns_rap,
    "MATMUL-registers": registers,
    "MATMUL-LB": partial(flat, True),
    "MATMUL-HMM.global": hmm_global,
    "MATMUL-HMM.tiled": partial(tiled, turned=False),
    "MATMUL-HMM.O": partial(tiled, turned=False),
    "MATMUL-HMM.RAW": partial(tiled, turned=True),
    "MATMUL-HMM.RAP": partial(tiled, turned=True, rap=True),
    "MATMUL-TCU": with_tensor_unit,
    "MATMUL-TCU.calls": tensor_calls,
}
