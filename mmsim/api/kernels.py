"""A program as a CUDA kernel."""

from __future__ import annotations

from typing import Any

from mmsim.api.binding import bind
from mmsim.api.machines import DMM, HMM
from mmsim.cuda_c import kernels
from mmsim.cuda_c.body import Space
from mmsim.cuda_c.kernels import Kernel, written
from mmsim.frontend.program import Program
from mmsim.host.arguments import one_of, yes_or_no
from mmsim.model.threads import Given, asked


def kernel(
    program: Program,
    *args: Any,
    threads: int | None = None,
    block_size: int | None = None,
    grid: Given | None = None,
    block: Given | None = None,
    space: Space = "global",
    clear_shared: bool = True,
    lock_step: bool = False,
) -> Kernel:
    """Write a program as a CUDA kernel, without a GPU. `Program.cuda` explains the options.

    Raises `LaunchError` if a GPU can't run the kernel in this way, and the errors of `Machine.run`
    if the arguments don't fit the program.
    """
    one_of("space", space, ("global", "shared"))
    clear_shared = yes_or_no("clear_shared", clear_shared)
    lock_step = yes_or_no("lock_step", lock_step)
    machine = DMM(kernels.WARP, 1) if space == "shared" else HMM(1, kernels.WARP, 1)
    launch = bind(machine, program, args, asked(threads, block_size, grid, block))
    return written(launch, launch.args, space, clear_shared, lock_step)
