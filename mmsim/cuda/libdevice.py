"""The functions of cuda.libdevice that have a meaning in kernels, as `numba.cuda.libdevice`."""

from __future__ import annotations

from typing import Any

import numpy as np

from mmsim.cuda.in_python import current, of_numbers
from mmsim.cuda.stubs import outside
from mmsim.frontend.numba.libdevice import LIBRARIES
from mmsim.host.guesses import guessed_in


class Function:
    """A function of a module of numba.cuda; a call from the host raises a `HostCallError`."""

    def __init__(self, package: str, name: str) -> None:
        self._name = name
        self._package = self.__module__ = package
        self._row = LIBRARIES[package.rpartition(".")[2]][name]

    def __repr__(self) -> str:
        return f"<{self._package.rpartition('.')[2]}.{self._name}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if current() is None:
            outside(repr(self)[1:-1])
        meaning = self._row.meaning
        found = of_numbers(meaning, *args) if isinstance(meaning, str) else meaning(*args)
        several = found if isinstance(found, tuple) else (found,)
        types = self._row.given.replace("b", "?")
        typed = (
            np.asarray(one).astype(type_)[()] for one, type_ in zip(several, types, strict=True)
        )
        return tuple(typed) if isinstance(found, tuple) else next(typed)


def functions(package: str) -> dict[str, Any]:
    """The names of a module: its functions; others are refused."""
    library = LIBRARIES[package.rpartition(".")[2]]
    guessed_in(package, package, sorted(library), {})
    return {name: Function(package, name) for name in library}


__all__ = sorted(LIBRARIES["libdevice"])
globals().update(functions(__name__))
