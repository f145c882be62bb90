"""The summed area table of a matrix in one memory, and on the HMM with few accesses."""

from mmsim_algorithms.summed_area.hybrid import by_hybrid
from mmsim_algorithms.summed_area.one_memory import by_trees, in_one_memory
from mmsim_algorithms.summed_area.single import bands, by_bands
from mmsim_algorithms.summed_area.tables import WAYS, by_1r1w, by_2r1w, by_2r2w, by_4r4w

__all__ = [
    "WAYS",
    "bands",
    "by_1r1w",
    "by_2r1w",
    "by_2r2w",
    "by_4r4w",
    "by_bands",
    "by_hybrid",
    "by_trees",
    "in_one_memory",
]
