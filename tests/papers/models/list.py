"""Lists in fragments on the UMM: docs/algorithms/fragments.md."""

from __future__ import annotations

import random as randomness
from itertools import pairwise

from models.cost import Rounds, groups, one_of, warps


def equal_fragments(n: int, f: int, w: int) -> list[int]:
    """The address of each word of the list, in fragments of n/f words.

    Each fragment begins at a multiple of w. They lie in memory in reverse order.

    >>> equal_fragments(6, 2, w=4)
    [4, 5, 6, 0, 1, 2]
    """
    length = n // f
    room = -(-length // w) * w
    return [(f - 1 - word // length) * room + word % length for word in range(n)]


def any_fragments(n: int, f: int, w: int) -> list[int]:
    """The address of each word: fragments of random lengths, in random order, with random gaps."""
    draws = randomness.Random(n + f)
    ends = [0, *sorted(draws.sample(range(1, n), f - 1)), n]
    words = [(fragment, word) for fragment, word in pairwise(ends)]
    starts, free = [0] * f, 0
    for fragment in draws.sample(range(f), f):
        starts[fragment] = free + draws.randint(0, 2 * w)
        free = starts[fragment] + ends[fragment + 1] - ends[fragment]
    return [
        start + word
        for start, (first, end) in zip(starts, words, strict=True)
        for word in range(end - first)
    ]


def positions(n: int, p: int, w: int, l: int, f: int, random: bool = False) -> int:
    """The time by positions: a thread reads a displacement and a word of the list, and writes it.

    The word lies at its position and displacement, added.
    """
    rounds = Rounds(w)
    address = any_fragments(n, f, w) if random else equal_fragments(n, f, w)
    for first in range(0, n, p):
        own = range(first, min(first + p, n))
        for addresses in (own, address[first : first + p], own):
            rounds.add(groups, l, warps(addresses, w))
    return rounds.time


def fragments(n: int, w: int, l: int, f: int, p: int = 0) -> int:
    """The time of a thread for each fragment; p has no part in it.

    It reads at which position of the list its fragment begins, and the next one, and where its
    fragment lies. Then it copies word after word.
    """
    rounds, length = Rounds(w), n // f
    address = equal_fragments(n, f, w)
    for table in (range(f), range(1, f + 1), range(f)):
        rounds.add(groups, l, warps(table, w))
    for word in range(length):
        own = range(word, n, length)
        rounds.add(groups, l, warps([address[position] for position in own], w))
        rounds.add(groups, l, warps(own, w))
    return rounds.time


MODELS = {
    "LIST-positions": positions,
    "LIST-positions.O": positions,
    "LIST-fragments": fragments,
    "LIST-LB": one_of("program", {"positions": positions, "fragments": fragments}),
}

OPEN = {"LIST-positions.O": "the lengths and places of the fragments are random"}
