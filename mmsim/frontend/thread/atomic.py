"""The atomics of a program, as `mm.atomic`: each reads and writes a word in one indivisible step.

These names exist for the reader, the type checker and the editor, as the program's other names do.
An index is one number, or a tuple with one for each axis. Each function returns the old value; a
call as a statement discards it. Simultaneous atomics on one word take effect in turn. A program can
rely only on the order within a warp: by ascending lane.

>>> import numpy as np, mmsim as mm
>>> @mm.program
... def histogram(T, x, h):
...     mm.atomic.add(h, x[T.id], 1)
>>> x = np.array([0, 1, 1, 3, 1, 0, 3, 3])
>>> run = mm.DMM(width=4, latency=1).run(histogram, x, np.zeros(4, int), threads=8)
>>> run.arrays["h"].tolist(), run.accesses[1].kind, run.accesses[1].stages
([2, 3, 0, 3], 'atomic', 4)
"""

from __future__ import annotations

from typing import Any

from mmsim.frontend.thread.intrinsics import outside
from mmsim.frontend.thread.names import Array

Index = int | tuple[int, ...]


def add(array: Array, index: Index, value: Any) -> Any:
    """array[index] += value; return the old value. Integers wrap around at the size of a word."""
    outside("mm.atomic.add")


def sub(array: Array, index: Index, value: Any) -> Any:
    """array[index] -= value, of integers; return the old value."""
    outside("mm.atomic.sub")


def max(array: Array, index: Index, value: Any) -> Any:
    """array[index] = max(array[index], value), of integers; return the old value."""
    outside("mm.atomic.max")


def min(array: Array, index: Index, value: Any) -> Any:
    """array[index] = min(array[index], value), of integers; return the old value."""
    outside("mm.atomic.min")


def and_(array: Array, index: Index, value: Any) -> Any:
    """array[index] &= value; return the old value."""
    outside("mm.atomic.and_")


def or_(array: Array, index: Index, value: Any) -> Any:
    """array[index] |= value; return the old value."""
    outside("mm.atomic.or_")


def xor(array: Array, index: Index, value: Any) -> Any:
    """array[index] ^= value; return the old value."""
    outside("mm.atomic.xor")


def exch(array: Array, index: Index, value: Any) -> Any:
    """array[index] = value; return the old value."""
    outside("mm.atomic.exch")


def cas(array: Array, index: Index, compare: Any, value: Any) -> Any:
    """array[index] = value if it held the bits of `compare`; return the old value."""
    outside("mm.atomic.cas")


def inc(array: Array, index: Index, value: Any) -> Any:
    """array[index] = 0 if it was `value` or more, else one more; return the old value."""
    outside("mm.atomic.inc")


def dec(array: Array, index: Index, value: Any) -> Any:
    """array[index] = value if it was 0 or above `value`, else one less; return the old value."""
    outside("mm.atomic.dec")
