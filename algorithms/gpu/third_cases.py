"""A third set of kernels to be timed on a GPU and predicted: further kinds from practice.

Their first prediction is kept. It has no date, so it doesn't show whether it came before the
measurement. Sizes follow from a side, as those of `mmsim_algorithms.gpu.kernel_cases`. All sums are
integers that floats hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from mmsim.gpu.pipeline import Step
from mmsim_algorithms.gpu import third_programs as programs
from mmsim_algorithms.gpu.kernel_cases import SIDE, SOME, Case, Launched
from mmsim_algorithms.gpu.kernel_data import by_octaves, power_law, spread
from mmsim_algorithms.gpu.kernel_programs import clear
from mmsim_algorithms.gpu.permuting import BLOCK, WARP
from mmsim_algorithms.gpu.third_data import (
    HashTable,
    bitonic_runs,
    different_keys,
    rotated,
    turned,
)
from mmsim_algorithms.gpu.unseen_data import preferential
from mmsim_algorithms.stencil.programs import stencil

COLUMNS = 256
"""Of the matrix with a thread for each row."""
TILE = 16
RUN = 1 << 15
"""Words of a merged run."""
DIGIT = 8
"""Bits of the sort's digit."""
COSINE, SINE = 222, 128
"""Of 30 degrees, 256 times."""
TIME = 3


