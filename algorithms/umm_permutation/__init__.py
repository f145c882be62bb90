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
from mmsim_algorithms.umm_permutation.squares import (
    columns_permuted,
    fourth_power,
    long_rows,
    rows_permuted,
)

__all__ = [
    "by_groups",
    "by_squares",
    "column_wise",
    "columns_permuted",
    "fourth_power",
    "long_rows",
    "one_pass",
    "one_pass_tables",
    "permutation",
    "permute",
    "row_wise",
    "rows_permuted",
    "steps",
]
