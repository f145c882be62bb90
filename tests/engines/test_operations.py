"""The requests of its warps that an asynchronous run keeps: all of them, in little memory."""

import gc
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import mmsim as mm
from mmsim.engines.array import operations
from mmsim.engines.array.operations import ByWarp, InStep, Note, narrowest
from mmsim.engines.array.turns_compiled import BARRIER
from mmsim.errors import RoomError
from mmsim.host import free_memory
from mmsim.meaning.memory_budget import Growth
from tests.kit.runs.paths import launched, outcome, run_along


@mm.program
def own_loops(T, a, n):
    for k in range(n + T.id % 2):
        a[T.id] = a[T.id] * 3 + k


@mm.program
def barriers_apart(T, a, n):
    if T.warp % 2 == 0:
        for _ in range(n):
            a[T.id] = a[T.id] + 1
            T.barrier()
    else:
        for k in range(n):
            a[T.id] = a[T.id] * 3 + k
            T.barrier()


def growth(warps, width=1):
    launch = launched(
        own_loops, np.zeros(warps * width), 1, threads=warps * width, machine=mm.UMM(width, 5)
    )
    return Growth(launch, "the list")


def read(operations, warps):
    flat, start = operations.by_warp()
    return [flat[start[warp] : start[warp + 1]].tolist() for warp in range(warps)], flat.dtype


@pytest.mark.parametrize("most", [3, 2**7 - 1, 2**15 - 1, 2**15, 2**40])
@pytest.mark.parametrize("warps", [1, 7, 100])
def test_operations_in_step_are_those_that_were_noted(warps, most):
    random = np.random.RandomState(warps)
    operations, expected = InStep(growth(warps)), [[] for _ in range(warps)]
    for step in range(60):
        some = np.arange(warps)
        if step % 3:
            some = np.flatnonzero(random.randint(0, 40 if step % 3 == 1 else 3, warps) == 0)
        if not len(some):
            continue
        if step % 7 == 0:
            operations.barrier(some)
            noted = np.full(len(some), BARRIER)
        else:
            stages = np.full(len(some), 1) if step % 2 else random.randint(1, most + 1, len(some))
            noted = 2 * stages + (step % 5 == 0)
            operations.note(Note.of(some, noted, warps))
            if step % 9 == 0:
                operations.sequence(some.item(0), np.array([3, 2], np.uint8))
        for warp, operation in zip(some.tolist(), noted.tolist(), strict=True):
            expected[warp].append(operation)
        if step % 7 and step % 9 == 0:
            expected[some.item(0)] += [3, 2]
    found, dtype = read(operations, warps)
    assert found == expected
    assert dtype == narrowest(max(map(max, filter(None, expected))))


@pytest.mark.parametrize("most", [255, 256, 2**16 - 1, 2**16])
def test_operations_by_warp_are_those_that_were_noted(most):
    operations = ByWarp(growth(5))
    expected = [[2, 1, most], [], [4], [], [6, 7]]
    for warps in (range(0, 2), range(2, 4), range(4, 5)):
        operations.begin(warps)
        for turn in range(3):
            for warp in warps:
                if turn < len(expected[warp]):
                    operations.append(warp, expected[warp][turn])
    operations.sequence(4, np.array([5, 255], np.uint8))
    expected[4] += [5, 255]
    found, dtype = read(operations, 5)
    assert found == expected
    assert dtype == narrowest(most)


def test_the_type_of_operations_holds_them():
    for most, dtype in [(255, "u1"), (256, "u2"), (65535, "u2"), (65536, "i8"), (2**62, "i8")]:
        assert narrowest(most) == np.dtype(dtype)


def least_peak(run, times=3):
    """Bytes that something takes at most: the least of several times, as others take memory too."""
    peaks = []
    for _ in range(times):
        gc.collect()
        gc.disable()
        tracemalloc.start()
        try:
            run()
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
            gc.enable()
    return min(peaks)


def taken(program, width, loops, p):
    """Bytes that a run takes for each request of a warp."""
    requests = []

    def run(n):
        how = {"threads": p, "schedule": "asynchronous", "machine": mm.UMM(width, 5)}
        run = run_along("interpreted", program, np.zeros(p, int), n, **how)
        requests.append(sum(row.requests for row in run.accesses))

    run(loops)  # what is loaded and found once
    few, many = (least_peak(lambda n=n: run(n)) for n in (loops, 3 * loops))
    return (many - few) / (requests[-1] - requests[0])


@pytest.mark.long
def test_a_request_of_a_warp_takes_little_more_than_a_byte():
    assert taken(own_loops, 1, 6, 1 << 12) < 1.5
    assert taken(own_loops, 4, 6, 1 << 12) < 2


def test_a_request_of_a_warp_that_runs_for_itself_takes_two_bytes(monkeypatch):
    """Of the engine's own lines alone: what NumPy keeps for a while is more than these requests."""
    at_end, real = [], ByWarp.by_warp
    engine = tracemalloc.Filter(True, str(Path(operations.__file__).with_name("*")))

    def by_warp(kept):
        found = real(kept)
        gc.collect()
        traces = tracemalloc.take_snapshot().filter_traces([engine]).traces
        at_end.append(sum(trace.size for trace in traces))
        return found

    def run(n):
        machine, a = mm.UMM(1, 5), np.zeros(256, int)
        how = {"threads": 256, "schedule": "asynchronous", "machine": machine}
        run = run_along("interpreted", barriers_apart, a, n, **how)
        return sum(row.requests for row in run.accesses)

    monkeypatch.setattr(ByWarp, "by_warp", by_warp)
    requests = []
    for loops in (2, 2, 42):  # the first loads and finds what is found once
        tracemalloc.start()
        requests.append(run(loops))
        tracemalloc.stop()
    assert 1 < (at_end[2] - at_end[1]) / (requests[2] - requests[1]) < 3


@pytest.mark.parametrize("program", [own_loops, barriers_apart])
def test_room_is_asked_for_as_requests_come(program, monkeypatch):
    how = {"threads": 256, "machine": mm.UMM(1, 5), "schedule": "asynchronous"}
    a = np.arange(256)
    expected = outcome(run_along("interpreted", program, a, 30, **how))
    free = [2**40]
    asked = []
    monkeypatch.setattr(free_memory, "SMALL", 1 << 12)
    monkeypatch.setattr(free_memory, "available", lambda: asked.append(free[0]) or free[0])
    assert outcome(run_along("interpreted", program, a, 30, **how)) == expected
    assert len(asked) > 2
    left = iter([2**40, 2**40, 2**40])
    monkeypatch.setattr(free_memory, "available", lambda: next(left, 10))
    with pytest.raises(
        RoomError,
        match=rf"'{program.name}' with 256 threads has made so many accesses that the list of its "
        r"warps' requests needs \d+\.\d GiB more, but only 0\.0 GiB are free; take fewer threads",
    ):
        run_along("interpreted", program, a, 30, **how)
    assert (a == np.arange(256)).all()


def test_nothing_is_asked_where_there_is_little(monkeypatch):
    monkeypatch.setattr(free_memory, "available", lambda: pytest.fail("it was asked"))
    for program in (own_loops, barriers_apart):
        run_along("interpreted", program, np.zeros(64, int), 3, threads=64, schedule="asynchronous")


def test_where_the_system_does_not_say_what_is_free_it_grows(monkeypatch):
    monkeypatch.setattr(free_memory, "available", lambda: None)
    grown = growth(4)
    grown.need(2**50, 0)
    assert grown.asked > 2**50
