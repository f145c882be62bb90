"""Loops that count in a variable of each thread: fused where their trips are known beforehand."""

from contextlib import suppress

import numpy as np
import pytest

import mmsim as mm
from mmsim.api.binding import as_program
from mmsim.engines.array import engine as array
from mmsim.engines.array.fused.analysis import CannotFuse
from tests.kit.generators.random_programs import define
from tests.kit.runs.paths import DMM, agrees, run_along

SIZE = 40
COUNTING = {
    "up": "i = T.id\nwhile i < n:\n    b[i] = a[i]\n    i += T.count",
    "to the end": "i = T.id\nwhile i <= n - 1:\n    b[i] = a[i]\n    i += T.count",
    "down": "i = n - 1 - T.id\nwhile i > -1:\n    b[i] = a[i]\n    i -= T.count",
    "down to the end": "i = n - 1 - T.id\nwhile i >= 0:\n    b[i] = a[i]\n    i -= T.count",
    "from a complement": ("i = ~T.id + n\nwhile i > -1:\n    b[i] = a[i]\n    i -= T.count"),
    "a loop inside": (
        "i = T.id\nwhile i < n:\n    x = 0\n    for k in range(n):\n        x += a[k]\n"
        "    b[i] = x\n    i += T.count"
    ),
    "a copy": ("j = T.id\ni = j\nj = n\nwhile i < n:\n    b[i] = j\n    i += T.count\n"),
    "left at the end": (
        "i = T.id\nwhile True:\n    j = i\n    b[i % 40] = a[i % 40]\n    i = j + T.count\n"
        "    if i >= n:\n        break"
    ),
    "left at the end otherwise": (
        "i = T.id\nwhile True:\n    b[i % 40] = a[i % 40]\n    i = i + T.count\n"
        "    if i < n:\n        pass\n    else:\n        break"
    ),
    "from the right": "i = T.id\nwhile n > i:\n    b[i] = a[i]\n    i = T.count + i",
    "a negative step": "s = -T.count\ni = n - 1 - T.id\nwhile i >= 0:\n    b[i] = a[i]\n    i += s",
    "a bound of each": "i = T.id\nwhile i < T.id + n // 2:\n    b[i] = a[i]\n    i += 3",
    "some threads": (
        "if T.id % 3:\n    i = T.id\n    while i < n:\n        b[i] = a[i]\n        i += 8"
    ),
    "a condition": (
        "i = T.id\nwhile i < n:\n    x = a[i]\n    if x % 2:\n        b[i] = x\n    i += T.count"
    ),
    "a sum": "x = 0\ni = T.id\nwhile i < n:\n    x += a[i]\n    i += T.count\nb[T.id] = x + i",
    "trips": "k = 0\ni = T.id\nwhile i < n:\n    k += a[0]\n    i += 5\nb[T.id] = k",
    "trips of all": "k = 0\ni = T.id\nwhile i < n:\n    k += 1\n    i += 5\nb[T.id] = k",
    "again and again": (
        "for k in range(3):\n    i = T.id\n    while i < n:\n"
        "        b[i] += k\n        i += T.count"
    ),
    "narrow": "i = np.int32(T.id)\nwhile i < n:\n    b[i] = a[i]\n    i = np.int32(i + T.count)",
    "narrow bound": (
        "i = np.int32(T.id)\nwhile i < np.int32(n + 2**32):\n    b[i] = a[i]\n"
        "    i = np.int32(i + T.count)"
    ),
    "unsigned": (
        "i = np.int32(T.id)\nwhile np.uint32(i) < np.uint32(n):\n    b[i] = a[i]\n"
        "    i = np.int32(i + T.count)"
    ),
}
AFTER = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry after(.param .u64 p0, .param .u64 p1, .param .u32 p2)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<7>;
    ld.param.u64 %rd1, [p0];
    ld.param.u64 %rd2, [p1];
    ld.param.u32 %r1, [p2];
    mov.u32 %r2, %tid.x;
