"""The papers' own way to a colouring: matchings that grow by one augmenting path (CFP section V).

M is a matching: a set of edges without a common node. An *augmenting path* A begins and ends at
nodes without an edge of M, and its edges lie in turn outside M and in M. *Flipping* it,

    M <- M - (A intersected with M),  M <- M united with (A without M),

leaves a matching with one edge more (CFP Figures 4 and 5). In a regular graph this continues until
M is perfect. Its edges get a colour and leave the graph, which is regular of one degree less.

>>> left, right = [0, 0, 1], [0, 1, 0]
>>> for step in augmentations(left, right, nodes=2):
...     print(sorted(step.matching), step.path, sorted(step.flipped))
[] (0,) [0]
[0] (2, 0, 1) [1, 2]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mmsim_algorithms.colouring.bipartite import (
    Numbers,
    check_colouring,
    checked_edges,
    require_regular,
)


@dataclass(frozen=True)
class Augmentation:
    """A matching and an augmenting path, from a left node to a right node; both name edges.

    `looked` counts the edges that the search for the path looked at.
    """

    matching: frozenset[int]
    path: tuple[int, ...]
    looked: int

    @property
    def flipped(self) -> frozenset[int]:
        """The matching after flipping the path: their symmetric difference."""
        return self.matching ^ frozenset(self.path)


def augmentations(left: npt.ArrayLike, right: npt.ArrayLike, nodes: int) -> Iterator[Augmentation]:
    """From the empty matching to a maximum one, one path at a time.

    Edge e joins left node left[e] to right node right[e], both of 0 .. nodes-1. The last step's
    `flipped` is the maximum matching, which is perfect if the graph is regular.
    """
    left, right = checked_edges(left, right, nodes, dimensions=1)
    yield from _grow(left.tolist(), right.tolist(), range(len(left)))


def augment(
    left: Sequence[int], right: Sequence[int], edges: Sequence[int], matching: AbstractSet[int]
) -> Augmentation | None:
    """A shortest augmenting path for a matching in the graph of these edges, None without.

    It starts at the first left node that has one. As in the paper, the paths from there are a tree,
    which grows breadth first: from a left node along the edges outside the matching, from a right
    node along its edge of the matching.

    >>> augment([0, 0, 1], [0, 1, 0], range(3), {0})
    Augmentation(matching=frozenset({0}), path=(2, 0, 1), looked=3)
    """
    return _search(left, right, _edges_of(left, edges), matching)


def flips(
    left: npt.ArrayLike, right: npt.ArrayLike, nodes: int
) -> Iterator[tuple[int, Augmentation]]:
    """Every augmentation of the colouring of a regular graph, with the colour of its matching.

    One colour at a time; the edges of a finished matching leave the graph.
    """
    left, right = checked_edges(left, right, nodes, dimensions=1)
    require_regular(left, right, nodes)
    ends = left.tolist(), right.tolist()
    remaining = list(range(len(left)))
    for colour in range(len(left) // nodes):
        matching: frozenset[int] = frozenset()
        for step in _grow(*ends, remaining):
            yield colour, step
            matching = step.flipped
        remaining = [e for e in remaining if e not in matching]


def colour_by_flipping(left: npt.ArrayLike, right: npt.ArrayLike, nodes: int) -> Numbers:
    """Return the colour of each edge, by the papers' own method, and check the colouring.

    A search looks at each edge of the graph at most once. E edges of degree D take E searches in
    graphs of degrees D, D-1, .. 1: at most E (E + nodes) / 2 looks. Use it for small graphs.

    >>> colour_by_flipping([0, 0, 1, 1], [0, 1, 0, 1], nodes=2)
    array([0, 1, 1, 0], dtype=int32)
    """
    matchings: dict[int, frozenset[int]] = {}
    for colour, step in flips(left, right, nodes):
        matchings[colour] = step.flipped
    colours = np.empty(np.shape(left), dtype=np.int32)
    for colour, matching in matchings.items():
        colours[list(matching)] = colour
    check_colouring(left, right, nodes, colours)
    return colours


def _edges_of(left: Sequence[int], edges: Sequence[int]) -> dict[int, list[int]]:
    """The edges of each left node."""
    edges_of: dict[int, list[int]] = {}
    for e in edges:
        edges_of.setdefault(left[e], []).append(e)
    return edges_of


def _grow(
    left: Sequence[int], right: Sequence[int], edges: Sequence[int]
) -> Iterator[Augmentation]:
    """The augmentations of the graph of these edges, until none is left."""
    edges_of = _edges_of(left, edges)
    step = _search(left, right, edges_of, frozenset())
    while step is not None:
        yield step
        step = _search(left, right, edges_of, step.flipped)


def _search(
    left: Sequence[int],
    right: Sequence[int],
    edges_of: dict[int, list[int]],
    matching: AbstractSet[int],
) -> Augmentation | None:
    """`augment`, with the edges of each left node."""
    of_left = {left[e]: e for e in matching}
    of_right = {right[e]: e for e in matching}
    looked = 0
    for root in sorted(set(edges_of) - set(of_left)):
        came_by: dict[int, int] = {}  # of each right node of the tree: the edge that leads there
        level = [root]
        while level:
            following = []
            for u in level:
                for e in edges_of[u]:
                    looked += 1
                    v = right[e]
                    if v in came_by:
                        continue
                    came_by[v] = e
                    if v not in of_right:
                        path = [e]
                        while left[path[0]] != root:
                            matched = of_left[left[path[0]]]
                            path = [came_by[right[matched]], matched, *path]
                        return Augmentation(frozenset(matching), tuple(path), looked)
                    following.append(left[of_right[v]])
            level = following
    return None
