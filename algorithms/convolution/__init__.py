"""The direct convolution of m numbers and m + n - 1 numbers."""

from mmsim_algorithms.convolution.programs import direct, in_shared_memory

__all__ = ["direct", "in_shared_memory"]
