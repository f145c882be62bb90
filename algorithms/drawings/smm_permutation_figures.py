"""SMM Figures 8 to 11: permutations on the DMM and the UMM, from runs of the programs.

The paper doesn't name the permutations in its pictures; these are drawn at random, except for
Figure 8's, the transpose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import mmsim as mm
from mmsim.claims.printed import Drawing
from mmsim_algorithms import permutations
from mmsim_algorithms.colouring.bipartite import check_colouring
from mmsim_algorithms.colouring.schedules import conflict_free as schedule_of
from mmsim_algorithms.colouring.schedules import three_steps
from mmsim_algorithms.dmm_permutation.programs import conflict_free
from mmsim_algorithms.drawings.cells import whole
from mmsim_algorithms.drawings.graphs import coloured
from mmsim_algorithms.drawings.panels import Panel, pairs, side_by_side
from mmsim_algorithms.drawings.traced import accesses, contents, expect
from mmsim_algorithms.umm_permutation.programs import (
    Integers,
    column_wise,
    permutation,
    random_rows,
    row_wise,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

W = 4
ARRIVED = np.arange(W * W).reshape(W, W)
"""The final b, if each word of a is its own destination: b[i][j] holds (i,j)."""


def figure_8() -> Figure:
    """Words that go from banks of a to banks of b; the words of one warp have one colour.

    The colours are those of a run on the DMM: the warp that reads a word.
    """
    P = permutations.transpose(W * W)
    a = np.arange(P.size)
    arguments = (a, np.zeros_like(a), *schedule_of(P, W))
    run = mm.DMM(W, 1).run(conflict_free, *arguments, threads=a.size, trace=True)
    moved = np.empty_like(a)
    moved[P] = a
    expect("the array b", run.arrays["b"], moved)
    data = [one for one in run.trace.dispatches if one.array in "ab"]
    expect("stages of each request for a and b", {one.stage_count for one in data}, {1})
    [readers] = accesses(run, "a", "read")
    colours = [readers[i][0] // W for i in range(a.size)]
    left, right = a % W, P % W
    check_colouring(left, right, W, colours)
    expect("colours", set(colours), set(range(a.size // W)))
    names = [f"B[{bank}]" for bank in range(W)]
    return whole(coloured(left.tolist(), right.tolist(), colours, names, names))


def figure_9() -> Figure:
    """The row-wise permutation: each word holds its destination and goes there."""
    columns = random_rows(W, W, seed=9)
    a = np.arange(W)[:, None] * W + columns
    run = mm.UMM(W, 1).run(row_wise, a, np.zeros_like(a), columns, threads=a.size, trace=True)
    expect("the matrix b", run.arrays["b"], ARRIVED)
    return _moving([a, run.arrays["b"]], columns, ["(a) a", "(b) b, permuted row-wise"], [""])


def figure_10() -> Figure:
    """The column-wise permutation: transpose, row-wise permutation, transpose."""
    rows = random_rows(W, W, seed=10)  # row j: the destinations of column j's words
    a = rows.T * W + np.arange(W)
    run = mm.UMM(W, 1).run(column_wise, a, np.zeros_like(a), rows, threads=W, trace=True)
    steps = contents(run, "b", ["rotating", "row_wise", "rotating"])
    for name, computed, papers in zip(
        ("Step 1", "Step 2", "Step 3"), steps, (a.T, ARRIVED.T, ARRIVED), strict=True
    ):
        expect(f"the matrix after {name}", computed, papers)
    captions = ["(a) a", "(b) transposed", "(c) permuted row-wise", "(d) transposed"]
    return _moving([a, *steps], a // W, captions, ["Step 1", "Step 2", "Step 3"])


def figure_11() -> Figure:
    """Any permutation: row-wise to the column that is a word's colour, column-wise, row-wise."""
    P = permutations.random(W * W, seed=11)
    a = P.reshape(W, W)
    tables = three_steps(P, W)
    run = mm.UMM(W, 1).run(permutation, a, np.zeros_like(a), *tables, threads=W, trace=True)
    parts = ["row_wise", "rotating", "row_wise", "rotating", "row_wise"]
    first, _, _, second, third = contents(run, "b", parts)
    colours = tables[0]
    colour_of = np.empty(a.size, dtype=np.int64)
    colour_of[P] = colours.ravel()
    for row in colours:
        expect("the colours of a row (Lemma 7.3 (1))", sorted(row.tolist()), list(range(W)))
    for column in first.T:
        expect(
            "the rows that a colour goes to (Lemma 7.3 (2))", sorted(column // W), list(range(W))
        )
    expect("the colours after Step 1", colour_of[first], np.tile(np.arange(W), (W, 1)))
    expect("the rows after Step 2", second // W, ARRIVED // W)
    expect("the matrix after Step 3", third, ARRIVED)
    captions = ["(a) a, coloured", "(b) row-wise", "(c) column-wise", "(d) row-wise"]
    matrices = [a, first, second, third]
    return side_by_side(
        [
            Panel(
                name,
                [
                    [f"{pair}\n{colour_of[value]}" for pair, value in zip(*both, strict=True)]
                    for both in zip(pairs(values, W), values.tolist(), strict=True)
                ],
                colour_of[values],
                caption,
            )
            for name, values, caption in zip("abcd", matrices, captions, strict=True)
        ],
        ["Step 1", "Step 2", "Step 3"],
    )


def _moving(
    matrices: list[Integers], kinds: Integers, captions: list[str], arrows: list[str]
) -> Figure:
    """Matrices of destinations; a word keeps its kind from the first."""
    kind_of = dict(zip(matrices[0].ravel().tolist(), kinds.ravel().tolist(), strict=True))
    panels = [
        Panel(
            name,
            pairs(values, W),
            [[kind_of[value] for value in row] for row in values.tolist()],
            caption,
        )
        for name, values, caption in zip("abcd", matrices, captions, strict=False)
    ]
    return side_by_side(panels, arrows)


RANDOM = "(i,j) is where a word goes; the text names no permutation, this one is drawn at random"

DRAWINGS = [
    Drawing(
        "SMM-F8",
        "SMM, Figure 8",
        "a regular bipartite graph with degree 4, painted by 4 colours",
        figure_8,
        note="the text names no graph: this is that of the transpose of 4 x 4 words, w = 4",
    ),
    Drawing("SMM-F9", "SMM, Figure 9", "row-wise permutation, w = 4", figure_9, note=RANDOM),
    Drawing("SMM-F10", "SMM, Figure 10", "column-wise permutation, w = 4", figure_10, note=RANDOM),
    Drawing(
        "SMM-F11",
        "SMM, Figure 11",
        "the data movement of the permutation algorithm on the UMM, w = 4",
        figure_11,
        note=f"{RANDOM}; below it stands the word's colour",
    ),
]
