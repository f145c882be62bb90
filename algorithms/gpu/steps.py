"""Consecutive launches that are timed as one: later steps read the results of earlier ones."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.api.kernels import kernel
from mmsim.cuda_c.kernels import Kernel
from mmsim.errors import MMSimError
from mmsim.frontend.program import Program
from mmsim.gpu.calibrated import Calibration
from mmsim.gpu.record import Row
from mmsim.gpu.replay import SAMPLES, Replay, Timing, compiled, cupy, timed
from mmsim.gpu.words import time_units

Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Step:
    """One launch; `arguments` are names of arrays, and numbers."""

    program: Program
    arguments: tuple[str | int | float, ...]
    threads: int
    block_size: int

    @property
    def how(self) -> dict[str, Any]:
        """Its threads, as for `Machine.run`."""
        return {"threads": self.threads, "block_size": self.block_size}

    @property
    def arrays(self) -> list[str]:
        """The names of the arrays that it gives its program, in the order of the parameters."""
        return [name for name in self.arguments if isinstance(name, str)]

    def given(self, arrays: Arrays) -> tuple[Any, ...]:
        """The values of the arguments."""
        return tuple(arrays[one] if isinstance(one, str) else one for one in self.arguments)

    def kernel(self, arrays: Arrays) -> Kernel:
        """Its kernel, which doesn't clear shared arrays."""
        return kernel(self.program, *self.given(arrays), **self.how, clear_shared=False)

    def passed(self, placed: Mapping[str, Any]) -> tuple[Any, ...]:
        """Of the arrays on a GPU, those that its kernel takes."""
        return tuple(placed[name] for name in self.arrays)


def on_card(cp: Any, arrays: Arrays) -> dict[str, Any]:
    """The arrays on the GPU, in row-major order."""
    return {
        name: cp.asarray(np.ascontiguousarray(data).reshape(-1)) for name, data in arrays.items()
    }


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
    placed = on_card(cp, arrays)
    ready: list[tuple[Kernel, Any, tuple[Any, ...]]] = []
    for step in steps:
        written = step.kernel(arrays)
        ready.append((written, compiled(cp, written), step.passed(placed)))

    def launch(repetition: int) -> None:
        for written, function, passed in ready:
            function(written.grid, written.block, passed, shared_mem=written.shared_bytes)

    times = timed(cp, launch, samples, sweeps)
    kept = {name: cp.asnumpy(placed[name]).reshape(arrays[name].shape) for name in keep}
    return Timing.of(times, kept)


def predicted(steps: Sequence[Step], arrays: Arrays, calibration: Calibration) -> float:
    """Milliseconds of the steps by the machine of `calibration`."""
    units = sum(
        time_units(calibration.hmm, step.program, *step.given(arrays), **step.how) for step in steps
    )
    return calibration.milliseconds(units, launches=len(steps))


def digest_of(steps: Sequence[Step], arrays: Arrays) -> str:
    """Return a digest of some launches: their CUDA C, their sizes, their arguments and all data."""
    digest = sha256()
    for step in steps:
        written = step.kernel(arrays)
        said = [written.source, written.grid, written.block, written.shared_bytes, step.arguments]
        digest.update(json.dumps(said).encode())
    for name, array in sorted(arrays.items()):
        digest.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def times(found: Replay | Timing, digits: int) -> Row:
    """The columns of a measurement in a row: the median and the range, rounded."""
    named = {"measured": found.median, "low": found.low, "high": found.high}
    return {name: round(time, digits) for name, time in named.items()}


def check_arrays(what: str, found: Arrays, expected: Arrays) -> None:
    """Raise `MMSimError` unless arrays of the GPU at hand are the expected ones."""
    for name, values in expected.items():
        if not np.array_equal(found[name], values):
            raise MMSimError(f"{what} left the wrong array {name} on this GPU")
