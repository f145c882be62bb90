"""The kernels of numba-cuda's suite on a GPU, compared with the model.

    python -m tests.kit.numba_suite.on_gpu collect FILE [NAME...]
    python -m tests.kit.numba_suite.on_gpu run FILE [--json OUT]

`collect` needs numba-cuda and no GPU. It runs the suite as `run.py` does, and keeps the first
launch of every kernel for every kind of arguments that the checker finds nothing in, and whose
atomics come out the same in any order; a NAME is a part of a file's name.

`run` needs a GPU, CuPy and no numba-cuda. It launches each of them once: the arrays must be the
same, bit for bit where every function of the kernel is one that IEEE 754 defines. Then it launches
them under NVIDIA's profiler ncu, and sets wavefronts of shared memory and address groups of global
memory with the model's stages.

`collect` exits with status 1 if test files ended without an outcome, and prints what they said;
with 2 if there is no such file. `run` exits with status 0 if all arrays are the same, 1 if not, 2
without a GPU.
"""

from __future__ import annotations

import argparse
import math
import os
import pickle
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mmsim import gpu
from mmsim.gpu import ncu
from mmsim.gpu.counting import Count, Counters, compare, measure
from mmsim.gpu.ncu import NoCounters
from mmsim.gpu.record import Record
from mmsim.gpu.replay import cupy, once_written
from mmsim.gpu.signed import facts
from mmsim.reports.gpu import counters_summary
from tests.kit.numba_suite import run
from tests.kit.numba_suite.collected import Collected, load, save
from tests.kit.runs.bits import floats, same_bits

KINDS = 3
"""Kinds of arguments for which a kernel is kept: a GPU's time is short."""
AT_ONCE = 250
"""Launches that one process of ncu profiles: if it fails, the others' counts are there."""
MOST_UNITS = 16
"""The largest distance of arrays by functions whose last digits IEEE 754 leaves open."""


# ------------------------------------------------------------ here


