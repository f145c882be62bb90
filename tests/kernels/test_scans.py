"""Prefix sums: by Hillis and Steele, by Blelloch, over many blocks, in segments."""

import numpy as np

import mmsim as mm
from kernel_launches import CARD, under_both_schedules

W = CARD.width
BLOCK = 32


def numbers(size):
    return np.random.default_rng(2).integers(-9, 10, size)


@mm.program
def hillis_steele(T, data, sums):
    """All distances 1, 2, 4, ... in turn; from one half of the buffer to the other."""
    n = T.block_size
    temp = mm.shared(2 * n, dtype=int)
    t = T.index
    source, target = 0, 1
    temp[t] = data[T.id]
    T.barrier()
    offset = 1
    while offset < n:
        if t >= offset:
            temp[target * n + t] = temp[source * n + t] + temp[source * n + t - offset]
        else:
            temp[target * n + t] = temp[source * n + t]
        source, target = target, source
        T.barrier()
        offset *= 2
    sums[T.id] = temp[source * n + t]


@mm.program
def blelloch(T, data, sums):
    """Up the tree, then down; two values for each thread. A sum leaves out the value itself."""
    n = 2 * T.block_size
    temp = mm.shared(n, dtype=int)
    t = T.index
    first = T.block * n
    temp[2 * t] = data[first + 2 * t]
    temp[2 * t + 1] = data[first + 2 * t + 1]
    offset = 1
    d = n >> 1
    while d > 0:
        T.barrier()
        if t < d:
            a = offset * (2 * t + 1) - 1
            b = offset * (2 * t + 2) - 1
            temp[b] += temp[a]
        offset *= 2
        d >>= 1
    if t == 0:
        temp[n - 1] = 0
    d = 1
    while d < n:
        offset >>= 1
        T.barrier()
        if t < d:
            a = offset * (2 * t + 1) - 1
            b = offset * (2 * t + 2) - 1
            temp[a], temp[b] = temp[b], temp[b] + temp[a]
        d *= 2
    T.barrier()
    sums[first + 2 * t] = temp[2 * t]
    sums[first + 2 * t + 1] = temp[2 * t + 1]


def padded(i, w):
    """The place of element i, with an empty word after each row of banks."""
    return i + i // w


@mm.program
def blelloch_without_conflicts(T, data, sums, totals, w):
    """The same with padding and loads half a block apart; the block's total goes to `totals`."""
    n = 2 * T.block_size
    temp = mm.shared(n + n // w, dtype=int)
    t = T.index
    first = T.block * n
    ai, bi = t, t + n // 2
    temp[padded(ai, w)] = data[first + ai]
    temp[padded(bi, w)] = data[first + bi]
    offset = 1
    d = n >> 1
    while d > 0:
        T.barrier()
        if t < d:
            a = padded(offset * (2 * t + 1) - 1, w)
            b = padded(offset * (2 * t + 2) - 1, w)
            temp[b] += temp[a]
        offset *= 2
        d >>= 1
    if t == 0:
        last = padded(n - 1, w)
        totals[T.block] = temp[last]
        temp[last] = 0
    d = 1
    while d < n:
        offset >>= 1
        T.barrier()
        if t < d:
            a = padded(offset * (2 * t + 1) - 1, w)
            b = padded(offset * (2 * t + 2) - 1, w)
            x = temp[a]
            temp[a] = temp[b]
            temp[b] += x
        d *= 2
    T.barrier()
    sums[first + ai] = temp[padded(ai, w)]
    sums[first + bi] = temp[padded(bi, w)]


@mm.program
def add_totals(T, sums, totals):
    first = T.block * T.block_size * 2
    sums[first + T.index] += totals[T.block]
    sums[first + T.index + T.block_size] += totals[T.block]


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


@under_both_schedules
def test_hillis_steele(launch):
    data = numbers(2 * BLOCK)
    run = launch(hillis_steele, data, np.zeros_like(data), threads=2 * BLOCK, block_size=BLOCK)
    expected = np.cumsum(data.reshape(2, BLOCK), axis=1)
    assert (run.arrays["sums"].reshape(2, BLOCK) == expected).all()


def sums_before(data):
    return np.cumsum(data) - data


@under_both_schedules
def test_blelloch(launch):
    data = numbers(2 * BLOCK)
    run = launch(blelloch, data, np.zeros_like(data), threads=BLOCK)
    assert (run.arrays["sums"] == sums_before(data)).all()


@under_both_schedules
def test_large_arrays_in_three_launches(launch):
    data = numbers(8 * BLOCK)
    blocks = len(data) // (2 * BLOCK)
    totals = np.zeros(2 * W, int)
    zeros = np.zeros_like(data)
    how = {"threads": blocks * BLOCK, "block_size": BLOCK}
    parts = launch(blelloch_without_conflicts, data, zeros, totals, W, **how).arrays
    total = np.zeros(1, int)
    before = launch(
        blelloch_without_conflicts, parts["totals"], np.zeros_like(totals), total, W, threads=W
    ).arrays
    run = launch(add_totals, parts["sums"], before["sums"], **how)
    assert (run.arrays["sums"] == sums_before(data)).all()
    assert before["totals"] == data.sum()


@under_both_schedules
def test_segments(launch):
    data = numbers(BLOCK)
    heads = np.random.default_rng(3).integers(0, 4, BLOCK) == 0
    run = launch(segmented, data, heads.astype(int), np.zeros_like(data), threads=BLOCK)
    expected = [part.cumsum() for part in np.split(data, np.flatnonzero(heads))]
    assert (run.arrays["sums"] == np.concatenate(expected)).all()
