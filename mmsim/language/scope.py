"""What a name means inside a function of the language.

A name is the thread, a variable, a parameter, an array of the program, or something captured from
outside: a number, a function, a type, a module. Everything is resolved once, at decoration.
"""

from __future__ import annotations

import builtins
import types
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mmsim.errors import Place
from mmsim.language import ir

INT_MIN, INT_MAX = -(2**63), 2**63 - 1


@dataclass(frozen=True)
class TheThread:
    """T."""


@dataclass
class ParameterUse:
    """A parameter of the program, and how it turned out to be used."""

    name: str
    place: Place
    default: int | float | bool | None = None
    use: ir.Use = "unused"
    used_at: Place | None = None


@dataclass(frozen=True)
class ArrayName:
    """An `mm.shared` or `mm.registers` array of the program."""

    name: str
    kind: str


@dataclass(frozen=True)
class VariableName:
    """A variable under its unique name."""

    name: str


@dataclass(frozen=True)
class Captured:
    """An object from outside the function."""

    value: Any


@dataclass(frozen=True)
class Missing:
    """A name that means nothing, or not yet."""


Entity = TheThread | ParameterUse | ArrayName | VariableName | Captured | Missing


@dataclass
class Shared:
    """What the parsing of one program gathers over all its functions."""

    name: str
    sources: dict[str, ir.Source] = field(default_factory=dict)
    locals: list[ir.LocalArray] = field(default_factory=list)
    variables: list[ir.Variable] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    stack: list[types.FunctionType] = field(default_factory=list)
    calls: int = 0
    depth: int = 0  # of blocks and expressions

    def unique(self, name: str) -> str:
        """`name`, or `name_2`, `name_3`, ... where it is taken."""
        candidate, number = name, 1
        while candidate in self.taken:
            number += 1
            candidate = f"{name}_{number}"
        self.taken.add(candidate)
        return candidate

    def variable(self, text: str, function: str) -> VariableName:
        """A variable, or an array, that `function` calls `text`, under a unique name."""
        name = self.unique(text)
        self.variables.append(ir.Variable(name, text, function))
        return VariableName(name)


def outside(function: types.FunctionType, name: str) -> Captured | Missing:
    """What `name` means outside `function`: enclosing functions, the module, builtins."""
    code = function.__code__
    if name in code.co_freevars:
        cell = (function.__closure__ or ())[code.co_freevars.index(name)]
        try:
            return Captured(cell.cell_contents)
        except ValueError:
            return Missing()
    if name in function.__globals__:
        return Captured(function.__globals__[name])
    if hasattr(builtins, name):
        return Captured(getattr(builtins, name))
    return Missing()


def number(value: Any) -> int | float | bool | None:
    """`value` as a Python number where it is one (NumPy scalars too), else None."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, np.timedelta64):  # which NumPy counts among the integers
        return None
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value)
    return None
