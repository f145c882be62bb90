"""A five-point stencil on a matrix: by rows, by columns, and by bands of rows on an HMM."""

from mmsim_algorithms.stencil.programs import by_bands, by_columns, by_rows

__all__ = [
    "by_bands",
    "by_columns",
    "by_rows",
]
