"""Launches with compiled programs, for benchmarks of repeated work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def compiled_first() -> Iterator[None]:
    """Compile every program at its first launch in here, even if interpreting it would be quicker.

    A benchmark runs each of its programs once in here, and measures it afterwards.
    """
    from mmsim.engines.array import lazy_compilation
    from mmsim.engines.array.fused import tiering

    before = tiering.eager, lazy_compilation.eager
    tiering.eager = lazy_compilation.eager = True
    try:
        yield
    finally:
        tiering.eager, lazy_compilation.eager = before
