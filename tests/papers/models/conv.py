"""Direct convolution of m and m + n - 1 words: docs/algorithms/convolution.md."""

from __future__ import annotations

from models.cost import RULES, Rounds, groups, place, warps


def direct(on: str, n: int, m: int, p: int, w: int, l: int) -> int:
    """The time in one memory: m products for each of n words, two reads for each."""
    rounds = Rounds(w)
    a, b, c = place(w, m, m + n - 1, n)
    for first in range(0, n, p):
        words = range(first, min(first + p, n))
        for k in range(m):
            rounds.add(RULES[on], l, warps([a + m - 1 - k for _ in words], w))
            rounds.add(RULES[on], l, warps([b + i + k for i in words], w))
        rounds.add(RULES[on], l, warps([c + i for i in words], w))
    return rounds.time


def hmm(n: int, m: int, p: int, w: int, d: int, k: int, L: int, l: int) -> int:
    """The time on an HMM: each DMM makes n/d words, k rows of its threads make m/k products each.

    All rows but the first write their sums to the shared memory. In a step of the tree h rows read
    the sums of h others, and all of them but the first write theirs.
    """
    rounds, block, share = Rounds(w), p // d, n // d
    a, b, c = place(w, m, m + n - 1, n)
    fetched = share + m - 1
    row = block // k
    our_a, our_b, sums = place(w, m, fetched, block)

    def fetch(start: int, apart: int, ours: int, words: int) -> None:
        for first in range(0, words, block):
            span = range(first, min(first + block, words))
            sent = [warps([start + dmm * apart + i for i in span], w) for dmm in range(d)]
            rounds.add(groups, L, [warp for of_dmm in sent for warp in of_dmm])
            rounds.shared(l, [warps([ours + i for i in span], w)] * d)

    def threads(rows: range, first: int) -> None:
        rounds.shared(l, [warps([first + r * row + i for r in rows for i in range(row)], w)] * d)

    fetch(a, 0, our_a, m)
    fetch(b, share, our_b, fetched)
    for first in range(0, share, row):
        for product in range(m // k):
            used = [r * (m // k) + product for r in range(k)]
            one = [our_a + m - 1 - t for t in used for _ in range(row)]
            other = [our_b + first + i + t for t in used for i in range(row)]
            rounds.shared(l, [warps(one, w)] * d)
            rounds.shared(l, [warps(other, w)] * d)
        threads(range(1, k), sums)
        h = k // 2
        while h:
            threads(range(h, 2 * h), sums)
            threads(range(1, h), sums)
            h //= 2
        starts = [c + dmm * share + first for dmm in range(d)]
        rounds.add(groups, L, [warp for s in starts for warp in warps(range(s, s + row), w)])
    return rounds.time


MODELS = {
    "CONV-direct.DMM": direct,
    "CONV-direct.UMM": direct,
    "CONV-HMM": hmm,
    "CONV-HMM.O": hmm,
    "CONV-LB": hmm,
}
