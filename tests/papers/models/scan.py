"""The prefix sums of n numbers by p threads: docs/algorithms/prefix-sums.md."""

from __future__ import annotations

from functools import partial

from models.cost import RULES, Rounds, atomic_groups, banks, groups, one_of, place, requests, warps


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


def nodes(rounds: Rounds, on: str, l: int, wanted: list[list[int]], up: bool) -> None:
    """Add the rounds in which each warp visits these nodes, on the way up or down."""
    left = [[2 * v for v in warp] for warp in wanted]
    right = [[2 * v + 1 for v in warp] for warp in wanted]
    for access in (left, right, wanted) if up else (wanted, right, right, left):
        rounds.add(RULES[on], l, access)


def pieces(n: int, W: int, w: int) -> list[tuple[list[int], int]]:
    """The tree cut in subtrees, from below: (the roots, the leaves of each).

    The lowest have n/W leaves, a warp for each; those above have w, the topmost at most w.

    >>> pieces(32, W=8, w=4)
    [([8, 9, 10, 11, 12, 13, 14, 15], 4), ([2, 3], 4), ([1], 2)]
    """
    cut, roots = [(list(range(W, 2 * W)), n // W)], W
    while roots > 1:
        leaves = min(w, roots)
        roots //= leaves
        cut.append((list(range(roots, 2 * roots)), leaves))
    return cut


def few_barriers(on: str, n: int, p: int, w: int, l: int) -> int:
    """The time of the tree cut in subtrees. A warp goes through a subtree level by level."""
    rounds = Rounds(w)
    cut = pieces(n, p // w, w)
    for up in (True, False):
        for roots, leaves in cut if up else reversed(cut):
            sizes = [2**level for level in range(leaves.bit_length() - 1)]
            for k in reversed(sizes) if up else sizes:
                for first in range(0, k, w):
                    lanes = range(first, min(first + w, k))
                    nodes(
                        rounds, on, l, [[root * k + lane for lane in lanes] for root in roots], up
                    )
    return rounds.time


def barriers(on: str, n: int, p: int, w: int, l: int) -> int:
    """The barriers of the tree cut in subtrees: one between two rows of subtrees, up and down."""
    return 2 * (len(pieces(n, p // w, w)) - 1)


def registers(on: str, n: int, p: int, w: int, l: int, k: int) -> int:
    """The time of the rows in registers: a warp has n/p rows, and reads the sums before it."""
    rounds, rule, W = Rounds(w), RULES[on], p // w
    a, b, sums = place(w, n, n, W)

    def own_rows(start: int) -> None:
        for row in range(n // p):
            firsts = [start + (warp * n // p + row) * w for warp in range(W)]
            rounds.add(rule, l, [range(first, first + w) for first in firsts])

    own_rows(a)
    rounds.add(rule, l, [[sums + warp] for warp in range(W)])
    for first in range(0, W - 1, w):
        before = [range(first, min(first + w, warp)) for warp in range(first + 1, W)]
        rounds.add(rule, l, [[sums + other for other in others] for others in before])
    own_rows(b)
    return rounds.time


def tile_rows(rounds: Rounds, start: int, B: int, r: int, L: int) -> None:
    """Add the rounds in which each of B blocks, a warp each, accesses the r rows of its tile."""
    w = rounds.w
    for row in range(r):
        firsts = [start + (block * r + row) * w for block in range(B)]
        rounds.add(groups, L, [range(first, first + w) for first in firsts])


def three_launches(n: int, w: int, r: int, L: int, written_first: bool) -> Rounds:
    """Scan-then-add, which also writes the words in its first launch, or reduce-then-scan."""
    rounds, B = Rounds(w), n // (r * w)
    a, b, sums = place(w, n, n, B)
    each = [[sums + block] for block in range(B)]
    tile_rows(rounds, a, B, r, L)
    if written_first:
        tile_rows(rounds, b, B, r, L)
    rounds.add(groups, L, each)
    for first in range(0, B, w):
        row = range(sums + first, sums + min(first + w, B))
        rounds.add(groups, L, [row])
        rounds.add(groups, L, [row])
    tile_rows(rounds, b if written_first else a, B, r, L)
    rounds.add(groups, L, each)
    tile_rows(rounds, b, B, r, L)
    return rounds


def look_back(n: int, w: int, r: int, L: int) -> Rounds:
    """One launch: each block looks back at the states of others, an aligned group at a time."""
    rounds, B = Rounds(w), n // (r * w)
    a, b, states = place(w, n, n, B)
    tile_rows(rounds, a, B, r, L)
    rounds.add(atomic_groups, L, [[states + block] for block in range(B)])
    total = {0}  # the blocks with the mark 2
    group = {block: (block - 1) // w for block in range(1, B)}  # those that still look
    while group:
        seen = {block: range(g * w, min(g * w + w, block)) for block, g in group.items()}
        rounds.add(atomic_groups, L, [[states + one for one in ones] for ones in seen.values()])
        done = [block for block, ones in seen.items() if not total.isdisjoint(ones)]
        rounds.add(atomic_groups, L, [[states + block] for block in done])
        total.update(done)
        group = {block: g - 1 for block, g in group.items() if block not in done}
    tile_rows(rounds, b, B, r, L)
    return rounds


def on_hmm(way: str, n: int, w: int, r: int, L: int, d: int, k: int) -> Rounds:
    """A way for the HMM. The shared memories are not used, so that d has no part in it."""
    if way == "look-back":
        return look_back(n, w, r, L)
    return three_launches(n, w, r, L, written_first=way == "scan-then-add")


WAYS = ("look-back", "reduce-then-scan", "scan-then-add")


def with_tensor_unit(n: int, p: int, w: int, l: int, L: int) -> Rounds:
    """The prefix sums with a tensor unit of latency l, on a DMM of latency L.

    Words of the array are numbered from 1, so that word t h has the sum of h words on the way up.
    There the multiples of h are cut in rows of w. On the way down, a row is t h and the w - 1
    multiples of h/w after it. p/w rows are read, sent and written at the same time. A row that is
    cut short is sent with zeros, a stage for each of w words.
    """
    rounds = Rounds(w)

    def level(rows: list[list[int]]) -> None:
        for first in range(0, len(rows), p // w):
            access = [[word - 1 for word in row] for row in rows[first : first + p // w]]
            rounds.add(banks, L, access)
            rounds.add(lambda words, w: w, l, access, "call")
            rounds.add(banks, L, access)

    def up_to_n(words: range) -> list[int]:
        return [word for word in words if word <= n]

    h = 1
    while n // h > 1:
        multiples = up_to_n(range(h, n + 1, h))
        level([multiples[first : first + w] for first in range(0, len(multiples), w)])
        h *= w
    while h > 1:
        rows = [up_to_n(range(t, t + h, h // w)) for t in range(h, n + 1, h)]
        level([row for row in rows if len(row) > 1])
        h //= w
    return rounds


def tensor_calls(n: int, p: int, w: int, l: int, L: int) -> int:
    """The time of the calls of the tensor unit alone."""
    return with_tensor_unit(n, p, w, l, L).times["call"]


def tensor_count(n: int, p: int, w: int, l: int, L: int) -> int:
    """The number of calls: a latency longer by 1 adds 1 to the time of each."""
    apart = [with_tensor_unit(n, p, w, latency, L).times["call"] for latency in (1, 2)]
    return apart[1] - apart[0]


MODELS = {
    "SCAN-doubling.DMM": doubling,
    "SCAN-doubling.UMM": doubling,
    "SCAN-doubling.O": doubling,
    "SCAN-tree": tree,
    "SCAN-tree.O": tree,
    "SCAN-LB": one_of("way", {"doubling": doubling, "tree": tree}),
    "SCAN-async": few_barriers,
    "SCAN-async.O": few_barriers,
    "SCAN-async.barriers": barriers,
    "SCAN-async.barriers.O": barriers,
    "SCAN-registers": registers,
    "SCAN-LB.exchange": one_of("way", {"registers": registers}),
    **{f"SCAN-{way}": partial(on_hmm, way) for way in WAYS},
    **{f"SCAN-{way}.requests": requests(partial(on_hmm, way)) for way in WAYS},
    "SCAN-HMM.LB": on_hmm,
    "SCAN-TCU": with_tensor_unit,
    "SCAN-TCU.O": with_tensor_unit,
    "SCAN-TCU.calls": tensor_calls,
    "SCAN-TCU.calls.O": tensor_calls,
    "SCAN-TCU.depth": tensor_count,
    "SCAN-TCU.square": tensor_count,
}
