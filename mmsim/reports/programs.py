"""The list of programs, with their purposes and bounds."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from mmsim.frontend.program import Program
from mmsim.view.tables import rich_rows, text_column

if TYPE_CHECKING:
    from rich.table import Table


def name_of(program: Program) -> str:
    """The name of a program for `mmsim run`: by its package if that exports it, else its module."""
    module = program.function.__module__
    package = module.rpartition(".")[0]
    if getattr(sys.modules.get(package), program.name, None) is program:
        module = package
    return f"{module}:{program.name}"


def line_of(program: Program) -> str:
    """The first line of a program's documentation, "" without one."""
    lines = (program.function.__doc__ or "").strip().splitlines()
    return lines[0] if lines else ""


def list_of_programs(programs: Iterable[Program]) -> Table:
    """Programs of one module, with their purposes."""
    return rich_rows(
        map(text_column, ("program", "what it does")),
        ((program.name, line_of(program)) for program in programs),
    )


def catalogue(programs: Iterable[Program], bounds: Mapping[str, str]) -> Table:
    """Programs with their machines, their purposes, and their claims' `bounds`."""
    rows = []
    for program in programs:
        machines, claim = program.listed
        bound = f"{bounds[claim]} ({claim})" if claim in bounds else ""
        rows.append((name_of(program), machines, bound, line_of(program)))
    columns = (
        text_column("program", whole=True),
        text_column("machine"),
        text_column("time"),
        text_column("what it does"),
    )
    return rich_rows(columns, rows)
