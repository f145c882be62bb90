"""The product of two matrices: naive, in registers, and by tiles in shared memory."""

from mmsim_algorithms.product.programs import (
    by_columns,
    by_rows,
    in_registers,
    tiled,
    tiled_by_rows,
)

__all__ = [
    "by_columns",
    "by_rows",
    "in_registers",
    "tiled",
    "tiled_by_rows",
]
