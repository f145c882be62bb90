"""Counting values by atomics in shared memory, and sorting by these counts."""

from mmsim_algorithms.histogram.programs import counting_sort, histogram

__all__ = [
    "counting_sort",
    "histogram",
]
