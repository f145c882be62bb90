"""A user's program: the program itself, or a kernel that holds one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from mmsim.frontend.program import Program


class HasProgram(ABC):
    """A user's kernel of another language, which machines take for its program."""

    @property
    @abstractmethod
    def program(self) -> Program:
        """The program."""


def as_program(thing: Any) -> Any:
    """A kernel of CUDA C++ or of numba.cuda as its program; all else unchanged."""
    if isinstance(thing, Program):
        return thing
    if isinstance(thing, HasProgram):
        return thing.program
    from mmsim.frontend.numba.kernel import as_program  # loads the front end

    return as_program(thing)
