"""The discrete-event engine: warps, memory units, turns, rounds and barriers as SimPy processes.

It takes every dispatch and every completion as a separate event. So it is exact for any
program, races included, and can record the whole run. The two schedules
drive the same memory units in two ways: `Asynchronous` lets every warp run independently,
`Synchronous` has one sequencer that waits for each round.
"""

from __future__ import annotations

import numpy as np

from mmsim.engines.events.asynchronous import Asynchronous
from mmsim.engines.events.driver import Driver
from mmsim.engines.events.recorder import Recorder
from mmsim.engines.events.synchronous import Synchronous
from mmsim.engines.events.variables import traced_variables
from mmsim.engines.footprint import ACCESS, OBJECT, SEQUENCER, bytes_per_lane
from mmsim.engines.tally import result
from mmsim.meaning.launch import Launch
from mmsim.meaning.memory_budget import check_memory, copies, shared
from mmsim.monitors.listener import Listener
from mmsim.monitors.watch import Monitors, bytes_watched
from mmsim.results import Run
from mmsim.results.trace import Trace

OF_A_WARP, OF_A_UNIT = 1024, 2048  # bytes of a warp's request on its way, and of a memory unit
OF_A_THING = 40  # bytes of a number in one of Python's lists


def ask_for_room(launch: Launch, recording: bool, checking: bool) -> None:
    """Refuse a run that doesn't fit into memory, apart from data that grow with the accesses."""
    grid, meaning = launch.grid, launch.meaning
    held = grid.threads * (bytes_per_lane(launch) + ACCESS)
    held += OF_A_WARP * grid.warps + OF_A_UNIT * min(len(launch.machine.units), 1 + grid.blocks)
    if launch.schedule == "asynchronous":
        held += grid.warps * (SEQUENCER + OBJECT * len(meaning.typing.variables))
    if recording:
        cells = sum(array.size * len(array.bases) for array in launch.arrays.values())
        held += OF_A_THING * cells
        elements = sum(one.elements for one in traced_variables(launch))
        held += 2 * OF_A_THING * elements * grid.threads
    if checking:
        held += bytes_watched(launch)
    check_memory(launch, copies(launch) + shared(launch) + held)


def run(launch: Launch, recording: bool, checking: bool) -> Run:
    """Run a launch to its end."""
    ask_for_room(launch, recording, checking)
    recorder = Recorder(launch) if recording else None
    monitors = Monitors(launch) if checking else None
    driver = driver_of(launch, monitors, recorder)
    drive(driver)
    return result(
        launch,
        "events",
        driver.now,
        driver.tally.tables(),
        monitors.findings() if monitors else None,
        trace_of(driver, recorder, driver.now),
    )


def driver_of(launch: Launch, *listeners: Listener | None) -> Driver:
    """The schedule's driver, before its first event."""
    schedule = Synchronous if launch.schedule == "synchronous" else Asynchronous
    return schedule(launch, [listener for listener in listeners if listener is not None])


def drive(driver: Driver) -> None:
    """Run the program to its end, or raise its error, at which the driver then stands."""
    with np.errstate(all="ignore"):  # inactive lanes may compute nonsense
        driver.env.run()
    driver.ended()


def trace_of(driver: Driver, recorder: Recorder | None, time: int) -> Trace | None:
    """The record up to a time, if the run was recorded."""
    rounds = tuple(row.start for row in driver.tally.rounds)
    return None if recorder is None else recorder.trace(time, rounds)
