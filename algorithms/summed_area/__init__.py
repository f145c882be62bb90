"""The summed area table of a matrix on the HMM, with each word read and written once or twice."""

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
]
