"""The figures of RAP: accesses to a matrix and their congestion, transposes, and the layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim.claims import correct
from mmsim.claims.printed import Drawing
from mmsim.results.rows import Kind
from mmsim.view.figures.paper import PAGE, STYLE
from mmsim_algorithms.access.figures import one_cell
from mmsim_algorithms.drawings.cells import arrow, cells, sheet, whole
from mmsim_algorithms.drawings.icpp_figures import two_warps
from mmsim_algorithms.drawings.panels import Panel, side_by_side
from mmsim_algorithms.drawings.requests import requests
from mmsim_algorithms.drawings.traced import expect, threads_of
from mmsim_algorithms.rap import cuda
from mmsim_algorithms.rap.programs import ACCESSES, IN_PLACE, contiguous, diagonal, matrix, stride

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Integers = npt.NDArray[np.int64]

W = 4
"""The width in Figures 2 to 6."""

BANKS = [f"B[{bank}]" for bank in range(W)]

FIGURE_4 = {
    "contiguous": np.array([[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]),
    "stride": np.array([[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]]),
    "diagonal": np.array([[0, 4, 8, 12], [13, 1, 5, 9], [10, 14, 2, 6], [7, 11, 15, 3]]),
}
"""The thread that accesses each element, as the paper prints it, and the names of the accesses."""

FIGURE_5 = {
    "CRSW": ("contiguous", "stride"),
    "SRCW": ("stride", "contiguous"),
    "DRDW": ("diagonal", "diagonal"),
}
"""The reads and the writes of each transpose, by its name."""

CONGESTION = {"contiguous": 1, "stride": W, "diagonal": 1}
"""Of a warp, by section III for w = 4."""

R = (2, 0, 3, 1)
SHIFTED = np.array([[2, 3, 0, 1], [4, 5, 6, 7], [9, 10, 11, 8], [15, 12, 13, 14]])
"""Figure 6: the shifts, and the elements in the memory as the paper prints them."""


def figure_2() -> Figure:
    """RAP Figure 2: requests to distinct banks, to one bank, and to one address.

    The paper's text says only this, and that (3) is m[5]. (1) is the first warp of the diagonal
    access, (2) the second warp of the stride access.
    """
    machine = mm.DMM(W, 1)
    chosen = [
        (machine.run(diagonal, matrix(W), threads=W * W, trace=True), 0, 1),
        (machine.run(stride, matrix(W), threads=W * W, trace=True), 1, W),
        (machine.run(one_cell, matrix(W).ravel(), 5, threads=W, trace=True), 0, 1),
    ]
    distinct, one_bank, one_address = (run.trace.dispatches[number] for run, number, _ in chosen)
    expect("banks of (1)", sorted(distinct.places), list(range(W)))
    expect("banks of (2)", one_bank.places, (1,) * W)
    expect("addresses of (2), each different", len(set(one_bank.addresses)), W)
    expect("addresses of (3)", one_address.addresses, (5,) * W)
    return _side_by_side(chosen)


def _side_by_side(chosen: list[tuple[mm.Run, int, int]]) -> Figure:
    """One request of each run with its congestion, checked against the paper's."""
    import matplotlib

    from mmsim.view.figures.notebook import Figure as Shown

    with matplotlib.rc_context(STYLE):
        figure = Shown(figsize=(PAGE, 3.2), layout="constrained")
        parts = figure.subplots(1, len(chosen))
        for part, (axes, (run, number, papers)) in enumerate(zip(parts, chosen, strict=True), 1):
            congestion = run.trace.dispatches[number].stage_count
            expect(f"congestion of ({part})", congestion, papers)
            mm.figures.access(run, number, axes=axes)
            axes.set_title(f"({part}) congestion {congestion}")
        deepest = max(axes.get_ylim()[0] for axes in parts)
        for axes in parts:  # so that cells are of one height
            axes.set_ylim(deepest, axes.get_ylim()[1])
    return figure


def figure_3() -> Figure:
    """RAP Figure 3: the requests of two warps on the DMM with w = 4 and l = 5."""
    return requests({"DMM, w = 4, l = 5": two_warps(mm.DMM(W, 5), [2, 1], 3 + 5 - 1)})


