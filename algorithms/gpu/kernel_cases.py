"""Kernels to be timed on a GPU and predicted: their launches, their data and their right results.

The predicting machine got further rules after the first predictions of these kernels and of
`mmsim_algorithms.gpu.unseen_cases` and `third_cases`; docs/metal.md names them. Sizes follow from
the side of the largest matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from mmsim.frontend.program import Program
from mmsim.gpu.pipeline import Step
from mmsim.gpu.record import Row
from mmsim_algorithms.gpu import kernel_programs as programs
from mmsim_algorithms.gpu.kernel_data import (
    Rows,
    Search,
    banded,
    by_octaves,
    grid,
    power_law,
    spread,
    uniform,
)
from mmsim_algorithms.gpu.permuting import BLOCK, WARP, Arrays
from mmsim_algorithms.histogram.programs import in_place
from mmsim_algorithms.product.programs import by_rows, factors, tiled
from mmsim_algorithms.sparse.programs import row_of_thread
from mmsim_algorithms.stencil import programs as stencils

SIDE, QUICK = 4096, 256
"""The side of the largest matrix, and of a quick test's."""
SOME = 256
"""Threads of a block, if the kernel has no shared memory."""


@dataclass(frozen=True)
class Launched:
    """The launches of a case, in order, and the right contents of some arrays."""

    steps: list[Step]
    arrays: Arrays
    expected: Arrays


@dataclass(frozen=True)
class Case:
    """A kernel on some data, made by `make`."""

    kernel: str
    data: str
    make: Callable[[], Launched]

    @property
    def about(self) -> Row:
        return {"kernel": self.kernel, "data": self.data}


