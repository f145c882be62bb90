"""Bitonic sort and pairwise merge sort, each with and without bank conflicts."""

from mmsim_algorithms.sorting.bitonic import bitonic, bitonic_without_conflicts
from mmsim_algorithms.sorting.merging import conflict_free_pass, merge_sorted, serial_pass, worst

__all__ = [
    "bitonic",
    "bitonic_without_conflicts",
    "conflict_free_pass",
    "merge_sorted",
    "serial_pass",
    "worst",
]
