"""The functions of cuda.libdevice that have a meaning in kernels, as `numba.cuda.libdevice`."""

from __future__ import annotations

from typing import Any

from mmsim.cuda.in_python import current, of_numbers
from mmsim.cuda.stubs import outside
from mmsim.frontend.numba.libdevice import LIBDEVICE
from mmsim.host.guesses import guessed_in


class Function:
    """A function of cuda.libdevice; a call from the host raises a `HostCallError`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"<libdevice.{self._name}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if current() is None:
            outside(f"libdevice.{self._name}")
        meaning = LIBDEVICE[self._name].meaning
        return of_numbers(meaning, *args) if isinstance(meaning, str) else meaning(*args)


__all__ = sorted(LIBDEVICE)
globals().update({name: Function(name) for name in __all__})
guessed_in(__name__, "mmsim.cuda.libdevice", __all__, {})
