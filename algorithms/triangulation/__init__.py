"""The optimal triangulation of a convex polygon, by dynamic programming on the DMM and the UMM."""

from mmsim_algorithms.triangulation.pipeline import pipeline
from mmsim_algorithms.triangulation.programs import by_diagonals, by_rows, eager

__all__ = [
    "by_diagonals",
    "by_rows",
    "eager",
    "pipeline",
]
