"""The figures of CFP: the colouring and its matchings, the transpose, many arrays in parallel."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

import mmsim as mm
from mmsim.claims import ClaimError, correct
from mmsim.claims.printed import Drawing
from mmsim.view.figures.paper import COLUMN, DARK_FIRST, MARKERS, STYLE, drawing
from mmsim_algorithms import permutations
from mmsim_algorithms.colouring.flipping import Augmentation, augmentations
from mmsim_algorithms.dmm_permutation.cases import EXAMPLE_P, named
from mmsim_algorithms.dmm_permutation.many_arrays import PROGRAMS, curve
from mmsim_algorithms.dmm_permutation.programs import (
    conflict_free,
    destination_designated,
    moved,
    tables,
)
from mmsim_algorithms.drawings.cells import whole
from mmsim_algorithms.drawings.graphs import coloured, edges_of_warps, matched
from mmsim_algorithms.drawings.panels import Panel, side_by_side
from mmsim_algorithms.drawings.traced import expect
from mmsim_algorithms.gpu.kept import Results, number
from mmsim_algorithms.gpu.plots import time_of_arrays
from mmsim_algorithms.grids import MULTIPROCESSORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mmsim.gpu.record import Row

W = 4
"""The width in Figures 3 and 6."""


def figure_3() -> Figure:
    """CFP Figure 3: the banks that the worked example moves words between, by warps.

    The number of a warp of the conflict-free permutation is the colour of its edges.
    """
    P, a = EXAMPLE_P, np.arange(EXAMPLE_P.size)
    S, D = tables("conflict-free", P, W)
    run = mm.DMM(W, 1).run(conflict_free, a, np.zeros_like(a), S, D, threads=a.size, trace=True)
    left, right, colours = edges_of_warps(correct(run, b=moved(a, P)), "a", "b")
    expect("colours", len(set(colours)), 4)
    expect("degrees", np.bincount(left).tolist() + np.bincount(right).tolist(), [4] * 2 * W)
    return whole(coloured(left, right, colours, _banks("a", W), _banks("b", W)))


def _banks(array: str, count: int) -> list[str]:
    return [f"B[{bank}] of {array}" for bank in range(count)]


BANKS, WORDS, SEED = 6, 18, 4
"""Of Figures 4 and 5: a random permutation whose matching needs paths of three and five edges."""


def figure_4() -> Figure:
    """CFP Figure 4: the matching so far and an augmenting path, in the matching algorithm."""
    return _matchings(flipped=False)


def figure_5() -> Figure:
    """CFP Figure 5: the matchings of Figure 4 after the flipping operation."""
    return _matchings(flipped=True)


def _matchings(flipped: bool) -> Figure:
    """All augmenting paths of more than one edge, before or after they are flipped."""
    import matplotlib

    from mmsim.view.figures.notebook import Figure as Shown

    P = permutations.random(WORDS, SEED)
    left, right = (np.arange(WORDS) % BANKS).tolist(), (P % BANKS).tolist()
    steps = [step for step in augmentations(left, right, BANKS) if len(step.path) > 1]
    expect("edges of the augmenting paths", [len(step.path) for step in steps], [3, 5])
    names = _banks("a", BANKS), _banks("b", BANKS)
    with matplotlib.rc_context(STYLE):
        figure = Shown(figsize=(COLUMN * len(steps), 3), layout="constrained")
        for step, axes in zip(steps, figure.subplots(1, len(steps)), strict=True):
            _check_step(left, right, step)
            matching = step.flipped if flipped else step.matching
            paths = () if flipped else (step.path,)
            matched(left, right, matching, *names, paths=paths, axes=axes)
    return figure


def _check_step(left: Sequence[int], right: Sequence[int], step: Augmentation) -> None:
    """CFP section V: an augmenting path, and the matching after its flipping."""
    path, M, A = step.path, step.matching, set(step.path)
    turns = [place % 2 == 1 for place in range(len(path))]
    expect("which edges of the path are in the matching", [edge in M for edge in path], turns)
    for place, (edge, following) in enumerate(pairwise(path)):
        side = (right, left)[place % 2]
        expect(f"node of edges {edge} and {following}", side[following], side[edge])
    for side, end in ((left, path[0]), (right, path[-1])):
        expect("terminals that the matching has", side[end] in {side[edge] for edge in M}, False)
    expect("the flipped matching", sorted(step.flipped), sorted((M - A) | (A - M)))
    for side in (left, right):
        nodes = {side[edge] for edge in step.flipped}
        expect("nodes of the flipped matching", len(nodes), len(M) + 1)


def figure_6() -> Figure:
    """CFP Figure 6: a matrix read by rows and written by columns, by the transpose permutation.

    The matrix of n/w rows and w columns has n/w = 3 and w = 4.
    """
    rows = 3
    n = rows * W
    P = permutations.transpose(n, W)
    i, j = np.divmod(np.arange(n), W)
    expect("P(i w + j)", P, j * rows + i)
    a = np.arange(n)
    run = mm.DMM(W, 1).run(destination_designated, a, np.zeros_like(a), P, threads=n)
    b = run.arrays["b"].reshape(W, rows)
    matrix = a.reshape(rows, W)
    expect("the rows of a are columns of b", b, matrix.T)
    panels = [
        Panel("a", matrix, matrix // W, "(a) a, n/w × w"),
        Panel("b", b, b // W, "(b) b, w × n/w"),
    ]
    return side_by_side(panels, [""])


MOST = 32
"""Arrays of the simulated part of Figure 7, four for each multiprocessor of the papers' GPU."""


