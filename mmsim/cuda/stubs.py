"""The names that have a meaning only inside a kernel.

They exist for the reader, the type checker and the editor. mmsim parses a kernel. The front end
knows these names by module and qualified name, like those of `numba.cuda`. A call from the host
raises a `HostCallError`. Where a kernel runs as a Python function, the body is for its thread, or
`in_python` has the meaning.
"""
# mypy: disable-error-code="empty-body,no-any-return"

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from types import FunctionType
from typing import Any, NoReturn, TypeVar

import numpy as np

from mmsim.cuda.in_python import WORDS, current, elements, here, of_numbers, with_fields
from mmsim.errors import MMSimError
from mmsim.frontend.numba.names import LOADS, STORES

F = TypeVar("F", bound=Callable[..., Any])


class HostCallError(MMSimError, NotImplementedError):
    """A name that has a meaning only inside a kernel, used on the host."""


def outside(name: str) -> NoReturn:
    """Refuse the call of a name that has a meaning only in a kernel."""
    raise HostCallError(
        f"cuda.{name} cannot be called from host code: it has a meaning only inside a function "
        "decorated with cuda.jit"
    )


def in_thread(function: F) -> F:
    """A function in its place that acts for the thread that runs here, and refuses the host."""
    name = function.__qualname__

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if (thread := current()) is None:
            outside(name)
        given = signature(function).bind(*args, **kwargs).args
        return WORDS[name](thread, *given) if name in WORDS else function(*given)

    return call  # type: ignore[return-value]


class _Name(type):
    """A name without objects, printed as in Numba."""

    def __init__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> None:
        for own, value in space.items():
            if isinstance(value, staticmethod):
                setattr(cls, own, staticmethod(in_thread(value.__func__)))

    def __repr__(cls) -> str:
        return f"<{cls.__qualname__}>"

    def __getattr__(cls, name: str) -> Any:
        """An axis of threadIdx and the like, for the thread that runs here."""
        thread, axis = current(), "xyz".find(name)
        if thread is None or axis < 0 or cls.__name__ not in thread.places:
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        return thread.places[cls.__name__][axis]

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        outside(cls.__qualname__)