def cases(side: int = SIDE) -> Iterator[Case]:
    """All cases; the side is a power of two, `QUICK` at least."""
    n = side * side // 16
    matrices = {
        "banded": partial(banded, n, 16),
        "uniform": partial(uniform, n, 16, 1),
        "power law": partial(power_law, n, 2),
    }
    for data, matrix in matrices.items():
        yield Case("sparse matrix by vector", data, partial(product_of, matrix))
    yield Case("histogram", "uniform", partial(counted, side, zipf=False))
    yield Case("histogram", "Zipf", partial(counted, side, zipf=True))
    yield Case("gather", "Zipf", partial(gathered, side))
    yield Case("stencil", "5 points", partial(smoothed, side))
    yield Case("matrix product", "plain", partial(plain_product, side // 8))
    yield Case("matrix product", "tiles", partial(tiled_product, side // 8))
    yield Case("transpose", "padded tiles", partial(transposed, side))
    yield Case("breadth-first search", "random graph", partial(random_search, n))
    yield Case("breadth-first search", "grid", partial(grid_search, side // 4))


def product_of(
    matrix: Callable[[], Rows], program: Program = row_of_thread, lanes: int = 1
) -> Launched:
    """A thread for each row, or so many lanes. All sums are integers that floats hold."""
    rows = matrix()
    v = (np.arange(rows.c.size) % 7 + 1).astype(np.float32)
    x = (np.arange(rows.n) % 31).astype(np.float32)
    sums = np.concatenate([[0], np.cumsum(v.astype(np.int64) * x.astype(np.int64)[rows.c])])
    expected = (sums[rows.r[1:]] - sums[rows.r[:-1]]).astype(np.float32)
    arrays = {"r": rows.r, "c": rows.c, "v": v, "x": x, "y": np.zeros_like(x)}
    numbers = () if lanes == 1 else (lanes,)
    step = Step(program, ("r", "c", "v", "x", "y", *numbers), rows.n * lanes, SOME)
    return Launched([step], arrays, {"y": expected})


def counted(side: int, zipf: bool) -> Launched:
    """Atomic additions to as many counters as there are threads of a quarter of the words."""
    n, bins = side * side, side * side // 16
    if zipf:
        x = spread(by_octaves(bins, n, 3), bins)
    else:
        x = np.random.RandomState(4).randint(bins, size=n, dtype=np.int64)
    arrays = {"x": x.astype(np.int32), "h": np.zeros(bins, np.int32)}
    threads = n // 64
    steps = [
        Step(programs.clear, ("h",), bins, SOME),
        Step(in_place, ("x", "h"), threads, SOME),
    ]
    return Launched(steps, arrays, {"h": np.bincount(x, minlength=bins).astype(np.int32)})


def gathered(side: int) -> Launched:
    """b[i] = a[q[i]]; some words of a are read much more often than others."""
    n = side * side
    q = spread(by_octaves(n, n, 5), n).astype(np.int32)
    a = np.arange(n, dtype=np.float32)
    step = Step(programs.gather, ("a", "b", "q"), n, SOME)
    return Launched([step], {"a": a, "b": np.zeros_like(a), "q": q}, {"b": a[q]})


def smoothed(side: int) -> Launched:
    """Each word and its four neighbours, a thread for each."""
    a = (np.arange(side * side) * 7919 % 1009).astype(np.float32).reshape(side, side)
    step = Step(stencils.by_rows, ("a", "b"), side * side, SOME)
    return Launched([step], {"a": a, "b": np.zeros_like(a)}, {"b": stencils.stencil(a)})


def plain_product(side: int) -> Launched:
    """A thread for each word of the product."""
    return product(side, Step(by_rows, ("a", "b", "c"), side * side, SOME))


def tiled_product(side: int) -> Launched:
    """A block for each tile of the product."""
    return product(side, Step(tiled, ("a", "b", "c", WARP), side * side, BLOCK))


def product(side: int, step: Step) -> Launched:
    """The product c of two square matrices a and b."""
    a, b = (one.astype(np.int32) for one in factors(side * side))
    # Of doubles, since NumPy multiplies these faster; the sums are small.
    expected = (a.astype(float) @ b.astype(float)).astype(np.int32)
    return Launched([step], {"a": a, "b": b, "c": np.zeros_like(a)}, {"c": expected})


def transposed(side: int) -> Launched:
    """A block for each tile."""
    a = np.arange(side * side, dtype=np.float32).reshape(side, side)
    step = Step(programs.padded_transpose, ("a", "b", WARP), side * side, BLOCK)
    return Launched([step], {"a": a, "b": np.zeros_like(a)}, {"b": a.T.copy()})


def random_search(n: int) -> Launched:
    """All levels of a graph with 8 edges from each vertex to vertices drawn at random."""
    graph = uniform(n, 8, 6)
    start = Search.start(graph, 0)
    return search(graph, start, int(start.after(graph, n).cost.max()))


def grid_search(side: int) -> Launched:
    """Eight levels of a torus, after a quarter of the side."""
    graph = grid(side)
    return search(graph, Search.start(graph, 0).after(graph, side // 4), 8)


def search(graph: Rows, start: Search, levels: int) -> Launched:
    """So many levels of a search, two launches for each."""
    begun = {
        "first_frontier": start.frontier.astype(np.int32),
        "first_visited": (start.cost >= 0).astype(np.int32),
        "first_cost": start.cost,
    }
    state = {
        name: np.zeros(graph.n, np.int32) for name in ("frontier", "visited", "cost", "following")
    }

    def step(program: Program, *names: str) -> Step:
        return Step(program, names, graph.n, SOME)

    state_names = ("frontier", "visited", "cost")
    steps = [step(programs.begin, *state_names, *begun)]
    for _ in range(levels):
        of_level = ("frontier", "following", "visited")
        steps.append(step(programs.expand, "r", "c", *of_level, "cost"))
        steps.append(step(programs.advance, *of_level))
    expected = {"cost": start.after(graph, levels).cost}
    return Launched(steps, {"r": graph.r, "c": graph.c, **begun, **state}, expected)
