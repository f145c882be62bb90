"""A substitute for a GPU and for NVIDIA's profiler in tests."""

from types import SimpleNamespace

import numpy as np

from mmsim.gpu import Calibration, Device, ncu
from mmsim.gpu.ncu import Profiled
from mmsim_algorithms.gpu import banks, cache_stage, sessions
from mmsim_algorithms.gpu.bank_accesses import ACCESSES, BLOCKS

KNOWN = Calibration(
    device="A GPU",
    multiprocessors=2,
    cycles_per_stage=1.25,
    cycle_ps=500.0,
    shared_latency=20,
    group_ps=40.0,
    global_latency=60,
    launch_ns=2000.0,
)
"""The machines of a GPU."""
DEVICE = Device("A GPU", "1.2", "13.0", 1024)


def play_profiler(monkeypatch, known=()):
    """As if ncu were here, version 1.0, and listed these metrics; none for all."""
    monkeypatch.setattr(ncu, "find", lambda: "ncu")
    monkeypatch.setattr(ncu, "version", lambda profiler: "1.0")
    monkeypatch.setattr(sessions, "known_metrics", lambda profiler: set(known))


def play_facts(monkeypatch, module, **facts):
    """The facts of a result that a module asks for."""
    monkeypatch.setattr(module, "facts", lambda command: {**facts, "command": command})


def play_banks(monkeypatch, wrong):
    """A GPU that follows the rule of banks, but takes a stage more for the kinds of access named.

    A launch has 64 wavefronts of its own, and those of its requests as digits.
    """

    def launched(profiler, launches, metrics):
        assert metrics == [banks.METRIC]
        first = launches[0][0]
        (access,) = (one for one in ACCESSES if one.source(first.name) == first.source)
        found = []
        for number, (kernel, _) in enumerate(launches):
            index = kernel.arguments[0].words().reshape(-1, 32)
            stages = [access.stages(one) for one in index]
            stages[0] += number == 1 and access.name in wrong
            total = sum(count * access.base**digit for digit, count in enumerate(stages))
            found.append(Profiled(first.name, {banks.METRIC: BLOCKS + total}))
        return found

    play_profiler(monkeypatch)
    monkeypatch.setattr(banks, "profiled", launched)


class PlayedCuPy:
    """NumPy in the place of CuPy, for a `Stage`.

    `launched` has the name, p, the first array, the grid and the block of each launch, which takes
    the milliseconds that `lasts` gives for p and the grid.
    """

    asarray, asnumpy, zeros, __version__ = np.array, np.array, np.zeros, "14"

    def __init__(self, multiprocessors, lasts):
        self.launched, self.clock, self.lasts = [], 0.0, lasts
        properties = {"multiProcessorCount": multiprocessors}
        self.cuda = SimpleNamespace(
            runtime=SimpleNamespace(getDeviceProperties=lambda number: properties),
            Device=lambda: SimpleNamespace(id=0, synchronize=lambda: None),
            Event=self.event,
            get_elapsed_time=lambda begin, end: end.time - begin.time,
        )

    def event(self):
        found = SimpleNamespace(synchronize=lambda: None)
        found.record = lambda: setattr(found, "time", self.clock)
        return found

    def compiled(self, cp, written):
        def function(grid, block, passed, shared_mem=0):
            p = passed[1] if written.name == "reads_one_by_one" else passed[-1]
            numbers = p.tolist() if len(passed) > 1 else []
            self.launched.append((written.name, numbers, passed[0], grid, block))
            self.clock += self.lasts(numbers, grid)

        return function

    def on_stage(self, monkeypatch, cache_bytes):
        """Let a `Stage` run here, on a device with such a cache."""
        device = Device("A GPU", "1.2", "13.0", cache_bytes)
        monkeypatch.setattr(cache_stage, "compiled", self.compiled)
        monkeypatch.setattr(cache_stage, "device", lambda: device)


def stage(multiprocessors, words, ready):
    """A stage for a measurement by a kernel of its own; `ready` makes its launches."""
    return SimpleNamespace(
        cp=SimpleNamespace(zeros=np.zeros, asarray=np.asarray, asnumpy=np.asarray),
        card=SimpleNamespace(multiprocessors=multiprocessors),
        scratch=np.zeros(words, np.int32),
        ready=ready,
    )


def after_launches(machine, launched, **how):
    """The runs of launches on a machine, in order, and the arrays after them."""
    arrays, runs = dict(launched.arrays), []
    for step in launched.steps:
        run = machine.run(step.program, *step.given(arrays), **step.how, **how)
        arrays |= zip(step.arrays, run.arrays.values(), strict=True)
        runs.append(run)
    return runs, arrays
