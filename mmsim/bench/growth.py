"""Growth with n: the exponent of the time, the peak of the memory."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from mmsim.bench.benchmark import BenchmarkError

STATUS = Path("/proc/self/status")


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The exponent e of the c * n^e nearest to the values: least squares on the logarithms.

    >>> round(exponent([1, 10, 100], [7, 70, 700]), 6)
    1.0
    """
    if len(set(sizes)) < 2:
        raise BenchmarkError(f"growth is seen from two sizes on, not {len(set(sizes))}")
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def peak_memory() -> int:
    """The peak memory of this process in bytes, with all its threads and libraries.

    On Linux the figure is the kernel's VmHWM. Elsewhere it is ru_maxrss; on Linux this would be
    at least the memory of the *parent* process when it started this one.
    """
    if STATUS.exists():
        for line in STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:
        raise BenchmarkError("this system doesn't report how much memory a process took") from None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def forget_peak() -> None:
    """Let `peak_memory` count from here on, if the system can (Linux)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
