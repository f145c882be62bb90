"""All cases of the seventh set, job by job."""

from __future__ import annotations

from itertools import chain

from mmsim_algorithms.gpu.fourth.case import Case
from mmsim_algorithms.gpu.seventh import dense, grids, links, particles, rows, tables

FILES = grids, dense, rows, links, particles, tables
CASES: list[Case] = list(chain.from_iterable(file.CASES for file in FILES))
