"""Predictions of the machine with a cache for ICPP's permutations and kernels: times and counts.

`python -m mmsim_algorithms.gpu.cached_predictions icpp FILE` predicts ICPP's Table II, launched
with several words a thread, and one permutation of Table III; `kernels` predicts KERNELS, `unseen`
UNSEEN, and `third` THIRD. The machine comes from the kept microbenchmarks (`cache_calibrated`), of
another card with `--results FOLDER`. A time is predicted for all launches together. Each finds the
cache as the last one left it, and the first one as a write to another array left it, as in the
measurement. Counts are predicted for each launch with an empty cache, as in the profiler's run. The
command continues where a file ends, and saves after each row.
The file is signed (`mmsim.gpu.signed`). Commit it before the measurement, which then names it:
`mmsim gpu reproduce THIRD --measure-only --predicted FILE`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from mmsim.api.machines import Cached
from mmsim.gpu import signed
from mmsim.gpu.calibrated import Calibration
from mmsim.gpu.record import Record, Row
from mmsim.results.cache import bound, busy
from mmsim_algorithms.gpu import icpp_tables
from mmsim_algorithms.gpu.cache_calibrated import cached_machine, milliseconds
from mmsim_algorithms.gpu.consecutive import Taken, taken
from mmsim_algorithms.gpu.icpp_tables import SIDES
from mmsim_algorithms.gpu.kept import FOLDER, Results
from mmsim_algorithms.gpu.kernel_sets import SETS
from mmsim_algorithms.gpu.launch_groups import Group, batches, of_side
from mmsim_algorithms.gpu.permuting import PAPER, Arrays
from mmsim_algorithms.gpu.steps import Step, digest_of

MODULE = "mmsim_algorithms.gpu.cached_predictions"
KEPT = FOLDER.parent / "cached"
"""The folder of kept predictions."""
TIMES, COUNTS, MOVES = "time", "counts", "moves"
MOVED: Row = {"permutation": "random", "algorithm": "D-designated", "type": "float"}
"""The groups whose moves in NumPy are timed."""
DIGEST = "digest"
"""The field with the digest of the launches and their data, of a predicted and a measured time."""
WHAT = (TIMES, COUNTS, MOVES)
"""A row's content: a predicted time, predicted counts, or the time of NumPy's moves here."""


@dataclass(frozen=True)
class Task:
    """One row or several: the time of a group's launches, or the counts of each."""

    what: str
    group: Group

    @property
    def about(self) -> Row:
        return {"what": self.what, **self.group.about}


def tasks(which: str, sides: Sequence[int] = SIDES) -> Iterator[Task]:
    """All tasks, the quick ones first."""
    if which in SETS:
        for groups in batches(which).values():
            for group in groups():
                yield Task(TIMES, group)
                yield Task(COUNTS, group)
        return
    for side in sides:
        for group in of_side(side):
            yield Task(TIMES, group)
            yield Task(COUNTS, group)
            if MOVED.items() <= group.about.items():
                yield Task(MOVES, group)
        if side == 2048:
            for algorithm in icpp_tables.ALGORITHMS:
                about: Row = {"table": "ICPP-T3", "algorithm": algorithm, "sqrt n": side}
                yield Task(TIMES, Group(about, partial(_random, algorithm, side)))


def _random(algorithm: str, side: int) -> tuple[Sequence[Step], Arrays]:
    """The first permutation of Table III, launched as in the paper."""
    task = icpp_tables.random_task(side * side, 0)
    a = np.zeros(side * side, np.float32)
    return icpp_tables.launches(algorithm, task, a, PAPER)


@dataclass(frozen=True)
class Machines:
    """The machine of a device, and its plain calibration."""

    device: str
    cached: Cached
    plain: Calibration

    @staticmethod
    def kept(folder: Path = FOLDER) -> Machines:
        """Read the machine from the microbenchmarks in a folder."""
        results = Results.read(folder)
        record, plain = results["cache"], results.card
        return Machines(str(record.facts["device"]), cached_machine(record, plain), plain)

    def milliseconds(self, steps: Sequence[Step], arrays: Arrays) -> float:
        """The milliseconds that timed launches take."""
        return self.timed(steps, arrays)[0]

    def timed(self, steps: Sequence[Step], arrays: Arrays) -> tuple[float, str]:
        """The time of launches together, and their limit for most of it."""
        found = taken(self.cached, steps, arrays, timed=True)
        binds: Counter[str] = Counter()
        for one in found:
            times = busy(one.rows, self.cached.cache)
            binds[bound(times, times, one.time)] += one.time
        lasts = milliseconds((one.time for one in found), self.plain)
        return lasts, binds.most_common(1)[0][0]