def third(side: int = SIDE) -> Iterator[Case]:
    """All cases; the side is a power of two, `kernel_cases.QUICK` at least."""
    n = side * side
    yield Case("matrix by vector", "a thread a row", partial(threads_by_rows, n // COLUMNS))
    yield Case("matrix by vector", "doubles, a warp a row", partial(warps_by_rows, side))
    yield Case("sparse matrix by vector", "coordinates, power law", partial(added, n // 16))
    yield Case("PageRank", "push, growing graph", partial(pushed, n // 32))
    yield Case("scatter", "random doubles", partial(scattered, n // 2))
    yield Case("scatter", "Zipf, flags", partial(marked, n))
    yield Case("radix sort", "scatter of a pass", partial(sorted_by_digit, n // 2))
    yield Case("stream compaction", "known places", partial(compacted, n))
    yield Case("hash table", "linear probing", partial(looked_up, n // 2, n // 4))
    yield Case("stencil", "9 points", partial(smoothed, side))
    yield Case("stencil", "doubles, shared tiles", partial(smoothed_by_tiles, side))
    yield Case("Hadamard transform", "large strides", partial(transformed, n))
    yield Case("bitonic sort", "a merge", partial(merged, n))
    yield Case("dot product", "floats, blocks", partial(multiplied, n))
    yield Case("image rotation", "bilinear", partial(turned_around, side))
    yield Case("particles", "array of structures", partial(moved, n // 4))


def threads_by_rows(n: int) -> Launched:
    """A dense matrix of n rows by a vector: neighbours read words a row apart."""
    a = (np.arange(n * COLUMNS) * 7919 % 31).astype(np.float32).reshape(n, COLUMNS)
    x = (np.arange(COLUMNS) % 7 + 1).astype(np.float32)
    step = Step(programs.dense_row_of_thread, ("a", "x", "y"), n, SOME)
    return Launched([step], {"a": a, "x": x, "y": np.zeros(n, np.float32)}, {"y": a @ x})


def warps_by_rows(side: int) -> Launched:
    """The same of a matrix whose rows are long."""
    shape = (side * 3 // 4, side)
    a = (np.arange(np.prod(shape)) * 7919 % 1009).astype(np.float64).reshape(shape)
    x = (np.arange(side) % 7 + 1).astype(np.float64)
    step = Step(programs.dense_row_of_warp, ("a", "x", "y", WARP), shape[0] * WARP, SOME)
    return Launched([step], {"a": a, "x": x, "y": np.zeros(shape[0])}, {"y": a @ x})


def added(n: int) -> Launched:
    """A sparse matrix with a row and a column for each word, in the order of the rows."""
    matrix = power_law(n, 21)
    r = np.repeat(np.arange(n, dtype=np.int32), np.diff(matrix.r))
    v = (np.arange(r.size) % 7 + 1).astype(np.float32)
    x = (np.arange(n) % 31).astype(np.float32)
    arrays = {"r": r, "c": matrix.c, "v": v, "x": x, "y": np.zeros_like(x)}
    steps = [
        Step(clear, ("y",), n, SOME),
        Step(programs.by_coordinates, ("r", "c", "v", "x", "y"), n * 4, SOME),
    ]
    expected = np.bincount(r, weights=v * x[matrix.c], minlength=n).astype(np.float32)
    return Launched(steps, arrays, {"y": expected})


def pushed(n: int) -> Launched:
    """A thread for each vertex of a graph with few vertices that have very many edges."""
    graph = preferential(n, 4, 23)
    share = (np.arange(n) % 31).astype(np.float32)
    arrays = {"r": graph.r, "c": graph.c, "share": share, "y": np.zeros_like(share)}
    steps = [
        Step(clear, ("y",), n, SOME),
        Step(programs.push, ("r", "c", "share", "y"), n, SOME),
    ]
    weights = np.repeat(share, np.diff(graph.r))
    expected = np.bincount(graph.c, weights=weights, minlength=n).astype(np.float32)
    return Launched(steps, arrays, {"y": expected})


def scattered(n: int) -> Launched:
    """Doubles for half of the places, each to its own place."""
    q = np.random.RandomState(24).permutation(n)[: n // 2].astype(np.int32)
    a = np.arange(1, q.size + 1, dtype=np.float64)
    b = np.zeros(n)
    expected = b.copy()
    expected[q] = a
    step = Step(programs.scatter, ("a", "b", "q"), q.size, SOME)
    return Launched([step], {"a": a, "b": b, "q": q}, {"b": expected})


def marked(n: int) -> Launched:
    """A mark for each place; some places are marked very often."""
    q = spread(by_octaves(n, n, 25), n).astype(np.int32)
    flags = np.zeros(n, np.int32)
    expected = flags.copy()
    expected[q] = 1
    step = Step(programs.mark, ("flags", "q"), n, SOME)
    return Launched([step], {"flags": flags, "q": q}, {"flags": expected})


def sorted_by_digit(n: int) -> Launched:
    """Random keys with values, by the second digit; those with the same one keep their order."""
    keys = np.random.RandomState(26).randint(2**31, size=n, dtype=np.int64).astype(np.int32)
    values = np.arange(n, dtype=np.int32)
    order = np.argsort((keys >> DIGIT).astype(np.uint8), kind="stable")
    places = np.empty_like(values)
    places[order] = values
    arrays = {"keys": keys, "values": values, "places": places}
    arrays |= {"new keys": np.zeros_like(keys), "new values": np.zeros_like(values)}
    step = Step(programs.scatter_pairs, tuple(arrays), n, SOME)
    return Launched([step], arrays, {"new keys": keys[order], "new values": values[order]})


def compacted(n: int) -> Launched:
    """Three words of eight stay, on average."""
    a = np.random.RandomState(27).randint(-4, 4, size=n, dtype=np.int64).astype(np.int32)
    kept = a[a > 0]
    ones = (a > 0).astype(np.int32)
    places = np.cumsum(ones, dtype=np.int32) - ones
    step = Step(programs.compact, ("a", "places", "b"), n, SOME)
    return Launched([step], {"a": a, "places": places, "b": np.zeros_like(kept)}, {"b": kept})


def looked_up(n: int, count: int) -> Launched:
    """So many keys, half of them in a table of n slots; three of four slots have a key."""
    known = different_keys(n * 3 // 4, 28)
    table = HashTable.of(known, n.bit_length() - 1)
    draw = np.random.RandomState(29)
    keys = draw.randint(1, 2**31, size=count, dtype=np.int64)
    inside = draw.randint(2, size=count, dtype=np.int64) == 1
    keys[inside] = known[draw.randint(known.size, size=int(inside.sum()), dtype=np.int64)]
    place = np.minimum(np.searchsorted(known, keys), known.size - 1)
    expected = np.where(known[place] == keys, place, -1).astype(np.int32)
    arrays = {"slots": table.slots, "values": table.values, "keys": keys.astype(np.int32)}
    arrays["found"] = np.zeros_like(expected)
    step = Step(programs.look_up, (*arrays, table.shift), count, SOME)
    return Launched([step], arrays, {"found": expected})


def smoothed(side: int) -> Launched:
    """A matrix that isn't square, a thread for each word."""
    rows, columns = shape = (side * 3 // 4, side)
    a = (np.arange(rows * columns) * 7919 % 1009).astype(np.float32).reshape(shape)
    wide = np.pad(a, 1, mode="edge")
    b = np.zeros_like(a)
    for i in range(3):
        for j in range(3):
            b += wide[i : i + rows, j : j + columns]
    step = Step(programs.nine_points, ("a", "b"), a.size, SOME)
    return Launched([step], {"a": a, "b": np.zeros_like(a)}, {"b": b})


def smoothed_by_tiles(side: int) -> Launched:
    """A block for each tile."""
    shape = (side // 2, side)
    a = (np.arange(np.prod(shape)) * 7919 % 1009).astype(np.float64).reshape(shape)
    step = Step(programs.five_points_by_tiles, ("a", "b", TILE), a.size, TILE * TILE)
    return Launched([step], {"a": a, "b": np.zeros_like(a)}, {"b": stencil(a)})


def transformed(n: int) -> Launched:
    """The first three steps, with the largest strides: n/4, n/16 and n/64 words."""
    a = (np.arange(n) * 7919 % 1009).astype(np.float32)
    four = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]], np.float32)
    expected, steps = a, []
    for h, given in ((n // 4, ("a", "b")), (n // 16, ("b", "c")), (n // 64, ("c", "b"))):
        expected = np.matmul(four, expected.reshape(-1, 4, h)).reshape(-1)
        steps.append(Step(programs.hadamard_step, (*given, h), n // 4, SOME))
    arrays = {"a": a, "b": np.zeros_like(a), "c": np.zeros_like(a)}
    return Launched(steps, arrays, {"b": expected})


def merged(n: int) -> Launched:
    """Sorted runs become ones of twice the length: a step a launch, the last ones in one."""
    a = bitonic_runs(n, RUN, 30)
    steps, h = [], RUN // 2
    while h > BLOCK:
        steps.append(Step(programs.bitonic_step, ("a", RUN, h), n // 2, SOME))
        h = h // 2
    steps.append(Step(programs.bitonic_steps_of_block, ("a", RUN), n // 2, BLOCK))
    return Launched(steps, {"a": a}, {"a": turned(a, RUN)})


def multiplied(n: int) -> Launched:
    """16 words a thread, then one block for the blocks' results."""
    draw = np.random.RandomState(31)
    x, y = (draw.randint(-3, 4, size=n, dtype=np.int64) for _ in range(2))
    arrays = {"x": x.astype(np.float32), "y": y.astype(np.float32)}
    arrays |= {"sums": np.zeros(n // 16 // SOME, np.float32), "s": np.zeros(1, np.float32)}
    steps = [
        Step(programs.products_of_block, ("x", "y", "sums"), n // 16, SOME),
        Step(programs.sum_of_block, ("sums", "s"), SOME, SOME),
    ]
    return Launched(steps, arrays, {"s": np.array([x @ y], np.float32)})


def turned_around(side: int) -> Launched:
    """A square image by 30 degrees, a thread for each pixel."""
    a = (np.arange(side * side) * 7919 % 251).astype(np.float32).reshape(side, side)
    step = Step(programs.rotate, ("a", "b", COSINE, SINE), a.size, SOME)
    expected = rotated(a, COSINE, SINE)
    return Launched([step], {"a": a, "b": np.zeros_like(a)}, {"b": expected})


def moved(n: int) -> Launched:
    """A thread for each particle; it reads four words in a row, in turn."""
    particles = (np.arange(4 * n) * 7919 % 1009).astype(np.float32).reshape(n, 4)
    expected = particles[:, :2] + TIME * particles[:, 2:]
    arrays = {"particles": particles, "places": np.zeros((n, 2), np.float32)}
    step = Step(programs.move, ("particles", "places", TIME), n, SOME)
    return Launched([step], arrays, {"places": expected})
