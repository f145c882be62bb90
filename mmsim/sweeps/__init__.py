"""Sweeps: many runs over a grid of parameters, in parallel, into a file that survives a kill."""

from mmsim.sweeps.cases import Grid
from mmsim.sweeps.file import SweepError, read
from mmsim.sweeps.rows import SweepRow
from mmsim.sweeps.sweep import sweep

__all__ = ["Grid", "SweepError", "SweepRow", "read", "sweep"]
