"""Further kernels that are timed on a GPU: gather, transpose, search.

The breadth-first search is that of Harish, Narayanan, "Accelerating Large Graph Algorithms on the
GPU Using CUDA", HiPC 2007: each level takes two launches. The first one goes through the edges of
the frontier, the second one makes the next frontier. No thread reads another thread's writes of its
launch; if several write one word, they write the same.
"""

from __future__ import annotations

import mmsim as mm


@mm.program
def clear(T: mm.Thread, h: mm.Array) -> None:
    """Zeros in all of h."""
    for i in range(T.id, h.size, T.count):
        h[i] = 0


@mm.program
def gather(T: mm.Thread, a: mm.Array, b: mm.Array, q: mm.Array) -> None:
    """b[i] = a[q[i]], a thread for each word."""
    b[T.id] = a[q[T.id]]


@mm.program
def padded_transpose(T: mm.Thread, a: mm.Array, b: mm.Array, w: int) -> None:
    """b is a transposed, a block of w^2 threads for each tile; a tile's rows have w + 1 words."""
    tile = mm.shared((w, w + 1), dtype=a.dtype)
    m = a.shape[1] // w
    I, J = T.block // m, T.block % m
    i, j = T.index // w, T.index % w
    tile[i, j] = a[I * w + i, J * w + j]
    T.barrier()
    b[J * w + i, I * w + j] = tile[j, i]


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
