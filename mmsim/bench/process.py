"""Separate Python processes, for measurements from the start, or without other work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from mmsim.bench.benchmark import BenchmarkError


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
