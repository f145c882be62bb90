"""The discrete-event engine: warps, memory units, turns, rounds and barriers as SimPy processes.

It takes every dispatch and every completion as an event of its own, so that it is exact for any
program, races included, and can tell all that happened. The two schedules of DESIGN section 1 are
two ways to drive the same memory units: `Asynchronous` lets every warp run for itself,
`Synchronous` has one sequencer that waits for each round.
"""

from __future__ import annotations

import numpy as np

from mmsim.engines.asynchronous import Asynchronous
from mmsim.engines.driver import Driver, Failure
from mmsim.engines.races import RaceDetector
from mmsim.engines.recorder import Recorder
from mmsim.engines.synchronous import Synchronous
from mmsim.launch import Launch
from mmsim.results import Run


def run(launch: Launch, recording: bool, checking: bool) -> Run:
    """Run a launch to its end."""
    recorder = Recorder(launch) if recording else None
    races = RaceDetector(launch) if checking else None
    schedule = Synchronous if launch.schedule == "synchronous" else Asynchronous
    driver: Driver = schedule(launch, recorder, races)
    with np.errstate(all="ignore"):  # inactive lanes may compute nonsense
        try:
            driver.env.run()
        except Failure as failure:
            raise failure.error from None
    time = max(unit.last_completion for unit in driver.units)
    rounds = tuple(row.start for row in driver.tally.rounds)
    return driver.tally.result(
        "events",
        time,
        findings=None if races is None else races.findings(),
        record=None if recorder is None else recorder.trace(time, rounds),
    )
