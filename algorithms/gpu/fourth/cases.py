"""All cases of the fourth set, job by job."""

from __future__ import annotations

from itertools import chain

from mmsim_algorithms.gpu.fourth import (
    bodies,
    chances,
    compactions,
    histograms,
    iterations,
    normalized,
    permutations,
    prefixes,
    products,
    reductions,
    sorting,
    sparse,
    stencils,
    streams,
    sums,
    transforms,
    transposes,
)
from mmsim_algorithms.gpu.fourth.case import Case

FILES = (
    *(sums, prefixes, histograms, products, transposes, stencils, permutations, sparse),
    *(sorting, bodies, transforms, normalized, iterations, chances, streams, compactions),
    reductions,
)
CASES: list[Case] = list(chain.from_iterable(file.CASES for file in FILES))
