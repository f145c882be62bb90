"""Sorting: networks (bitonic, odd-even) and radix sort."""

import numpy as np
import pytest

import mmsim as mm
from tests.kit.runs.kernel_launches import under_both_schedules

BLOCK = 32


def numbers(size, limit=1000):
    return np.random.default_rng(4).integers(0, limit, size)


@mm.program
def bitonic_step(T, data, j, k):
    """One step over the global memory; the host goes through j and k."""
    i = T.id
    other = i ^ j
    if other > i:
        x, y = data[i], data[other]
        ascending = i & k == 0
        if (x > y) == ascending:
            data[i], data[other] = y, x


@mm.program
def odd_even_transposition(T, data):
    n = len(data)
    for phase in range(n):
        i = 2 * T.id + phase % 2
        if i + 1 < n and data[i] > data[i + 1]:
            data[i], data[i + 1] = data[i + 1], data[i]
        T.barrier()


@mm.program
def odd_even_merge(T, data):
    """Batcher's network: p is the length of the runs that are merged."""
    n = 2 * T.block_size
    s = mm.shared(n, dtype=int)
    t = T.index
    s[t], s[t + T.block_size] = data[t], data[t + T.block_size]
    size = 2
    while size <= n:
        stride = size // 2
        offset = t & (stride - 1)
        T.barrier()
        pos = 2 * t - (t & (stride - 1))
        if s[pos] > s[pos + stride]:
            s[pos], s[pos + stride] = s[pos + stride], s[pos]
        stride //= 2
        while stride > 0:
            T.barrier()
            pos = 2 * t - (t & (stride - 1))
            if offset >= stride and s[pos - stride] > s[pos]:
                s[pos - stride], s[pos] = s[pos], s[pos - stride]
            stride //= 2
        size *= 2
    T.barrier()
    data[t], data[t + T.block_size] = s[t], s[t + T.block_size]


def sum_before(T, s, x):
    """The sum of the x of the threads below in the block, and of all."""
    t = T.index
    s[t] = x
    T.barrier()
    d = 1
    while d < T.block_size:
        y = s[t - d] if t >= d else 0
        T.barrier()
        s[t] += y
        T.barrier()
        d *= 2
    below, total = s[t] - x, s[T.block_size - 1]
    T.barrier()
    return below, total


@mm.program
def radix_by_splits(T, data, bits):
    """Bit by bit: those with a 0 go first, in their order, then those with a 1."""
    s = mm.shared(T.block_size, dtype=int)
    keys = mm.shared(T.block_size, dtype=int)
    t = T.index
    keys[t] = data[t]
    for bit in range(bits):
        x = keys[t]
        one = x >> bit & 1
        zeros_before, zeros = sum_before(T, s, 1 - one)
        keys[zeros + t - zeros_before if one else zeros_before] = x
        T.barrier()
    data[t] = keys[t]


RADIX = 4


@mm.program
def count_digits(T, data, counts, shift):
    """A thread counts the digits of its share; counts[digit, thread]."""
    mine = mm.registers(RADIX, dtype=int)
    share = len(data) // T.count
    for i in range(T.id * share, (T.id + 1) * share):
        mine[data[i] >> shift & RADIX - 1] += 1
    for digit in range(RADIX):
        counts[digit, T.id] = mine[digit]


@mm.program
def scan_counts(T, counts, starts):
    """One block; counts and starts as one array, digit by digit."""
    s = mm.shared(T.block_size, dtype=int)
    digit, thread = divmod(T.id, counts.shape[1])
    below, _ = sum_before(T, s, counts[digit, thread])
    starts[digit, thread] = below


@mm.program
def move_by_digits(T, data, starts, out, shift):
    share = len(data) // T.count
    place = mm.registers(RADIX)
    for digit in range(RADIX):
        place[digit] = starts[digit, T.id]
    for i in range(T.id * share, (T.id + 1) * share):
        digit = data[i] >> shift & RADIX - 1
        out[place[digit]] = data[i]
        place[digit] += 1


@under_both_schedules
def test_bitonic_sort_by_the_host(launch):
    n = 64
    data = numbers(n)
    sorted_ = np.sort(data)
    k = 2
    while k <= n:
        j = k // 2
        while j > 0:
            run = launch(bitonic_step, data, j, k, threads=n, block_size=BLOCK)
            data = run.arrays["data"]
            j //= 2
        k *= 2
    assert (data == sorted_).all()


@under_both_schedules
@pytest.mark.parametrize(
    ("kernel", "size"),
    [(odd_even_transposition, 33), (odd_even_merge, 64)],
    ids=["brick", "Batcher"],
)
def test_odd_even_sorts(launch, kernel, size):
    data = numbers(size)
    run = launch(kernel, data, threads=size // 2)
    assert (run.arrays["data"] == np.sort(data)).all()


@under_both_schedules
def test_radix_sort_by_splits(launch):
    data = numbers(BLOCK, 64)
    run = launch(radix_by_splits, data, 6, threads=BLOCK)
    assert (run.arrays["data"] == np.sort(data)).all()


@under_both_schedules
def test_radix_sort_in_three_launches_for_a_digit(launch):
    data, threads = numbers(128, 256), 16
    now = data
    for shift in range(0, 8, 2):
        zeros = np.zeros((RADIX, threads), int)
        counted = launch(count_digits, now, zeros, shift, threads=threads, block_size=8)
        counts = counted.arrays["counts"]
        assert counts.sum(1).tolist() == np.bincount(data >> shift & 3, minlength=4).tolist()
        scanned = launch(scan_counts, counts, zeros, threads=RADIX * threads)
        starts = scanned.arrays["starts"]
        moved = launch(
            move_by_digits, now, starts, np.zeros_like(now), shift, threads=threads, block_size=8
        )
        now = moved.arrays["out"]
    assert (now == np.sort(data)).all()
