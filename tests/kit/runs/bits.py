"""Arrays compared bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np


def floats(array: Any) -> Any:
    """An array as floats, if it holds any: the parts of complex numbers side by side."""
    whole = np.ascontiguousarray(array).reshape(-1)
    return whole.view(f"f{whole.itemsize // 2}") if whole.dtype.kind == "c" else whole


def same_bits(found: Any, expected: Any) -> bool:
    """Return whether two arrays are the same, bit for bit; all floats that are not numbers are."""
    found, expected = floats(found), floats(expected)
    same = found.view(f"V{found.itemsize}") == expected.view(f"V{expected.itemsize}")
    if found.dtype.kind == "f":
        same |= np.isnan(found) & np.isnan(expected)
    return bool(np.all(same))
