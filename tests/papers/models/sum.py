"""The sum of n numbers by p threads: docs/algorithms/sum.md."""

from __future__ import annotations

from models.cost import RULES, Rounds, groups, one_of, place, stages, warps


def strided(on: str, n: int, p: int, w: int, l: int) -> int:
    """The time of a tree of neighbours: pairs of words h apart, 2h from pair to pair."""
    rounds, h = Rounds(w), 1
    while h < n:
        for first in range(0, n // (2 * h), p):
            pairs = range(first, min(first + p, n // (2 * h)))
            left = warps([2 * h * pair for pair in pairs], w)
            right = warps([2 * h * pair + h for pair in pairs], w)
            for access in (left, right, left):
                rounds.add(RULES[on], l, access)
        h *= 2
    return rounds.time


def tree(on: str, n: int, p: int, w: int, l: int) -> int:
    """The time of a tree of halves: the second half of 2h words is added to the first."""
    rounds, h = Rounds(w), n // 2
    while h:
        for first in range(0, h, p):
            pairs = range(first, min(first + p, h))
            left = warps(pairs, w)
            for access in (left, warps([pair + h for pair in pairs], w), left):
                rounds.add(RULES[on], l, access)
        h //= 2
    return rounds.time


def halves(words: int) -> list[tuple[int, int]]:
    """The steps of a tree of sums in registers: (the distance, the threads that add).

    >>> halves(8), halves(5)
    ([(4, 4), (2, 2), (1, 1)], [(3, 2), (2, 1), (1, 1)])
    """
    steps = []
    while words > 1:
        distance = (words + 1) // 2
        steps.append((distance, words - distance))
        words = distance
    return steps


def by_columns(on: str, n: int, p: int, w: int, l: int) -> Rounds:
    """The sum by columns: n/p reads, a write of p sums, and a tree of them."""
    rounds = Rounds(w)
    a, sums = place(w, n, p)
    for first in range(0, n, p):
        rounds.add(RULES[on], l, warps(range(a + first, a + first + p), w))
    rounds.add(RULES[on], l, warps(range(sums, sums + p), w))
    for distance, threads in halves(p):
        other = range(sums + distance, sums + distance + threads)
        rounds.add(RULES[on], l, warps(other, w))
        rounds.add(RULES[on], l, warps(range(sums, sums + threads), w))
    return rounds


def columns_barriers(on: str, n: int, p: int, w: int, l: int) -> int:
    """The barriers of the sum by columns: one before each step of the tree."""
    return len(halves(p))


def few_barriers(on: str, n: int, w: int, l: int) -> tuple[int, int]:
    """The time and the barriers of the sum by warps, with wl threads.

    Each warp adds its w words in a place of its own and writes its sum to a row of the warps' sums.
    After a barrier as many warps as are needed read that row, and so on; two rows take turns. The
    last of them may read fewer than w words. It adds w all the same, with zeros for the others.
    """
    rounds, barriers, p, rule = Rounds(w), 0, w * l, RULES[on]
    a, own, *rows = place(w, n, p, l, l)
    for first in range(0, n, p):
        rounds.add(rule, l, warps(range(a + first, a + first + p), w))
    words = p
    while True:
        starts = range(own, own + words, w)
        rounds.add(rule, l, [range(start, start + w) for start in starts])
        h = w // 2
        while h:
            lanes = [range(start, start + h) for start in starts]
            rounds.add(rule, l, [[word + h for word in warp] for warp in lanes])
            rounds.add(rule, l, lanes)
            h //= 2
        words = len(starts)
        if words == 1:
            return rounds.time, barriers
        row = rows[barriers % 2]
        rounds.add(rule, l, [[row + warp] for warp in range(words)])
        barriers += 1
        rounds.add(rule, l, warps(range(row, row + words), w))


def few_barriers_time(on: str, n: int, w: int, l: int) -> int:
    """The time of the sum by warps."""
    return few_barriers(on, n, w, l)[0]


def few_barriers_count(on: str, n: int, w: int, l: int) -> int:
    """The barriers of the sum by warps."""
    return few_barriers(on, n, w, l)[1]


def on_hmm(n: int, p: int, w: int, d: int, L: int, l: int) -> Rounds:
    """The sum on an HMM: columns, a tree in each shared memory, and a launch for the d sums."""
    rounds, block = Rounds(w), p // d
    a, sums = place(w, n, d)
    for first in range(0, n, p):
        rounds.add(groups, L, warps(range(a + first, a + first + p), w, block), "global")
    shared_tree(rounds, block, d, l)
    rounds.add(groups, L, [[sums + dmm] for dmm in range(d)], "global")
    rounds.add(groups, L, warps(range(d), w), "global")
    shared_tree(rounds, d, 1, l)
    rounds.add(groups, L, [[0]], "global")
    return rounds


def shared_tree(rounds: Rounds, words: int, dmms: int, l: int) -> None:
    """Add the rounds of a write of the words and of their tree, on each DMM the same."""
    rounds.shared(l, [warps(range(words), rounds.w)] * dmms)
    for distance, threads in halves(words):
        rounds.shared(l, [warps(range(distance, distance + threads), rounds.w)] * dmms)
        rounds.shared(l, [warps(range(threads), rounds.w)] * dmms)


def hmm_global(n: int, p: int, w: int, d: int, L: int, l: int) -> int:
    """The time of the sum by columns in the global memory of an HMM."""
    return by_columns("UMM", n, p, w, L)


MODELS = {
    "SUM-strided": strided,
    "SUM-tree": tree,
    "SUM-tree.O": tree,
    "SUM-columns": by_columns,
    "SUM-columns.O": by_columns,
    "SUM-LB": one_of("program", {"tree": tree, "columns": by_columns}),
    "SUM-async": few_barriers_time,
    "SUM-async.O": few_barriers_time,
    "SUM-async.barriers": few_barriers_count,
    "SUM-async.barriers.O": few_barriers_count,
    "SUM-columns.barriers": columns_barriers,
    "SUM-HMM": on_hmm,
    "SUM-HMM.O": on_hmm,
    "SUM-HMM.global": hmm_global,
    "SUM-HMM.LB": on_hmm,
    "SUM-HMM.transfers": stages(on_hmm, "global"),
    "SUM-columns.transfers": stages(by_columns),
    "SUM-columns.TMM": by_columns,
    "SUM-columns.TMM.O": by_columns,
}
