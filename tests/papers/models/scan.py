"""The prefix sums of n numbers by p threads: docs/algorithms/prefix-sums.md."""

from __future__ import annotations

from models.cost import RULES, Rounds, place, warps


def doubling(on: str, n: int, p: int, w: int, l: int) -> int:
    """The time of the simple way: at step h each word adds the word h before it, if any."""
    rounds, h = Rounds(w), 1
    old, new = place(w, n, n)
    while h < n:
        for first in range(0, n, p):
            words = range(first, first + p)
            before = [old + word - h if word >= h else None for word in words]
            rounds.add(RULES[on], l, warps([old + word for word in words], w))
            rounds.add(RULES[on], l, warps(before, w))
            rounds.add(RULES[on], l, warps([new + word for word in words], w))
        old, new, h = new, old, 2 * h
    return rounds.time


def tree(on: str, n: int, p: int, w: int, l: int) -> int:
    """The time of the optimal way: up a tree and down, where node v has the children 2v and 2v + 1.

    The root is node 1 and the numbers are the nodes n, ..., 2n - 1. On the way up a node reads both
    children and is written. On the way down it is read, with the sum of its right child, and writes
    both children.
    """
    rounds = Rounds(w)
    levels = [2**level for level in range(n.bit_length() - 1)]
    for up, sizes in ((True, reversed(levels)), (False, levels)):
        for k in sizes:
            for first in range(k, 2 * k, p):
                nodes = range(first, min(first + p, 2 * k))
                node = warps(nodes, w)
                left = warps([2 * v for v in nodes], w)
                right = warps([2 * v + 1 for v in nodes], w)
                for access in (left, right, node) if up else (node, right, right, left):
                    rounds.add(RULES[on], l, access)
    return rounds.time


def either(way: str, on: str, n: int, p: int, w: int, l: int) -> int:
    """The time of one of the two ways."""
    return {"doubling": doubling, "tree": tree}[way](on, n, p, w, l)


MODELS = {
    "SCAN-doubling.DMM": doubling,
    "SCAN-doubling.UMM": doubling,
    "SCAN-doubling.O": doubling,
    "SCAN-tree": tree,
    "SCAN-tree.O": tree,
    "SCAN-LB": either,
}
