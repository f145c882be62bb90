"""A session of NVIDIA's profiler: the metrics that the GPU at hand has, and launches in order."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from typing import Any

from mmsim.gpu import ncu
from mmsim.gpu.ncu import NoCounters, Profiled


def known_metrics(profiler: str) -> set[str]:
    """The metrics of the GPU at hand, without the endings of their names (".sum").

    None of them if the profiler doesn't list any.
    """
    try:
        done = subprocess.run(
            [profiler, "--query-metrics"], capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError):
        return set()
    return set(re.findall(r"^([a-z0-9]+__\w+)", done.stdout, re.MULTILINE))


def session(wanted: Sequence[str]) -> tuple[str, list[str], dict[str, Any]]:
    """The profiler, the wanted metrics that the GPU at hand has, and the facts about both.

    All are wanted of it if it doesn't list the available ones. Raises `NoCounters` without it.
    """
    profiler = ncu.find()
    known = known_metrics(profiler)
    metrics = [name for name in wanted if not known or name.removesuffix(".sum") in known]
    lacking = [name for name in wanted if name not in metrics]
    return profiler, metrics, {"ncu": ncu.version(profiler), "metrics lacking": lacking}


def in_order(launches: Sequence[Profiled], kernels: Sequence[str]) -> Sequence[Profiled]:
    """The launches, if they are those of these kernels, one by one; else `NoCounters`."""
    if [launch.kernel for launch in launches] != list(kernels):
        raise NoCounters(f"ncu counted {len(launches)} launches of {len(kernels)}; run it again")
    return launches
