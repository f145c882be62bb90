"""Waiting where others want the processor too: how long something may take, and until it is so."""

from __future__ import annotations

import os
import time
from pathlib import Path

OTHERS = 3
"""So many times as long may it take then."""


def allowed(promised: float) -> float:
    """The seconds promised, and more where no core is free, or was lately."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    lately = os.getloadavg()[0] >= cores
    return OTHERS * promised if lately or running() > cores else promised


def running() -> int:
    """The threads that run or could at this moment, where the system says so."""
    try:
        return int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
    except OSError:
        return 0


def wait_until(holds, process=None, seconds=120) -> None:
    """Wait until something holds, for so many seconds at most, while a process runs."""
    end = time.monotonic() + seconds
    while not holds():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.02)
