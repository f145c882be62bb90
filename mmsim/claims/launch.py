"""A launch with symbols where a real one has numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from mmsim.frontend.program import Program
    from mmsim.model.machines import Machine


def below(limit: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A function with whole numbers from 0 on below a limit; a proof knows no more of them.

    For parts of `contents` without a closed form. The limit is a function of the same arguments.
    """

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def found(*arguments: Any) -> Any:
            for one in arguments:
                if hasattr(one, "applied"):
                    return one.applied(function, limit, arguments)
            return function(*arguments)

        return found

    return decorated


Size = Any
"""A number, or an expression of SymPy in the symbols of sizes."""


@dataclass(frozen=True)
class Rotated:
    """A layout of rows of w words, each rotated by a shift: for all shifts of a kind.

    Parameters
    ----------
    permuted
        The axes along which the shifts are a permutation of 0 .. w - 1, the other indices fixed.
    same
        The axes on which the shift of a row doesn't depend.
    """

    permuted: tuple[int, ...] = ()
    same: tuple[int, ...] = ()

    def describes(self, offsets: npt.NDArray[Any]) -> bool:
        """Return whether these words of the elements of an array are of such a layout.

        >>> import mmsim as mm
        >>> Rotated((0,)).describes(mm.layout.RAP(4, seed=1).offsets((4, 4)))
        True
        >>> Rotated(same=(0,)).describes(mm.layout.Diagonal(4).offsets((4, 4)))
        False
        """
        width = offsets.shape[-1]
        rows = np.arange(offsets.size // width).reshape(*offsets.shape[:-1], 1)
        shifts = offsets[..., :1] % width
        word = (np.arange(width) + shifts) % width
        return bool(
            (offsets == rows * width + word).all()
            and all((np.diff(shifts, axis=axis) == 0).all() for axis in self.same)
            and all(
                (
                    np.sort(shifts, axis=axis) == np.sort(np.indices(shifts.shape)[axis], axis=axis)
                ).all()
                for axis in self.permuted
            )
        )


@dataclass(frozen=True)
class SymbolicLaunch:
    """A launch whose sizes are numbers or expressions of SymPy.

    Parameters
    ----------
    program
        The program.
    arguments
        By parameter: the shape of an array, a tuple, or a number.
    threads, block_size
        As for `Machine.run`.
    machine
        A machine whose width and latencies may be symbols.
    contents
        By array that only is read: a function of an element's index, the element's value. For
        arrays from which the program reads indices.
    stages
        By array: the stages of a warp's request to it, where the index is read from memory. A
        number is that of each request. A symbol is the sum over all requests of the launch, or over
        those of a block to its shared memory, where all blocks do the same.
    layouts
        By array that isn't in row-major order: the word of an element as a function of its index,
        or a `Rotated`.
    """

    program: Program
    arguments: Mapping[str, Size | tuple[Size, ...]]
    threads: Size
    machine: Machine
    block_size: Size | None = None
    contents: Mapping[str, Callable[..., Size]] = field(default_factory=dict)
    stages: Mapping[str, Size] = field(default_factory=dict)
    layouts: Mapping[str, Rotated | Callable[..., Size]] = field(default_factory=dict)


@dataclass(frozen=True)
class Repeated:
    """Launches for the numbers from `low` to `high` - 1, in order.

    `launch` is a function of the number.
    """

    launch: Callable[[Size], SymbolicLaunch]
    low: Size
    high: Size


def each_launch(launches: Iterable[SymbolicLaunch | Repeated]) -> Iterator[SymbolicLaunch]:
    """The launches one by one, if `low` and `high` are numbers."""
    for one in launches:
        if isinstance(one, Repeated):
            yield from map(one.launch, range(int(one.low), int(one.high)))
        else:
            yield one
