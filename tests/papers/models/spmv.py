"""Sparse matrix times vector, k nonzero words in each row: docs/algorithms/sparse.md."""

from __future__ import annotations

from functools import partial

from models.cost import RULES, Rounds, groups, one_of, warps


def consecutive(row: int, j: int, w: int, n: int) -> int:
    """The column of nonzero word j: w rows have consecutive columns from a multiple of w on.

    The first column follows the last one.
    """
    return (row // w * w + j) % n


def scattered(row: int, j: int, w: int, n: int) -> int:
    """The column of nonzero word j: those of w rows are in different groups and different banks."""
    return ((row % w * w + (row + j) % w) + row // w * w * w) % n


def by_threads(on: str, n: int, p: int, w: int, l: int, k: int) -> int:
    """The time in compressed rows, a thread for each row.

    It reads where its row begins and where the next one does. For each nonzero word it reads the
    column, the word, and the word of x.
    """
    rounds, rule = Rounds(w), RULES[on]
    for first in range(0, n, p):
        rows = range(first, min(first + p, n))
        rounds.add(rule, l, warps(rows, w))
        rounds.add(rule, l, warps([row + 1 for row in rows], w))
        for j in range(k):
            for _ in ("column", "word"):
                rounds.add(rule, l, warps([row * k + j for row in rows], w))
            rounds.add(rule, l, warps([consecutive(row, j, w, n) for row in rows], w))
        rounds.add(rule, l, warps(rows, w))
    return rounds.time


def by_warps(on: str, n: int, p: int, w: int, l: int, k: int) -> int:
    """The time in compressed rows, a warp for each row: its lanes read w consecutive words."""
    rounds, rule = Rounds(w), RULES[on]
    for first in range(0, n, p // w):
        rows = range(first, min(first + p // w, n))
        rounds.add(rule, l, [[row] * w for row in rows])
        rounds.add(rule, l, [[row + 1] * w for row in rows])
        for first_word in range(0, k, w):
            words = range(first_word, min(first_word + w, k))
            for _ in ("column", "word"):
                rounds.add(rule, l, [[row * k + j for j in words] for row in rows])
            rounds.add(rule, l, [[consecutive(row, j, w, n) for j in words] for row in rows])
        rounds.add(rule, l, [[row] for row in rows])
    return rounds.time


def ellpack(on: str, n: int, p: int, w: int, l: int, k: int) -> int:
    """The time in ELLPACK: nonzero word j of row i lies at j·n + i."""
    rounds, rule = Rounds(w), RULES[on]
    for first in range(0, n, p):
        rows = range(first, min(first + p, n))
        for j in range(k):
            for _ in ("column", "word"):
                rounds.add(rule, l, warps([j * n + row for row in rows], w))
            rounds.add(rule, l, warps([consecutive(row, j, w, n) for row in rows], w))
        rounds.add(rule, l, warps(rows, w))
    return rounds.time


def on_hmm(copied: bool, n: int, p: int, w: int, d: int, L: int, l: int, k: int) -> int:
    """The time in ELLPACK on an HMM with scattered columns; x may be copied to shared memory.

    Then the threads of each of d blocks fetch all words of x.
    """
    rounds, block = Rounds(w), p // d
    if copied:
        for first in range(0, n, block):
            words = warps(range(first, first + block), w)
            rounds.add(groups, L, words * d)
            rounds.shared(l, [words] * d)
    for first in range(0, n, p):
        rows = range(first, min(first + p, n))
        for j in range(k):
            for _ in ("column", "word"):
                rounds.add(groups, L, warps([j * n + row for row in rows], w))
            columns = [scattered(row, j, w, n) for row in rows]
            if copied:
                rounds.shared(l, [warps(columns[b : b + block], w) for b in range(0, p, block)])
            else:
                rounds.add(groups, L, warps(columns, w))
        rounds.add(groups, L, warps(rows, w))
    return rounds.time


MODELS = {
    "SPMV-threads.DMM": by_threads,
    "SPMV-threads.UMM": by_threads,
    "SPMV-warps": by_warps,
    "SPMV-ell": ellpack,
    "SPMV-LB": one_of("way", {"threads": by_threads, "warps": by_warps, "columns": ellpack}),
    "SPMV-HMM.global": partial(on_hmm, False),
    "SPMV-HMM.shared": partial(on_hmm, True),
}
