"""Bulk execution: each thread runs one sequential algorithm on its own input."""

from mmsim_algorithms.bulk.programs import ByColumns, prefix_sums, sort, triangulation

__all__ = ["ByColumns", "prefix_sums", "sort", "triangulation"]