def figure_4() -> Figure:
    """RAP Figure 4: which thread accesses which element of a matrix of size 4 x 4."""
    panels = []
    for letter, name in zip("abc", FIGURE_4, strict=True):
        run = mm.DMM(W, 1).run(ACCESSES[name], matrix(W), threads=W * W, trace=True)
        threads = _threads(run, "read", name)
        caption = f"({letter}) {name} access"
        panels.append(Panel(name, threads, threads // W, caption, columns=BANKS))
    return side_by_side(panels)


def figure_5() -> Figure:
    """RAP Figure 5: which thread reads and which writes each element in the three transposes."""
    with sheet(11.4, 17.1) as axes:
        for place, (name, (read, write)) in enumerate(FIGURE_5.items()):
            a = matrix(W)
            run = mm.DMM(W, 1).run(IN_PLACE[name], a, threads=W * W, trace=True)
            correct(run, a=a.T)
            top = 0.7 + 5.8 * place
            reading = _threads(run, "read", read, transposed=name == "DRDW")
            _matrix(axes, f"{name}-read", 0.5, top, reading, f"{read} read")
            writing = _threads(run, "write", write)
            _matrix(axes, f"{name}-write", 6.9, top, writing, f"{write} write")
            arrow(axes, (4.8, top + 2), (6.6, top + 2), name)
    return whole(axes)


def _threads(run: mm.Run, kind: Kind, name: str, transposed: bool = False) -> Integers:
    """The thread that accesses each element, checked against Figure 4."""
    threads = threads_of(run, "a", kind, (W, W))
    papers = FIGURE_4[name]
    expect(f"threads of the {name} access", threads, papers.T if transposed else papers)
    stages = [one.stage_count for one in run.trace.dispatches if one.kind == kind]
    expect(f"congestion of the {name} access", stages, [CONGESTION[name]] * W)
    return threads


def _matrix(
    axes: Axes, name: str, left: float, top: float, threads: Integers, caption: str
) -> None:
    """A matrix with the thread of each element; the threads of a warp have one colour and hatch."""
    cells(axes, name, left, top, threads, kinds=threads // W, caption=caption, columns=BANKS)


def figure_6() -> Figure:
    """RAP Figure 6: the elements of a matrix, and their places with r = (2, 0, 3, 1)."""
    a = mm.place(matrix(W), mm.layout.RAP(W, shifts=R))
    run = mm.DMM(W, 1).run(contiguous, a, threads=W * W, trace=True)
    address = np.full(W * W, -1)  # of each element
    for one in run.trace.dispatches:
        address[list(one.elements)] = one.addresses
    expect("addresses, each of one element", np.sort(address), np.arange(W * W))
    element = np.argsort(address).reshape(W, W)  # at each address
    expect("the elements in the memory", element, SHIFTED)
    expect("address and bank of a[10]", (address[10], address[10] % W), (9, 1))
    for program in (contiguous, stride):
        again = mm.DMM(W, 1).run(program, a, threads=W * W)
        expect(f"stages of the {program.name} access, one for each warp", again.stages, W)

    shifts = address[::W] % W
    expect("the shifts", shifts, np.array(R))
    with sheet(12.6, 5.4) as axes:
        cells(axes, "r", 0.1, 0.65, shifts[:, None], columns=["r"])
        rows = matrix(W) // W
        cells(axes, "a", 1.6, 0.65, matrix(W), kinds=rows, caption="(a) elements")
        arrow(axes, (5.8, 2.65), (8.2, 2.65), "address shift")
        caption = "(b) the words of the memory"
        cells(axes, "m", 8.4, 0.65, element, kinds=element // W, caption=caption, columns=BANKS)
    return whole(axes)


FIELDS, BITS = 6, 5
"""Numbers in a register, and bits of a number."""


def figure_7() -> Figure:
    """RAP Figure 7: the bits of each random number in the registers r[0], ..., r[5].

    With r_i = i the value of each field is its number. The registers belong to the first warp of
    the paper's CUDA (as corrected) when it ends; its thread j uses r_j to write.
    """
    a = cuda.rotated(matrix(32), np.arange(32))
    arguments = (a, np.zeros_like(a), cuda.pack(range(32)))
    run = mm.DMM(32, 1).run(cuda.cuda_corrected, *arguments, threads=32, trace=True)
    [write] = [one for one in run.trace.dispatches if one.kind == "write"]
    used = [element % 32 for element in write.elements]
    expect("the numbers that threads 0, 1, ... use", used, list(range(32)))
    *_, last = run.trace.cycles()
    registers = np.asarray(last.thread(0)["r"])
    shown = [[""] * (FIELDS + 1) for _ in registers]
    for i in range(32):
        register, field = divmod(i, FIELDS)
        value = int(registers[register]) >> BITS * field & (1 << BITS) - 1
        expect(f"bits {BITS * field} to {BITS * field + BITS - 1} of r[{register}]", value, i)
        shown[register][FIELDS - field] = f"r{value}"
    expect("bits 30 and 31", {int(one) >> BITS * FIELDS for one in registers}, {0})
    names = [f"{BITS * field + BITS - 1}–{BITS * field}" for field in reversed(range(FIELDS))]
    kinds = [[-1 if not label else 0 for label in row] for row in shown]
    with sheet(8.8, 7.4) as axes:
        cells(
            axes,
            "r",
            1.6,
            1.2,
            shown,
            kinds=kinds,
            rows=[f"r[{register}]" for register in range(len(registers))],
            columns=["31–30", *names],
            title="bits",
        )
    return whole(axes)


DRAWINGS = [
    Drawing(
        "RAP-F2",
        "RAP, Figure 2",
        "examples of memory access and the congestion for w = 4",
        figure_2,
        note="the text names the address of (3) only; (1) is a warp of the diagonal access, "
        "(2) one of the stride access",
    ),
    Drawing("RAP-F3", "RAP, Figure 3", "requests of two warps on the DMM, w = 4, l = 5", figure_3),
    Drawing(
        "RAP-F4",
        "RAP, Figure 4",
        "the contiguous, the stride and the diagonal access for w = 4, by threads",
        figure_4,
    ),
    Drawing(
        "RAP-F5",
        "RAP, Figure 5",
        "the three transposes for w = 4: the thread that reads, and that writes, each element",
        figure_5,
    ),
    Drawing(
        "RAP-F6",
        "RAP, Figure 6",
        "the random address permute-shift with r = (2, 0, 3, 1)",
        figure_6,
    ),
    Drawing(
        "RAP-F7",
        "RAP, Figure 7",
        "the random numbers r_0, ..., r_31 in the registers r[0], ..., r[5]",
        figure_7,
    ),
]
