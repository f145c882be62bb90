"""Prefix sums: in segments and by warps."""

import numpy as np

import mmsim as mm
from tests.kit.runs.kernel_launches import CARD, under_both_schedules

W = CARD.width
BLOCK = 32


def numbers(size):
    return np.random.default_rng(2).integers(-9, 10, size)


@mm.program
def segmented(T, data, heads, sums):
    """Hillis and Steele's scan of pairs: a segment begins where `heads` is 1."""
    n = T.block_size
    value = mm.shared((2, n), dtype=int)
    flag = mm.shared((2, n), dtype=int)
    t = T.index
    value[0, t] = data[T.id]
    flag[0, t] = heads[T.id]
    T.barrier()
    now = 0
    offset = 1
    while offset < n:
        x, f = value[now, t], flag[now, t]
        if t >= offset:
            if not f:
                x += value[now, t - offset]
            f |= flag[now, t - offset]
        now = 1 - now
        value[now, t], flag[now, t] = x, f
        T.barrier()
        offset <<= 1
    sums[T.id] = value[now, t]


@mm.program
def by_warps(T, data, sums, w):
    """Shuffles within a warp, then the first warp scans the sums of the warps."""
    totals = mm.shared(w, dtype=int)
    x = data[T.id]
    offset = 1
    while offset < w:
        y = mm.warp.shuffle_up(x, offset)
        if T.lane >= offset:
            x += y
        offset *= 2
    warp = T.index // w
    if T.lane == w - 1:
        totals[warp] = x
    T.barrier()
    if warp == 0:
        total = totals[T.lane] if T.lane < T.block_size // w else 0
        offset = 1
        while offset < w:
            y = mm.warp.shuffle_up(total, offset)
            if T.lane >= offset:
                total += y
            offset *= 2
        totals[T.lane] = total
    T.barrier()
    if warp > 0:
        x += totals[warp - 1]
    sums[T.id] = x


@under_both_schedules
def test_segments(launch):
    data = numbers(BLOCK)
    heads = np.random.default_rng(3).integers(0, 4, BLOCK) == 0
    run = launch(segmented, data, heads.astype(int), np.zeros_like(data), threads=BLOCK)
    expected = [part.cumsum() for part in np.split(data, np.flatnonzero(heads))]
    assert (run.arrays["sums"] == np.concatenate(expected)).all()


@under_both_schedules
def test_scan_by_warps(launch):
    data = numbers(2 * BLOCK)
    run = launch(by_warps, data, np.zeros_like(data), W, threads=2 * BLOCK, block_size=BLOCK)
    expected = np.cumsum(data.reshape(2, BLOCK), axis=1)
    assert (run.arrays["sums"].reshape(2, BLOCK) == expected).all()
