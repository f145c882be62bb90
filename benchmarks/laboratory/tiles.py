"""Bank conflicts of fifty tiles: by a GPU's counters, by mmsim and by tensor-layouts.

`python -m benchmarks.laboratory.tiles FILE` counts them on the GPU at hand, by NVIDIA's profiler
`ncu`, and saves the counts as JSON. With `--tensor-layouts` it needs that package and no GPU, and
saves the package's counts. benchmarks/results keeps both, and `benchmarks.laboratory.counts`
makes a table of them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.laboratory.tile_cases import CASES, Case
from mmsim.cuda_c.kernels import WARP
from mmsim.errors import MMSimError
from mmsim.gpu import ncu
from mmsim.gpu.counting import NAME
from mmsim.gpu.record import Record, Row
from mmsim.gpu.signed import facts
from mmsim.model.tiles import Strided, Swizzle, cute
from mmsim_algorithms.gpu.bank_accesses import ACCESSES, Access, Index
from mmsim_algorithms.gpu.banks import counts

EXPERIMENT = "tiles"
PHASE = {8: 16, 16: 8}
"""The threads of a phase, for accesses of so many bytes; for fewer bytes it is the whole warp."""


def request(case: Case) -> Index:
    """The case's request of a kernel: an address for each lane, -1 for a lane without one.

    An address counts accesses. If all lanes have to take part, lanes without a row give 0.
    """
    (addresses,) = case.answer.addresses
    index = np.full(WARP, 0 if case.instruction.whole else -1, np.int32)
    index[: len(addresses)] = addresses
    return index


def of_one_kind() -> dict[Access, list[Case]]:
    """The cases by their instruction."""
    found = {access: [one for one in CASES if one.instruction == access] for access in ACCESSES}
    return {access: cases for access, cases in found.items() if cases}


def measured(command: str) -> Record:
    """The counts of the GPU at hand.

    Raises `NoGPU` without a GPU, `NoCounters` if its counters can't be read.
    """
    profiler = ncu.find()
    known = {**facts(command), "ncu": ncu.version(profiler)}
    hardware: dict[Case, int] = {}
    for number, (access, cases) in enumerate(of_one_kind().items()):
        found = counts(profiler, access, f"{NAME}{number}", [request(case) for case in cases])
        hardware |= dict(zip(cases, found, strict=True))
    rows: list[Row] = [
        {
            "case": case.name,
            "layout": case.layout,
            "access": case.access,
            "bytes": case.size,
            "instruction": case.instruction.name,
            "hardware": hardware[case],
        }
        for case in CASES
    ]
    return Record(EXPERIMENT, known, tuple(rows))


# ------------------------------------------------------------ tensor-layouts


def by_tensor_layouts(case: Case, group_size: int = WARP) -> list[int]:
    """The ways of the conflict by `tensor_layouts.analysis`, for each group of threads.

    Its groups are warps unless another size is asked for. Needs the package tensor-layouts.
    """
    from tensor_layouts import Layout, compose
    from tensor_layouts import Swizzle as TheirSwizzle
    from tensor_layouts.analysis import per_group_bank_conflicts

    placed = cute(case.layout)
    plain = placed.layout if isinstance(placed, Swizzle) else placed
    assert isinstance(plain, Strided)
    access = case.threads_and_values
    whole: Any = compose(Layout(plain.shape, plain.stride), Layout(access.shape, access.stride))
    if isinstance(placed, Swizzle):
        whole = compose(TheirSwizzle(placed.bits, placed.base, placed.shift), whole)
    found = per_group_bank_conflicts(whole, element_bytes=case.size, group_size=group_size)
    return [group["max_ways"] for group in found["groups"]]


def by_phases(case: Case) -> int:
    """The sum of the ways by tensor-layouts for each phase alone."""
    return sum(by_tensor_layouts(case, PHASE.get(case.size * case.vector, WARP)))


def said() -> Record:
    """The counts of tensor-layouts for the cases."""
    rows: list[Row] = [
        {"case": case.name, "ways": max(by_tensor_layouts(case)), "by phases": by_phases(case)}
        for case in CASES
    ]
    known = {
        "version": version("tensor-layouts"),
        "command": "python -m benchmarks.laboratory.tiles --tensor-layouts",
    }
    return Record("tensor-layouts", known, tuple(rows))


# ------------------------------------------------------------ the command


def main(arguments: Sequence[str] | None = None) -> int:
    """Count the cases on the GPU at hand, or by tensor-layouts, and save the counts."""
    parser = argparse.ArgumentParser(description="Count the bank conflicts of fifty tiles.")
    parser.add_argument("file", type=Path, help="where the counts go, as JSON")
    parser.add_argument(
        "--tensor-layouts", action="store_true", help="ask that package instead of a GPU"
    )
    asked = parser.parse_args(arguments)
    try:
        record = (
            said() if asked.tensor_layouts else measured("python -m benchmarks.laboratory.tiles")
        )
    except MMSimError as error:
        print(error, file=sys.stderr)
        return 2
    asked.file.write_text(record.to_json(), encoding="utf-8")
    field = "ways" if asked.tensor_layouts else "hardware"
    equal = sum(
        row[field] == case.answer.stages for case, row in zip(CASES, record.rows, strict=True)
    )
    print(f"{equal} of {len(CASES)} as mmsim says")
    return int(equal < len(CASES) and not asked.tensor_layouts)


if __name__ == "__main__":
    sys.exit(main())
