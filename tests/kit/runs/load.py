"""How long something may take that is promised in seconds, where others want the processor too."""

from __future__ import annotations

import os
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
