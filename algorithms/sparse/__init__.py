"""A sparse matrix times a vector: a thread or a warp for each row, by columns, and on an HMM."""

from mmsim_algorithms.sparse.programs import ell, ell_shared, row_of_thread, row_of_warp

__all__ = [
    "ell",
    "ell_shared",
    "row_of_thread",
    "row_of_warp",
]
