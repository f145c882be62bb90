"""Drawn bipartite graphs: which nodes an edge joins, and what shows without colour."""

import re

import numpy as np
import pytest

import mmsim as mm
from mmsim.claims import ClaimError
from mmsim.errors import MMSimError
from mmsim_algorithms.dmm_permutation import conflict_free, tables
from mmsim_algorithms.drawings.graphs import APART, DASHES, coloured, edges_of_warps, matched
from mmsim_algorithms.permutations import random, transpose

NAMES = ["x", "y"]


def lines(axes):
    return {line.get_gid(): line for line in axes.lines if line.get_gid()}


def ends(line):
    """The left and the right node that a line joins."""
    (x, *_, last), (y, *_, end) = line.get_data()
    assert (x, last) == (0, APART)
    return int(y), int(end)


def test_each_edge_joins_its_nodes():
    left, right = [0, 0, 1, 1], [0, 1, 0, 1]
    for axes in (
        coloured(left, right, [0, 1, 1, 0], NAMES, NAMES),
        matched(left, right, {0, 3}, NAMES, NAMES),
    ):
        found = lines(axes)
        assert [ends(found[f"edge-{e}"]) for e in range(4)] == [(0, 0), (0, 1), (1, 0), (1, 1)]
        assert [text.get_text() for text in axes.texts] == [*NAMES, *NAMES]
        assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first node is the top one


def test_edges_between_the_same_nodes_are_apart():
    found = lines(coloured([0, 0, 0], [0, 0, 0], [0, 1, 2], ["x"], ["x"]))
    middles = [found[f"edge-{e}"].get_ydata()[20] for e in range(3)]
    assert np.diff(middles).min() > 0.1
    assert middles[1] == 0  # the one in the middle is straight


def test_colours_differ_in_their_dashes(tmp_path):
    colours = list(range(len(DASHES)))
    path = tmp_path / "graph.svg"
    mm.figures.save(coloured([0] * 7, [0] * 7, colours, ["x"], ["x"]), path)
    styles = re.findall(r'id="edge-\d">\s*<path [^>]*style="([^"]*)"', path.read_text("utf-8"))
    assert len(styles) == 7
    dashes = [re.search(r"stroke-dasharray: ([^;]*)|$", style)[1] for style in styles]
    assert len(set(dashes)) == 7
    assert dashes[0] is None


def test_more_colours_than_can_be_distinguished():
    with pytest.raises(MMSimError, match="8 colours can't be distinguished; 7 can"):
        coloured([0] * 8, [0] * 8, list(range(8)), ["x"], ["x"])


def test_a_matching_shows_by_width_and_its_nodes_by_being_filled():
    axes = matched([0, 0, 1], [0, 1, 0], {0}, NAMES, NAMES, paths=[(2, 0, 1)])
    found = lines(axes)
    widths = [found[f"edge-{e}"].get_linewidth() for e in range(3)]
    assert widths[0] > 2 * widths[1] == 2 * widths[2]
    assert {name for name in found if name.startswith("path")} == {
        "path-0-0",
        "path-0-1",
        "path-0-2",
    }
    hollow = {name for name, line in found.items() if line.get_markerfacecolor() == "white"}
    assert hollow == {"left-1", "right-1"}


def run_of(S, D, w=4):
    n = len(S)
    a = np.arange(n)
    return mm.DMM(w, 1).run(conflict_free, a, np.zeros_like(a), S, D, threads=n, trace=True)


def test_the_edges_of_a_run_are_those_of_its_permutation():
    P = random(24, seed=1)
    left, right, colours = edges_of_warps(run_of(*tables("conflict-free", P, 4)), "a", "b")
    joined = sorted(zip(left, right, strict=True))
    assert joined == sorted(zip((np.arange(24) % 4).tolist(), (P % 4).tolist(), strict=True))
    assert sorted(colours) == [warp for warp in range(6) for _ in range(4)]


def test_a_run_with_conflicts_has_no_colouring():
    P = transpose(16)
    with pytest.raises(ClaimError, match=r"banks of b for W\(0\): the run gives 1, .* 4"):
        edges_of_warps(run_of(np.arange(16), P), "a", "b")
    with pytest.raises(ClaimError, match=r"banks of a for W\(0\)"):
        edges_of_warps(run_of(P, np.arange(16)), "a", "b")


def test_warps_that_move_nothing():
    with pytest.raises(ClaimError, match="warps that read c"):
        edges_of_warps(run_of(np.arange(16), np.arange(16)), "c", "b")
