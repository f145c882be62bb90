"""Prefix sums: in segments, by warps, over many blocks in one launch."""

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


NOTHING, PARTIAL, COMPLETE = 0, 1, 2


@mm.program
def decoupled_look_back(T, data, sums, tile, state):
    """One launch (Merrill and Garland): a block looks back until a block before it is complete.

    A word of `state` has a block's status in its lowest two bits, so that it and the sum change in
    one go. Blocks take their tiles by a counter, so that those before have begun.
    """
    s = mm.shared(T.block_size, dtype=int)
    mine = mm.shared(2, dtype=int)
    t = T.index
    if t == 0:
        mine[0] = mm.atomic.add(tile, 0, 1)
    T.barrier()
    k = mine[0]
    i = k * T.block_size + t
    s[t] = data[i]
    T.barrier()
    d = 1
    while d < T.block_size:
        y = s[t - d] if t >= d else 0
        T.barrier()
        s[t] += y
        T.barrier()
        d *= 2
    if t == 0:
        total = s[T.block_size - 1]
        mm.atomic.exch(state, k, total << 2 | (PARTIAL if k > 0 else COMPLETE))
        before = 0
        back = k - 1
        while back >= 0:
            word = mm.atomic.add(state, back, 0)
            status = word & 3
            if status != NOTHING:
                before += word >> 2
                back = back - 1 if status == PARTIAL else -1
        if k > 0:
            mm.atomic.exch(state, k, (before + total) << 2 | COMPLETE)
        mine[1] = before
    T.barrier()
    sums[i] = s[t] + mine[1]


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


@under_both_schedules
def test_decoupled_look_back(launch):
    data = numbers(160)
    zeros = np.zeros_like(data), np.zeros(1, int), np.zeros(10, int)
    run = launch(decoupled_look_back, data, *zeros, threads=160, block_size=16)
    assert (run.arrays["sums"] == np.cumsum(data)).all()
