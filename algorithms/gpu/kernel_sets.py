"""The sets of kernels that are timed, counted and predicted, each under its own names.

The predicting machine got further rules after the first predictions of each set; docs/metal.md
names them. The first predictions of the last two sets are kept. They have no date, so they don't
show whether they came before the measurement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from mmsim_algorithms.gpu import dense_kernels as dense
from mmsim_algorithms.gpu import indexed_kernels as indexed
from mmsim_algorithms.gpu import reduction_kernels as reductions
from mmsim_algorithms.gpu import sparse_kernels as sparse
from mmsim_algorithms.gpu.launched import Case
from mmsim_algorithms.gpu.permuting import WARP
from mmsim_algorithms.gpu.sparse_data import (
    banded,
    laplacian,
    near_diagonal,
    power_law,
    uniform,
)
from mmsim_algorithms.sparse.programs import row_of_thread, row_of_warp


def of_each_kind(side: int) -> Iterator[Case]:
    """Sparse and dense products, histograms, a gather, a stencil, a transpose, searches."""
    n = side * side // 16
    matrices = {
        "banded": partial(banded, n, 16),
        "uniform": partial(uniform, n, 16, 1),
        "power law": partial(power_law, n, 2),
    }
    for data, matrix in matrices.items():
        yield Case("sparse matrix by vector", data, partial(sparse.product_of, matrix))
    yield Case("histogram", "uniform", partial(reductions.many_counters, side, zipf=False))
    yield Case("histogram", "Zipf", partial(reductions.many_counters, side, zipf=True))
    yield Case("gather", "Zipf", partial(indexed.often_gathered, side * side))
    yield Case("stencil", "5 points", partial(dense.five_points, side))
    yield Case("matrix product", "plain", partial(dense.plain_product, side // 8))
    yield Case("matrix product", "tiles", partial(dense.tiled_product, side // 8, WARP))
    yield Case("transpose", "padded tiles", partial(dense.square_transposed, side))
    yield Case("breadth-first search", "random graph", partial(sparse.random_search, n))
    yield Case("breadth-first search", "grid", partial(sparse.grid_search, side // 4))


def sums_and_searches(side: int) -> Iterator[Case]:
    """The same kinds on other data and of other sizes; sums, prefix sums, searches, links."""
    n = side * side
    matrices = {
        "Laplacian": (partial(laplacian, side * 3 // 8), row_of_thread, 1),
        "geometric": (partial(near_diagonal, n // 16, 2048, 11), row_of_thread, 1),
        "warps": (partial(uniform, n // 32, WARP, 13), row_of_warp, WARP),
    }
    for data, given in matrices.items():
        yield Case("sparse matrix by vector", data, partial(sparse.product_of, *given))
    yield Case("histogram", "normal", partial(reductions.few_counters, n // 4, shared=False))
    shared = partial(reductions.few_counters, n, shared=True)
    yield Case("histogram", "normal, shared memory", shared)
    yield Case("gather", "sorted doubles", partial(indexed.gathered_in_order, n // 2))
    yield Case("binary search", "random keys", partial(indexed.searched, n * 3 // 4, n // 16))
    yield Case("pointer chase", "random cycle", partial(indexed.chased, n, n // 256))
    yield Case("breadth-first search", "growing graph", partial(sparse.grown_search, n // 64))
    yield Case("stencil", "7 points", partial(dense.of_a_box, side))
    product = partial(dense.tiled_product, side * 3 // 16, dense.TILE)
    yield Case("matrix product", "tiles of 16", product)
    for data in ("naive", "padded tiles"):
        transpose = partial(dense.doubles_transposed, side, data == "naive")
        yield Case("transpose", f"doubles, {data}", transpose)
    yield Case("sum", "doubles", partial(reductions.summed, n * 3 // 8))
    yield Case("prefix sums", "integers", partial(reductions.scanned, n * 3 // 4))
    yield Case("axpy", f"stride {indexed.STRIDE}", partial(indexed.every_third, n // 4))


def scatters_and_passes(side: int) -> Iterator[Case]:
    """Scatters, dense and sparse products, a hash table, passes of sorts, images, structures."""
    n = side * side
    by_vector = "matrix by vector"
    yield Case(by_vector, "a thread a row", partial(dense.threads_by_rows, n // dense.COLUMNS))
    yield Case(by_vector, "doubles, a warp a row", partial(dense.warps_by_rows, side))
    coordinates = partial(sparse.of_coordinates, n // 16)
    yield Case("sparse matrix by vector", "coordinates, power law", coordinates)
    yield Case("PageRank", "push, growing graph", partial(sparse.pushed, n // 32))
    yield Case("scatter", "random doubles", partial(indexed.scattered, n // 2))
    yield Case("scatter", "Zipf, flags", partial(indexed.marked, n))
    yield Case("radix sort", "scatter of a pass", partial(indexed.sorted_by_digit, n // 2))
    yield Case("stream compaction", "known places", partial(indexed.compacted, n))
    yield Case("hash table", "linear probing", partial(indexed.looked_up, n // 2, n // 4))
    yield Case("stencil", "9 points", partial(dense.of_neighbours, side))
    yield Case("stencil", "doubles, shared tiles", partial(dense.smoothed_by_tiles, side))
    yield Case("Hadamard transform", "large strides", partial(dense.transformed, n))
    yield Case("bitonic sort", "a merge", partial(reductions.merged, n))
    yield Case("dot product", "floats, blocks", partial(reductions.multiplied, n))
    yield Case("image rotation", "bilinear", partial(dense.turned_around, side))
    yield Case("particles", "array of structures", partial(indexed.moved, n // 4))


@dataclass(frozen=True)
class KernelSet:
    """The cases of a side, their experiment and its title."""

    experiment: str
    title: str
    cases: Callable[[int], Iterator[Case]]


SETS = {
    "kernels": KernelSet(
        "KERNELS",
        "Sparse products, histograms, gather, stencil, products, transpose and searches",
        of_each_kind,
    ),
    "unseen": KernelSet(
        "UNSEEN",
        "The same kinds on other data, sums and searches, a second set",
        sums_and_searches,
    ),
    "third": KernelSet(
        "THIRD",
        "Scatters, dense and sparse products, a hash table, passes and more, a third set",
        scatters_and_passes,
    ),
}
"""By the name of the kept counts and predictions."""
