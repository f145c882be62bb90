"""Loops of one lane, which the array engine runs as Python's own code: the same in every way."""

import math

import numpy as np
import pytest
from numba import cuda

import mmsim as mm
from mmsim.errors import AddressError, EndlessError
from mmsim.meaning import alone
from tests.kit.runs.both import on_all

TABLE = ((1, 7), (2, 7))
MACHINE = mm.HMM(dmms=2, width=4, global_latency=7, bank_bytes=4)


@pytest.fixture
def ran(monkeypatch):
    """The loops that ran to their end as Python's code."""
    found, run = [], alone.Alone.run

    def noted(self, frame, mask):
        through = run(self, frame, mask)
        found.append(self)
        return through

    monkeypatch.setattr(alone.Alone, "run", noted)
    return found


def whole(a, b, c):
    i = cuda.grid(1)
    if i != 5:
        return
    own = cuda.local.array(4, np.int32)
    for k in range(a.shape[0]):
        own[k % 4] = a[k]
        own[-1] += k
        x = a[k] * 1103515245 + 12345  # beyond 64 bits in the end
        x = x * x * x - (x << 7) ^ (x >> 3) | (k & 5)
        y = np.uint64(x) * np.uint64(6364136223846793005) >> np.uint64(33)
        z = np.int8(x) // (k - 3) + np.uint16(x) % (k - 2) if k > 1 else -x
        z += 9 // (k - 4)
        small = np.float32(x) * np.float32(0.1) + np.float32(k)
        if k % 7 == 3:
            continue
        b[k, 0] = min(x, z) + max(k, 3) - abs(z) + own[k % 3]
        b[k, -1] = np.int64(y) + int(small) % 1000 + (not k) + ~k
        c[k] = (small / np.float32(k) + math.sqrt(k) - (-k) / 3 + k // 2 + k % 4.5) ** 2
        c[k] += math.sin(k) if (k > 3 and c[k] > 1) or k == 2 else math.inf
        if k == 17:
            break
    c[19] = x


def paths(a, b, c):
    def first(n):
        for k in range(n):
            for m in range(k):
                if a[m] > 10 * k:
                    return m
                if m > 6:
                    break
            if k == 11:
                return -k
        return 77

    if cuda.grid(1) == 2:
        k = 0
        while k < a.size - 4:
            cuda.atomic.add(b, (k, 1), first(k))
            cuda.atomic.max(a, k + 1, k)
            c[k] = first(k + 1)
            k += 1
            if k == 14:
                return
        c[19] = 5


@pytest.mark.parametrize("kernel", [whole, paths])
def test_a_loop_of_one_lane_is_as_on_the_event_engine(kernel, ran):
    a = np.array([3, 9, 2**40, -5, 7, 2**31, 1, 0, 3, 2] * 2)
    arrays = a, np.zeros((20, 2), np.int64), np.zeros(20)
    on_all(cuda.jit(kernel), *arrays, machine=MACHINE, threads=8, block_size=8)
    assert ran
    count = len(ran)
    on_all(cuda.jit(kernel), *arrays, machine=MACHINE, threads=6, block_size=2)
    assert len(ran) > count


def test_small_types_and_complex_numbers_are_as_on_the_event_engine(ran):
    @mm.program
    def convert(T, a, b, c):
        s = mm.shared(4, dtype="int8")
        for k in range(9):
            s[k % 4] = mm.int8(k * 40)
            z = c[k % 4] * (1 + 2j) - s[k % 4]
            c[k % 4] = z / (k + 1)
            a[k] = mm.uint8(k * 77) + mm.float32(b[k]) / 3
            b[k] = k % 3 == 1

    arrays = np.zeros(9, np.float32), np.ones(9, bool), np.ones(4, np.complex64)
    on_all(convert, *arrays, machine=MACHINE, threads=1)
    assert ran


def test_a_name_that_no_thread_sets_needs_no_place(ran):
    def row_of(a, k):
        a[k] = k
        row = TABLE[k % 2]  # a tuple

    @mm.program
    def fill(T, a):
        for k in range(9):
            row_of(a, k)

    on_all(fill, np.zeros(9), machine=MACHINE, threads=1)
    assert ran


def test_an_error_in_such_a_loop_is_the_interpreters(ran):
    @mm.program
    def beyond(T, a):
        for k in range(9):
            a[k] = k

    @mm.program
    def waits(T, a):
        k = 0.0
        while a[0] == 0:
            k = a[1] / 3
            a[1] = 0

    for program, kind, text in (
        (beyond, AddressError, "index [8] of 'a' is out of range"),
        (waits, EndlessError, "thread 0 repeats this loop forever"),
    ):
        with pytest.raises(kind) as caught:
            MACHINE.run(program, np.zeros(8), threads=1, schedule="asynchronous")
        assert text in str(caught.value)
    with pytest.raises(EndlessError, match="max_accesses=17 "):
        MACHINE.run(beyond, np.zeros(99), threads=1, schedule="asynchronous", max_accesses=17)
    assert not ran


def test_the_bound_of_accesses_is_exact(ran):
    @mm.program
    def fill(T, a):
        for k in range(9):
            a[k] = k

    how = {"threads": 1, "schedule": "asynchronous"}
    run = MACHINE.run(fill, np.zeros(9), max_accesses=18, **how)
    assert run.arrays["a"][8] == 8
    assert ran
    with pytest.raises(EndlessError, match="max_accesses=17 "):
        MACHINE.run(fill, np.zeros(9), max_accesses=17, **how)


def few(a, b, c):
    def beyond(n):
        k = 0
        while True:
            k += n
            if k > 9:
                return k
            if n == 5:
                return -1

    i = cuda.grid(1)
    own = cuda.local.array(3, np.float32)
    for k in range(i + 2):
        own[k % 3] += k / 3
        x = own[i % 3] * i
        last = k
        if k == 4:
            b[i] = 8
    if i % 2:
        for k in range(a[i]):
            if k == 3:
                x = beyond(i)
                break
            if i == 7:
                y = np.uint64(k) * np.uint64(2**63 + 1)
            if k * i == 2:
                return
        c[i] = k
    a[i] = x + last + (y if i == 7 else beyond(i + 1))


def test_a_loop_without_accesses_runs_for_a_few_lanes_as_on_the_event_engine(ran):
    arrays = np.array([3, 9, 4, 3, 7, 2, 1, 3]), np.zeros(8, np.int8), np.zeros(8)
    on_all(cuda.jit(few), *arrays, machine=MACHINE, threads=8, block_size=8)
    assert ran
    assert not any(one.sites for one in ran)


def test_the_steps_of_a_few_lanes_are_those_that_they_take_together(ran):
    @mm.program
    def turn(T, a):
        s = 0
        for k in range(T.id + 5):
            s += k
        for k in range(9):
            a[T.id] = s + k

    how = {"threads": 4, "schedule": "asynchronous"}
    run = MACHINE.run(turn, np.zeros(4), max_accesses=26, **how)
    assert run.arrays["a"].tolist() == [18, 23, 29, 36]
    with pytest.raises(EndlessError, match="max_accesses=25 "):
        MACHINE.run(turn, np.zeros(4), max_accesses=25, **how)
    assert ran
