"""Sorting, permutation, partition and merging, with and without bank conflicts."""

from mmsim_algorithms.sorting.bitonic import bitonic, bitonic_without_conflicts
from mmsim_algorithms.sorting.columns import column_sort
from mmsim_algorithms.sorting.merging import conflict_free_pass, merge_sorted, serial_pass, worst
from mmsim_algorithms.sorting.partition import partition, permute
from mmsim_algorithms.sorting.two_lists import merge_lists, merge_two

__all__ = [
    "bitonic",
    "bitonic_without_conflicts",
    "column_sort",
    "conflict_free_pass",
    "merge_lists",
    "merge_sorted",
    "merge_two",
    "partition",
    "permute",
    "serial_pass",
    "worst",
]
