"""The fast Fourier transform: in place, by Stockham's way, and by columns and rows on an HMM."""

from mmsim_algorithms.fft.programs import columns, in_place, rows, stockham

__all__ = [
    "columns",
    "in_place",
    "rows",
    "stockham",
]
