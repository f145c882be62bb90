"""Algorithms of CUB and Thrust: right arrays, equal on both engines, no findings of the checker.

    python -m tests.kit.tools.cccl FILE.json [--program P] [--case C] [--large] [--most SECONDS]

Runs the cases of `tests/cudart/programs` and writes each one's outcome into the file, which may
hold those of other cases. It needs nvcc and g++. Each case runs at the sizes around its tile. Every
launch is checked, and runs on the other engine too; time, rows and arrays must be the same. A
kernel in which the order of atomics matters runs on the event engine, whichever is chosen; the file
names it under `ordered`. With `--large` each case runs only at 2^20 elements, once, and the file
gets its seconds of the processor; a case that takes more than SECONDS is left out.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mmsim.api.result import Run
from mmsim.cuda import launches, machines
from mmsim.cuda.launches import Configuration
from mmsim.cudart.host.building import Nvcc
from mmsim.cudart.host.served import Served
from mmsim.frontend.program import Program
from mmsim.ir import nodes as ir
from mmsim.ir.walk import statements
from tests.kit import ROOT

FOLDER = ROOT / "tests" / "cudart" / "programs"
LARGE = 1 << 20
CASE = re.compile(r'\{"([^"]+)", (\d+), ')
"""A case in a program's list: its name, and the elements of its tile."""


class Compared:
    """Runs each launch checked, and on the other engine; notes what it finds."""

    def __init__(self) -> None:
        self.findings: set[str] = set()
        self.differ: set[str] = set()
        self.ordered: set[str] = set()

    def run(self, program: Program, args: tuple[Any, ...], asked: Configuration) -> Run:
        """Run a launch."""
        launches.history.check = True
        try:
            first = launches.run_kernel(program, args, asked)
        finally:
            launches.history.check = False
        self.findings |= {f"{program.name}: {one.title}" for one in first.findings or ()}
        every = statements(program.code.body)
        meets = any(isinstance(one, ir.Barrier) and one.scope == "grid" for one in every)
        if first.engine == "events" and not meets:  # a checked launch with such a barrier, too
            self.ordered.add(program.name)
            return first
        other = machines.current().run(
            program,
            *args,
            grid=asked.grid,
            block=asked.block,
            schedule="asynchronous",
            engine="array" if first.engine == "events" else "events",
            trace=False,
            max_accesses=launches.MOST_ACCESSES,
        )
        equal = (first.time, first.accesses) == (other.time, other.accesses)
        for name, array in first.arrays.items():
            equal &= np.array_equal(array.view(np.uint8), other.arrays[name].view(np.uint8))
        if not equal:
            self.differ.add(program.name)
        return first


class TooLong(Exception):
    """The case has taken more seconds than it may."""


def seconds() -> float:
    """The seconds of a processor so far, those of ended programs included."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def around(tile: int) -> list[int]:
    """The sizes around a tile."""
    return [0, 1, tile - 1, tile, tile + 1, 2 * tile + 1]


def small(command: list[str], library: Path, sizes: list[int]) -> dict[str, Any]:
    """The outcome at the sizes around a tile."""
    compared, served = Compared(), Served()
    served._repeats.run = compared.run  # type: ignore[method-assign]  # each launch runs
    ok = served.run([*command, *map(str, sizes)], library) == 0 and not served.failed
    return {
        "right": sizes if ok else [],
        "engines": sizes if ok and not compared.differ else [],
        "checker": sizes if ok else [],
        "findings": "; ".join(sorted(compared.findings)),
        "ordered": sorted(compared.ordered),
    }


def large(command: list[str], library: Path, most: float) -> dict[str, Any]:
    """The outcome at 2^20 elements: nothing if it takes too long."""

    def stop(*_: Any) -> None:
        raise TooLong

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, most)
    before, served = seconds(), Served()
    try:
        ok = served.run([*command, str(LARGE)], library) == 0 and not served.failed
    except TooLong:
        return {}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return {"right": [LARGE], "seconds": round(seconds() - before, 1)} if ok else {}


def update(old: dict[str, Any], new: dict[str, Any], is_large: bool) -> dict[str, Any]:
    """An outcome with another run's: sizes of that kind are replaced."""
    found = {**old, **new}
    for key in ("right", "engines", "checker"):
        kept = [one for one in old[key] if (one == LARGE) != is_large]
        found[key] = sorted({*kept, *new.get(key, [])})
    return found


def cases(programs: list[str], only: str | None) -> Iterator[tuple[str, str, int]]:
    """The program, name and tile of each case."""
    for program in programs:
        for name, tile in CASE.findall((FOLDER / f"{program}.cu").read_text("utf-8")):
            if only is None or name == only:
                yield program, name, int(tile)


def save(file: Path, data: dict[str, Any]) -> None:
    """Write a file with a line for each case."""
    lines = ",\n".join(json.dumps(one) for one in data["cases"])
    made = json.dumps(data["made"])
    file.write_text(f'{{"made": {made},\n"cases": [\n{lines}\n]}}\n', encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--program", action="append")
    parser.add_argument("--case")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--most", type=float, default=600)
    given = parser.parse_args()
    data = json.loads(given.file.read_text("utf-8"))
    nvcc, failed = Nvcc(), False
    programs = given.program or sorted({one["program"] for one in data["cases"]})
    with nvcc.library() as library, tempfile.TemporaryDirectory() as folder:
        for program, name, tile in cases(programs, given.case):
            executable = Path(folder) / program
            if not executable.exists():
                nvcc.program([str(FOLDER / f"{program}.cu")], (), library, executable)
            command = [str(executable), name]
            if given.large:
                outcome = large(command, library, given.most)
            else:
                outcome = small(command, library, around(tile))
            print(program, name, outcome, flush=True)
            failed |= not outcome.get("right")
            data = json.loads(given.file.read_text("utf-8"))
            for at, one in enumerate(data["cases"]):
                if (one["program"], one["case"]) == (program, name):
                    data["cases"][at] = update(one, outcome, given.large)
            save(given.file, data)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
