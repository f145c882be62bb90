"""The names that have a meaning only inside a kernel.

They exist for the reader, the type checker and the editor. mmsim parses a kernel and never calls
it. The front end knows these names by module and qualified name, like those of `numba.cuda`. A call
from the host raises a `HostCallError`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from mmsim.errors import MMSimError

__all__ = [
    "activemask",
    "all_sync",
    "any_sync",
    "atomic",
    "ballot_sync",
    "blockDim",
    "blockIdx",
    "brev",
    "cbrt",
    "clz",
    "const",
    "declare_device",
    "eq_sync",
    "ffs",
    "fma",
    "grid",
    "gridDim",
    "gridsize",
    "laneid",
    "lanemask_lt",
    "local",
    "match_all_sync",
    "match_any_sync",
    "nanosleep",
    "popc",
    "selp",
    "shared",
    "shfl_down_sync",
    "shfl_sync",
    "shfl_up_sync",
    "shfl_xor_sync",
    "syncthreads",
    "syncthreads_and",
    "syncthreads_count",
    "syncthreads_or",
    "syncwarp",
    "threadIdx",
    "threadfence",
    "threadfence_block",
    "threadfence_system",
    "warpsize",
]


class HostCallError(MMSimError, NotImplementedError):
    """A name that has a meaning only inside a kernel, used on the host."""


def outside(name: str) -> NoReturn:
    """Refuse the call of a name that has a meaning only in a kernel."""
    raise HostCallError(
        f"cuda.{name} cannot be called from host code: it has a meaning only inside a function "
        "decorated with cuda.jit"
    )


class _Name(type):
    """A name without objects, printed as in Numba."""

    def __repr__(cls) -> str:
        return f"<{cls.__qualname__}>"

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        outside(cls.__qualname__)


class Dim3(metaclass=_Name):
    """Three integers, x, y and z."""

    x: int
    y: int
    z: int


class threadIdx(Dim3):
    """The place of a thread in its block: from 0 to blockDim - 1 along each axis."""


class blockIdx(Dim3):
    """The place of a block in the grid: from 0 to gridDim - 1 along each axis."""


class blockDim(Dim3):
    """The threads of a block along each axis."""


class gridDim(Dim3):
    """The blocks of the grid along each axis."""


class laneid(metaclass=_Name):
    """The lane of a thread in its warp: from 0 to warpsize - 1."""


class warpsize(metaclass=_Name):
    """The threads of a warp: the machine's width."""


def grid(ndim: int) -> Any:
    """The place of a thread in the whole grid along `ndim` axes: an integer, or a tuple of them."""
    outside("grid")


def gridsize(ndim: int) -> Any:
    """The threads of the whole grid along `ndim` axes: an integer, or a tuple of them."""
    outside("gridsize")


class shared(metaclass=_Name):
    """Memory that the threads of a block share."""

    @staticmethod
    def array(shape: Any, dtype: Any, alignment: int | None = None) -> Any:
        """An array of the block. With shape 0 it fills the launch's dynamic shared memory."""
        outside("shared.array")


class local(metaclass=_Name):
    """Memory of one thread."""

    @staticmethod
    def array(shape: Any, dtype: Any, alignment: int | None = None) -> Any:
        """An array of the thread."""
        outside("local.array")


class const(metaclass=_Name):
    """Memory that a kernel only reads."""

    @staticmethod
    def array_like(ndarray: Any) -> Any:
        """An array with the contents that a host array has when the kernel is compiled."""
        outside("const.array_like")


def syncthreads() -> None:
    """Wait until all threads of the block are here."""
    outside("syncthreads")


def syncthreads_count(predicate: Any) -> int:
    """Wait for the block; return the number of its threads for which the predicate holds."""
    outside("syncthreads_count")


def syncthreads_and(predicate: Any) -> int:
    """Wait for the block; return 1 if the predicate holds for all of its threads, else 0."""
    outside("syncthreads_and")


def syncthreads_or(predicate: Any) -> int:
    """Wait for the block; return 1 if the predicate holds for any of its threads, else 0."""
    outside("syncthreads_or")


def syncwarp(mask: int = 0xFFFFFFFF) -> None:
    """Wait until the lanes of a mask are here."""
    outside("syncwarp")


def shfl_sync(mask: int, value: Any, src_lane: int) -> Any:
    """The value of lane `src_lane`."""
    outside("shfl_sync")


def shfl_up_sync(mask: int, value: Any, delta: int) -> Any:
    """The value of the lane `delta` below; without such a lane, its own value."""
    outside("shfl_up_sync")


def shfl_down_sync(mask: int, value: Any, delta: int) -> Any:
    """The value of the lane `delta` above; without such a lane, its own value."""
    outside("shfl_down_sync")


def shfl_xor_sync(mask: int, value: Any, lane_mask: int) -> Any:
    """The value of the lane with number (this lane's number XOR `lane_mask`)."""
    outside("shfl_xor_sync")


def all_sync(mask: int, predicate: Any) -> bool:
    """Return whether the predicate holds for all lanes of the mask."""
    outside("all_sync")


