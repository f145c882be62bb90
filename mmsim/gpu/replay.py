"""Runs a program on the GPU at hand, through CuPy, `once` or often enough to time it.

In shared memory the program is repeated inside the kernel between two readings of the clock, as the
CFP and RAP papers did. In global memory events time each launch; the launches use several buffers
in turn, which are larger than the second-level cache together.
"""

from __future__ import annotations

import importlib
import statistics
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mmsim.api.kernels import kernel
from mmsim.api.machines import DMM, HMM
from mmsim.api.result import Run
from mmsim.cuda_c.body import Space
from mmsim.cuda_c.kernels import WARP, Kernel
from mmsim.errors import MMSimError
from mmsim.frontend.numba.kernel import as_program
from mmsim.frontend.program import Program
from mmsim.gpu.words import time_units
from mmsim.model.threads import Given

if TYPE_CHECKING:
    from mmsim.gpu.calibrated import Calibration

SAMPLES = 15
Launched = tuple[Program, tuple[Any, ...], dict[str, Any]]
"""A program, its arguments, and the threads of its launch, as for `Machine.run`."""


class NoGPU(MMSimError):
    """There is no GPU here, or no CuPy to reach it."""


@dataclass(frozen=True)
class Device:
    """The GPU of a measurement: its name, its driver, the CUDA version of this driver."""

    name: str
    driver: str
    cuda: str
    cache_bytes: int

    def __str__(self) -> str:
        return f"{self.name}, driver {self.driver}"


@dataclass(frozen=True, eq=False)
class Replay:
    """The result of a program on a GPU.

    `arrays` are its parameters after one repetition, by name, as `Run.arrays`. `median`, `low` and
    `high` are of the `samples` times of one repetition, in `unit`: clock cycles ("shared") or
    milliseconds ("global"). `calibration` has the machines to compare with.
    """

    program: str
    device: Device
    space: Space
    unit: str
    median: float
    low: float
    high: float
    samples: int
    repeat: int
    arrays: dict[str, npt.NDArray[Any]]
    calibration: Calibration | None
    launched: Launched

    @cached_property
    def run(self) -> Run:
        """The same launch on the model: on the DMM ("shared") or the HMM, asynchronously.

        `calibration` gives the machine; without one all latencies are 1 and the HMM has one DMM.
        """
        known = self.calibration
        shared, whole = (DMM(WARP, 1), HMM(1, WARP, 1)) if known is None else (known.dmm, known.hmm)
        machine = shared if self.space == "shared" else whole
        program, args, how = self.launched
        return machine.run(program, *args, **how, schedule="asynchronous")

    @cached_property
    def predicted(self) -> float | None:
        """The time of one repetition by the model, in `unit`; None without a `calibration`."""
        known = self.calibration
        if known is None:
            return None
        from mmsim.gpu import shared  # loads Numba

        program, args, how = self.launched
        if self.space == "shared":
            one = shared.repetition(program, *args, **how)
            return one.cycles(known, self.repeat)
        return known.milliseconds(time_units(known.hmm, program, *args, **how))

    def __repr__(self) -> str:
        return (
            f"{self.program} on {self.device}: {self.median:g} {self.unit} "
            f"({self.low:g} to {self.high:g}, {self.samples} samples)"
        )


@dataclass(frozen=True)
class Timing:
    """Milliseconds of all launches together, and the arrays after the last repetition."""

    median: float
    low: float
    high: float
    samples: int
    arrays: dict[str, npt.NDArray[Any]]

    @staticmethod
    def of(times: Sequence[float], arrays: dict[str, npt.NDArray[Any]]) -> Timing:
        """The median and the range of these times."""
        return Timing(statistics.median(times), min(times), max(times), len(times), arrays)


def cupy() -> Any:
    """CuPy with a GPU, or `NoGPU` with the reason."""
    try:
        found = importlib.import_module("cupy")
    except ImportError:
        raise NoGPU(
            "CuPy is not installed; install cupy-cuda12x or cupy-cuda13x, whichever your driver "
            "takes (the extras gpu and gpu13)"
        ) from None
    try:
        if found.cuda.runtime.getDeviceCount() > 0:
            return found
    except Exception as error:
        raise NoGPU(f"CuPy finds no GPU that it can use: {error}") from None
    raise NoGPU("CuPy finds no GPU")


def device() -> Device:
    """The GPU at hand."""
    cp = cupy()
    facts = cp.cuda.runtime.getDeviceProperties(cp.cuda.Device().id)
    version = cp.cuda.runtime.driverGetVersion()
    cuda = f"{version // 1000}.{version % 1000 // 10}"
    return Device(facts["name"].decode(), driver_version(), cuda, int(facts["l2CacheSize"]))


@cache
def driver_version() -> str:
    """The version of NVIDIA's driver, as nvidia-smi reports it; "unknown" without a report."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return done.stdout.split("\n")[0].strip() or "unknown"


def once(
    program: Program,
    *args: Any,
    threads: int | None = None,
    block_size: int | None = None,
    grid: Given | None = None,
    block: Given | None = None,
    space: Space = "global",
    lock_step: bool = False,
) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a program after one launch on the GPU at hand, by name, as `Run.arrays`.

    `space` and `lock_step` are those of `Program.cuda`. Raises `NoGPU` without a GPU, and
    the errors of `kernel`.
    """
    cp = cupy()
    how: dict[str, Any] = {"threads": threads, "block_size": block_size}
    how |= {"grid": grid, "block": block}
    return once_written(cp, kernel(program, *args, **how, space=space, lock_step=lock_step))