def collect_suite(file: Path, names: Sequence[str], jobs: int) -> int:
    """Run the suite and keep its launches in a file; the exit status, 1 if test files broke."""
    paths = run.named_files(names)
    if not paths:
        print(f"no file of numba-cuda's tests has {' or '.join(names)} in its name")
        return 2
    broken: dict[str, str] = {}
    kept: dict[Any, Collected] = {}
    reasons: dict[Any, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MMSIM_SUITE_COLLECTED"] = folder
        done: list[str] = []
        plugin = "tests.kit.numba_suite.collecting"
        for batch, (outcomes, own) in run.run_batches(paths, jobs, plugin):
            done += outcomes
            broken |= own
            print(f"{batch[-1].name}: {len(done)} tests", flush=True)
        for part in sorted(Path(folder).iterdir()):
            found, others = pickle.loads(part.read_bytes())
            kept = {**found, **kept}
            reasons |= others
    left_out = Counter(reason for key, reason in reasons.items() if key not in kept)
    found = chosen(kept)
    left_out["its kernel is there for other kinds of arguments"] = len(kept) - len(found)
    save(file, found, left_out)
    print(f"{len(done)} tests, {len(found)} different launches kept, {left_out.total()} left out")
    for reason, count in left_out.most_common():
        print(f"{count:>4} {reason}")
    by_end: dict[str, list[str]] = {}
    for name, said in broken.items():
        by_end.setdefault(said.strip(), []).append(name)
    for said, files in by_end.items():
        print(f"{len(files)} files ended without an outcome: {', '.join(files)}:\n{said}")
    return int(bool(broken))


def chosen(kept: Mapping[Any, Collected]) -> list[Collected]:
    """The launches for a GPU: each kernel's for its first kinds of arguments, under new names."""
    times: Counter[Any] = Counter()
    found = []
    for (*source, _), one in sorted(kept.items(), key=lambda item: (item[1].test, repr(item[0]))):
        times[tuple(source)] += 1
        if times[tuple(source)] <= KINDS:
            found.append(one.numbered(len(found)))
    return found


# ------------------------------------------------------------ on the GPU


@dataclass(frozen=True)
class Outcome:
    """The arrays that a launch left on the GPU, or the error that it ended with.

    `same` says whether the arrays are the simulator's, bit for bit, `units` how far they are from
    these: see `distance`.
    """

    launch: Collected
    same: bool = False
    units: float = math.inf
    error: str = ""

    @property
    def equal(self) -> bool:
        """Return whether its arrays are the simulator's, as far as they must be."""
        return self.same or (self.launch.loose != "" and self.units <= MOST_UNITS)

    def row(self) -> dict[str, Any]:
        """It as plain data."""
        return {
            "measure": "arrays",
            "program": self.launch.case.program,
            "threads": self.launch.threads,
            "loose": self.launch.loose,
            "same": self.same,
            "units": self.units if math.isfinite(self.units) else None,
            "equal": self.equal,
            **({"error": self.error} if self.error else {}),
        }


def on_the_gpu(cp: Any, launch: Collected) -> dict[str, Any]:
    """The arrays after a launch."""
    return once_written(cp, launch.kernel)


def outcomes(cp: Any, launches: Iterable[Collected]) -> list[Outcome]:
    """Every launch on the GPU. After an error of CUDA's the GPU is of no more use here."""
    done = []
    for launch in launches:
        try:
            found = on_the_gpu(cp, launch)
        except Exception as error:
            said = f"{type(error).__name__}: {error}".strip().split("\n")[0]
            done.append(Outcome(launch, error=said))
            print(f"{launch.case.program}: {said}", flush=True)
            if "cudaError" in said or "CUDA_ERROR" in said:
                break
            continue
        both = [(found[name], array) for name, array in launch.arrays.items()]
        same = all(same_bits(*pair) for pair in both)
        units = max((distance(*pair, launch.loose) for pair in both), default=0.0)
        done.append(Outcome(launch, same, units))
        if not done[-1].equal:
            print(f"{launch.case.program}: differs by {units:g} units", flush=True)
    return done


def distance(found: Any, expected: Any, loose: str = "") -> float:
    """The distance of two arrays, in units of the last place; infinite between other integers.

    A unit is that of the expected number, or of 1 if that is larger: where a function is near 0,
    all digits of the rounded one may be wrong. It is that of the type `loose` if that is narrower.
    """
    found, expected = floats(found), floats(expected)
    if found.dtype.kind != "f":
        return 0.0 if np.array_equal(found, expected) else math.inf
    with np.errstate(invalid="ignore"):
        differ = (found != expected) & ~(np.isnan(found) & np.isnan(expected))
        found, expected = found[differ], expected[differ]
        size = np.maximum(abs(expected), 1)
        unit = np.maximum(np.spacing(size), np.spacing(size.astype(loose or size.dtype)))
        units = abs(found - expected) / unit
    units[~(np.isfinite(found) & np.isfinite(expected))] = math.inf
    return float(np.max(units, initial=0.0))


def counted(done: Sequence[Outcome]) -> Counters:
    """The counts of the launches that ended, and why others are left out."""
    ended = [outcome.launch.case for outcome in done if not outcome.error]
    profiler = ncu.find()
    counts: list[Count] = []
    left_out: dict[str, str] = {}
    for first in range(0, len(ended), AT_ONCE):
        cases = ended[first : first + AT_ONCE]
        try:
            profiled = measure(profiler, cases)
        except NoCounters as error:
            left_out |= {case.program: str(error) for case in cases}
            continue
        for case in cases:
            own = [one for one in profiled if one.kernel == case.kernel.name]
            try:
                counts += compare([case], own)
            except NoCounters as error:
                left_out[case.program] = str(error)
    return Counters(tuple(counts), left_out)


def run_launches(file: Path, saved: Path | None) -> int:
    """Launch what was collected; the exit status."""
    try:
        cp = cupy()
    except gpu.NoGPU as missing:
        print(missing)
        return 2
    launches, left_out = load(file)
    done = outcomes(cp, launches)
    equal = sum(outcome.equal for outcome in done)
    head = {**facts("python -m tests.kit.numba_suite.on_gpu run"), "left out": left_out}
    rows: list[Any] = [outcome.row() for outcome in done]
    print(f"{len(launches)} launches on {gpu.device()}: {equal} equal", flush=True)
    keep(saved, head, rows)
    try:
        counters = counted(done)
    except NoCounters as error:
        print(error)
    else:
        rows += [{"measure": "counts", **count.row()} for count in counters.counts]
        head |= {"ncu": ncu.version(ncu.find()), "not counted": dict(counters.left_out)}
        print(counters_summary(counters))
        keep(saved, head, rows)
    return int(equal < len(launches))


def keep(saved: Path | None, head: dict[str, Any], rows: Sequence[Any]) -> None:
    """Save what is known so far, if it is to be saved."""
    if saved is not None:
        saved.write_text(Record("numba", head, tuple(rows)).to_json(), encoding="utf-8")


def main(argv: list[str] | None = None) -> int:
    """Do what the arguments ask for; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    collecting = commands.add_parser("collect", help="run the suite and keep its launches")
    collecting.add_argument("file", type=Path)
    collecting.add_argument("names", nargs="*", help="parts of names of the suite's files")
    collecting.add_argument("--jobs", type=int, default=2)
    running = commands.add_parser("run", help="launch them on the GPU at hand")
    running.add_argument("file", type=Path)
    running.add_argument("--json", type=Path, metavar="OUT", help="save a row for each launch")
    arguments = parser.parse_args(argv)
    if arguments.command == "run":
        return run_launches(arguments.file, arguments.json)
    return collect_suite(arguments.file, arguments.names, arguments.jobs)


if __name__ == "__main__":
    sys.exit(main())
