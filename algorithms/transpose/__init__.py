"""Transposing a matrix on the DMM, in `dmm`; on the UMM, in `umm`; on the HMM, in `hmm`."""

from mmsim_algorithms.transpose.dmm import diagonal, straightforward

__all__ = [
    "diagonal",
    "straightforward",
]
