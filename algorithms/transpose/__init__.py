"""Transposing a matrix on the DMM, in `dmm`; on the UMM, in `umm`; on the HMM, in `hmm`.

`umm_groups` moves the tiles of a matrix on the UMM by whole address groups.
"""

from mmsim_algorithms.transpose.dmm import diagonal, straightforward

__all__ = [
    "diagonal",
    "straightforward",
]
