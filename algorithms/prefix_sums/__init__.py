"""Prefix sums: by doubling distances, and in optimal time by a tree."""

from mmsim_algorithms.prefix_sums.programs import doubling, tree

__all__ = [
    "doubling",
    "tree",
]
