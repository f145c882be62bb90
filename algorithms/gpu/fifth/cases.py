"""All cases of the fifth set, job by job."""

from __future__ import annotations

from itertools import chain

from mmsim_algorithms.gpu.fifth import (
    bodies,
    dense,
    moves,
    numbers,
    sorting,
    sparse,
    stencils,
    strings,
    totals,
    transforms,
)
from mmsim_algorithms.gpu.fourth.case import Case

FILES = (
    *(totals, dense, moves, stencils, sparse, sorting),
    *(bodies, transforms, numbers, strings),
)
CASES: list[Case] = list(chain.from_iterable(file.CASES for file in FILES))
