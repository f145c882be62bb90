"""From what a user calls a program to its launch."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from mmsim.errors import LaunchError, RoomError, shown
from mmsim.frontend import given
from mmsim.frontend.late import Late
from mmsim.frontend.program import Program
from mmsim.meaning.launch import Launch
from mmsim.model.machines import Machine, Schedule
from mmsim.model.threads import Shape
from mmsim.results.findings import Language


def bind(
    machine: Machine,
    program: Any,
    args: tuple[Any, ...],
    sizes: tuple[int, int | None, Shape | None],
    schedule: Schedule = "synchronous",
    max_accesses: int = 1,
) -> Launch:
    """Bind a program to its arguments; parse a kernel for their kinds first.

    `sizes` are those of `mmsim.model.threads.asked`.

    >>> import numpy as np, mmsim as mm
    >>> @mm.program
    ... def read(T, a):
    ...     a[T.id]
    >>> bind(mm.DMM(4, 3), read, (np.zeros(8),), (8, None, None)).grid.warps
    2
    """
    threads, block_size, shape = sizes
    program = as_program(program)
    if program.parsed_late:
        special = cast(Late, program).specialized(args)
        program, args = special.program, special.args
    return Launch(machine, program, args, threads, block_size, schedule, max_accesses, shape)


def as_program(thing: Any) -> Program:
    """A program, or a kernel as one. Raises a `LaunchError` for anything else."""
    program = given.as_program(thing)
    if isinstance(program, Program):
        return program
    raise LaunchError(
        f"{shown(program)} is not a program; decorate the function with mmsim.program"
    )


def language_of(program: Any) -> Language:
    """Return "numba" for a kernel of numba.cuda, else "python"."""
    known = as_program(program)
    return "numba" if known.parsed_late else known.code.arithmetic


@contextmanager
def exhaustion(program: Any, threads: int) -> Iterator[None]:
    """Make a `LaunchError` of Python's errors when memory or stack is exhausted.

    `program` is what the user gave as the program, `threads` the number of threads.
    """
    try:
        yield
    except RecursionError:
        raise LaunchError(
            f"program {as_program(program).name!r} is nested too deeply for Python's recursion "
            f"limit of {sys.getrecursionlimit()}; take its long expressions apart, or raise the "
            "limit"
        ) from None
    except (MemoryError, OverflowError) as error:
        raise RoomError(
            f"program {as_program(program).name!r} with {shown(threads)} threads needs more "
            f"memory than there is ({error}); take fewer threads or smaller arrays"
        ) from None