def declare_device(name: str, sig: Any, *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """A device function of CUDA C. Raises a `HostCallError`: mmsim can't run foreign code."""
    raise HostCallError(
        f"cuda.declare_device({name!r}, ...) names a function of CUDA C or PTX, which mmsim cannot "
        "run; write it in Python with cuda.jit(device=True)"
    )


def _with_hints() -> dict[str, FunctionType]:
    """The accesses with hints for caches, which the model doesn't have."""

    def load(array: Any, i: Any) -> Any:
        """`array[i]`."""
        return array[i]

    def store(array: Any, i: Any, value: Any) -> None:
        """`array[i] = value`."""
        array[i] = value

    found = {}
    for names, access in ((LOADS, load), (STORES, store)):
        for name in names:
            found[name] = FunctionType(access.__code__, globals(), name)
            found[name].__qualname__ = name
    return found


_OTHERS = {*globals(), "_OTHERS", "Dim3"} - {"declare_device"}


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
    thread = here.thread
    along = zip(*(thread.places[one] for one in ("blockIdx", "blockDim", "threadIdx")), strict=True)
    return thread.along((block * size + place for block, size, place in along), ndim)


def gridsize(ndim: int) -> Any:
    """The threads of the whole grid along `ndim` axes: an integer, or a tuple of them."""
    places = here.thread.places
    along = zip(places["gridDim"], places["blockDim"], strict=True)
    return here.thread.along((blocks * size for blocks, size in along), ndim)


class shared(metaclass=_Name):
    """Memory that the threads of a block share."""

    @staticmethod
    def array(shape: Any, dtype: Any, alignment: int | None = None) -> Any:
        """An array of the block. With shape 0 it fills the launch's dynamic shared memory."""
        block, held = here.thread.block, elements(dtype)
        if shape == 0:
            whole = block.dynamic[: block.dynamic.size // held.itemsize * held.itemsize]
            return with_fields(whole.view(held))
        return block.arrays.setdefault(here.thread.place(), with_fields(np.zeros(shape, held)))


class local(metaclass=_Name):
    """Memory of one thread."""

    @staticmethod
    def array(shape: Any, dtype: Any, alignment: int | None = None) -> Any:
        """An array of the thread."""
        return with_fields(np.zeros(shape, elements(dtype)))


class const(metaclass=_Name):
    """Memory that a kernel only reads."""

    @staticmethod
    def array_like(ndarray: Any) -> Any:
        """An array with the contents that a host array has when the kernel is compiled."""
        copy = np.array(ndarray)
        copy.flags.writeable = False
        return with_fields(copy)


def syncthreads() -> None:
    """Wait until all threads of the block are here."""


def syncthreads_count(predicate: Any) -> int:
    """Wait for the block; return the number of its threads for which the predicate holds."""


def syncthreads_and(predicate: Any) -> int:
    """Wait for the block; return 1 if the predicate holds for all of its threads, else 0."""


def syncthreads_or(predicate: Any) -> int:
    """Wait for the block; return 1 if the predicate holds for any of its threads, else 0."""


def syncwarp(mask: int = 0xFFFFFFFF) -> None:
    """Wait until the lanes of a mask are here."""


def shfl_sync(mask: int, value: Any, src_lane: int) -> Any:
    """The value of lane `src_lane`."""


def shfl_up_sync(mask: int, value: Any, delta: int) -> Any:
    """The value of the lane `delta` below; without such a lane, its own value."""


def shfl_down_sync(mask: int, value: Any, delta: int) -> Any:
    """The value of the lane `delta` above; without such a lane, its own value."""


def shfl_xor_sync(mask: int, value: Any, lane_mask: int) -> Any:
    """The value of the lane with number (this lane's number XOR `lane_mask`)."""


def all_sync(mask: int, predicate: Any) -> bool:
    """Return whether the predicate holds for all lanes of the mask."""


def any_sync(mask: int, predicate: Any) -> bool:
    """Return whether the predicate holds for any lane of the mask."""


def eq_sync(mask: int, predicate: Any) -> bool:
    """Return whether the predicate is the same for all lanes of the mask."""


def ballot_sync(mask: int, predicate: Any) -> int:
    """A bit for each lane of the mask: whether the predicate holds for it."""


def match_any_sync(mask: int, value: Any) -> int:
    """A bit for each lane of the mask: whether it has the same value."""


def match_all_sync(mask: int, value: Any) -> tuple[int, bool]:
    """The mask and True if all its lanes have the same value, else 0 and False."""


def activemask() -> int:
    """A bit for each lane of the warp: whether it executes this."""


def lanemask_lt() -> int:
    """A bit for each lane below this one."""
    return np.uint32((1 << here.thread.laneid) - 1)  # type: ignore[return-value]


def threadfence_block() -> None:
    """Let the block see the earlier writes of this thread before its later writes."""


def threadfence() -> None:
    """Let the grid see the earlier writes of this thread before its later writes."""


def threadfence_system() -> None:
    """Let host and devices see the earlier writes of this thread before its later writes."""


def nanosleep(nanoseconds: int) -> None:
    """Wait for about that many nanoseconds."""


def popc(x: int) -> int:
    """The number of bits of `x` that are 1."""
    return of_numbers("popc", x)


def brev(x: int) -> int:
    """The bits of `x` in reverse order."""
    return of_numbers("brev", x)


def clz(x: int) -> int:
    """The number of 0 bits of `x` above its highest 1."""
    return of_numbers("clz", x)


def ffs(x: int) -> int:
    """The place of the lowest bit of `x` that is 1, counted from 1; 0 for 0."""
    return of_numbers("ffs", x)


def selp(a: Any, b: Any, c: Any) -> Any:
    """`b` if `a`, else `c`."""
    return b if a else c


def fma(a: float, b: float, c: float) -> float:
    """`a * b + c`, rounded once."""
    return of_numbers("fma", a, b, c)


def cbrt(a: float) -> float:
    """The cube root of `a`."""
    return of_numbers("cbrt", a)


class atomic(metaclass=_Name):
    """Indivisible reads and writes of one element. All return the old value.

    An index is an integer, or a tuple of them.
    """

    @staticmethod
    def add(array: Any, index: Any, value: Any) -> Any:
        """`array[index] += value`."""

    @staticmethod
    def sub(array: Any, index: Any, value: Any) -> Any:
        """`array[index] -= value`."""

    @staticmethod
    def and_(array: Any, index: Any, value: Any) -> Any:
        """`array[index] &= value`."""

    @staticmethod
    def or_(array: Any, index: Any, value: Any) -> Any:
        """`array[index] |= value`."""

    @staticmethod
    def xor(array: Any, index: Any, value: Any) -> Any:
        """`array[index] ^= value`."""

    @staticmethod
    def inc(array: Any, index: Any, value: Any) -> Any:
        """`array[index] += 1`, or 0 if it was `value` or more."""

    @staticmethod
    def dec(array: Any, index: Any, value: Any) -> Any:
        """`array[index] -= 1`, or `value` if it was 0 or more than `value`."""

    @staticmethod
    def exch(array: Any, index: Any, value: Any) -> Any:
        """`array[index] = value`."""

    @staticmethod
    def max(array: Any, index: Any, value: Any) -> Any:
        """`array[index] = max(array[index], value)`."""

    @staticmethod
    def min(array: Any, index: Any, value: Any) -> Any:
        """`array[index] = min(array[index], value)`."""

    @staticmethod
    def nanmax(array: Any, index: Any, value: Any) -> Any:
        """As `max`; NaN counts as missing."""

    @staticmethod
    def nanmin(array: Any, index: Any, value: Any) -> Any:
        """As `min`; NaN counts as missing."""

    @staticmethod
    def compare_and_swap(array: Any, old: Any, value: Any) -> Any:
        """`array[0] = value` if `array[0] == old`."""
        return WORDS["atomic.cas"](here.thread, array, (0,) * array.ndim, old, value)

    @staticmethod
    def cas(array: Any, index: Any, old: Any, value: Any) -> Any:
        """`array[index] = value` if `array[index] == old`."""


globals().update(_with_hints())
__all__ = sorted(set(globals()) - _OTHERS)
for _name in set(__all__) - {"declare_device"}:
    if isinstance(globals()[_name], FunctionType):
        globals()[_name] = in_thread(globals()[_name])
