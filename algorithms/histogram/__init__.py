"""Counting values by atomics, in one memory and in shared memory, and sorting by these counts."""

from mmsim_algorithms.histogram.programs import by_lanes, counting_sort, histogram, in_place

__all__ = [
    "by_lanes",
    "counting_sort",
    "histogram",
    "in_place",
]
