"""The functions of programs in addition to Python's own: counts of bits, `fma`, `exp10`.

They exist for the reader, the type checker and the editor. A program is parsed, never called.
"""

from __future__ import annotations

from typing import NoReturn

from mmsim.errors import MMSimError


def popc(x: int) -> int:
    """Count the bits of `x` that are 1, in the type of `x`: 64 bits unless a cast changes it.

    CUDA's `__popc` and `__popcll`.
    """
    outside("mm.popc")


def clz(x: int) -> int:
    """Count the 0 bits above the highest 1 bit of `x`; all bits for 0. CUDA's `__clz`."""
    outside("mm.clz")


def ffs(x: int) -> int:
    """Return the place of the lowest 1 bit of `x`, counted from 1; 0 for 0. CUDA's `__ffs`."""
    outside("mm.ffs")


def brev(x: int) -> int:
    """Return the bits of `x` in reverse order, in the type of `x`. CUDA's `__brev`."""
    outside("mm.brev")


def fma(x: float, y: float, z: float) -> float:
    """Return x * y + z, rounded once, as `math.fma` does, which Python has from 3.13 on."""
    outside("mm.fma")


def exp10(x: float) -> float:
    """Return 10 ** x, as `math.exp2` gives 2 ** x. CUDA's `exp10`."""
    outside("mm.exp10")


def outside(name: str) -> NoReturn:
    """Refuse the call of a function that has a meaning only in a program."""
    raise MMSimError(f"{name} has a meaning only inside a function decorated with mmsim.program")
