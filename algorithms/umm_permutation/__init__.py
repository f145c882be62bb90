"""Permuting an array on the UMM (SMM section 7)."""

from mmsim_algorithms.umm_permutation.programs import (
    by_groups,
    by_squares,
    column_wise,
    one_pass,
    one_pass_tables,
    permutation,
    permute,
    row_wise,
    steps,
)

__all__ = [
    "by_groups",
    "by_squares",
    "column_wise",
    "one_pass",
    "one_pass_tables",
    "permutation",
    "permute",
    "row_wise",
    "steps",
]
