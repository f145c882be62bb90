"""Optimal polygon triangulation on the UMM: docs/algorithms/triangulation.md.

Element (g, i) is c of the sides i, ..., i + g. It is the least of g sums. Sum m adds the elements
(m, i) and (g - 1 - m, i + m + 1).
"""

from __future__ import annotations

from collections.abc import Callable

from models.cost import Rounds, groups, warps


def by_diagonals(n: int, p: int, w: int, l: int, place: Callable[[int, int], int]) -> int:
    """The time diagonal by diagonal, where element (g, i) lies at place(g, i).

    A thread has an element of the diagonal g. It reads two words of each sum and a weight, and
    writes the element.
    """
    rounds = Rounds(w)
    for g in range(1, n):
        for first in range(0, n - g, p):
            own = range(first, min(first + p, n - g))
            own_words = warps([place(g, i) for i in own], w)
            for m in range(g):
                rounds.add(groups, l, warps([place(m, i) for i in own], w))
                rounds.add(groups, l, warps([place(g - 1 - m, i + m + 1) for i in own], w))
            rounds.add(groups, l, own_words)  # the weight
            rounds.add(groups, l, own_words)  # the element
    return rounds.time


def rows(n: int, w: int, l: int, p: int = 0) -> int:
    """The time row by row, n threads or p: c of the sides i, ..., j lies at i·n + j."""
    return by_diagonals(n, p or n, w, l, lambda g, i: i * n + i + g)


def diagonals(n: int, p: int, w: int, l: int) -> int:
    """The time in the diagonal arrangement: row g of an n × n matrix holds diagonal g."""
    return by_diagonals(n, p, w, l, lambda g, i: g * n + i)


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


def any_program(program: str, n: int, p: int, w: int, l: int) -> int:
    """The time of the program of this name, p threads."""
    return {"rows": rows, "diagonals": diagonals, "eager": eager}[program](n=n, p=p, w=w, l=l)


MODELS = {
    "POLY-rows": rows,
    "POLY-diagonals.O": diagonals,
    "POLY-eager.O": eager,
    "POLY-LB": any_program,
}
