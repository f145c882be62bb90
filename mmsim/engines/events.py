"""The discrete-event engine: warps, memory units, turns, rounds and barriers as SimPy processes.

It takes every dispatch and every completion as an event of its own, so that it is exact for any
program, races included, and can tell all that happened. The two schedules are
two ways to drive the same memory units: `Asynchronous` lets every warp run for itself,
`Synchronous` has one sequencer that waits for each round.
"""

from __future__ import annotations

import numpy as np

from mmsim.engines.asynchronous import Asynchronous
from mmsim.engines.driver import Driver, Failure
from mmsim.engines.recorder import Recorder
from mmsim.engines.synchronous import Synchronous
from mmsim.engines.watch import Watch
from mmsim.launch import Launch
from mmsim.results import Run


def run(launch: Launch, recording: bool, checking: bool) -> Run:
    """Run a launch to its end."""
    recorder = Recorder(launch) if recording else None
    watch = Watch(launch) if checking else None
    driver = driver_of(launch, recorder, watch)
    drive(driver)
    return driver.result()


def driver_of(launch: Launch, recorder: Recorder | None, watch: Watch | None) -> Driver:
    """The schedule's driver, before its first event."""
    schedule = Synchronous if launch.schedule == "synchronous" else Asynchronous
    return schedule(launch, recorder, watch)


def drive(driver: Driver) -> None:
    """Let the program run to its end; raises what goes wrong, and the driver stands there."""
    with np.errstate(all="ignore"):  # inactive lanes may compute nonsense
        try:
            driver.env.run()
        except Failure as failure:
            raise failure.error from None
