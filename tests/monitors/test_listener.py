"""Reports of an engine to its listeners, event by event."""

import numpy as np

import mmsim as mm
from mmsim.engines.events.engine import drive, driver_of
from mmsim.meaning.launch import Launch
from mmsim.monitors.listener import Listener
from mmsim.monitors.watch import Monitors


@mm.program
def meet(T, a, b):
    x = a[T.id]
    T.barrier()
    if T.id < 3:
        b[T.id] = x + 1


class Diary(Listener):
    """Writes down all that it hears."""

    def __init__(self, launch):
        self.arrays = launch.arrays
        self.lines = []

    def accessed(self, access):
        values = None if access.values is None else access.values.tolist()
        held = self.arrays["b"].data[0].tolist()
        times = np.unique(access.times).tolist()
        threads = access.threads.tolist()
        self.lines.append(("accessed", access.site.kind, threads, times, values, held))

    def dispatched(self, access, unit, ready, stages):
        values = access.values.tolist()
        self.lines.append(("dispatched", access.warps, access.times, unit.name, ready, values))

    def round_ended(self, access, start, time, live):
        self.lines.append(("round", access.site.kind, start, time))

    def met(self, place, here, live, time=-1, scope="block"):
        self.lines.append(("met", here, live, time))

    def arrived(self, warp, place, here, live, time=-1, scope="block"):
        self.lines.append(("arrived", warp, time))

    def released(self, block, stays, time):
        self.lines.append(("released", [(stay.warp, stay.since) for stay in stays], time))

    def began(self, frame, warps):
        self.lines.append(("began", list(warps)))

    def worked(self, frame, time):
        self.lines.append(("worked", time))

    def ended(self, warp, live):
        self.lines.append(("ended", warp))


def heard(schedule):
    arrays = np.array([5, 6, 7, 8]), np.zeros(4, int)
    launch = Launch(mm.DMM(2, 3), meet, arrays, 4, None, schedule, 100)
    diary = Diary(launch)
    drive(driver_of(launch, diary))
    return diary.lines


def test_a_round_is_reported_as_a_whole_before_it_takes_effect():
    before = [0, 0, 0, 0]
    assert heard("synchronous") == [
        ("began", [0, 1]),
        ("worked", 0),
        ("accessed", "read", [0, 1, 2, 3], [0, 1], [5, 6, 7, 8], before),
        ("dispatched", 0, 0, "memory", 0, [5, 6]),
        ("dispatched", 1, 1, "memory", 0, [7, 8]),
        ("round", "read", 0, 4),
        ("worked", 4),
        ("met", True, True, 4),
        ("worked", 4),
        ("accessed", "write", [0, 1, 2], [4, 5], [6, 7, 8], before),
        ("dispatched", 0, 4, "memory", 4, [6, 7]),
        ("dispatched", 1, 5, "memory", 4, [8]),
        ("round", "write", 4, 8),
        ("worked", 8),
    ]


def test_a_warp_that_runs_independently_reports_each_request_when_it_is_dispatched():
    assert heard("asynchronous") == [
        ("began", [0]),
        ("worked", 0),
        ("began", [1]),
        ("worked", 0),
        ("accessed", "read", [0, 1], [0], None, [0, 0, 0, 0]),
        ("dispatched", 0, 0, "memory", 0, [5, 6]),
        ("accessed", "read", [2, 3], [1], None, [0, 0, 0, 0]),
        ("dispatched", 1, 1, "memory", 0, [7, 8]),
        ("worked", 3),
        ("arrived", 0, 3),
        ("worked", 4),
        ("arrived", 1, 4),
        ("released", [(0, 3), (1, 4)], 4),
        ("worked", 4),
        ("worked", 4),
        ("accessed", "write", [0, 1], [4], [6, 7], [0, 0, 0, 0]),
        ("dispatched", 0, 4, "memory", 4, [6, 7]),
        ("accessed", "write", [2], [5], [8], [6, 7, 0, 0]),
        ("dispatched", 1, 5, "memory", 4, [8]),
        ("worked", 7),
        ("ended", 0),
        ("worked", 8),
        ("ended", 1),
    ]


def test_a_single_thread_is_not_watched(monkeypatch):
    @mm.program
    def total(T, a):
        for k in range(1, len(a)):
            a[0] += a[k]

    @mm.program
    def through_shared(T, a):
        own = mm.shared(1)
        a[0] = own[0]

    watched = []
    monkeypatch.setattr(Monitors, "accessed", lambda self, access: watched.append(access))
    machine, a = mm.HMM(2, 4, 10), np.arange(5.0)
    for schedule in ("synchronous", "asynchronous"):
        run = machine.run(total, a, threads=1, schedule=schedule, check=True)
        assert (run.findings, run["a"][0], watched) == ((), 10, [])
    machine.run(total, a, threads=2, check=True)
    seen = len(watched)
    assert seen
    machine.run(through_shared, a, threads=1, check=True)  # it may read what no thread has written
    assert len(watched) > seen
