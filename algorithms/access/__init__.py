"""Contiguous access, stride access and copy; rounds, and the papers' worked examples."""

from mmsim_algorithms.access.programs import contiguous, copy, stride

__all__ = [
    "contiguous",
    "copy",
    "stride",
]