def figure_7() -> Figure:
    """CFP Figure 7: the time to permute many arrays of 1024 words along the bit-reversal.

    On the left: the permuting rounds on an HMM with a DMM for each multiprocessor of the papers'
    GPU. On the right: the kept measurements of a GPU.
    """
    import matplotlib

    from mmsim.view.figures.notebook import Figure as Shown

    with matplotlib.rc_context(STYLE):
        figure = Shown(figsize=(2 * COLUMN, 3), layout="constrained")
        left, right = figure.subplots(1, 2)
        _simulated_arrays(left)
        _measured_arrays(right)
    return figure


def _simulated_arrays(axes: Axes) -> None:
    """The time units of 1, 2, ... arrays: flat up to d arrays, k times as long for k d arrays."""
    d, w = MULTIPROCESSORS, 32
    machine, P = mm.HMM(dmms=d, width=w, global_latency=1), named("bit-reversal", w * w, w)
    counts = range(1, MOST + 1)
    with drawing(axes, COLUMN, 3):
        for place, algorithm in enumerate(PROGRAMS):
            times = [point.time for point in curve(machine, P, counts, algorithm)]
            papers = [times[0] * -(-count // d) for count in counts]
            expect(f"time units of {algorithm} for {counts} arrays", times, papers)
            axes.plot(
                counts,
                times,
                color=DARK_FIRST[place],
                linestyle="none",
                marker=MARKERS[place],
                markersize=3,
                label=algorithm,
            )
        axes.set_xticks(range(0, MOST + 1, d))
        axes.set_ylim(bottom=0)
        axes.set(xlabel="arrays", ylabel="time units", title=f"simulated: HMM, d = {d}, w = {w}")
        axes.legend(frameon=False, loc="upper left")


def _measured_arrays(axes: Axes) -> None:
    """The kept milliseconds. Each step must be flat compared with the rise to the next."""
    kept = Results.read().records.get("CFP-F7")
    if kept is None:
        raise ClaimError("the results that are kept of a GPU are not there, or not CFP-F7")
    d = int(kept.facts["calibration"]["multiprocessors"])
    for algorithm in PROGRAMS:
        _check_steps(d, [row for row in kept.rows if row["algorithm"] == algorithm])
    day = str(kept.facts["date"]).partition("T")[0]
    title = f"measured: {kept.facts['device']}, {day}"
    time_of_arrays(kept.rows, d, axes, unit=str(kept.facts["unit"]), title=title)


def _check_steps(d: int, rows: Sequence[Row]) -> None:
    """Within a step of d arrays, times differ by less than from any time of the next step."""
    steps: dict[int, list[float]] = {}
    for row in rows:
        steps.setdefault(-(-int(number(row, "arrays")) // d), []).append(number(row, "measured"))
    expect("steps measured", sorted(steps), list(range(1, len(steps) + 1)))
    for step in range(1, len(steps)):
        rise = min(steps[step + 1]) - max(steps[step])
        spread = max(steps[step]) - min(steps[step])
        expect(f"step {step} is flat compared with the rise to the next", rise > spread, True)


DRAWINGS = [
    Drawing(
        "CFP-F3",
        "CFP, Figure 3",
        "a regular bipartite graph with degree 4 painted by 4 colours",
        figure_3,
        note="the text names no graph: this is that of section III's worked example",
    ),
    Drawing(
        "CFP-F4",
        "CFP, Figure 4",
        "examples of augmenting paths",
        figure_4,
        made="counted",
        note="the text names no graph: this is that of a random permutation of "
        f"{WORDS} words, w = {BANKS}",
    ),
    Drawing(
        "CFP-F5",
        "CFP, Figure 5",
        "the matchings of Figure 4 after the flipping operation",
        figure_5,
        made="counted",
    ),
    Drawing(
        "CFP-F6",
        "CFP, Figure 6",
        "the transpose permutation",
        figure_6,
        note="n/w = 3, w = 4; the text calls b a matrix of n/w rows too, but by its formula, "
        "P(i w + j) = j n/w + i, a row of b has n/w words",
    ),
    Drawing(
        "CFP-F7",
        "CFP, Figure 7",
        "the time to permute arrays of 1024 words, bit-reversal",
        figure_7,
        made="measured",
        note="next to it the simulated time on as many DMMs as the paper's GPU has multiprocessors",
    ),
]
