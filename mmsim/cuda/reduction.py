"""`cuda.reduce`: a reduction of arrays by a function of two values.

As in Numba, blocks of four warps reduce in shared memory. Each thread takes every n-th element.
Then half of the threads of a warp take over the results of the other half, and so on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from mmsim.cuda.allocation import device_array
from mmsim.cuda.dispatcher import Dispatcher, jit
from mmsim.cuda.stubs import blockIdx, gridDim, shared, syncthreads, threadIdx
from mmsim.cuda.types import from_dtype

BLOCK = 128
"""Threads of a full block."""
MOST_BLOCKS = 64


class Reduce:
    """A reduction by a function of two values: decorate the function, call it with an array."""

    def __init__(self, functor: Callable[[Any, Any], Any]) -> None:
        self._functor = jit(functor, device=True)
        self._kernels: dict[np.dtype[Any], Dispatcher] = {}

    def __call__(
        self, arr: Any, size: int | None = None, res: Any = None, init: Any = 0, stream: Any = 0
    ) -> Any:
        """Reduce all elements of an array of one axis, and `init`, to one value.

        Parameters
        ----------
        arr
            An array of the host or the device.
        size
            The number of elements to reduce. Default: all.
        res
            An array of the device whose first element gets the value. Without it, the value is
            returned.
        init
            The initial value, such as the neutral element.
        stream
            The stream of the launches.
        """
        if arr.ndim != 1:
            raise TypeError("only support 1D array")
        if size is not None:
            arr = arr[:size]
        init = arr.dtype.type(init)
        if arr.size < 1:
            return init
        kernel = self._kernel(arr.dtype)
        blocks = min(-(-arr.size // BLOCK), MOST_BLOCKS)
        partial = device_array(blocks, arr.dtype)
        kernel[blocks, BLOCK, stream](arr, partial, init, blocks == 1)
        total = partial
        if blocks > 1:
            total = device_array(1, arr.dtype)
            kernel[1, BLOCK, stream](partial, total, init, True)
        if res is None:
            return total[0]
        res[:1].copy_to_device(total)
        return None

    def _kernel(self, dtype: np.dtype[Any]) -> Dispatcher:
        """The kernel that reduces elements of a type to one value for each block."""
        if dtype not in self._kernels:
            self._kernels[dtype] = _made(self._functor, from_dtype(dtype))
        return self._kernels[dtype]


reduce = Reduce


def _made(op: Dispatcher, dtype: Any) -> Dispatcher:
    """A kernel that reduces an array to one value for each block."""

    @jit
    def reduce_blocks(arr: Any, partial: Any, init: Any, use_init: Any) -> None:
        values = shared.array(BLOCK, dtype)
        thread, block = threadIdx.x, blockIdx.x
        start, step = block * BLOCK + thread, gridDim.x * BLOCK
        if start < arr.size:
            value = arr[start]
            for i in range(start + step, arr.size, step):
                value = op(value, arr[i])
            values[thread] = value
        syncthreads()
        count = min(BLOCK, arr.size - block * BLOCK)
        width = BLOCK // 2
        while width > 0:
            if thread < width and thread + width < count:
                values[thread] = op(values[thread], values[thread + width])
            syncthreads()
            width //= 2
        if thread == 0:
            result = values[0]
            if use_init and block == 0:
                result = op(result, init)
            partial[block] = result

    return cast(Dispatcher, reduce_blocks)
