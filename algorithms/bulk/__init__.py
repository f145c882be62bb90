"""Bulk execution: one sequential algorithm, run by each thread on an input of its own."""

from mmsim_algorithms.bulk.programs import ByColumns, prefix_sums, sort, triangulation

__all__ = ["ByColumns", "prefix_sums", "sort", "triangulation"]
