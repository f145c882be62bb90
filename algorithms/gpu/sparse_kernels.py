"""Kernels on sparse matrices and graphs: products, a step of PageRank, breadth-first searches.

The search is that of Harish, Narayanan, "Accelerating Large Graph Algorithms on the GPU Using
CUDA", HiPC 2007: each level takes two launches. The first one goes through the edges of the
frontier, the second one makes the next frontier. No thread reads another thread's writes of its
launch; if several write one word, they write the same. All sums are integers that floats hold.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import mmsim as mm
from mmsim.frontend.program import Program
from mmsim_algorithms.gpu.launched import SOME, Launched
from mmsim_algorithms.gpu.reduction_kernels import clear
from mmsim_algorithms.gpu.sparse_data import Rows, Search, grid, power_law, preferential, uniform
from mmsim_algorithms.gpu.steps import Step
from mmsim_algorithms.sparse.programs import row_of_thread


@mm.program
def by_coordinates(
    T: mm.Thread, r: mm.Array, c: mm.Array, v: mm.Array, x: mm.Array, y: mm.Array
) -> None:
    """Add to y the matrix that has v[e] in row r[e] and column c[e], times x, by atomics."""
    for e in range(T.id, v.size, T.count):
        mm.atomic.add(y, r[e], v[e] * x[c[e]])


@mm.program
def push(T: mm.Thread, r: mm.Array, c: mm.Array, share: mm.Array, y: mm.Array) -> None:
    """Each vertex adds its share to y at all its neighbours: c[e], for e from r[v] to r[v + 1]."""
    v = T.id
    own = share[v]
    for e in range(r[v], r[v + 1]):
        mm.atomic.add(y, c[e], own)


@mm.program
def begin(
    T: mm.Thread,
    frontier: mm.Array,
    visited: mm.Array,
    cost: mm.Array,
    first_frontier: mm.Array,
    first_visited: mm.Array,
    first_cost: mm.Array,
) -> None:
    """The search's arrays, as they are before its first level here."""
    v = T.id
    frontier[v] = first_frontier[v]
    visited[v] = first_visited[v]
    cost[v] = first_cost[v]


@mm.program
def expand(
    T: mm.Thread,
    r: mm.Array,
    c: mm.Array,
    frontier: mm.Array,
    following: mm.Array,
    visited: mm.Array,
    cost: mm.Array,
) -> None:
    """The neighbours of the frontier that weren't visited follow, at a cost of one more.

    The neighbours of v are c[e], for e from r[v] up to r[v + 1].
    """
    v = T.id
    if frontier[v]:
        frontier[v] = 0
        now = cost[v]
        for e in range(r[v], r[v + 1]):
            u = c[e]
            if not visited[u]:
                cost[u] = now + 1
                following[u] = 1


@mm.program
def advance(T: mm.Thread, frontier: mm.Array, following: mm.Array, visited: mm.Array) -> None:
    """The followers are the new frontier, and visited."""
    v = T.id
    if following[v]:
        frontier[v] = 1
        visited[v] = 1
        following[v] = 0


# ------------------------------------------------------------ products


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


def of_coordinates(n: int) -> Launched:
    """A sparse matrix with a row and a column for each word, in the order of the rows."""
    matrix = power_law(n, 21)
    r = np.repeat(np.arange(n, dtype=np.int32), np.diff(matrix.r))
    v = (np.arange(r.size) % 7 + 1).astype(np.float32)
    x = (np.arange(n) % 31).astype(np.float32)
    arrays = {"r": r, "c": matrix.c, "v": v, "x": x, "y": np.zeros_like(x)}
    steps = [
        Step(clear, ("y",), n, SOME),
        Step(by_coordinates, ("r", "c", "v", "x", "y"), n * 4, SOME),
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
        Step(push, ("r", "c", "share", "y"), n, SOME),
    ]
    weights = np.repeat(share, np.diff(graph.r))
    expected = np.bincount(graph.c, weights=weights, minlength=n).astype(np.float32)
    return Launched(steps, arrays, {"y": expected})


# ------------------------------------------------------------ searches


def random_search(n: int) -> Launched:
    """All levels of a graph with 8 edges from each vertex to vertices drawn at random."""
    graph = uniform(n, 8, 6)
    start = Search.start(graph, 0)
    return search(graph, start, int(start.after(graph, n).cost.max()))


def grid_search(side: int) -> Launched:
    """Eight levels of a torus, after a quarter of the side."""
    graph = grid(side)
    return search(graph, Search.start(graph, 0).after(graph, side // 4), 8)


def grown_search(n: int) -> Launched:
    """All levels from the last vertex of a graph with few vertices that have very many edges."""
    graph = preferential(n, 4, 19)
    start = Search.start(graph, n - 1)
    return search(graph, start, int(start.after(graph, n).cost.max()))


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
    steps = [step(begin, *state_names, *begun)]
    for _ in range(levels):
        of_level = ("frontier", "following", "visited")
        steps.append(step(expand, "r", "c", *of_level, "cost"))
        steps.append(step(advance, *of_level))
    expected = {"cost": start.after(graph, levels).cost}
    return Launched(steps, {"r": graph.r, "c": graph.c, **begun, **state}, expected)
