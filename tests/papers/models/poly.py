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


def rows(n: int, w: int, l: int) -> int:
    """The time row by row: c of the sides i, ..., j lies at i·n + j, and a thread has a row."""
    return by_diagonals(n, n, w, l, lambda g, i: i * n + i + g)


def diagonals(n: int, p: int, w: int, l: int) -> int:
    """The time in the diagonal arrangement: row g of an n × n matrix holds diagonal g."""
    return by_diagonals(n, p, w, l, lambda g, i: g * n + i)


def eager(n: int, p: int, w: int, l: int) -> int:
    """The time if each sum is added as soon as both its parts are known.

    When diagonal s is known, element (g, i) with s < g <= 2s + 1 has the new sums s and g - 1 - s.
    A thread reads their four words and its element, and writes it. With g = s + 1 the element is
    done, and the thread reads its weight.
    """
    rounds = Rounds(w)
    for s in range(n - 1):
        last = min(2 * s + 1, n - 1)
        elements = [(g, i) for g in range(s + 1, last + 1) for i in range(n - g)]
        for first in range(0, len(elements), p):
            own = elements[first : first + p]
            for words in (
                [(s, i) for g, i in own],
                [(g - 1 - s, i + s + 1) for g, i in own],
                [(g - 1 - s, i) for g, i in own],
                [(s, i + g - s) for g, i in own],
                own,
                [(g, i) if g == s + 1 else None for g, i in own],
                own,
            ):
                at = [None if word is None else word[0] * n + word[1] for word in words]
                rounds.add(groups, l, warps(at, w))
    return rounds.time


def any_program(program: str, n: int, p: int, w: int, l: int) -> int:
    """The time of the program of this name; row by row has n threads."""
    if program == "rows":
        return rows(n, w, l)
    return {"diagonals": diagonals, "eager": eager}[program](n, p, w, l)


MODELS = {
    "POLY-rows": rows,
    "POLY-diagonals.O": diagonals,
    "POLY-eager.O": eager,
    "POLY-LB": any_program,
}
