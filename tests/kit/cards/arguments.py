"""Arguments of a launch as CuPy takes them."""

from __future__ import annotations

from typing import Any

import numpy as np


def on_card(cp: Any, value: Any) -> Any:
    """Copy an argument's arrays to the card; a struct with pointers is a tuple of its parts."""
    if isinstance(value, tuple):
        return tuple(on_card(cp, part) for part in value)
    if isinstance(value, np.ndarray):
        return cp.asarray(value.view(np.uint8) if value.dtype.names else value)
    return value


def given(cp: Any, value: Any) -> Any:
    """The argument that CuPy hands to a kernel; a struct as a record with addresses of arrays."""
    if not isinstance(value, tuple):
        return value
    parts = [np.uint64(part.data.ptr) if isinstance(part, cp.ndarray) else part for part in value]
    kinds = [(f"part_{number}", part.dtype) for number, part in enumerate(parts)]
    return np.array(tuple(parts), np.dtype(kinds, align=True))[()]


def launch(cp: Any, kernel: Any, case: Any) -> Any:
    """Launch a kernel with the arguments of a case; return them, on the card."""
    args = on_card(cp, case.arguments())
    grid, block = (np.atleast_1d(extents).tolist() for extents in (case.grid, case.block))
    given_ones = tuple(given(cp, value) for value in args)
    kernel(tuple(grid), tuple(block), given_ones, shared_mem=case.shared_mem)
    cp.cuda.runtime.deviceSynchronize()
    return args
