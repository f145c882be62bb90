"""Approximate string matching: a pattern of m letters in a text of n letters."""

from mmsim_algorithms.string_matching.programs import in_one_memory, in_shared_memory

__all__ = ["in_one_memory", "in_shared_memory"]
