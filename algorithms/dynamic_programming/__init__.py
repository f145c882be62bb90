"""Dynamic programming over intervals: the least triangulation of a polygon on the HMM."""

from mmsim_algorithms.dynamic_programming.programs import corner, in_global_memory, squares
from mmsim_algorithms.dynamic_programming.tables import by_tiles

__all__ = ["by_tiles", "corner", "in_global_memory", "squares"]
