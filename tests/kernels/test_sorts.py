"""Radix sort, in three launches for a digit."""

import numpy as np

import mmsim as mm
from tests.kit.runs.kernel_launches import under_both_schedules


def numbers(size, limit=1000):
    return np.random.default_rng(4).integers(0, limit, size)


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
