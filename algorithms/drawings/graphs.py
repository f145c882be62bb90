"""Bipartite graphs: their colourings, and their matchings with augmenting paths.

Edge e joins left node left[e] to right node right[e]. Edges between the same two nodes are bent
apart. Colours also differ in their dashes; the edges of a matching or a path differ in width.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim.errors import MMSimError
from mmsim.view.figures.paper import COLUMN, DARK_FIRST, drawing, legend_above
from mmsim_algorithms.drawings.traced import expect

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Places = npt.NDArray[np.float64]

DASHES: tuple[Any, ...] = (
    "-",
    (0, (4, 1.5)),
    (0, (1, 1)),
    (0, (6, 1.5, 1, 1.5)),
    (0, (9, 3)),
    (0, (3, 1, 1, 1, 1, 1)),
    (0, (1, 3)),
)
"""The dashes of colours 0, 1, ..., one for each of `DARK_FIRST`."""

APART = 3.0
"""The distance of the two sides; neighbouring nodes of a side lie 1 apart."""

BEND = 0.2
"""The distance of the middles of two edges between the same nodes."""

HEIGHT = 0.42
"""Inches from a node to the next."""

THIN, THICK, BAND = 0.8, 2.4, 7.0
"""Widths of an edge outside and inside a matching, and of the band along a path, in points."""


def coloured(
    left: Sequence[int],
    right: Sequence[int],
    colours: Sequence[int],
    left_names: Sequence[str],
    right_names: Sequence[str],
    *,
    axes: Axes | None = None,
) -> Axes:
    """Draw a bipartite graph whose edge e has colour colours[e].

    Parameters
    ----------
    left, right
        The two nodes of each edge, counted from 0.
    colours
        The colour of each edge, counted from 0; seven can be distinguished.
    left_names, right_names
        The name of each node, the top one first.
    axes
        Where to draw.

    Examples
    --------
    >>> names = ["B[0]", "B[1]"]
    >>> axes = coloured([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0], names, names)
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['colour 0', 'colour 1']
    """
    used = sorted(set(colours))
    if used and used[-1] >= len(DASHES):
        raise MMSimError(f"{used[-1] + 1} colours can't be distinguished; {len(DASHES)} can")
    styles: list[dict[str, Any]] = [
        {"color": colour, "linestyle": dash, "linewidth": 1.4}
        for colour, dash in zip(DARK_FIRST, DASHES, strict=True)
    ]
    with drawing(axes, COLUMN, _height(left_names, right_names)) as drawn:
        for edge, (x, y) in enumerate(_curves(left, right)):
            drawn.plot(x, y, gid=f"edge-{edge}", **styles[colours[edge]])
        for colour in used:
            drawn.plot([], [], label=f"colour {colour}", **styles[colour])
        for side, names in enumerate((left_names, right_names)):
            _nodes(drawn, side, names, filled=range(len(names)))
        _finish(drawn, columns=4)
    return drawn


def matched(
    left: Sequence[int],
    right: Sequence[int],
    matching: Collection[int],
    left_names: Sequence[str],
    right_names: Sequence[str],
    *,
    paths: Sequence[Collection[int]] = (),
    axes: Axes | None = None,
) -> Axes:
    """Draw a matching of a bipartite graph, and augmenting paths as wide bands.

    A node without an edge of the matching is hollow.

    Parameters
    ----------
    left, right
        The two nodes of each edge, counted from 0.
    matching
        The numbers of the edges in the matching.
    left_names, right_names
        The name of each node, the top one first.
    paths
        For each path the numbers of its edges.
    axes
        Where to draw.

    Examples
    --------
    >>> names = ["B[0]", "B[1]"]
    >>> axes = matched([0, 0, 1], [0, 1, 0], {0}, names, names, paths=[(2, 0, 1)])
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['in the matching', 'not in it', 'augmenting path']
    """
    styles: dict[bool, dict[str, Any]] = {
        True: {"color": DARK_FIRST[0], "linewidth": THICK},
        False: {"color": "0.45", "linewidth": THIN},
    }
    band: dict[str, Any] = {"color": "#F0E442", "linewidth": BAND, "zorder": 1}
    with drawing(axes, COLUMN, _height(left_names, right_names)) as drawn:
        curves = _curves(left, right)
        for number, path in enumerate(paths):
            for edge in path:
                drawn.plot(*curves[edge], gid=f"path-{number}-{edge}", **band)
        for edge, (x, y) in enumerate(curves):
            drawn.plot(x, y, gid=f"edge-{edge}", **styles[edge in matching])
        for inside, name in ((True, "in the matching"), (False, "not in it")):
            drawn.plot([], [], label=name, **styles[inside])
        if paths:
            drawn.plot([], [], label="augmenting path", **band)
        for side, (names, ends) in enumerate(((left_names, left), (right_names, right))):
            _nodes(drawn, side, names, filled={ends[edge] for edge in matching})
        _finish(drawn, columns=3)
    return drawn


def edges_of_warps(run: mm.Run, source: str, target: str) -> tuple[list[int], list[int], list[int]]:
    """The graph of banks, coloured by a conflict-free permutation, from its run with a trace.

    Returns the left nodes, the right nodes and the colours. An edge joins the banks that an element
    leaves and enters, and its colour is the warp that moves it (CFP section IV, ICPP section VI).
    Raises `ClaimError` if two edges of a colour share a node.

    >>> from mmsim_algorithms.dmm_permutation import conflict_free
    >>> b, S, D = np.zeros(4), np.array([0, 3, 2, 1]), np.array([1, 2, 3, 0])
    >>> run = mm.DMM(2, 1).run(conflict_free, np.arange(4), b, S, D, threads=4, trace=True)
    >>> edges_of_warps(run, "a", "b")
    ([0, 1, 0, 1], [1, 0, 1, 0], [0, 0, 1, 1])
    """
    left: list[int] = []
    right: list[int] = []
    colours: list[int] = []
    reads = [one for one in run.trace.dispatches if (one.array, one.kind) == (source, "read")]
    writes = [one for one in run.trace.dispatches if (one.array, one.kind) == (target, "write")]
    warps = list(range(len(run.trace.warps)))
    expect(f"warps that read {source}", [one.warp for one in reads], warps)
    expect(f"warps that write {target}", [one.warp for one in writes], warps)
    for read, write in zip(reads, writes, strict=True):
        expect(f"threads of W({read.warp})", write.threads, read.threads)
        for one in (read, write):
            banks = len(set(one.places))
            expect(f"banks of {one.array} for W({one.warp})", banks, len(one.threads))
            expect(f"stages of {one.array} for W({one.warp})", one.stage_count, 1)
        left += read.places
        right += write.places
        colours += [read.warp] * len(read.places)
    return left, right, colours


def _height(left_names: Sequence[str], right_names: Sequence[str]) -> float:
    """Inches for so many nodes and the legend."""
    return HEIGHT * max(len(left_names), len(right_names)) + 0.25


def _curves(left: Sequence[int], right: Sequence[int]) -> list[tuple[Places, Places]]:
    """The points of each edge: a straight line, or one bent away from others of the same nodes."""
    joined = list(zip(left, right, strict=True))
    count, before = Counter(joined), Counter[tuple[int, int]]()
    t = np.linspace(0, 1, 41)
    curves = []
    for u, v in joined:
        side = before[u, v] - (count[u, v] - 1) / 2
        before[u, v] += 1
        curves.append((APART * t, u + (v - u) * t + BEND * side * 4 * t * (1 - t)))
    return curves


def _nodes(axes: Axes, side: int, names: Sequence[str], filled: Collection[int]) -> None:
    """The nodes of a side (0 left, 1 right) with their names next to them."""
    x = side * APART
    for node, name in enumerate(names):
        axes.plot(
            [x],
            [node],
            gid=f"{('left', 'right')[side]}-{node}",
            marker="o",
            markersize=6,
            markeredgecolor="black",
            markerfacecolor="black" if node in filled else "white",
            zorder=3,
        )
        shift = (-0.18, 0.18)[side]
        axes.text(x + shift, node, name, ha=("right", "left")[side], va="center")


def _finish(axes: Axes, columns: int) -> None:
    """The top node at the top, room for the names, a legend and no frame."""
    axes.set_axis_off()
    axes.set_xlim(-0.9, APART + 0.9)
    low, high = sorted(axes.get_ylim())
    axes.set_ylim(high, low)
    legend_above(axes, columns)
