"""A program's laboratory: a page in which one changes it, and sees the run at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mmsim.api.machines import DMM, Machine
from mmsim.errors import Brief, LaunchError, shown
from mmsim.frontend.program import Program
from mmsim.host.guesses import advised
from mmsim.model.machines import Schedule
from mmsim.model.threads import Given, asked

if TYPE_CHECKING:
    from mmsim.view.lab import Laboratory


@advised("mm.lab(program, a, b, threads=16, machine=mm.DMM(4, 3)).save('lab.html')")
def lab(
    program: Program,
    *args: Any,
    threads: int | None = None,
    block_size: int | None = None,
    grid: Given | None = None,
    block: Given | None = None,
    machine: Machine | None = None,
    schedule: Schedule = "synchronous",
) -> Laboratory:
    """Return a page in which one changes the program and its machine, and sees the run at once.

    The page is one file. It opens from disk, without a network and without Python: it has mmsim's
    engine in JavaScript, with the same times, values and findings. Change the program's text, the
    threads, sizes and inputs, the machine, the schedule and the layouts of the arrays. Its link
    has all of that. A notebook shows the page; `save(path)` writes it, `html()` returns its text.

    Parameters
    ----------
    program, args, threads, block_size, grid, block, schedule
        As for `Machine.run`. Without arguments and threads, those of the program's own example.
    machine
        A `DMM`, a `UMM` or an `HMM`. Default: `DMM(4, 3)`.

    Raises `LaunchError` for arguments that don't fit.

    Examples
    --------
    >>> import numpy as np, mmsim as mm
    >>> @mm.program
    ... def copy(T, a, b):
    ...     b[T.id] = a[T.id]
    >>> mm.lab(copy, np.arange(8), np.zeros(8, int), threads=8, machine=mm.UMM(4, 3))
    <laboratory of copy on UMM(width=4, latency=3)>
    """
    from mmsim.api.binding import bind  # loads what parses and runs
    from mmsim.view.lab import Laboratory

    with Brief():
        if not isinstance(program, Program) or program.parsed_late:
            raise LaunchError(
                f"mm.lab takes a program, a function with @mm.program, not {shown(program)}"
            )
        on = DMM(4, 3) if machine is None else machine
        if not isinstance(on, Machine):
            raise LaunchError(
                f"machine={shown(machine)} is not a machine; write machine=mm.DMM(4, 3)"
            )
        launch: dict[str, Any] = {
            "threads": threads,
            "block_size": block_size,
            "grid": grid,
            "block": block,
        }
        if not args and all(one is None for one in launch.values()) and program.has_example:
            example = program.prepare(on.width)
            args, launch = example.arguments, example.launch
        bind(on, program, args, asked(**launch), schedule)
        return Laboratory(program, args, on, launch, schedule)
