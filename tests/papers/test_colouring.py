"""Koenig's theorem, three ways: every regular graph is coloured, everything else refused."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmsim_algorithms.colouring import (
    augment,
    augmentations,
    check_colouring,
    colour,
    colour_by_flipping,
    colour_by_matchings,
    colour_many,
    euler,
    flips,
)
from mmsim_algorithms.colouring import bipartite as colouring
from mmsim_algorithms.errors import PreconditionError

METHODS = [colour, colour_by_matchings, colour_by_flipping]


def graph(nodes, degree, seed=0):
    """A regular multigraph: `degree` random matchings, edges in random order."""
    random = np.random.RandomState(seed)
    left = np.tile(np.arange(nodes), degree)
    right = np.concatenate([random.permutation(nodes) for _ in range(degree)] or [left])
    order = random.permutation(len(left))
    return left[order], right[order]


def is_proper(left, right, nodes, colours):
    """Said again, as plainly as can be."""
    degree = len(left) // nodes
    for node in (left, right):
        for u in range(nodes):
            if sorted(colours[node == u].tolist()) != list(range(degree)):
                return False
    return True


@pytest.mark.parametrize("method", METHODS)
@settings(deadline=None)  # the first call may compile
@given(st.integers(1, 12), st.integers(0, 20), st.integers(0, 2**32 - 1))
def test_any_degree(method, nodes, degree, seed):
    left, right = graph(nodes, degree, seed)
    colours = method(left, right, nodes)
    assert colours.dtype == np.int32
    assert is_proper(left, right, nodes, colours)


@pytest.mark.parametrize("method", METHODS)
def test_edges_that_all_join_the_same_nodes_and_complete_graphs(method):
    for degree in (1, 2, 3, 7, 8, 31, 33):
        left = np.repeat(np.arange(5), degree)
        assert is_proper(left, (left + 2) % 5, 5, method(left, (left + 2) % 5, 5))
    for nodes in (2, 9, 16):
        left, right = (side.ravel() for side in np.indices((nodes, nodes)))
        assert is_proper(left, right, nodes, method(left, right, nodes))


@pytest.mark.parametrize("degree", [1, 2, 64, 96, 127, 129, 200])
def test_large_graphs_go_through_the_threads(degree, monkeypatch):
    monkeypatch.setattr(colouring, "LARGE", 1)
    left, right = graph(37, degree)
    assert is_proper(left, right, 37, colour(left, right, 37))


@pytest.mark.parametrize("degree", [512, 511])
def test_a_graph_that_is_large_indeed(degree):
    left, right = graph(512, degree)
    assert len(left) > colouring.LARGE
    check_colouring(left, right, 512, colour(left, right, 512))


def test_the_colours_do_not_depend_on_the_processors(monkeypatch):
    left, right = graph(512, 511)
    monkeypatch.setattr(colouring, "_processors", lambda: 1)
    alone = colour(left, right, 512)
    monkeypatch.setattr(colouring, "_processors", lambda: 7)
    assert (colour(left, right, 512) == alone).all()


@pytest.mark.parametrize("processors", [1, 2, 7])
@pytest.mark.parametrize("graphs", [0, 1, 3, 20])
def test_many_graphs_are_coloured_as_each_alone(graphs, processors, monkeypatch):
    monkeypatch.setattr(colouring, "_processors", lambda: processors)
    ends = [graph(6, 11, seed) for seed in range(graphs)]
    left, right = np.array(ends, dtype=np.int64).reshape(graphs, 2, 66).transpose(1, 0, 2)
    colours = colour_many(left, right, 6)
    assert colours.shape == (graphs, 66)
    for a, b, c in zip(left, right, colours, strict=True):
        assert is_proper(a, b, 6, c)
        assert (c == colour(a, b, 6)).all()


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64])
def test_any_kind_of_integer_which_stay_as_they_were(kind):
    left, right = graph(20, 6)
    own = np.array([left, right], kind)
    assert (colour(*own, 20) == colour(left, right, 20)).all()
    assert (own == [left, right]).all()


@pytest.mark.parametrize("method", [*METHODS, lambda *given: check_colouring(*given, given[0])])
@pytest.mark.parametrize(
    ("left", "right", "nodes", "text"),
    [
        ([0, 0, 1, 1], [0, 1, 1, 1], 2, "make 2, but right node 0 has degree 1"),
        ([0, 0, 0, 1], [0, 1, 0, 1], 2, "make 2, but left node 0 has degree 3"),
        ([0, 0, 1], [0, 1, 1], 2, r"3 edges on 2 \+ 2 nodes make 1.5, but left node 0 has"),
        ([0, 1], [0, 1], 3, "but left node 0 has degree 1"),
        ([0, 2], [0, 1], 2, r"0 \.\. 1; left has node 2"),
        ([0, 1], [0, -1], 2, "right has node -1"),
        ([0, 1], [0, 2**32], 2, "right has node 4294967296"),
        ([0.0, 1.0], [0, 1], 2, "integers; left holds float64"),
        ([0, 1], [0], 2, "one shape"),
        ([[0, 1]], [[0, 1]], 2, "1 dimension and"),
        ([0], [0], 0, "at least one node"),
    ],
)
def test_what_is_no_regular_graph_is_refused(method, left, right, nodes, text):
    with pytest.raises(PreconditionError, match=text + r".*\(CFP, Theorem 1; SMM, Theorem 6.1"):
        method(left, right, nodes)


def test_a_large_irregular_graph_is_refused():
    left, right = graph(512, 300)
    right[np.argmax(right == 7)] = 8
    with pytest.raises(PreconditionError, match="make 300, but right node 7 has degree 299"):
        colour(left, right, 512)


def test_one_irregular_graph_among_many_is_refused():
    left, right = (np.tile(side, (4, 1)) for side in graph(6, 3))
    right[2][right[2] == 5] = 4
    with pytest.raises(PreconditionError, match="right node 4 has degree 6"):
        colour_many(left, right, 6)
    with pytest.raises(PreconditionError, match="2 dimensions"):
        colour_many(left[0], right[0], 6)


@pytest.mark.parametrize(
    ("colours", "text"),
    [
        ([0, 0, 1, 1], "left node 0 has 2 edges of colour 0"),
        ([0, 1, 0, 1], "right node 0 has 2 edges of colour 0"),
        ([0, 2, 1, 0], r"0 \.\. 1; edge 1 has 2"),
        ([0, 1, -1, 0], r"edge 2 has -1"),
        ([0, 1, 1], r"of shape \(3,\)"),
        ([0.0, 1.0, 1.0, 0.0], "colours are float64"),
    ],
)
def test_colourings_that_are_none_are_refused(colours, text):
    with pytest.raises(PreconditionError, match=text):
        check_colouring([0, 0, 1, 1], [0, 1, 0, 1], 2, colours)


def test_every_single_change_of_a_colouring_is_seen():
    left, right = graph(5, 4)
    colours = colour(left, right, 5)
    for e in range(len(left)):
        wrong = colours.copy()
        wrong[e] = (wrong[e] + 1) % 4
        with pytest.raises(PreconditionError, match="no two edges of one colour share a node"):
            check_colouring(left, right, 5, wrong)


def test_a_split_halves_every_degree():
    for seed in range(20):
        left, right = graph(9, 10, seed)
        by_left, edge, half_right, half_edge = np.empty((4, 90), dtype=np.int32)
        euler.sort_by_left(left.astype(np.int32), right.astype(np.int32), 9, by_left, edge)
        assert (right[edge] == by_left).all()
        euler.split(by_left, edge, 9, half_right, half_edge)
        assert (right[half_edge] == half_right).all()
        assert sorted(half_edge) == list(range(90))
        for half in (half_edge[:45], half_edge[45:]):
            assert (left[half] == np.repeat(np.arange(9), 5)).all()
            assert (np.bincount(right[half]) == 5).all()


def is_matching(left, right, matching):
    edges = sorted(matching)
    return all(len(set(np.take(node, edges))) == len(edges) for node in (left, right))


@settings(deadline=None)
@given(st.integers(1, 9), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_each_flip_leaves_a_matching_with_one_edge_more(nodes, degree, seed):
    left, right = graph(nodes, degree, seed)
    matching = frozenset()
    for step in augmentations(left, right, nodes):
        assert step.matching == matching
        path = step.path
        outside, inside = set(path[::2]), set(path[1::2])
        assert not outside & matching
        assert inside <= matching
        assert len(set(path)) == len(path) == len(outside) + len(inside)
        # An edge and the next share a right node, then a left node, and so on.
        for number, pair in enumerate(pairwise(path)):
            node = (right, left)[number % 2]
            assert node[pair[0]] == node[pair[1]]
        used_left, used_right = (set(np.take(side, sorted(matching))) for side in (left, right))
        assert left[path[0]] not in used_left
        assert right[path[-1]] not in used_right
        assert step.flipped == (matching - inside) | outside
        assert is_matching(left, right, step.flipped)
        assert len(step.flipped) == len(matching) + 1
        matching = step.flipped
    assert len(matching) == nodes


def test_a_path_that_flips_two_edges_of_the_matching():
    """Left nodes 0, 1, 2; the matching keeps 2 from both of its right nodes' other edges."""
    left, right = [0, 0, 1, 1, 2], [0, 1, 1, 2, 0]
    step = augment(left, right, range(5), {0, 2})
    assert step.path == (4, 0, 1, 2, 3)
    assert step.flipped == {1, 3, 4}


