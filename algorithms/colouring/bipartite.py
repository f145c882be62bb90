"""Koenig's theorem: a regular bipartite multigraph of degree D has a colouring with D colours.

CFP Theorem 1, SMM Theorem 6.1, ICPP Theorem 6. An edge e joins left node left[e] to right node
right[e], both of 0 .. nodes-1; several edges may join the same two nodes. In a colouring no two
edges of one colour share a node, so each of the colours 0 .. D-1 is a perfect matching.

`colour` is the fast way. `colour_by_matchings` takes perfect matchings, as the papers do, but by a
faster search. `colour_by_flipping` (`flipping`) is the papers' own way, path by path. All check
their results.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from mmsim_algorithms.errors import require

Numbers = npt.NDArray[np.int32]

SOURCE = "CFP, Theorem 1; SMM, Theorem 6.1; ICPP, Theorem 6"
LARGE = 2**17
"""Threads pay from so many edges on."""
PARTS = 32
"""A large graph is split for the threads into at least so many graphs, if the degree allows."""


def colour(left: npt.ArrayLike, right: npt.ArrayLike, nodes: int) -> Numbers:
    """The colour of each edge, by Euler splits (`euler`), on all processors.

    The time grows with the number of edges times log D, the memory with the number of edges. The
    colours do not depend on the number of processors.

    >>> a, b, c, d = colour([0, 0, 1, 1], [0, 1, 0, 1], nodes=2).tolist()
    >>> a == d, b == c, sorted([a, b])
    (True, True, [0, 1])
    """
    left, right = checked_edges(left, right, nodes, dimensions=1)
    if len(left) < LARGE:
        painted: Numbers = colour_many(left[None], right[None], nodes)[0]
        return painted
    colours = _colour_large(left, right, nodes)
    check_colouring(left, right, nodes, colours)
    return colours


def colour_many(left: npt.ArrayLike, right: npt.ArrayLike, nodes: int) -> Numbers:
    """`colour` for many graphs of one size: arrays of shape (graphs, edges), as is the result.

    >>> colour_many([[0, 1], [0, 1]], [[0, 1], [1, 0]], nodes=2)
    array([[0, 0],
           [0, 0]], dtype=int32)
    """
    from mmsim_algorithms.colouring import euler

    left, right = checked_edges(left, right, nodes, dimensions=2)
    colours = np.empty(left.shape, dtype=np.int32)

    def paint(start: int, stop: int) -> None:
        part = slice(start, stop)
        irregular = euler.paint_many(left[part], right[part], nodes, colours[part])
        if irregular >= 0:
            _refuse_irregular(left[start + irregular], right[start + irregular], nodes)
        wrong = euler.first_wrong(left[part], right[part], nodes, colours[part])
        if wrong >= 0:
            at = start + wrong
            _refuse_colours(left[at], right[at], nodes, colours[at])

    shares = max(min(_processors(), len(left)), 1)
    cuts = [len(left) * i // shares for i in range(shares + 1)]
    _in_threads(paint, cuts[:-1], cuts[1:])
    return colours


def colour_by_matchings(left: npt.ArrayLike, right: npt.ArrayLike, nodes: int) -> Numbers:
    """D times, find a perfect matching, paint and remove it (CFP section V).

    SciPy finds the matchings by augmenting paths, many at a time (Hopcroft and Karp); the paper
    flips one path at a time. The time grows at least with D times the number of edges: use it for
    small graphs.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    left, right = checked_edges(left, right, nodes, dimensions=1)
    require_regular(left, right, nodes)
    joined = left.astype(np.int64) * nodes + right  # one number for the two nodes of an edge
    order = np.argsort(joined, kind="stable")
    pairs, first, unpainted = np.unique(joined[order], return_index=True, return_counts=True)
    colours = np.empty(len(left), dtype=np.int32)
    for c in range(len(left) // nodes):
        present = pairs[unpainted > 0]
        row_starts = np.searchsorted(present // nodes, np.arange(nodes + 1))
        graph = csr_matrix(
            (np.ones(len(present), dtype=np.int8), present % nodes, row_starts), (nodes, nodes)
        )
        partner = maximum_bipartite_matching(graph, perm_type="column")
        matched = np.searchsorted(pairs, np.arange(nodes, dtype=np.int64) * nodes + partner)
        unpainted[matched] -= 1
        colours[order[first[matched] + unpainted[matched]]] = c
    check_colouring(left, right, nodes, colours)
    return colours


def check_colouring(
    left: npt.ArrayLike, right: npt.ArrayLike, nodes: int, colours: npt.ArrayLike
) -> None:
    """Refuse colours that are not 0 .. D-1, each a perfect matching, in a regular graph.

    >>> check_colouring([0, 0, 1, 1], [0, 1, 0, 1], 2, [0, 1, 0, 1])
    Traceback (most recent call last):
      ...
    mmsim_algorithms.errors.PreconditionError: no two edges of one colour share a node; right node 0
    has 2 edges of colour 0 (CFP, Theorem 1; SMM, Theorem 6.1; ICPP, Theorem 6)
    """
    from mmsim_algorithms.colouring import euler

    left, right = checked_edges(left, right, nodes, dimensions=1)
    given = np.asarray(colours)
    require(
        given.shape == left.shape and np.issubdtype(given.dtype, np.integer),
        f"each of the {len(left)} edges has a whole number as its colour; "
        f"the colours are {given.dtype} of shape {given.shape}",
        SOURCE,
    )
    require_regular(left, right, nodes)
    degree = len(left) // nodes
    if given.size and (given.min() < 0 or given.max() >= degree):
        e = int(((given < 0) | (given >= degree)).argmax())
        text = f"the colours of degree {degree} lie in 0 .. {degree - 1}; edge {e} has {given[e]}"
        require(False, text, SOURCE)
    painted = np.ascontiguousarray(given, dtype=np.int32)
    if euler.first_wrong(left[None], right[None], nodes, painted[None]) >= 0:
        _refuse_colours(left, right, nodes, painted)


def _colour_large(left: Numbers, right: Numbers, nodes: int) -> Numbers:
    """Split the graph, and its parts, until there are PARTS of them; then paint each part.

    A part is its right nodes, its edges, and as much spare memory (see `euler`).
    The halves of a part lie in its spare memory and have the part's own memory to spare.
    """
    from mmsim_algorithms.colouring import euler

    require_regular(left, right, nodes)
    degree = len(left) // nodes
    colours = np.empty(len(left), dtype=np.int32)
    part = tuple(np.empty((4, len(left)), dtype=np.int32))
    euler.sort_by_left(left, right, nodes, *part[:2])
    parts = [part]
    unused = 0  # the first colour without an edge

    def halve(part: tuple[Numbers, ...], colour: int) -> None:
        own_right, own_edge, *spare = part
        euler.halve(own_right, own_edge, nodes, degree, colour, colours, *spare)

    def paint(part: tuple[Numbers, ...], colour: int) -> None:
        own_right, own_edge, *spare = part
        euler.paint(own_right, own_edge, nodes, degree, colour, colours, *spare)

    while degree > 1 and len(parts) < PARTS:
        _in_threads(halve, parts, range(unused, unused + len(parts)))
        if degree % 2 == 1:
            unused += len(parts)
        degree //= 2
        half = nodes * degree
        parts = [
            tuple(memory[start : start + half] for memory in (*part[2:], *part[:2]))
            for part in parts
            for start in (0, half)
        ]
    _in_threads(paint, parts, range(unused, unused + len(parts) * degree, degree))
    return colours


def _in_threads(work: Callable[..., None], *arguments: Iterable[object]) -> None:
    """`map(work, *arguments)`, with several calls in threads.

    These are Python's threads, since the compiled code releases the global lock. Unlike Numba's,
    they work from any thread and after a fork.
    """
    calls = list(zip(*arguments, strict=True))
    if len(calls) == 1:
        work(*calls[0])
        return
    with ThreadPoolExecutor(_processors()) as threads:
        for call in [threads.submit(work, *arguments) for arguments in calls]:
            call.result()  # raises the call's error


def _processors() -> int:
    return os.cpu_count() or 1


def checked_edges(
    left: npt.ArrayLike, right: npt.ArrayLike, nodes: int, dimensions: int
) -> tuple[Numbers, Numbers]:
    """Check that the two ends of the edges are nodes; return them as 32-bit integers."""
    ends = np.asarray(left), np.asarray(right)
    require(nodes > 0, f"a graph has at least one node on each side; nodes is {nodes}", SOURCE)
    require(
        ends[0].shape == ends[1].shape and ends[0].ndim == dimensions,
        f"left and right have {dimensions} dimension{'s' * (dimensions > 1)} and one shape; "
        f"theirs are {ends[0].shape} and {ends[1].shape}",
        SOURCE,
    )
    for side, node in zip(("left", "right"), ends, strict=True):
        if node.size == 0:
            continue
        require(
            np.issubdtype(node.dtype, np.integer),
            f"nodes are integers; {side} holds {node.dtype}",
            SOURCE,
        )
        least, most = int(node.min()), int(node.max())
        require(
            least >= 0 and most < nodes,
            f"nodes lie in 0 .. {nodes - 1}; {side} has node {least if least < 0 else most}",
            SOURCE,
        )
    require(
        ends[0].shape[-1] < 2**31, f"at most 2^31 - 1 edges; here are {ends[0].shape[-1]}", SOURCE
    )
    a, b = (np.ascontiguousarray(node, dtype=np.int32) for node in ends)
    return a, b


def require_regular(left: Numbers, right: Numbers, nodes: int) -> None:
    """Refuse a graph whose nodes don't all have one degree."""
    from mmsim_algorithms.colouring import euler

    degree = len(left) // nodes
    if len(left) % nodes != 0 or not euler.is_regular(left, right, nodes, degree):
        _refuse_irregular(left, right, nodes)


def _refuse_irregular(left: Numbers, right: Numbers, nodes: int) -> None:
    """Name the first node whose degree is not the mean."""
    for side, node in (("left", left), ("right", right)):
        degrees = np.bincount(node, minlength=nodes)
        odd = np.flatnonzero(degrees * nodes != len(node))
        if len(odd):
            require(
                False,
                f"all nodes have one degree; {len(node)} edges on {nodes} + {nodes} nodes make "
                f"{len(node) / nodes:g}, but {side} node {odd[0]} has degree {degrees[odd[0]]}",
                SOURCE,
            )


def _refuse_colours(left: Numbers, right: Numbers, nodes: int, colours: Numbers) -> None:
    """Name the first node with two edges of one colour."""
    for side, node in (("left", left), ("right", right)):
        cells, times = np.unique(colours.astype(np.int64) * nodes + node, return_counts=True)
        if times.max() > 1:
            colour, u = divmod(int(cells[times.argmax()]), nodes)
            require(
                False,
                f"no two edges of one colour share a node; {side} node {u} has "
                f"{times.max()} edges of colour {colour}",
                SOURCE,
            )
