"""The way that a program takes while it is not compiled: by a clock that the tests move."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

import mmsim as mm
from mmsim.engines.array import engine as array
from mmsim.engines.array.fused import build, execute, tiering
from mmsim.engines.array.interpreted import Interpreted
from tests.kit.runs.paths import both_schedules, launched, outcome, run_along

COMPILING = 20.0  # seconds that the text of a test takes Numba
THREADS = 32


@mm.program
def cyclic_reduction(T, a, b, c, d, steps):
    """A tridiagonal solver's kind: a long text, and few steps over many threads."""
    h = 1
    for _ in range(steps):
        low, high = max(T.id - h, 0), min(T.id + h, a.size - 1)
        x = a[T.id] * b[low] + c[T.id] * b[high]
        y = a[T.id] * d[low] + c[T.id] * d[high]
        T.barrier()
        b[T.id] = x
        d[T.id] = y
        T.barrier()
        h = 2 * h


@mm.program
def count_up(T, a, turns):
    x = 0
    for _ in range(turns):
        x += T.id
    a[T.id] = x


class Time:
    """A clock, and what made it go."""

    def __init__(self) -> None:
        self.now = 0.0
        self.compiled: list[float] = []


@pytest.fixture
def time(monkeypatch):
    """No program is compiled yet, and compiling one takes `COMPILING` seconds."""
    time = Time()
    monkeypatch.setattr(tiering, "clock", lambda: time.now)
    monkeypatch.setattr(tiering, "glance", lambda: time.now)
    monkeypatch.setattr(tiering, "compiling", lambda text: COMPILING)
    monkeypatch.setattr(tiering, "_spent", {})
    monkeypatch.setattr(tiering, "_samples", deque())
    monkeypatch.setattr(build, "is_kept", lambda kernel: False)
    monkeypatch.setattr(execute, "_ready", {})
    monkeypatch.setattr(array, "FEW", THREADS)

    def ready(self):
        time.compiled.append(time.now)
        return build.plain(self.text.kernel)

    monkeypatch.setattr(execute.Execution, "_ready", ready)
    return time


@pytest.fixture
def pace(monkeypatch, time):
    """Set the seconds that interpreting takes for a step: `pace(seconds)` or `pace(list)`."""
    step = tiering.Tiering.step

    def set_pace(seconds):
        def slow(self, steps):
            time.now += seconds[min(steps, len(seconds)) - 1]
            step(self, steps)

        seconds = seconds if isinstance(seconds, list) else [seconds]
        monkeypatch.setattr(tiering.Tiering, "step", slow)

    return set_pace


def solve(steps=12, **how):
    a, b, c, d = (np.random.RandomState(seed).rand(THREADS) for seed in range(4))
    return run_along(None, cyclic_reduction, a, b, c, d, steps, threads=THREADS, **how)


STEPS = 12 * 11  # a turn, eight reads and two writes


def test_what_takes_less_than_compiling_is_interpreted_to_its_end(time, pace):
    pace(0.9 * COMPILING / STEPS)
    solve()
    assert time.compiled == []


def test_what_takes_longer_is_compiled_as_soon_as_that_is_known(time, pace):
    pace(3 * COMPILING / STEPS)
    solve()
    assert len(time.compiled) == 1
    assert tiering.EARLY * COMPILING <= time.compiled[0] <= (tiering.EARLY + 0.1) * COMPILING


@pytest.mark.parametrize("takes", [0.01, 0.3, 1.0, 1.2, 1.6, 2.0, 5.0, 20.0])
def test_a_first_run_takes_at_most_half_as_long_again_as_the_better_way(time, pace, takes):
    pace(takes * COMPILING / STEPS)
    solve()
    if time.compiled:
        time.now += COMPILING
    assert time.now <= 1.5 * min(takes * COMPILING, COMPILING) + 1.0


def test_steps_that_become_fast_are_not_taken_for_slow_ones(time, pace):
    pace([*[COMPILING / 50] * 11, *[COMPILING / 1000] * STEPS])
    solve()
    assert time.compiled == []


def test_what_is_done_once_is_not_taken_for_the_pace(time, pace):
    pace([0.5 * COMPILING, 0.001])
    solve()
    assert time.compiled == []


def test_turns_of_a_loop_without_accesses_count(time, pace):
    pace(3 * COMPILING / 100)
    run_along(None, count_up, np.zeros(THREADS, int), 100, threads=THREADS)
    assert len(time.compiled) == 1


def test_what_is_interpreted_again_and_again_is_compiled(time, pace):
    pace(0.26 * COMPILING / STEPS)
    for turn in range(1, 8):
        solve()
        assert len(time.compiled) == max(0, turn - 4)


def test_what_is_kept_is_loaded_much_sooner(time, pace, monkeypatch):
    monkeypatch.setattr(build, "is_kept", lambda kernel: True)
    pace(0.2 * COMPILING / STEPS)
    solve()
    assert len(time.compiled) == 1
    assert time.compiled[0] < 0.05 * COMPILING


def test_very_many_threads_are_not_tried(time, monkeypatch):
    monkeypatch.setattr(tiering, "STEP", 1.1 * tiering.SURE * COMPILING / (STEPS * THREADS))
    solve()
    assert time.compiled == [0.0]


def test_many_threads_are_not_tried_for_the_memory_that_takes(time, monkeypatch):
    monkeypatch.setattr(tiering, "MANY", THREADS)
    solve()
    assert time.compiled == [0.0]


def test_what_only_compiled_code_has_room_for_is_compiled(time, monkeypatch):
    monkeypatch.setattr(Interpreted, "needed", lambda self: 2**62)
    solve()
    assert time.compiled == [0.0]


@both_schedules
def test_turning_to_the_compiled_way_in_the_middle_changes_no_result(time, pace, schedule):
    pace(3 * COMPILING / STEPS)
    run = solve(schedule=schedule)
    assert len(time.compiled) == 1
    a, b, c, d = (np.random.RandomState(seed).rand(THREADS) for seed in range(4))
    how = {"threads": THREADS, "schedule": schedule}
    interpreted = run_along("interpreted", cyclic_reduction, a, b, c, d, 12, **how)
    assert outcome(run) == outcome(interpreted)


def test_steps_are_those_of_the_interpreter(time, pace):
    counted = []
    pace(0.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiering.Tiering, "step", lambda self, steps: counted.append(steps))
        solve()
    arrays = [np.zeros(THREADS) for _ in range(4)]
    launch = launched(cyclic_reduction, *arrays, 12, threads=THREADS)
    assert counted[-1] == execute.Execution(launch, None).steps == STEPS


def test_what_this_machine_takes_is_measured(monkeypatch):
    monkeypatch.setattr(tiering, "_samples", deque())
    assert 0 < tiering.compiling("x = 1\n" * 50) < tiering.compiling("x = 1\n" * 500)
