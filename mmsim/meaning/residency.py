"""DMMs with a limited number of threads at a time, and the blocks of a launch that they hold."""

from __future__ import annotations

from mmsim.errors import LaunchError
from mmsim.frontend.program import Program
from mmsim.ir import nodes as ir
from mmsim.ir.walk import statements
from mmsim.model.machines import Machine
from mmsim.model.threads import Grid


def check_room(machine: Machine, grid: Grid, program: Program) -> None:
    """Refuse blocks too large for a DMM, and blocks that would wait for others to begin."""
    resident = machine.resident
    if resident is None:
        return
    size = min(grid.block_size, grid.threads)
    if size > resident:
        raise LaunchError(
            f"blocks of {size} threads, but a DMM of this machine holds {resident}; take smaller "
            "blocks, or a larger resident="
        )
    begun = resident // size * grid.dmms
    if grid.blocks > begun and meets_as_grid(program):
        raise LaunchError(
            f"program {program.name!r} has a barrier of the grid, but of its {grid.blocks} blocks "
            f"only {begun} can begin: the others would wait forever"
        )


def meets_as_grid(program: Program) -> bool:
    """Return whether a program has a barrier of the grid."""
    every = statements(program.code.body)
    barriers = (one for one in every if isinstance(one, ir.Barrier))
    return program.kept("grid", lambda: any(one.scope == "grid" for one in barriers))