def predicted(task: Task, machines: Machines) -> list[Row]:
    """The rows of a task."""
    steps, arrays = task.group.make()
    begin = time.process_time()
    if task.what == MOVES:
        arrays["b"][arrays["p"]] = arrays["a"]
        return [{**task.about, "seconds": round(time.process_time() - begin, 4)}]
    if task.what == TIMES:
        ms, binds = machines.timed(steps, arrays)
        took = round(time.process_time() - begin, 2)
        kernels = digest_of(steps, arrays)
        about: Row = {"predicted": ms, "bound": binds, "seconds": took, DIGEST: kernels}
        return [{**task.about, **about}]
    found = taken(machines.cached, steps, arrays, timed=False)
    return [
        {**task.about, "step": number, "program": step.program.name, **counts(one)}
        for number, (step, one) in enumerate(zip(steps, found, strict=True))
    ]


def counts(launch: Taken) -> Row:
    """The predicted counts of a launch, in the profiler's terms.

    Sectors asked are the sectors that the DMMs ask for, by reads, writes and atomics. Sectors read
    are lookups: a sector that crosses to the home half is looked up there again. Hits and misses
    count reads; a sector that comes with another one is a miss, too.
    """
    found = {
        "sectors asked": 0, "tags": 0, "sectors read": 0, "read hits": 0, "read misses": 0,
        "sectors written": 0, "crossings": 0, "fills": 0, "memory reads": 0, "memory writes": 0,
    }  # fmt: skip
    for row in launch.rows:
        found["sectors asked"] += row.sectors
        found["tags"] += row.tags
        found["crossings"] += row.crossings
        found["fills"] += row.fills
        found["memory reads"] += row.memory_reads
        found["memory writes"] += row.memory_writes
        if row.kind == "read":
            found["sectors read"] += row.sectors + row.crossings
            found["read hits"] += row.hits
            found["read misses"] += row.misses
        else:
            found["sectors written"] += row.sectors
    return dict(found)


def _place(order: dict[str, int], row: Row) -> int:
    """The place of a row among all tasks."""
    known = (json.loads(about).items() <= row.items() for about in order)
    return list(known).index(True)


def run(which: str, file: Path, sides: Sequence[int], what: Sequence[str], results: Path) -> None:
    """Predict the rows that the file lacks, one by one."""
    machines = Machines.kept(results)
    other = "" if results == FOLDER else f" --results {results}"
    facts = {
        "command": f"python -m {MODULE} {which}{other}",
        "machine": repr(machines.cached),
    }
    record = Record(f"{which}-cached", facts, ())
    if file.exists():
        record = Record.read(file)
        why = signed.broken(record)
        if why is not None:
            raise SystemExit(f"{file}: {why}; remove it first")
        if not {**facts, signed.RULES: signed.rules()}.items() <= record.facts.items():
            raise SystemExit(f"{file} was made with another machine; remove it first")
    order = {json.dumps(task.about): at for at, task in enumerate(tasks(which))}
    for task in tasks(which, sides):
        if task.what not in what or any(task.about.items() <= row.items() for row in record.rows):
            continue
        begin = time.monotonic()
        rows = (*record.rows, *predicted(task, machines))
        record = replace(record, rows=tuple(sorted(rows, key=partial(_place, order))))
        record = signed.sign(record)
        file.parent.mkdir(exist_ok=True)
        file.write_text(record.to_json(), encoding="utf-8")
        said = ", ".join(str(value) for value in task.about.values())
        print(f"{said}: {time.monotonic() - begin:.0f} s", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Predict, and save after each row."""
    parser = argparse.ArgumentParser(description="Predict by the machine with a cache.")
    parser.add_argument("which", choices=("icpp", *SETS))
    parser.add_argument("file", type=Path, help="where the predictions go, as JSON")
    parser.add_argument("--sides", type=int, nargs="+", choices=SIDES, default=SIDES)
    parser.add_argument("--what", nargs="+", choices=WHAT, default=WHAT)
    parser.add_argument("--results", type=Path, default=FOLDER, help="where the records are")
    asked = parser.parse_args(arguments)
    run(asked.which, asked.file, asked.sides, asked.what, asked.results)


if __name__ == "__main__":
    main()