def test_a_shorter_path_is_preferred():
    left, right = [0, 0, 1, 1, 2, 2], [0, 1, 1, 2, 0, 3]
    assert augment(left, right, range(6), {0, 2}).path == (5,)


def test_without_a_path_the_matching_is_a_maximum_one():
    left, right = [0, 1, 2, 2], [0, 0, 0, 1]
    steps = list(augmentations(left, right, 3))
    assert len(steps) == 2
    assert augment(left, right, range(4), steps[-1].flipped) is None
    assert list(augmentations([], [], 1)) == []


def test_a_left_node_without_a_path_keeps_no_other_from_its_own():
    """Right node 0 can serve one of left nodes 0 and 1; left node 2 has another."""
    step = augment([0, 1, 2], [0, 0, 1], range(3), {0})
    assert step.path == (2,)


def test_every_colour_is_a_matching_of_what_the_others_leave():
    left, right = graph(6, 5)
    steps = list(flips(left, right, 6))
    assert [colour for colour, _ in steps] == sorted(6 * list(range(5)))
    last = {colour: step.flipped for colour, step in steps}
    assert sorted(e for matching in last.values() for e in matching) == list(range(30))
    colours = colour_by_flipping(left, right, 6)
    assert all((colours[sorted(matching)] == colour).all() for colour, matching in last.items())


@pytest.mark.parametrize(("nodes", "degree"), [(4, 4), (8, 2), (8, 16), (32, 32)])
def test_a_search_looks_at_each_edge_once_at_most(nodes, degree):
    left, right = graph(nodes, degree)
    steps = list(flips(left, right, nodes))
    for finished, step in steps:
        assert len(step.path) <= step.looked <= nodes * (degree - finished)
    edges = nodes * degree
    assert sum(step.looked for _, step in steps) <= edges * (edges + nodes) // 2
