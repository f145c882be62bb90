"""Separate Python processes, for measurements from the start, and the memory of this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from mmsim.bench.repetitions import BenchmarkError

STATUS = Path("/proc/self/status")


def python(*arguments: str, **environment: str) -> str:
    """Python's output for these arguments. Raises `BenchmarkError` if it fails."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        called = " ".join(arguments)
        why = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        if done.returncode < 0:
            why = f"ended by signal {-done.returncode}; with 9, memory may have run out"
        raise BenchmarkError(f"python {called}: {why}")
    return done.stdout


def json_output(module: str, *arguments: object, **environment: str) -> Any:
    """The JSON output of a module."""
    return json.loads(python("-m", module, *map(str, arguments), **environment))


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
