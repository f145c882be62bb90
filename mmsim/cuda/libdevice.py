"""The functions of cuda.libdevice that have a meaning in kernels, as `numba.cuda.libdevice`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mmsim.cuda.stubs import called
from mmsim.frontend.numba.libdevice import MEANINGS
from mmsim.host.guesses import unknown

__all__ = sorted(MEANINGS)


def _function(name: str) -> Callable[..., Any]:
    """A function, which kernels know by module and name."""

    def function(*args: Any) -> Any:
        return called(f"libdevice.{name}", *args)

    function.__name__ = function.__qualname__ = name
    return function


globals().update({name: _function(name) for name in __all__})


def __getattr__(name: str) -> Any:
    """Refuse a name that has no meaning here."""
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise unknown("mmsim.cuda.libdevice", name, __all__, {})
