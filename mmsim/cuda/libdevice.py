"""The functions of cuda.libdevice that have a meaning in kernels, as `numba.cuda.libdevice`."""

from __future__ import annotations

from typing import Any

from mmsim.cuda.in_python import current, of_numbers
from mmsim.cuda.stubs import outside
from mmsim.frontend.numba.libdevice import LIBRARIES
from mmsim.host.guesses import guessed_in


class Function:
    """A function of a module of numba.cuda; a call from the host raises a `HostCallError`."""

    def __init__(self, package: str, name: str) -> None:
        self._name = name
        self._package = self.__module__ = package
        self._meaning = LIBRARIES[package.rpartition(".")[2]][name].meaning

    def __repr__(self) -> str:
        return f"<{self._package.rpartition('.')[2]}.{self._name}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if current() is None:
            outside(repr(self)[1:-1])
        meaning = self._meaning
        return of_numbers(meaning, *args) if isinstance(meaning, str) else meaning(*args)


def functions(package: str) -> dict[str, Any]:
    """The names of a module: its functions; others are refused."""
    library = LIBRARIES[package.rpartition(".")[2]]
    guessed_in(package, package, sorted(library), {})
    return {name: Function(package, name) for name in library}


__all__ = sorted(LIBRARIES["libdevice"])
globals().update(functions(__name__))
