"""Alignment of two sequences by Needleman and Wunsch, along the antidiagonals."""

import numpy as np

import mmsim as mm
from tests.kit.runs.kernel_launches import under_both_schedules

MATCH, MISMATCH, GAP = 2, -1, -2


@mm.program
def one_antidiagonal(T, a, b, score, d):
    """Cells (i, j) with i + j = d, each from its three neighbours; the host goes through d."""
    i = T.id + max(1, d - len(b))
    j = d - i
    if i <= len(a) and j >= 1:
        same = MATCH if a[i - 1] == b[j - 1] else MISMATCH
        score[i, j] = max(score[i - 1, j - 1] + same, score[i - 1, j] + GAP, score[i, j - 1] + GAP)


def sequences(rows, columns):
    random = np.random.default_rng(20)
    a, b = random.integers(0, 4, rows), random.integers(0, 4, columns)
    score = np.zeros((rows + 1, columns + 1), int)
    score[:, 0], score[0] = GAP * np.arange(rows + 1), GAP * np.arange(columns + 1)
    return a, b, score


def aligned(a, b, score):
    """The same table, row by row."""
    score = score.tolist()
    for i, x in enumerate(a, 1):
        for j, y in enumerate(b, 1):
            ways = score[i - 1][j] + GAP, score[i][j - 1] + GAP
            score[i][j] = max(*ways, score[i - 1][j - 1] + (MATCH if x == y else MISMATCH))
    return score


@under_both_schedules
def test_antidiagonals(launch):
    a, b, score = sequences(11, 14)
    expected = aligned(a, b, score)
    for d in range(2, 26):
        score = launch(one_antidiagonal, a, b, score, d, threads=16, block_size=8).arrays["score"]
    assert score.tolist() == expected
