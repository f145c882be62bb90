"""Programs that barriers of the grid part into phases: the array engine adds up their times."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.engines.array import interpreted
from tests.kit.runs.paths import outcome


@mm.program
def rotate(T, a, b):
    s = mm.shared(16)
    if T.id >= a.shape[1]:
        return
    for k in range(5):
        s[T.index] = a[k % 2, (T.id * 7 + k) % a.shape[1]]
        if T.block % 2 == k % 2:
            T.barrier()
            b[T.id, k] = s[T.index // 2 * 2]
        if k == 3 and T.id < 6:
            return
        a[1 - k % 2, T.id] = s[T.index] + k
        T.grid_barrier()


@mm.program
def some(T, a, b):
    if T.id < 13:
        for k in range(4):
            b[T.id, k] = a[0, (T.id * 5 + k) % 13]
            T.grid_barrier()
            a[0, T.id] = b[(T.id + 3) % 13, k]
            T.grid_barrier()


def both(program, machine, args, **how):
    """The run of the array engine, which is as that of the event engine."""
    how |= {"schedule": "asynchronous", "trace": False}
    found = [machine.run(program, *args, engine=engine, **how) for engine in ("events", "array")]
    assert outcome(found[0]) == outcome(found[1])
    return found[1]


@pytest.mark.parametrize("program", [rotate, some])
@pytest.mark.parametrize("block_size", [3, 8, 16])
def test_phases_take_the_time_of_the_event_engine(program, block_size):
    args = np.arange(58).reshape(2, 29), np.zeros((40, 5), np.int64)
    for machine in (
        mm.HMM(dmms=3, width=4, global_latency=7, shared_latency=2),
        mm.HMM(dmms=2, width=2, global_latency=1, bank_bytes=4),
        mm.UMM(4, 5),
    ):
        run = both(program, machine, args, threads=31, block_size=block_size)
        assert run.engine == "array"


def test_an_equal_phase_is_played_once(monkeypatch):
    played = []
    play = interpreted.Phases.__init__.__globals__["_played"]

    def noted(*args):
        played.append(args)
        return play(*args)

    monkeypatch.setitem(interpreted.Phases.__init__.__globals__, "_played", noted)

    @mm.program
    def step(T, a):
        for k in range(30):
            a[T.id] = a[T.id] + k
            T.grid_barrier()

    both(step, mm.HMM(dmms=2, width=4, global_latency=7), [np.zeros(32)], threads=32, block_size=8)
    assert 0 < len(played) < 8


def test_a_barrier_that_only_some_threads_reach_needs_the_event_engine():
    @mm.program
    def parted(T, a):
        if T.block == 0:
            T.grid_barrier()
        else:
            T.barrier()
        T.grid_barrier()
        a[T.id] = 1

    run = both(parted, mm.UMM(4, 2), [np.zeros(8)], threads=8, block_size=4)
    assert run.engine == "events"
