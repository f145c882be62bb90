"""Launches to be counted and predicted together: those of a set of kernels, or of ICPP-T2."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from mmsim.gpu.record import Row
from mmsim_algorithms import permutations
from mmsim_algorithms.gpu import icpp_tables, permuting
from mmsim_algorithms.gpu.kernel_sets import SETS
from mmsim_algorithms.gpu.launched import SIDE, Case
from mmsim_algorithms.gpu.permuting import SEVERAL, Arrays
from mmsim_algorithms.gpu.steps import Step
from mmsim_algorithms.hmm_permutation.programs import Plan

KERNELS = {
    "irregular": (
        *("sparse matrix by vector", "histogram", "gather", "breadth-first search"),
        *("binary search", "pointer chase", "PageRank", "scatter", "radix sort"),
        *("stream compaction", "hash table", "image rotation"),
    ),
    "regular": (
        *("stencil", "matrix product", "transpose", "sum", "prefix sums", "axpy"),
        *("matrix by vector", "Hadamard transform", "bitonic sort", "dot product", "particles"),
    ),
}
"""The kernels of each batch, of all sets."""


@dataclass(frozen=True)
class Group:
    """Launches on the same arrays, in order, and their subject."""

    about: Row
    make: Callable[[], tuple[Sequence[Step], Arrays]]


def batches(which: str) -> dict[str, Callable[[], Iterator[Group]]]:
    """The batches of a set of kernels or of `icpp`, by name, the most important ones first."""
    if which in SETS:
        return {name: partial(of_kernels, which, names) for name, names in KERNELS.items()}
    return {str(side): partial(of_side, side) for side in (2048, 1024, 4096, 512, 256, 8192)}


def of_kernels(which: str, names: Sequence[str], side: int = SIDE) -> Iterator[Group]:
    """The cases of some kernels of a set."""
    for case in SETS[which].cases(side):
        if case.kernel in names:
            yield Group({**case.about, "side": side}, partial(_made, case))


def _made(case: Case) -> tuple[Sequence[Step], Arrays]:
    launched = case.make()
    return launched.steps, launched.arrays


def of_side(side: int) -> Iterator[Group]:
    """ICPP's permutations of side^2 words, several words a thread.

    The scheduled permutation is counted along the identity, which stands for all: the global
    accesses of its launches are the same along each.
    """
    for name in permutations.NAMED:
        for algorithm in ("D-designated", "S-designated"):
            for kind in icpp_tables.TYPES:
                about: Row = {"permutation": name.replace("-", "_"), "algorithm": algorithm}
                make = partial(_conventional, name, side, algorithm, kind)
                yield Group({**about, "type": kind, "sqrt n": side}, make)
    for kind in icpp_tables.TYPES:
        about = {"permutation": "all", "algorithm": "scheduled", "type": kind, "sqrt n": side}
        yield Group(about, partial(_scheduled, side, kind))


def _conventional(name: str, side: int, algorithm: str, kind: str) -> tuple[Sequence[Step], Arrays]:
    a = np.zeros(side * side, icpp_tables.TYPES[kind])
    return icpp_tables.launches(algorithm, icpp_tables.named_task(name, side), a, SEVERAL)


def _scheduled(side: int, kind: str) -> tuple[Sequence[Step], Arrays]:
    row = np.broadcast_to(np.arange(side), (side, side))
    identity = (row, row)
    data = np.zeros(side * side, icpp_tables.TYPES[kind])
    return permuting.scheduled(Plan(identity, identity, identity), data, SEVERAL)
