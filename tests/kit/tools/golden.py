"""The results of every program of the papers: times, stages and memory, to the bit.

    python -m tests.kit.tools.golden            compare with golden.json; 1 if anything differs
    python -m tests.kit.tools.golden --write    make it anew, after a rule has changed on purpose

Each program with an example runs on a DMM, a UMM and an HMM under both schedules. A digest stands
for the whole run. It may not depend on the platform, on Python, on NumPy or on the day.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import mmsim as mm
from mmsim_algorithms import programs

FILE = Path(__file__).with_suffix(".json")
MACHINES = (
    mm.DMM(width=4, latency=3),
    mm.UMM(width=4, latency=5),
    mm.HMM(dmms=2, width=4, global_latency=7, shared_latency=2),
)
SCHEDULES = ("synchronous", "asynchronous")


def digest(run: mm.Run) -> str:
    """A run's content as one number: little-endian, so that every machine gives the same."""
    found = hashlib.sha256()
    for row in run.accesses:
        cells = (row.array, row.kind, row.requests, row.stages, row.least)
        found.update(repr((*cells, row.access_class)).encode())
    for row in run.rounds:
        found.update(repr((row.start, row.time, row.stages)).encode())
    for name, values in run.arrays.items():
        found.update(f"{name} {values.dtype.name} {values.shape}".encode())
        found.update(np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes())
    return found.hexdigest()[:16]


def golden() -> Iterator[tuple[str, list[int | str]]]:
    """Every run by name: its time, its stages and its digest."""
    for program in programs():
        where = program.function.__module__.partition(".")[2]
        for machine in MACHINES:
            example = program.prepare(machine.width, seed=3)
            for schedule in SCHEDULES:
                run = machine.run(
                    program,
                    *example.arguments,
                    threads=example.threads,
                    block_size=example.block_size,
                    schedule=schedule,  # type: ignore[arg-type]
                )
                name = f"{where}.{program.name} {type(machine).__name__} {schedule}"
                yield name, [run.time, run.stages, digest(run)]


def main(argv: list[str]) -> int:
    found = dict(golden())
    if argv == ["--write"]:
        lines = [f" {json.dumps(name)}: {json.dumps(row)}" for name, row in found.items()]
        FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        return 0
    known = json.loads(FILE.read_text(encoding="utf-8"))
    differ = [name for name in {**known, **found} if known.get(name) != found.get(name)]
    for name in differ:
        print(f"{name}: {known.get(name)} is now {found.get(name)}")
    print(
        f"{len(found)} runs, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"{platform.machine()}: {len(differ)} differ"
    )
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
