"""The figures of ICPP: requests, the diagonal arrangement, a colouring, the three steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim.claims import correct
from mmsim.claims.printed import Drawing
from mmsim_algorithms import permutations
from mmsim_algorithms.access.figures import icpp_figure_3
from mmsim_algorithms.drawings.cells import whole
from mmsim_algorithms.drawings.graphs import coloured, edges_of_warps
from mmsim_algorithms.drawings.panels import Panel, pairs, side_by_side
from mmsim_algorithms.drawings.requests import requests
from mmsim_algorithms.drawings.traced import expect
from mmsim_algorithms.hmm_permutation.programs import (
    columns_permuted,
    plan,
    row_tables,
    row_wise,
    rows_permuted,
)
from mmsim_algorithms.transpose.hmm import transpose

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Integers = npt.NDArray[np.int64]

W = 4
"""The width in all figures."""

MACHINE = mm.HMM(dmms=1, width=W, global_latency=5)
"""One DMM; the figures don't show its latencies."""


def two_warps(machine: mm.Machine, stages: list[int], time: int) -> mm.Run:
    """The run of Figure 3's requests on a machine, with its right stages and time.

    W(0) asks for m[7], m[5], m[15] and m[0], W(1) for m[10], m[11], m[12] and m[9].
    """
    run = machine.run(icpp_figure_3, np.arange(16), threads=8, trace=True)
    asked = [one.addresses for one in run.trace.dispatches]
    expect("addresses of W(0) and W(1)", asked, [(7, 5, 15, 0), (10, 11, 12, 9)])
    expect("stages of W(0) and W(1)", [one.stage_count for one in run.trace.dispatches], stages)
    expect("time units", run.time, time)
    return run


def figure_3() -> Figure:
    """ICPP Figure 3: the requests of two warps on the DMM and on the UMM, w = 4 and l = 5."""
    return requests(
        {
            "DMM, w = 4, l = 5": two_warps(mm.DMM(W, 5), [2, 1], 3 + 5 - 1),
            "UMM, w = 4, l = 5": two_warps(mm.UMM(W, 5), [3, 2], 5 + 5 - 1),
        }
    )


def figure_4() -> Figure:
    """ICPP Figure 4: where the transpose of a 4 x 4 matrix puts a[i][j] in the shared memory."""
    a = np.arange(W * W).reshape(W, W)
    b, n = np.zeros_like(a), a.size
    run = MACHINE.run(transpose, a, b, W, threads=n, block_size=n, trace=True)
    correct(run, b=a.T)
    used = [one for one in run.trace.dispatches if one.array == "alpha"]
    expect("stages of the requests to alpha", [one.stage_count for one in used], [1] * 2 * W)
    value_at = np.full(a.size, -1)
    for one in used:
        if one.kind == "write":
            value_at[list(one.addresses)] = one.values
    i, j = np.divmod(a.ravel(), W)
    expect("words of alpha", value_at[i * W + (i + j) % W], a.ravel())
    alpha = value_at.reshape(W, W)
    banks = [f"B[{bank}]" for bank in range(W)]
    panels = [
        Panel("a", pairs(a, W), a % W, "(a) a"),
        Panel("alpha", pairs(alpha, W), alpha % W, "(b) the words of alpha", columns=banks),
    ]
    return side_by_side(panels, [""])


def figure_5() -> Figure:
    """ICPP Figure 5: the banks that a row-wise permutation moves words between, by warps.

    A row of 16 words is permuted at random in the shared memory with w = 4: each bank has four
    edges, and the colour of an edge is the number of the warp that moves it.
    """
    P = permutations.random(W * W)
    a = np.arange(P.size).reshape(1, P.size)
    b = np.empty_like(a)
    b[0, P] = a
    n, (s, d) = a.size, row_tables(P[None], W)
    zeros = np.zeros_like(a)
    run = MACHINE.run(row_wise, a, zeros, s, d, threads=n, block_size=n, trace=True)
    left, right, colours = edges_of_warps(correct(run, b=b), "alpha", "beta")
    expect("colours", len(set(colours)), 4)
    expect("degrees", np.bincount(left).tolist() + np.bincount(right).tolist(), [4] * 2 * W)
    axes = coloured(
        left,
        right,
        colours,
        [f"B[{bank}] of α" for bank in range(W)],
        [f"B[{bank}] of β" for bank in range(W)],
    )
    return whole(axes)


def figure_6() -> Figure:
    """ICPP Figure 6: the words of a 4 x 4 matrix after each step of the scheduled permutation.

    a[i][j] holds the destination of its word, (row, column), by a random permutation. A word's
    colour is its column after step 1.
    """
    P = permutations.random(W * W)
    steps = plan(P, W)
    given = P.reshape(W, W)
    runs = [rows_permuted(MACHINE, given, steps.first)]
    runs.append(columns_permuted(MACHINE, runs[-1].arrays["b"], steps.second))
    runs.append(rows_permuted(MACHINE, runs[-1].arrays["b"], steps.third))
    stages: list[Integers] = [given, *(run.arrays["b"] for run in runs)]
    _, coloured_columns, routed, arrived = stages
    expect("rows after step 1", np.sort(coloured_columns, axis=1), np.sort(given, axis=1))
    columns = np.sort(coloured_columns // W, axis=0).T
    expect("row destinations in each column after step 1", columns, [list(range(W))] * W)
    rows = np.repeat(np.arange(W), W).reshape(W, W)
    expect("row destinations after step 2", routed // W, rows)
    expect("words after step 3", arrived.ravel(), np.arange(P.size))

    colour = np.empty(P.size, dtype=np.int64)
    colour[coloured_columns] = np.arange(W)
    captions = ("(a) input", "(b) row-wise", "(c) column-wise", "(d) row-wise")
    panels = [
        Panel(name, pairs(words, W), colour[words], caption)
        for name, words, caption in zip("abcd", stages, captions, strict=True)
    ]
    return side_by_side(panels, ["Step 1", "Step 2", "Step 3"])


DRAWINGS = [
    Drawing(
        "ICPP-F3",
        "ICPP, Figure 3",
        "requests of two warps on the DMM and on the UMM, w = 4, l = 5",
        figure_3,
    ),
    Drawing(
        "ICPP-F4",
        "ICPP, Figure 4",
        "the diagonal arrangement of a 4 x 4 matrix in the shared memory",
        figure_4,
    ),
    Drawing(
        "ICPP-F5",
        "ICPP, Figure 5",
        "a regular bipartite graph with degree 4 painted by 4 colours",
        figure_5,
        note="the text names no graph: this is that of a row of 16 words, permuted at random",
    ),
    Drawing(
        "ICPP-F6",
        "ICPP, Figure 6",
        "how numbers are routed by the scheduled permutation, √n = 4",
        figure_6,
        note="(i,j) is where a word goes; the text names no permutation, this one is random",
    ),
]
