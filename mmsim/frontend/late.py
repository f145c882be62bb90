"""Programs that a launch parses, for its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy.typing as npt

from mmsim.frontend.program import Program


class Specialized(Protocol):
    """The program of one launch, and the arguments that it takes."""

    @property
    def program(self) -> Program:
        """The program, with its code."""

    @property
    def args(self) -> tuple[Any, ...]:
        """An argument for each parameter of the code."""

    def store(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Copy a run's results into the arguments that the launch got."""


class Late(Protocol):
    """A program whose `parsed_late` is True."""

    def specialized(self, args: Sequence[Any], /) -> Specialized:
        """The program for arguments of these kinds, with the arguments of its launch."""

    def with_shared(self, dynamic_bytes: int, /) -> Late:
        """This kernel for launches with `dynamic_bytes` of dynamic shared memory in each block."""
