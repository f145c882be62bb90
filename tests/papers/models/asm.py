"""Approximate string matching of m and n letters: docs/algorithms/string-matching.md."""

from __future__ import annotations

from models.cost import RULES, Rounds, Warp, groups, place, warps

Access = list[int | None]


def table(parts: int, m: int, share: int, text: int, cells: int, found: int) -> list[Access]:
    """The accesses that fill the tables of some parts in one memory, m threads for each part.

    A part has `share` letters and the 2m before them. At step s thread i is at column s - i. It
    reads its letter and the cell above, which thread i - 1 wrote in the step before, and writes its
    own. The last one writes the results.
    """
    columns, accesses = share + 2 * m, []
    threads = [(part, i) for part in range(parts) for i in range(m)]
    for s in range(columns + m - 1):
        active = [0 <= s - i < columns for _, i in threads]
        letters = [text + part * share + s - i for part, i in threads]
        above = [cells + part * m + i - 1 for part, i in threads]
        own = [cells + part * m + i for part, i in threads]
        result = [found + part * share + s - i - 2 * m for part, i in threads]
        last = [is_active and i == m - 1 for (_, i), is_active in zip(threads, active, strict=True)]
        lower = [is_active and i > 0 for (_, i), is_active in zip(threads, active, strict=True)]
        done = [is_last and s - m + 1 >= 2 * m for is_last in last]
        for words, who in ((letters, active), (above, lower), (own, active), (result, done)):
            accesses.append([a if yes else None for a, yes in zip(words, who, strict=True)])
    return accesses


def flat(on: str, n: int, m: int, p: int, w: int, l: int) -> int:
    """The time in one memory: each thread reads its letter of the pattern, then p/m parts."""
    rounds = Rounds(w)
    x, y, cells, found = place(w, m, n + 2 * m, p, n)
    rounds.add(RULES[on], l, warps([x + i % m for i in range(p)], w))
    for access in table(p // m, m, n * m // p, y, cells, found):
        rounds.add(RULES[on], l, warps(access, w))
    return rounds.time


def hmm_global(n: int, m: int, p: int, w: int, d: int, L: int, l: int) -> int:
    """The time in the global memory of an HMM."""
    return flat("UMM", n, m, p, w, L)


def hmm(n: int, m: int, p: int, w: int, d: int, L: int, l: int) -> int:
    """The time on an HMM: each DMM fetches n/d letters and 2m more, and writes n/d results."""
    rounds, block, share = Rounds(w), p // d, n // d
    x, y, results = place(w, m, n + 2 * m, n)
    text, cells, found = place(w, share + 2 * m, block, share)

    def spans(words: int) -> list[range]:
        return [range(i, min(i + block, words)) for i in range(0, words, block)]

    def every(start: int, span: range) -> list[Warp]:
        starts = [start + dmm * share for dmm in range(d)]
        return [warp for s in starts for warp in warps([s + i for i in span], w)]

    rounds.add(groups, L, warps([x + i % m for i in range(p)], w))
    for span in spans(share + 2 * m):
        rounds.add(groups, L, every(y, span))
        rounds.shared(l, [warps([text + i for i in span], w)] * d)
    for access in table(block // m, m, n * m // p, text, cells, found):
        rounds.shared(l, [warps(access, w)] * d)
    for span in spans(share):
        rounds.shared(l, [warps([found + i for i in span], w)] * d)
        rounds.add(groups, L, every(results, span))
    return rounds.time


MODELS = {
    "ASM-DMM": flat,
    "ASM-flat.O": flat,
    "ASM-HMM.global": hmm_global,
    "ASM-HMM": hmm,
    "ASM-HMM.O": hmm,
    "ASM-LB": hmm,
}