AGAIN:
    mul.wide.s32 %rd3, %r2, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.u32 %r4, [%rd4];
    st.global.u32 [%rd5], %r4;
    add.s32 %r2, %r2, 8;
    setp.lt.s32 %p1, %r2, %r1;
    @%p1 bra AGAIN;
    ret;
}
"""
"""A loop that is tested after each trip: every thread makes one."""
OTHERS = {
    "another step": "s = 1\ni = T.id\nwhile i < n:\n    b[i] = a[i]\n    i += s\n    s += 1",
    "another bound": "m = n\ni = T.id\nwhile i < m:\n    b[i] = a[i]\n    i += 2\n    m -= 1",
    "some trips": "i = T.id\nwhile i < n:\n    x = a[i]\n    if x % 2:\n        i += 1\n    i += 1",
    "twice": "i = T.id\nwhile i < n:\n    b[i] = a[i]\n    i += 1\n    i += 1",
    "a way out": (
        "i = T.id\nwhile i < n:\n    b[i] = a[i]\n    if a[i] == 9:\n        break\n    i += 8"
    ),
    "a start that changed": (
        "k = 1\ni = T.id + k\nk = 5\nwhile i < n:\n    b[i] = k\n    i += T.count"
    ),
    "another sign": "i = T.id\nwhile i != T.id + n:\n    b[i % 40] = 1\n    i += 1",
    "goes on": (
        "i = T.id\nfor k in range(3):\n    while i < n:\n        b[i] = a[i]\n        i += T.count"
    ),
    "from memory": "i = a[T.id]\nwhile i < n:\n    b[i] = a[i]\n    i += T.count",
    "a step of each": "i = T.id\nwhile i < n:\n    b[i] = a[i]\n    i += T.id + 1",
    "wraps": (
        "i = np.int32(T.id)\nwhile i < n + 2**31 - 41:\n    b[i % 40] = 1\n"
        "    i = np.int32(i + 2**30)\n    if i < 0:\n        i = np.int32(2**31 - 1)"
    ),
    "wraps around": "i = np.int32(2**31 - 9 + T.id)\nwhile i > 0:\n    i = np.int32(i + 1)",
    "no sign": (
        "i = np.int32(T.id - 1)\nwhile np.uint32(i) < np.uint32(n):\n    b[i] = a[i]\n"
        "    i = np.int32(i + T.count)"
    ),
}


def program(text):
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    return mm.program(define(f"def f(T, a, b, n):\n{lines}", "f"))


@pytest.mark.parametrize("name", COUNTING)
def test_a_loop_that_counts_is_fused(name):
    for n in (0, 1, 7, 8, 9, 39, 40):
        arrays = np.arange(1, SIZE + 1), np.zeros(SIZE + 8, dtype=int)
        agrees("plain", program(COUNTING[name]), *arrays, n, threads=8)


@pytest.mark.parametrize("n", [0, 1, 8, 9, 39, 40])
def test_a_loop_with_its_test_at_the_end_makes_one_trip_at_least(n):
    arrays = np.arange(1, SIZE + 1, dtype=np.int32), np.zeros(SIZE + 8, dtype=np.int32)
    special = as_program(mm.RawKernel(AFTER, "after")).specialized((*arrays, np.int32(n)))
    run = agrees("plain", special.program, *special.args, threads=8)
    assert np.count_nonzero(next(reversed(run.arrays.values()))) == max(n, 8)


@pytest.mark.parametrize("name", OTHERS)
def test_any_other_loop_comes_out_the_same(name):
    arrays = np.arange(1, SIZE + 1), np.zeros(SIZE + 8, dtype=int)
    for n in (30, 39):
        with suppress(CannotFuse):  # if all threads are supposed to make as many trips, or give up
            agrees("plain", program(OTHERS[name]), *arrays, n, threads=8)
    agrees(None, program(OTHERS[name]), *arrays, 30, threads=8)


def test_a_few_threads_with_many_steps_are_fused_after_a_while(monkeypatch):
    monkeypatch.setattr(array, "LONG", 0)
    paths = []
    interpreted = array._interpreted
    monkeypatch.setattr(
        array, "_interpreted", lambda *a, **how: paths.append(a) or interpreted(*a, **how)
    )
    n = 200_000
    arrays, many = (np.arange(n), np.zeros(n, dtype=int)), program(COUNTING["up"])
    run = DMM.run(many, *arrays, n, threads=8)
    assert len(paths) == 1  # it was left, and not tried again
    assert (run.arrays["b"] == np.arange(n)).all()
    again = run_along("interpreted", many, *arrays, n, threads=8)
    assert (again.time, again.accesses) == (run.time, run.accesses)
