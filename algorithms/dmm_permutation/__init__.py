"""Permuting an array on the DMM, and many arrays in parallel (CFP; SMM section 6)."""

from mmsim_algorithms.dmm_permutation.programs import (
    ALGORITHMS,
    Permutation,
    conflict_free,
    destination_designated,
    moved,
    permute,
    source_designated,
    tables,
)

__all__ = [
    "ALGORITHMS",
    "Permutation",
    "conflict_free",
    "destination_designated",
    "moved",
    "permute",
    "source_designated",
    "tables",
]
