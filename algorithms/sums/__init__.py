"""The sum of n numbers: by a tree, by columns, on an HMM, and with few barriers."""

from mmsim_algorithms.sums.programs import (
    block_sums,
    by_few_barriers,
    columns,
    few_barriers,
    strided_tree,
    tree,
)

__all__ = [
    "block_sums",
    "by_few_barriers",
    "columns",
    "few_barriers",
    "strided_tree",
    "tree",
]
