"""The functions of libdevice, NVIDIA's library of mathematics, under Numba's names, for kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mmsim.cuda.stubs import called
from mmsim.host.guesses import unknown


def __getattr__(name: str) -> Callable[..., Any]:
    """A function by its name; kernels know it by module and name."""
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from mmsim.frontend.typed.signatures import RULES  # loads Numba

    known = [one.partition(".")[2] for one in RULES if one.startswith("libdevice.")]
    if name not in known:
        raise unknown(__name__, name, known, {})

    def function(*args: Any) -> Any:
        return called(f"libdevice.{name}", *args)

    function.__name__ = function.__qualname__ = name
    globals()[name] = function
    return function
