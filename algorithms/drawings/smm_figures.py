"""SMM Figures 2 and 4 to 7: accesses and transposes, from runs of the programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import mmsim as mm
from mmsim.claims.printed import Drawing
from mmsim_algorithms.access.figures import smm_figure_4
from mmsim_algorithms.access.programs import PROGRAMS
from mmsim_algorithms.drawings.cells import cells, sheet, whole
from mmsim_algorithms.drawings.panels import Panel, pairs, side_by_side
from mmsim_algorithms.drawings.requests import requests
from mmsim_algorithms.drawings.traced import accesses, contents, expect, threads_of
from mmsim_algorithms.transpose.dmm import diagonal
from mmsim_algorithms.transpose.umm import rotating, tiled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

W = 4
"""The width of all of SMM's figures with a width."""


def figure_2(n: int = 16, p: int = 4) -> Figure:
    """At step t of the contiguous access T(i) is at m[t p + i], of the stride one at m[i n/p + t].

    The run is of a DMM; on the UMM it would be the same.
    """
    addresses = {
        "contiguous": lambda t, i, size: t * p + i,
        "stride": lambda t, i, size: i * (size // p) + t,
    }
    captions = {"contiguous": "(a) the contiguous access", "stride": "(b) the stride access"}
    steps = n // p
    with sheet(n + 2.0, 2 * (steps + 2.1)) as axes:
        for number, (name, program) in enumerate(PROGRAMS.items()):
            for size in (n, 20):  # the caption's and the text's
                run = mm.DMM(W, 1).run(program, np.arange(size), threads=p, trace=True)
                found = accesses(run, "m", "read")
                papers = [
                    {addresses[name](t, i, size): [i] for i in range(p)} for t in range(size // p)
                ]
                expect(f"threads by address in the {name} access, n = {size}", found, papers)
                if size == n:
                    drawn = found
            labels = [[f"T{step[m][0]}" if m in step else "" for m in range(n)] for step in drawn]
            kinds = [[step[m][0] if m in step else -1 for m in range(n)] for step in drawn]
            cells(
                axes,
                name,
                1.8,
                1.0 + number * (steps + 2.1),
                labels,
                kinds=kinds,
                title="addresses of m",
                caption=captions[name],
                rows=[f"t = {t}" for t in range(steps)],
                columns=[str(m) for m in range(n)],
            )
    return whole(axes)


def figure_4() -> Figure:
    """Two warps' requests take 5 time units on the DMM and 7 on the UMM, w = 4, l = 3."""
    papers = {
        "DMM": (5, [[0, 1, 6], [10], [8, 9, 14, 15]]),
        "UMM": (7, [[0, 1], [6], [10], [8, 9], [14, 15]]),
    }
    runs = {}
    for name, (time, stages) in papers.items():
        machine = {"DMM": mm.DMM, "UMM": mm.UMM}[name](W, 3)
        run = machine.run(smm_figure_4, np.arange(16), threads=8, trace=True)
        computed = [
            sorted(
                address
                for address, own in zip(one.addresses, one.stages, strict=True)
                if own == stage
            )
            for one in run.trace.dispatches
            for stage in range(one.stage_count)
        ]
        expect(f"time units on the {name}", run.time, time)
        expect(f"addresses of each stage on the {name}", computed, stages)
        runs[f"{name}, w = 4, l = 3"] = run
    return requests(runs)


def figure_5() -> Figure:
    """The threads that read a and write b in the diagonal transpose, n = p = 16, w = 4."""
    a = np.arange(W * W).reshape(W, W)
    run = mm.DMM(W, 1).run(diagonal, a, np.zeros_like(a), threads=a.size, trace=True)
    expect("the matrix b", run.arrays["b"], a.T)
    expect("stages of each request", {one.stage_count for one in run.trace.dispatches}, {1})
    read, write = threads_of(run, "a", "read", a.shape), threads_of(run, "b", "write", a.shape)
    j, k = np.divmod(np.arange(a.size), W)
    for name, computed, row, column in (
        ("a", read, k, (j + k) % W),
        ("b", write, (j + k) % W, k),
    ):
        papers = np.empty_like(a)
        papers[row, column] = np.arange(a.size)
        expect(f"threads at the cells of {name}", computed, papers)
    captions = {"a": "(a) read from a", "b": "(b) write to b"}
    return side_by_side(
        [
            Panel(
                name,
                [[f"T{thread}" for thread in row] for row in threads.tolist()],
                threads // W,
                captions[name],
                columns=[f"B[{bank}]" for bank in range(W)],
            )
            for name, threads in (("a", read), ("b", write))
        ]
    )


def figure_6() -> Figure:
    """The rotating transpose of w x w words by w threads: a, the registers, b."""
    a = np.arange(W * W).reshape(W, W)
    run = mm.UMM(W, 1).run(rotating, a, np.zeros_like(a), threads=W, trace=True)
    *_, last = run.trace.cycles()
    registers = np.asarray(last.variables["r"]).T  # a row for each t, a column for each thread
    t, i = np.indices((W, W))
    expect("the registers r_i[t]", registers, a[t, (t + i) % W])
    expect("the matrix b", run.arrays["b"], a.T)
    expect("stages of each request", {one.stage_count for one in run.trace.dispatches}, {1})
    return side_by_side(
        [
            Panel("a", pairs(a, W), threads_of(run, "a", "read", a.shape), "(a) a"),
            Panel(
                "r",
                pairs(registers, W),
                i,
                "(b) the registers",
                rows=[f"r[{row}]" for row in range(W)],
                columns=[f"T{thread}" for thread in range(W)],
            ),
            Panel("b", pairs(run.arrays["b"], W), threads_of(run, "b", "write", a.shape), "(c) b"),
        ],
        ["read", "write"],
    )


def figure_7(w: int = 2, m: int = 3) -> Figure:
    """The local transpose of m x m tiles of w x w words, then the global one, which swaps tiles."""
    side = m * w
    a = np.arange(side * side).reshape(side, side)
    run = mm.UMM(w, 1).run(tiled, a, np.zeros_like(a), w, 1, threads=side, trace=True)
    local, result = contents(run, "b", ["local", "swap"])
    i, j = np.indices(a.shape)
    expect("after the local transpose", local, a[i // w * w + j % w, j // w * w + i % w])
    expect("after the global transpose", result, a.T)
    pair = {(0, 1): 0, (0, 2): 1, (1, 2): 2}

    def kinds(values: np.ndarray) -> list[list[int]]:
        """A kind for each two tiles that change places; the tiles of the diagonal are plain."""
        tiles = ((value // side // w, value % side // w) for value in values.ravel().tolist())
        flat = [pair.get((min(tile), max(tile)), -1) for tile in tiles]
        return [flat[row * side : (row + 1) * side] for row in range(side)]

    captions = ("(a) a", "(b) after the local transpose", "(c) after the global transpose")
    return side_by_side(
        [
            Panel(name, pairs(values, side), kinds(values), caption)
            for name, values, caption in zip("abc", (a, local, result), captions, strict=True)
        ],
        ["", ""],
    )


DRAWINGS = [
    Drawing(
        "SMM-F2",
        "SMM, Figure 2",
        "the contiguous access and the stride access for p = 4 and n = 16",
        figure_2,
        note="drawn for n = 16, as the caption says; the text that refers to it has n = 20",
    ),
    Drawing("SMM-F4", "SMM, Figure 4", "an example of memory access, w = 4, l = 3", figure_4),
    Drawing(
        "SMM-F5",
        "SMM, Figure 5",
        "transposing on the DMM: the threads at each cell, n = p = 16, w = 4",
        figure_5,
    ),
    Drawing(
        "SMM-F6",
        "SMM, Figure 6",
        "transposing of a 2-dimensional array of size w x w on the UMM, w = 4",
        figure_6,
        note="(i,j) is the value that a[i][j] holds at first; a kind of cell is a thread",
    ),
    Drawing(
        "SMM-F7",
        "SMM, Figure 7",
        "transposing on the UMM: local and global transpose",
        figure_7,
        note="the text gives no size: these are 3 x 3 tiles of w x w words, w = 2; tiles of one "
        "kind change places",
    ),
]
