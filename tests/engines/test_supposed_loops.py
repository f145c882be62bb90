"""Loops that all threads are supposed to leave when the first one does."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.engines.array.fused import execute
from mmsim.engines.array.fused.analysis import CannotFuse
from tests.kit.runs.paths import agrees, run_along

MACHINE = mm.HMM(2, 4, 10)
HOW = {"threads": 32, "machine": MACHINE, "block_size": 8}


@mm.program
def of_block(T, a, b):
    k = T.block * 5
    end = k + 5
    total = 0
    while k < end:
        total += a[k]
        k += 1
    b[T.id] = total


@mm.program
def strided(T, a, b):
    i = T.id
    total = 0
    while i < a.size:
        total += a[i]
        i += T.count
    b[T.id] = total


@mm.program
def with_break(T, a, b):
    i = T.id
    while True:
        b[i] = a[i] * 2
        i += T.count
        if i >= a.size:
            break


@mm.program
def doubling(T, a, b):
    i = T.id + 1
    total = 0
    while i < a.size:
        total += a[i]
        i *= 2
    b[T.id] = total


@mm.program
def doubling_with_break(T, a, b):
    i = T.id + 1
    while True:
        b[T.id] += a[i]
        i *= 2
        if i >= a.size:
            break


@mm.program
def in_a_branch(T, a, b):
    k = T.block
    if T.block < 9:
        k = T.block * 3
        while k < T.block * 3 + 2:
            b[T.id] += a[k]
            k += 1


@mm.program
def of_memory(T, a, b):
    k = a[T.id]
    while k < 40:
        k += 7
        k += 1
    b[T.id] = k


@pytest.fixture
def hopeless(monkeypatch):
    """The texts that are not tried again."""
    found = set()
    monkeypatch.setattr(execute, "_hopeless", found)
    return found


@pytest.mark.parametrize("program", [of_block, strided, with_break, in_a_branch])
def test_a_loop_that_all_threads_leave_together_is_fused(program, hopeless):
    agrees("plain", program, np.arange(96), np.zeros(96, int), **HOW)
    assert not hopeless


@pytest.mark.parametrize("program", [strided, with_break])
def test_a_loop_that_counts_needs_no_supposing(program, hopeless):
    agrees("plain", program, np.arange(90), np.zeros(90, int), **HOW)
    assert not hopeless


@pytest.mark.parametrize("program", [doubling, doubling_with_break])
def test_a_thread_that_leaves_earlier_is_interpreted_from_then_on(program, hopeless):
    agrees("plain", program, np.arange(90), np.zeros(90, int), **HOW)
    assert len(hopeless) == 1


def test_a_loop_that_depends_on_memory_is_not_fused():
    with pytest.raises(CannotFuse, match="a loop whose end depends on the thread"):
        run_along("plain", of_memory, np.arange(32), np.zeros(32, int), **HOW)
