"""The facts of a kernel that a host may ask for."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from mmsim.frontend.ptx.flat import size_of
from mmsim.frontend.ptx.module import Function, Module


class Facts(NamedTuple):
    """The facts of a kernel that a program may ask for; `most_threads` is None without a limit."""

    parameter_bytes: list[int]
    shared_bytes: int
    constant_bytes: int
    local_bytes: int
    most_threads: int | None


def facts_of(module: Module, kernel: Function) -> Facts:
    """The facts of a kernel of a module."""
    own = [*module.variables.values(), *kernel.variables]
    bounds = kernel.limits.get("maxntid")
    return Facts(
        [size_of(one) for one in kernel.parameters],
        sum(size_of(one) for one in own if one.space == "shared"),
        sum(size_of(one) for one in own if one.space == "const"),
        sum(size_of(one) for one in kernel.variables if one.space == "local"),
        None if bounds is None else prod(bounds),
    )
