"""Prefix sums: by doubling distances, by a tree, in registers, and with decoupled look-back."""

from mmsim_algorithms.prefix_sums.look_back import by_adding, by_look_back, by_reducing, look_back
from mmsim_algorithms.prefix_sums.programs import doubling, few_barriers, in_registers, tree

__all__ = [
    "by_adding",
    "by_look_back",
    "by_reducing",
    "doubling",
    "few_barriers",
    "in_registers",
    "look_back",
    "tree",
]
