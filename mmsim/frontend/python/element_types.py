"""The element types of arrays that a program makes."""

from __future__ import annotations

from typing import Any

import numpy as np

from mmsim.ir.promotion import SUPPORTED

CODES = {np.dtype(name).str[1:]: name for name in SUPPORTED}
"""NumPy's short names, as i4."""


def numpy_name(given: Any) -> str:
    """The name of the element type for an object, "" for none.

    NumPy's own reading of a type trusts any object's attributes, and parses text.
    """
    if isinstance(given, str):
        return CODES.get(given) or numpy_name(np.sctypeDict.get(given))
    if isinstance(given, np.dtype):
        return given.name
    if isinstance(given, type):
        for known in (bool, int, float, complex, *(np.dtype(name).type for name in SUPPORTED)):
            if given is known:
                return np.dtype(known).name
    return ""
