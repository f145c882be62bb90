"""Launches in a new process under the profiler, each with its counts."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from mmsim.gpu import ncu
from mmsim.gpu.counting import NAME
from mmsim.gpu.ncu import Profiled
from mmsim.gpu.record import Row
from mmsim_algorithms.gpu import sessions

KERNEL = "kernel launched"
"""The field with the kernel's name of a row that a child writes; it isn't kept."""


def counted(
    profiler: str, metrics: Sequence[str], module: str, before: Sequence[str], *after: str
) -> list[Row]:
    """The rows that a module's command writes for its launches, each with the launch's counts.

    The command gets the arguments `before`, the file for its rows, `--launch`, and those `after`.
    The cache is empty before each launch. Raises `NoCounters` if the profiler counts others.
    """
    with tempfile.TemporaryDirectory() as folder:
        said = Path(folder) / "launched.jsonl"
        asked = (*before, str(said), "--launch", *after)
        found = ncu.profile(profiler, NAME, metrics, Path(folder), module, *asked, cache="all")
        rows = [json.loads(line) for line in said.read_text(encoding="utf-8").splitlines()]
    return joined(rows, found, metrics)


def write(file: Path, rows: Iterable[Row]) -> int:
    """Write the rows of launches as they are made; return the exit status of the command."""
    with file.open("w", encoding="utf-8") as opened:
        for row in rows:
            print(json.dumps(row), file=opened, flush=True)
    return 0


def joined(rows: Sequence[Row], launches: Sequence[Profiled], metrics: Sequence[str]) -> list[Row]:
    """Join the launches with their counts; raise `NoCounters` if they aren't the same launches."""
    own = sessions.in_order(launches, [str(row[KERNEL]) for row in rows])
    return [
        {name: value for name, value in row.items() if name != KERNEL} | one.counts(metrics)
        for row, one in zip(rows, own, strict=True)
    ]
