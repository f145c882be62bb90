"""Several consecutive launches, timed as one: later steps read the results of earlier ones."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.api.kernels import kernel
from mmsim.cuda_c.kernels import Kernel
from mmsim.frontend.program import Program
from mmsim.gpu.calibrated import Calibration
from mmsim.gpu.replay import SAMPLES, compiled, cupy, timed
from mmsim.gpu.timing import Timing

Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Step:
    """One launch; `arguments` are names of arrays, and numbers."""

    program: Program
    arguments: tuple[str | int | float, ...]
    threads: int
    block_size: int

    def given(self, arrays: Arrays) -> tuple[Any, ...]:
        """The values of the arguments."""
        return tuple(arrays[one] if isinstance(one, str) else one for one in self.arguments)


def replay_steps(
    steps: Sequence[Step],
    arrays: Arrays,
    *,
    keep: Sequence[str] = (),
    samples: int = SAMPLES,
    sweeps: int = 1,
) -> Timing:
    """Launch the steps on the GPU at hand repeatedly, and time each repetition of all of them.

    Arrays lie in row-major order; those named in `keep` are brought back. `sweeps` are those of
    `timed`. Raises `NoGPU` without one, and the errors of `kernel`.
    """
    cp = cupy()
    buffers = {
        name: cp.asarray(np.ascontiguousarray(data).reshape(-1)) for name, data in arrays.items()
    }
    ready: list[tuple[Kernel, Any, tuple[Any, ...]]] = []
    for step in steps:
        written = kernel(
            step.program,
            *step.given(arrays),
            threads=step.threads,
            block_size=step.block_size,
            clear_shared=False,
        )
        passed = tuple(buffers[one] for one in step.arguments if isinstance(one, str))
        ready.append((written, compiled(cp, written), passed))

    def launch(repetition: int) -> None:
        for written, function, passed in ready:
            function(written.grid, written.block, passed, shared_mem=written.shared_bytes)

    times = timed(cp, launch, samples, sweeps)
    kept = {name: cp.asnumpy(buffers[name]).reshape(arrays[name].shape) for name in keep}
    return Timing(statistics.median(times), min(times), max(times), samples, kept)


def predicted(steps: Sequence[Step], arrays: Arrays, calibration: Calibration) -> float:
    """Milliseconds of the steps by the machine of `calibration`."""
    from mmsim.gpu.memory import time_units  # loads Numba

    units = sum(
        time_units(
            calibration.hmm,
            step.program,
            *step.given(arrays),
            threads=step.threads,
            block_size=step.block_size,
        )
        for step in steps
    )
    return calibration.milliseconds(units, launches=len(steps))
