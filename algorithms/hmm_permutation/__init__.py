"""Permuting an array on the HMM (ICPP; IEICE)."""

from mmsim_algorithms.hmm_permutation.programs import (
    Plan,
    columns_permuted,
    plan,
    row_tables,
    row_wise,
    rows_permuted,
    scheduled,
)

__all__ = [
    "Plan",
    "columns_permuted",
    "plan",
    "row_tables",
    "row_wise",
    "rows_permuted",
    "scheduled",
]
