"""Numba's names for tests of kernels, as `numba.cuda.testing`: mmsim runs what a GPU would."""

from __future__ import annotations

import unittest
from collections.abc import Callable
from typing import Any


class CUDATestCase(unittest.TestCase):
    """A test case that launches kernels."""


ContextResettingTestCase = CUDATestCase


def skip_unless_cudasim(reason: str) -> Callable[[Any], Any]:
    """Skip a test that is only for Numba's simulator, for a reason."""
    return unittest.skip(reason)


def __getattr__(name: str) -> Any:
    """Other decorators for what some GPU or driver lacks: they skip no test."""
    if name.startswith(("skip_", "xfail_")):
        return lambda given: given if callable(given) else lambda function: function
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
