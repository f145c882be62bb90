"""The stencil of five points on a torus of s × s words: docs/algorithms/stencil.md."""

from __future__ import annotations

from models.cost import RULES, Rounds, groups, one_of, warps

NEIGHBOURS = [(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)]
"""The words that are read: the word itself, above, below, on the left, on the right."""


def sums(on: str, elements: list[tuple[int, int]], s: int, p: int, w: int, l: int) -> int:
    """The time of p threads that take the words (row, column) in this order, p at a time."""
    rounds = Rounds(w)
    for first in range(0, len(elements), p):
        own = elements[first : first + p]
        for down, right in [*NEIGHBOURS, (0, 0)]:  # at last the result is written
            words = [(row + down) % s * s + (column + right) % s for row, column in own]
            rounds.add(RULES[on], l, warps(words, w))
    return rounds.time


def by_rows(on: str, n: int, p: int, w: int, l: int) -> int:
    """The time of warps along a row."""
    s = round(n**0.5)
    return sums(on, [divmod(e, s) for e in range(n)], s, p, w, l)


def by_columns(on: str, n: int, p: int, w: int, l: int) -> int:
    """The time of warps down a column."""
    s = round(n**0.5)
    return sums(on, [(e % s, e // s) for e in range(n)], s, p, w, l)


def in_global_memory(n: int, w: int, d: int, L: int, l: int, r: int) -> int:
    """The time by rows in the global memory of an HMM, n/r threads."""
    return by_rows("UMM", n, n // r, w, L)


def bands(n: int, w: int, d: int, L: int, l: int, r: int) -> int:
    """The time of blocks of s threads, each with r rows and the rows above and below."""
    rounds, s = Rounds(w), round(n**0.5)
    blocks = range(s // r)

    def globally(row: int) -> None:
        """Add a round: each block accesses a row, numbered from the first that it computes."""
        first_words = [(block * r + row) % s * s for block in blocks]
        asked = [warp for first in first_words for warp in warps(range(first, first + s), w)]
        rounds.add(groups, L, asked)

    def shared(row: int, right: int = 0) -> None:
        """Add a round of the shared memories, which hold r + 2 rows, the one above first."""
        asked = warps([(row + 1) * s + (column + right) % s for column in range(s)], w)
        rounds.shared(l, [asked * (len(blocks) // d)] * d)

    for row in range(-1, r + 1):
        globally(row)
        shared(row)
    for row in range(r):
        for down, right in NEIGHBOURS:
            shared(row + down, right)
        globally(row)
    return rounds.time


MODELS = {
    "STENCIL-rows.DMM": by_rows,
    "STENCIL-rows.UMM": by_rows,
    "STENCIL-columns": by_columns,
    "STENCIL-LB": one_of("order", {"rows": by_rows, "columns": by_columns}),
    "STENCIL-HMM.global": in_global_memory,
    "STENCIL-HMM.bands": bands,
    "STENCIL-HMM.LB": bands,
}
