"""Optimal polygon triangulation on the UMM and the DMM: docs/algorithms/triangulation.md.

Element (g, i) is c of the sides i, ..., i + g. It is the least of g sums. Sum m adds the elements
(m, i) and (g - 1 - m, i + m + 1).
"""

from __future__ import annotations

from collections.abc import Callable

from models.cost import RULES, Rounds, groups, one_of, warps


def by_diagonals(
    n: int, p: int, w: int, l: int, place: Callable[[int, int], int], on: str = "UMM"
) -> int:
    """The time diagonal by diagonal, where element (g, i) lies at place(g, i).

    A thread has an element of the diagonal g. It reads two words of each sum and a weight, and
    writes the element.
    """
    rounds, rule = Rounds(w), RULES[on]
    for g in range(1, n):
        for first in range(0, n - g, p):
            own = range(first, min(first + p, n - g))
            own_words = warps([place(g, i) for i in own], w)
            for m in range(g):
                rounds.add(rule, l, warps([place(m, i) for i in own], w))
                rounds.add(rule, l, warps([place(g - 1 - m, i + m + 1) for i in own], w))
            rounds.add(rule, l, own_words)  # the weight
            rounds.add(rule, l, own_words)  # the element
    return rounds.time


def rows(n: int, w: int, l: int, p: int = 0) -> int:
    """The time row by row, n threads or p: c of the sides i, ..., j lies at i·n + j."""
    return by_diagonals(n, p or n, w, l, lambda g, i: i * n + i + g)


def diagonals(n: int, p: int, w: int, l: int) -> int:
    """The time in the diagonal arrangement: row g of an n × n matrix holds diagonal g."""
    return by_diagonals(n, p, w, l, lambda g, i: g * n + i)


def on_dmm(n: int, w: int, l: int) -> int:
    """The time in the diagonal arrangement on the DMM, n threads."""
    return by_diagonals(n, n, w, l, lambda g, i: g * n + i, "DMM")


def eager(n: int, p: int, w: int, l: int) -> int:
    """The time if each sum is added as soon as both its parts are known.

    When diagonal s is known, the threads take the words of rows s + 1, ..., 2s + 1 in this order, n
    words for each row. Those beyond the n - g elements of diagonal g are idle.
    """
    rounds = Rounds(w)
    for s in range(n - 1):
        words = range((s + 1) * n, min(2 * s + 2, n) * n)
        for first in range(0, len(words), p):
            own = [accesses(word, s, n) for word in words[first : first + p]]
            for addresses in zip(*own, strict=True):
                rounds.add(groups, l, warps(addresses, w))
    return rounds.time


def accesses(word: int, s: int, n: int) -> list[int | None]:
    """The accesses to element (g, i), when diagonal s < g is known: its sums s and g - 1 - s.

    These are the same sum if g = 2s + 1. The thread reads the two words of each, its element, and
    in the end, g = s + 1, its weight; and it writes its element.

    >>> accesses(4 * 8, s=2, n=8)  # a[2, 0] + a[1, 3] and a[1, 0] + a[2, 2]
    [16, 11, 8, 18, 32, None, 32]
    """
    g, i = divmod(word, n)
    if i >= n - g:
        return [None] * 7
    m = g - 1 - s
    new = [s * n + i, m * n + i + s + 1]
    new += [None, None] if m == s else [m * n + i, s * n + i + m + 1]
    return [*new, word, word if m == 0 else None, word]


def pipeline(on: str, n: int, p: int, w: int, l: int) -> Rounds:
    """A pipeline of p threads, of which floor(n/2) work: diagonal after diagonal without gaps.

    At a step thread j works on the j-th element after the one that thread 0 finishes. It takes the
    sums j and g - 1 - j, which are the same if g = 2j + 1.
    """
    rounds, rule = Rounds(w), RULES[on]
    order = [(g, i) for g in range(1, n) for i in range(n - g)]
    for step in range(len(order)):
        own: list[list[int | None]] = [[None] * 7 for _ in range(p)]
        for j, (g, i) in enumerate(order[step : step + p]):
            if g > 2 * j:
                own[j] = visited(g, i, j, n)
        for addresses in zip(*own, strict=True):
            rounds.add(rule, l, warps(addresses, w))
    return rounds


def packed(g: int, i: int, n: int) -> int:
    """The address of element (g, i) where the diagonals of n, n - 1, ... words lie without gaps."""
    return g * (2 * n - g + 1) // 2 + i


def visited(g: int, i: int, j: int, n: int) -> list[int | None]:
    """The accesses of thread j to element (g, i): two words of each sum, the element, the weight.

    Only thread 0, which finishes the element, reads its weight. The last access writes the element.

    >>> visited(5, 0, 1, n=8), visited(1, 4, 0, n=8)
    ([8, 23, 21, 12, 30, None, 30], [4, 5, None, None, 12, 12, 12])
    """
    m, word = g - 1 - j, packed(g, i, n)
    sums: list[int | None] = [packed(j, i, n), packed(m, i + j + 1, n)]
    sums += [None, None] if m == j else [packed(m, i, n), packed(j, i + m + 1, n)]
    return [*sums, word, word if j == 0 else None, word]


def pipeline_rounds(on: str, n: int, p: int, w: int, l: int) -> int:
    """The rounds of the pipeline: each takes its stages and l - 1."""
    longer = pipeline(on, n, p, w, l + 1)
    return longer.time - pipeline(on, n, p, w, l).time


MODELS = {
    "POLY-rows": rows,
    "POLY-diagonals": on_dmm,
    "POLY-diagonals.O": diagonals,
    "POLY-eager.O": eager,
    "POLY-pipeline.O": pipeline,
    "POLY-pipeline.rounds": pipeline_rounds,
    "POLY-LB": one_of("program", {"rows": rows, "diagonals": diagonals, "eager": eager}),
}
