"""Measures a set of kernels on the GPU at hand: CuPy launches CUDA C, Numba its own kernels.

A launch finds its arguments restored and none of them in the cache: before each one, the GPU
writes another array of three times the size of its cache. Events time the launch alone. The array
is written several times, so that the launch waits for the GPU and not for this computer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from mmsim.gpu import signed
from mmsim.gpu.record import Record, Row
from mmsim.gpu.replay import Timing, cupy, device, elapsed
from mmsim_algorithms.gpu.fourth.case import CODES, CUDA_C, DIGEST, Case, Data
from mmsim_algorithms.gpu.fourth.predicting import command
from mmsim_algorithms.gpu.steps import times

SAMPLES = 9
SWEEPS = 8


def measure(name: str, file: Path, cases: Iterable[Case], predicted: Path | None = None) -> None:
    """Measure the cases of a set in both codes, and save after each one."""
    named = f" --predicted {predicted.name}" if predicted else ""
    facts = signed.facts(command(name, f"--measure {file.name}{named}"))
    if predicted:
        facts[signed.NAMED] = signed.checked_seal(predicted)
    record = Record(f"{name.upper()}-measured", facts, ())
    for case in cases:
        data = case.data(case.size)
        for code in CODES:
            row = {**case.about(code), **measured(case, code, data)}
            record = replace(record, rows=(*record.rows, row))
            file.write_text(record.to_json(), encoding="utf-8")
            print(", ".join(str(value) for key, value in row.items() if key != DIGEST), flush=True)


def measured(case: Case, code: str, data: Data) -> Row:
    """The milliseconds of one launch; `wrong` says what is wrong with its results, if anything."""
    cp = cupy()
    placed = [cp.asarray(one) if isinstance(one, np.ndarray) else one for one in data.arguments]
    kept = [(one, one.copy()) for one in placed if isinstance(one, cp.ndarray)]
    launch = launcher(case, code, placed)
    launch()
    wrong = data.wrong({number: cp.asnumpy(placed[number]) for number in data.expected})
    sweep = cp.empty(3 * device().cache_bytes, dtype=cp.uint8)
    found = []
    for repetition in range(SAMPLES + 1):
        for one, contents in kept:
            cp.copyto(one, contents)
        for _ in range(SWEEPS):
            sweep.fill(repetition)
        found.append(elapsed(cp, launch))
    timing = Timing.of(found[1:], {})  # the first one loads the code
    return {**times(timing, 6), "wrong": wrong, DIGEST: case.digest(code, data)}


def launcher(case: Case, code: str, placed: list[Any]) -> Callable[[], None]:
    """A function that launches the kernel in one of its codes."""
    grid, block = case.extents
    if code == CUDA_C:
        kernel = cupy().RawKernel(case.code, case.name)
        return lambda: kernel(grid, block, tuple(placed))
    cuda = numba_cuda()
    arrays = [cuda.as_cuda_array(one) if hasattr(one, "get") else one for one in placed]
    ready = case.numba_kernel(cuda)[grid, block]
    return lambda: ready(*arrays)


@cache
def numba_cuda() -> Any:
    """Numba's own CUDA."""
    from numba import cuda

    return cuda
