"""The profiler's counts of the launches of KERNELS, UNSEEN, THIRD and ICPP-T2, one by one.

`python -m benchmarks.laboratory.counted_launches kernels FILE` counts the launches of the kernels,
`unseen` and `third` those of the further sets, `icpp` those of ICPP's Table II: tags, sectors and
hits in the second-level cache, and sectors from and to the memory, by NVIDIA's profiler. The cache
is empty before each launch. It saves after each batch; `--batches` names some of them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.laboratory import profiled
from mmsim.errors import MMSimError
from mmsim.gpu.counting import NAME, renamed
from mmsim.gpu.ncu import NoCounters
from mmsim.gpu.record import Record, Row
from mmsim.gpu.replay import compiled, cupy
from mmsim.gpu.signed import facts
from mmsim_algorithms.gpu import sessions
from mmsim_algorithms.gpu.cache_stage import METRICS
from mmsim_algorithms.gpu.kernel_sets import SETS
from mmsim_algorithms.gpu.launch_groups import Group, batches
from mmsim_algorithms.gpu.steps import on_card

MODULE = "benchmarks.laboratory.counted_launches"
# ------------------------------------------------------------ under the profiler


def launch(groups: Iterable[Group]) -> Iterator[Row]:
    """Launch all steps of all groups, each once, in order, and name each."""
    cp = cupy()
    functions: dict[str, Any] = {}
    for group in groups:
        steps, arrays = group.make()
        placed = on_card(cp, arrays)
        for number, step in enumerate(steps):
            written = renamed(step.kernel(arrays), f"{NAME}{step.program.name}")
            if written.source not in functions:
                functions[written.source] = compiled(cp, written)
            function, passed = functions[written.source], step.passed(placed)
            function(written.grid, written.block, passed, shared_mem=written.shared_bytes)
            cp.cuda.Device().synchronize()
            name = {"program": step.program.name, profiled.KERNEL: written.name}
            yield {**group.about, "step": number, **name}


# ------------------------------------------------------------ counting


def measured(which: str, command: str, names: Sequence[str]) -> Iterator[Record]:
    """The record so far, batch by batch; it names the batches that couldn't be counted.

    Raises `NoGPU` without a GPU, `NoCounters` without a profiler.
    """
    profiler, metrics, known = sessions.session(METRICS)
    left_out: dict[str, str] = {}
    record = Record(f"{which}-counters", {**facts(command), **known}, ())
    for name in names:
        try:
            found = profiled.counted(profiler, metrics, MODULE, (which,), "--batches", name)
            record = replace(record, rows=(*record.rows, *found))
        except NoCounters as error:
            left_out[name] = str(error)
            record = replace(record, facts={**record.facts, "left out": dict(left_out)})
        yield record


# ------------------------------------------------------------ the command


def main(arguments: Sequence[str] | None = None) -> int:
    """Count the launches on the GPU at hand and save the counts, batch by batch."""
    parser = argparse.ArgumentParser(description="Count the launches of some kernels.")
    parser.add_argument("which", choices=(*SETS, "icpp"))
    parser.add_argument("file", type=Path, help="where the counts go, as JSON")
    parser.add_argument("--batches", nargs="+", metavar="BATCH", help="which (default: all)")
    parser.add_argument("--launch", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    every = batches(asked.which)
    names = list(every) if asked.batches is None else asked.batches
    unknown = [name for name in names if name not in every]
    if unknown:
        parser.error(f"there is no batch {unknown[0]!r}; there are {', '.join(every)}")
    if asked.launch:
        return profiled.write(asked.file, (row for name in names for row in launch(every[name]())))
    command = " ".join(["python -m", MODULE, asked.which])
    try:
        for name, record in zip(names, measured(asked.which, command, names), strict=True):
            asked.file.write_text(record.to_json(), encoding="utf-8")
            print(f"{name}: {len(record.rows)} launches counted so far", flush=True)
    except MMSimError as error:
        print(error, file=sys.stderr)
        return 2
    for name, reason in record.facts.get("left out", {}).items():
        print(f"{name} was left out: {reason}")
    return int("left out" in record.facts)


if __name__ == "__main__":
    sys.exit(main())
