"""A second set of kernels to be timed on a GPU and predicted, on other data and of other sizes.

Their first prediction is kept. It has no date, so it doesn't show whether it came before the
measurement. Sizes follow from a side, as those of `mmsim_algorithms.gpu.kernel_cases`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from mmsim.gpu.pipeline import Step
from mmsim_algorithms.gpu import kernel_programs as programs
from mmsim_algorithms.gpu import unseen_programs as others
from mmsim_algorithms.gpu.kernel_cases import (
    SIDE,
    SOME,
    Case,
    Launched,
    product,
    product_of,
    search,
)
from mmsim_algorithms.gpu.kernel_data import Search, uniform
from mmsim_algorithms.gpu.permuting import BLOCK, WARP
from mmsim_algorithms.gpu.unseen_data import (
    bell,
    cycle,
    laplacian,
    near_diagonal,
    preferential,
)
from mmsim_algorithms.histogram.programs import histogram, in_place
from mmsim_algorithms.product.programs import tiled
from mmsim_algorithms.sparse.programs import row_of_thread, row_of_warp

BINS = 256
TILE = 16
STEPS = 64
"""The links of a thread."""
STRIDE = 3


def unseen(side: int = SIDE) -> Iterator[Case]:
    """All cases; the side is a power of two, `kernel_cases.QUICK` at least."""
    n = side * side
    matrices = {
        "Laplacian": (partial(laplacian, side * 3 // 8), row_of_thread, 1),
        "geometric": (partial(near_diagonal, n // 16, 2048, 11), row_of_thread, 1),
        "warps": (partial(uniform, n // 32, WARP, 13), row_of_warp, WARP),
    }
    for data, (matrix, program, lanes) in matrices.items():
        yield Case("sparse matrix by vector", data, partial(product_of, matrix, program, lanes))
    yield Case("histogram", "normal", partial(counted, n // 4, shared=False))
    yield Case("histogram", "normal, shared memory", partial(counted, n, shared=True))
    yield Case("gather", "sorted doubles", partial(gathered, n // 2))
    yield Case("binary search", "random keys", partial(searched, n * 3 // 4, n // 16))
    yield Case("pointer chase", "random cycle", partial(chased, n, n // 256))
    yield Case("breadth-first search", "growing graph", partial(grown_search, n // 64))
    yield Case("stencil", "7 points", partial(smoothed, side))
    yield Case("matrix product", "tiles of 16", partial(tiled_product, side * 3 // 16))
    for data in ("naive", "padded tiles"):
        yield Case("transpose", f"doubles, {data}", partial(transposed, side, data == "naive"))
    yield Case("sum", "doubles", partial(summed, n * 3 // 8))
    yield Case("prefix sums", "integers", partial(scanned, n * 3 // 4))
    yield Case("axpy", f"stride {STRIDE}", partial(added, n // 4))


def counted(n: int, shared: bool) -> Launched:
    """Atomic additions to few counters: to the same for all, or first to each block's own."""
    x = bell(BINS, n, 15)
    arrays = {"x": x.astype(np.int32), "h": np.zeros(BINS, np.int32)}
    steps = [
        Step(programs.clear, ("h",), BINS, SOME),
        Step(histogram if shared else in_place, ("x", "h"), n // 64, SOME),
    ]
    return Launched(steps, arrays, {"h": np.bincount(x, minlength=BINS).astype(np.int32)})


def gathered(n: int) -> Launched:
    """b[i] = a[q[i]] with ascending q: neighbours read the same word, or close ones."""
    q = np.sort(np.random.RandomState(16).randint(n, size=n, dtype=np.int64)).astype(np.int32)
    a = np.arange(n, dtype=np.float64)
    step = Step(programs.gather, ("a", "b", "q"), n, SOME)
    return Launched([step], {"a": a, "b": np.zeros_like(a), "q": q}, {"b": a[q]})


def searched(n: int, count: int) -> Launched:
    """Search for so many keys among n words, a thread for each."""
    draw = np.random.RandomState(17)
    a = np.sort(draw.randint(4 * n, size=n, dtype=np.int64)).astype(np.int32)
    keys = draw.randint(4 * n, size=count, dtype=np.int64).astype(np.int32)
    arrays = {"a": a, "keys": keys, "found": np.zeros_like(keys)}
    step = Step(others.binary_search, ("a", "keys", "found"), count, SOME)
    expected = np.searchsorted(a, keys, side="right").astype(np.int32)
    return Launched([step], arrays, {"found": expected})


def chased(n: int, count: int) -> Launched:
    """So many threads follow n links."""
    links, end = cycle(n, 18), np.arange(count)
    for _ in range(STEPS):
        end = links[end]
    arrays = {"links": links.astype(np.int32), "end": np.zeros(count, np.int32)}
    step = Step(others.chase, ("links", "end", STEPS), count, SOME)
    return Launched([step], arrays, {"end": end.astype(np.int32)})


def grown_search(n: int) -> Launched:
    """All levels from the last vertex of a graph with few vertices that have very many edges."""
    graph = preferential(n, 4, 19)
    start = Search.start(graph, n - 1)
    return search(graph, start, int(start.after(graph, n).cost.max()))


def smoothed(side: int) -> Launched:
    """A box whose three sides differ, a thread for each word."""
    shape = (side // 32, side * 3 // 64, side // 8)
    a = (np.arange(np.prod(shape)) * 7919 % 1009).astype(np.float32).reshape(shape)
    b = a.copy()
    inner = slice(1, -1)
    for axis in range(3):
        for move in (1, -1):
            b[inner, inner, inner] += np.roll(a, move, axis)[inner, inner, inner]
    step = Step(others.seven_points, ("a", "b"), a.size, SOME)
    return Launched([step], {"a": a, "b": np.zeros_like(a)}, {"b": b})


def tiled_product(side: int) -> Launched:
    """A block for each tile of the product."""
    return product(side, Step(tiled, ("a", "b", "c", TILE), side * side, TILE * TILE))


def transposed(side: int, naive: bool) -> Launched:
    """A matrix that isn't square, of doubles: a thread for each word, or a block for each tile."""
    shape = (side * 3 // 4, side // 2)
    a = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
    if naive:
        step = Step(others.naive_transpose, ("a", "b"), a.size, SOME)
    else:
        step = Step(programs.padded_transpose, ("a", "b", WARP), a.size, BLOCK)
    return Launched([step], {"a": a, "b": np.zeros(shape[::-1])}, {"b": a.T.copy()})


def summed(n: int) -> Launched:
    """32 words a thread; all sums are integers that doubles hold."""
    a = (np.arange(n) * 7919 % 1009).astype(np.float64)
    steps = [
        Step(programs.clear, ("s",), WARP, WARP),
        Step(others.sum_by_shuffles, ("a", "s", WARP), n // 32, SOME),
    ]
    return Launched(steps, {"a": a, "s": np.zeros(1)}, {"s": a.sum(keepdims=True)})


def scanned(n: int) -> Launched:
    """Prefix sums of blocks, of the blocks' sums, and so on, then back down."""
    a = (np.arange(n) * 7919 % 13).astype(np.int32)
    arrays, down, level, size = {"words 0": a}, [], 0, n
    up: list[Step] = []
    while size > 1:
        block = min(size, SOME)
        blocks = size // block
        arrays[f"sums {level}"] = np.zeros(size, np.int32)
        arrays[f"words {level + 1}"] = np.zeros(blocks, np.int32)
        given = (f"words {level}", f"sums {level}", f"words {level + 1}")
        up.append(Step(others.block_scan, given, size, block))
        if blocks > 1:
            down.append(
                Step(others.add_before, (f"sums {level}", f"sums {level + 1}"), size, block)
            )
        level, size = level + 1, blocks
    return Launched(up + down[::-1], arrays, {"sums 0": np.cumsum(a, dtype=np.int32)})


def added(n: int) -> Launched:
    """n of every `STRIDE` n words; the others stay."""
    x = (np.arange(n * STRIDE) % 1009).astype(np.float32)
    y = (np.arange(n * STRIDE) % 31).astype(np.float32)
    z = np.zeros_like(x)
    expected = z.copy()
    expected[::STRIDE] = 5 * x[::STRIDE] + y[::STRIDE]
    step = Step(others.axpy, ("x", "y", "z", 5, STRIDE), n, SOME)
    return Launched([step], {"x": x, "y": y, "z": z}, {"z": expected})
