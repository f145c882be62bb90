"""Long runs of the array engine: refused where there is no room, watched, interrupted."""

import io
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import mmsim as mm
from mmsim.engines.array import asynchronous_time as of_engine
from mmsim.engines.array import turns_compiled as play
from mmsim.engines.array.fused import execute
from mmsim.engines.array.interpreted import Interpreted
from mmsim.errors import LaunchError
from mmsim.host import free_memory, progress
from mmsim.host.progress import Progress
from mmsim_algorithms.bench import growth
from tests.kit.runs.load import allowed
from tests.kit.runs.paths import both_schedules, launched, outcome, run_along

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's account of memory")


@mm.program
def own_elements(T, a, n):
    for k in range(n):
        a[T.id] = a[T.id] * 3 + k


@mm.program
def elements_of_others(T, a, n):
    for k in range(n):
        a[(T.id * 5) % T.count] = a[(T.id + k) % T.count] + k


@mm.program
def own_loops(T, a, n):
    for k in range(n + T.id % 2):
        a[T.id] = a[T.id] * 3 + k


@mm.program
def permutation(T, a, p, b):
    b[p[T.id]] = a[T.id]


# ------------------------------------------------------------------ room


@both_schedules
@pytest.mark.parametrize("path", ["plain", "interpreted"])
def test_what_is_too_large_is_refused_before_it_starts(path, schedule, monkeypatch):
    monkeypatch.setattr(free_memory, "SMALL", 0)
    monkeypatch.setattr(free_memory, "available", lambda: 1000)
    monkeypatch.setattr(Interpreted, "lock_step", None)
    monkeypatch.setattr(execute.Execution, "_pieces", None)
    with pytest.raises(LaunchError, match=r"own_elements.* 4096 threads .*GiB \(\d+ bytes a thr"):
        run_along(path, own_elements, np.zeros(4096, int), 3, threads=4096, schedule=schedule)


def test_where_the_system_does_not_say_what_is_free_everything_runs(monkeypatch):
    monkeypatch.setattr(free_memory, "SMALL", 0)
    monkeypatch.setattr(free_memory, "available", lambda: None)
    run_along("interpreted", own_elements, np.zeros(64, int), 3, threads=64)


@mm.program
def pieces_that_collide(T, a):
    s = mm.shared(64)
    s[T.index] = T.id
    a[T.index] = s[T.index]


