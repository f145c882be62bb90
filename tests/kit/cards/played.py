"""What stands in for a GPU and for NVIDIA's profiler in tests."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from mmsim.gpu import Calibration, Device, banks, ncu
from mmsim.gpu.bank_accesses import ACCESSES, BLOCKS
from mmsim.gpu.ncu import Profiled

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
    monkeypatch.setattr(ncu, "known_metrics", lambda profiler: set(known))


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


def stage(multiprocessors, words, ready):
    """What a measurement by a kernel of its own asks of a stage; `ready` makes its launches."""
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
        sizes = {"threads": step.threads, "block_size": step.block_size}
        run = machine.run(step.program, *step.given(arrays), **sizes, **how)
        names = [one for one in step.arguments if isinstance(one, str)]
        arrays |= zip(names, run.arrays.values(), strict=True)
        runs.append(run)
    return runs, arrays
