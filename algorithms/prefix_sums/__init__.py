"""Prefix sums: by doubling distances, in optimal time by a tree, and with few barriers."""

from mmsim_algorithms.prefix_sums.programs import doubling, few_barriers, tree

__all__ = [
    "doubling",
    "few_barriers",
    "tree",
]
