"""All cases of the sixth set, job by job."""

from __future__ import annotations

from itertools import chain

from mmsim_algorithms.gpu.fourth.case import Case
from mmsim_algorithms.gpu.sixth import (
    bodies,
    moves,
    numbers,
    products,
    scans,
    sorting,
    sparse,
    stencils,
    sums,
    transforms,
)

FILES = (
    *(sums, scans, products, stencils, moves),
    *(sparse, sorting, transforms, numbers, bodies),
)
CASES: list[Case] = list(chain.from_iterable(file.CASES for file in FILES))
