"""Alignment of two sequences by Needleman and Wunsch, along the antidiagonals."""

import numpy as np

import mmsim as mm
from tests.kit.runs.kernel_launches import under_both_schedules

MATCH, MISMATCH, GAP = 2, -1, -2
TILE = 8


@mm.program
def one_antidiagonal(T, a, b, score, d):
    """Cells (i, j) with i + j = d, each from its three neighbours; the host goes through d."""
    i = T.id + max(1, d - len(b))
    j = d - i
    if i <= len(a) and j >= 1:
        same = MATCH if a[i - 1] == b[j - 1] else MISMATCH
        score[i, j] = max(score[i - 1, j - 1] + same, score[i - 1, j] + GAP, score[i, j - 1] + GAP)


@mm.program
def tiles_of_an_antidiagonal(T, a, b, score, d):
    """A block makes a tile in shared memory, antidiagonal by antidiagonal (Rodinia)."""
    s = mm.shared((TILE + 1, TILE + 1), dtype=int)
    t = T.index
    tiles = len(b) // TILE
    tile_i = T.block + max(0, d - tiles + 1)
    tile_j = d - tile_i
    i, j = tile_i * TILE, tile_j * TILE
    if t == 0:
        s[0, 0] = score[i, j]
    s[t + 1, 0] = score[i + t + 1, j]
    s[0, t + 1] = score[i, j + t + 1]
    T.barrier()
    for m in range(2 * TILE - 1):
        y, x = t + 1, m - t + 1
        if 1 <= x <= TILE:
            same = MATCH if a[i + y - 1] == b[j + x - 1] else MISMATCH
            s[y, x] = max(s[y - 1, x - 1] + same, s[y - 1, x] + GAP, s[y, x - 1] + GAP)
        T.barrier()
    for y in range(1, TILE + 1):
        score[i + y, j + t + 1] = s[y, t + 1]


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


@under_both_schedules
def test_tiles(launch):
    a, b, score = sequences(2 * TILE, 3 * TILE)
    expected = aligned(a, b, score)
    for d in range(4):
        blocks = min(d, 1) - max(0, d - 2) + 1
        how = {"threads": blocks * TILE, "block_size": TILE}
        score = launch(tiles_of_an_antidiagonal, a, b, score, d, **how).arrays["score"]
    assert score.tolist() == expected
