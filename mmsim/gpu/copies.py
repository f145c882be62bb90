"""One program in the shared memory of many concurrent blocks, each with its own arrays."""

from __future__ import annotations

import statistics
from typing import Any

from mmsim.api.kernels import kernel
from mmsim.frontend.program import Program
from mmsim.gpu.replay import SAMPLES, buffers, compiled, cupy, timed
from mmsim.gpu.timing import Timing


def replay_copies(
    program: Program,
    *args: Any,
    threads: int,
    copies: int,
    repeat: int,
    samples: int = SAMPLES,
) -> Timing:
    """Milliseconds of `repeat` repetitions of the program by each of `copies` blocks.

    Each block copies the arrays in and its results out; all blocks write the same words.
    Raises `NoGPU` without one, and the errors of `kernel`.
    """
    cp = cupy()
    written = kernel(program, *args, threads=threads, space="shared")
    function = compiled(cp, written)
    passed = tuple(buffers(cp, written, repeat))

    def launch(repetition: int) -> None:
        function((copies,), written.block, passed, shared_mem=written.shared_bytes)

    times = timed(cp, launch, samples)
    return Timing(statistics.median(times), min(times), max(times), samples, {})
