"""Operations counted before a launch whose atomics have an order: by another launch, without times.

A launch in lock step counts the same if no decision depends on the words that atomics return.
"""

import numpy as np
import pytest

import mmsim as mm
from mmsim import cuda
from mmsim.engines import selection
from mmsim.engines.array import in_turn
from mmsim.ir import needs
from mmsim.ir.needs import decides

H200 = mm.H200()
THREADS = 4096
KEYS = np.random.default_rng(0).integers(0, 5, THREADS).astype(np.int32)


@mm.program
def ranked(T, k, c, r):
    old = mm.atomic.add(c, k[T.id], 1)
    r[T.id] = old


@mm.program
def placed(T, k, c, r):
    s = mm.shared(T.block_size)
    s[T.index] = k[T.id]
    T.barrier()
    if s[T.block_size - 1 - T.index] > 1:
        r[mm.atomic.add(c, 0, 1)] = T.id


@mm.program
def chosen(T, k, c, r):
    old = mm.atomic.add(c, k[T.id], 1)
    if old % 2:
        r[T.id] = old


@mm.program
def through_memory(T, k, c, r):
    own = mm.registers(2)
    own[1] = mm.atomic.add(c, k[T.id], 1) + 1
    r[T.id] = own[1]
    n = r[T.id]
    for _ in range(n % 3):
        k[T.id] = n


@mm.program
def by_place(T, k, c, r):
    r[mm.atomic.add(c, 0, 1)] = 1
    T.barrier()
    while k[T.id] < r[T.id]:
        k[T.id] = k[T.id] + 1


@mm.program
def exchanged(T, k, c, r):
    old = mm.atomic.add(c, k[T.id], 1)
    if mm.warp.any(old > 3):
        r[T.id] = 1


@mm.program
def waiting(T, k, c, r):
    r[T.id] = mm.atomic.add(c, k[T.id], 1)
    while k[0] == 7:
        k[1] = 0


@pytest.mark.parametrize(
    ("program", "found"),
    [
        (ranked, False),
        (placed, False),
        (chosen, True),
        (through_memory, True),
        (by_place, True),
        (exchanged, True),
        (waiting, True),
    ],
    ids=lambda one: getattr(one, "name", str(one)),
)
def test_words_of_an_array_decide(program, found):
    assert decides(program.code, ["c"]) == found


def test_words_of_another_array_decide_nothing():
    assert not decides(chosen.code, ["r"])
    assert not decides(ranked.code, [])


@cuda.jit
def ranked_by_numba(k, c, r):
    i = cuda.grid(1)
    r[i] = cuda.atomic.add(c, k[i], 1)


def predicted(program, launches):
    """What a launch's prediction says, and its number of launches with times of memory."""
    launches.clear()
    args = KEYS.copy(), np.zeros(5, np.int32), np.zeros(THREADS, np.int32)
    found = H200.predict(program, *args, grid=THREADS // 64, block=64)
    return found.milliseconds, found.parts, len(launches)


@pytest.mark.parametrize("program", [ranked, placed, chosen, ranked_by_numba])
def test_counting_in_lock_step_predicts_the_same(program, monkeypatch):
    launches, real = [], selection.launch

    def launch(*arguments):
        launches.append(arguments)
        return real(*arguments)

    monkeypatch.setattr(selection, "launch", launch)
    monkeypatch.setattr(in_turn.PLAY, "enough", -1)
    ms, parts, times = predicted(program, launches)
    assert times == (2 if program is chosen else 1)
    assert parts["instructions"] > H200.milliseconds(H200.launch_time)
    monkeypatch.setattr(needs, "decides", lambda code, arrays: True)
    assert predicted(program, launches) == (ms, parts, 2)
