"""The functions that every dialect has in addition to Python's own: counts of bits and `fma`.

They exist for the reader, the type checker and the editor. A program is parsed, never called.
"""

from __future__ import annotations

from typing import NoReturn

from mmsim.errors import MMSimError


def popc(x: int) -> int:
    """How many bits of `x` are 1, in the type that `x` has: 64 bits unless another was asked for.

    CUDA's `__popc` and `__popcll`.
    """
    outside("mm.popc")


def clz(x: int) -> int:
    """How many bits of `x` are 0 above its highest 1; all of them for 0. CUDA's `__clz`."""
    outside("mm.clz")


def ffs(x: int) -> int:
    """The place of the lowest bit of `x` that is 1, counted from 1; 0 for 0. CUDA's `__ffs`."""
    outside("mm.ffs")


def brev(x: int) -> int:
    """The bits of `x` in reverse order, in the type that `x` has. CUDA's `__brev`."""
    outside("mm.brev")


def fma(x: float, y: float, z: float) -> float:
    """x * y + z, rounded once; `math.fma`, which Python has from 3.13 on, is the same."""
    outside("mm.fma")


def outside(name: str) -> NoReturn:
    """Refuse the call of what has a meaning only in a program."""
    raise MMSimError(f"{name} has a meaning only inside a function decorated with mmsim.program")
