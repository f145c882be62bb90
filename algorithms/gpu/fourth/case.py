"""A kernel of a set, in two codes: CUDA C, and Python for Numba."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from types import FunctionType
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.gpu.record import Row

Extents = int | tuple[int, ...]
Array = npt.NDArray[Any]
CUDA_C, NUMBA = "CUDA C", "Numba"
CODES = (CUDA_C, NUMBA)
"""The codes of each kernel."""
DIGEST = "digest"
"""The field with the digest of a launch and its data."""
SEED = 20261128


@dataclass(frozen=True)
class Data:
    """The arguments of a launch, and the right contents of some of them afterwards.

    `expected` has them by the number of the argument. Floats may miss them by `tolerance` of the
    largest one; a share `differ` of the elements may miss them more. In `any_order` the elements
    may stand in another order.
    """

    arguments: tuple[Any, ...]
    expected: Mapping[int, Array]
    tolerance: float = 0.0
    differ: float = 0.0
    any_order: bool = False

    def wrong(self, found: Mapping[int, Array]) -> str:
        """Say which argument has wrong contents; "" if none has."""
        for number, right in self.expected.items():
            own, expected = found[number].reshape(right.shape), right
            if self.any_order:
                own, expected = np.sort(own.ravel()), np.sort(right.ravel())
            most = self.tolerance * float(np.abs(expected).max())
            missed = ~(np.abs(own.astype(np.float64) - expected) <= most)
            if missed.mean() > self.differ:
                return f"argument {number} is wrong in {int(missed.sum())} of {missed.size} places"
        return ""


@dataclass(frozen=True)
class Case:
    """One way to do a job, whose launch follows from a size.

    `code` is CUDA C with a kernel of the name of `function`, which is the kernel for Numba. It has
    no decorator, since the same function serves `mmsim.cuda` and `numba.cuda`. `size` is measured,
    `small` is for tests.
    """

    job: str
    code: str = field(repr=False)
    data: Callable[[int], Data]
    size: int
    small: int
    way: str
    function: Callable[..., None]
    grid: Callable[[int], Extents]
    block: Extents

    @property
    def name(self) -> str:
        return self.function.__name__

    def about(self, code: str) -> Row:
        """The fields that name a row of the case in one of its codes."""
        return {"job": self.job, "way": self.way, "code": code}

    def digest(self, code: str, data: Data) -> str:
        """A digest of a launch: the kernel's text, its extents, its arguments and all data."""
        text = self.code if code == CUDA_C else inspect.getsource(self.function)
        digest = sha256(json.dumps([self.name, text, self.extents]).encode())
        for argument in map(np.asarray, data.arguments):
            digest.update(json.dumps([argument.dtype.str, argument.shape]).encode())
            digest.update(np.ascontiguousarray(argument).data)
        return digest.hexdigest()

    @property
    def extents(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Blocks of the grid, and threads of a block, along x, y and z."""
        return triple(self.grid(self.size)), triple(self.block)

    def numba_kernel(self, cuda: Any) -> Any:
        """The kernel in Python, compiled by `mmsim.cuda` or `numba.cuda`."""
        function = self.function
        assert isinstance(function, FunctionType)
        known = {**function.__globals__, "cuda": cuda}
        return cuda.jit(FunctionType(function.__code__, known, function.__name__))


def random(*salt: int) -> np.random.Generator:
    """The generator of a job's data."""
    return np.random.default_rng([SEED, *salt])


def floats(n: int, *salt: int) -> Array:
    """Random floats from 0 to 1."""
    return random(*salt).random(n, np.float32)


def triple(extents: Extents) -> tuple[int, ...]:
    """Three numbers along x, y and z."""
    given = (extents,) if isinstance(extents, int) else extents
    return (*given, *(1,) * (3 - len(given)))
