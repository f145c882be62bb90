"""The asynchronous schedule of a run: watched, and interrupted by Ctrl-C."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mmsim.engines.array.asynchronous_time import asynchronous_time
from mmsim.host.cores import beside
from mmsim.host.progress import Progress
from mmsim.meaning.launch import Launch

SHORT = 1 << 21
"""Operations that take no time worth watching."""


def scheduled(
    launch: Launch,
    operations: npt.NDArray[np.integer],
    start: npt.NDArray[np.int64],
    progress: Progress,
) -> int:
    """The finishing time of all warps' operations; see `asynchronous_time`."""
    if len(operations) <= SHORT:
        return asynchronous_time(launch.machine, launch.grid, operations, start)
    control = np.zeros(2, dtype=np.int64)

    def work() -> int:
        return asynchronous_time(launch.machine, launch.grid, operations, start, control)

    def watch() -> None:
        progress.report("asynchronous schedule", int(control[1]), "warp requests")

    def stop() -> None:
        control[0] = 1

    return beside(work, watch, stop)