def replay(
    program: Program,
    *args: Any,
    threads: int | None = None,
    block_size: int | None = None,
    grid: Given | None = None,
    block: Given | None = None,
    space: Space = "global",
    repeat: int = 1000,
    samples: int = SAMPLES,
    calibration: Calibration | None = None,
) -> Replay:
    """Run a program on the GPU at hand; `space` and its parameters are those of `Program.cuda`.

    The program may be a kernel of `cuda.jit`, of Numba's or of mmsim's, with NumPy's arrays.

    In "shared" space a time is that of `repeat` repetitions in one launch, divided by `repeat`;
    arrays are those of one repetition. `calibration` is the result of `mmsim.gpu.calibrate`. Raises
    `NoGPU` without a GPU, and the errors of `kernel`.
    """
    cp = cupy()
    program = as_program(program)
    how: dict[str, Any] = {"threads": threads, "block_size": block_size}
    how |= {"grid": grid, "block": block}
    written = kernel(program, *args, **how, space=space)
    function = compiled(cp, written)
    arrays = _once(cp, written, function)
    if space == "shared":
        times = [_cycles(cp, written, function, repeat) / repeat for _ in range(samples)]
        unit = "cycles"
    else:
        times, unit = _milliseconds(cp, written, function, samples), "ms"
        repeat = 1
    found = (unit, statistics.median(times), min(times), max(times), samples, repeat, arrays)
    return Replay(program.name, device(), space, *found, calibration, (program, args, how))


def compiled(cp: Any, written: Kernel) -> Any:
    together = {"enable_cooperative_groups": True} if written.cooperative else {}
    module = cp.RawModule(code=written.source, options=written.options, backend="nvrtc", **together)
    function = module.get_function(written.name)
    if written.shared_bytes:
        function.max_dynamic_shared_size_bytes = written.shared_bytes
    return function


def buffers(cp: Any, written: Kernel, repeat: int) -> list[Any]:
    """The arguments of a launch, in order."""
    passed: list[Any] = []
    for argument in written.arguments:
        if argument.role == "repeat":
            passed.append(np.int32(repeat))
        elif argument.role == "cycles":
            passed.append(cp.zeros(1, dtype=np.int64))
        else:
            passed.append(cp.asarray(argument.words()))
    return passed


def _launch(written: Kernel, function: Any, passed: list[Any]) -> None:
    function(written.grid, written.block, tuple(passed), shared_mem=written.shared_bytes)


def once_written(cp: Any, written: Kernel) -> dict[str, npt.NDArray[Any]]:
    """The arrays after one launch of a kernel, by name, as `Run.arrays`."""
    return _once(cp, written, compiled(cp, written))


def _once(cp: Any, written: Kernel, function: Any) -> dict[str, npt.NDArray[Any]]:
    """The arrays after one repetition."""
    passed = buffers(cp, written, 1)
    _launch(written, function, passed)
    cp.cuda.Device().synchronize()
    return {
        argument.memory.name: argument.elements(cp.asnumpy(buffer))
        for argument, buffer in zip(written.arguments, passed, strict=True)
        if argument.memory is not None
    }


def _cycles(cp: Any, written: Kernel, function: Any, repeat: int) -> int:
    """The clock cycles of `repeat` repetitions in one launch."""
    passed = buffers(cp, written, repeat)
    _launch(written, function, passed)
    roles = [argument.role for argument in written.arguments]
    return int(passed[roles.index("cycles")].get()[0])


def _milliseconds(cp: Any, written: Kernel, function: Any, samples: int) -> list[float]:
    """The times of single launches, each over buffers that the cache no longer holds."""
    size = sum(argument.size * argument.dtype.itemsize for argument in written.arguments)
    sets = max(2, min(samples, 3 * device().cache_bytes // max(size, 1) + 1))
    rotating = [buffers(cp, written, 1) for _ in range(sets)]
    return timed(cp, lambda number: _launch(written, function, rotating[number % sets]), samples)


def timed(cp: Any, launch: Callable[[int], None], samples: int, sweeps: int = 1) -> list[float]:
    """Milliseconds of the GPU's work from `launch(repetition)`, for 0 .. samples-1.

    Before each the GPU writes an array larger than its second-level cache. So the cache holds no
    data of the launch, and the timed work waits in the queue instead of for this computer. It
    writes `sweeps` times; more launches in the queue need more of them.
    """
    sweep = cp.empty(3 * device().cache_bytes, dtype=cp.uint8)
    for repetition in range(2):
        launch(repetition)
    times = []
    for repetition in range(samples):
        for _ in range(sweeps):
            sweep.fill(repetition % 256)
        times.append(elapsed(cp, partial(launch, repetition)))
    return times


def elapsed(cp: Any, launch: Callable[[], None]) -> float:
    """Milliseconds of the GPU's work from one launch."""
    begin, end = cp.cuda.Event(), cp.cuda.Event()
    begin.record()
    launch()
    end.record()
    end.synchronize()
    return float(cp.cuda.get_elapsed_time(begin, end))


def launch_each(cp: Any, written: Kernel, repeats: Iterable[int]) -> None:
    """Launch a kernel once for each number of repetitions, in order."""
    function = compiled(cp, written)
    for repeat in repeats:
        _launch(written, function, buffers(cp, written, repeat))
        cp.cuda.Device().synchronize()
