"""Launches a textbook kernel on both engines, checks it, and compares what the engines say."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

import mmsim as mm
from mmsim.model.machines import Schedule
from tests.conftest import take_the_fused_path
from tests.kit.runs.paths import SCHEDULES, outcome

CARD = mm.HMM(dmms=2, width=8, global_latency=20)
"""Two multiprocessors with warps of eight threads."""


@dataclass(frozen=True)
class Launcher:
    """Launches kernels under one schedule, as a host program does.

    `launch(program, a, b, threads=64, block_size=16)` gives the run. The checker has found nothing
    in it, and both engines, the array engine also along its fused path, have the same times,
    accesses, rounds and arrays.
    """

    schedule: Schedule

    def __call__(self, program, *args, machine=CARD, **options):
        options["schedule"] = self.schedule
        report = machine.check(program, *args, **options)
        assert report.ok, report
        events = machine.run(program, *args, engine="events", trace=False, **options)
        array = machine.run(program, *args, engine="array", **options)
        with pytest.MonkeyPatch.context() as patch:
            take_the_fused_path(patch)
            fused = machine.run(program, *args, engine="array", **options)
        assert outcome(array) == outcome(fused) == outcome(events) == outcome(report.run)
        return array


under_both_schedules = pytest.mark.parametrize(
    "launch", [Launcher(schedule) for schedule in SCHEDULES], ids=SCHEDULES
)
