"""A kernel for one set of argument types."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numba.core import types
from numba.core.typing.templates import Signature
from numba.np.numpy_support import as_dtype

from mmsim.cuda.devices import Device, get_current_device
from mmsim.cuda.launches import Launched, bytes_of, size_of
from mmsim.cuda.types import Types, TypingError, is_number, listed
from mmsim.frontend.program import Program
from mmsim.ir.liveness import registers

SHARED_BYTES = 228 * 1024
"""The shared memory of a multiprocessor of compute capability 9.0, for all blocks on it."""


class Kernel:
    """A kernel for one set of argument types, with its facts for programs."""

    const_mem_size = 0
    """Bytes of constant memory: none, as the model has no separate constant memory."""

    def __init__(self, dispatcher: Any, signature: Signature) -> None:
        self._dispatcher = dispatcher
        self.signature = signature
        self.last: Launched | None = None
        """The last launch; None before the first."""

    @property
    def entry_name(self) -> str:
        """The name of its function."""
        return str(self._dispatcher.__name__)

    @property
    def argument_types(self) -> Types:
        """The types of its arguments."""
        found: Types = self.signature.args
        return found

    @property
    def program(self) -> Program:
        """The program for arguments of these types: that of the last launch, if any."""
        return self._before_launches if self.last is None else self.last.program

    @cached_property
    def _before_launches(self) -> Program:
        examples = tuple(map(_example, self.argument_types))
        program = self._dispatcher.program.specialized(examples).program
        assert isinstance(program, Program)
        return program

    @property
    def regs_per_thread(self) -> int:
        """The registers of a thread: the most words that it holds (`Program.registers`)."""
        sizes = {local.name: size_of(local) for local in self.program.code.locals}
        return registers(self.program.code.body, sizes).words

    @property
    def shared_mem_per_block(self) -> int:
        """The bytes of shared memory of a block, without the launch's dynamic shared memory."""
        return bytes_of(self.program, "shared")

    @property
    def local_mem_per_thread(self) -> int:
        """The bytes of the local arrays of a thread."""
        return bytes_of(self.program, "registers")

    @property
    def max_threads_per_block(self) -> int:
        """The most threads of a block: the kernel's launch bounds, or the device's limit."""
        bounds = self._dispatcher.targetoptions.get("launch_bounds")
        most = bounds[0] if isinstance(bounds, Sequence) else bounds
        return Device.MAX_THREADS_PER_BLOCK if most is None else int(most)

    def max_cooperative_grid_blocks(self, blockdim: Any, dynsmemsize: int = 0) -> int:
        """Return how many blocks of a size a multiprocessor of compute capability 9.0 holds."""
        threads = math.prod(blockdim) if isinstance(blockdim, Sequence) else int(blockdim)
        device = get_current_device()
        blocks = device.MAX_THREADS_PER_MULTI_PROCESSOR // threads
        shared = dynsmemsize + self.shared_mem_per_block
        if shared:
            blocks = min(blocks, SHARED_BYTES // shared)
        return blocks * device.MULTIPROCESSOR_COUNT

    def inspect_types(self, file: Any = None) -> None:
        """Print the source of the kernel with its argument types."""
        print(f"{self.entry_name} {listed(self.argument_types)}\n{'-' * 80}", file=file)
        print(inspect.getsource(self._dispatcher.py_func), file=file)


def _example(type_: Any) -> Any:
    """A smallest argument of a type."""
    if is_number(type_):
        return as_dtype(type_).type(0)
    if isinstance(type_, types.Array):
        return np.zeros((1,) * type_.ndim, as_dtype(type_.dtype))
    if hasattr(type_, "count"):  # a tuple
        return tuple(map(_example, type_))
    raise TypingError(f"an argument of type {type_} is known only after a launch")


def check_carveout(carveout: Any) -> None:
    """Refuse any value that is not a fraction of the shared memory."""
    if isinstance(carveout, str):
        valid = ["default", "maxl1", "maxshared"]
        if carveout.lower() not in valid:
            raise ValueError(
                f"Invalid carveout value: {carveout}. Must be -1 to 100 or one of {valid}"
            )
    elif isinstance(carveout, int):
        if not -1 <= carveout <= 100:
            raise ValueError("Carveout must be between -1 and 100")
    elif carveout is not None:
        kind = type(carveout).__name__
        raise TypeError(f"shared_memory_carveout must be str or int, got {kind}")
