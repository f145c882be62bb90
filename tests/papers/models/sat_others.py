"""The summed area table in one launch, and in one memory: docs/algorithms/summed-area.md."""

from __future__ import annotations

from math import isqrt

from models.cost import RULES, Rounds, atomic_groups, one_of, place, requests, warps
from models.sat import WAYS, global_tiles, rows, shared_lines, through


def bands(n: int, w: int, d: int, L: int, l: int) -> Rounds:
    """One launch: block J goes down column J of tiles, and has its tile s - J at step s.

    It reads the border on its left, which its left neighbour wrote at the step before, and writes
    the border on its right. The sums of the columns stay in registers.
    """
    rounds, s = Rounds(w), isqrt(n)
    m = s // w
    a, b, border = place(w, n, n, s * m)
    for step in range(2 * m - 1):
        tiles = [(step - J, J) for J in range(m) if 0 <= step - J < m]
        global_tiles(rounds, L, a, s, tiles, "global")
        shared_lines(rounds, len(tiles), d, l, rows(w))
        through(rounds, len(tiles), d, l, across=False, writes=True)
        wanted = [border + ((J - 1) * m + I) * w for I, J in tiles if J > 0]
        rounds.add(atomic_groups, L, [range(at, at + w) for at in wanted], "global")
        through(rounds, len(tiles), d, l, across=True, writes=True)
        given = [border + (J * m + I) * w for I, J in tiles if m - J > 1]
        rounds.add(atomic_groups, L, [range(at, at + w) for at in given], "global")
        shared_lines(rounds, len(tiles), d, l, rows(w))
        global_tiles(rounds, L, b, s, tiles, "global")
    return rounds


def trees(on: str, n: int, p: int, w: int, l: int) -> int:
    """The time by trees in one array of 2n words, whose second half is the matrix.

    In rows of s = √n words the array is a tree of rows: a level has the words of the rows k, ...,
    2k - 1. Word by word it is a tree, too: a level has the words k, ..., 2k - 1, from k = s on.
    """
    rounds, s = Rounds(w), isqrt(n)

    def level(words: range, child: int) -> None:
        for first in range(words.start, words.stop, p):
            nodes = range(first, min(first + p, words.stop))
            # the left child of word v lies at 2v, or as far down in row 2(v div s)
            lefts = [2 * (v // child) * child + v % child for v in nodes]
            node, left = warps(nodes, w), warps(lefts, w)
            right = warps([at + child for at in lefts], w)
            for access in (left, right, node, node, right, right, left):
                rounds.add(RULES[on], l, access)

    words = s
    while words < n:
        level(range(words, 2 * words), s)
        level(range(words, 2 * words), 1)
        words *= 2
    return rounds.time


MODELS = {
    "SAT-bands": bands,
    "SAT-bands.requests": requests(bands, "global"),
    "SAT-LB": one_of("way", {**WAYS, "bands": bands}),
    "SAT-trees": trees,
    "SAT-trees.LB": trees,
    "SAT-trees.O": trees,
    "SAT-trees.O.any": trees,
}