def any_sync(mask: int, predicate: Any) -> bool:
    """Return whether the predicate holds for any lane of the mask."""
    outside("any_sync")


def eq_sync(mask: int, predicate: Any) -> bool:
    """Return whether the predicate is the same for all lanes of the mask."""
    outside("eq_sync")


def ballot_sync(mask: int, predicate: Any) -> int:
    """A bit for each lane of the mask: whether the predicate holds for it."""
    outside("ballot_sync")


def match_any_sync(mask: int, value: Any) -> int:
    """A bit for each lane of the mask: whether it has the same value."""
    outside("match_any_sync")


def match_all_sync(mask: int, value: Any) -> tuple[int, bool]:
    """The mask and True if all its lanes have the same value, else 0 and False."""
    outside("match_all_sync")


def activemask() -> int:
    """A bit for each lane of the warp: whether it executes this."""
    outside("activemask")


def lanemask_lt() -> int:
    """A bit for each lane below this one."""
    outside("lanemask_lt")


def threadfence_block() -> None:
    """Let the block see the earlier writes of this thread before its later writes."""
    outside("threadfence_block")


def threadfence() -> None:
    """Let the grid see the earlier writes of this thread before its later writes."""
    outside("threadfence")


def threadfence_system() -> None:
    """Let host and devices see the earlier writes of this thread before its later writes."""
    outside("threadfence_system")


def nanosleep(nanoseconds: int) -> None:
    """Wait for about that many nanoseconds."""
    outside("nanosleep")


def popc(x: int) -> int:
    """The number of bits of `x` that are 1."""
    outside("popc")


def brev(x: int) -> int:
    """The bits of `x` in reverse order."""
    outside("brev")


def clz(x: int) -> int:
    """The number of 0 bits of `x` above its highest 1."""
    outside("clz")


def ffs(x: int) -> int:
    """The place of the lowest bit of `x` that is 1, counted from 1; 0 for 0."""
    outside("ffs")


def selp(a: Any, b: Any, c: Any) -> Any:
    """`b` if `a`, else `c`."""
    outside("selp")


def fma(a: float, b: float, c: float) -> float:
    """`a * b + c`, rounded once."""
    outside("fma")


def cbrt(a: float) -> float:
    """The cube root of `a`."""
    outside("cbrt")


class atomic(metaclass=_Name):
    """Indivisible reads and writes of one element. All return the old value.

    An index is an integer, or a tuple of them.
    """

    @staticmethod
    def add(array: Any, index: Any, value: Any) -> Any:
        """`array[index] += value`."""
        outside("atomic.add")

    @staticmethod
    def sub(array: Any, index: Any, value: Any) -> Any:
        """`array[index] -= value`."""
        outside("atomic.sub")

    @staticmethod
    def and_(array: Any, index: Any, value: Any) -> Any:
        """`array[index] &= value`."""
        outside("atomic.and_")

    @staticmethod
    def or_(array: Any, index: Any, value: Any) -> Any:
        """`array[index] |= value`."""
        outside("atomic.or_")

    @staticmethod
    def xor(array: Any, index: Any, value: Any) -> Any:
        """`array[index] ^= value`."""
        outside("atomic.xor")

    @staticmethod
    def inc(array: Any, index: Any, value: Any) -> Any:
        """`array[index] += 1`, or 0 if it was `value` or more."""
        outside("atomic.inc")

    @staticmethod
    def dec(array: Any, index: Any, value: Any) -> Any:
        """`array[index] -= 1`, or `value` if it was 0 or more than `value`."""
        outside("atomic.dec")

    @staticmethod
    def exch(array: Any, index: Any, value: Any) -> Any:
        """`array[index] = value`."""
        outside("atomic.exch")

    @staticmethod
    def max(array: Any, index: Any, value: Any) -> Any:
        """`array[index] = max(array[index], value)`."""
        outside("atomic.max")

    @staticmethod
    def min(array: Any, index: Any, value: Any) -> Any:
        """`array[index] = min(array[index], value)`."""
        outside("atomic.min")

    @staticmethod
    def nanmax(array: Any, index: Any, value: Any) -> Any:
        """As `max`; NaN counts as missing."""
        outside("atomic.nanmax")

    @staticmethod
    def nanmin(array: Any, index: Any, value: Any) -> Any:
        """As `min`; NaN counts as missing."""
        outside("atomic.nanmin")

    @staticmethod
    def compare_and_swap(array: Any, old: Any, value: Any) -> Any:
        """`array[0] = value` if `array[0] == old`."""
        outside("atomic.compare_and_swap")

    @staticmethod
    def cas(array: Any, index: Any, old: Any, value: Any) -> Any:
        """`array[index] = value` if `array[index] == old`."""
        outside("atomic.cas")


def declare_device(name: str, sig: Any, *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """A device function of CUDA C. Raises a `HostCallError`: mmsim can't run foreign code."""
    raise HostCallError(
        f"cuda.declare_device({name!r}, ...) names a function of CUDA C or PTX, which mmsim cannot "
        "run; write it in Python with cuda.jit(device=True)"
    )