def test_what_must_run_as_one_piece_after_all_is_refused_where_that_has_no_room(monkeypatch):
    how = {"threads": 6400, "block_size": 64, "machine": mm.HMM(2, 4, 5)}
    execution = execute.Execution(launched(pieces_that_collide, np.zeros(64), **how), None)
    pieces, whole = execution.needed(False), execution.needed(True)
    assert whole > 2 * pieces
    monkeypatch.setattr(free_memory, "SMALL", 0)
    monkeypatch.setattr(free_memory, "available", lambda: (pieces + whole) // 2)
    with pytest.raises(LaunchError, match="GiB are free"):
        run_along("plain", pieces_that_collide, np.zeros(64), **how)


def test_one_piece_is_counted_once_however_many_cores_there_are(monkeypatch):
    execution = execute.Execution(
        launched(elements_of_others, np.zeros(4096, int), 3, threads=4096), None
    )
    needed = execution.needed(True)
    monkeypatch.setattr(execute, "cores", lambda: 64)
    assert execution.needed(True) == needed


MEASURE = """
import sys, threading
import numpy as np
import mmsim as mm
from mmsim.bench.repetitions import forget_peak, peak_memory
from mmsim.engines.array.fused.execute import Execution
from mmsim.engines.array import asynchronous_time as schedules
from mmsim.engines.array.interpreted import Interpreted
from tests.kit.runs.paths import launched, run_along
import test_array_watched as programs

schedules.FEW = schedules.FEW_MORE = 0  # so that the first run meets Numba already
path, name, schedule, threads = *sys.argv[1:4], int(sys.argv[4])
program = getattr(programs, name)


def arguments(n):
    a = np.arange(n)
    return (a, a[::-1].copy(), np.zeros(n, int)) if name == "permutation" else (a, 3)


how = dict(schedule=schedule, machine=mm.UMM(32, 5))
run_along(path, program, *arguments(1 << 12), threads=1 << 12, **how)
args = arguments(threads)
launch = launched(program, *args, threads=threads, **how)
if path == "fused":
    execution = Execution(launch, None)
    needed = execution.needed(execution.text.in_order)
else:
    needed = Interpreted(launch, None).needed()
forget_peak()
before = peak_memory()
run_along(path, program, *args, threads=threads, **how)
print(needed, peak_memory() - before)
"""


def measured(path, name, schedule, threads):
    """Bytes estimated for a run and taken by it, in a process of its own."""
    command = [sys.executable, "-c", MEASURE, path, name, schedule, str(threads)]
    output = subprocess.run(command, env=environment(), capture_output=True, check=True).stdout
    return map(int, output.split())


def environment():
    """The environment of a process that imports this package and these tests."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


@linux
@both_schedules
@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("fused", "own_elements"),
        ("fused", "elements_of_others"),
        ("interpreted", "permutation"),
        ("interpreted", "own_loops"),
    ],
)
def test_the_estimate_is_no_less_than_what_a_run_takes_and_not_far_more(path, name, schedule):
    needed, took = measured(path, name, schedule, 1 << 20)
    assert took <= needed + (8 << 20)
    assert needed <= 3 * took + (8 << 20)


@linux
def test_the_scheduled_permutation_takes_at_most_200_bytes_a_thread(tmp_path):
    growth.save("scheduled", 1 << 20, tmp_path)
    for schedule in ("synchronous", "asynchronous"):
        row = growth.measured("scheduled", schedule, 1 << 20, 1, str(tmp_path))
        # The result and what it is made from are there together: 8 bytes each.
        assert 16 <= row["bytes per thread"] <= 200


# ------------------------------------------------------------------ progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("path", ["plain", "interpreted"])
def test_who_waits_sees_how_far_a_run_is(path, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE", 0)
    monkeypatch.setattr("mmsim.host.cores.WATCHED", 0.001)
    monkeypatch.setattr(execute, "SHORT", 0)
    run_along(path, own_elements, np.zeros(512, int), 3, threads=512)
    text = terminal.getvalue()
    lines = [line.strip() for line in text.split("\r")]
    assert any(line.startswith("mmsim: own_elements: ") for line in lines)
    assert any("6 rounds" in line and "million a second)" in line for line in lines)
    assert text.endswith("\r")
    assert lines[-2:] == ["", ""]


def test_a_long_asynchronous_schedule_shows_progress_and_is_the_same(monkeypatch):
    how = {"threads": 64, "schedule": "asynchronous"}
    alone = run_along("interpreted", own_elements, np.zeros(64, int), 3, **how)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE", 0)
    monkeypatch.setattr(of_engine, "SHORT", 0)
    watched = run_along("interpreted", own_elements, np.zeros(64, int), 3, **how)
    assert outcome(watched) == outcome(alone)
    requests = sum(row.requests for row in alone.accesses)
    assert f"own_elements: asynchronous schedule, {requests} warp requests (" in terminal.getvalue()


def test_a_long_asynchronous_schedule_can_be_stopped(monkeypatch):
    def stopped_at_once(work, watch, stop):
        stop()
        return work()

    monkeypatch.setattr(of_engine, "SHORT", 0)
    monkeypatch.setattr(of_engine, "in_thread", stopped_at_once)
    monkeypatch.setattr(play, "REPORT", 10)
    launch = launched(own_elements, np.zeros(64, int), 3, threads=64, schedule="asynchronous")
    assert Interpreted(launch, Progress("p")).run() == -1


def test_nothing_is_shown_without_a_terminal_or_of_a_quick_run(monkeypatch):
    for stream in (io.StringIO(), Terminal()):
        monkeypatch.setattr(sys, "stderr", stream)
        run_along("interpreted", own_elements, np.zeros(64, int), 3, threads=64)
        assert stream.getvalue() == ""


def test_a_line_covers_the_one_before(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    shown = Progress("p")
    shown.say("a long text")
    shown.say("short")
    shown.close()
    first, second, wiped, end = terminal.getvalue().split("\r")[1:]
    assert (len(second), end) == (len(first), "")
    assert wiped.strip() == ""
    assert len(wiped) >= len(second.rstrip())


LONG = """
import os, signal, sys, threading, time
import numpy as np
import mmsim as mm
from mmsim.engines.array import asynchronous_time as of_engine
from tests.kit.runs.paths import run_along
import test_array_watched as programs

# A job in the background of a shell inherits that SIGINT is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
path, name, schedule, phase = sys.argv[1:]
program, size = getattr(programs, name), 1 << 18
how = dict(schedule=schedule, machine=mm.UMM(32, 5))
run_along(path, program, np.zeros(size, int), 1, threads=size, **how)  # compile it
if phase == "schedule":
    begun = of_engine.asynchronous_time

    def again_and_again(*arguments):
        print("begun", flush=True)
        while not arguments[-1][0]:
            begun(*arguments)

    of_engine.asynchronous_time = again_and_again
    run_along(path, program, np.zeros(size, int), 20, threads=size, **how)
else:
    print("begun", flush=True)
    run_along(path, program, np.zeros(size, int), 100_000, threads=size, **how)
"""


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
@pytest.mark.parametrize(
    ("path", "name", "schedule", "phase"),
    [
        ("fused", "own_elements", "synchronous", "pieces"),
        ("fused", "elements_of_others", "synchronous", "pieces"),
        ("fused", "own_elements", "asynchronous", "schedule"),
        ("interpreted", "own_loops", "synchronous", "pieces"),
        ("interpreted", "own_loops", "asynchronous", "schedule"),
    ],
)
def test_ctrl_c_ends_a_run_within_two_seconds(path, name, schedule, phase):
    process = subprocess.Popen(
        [sys.executable, "-c", LONG, path, name, schedule, phase],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "begun\n"
        time.sleep(0.3)
        assert process.poll() is None
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert time.monotonic() - sent < allowed(2)
    finally:
        process.kill()
    assert errors.strip().endswith("KeyboardInterrupt")
