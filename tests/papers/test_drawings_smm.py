"""SMM's figures: they show what the paper's text says, and nothing else can be drawn."""

import dataclasses
import itertools

import numpy as np
import pytest

import mmsim as mm
from mmsim.claims import ClaimError
from mmsim_algorithms.access.figures import icpp_figure_3
from mmsim_algorithms.access.programs import contiguous, stride
from mmsim_algorithms.drawings import bank_figures, smm_figures, smm_permutation_figures
from mmsim_algorithms.drawings.cells import cells, sheet
from mmsim_algorithms.drawings.traced import contents, threads_of
from mmsim_algorithms.transpose.dmm import straightforward
from mmsim_algorithms.transpose.umm import direct, local
from tests.kit.views.drawn import labels, words

PAIRS = [[f"({i},{j})" for j in range(4)] for i in range(4)]
TRANSPOSED = [list(row) for row in zip(*PAIRS, strict=True)]


def test_figure_2_has_the_paper_s_addresses():
    """At t = 0: m[0], m[1], m[2], m[3]; in the stride access every n/p-th, n = 16."""
    figure = smm_figures.figure_2()
    contiguous_, stride_ = labels(figure, "contiguous"), labels(figure, "stride")
    assert [m for m in range(16) if contiguous_[0][m]] == [0, 1, 2, 3]
    assert [m for m in range(16) if stride_[0][m]] == [0, 4, 8, 12]
    for drawn in (contiguous_, stride_):
        for row in drawn:
            assert [label for label in row if label] == ["T0", "T1", "T2", "T3"]
        assert all(sum(bool(row[m]) for row in drawn) == 1 for m in range(16))


def test_figure_4_takes_5_and_7_time_units():
    titles = [axes.get_title() for axes in smm_figures.figure_4().axes]
    assert titles == ["DMM, w = 4, l = 3", "UMM, w = 4, l = 3", "5 time units", "7 time units"]


def test_figure_5_has_threads_on_diagonals():
    figure = smm_figures.figure_5()
    read, write = labels(figure, "a"), labels(figure, "b")
    for warp in range(4):
        threads = [f"T{4 * warp + k}" for k in range(4)]
        assert [read[k][(warp + k) % 4] for k in range(4)] == threads
        assert [write[(warp + k) % 4][k] for k in range(4)] == threads


def test_figure_6_goes_through_registers():
    figure = smm_figures.figure_6()
    assert labels(figure, "a") == PAIRS
    assert labels(figure, "r") == [
        ["(0,0)", "(0,1)", "(0,2)", "(0,3)"],
        ["(1,1)", "(1,2)", "(1,3)", "(1,0)"],
        ["(2,2)", "(2,3)", "(2,0)", "(2,1)"],
        ["(3,3)", "(3,0)", "(3,1)", "(3,2)"],
    ]
    assert labels(figure, "b") == TRANSPOSED


def test_figure_7_transposes_tiles_then_swaps_them():
    figure = smm_figures.figure_7()
    first, local_, last = (labels(figure, name) for name in "abc")
    assert [row[2:4] for row in first[:2]] == [["(0,2)", "(0,3)"], ["(1,2)", "(1,3)"]]
    assert [row[2:4] for row in local_[:2]] == [["(0,2)", "(1,2)"], ["(0,3)", "(1,3)"]]
    assert [row[:2] for row in last[2:4]] == [["(0,2)", "(1,2)"], ["(0,3)", "(1,3)"]]


def test_figure_8_is_a_colouring_with_4_colours():
    (axes,) = smm_permutation_figures.figure_8().axes
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == [f"colour {colour}" for colour in range(4)]
    edges = [line for line in axes.lines if (line.get_gid() or "").startswith("edge-")]
    assert len(edges) == 16
    for end in (0, -1):
        at_nodes = {(line.get_ydata()[end], line.get_color()) for line in edges}
        assert len(at_nodes) == 16


def test_figures_9_to_11_end_with_every_word_at_its_place():
    for figure, last in (
        (smm_permutation_figures.figure_9(), "b"),
        (smm_permutation_figures.figure_10(), "d"),
    ):
        assert labels(figure, last) == PAIRS
        assert labels(figure, "a") != PAIRS
    figure = smm_permutation_figures.figure_10()
    assert labels(figure, "b") == [list(row) for row in zip(*labels(figure, "a"), strict=True)]
    assert labels(figure, "c") == TRANSPOSED


def test_figure_11_moves_colours_to_columns_then_to_rows():
    figure = smm_permutation_figures.figure_11()
    first, second, third, last = (
        [[label.split("\n") for label in row] for row in labels(figure, name)] for name in "abcd"
    )
    assert all({colour for _, colour in row} == set("0123") for row in first)
    assert [[colour for _, colour in row] for row in second] == [list("0123")] * 4
    assert [{place[1] for place, _ in row} for row in third] == [{"0"}, {"1"}, {"2"}, {"3"}]
    assert [[place for place, _ in row] for row in last] == PAIRS
    assert words(figure).count("Step 2") == 1


def test_cfp_figure_2_has_a_bank_in_a_column():
    drawn = labels(bank_figures.figure_2(), "m")
    assert [row[2] for row in drawn] == ["m[2]", "m[6]", "m[10]", "m[14]"]


@mm.program
def not_rotating(T, a, b):
    """A transpose through registers whose reads are not rotated: the same result."""
    w, i = a.shape[0], T.id
    r = mm.registers(w)
    for t in range(w):
        r[t] = a[t, i]
    for t in range(w):
        b[i, t] = r[t]


@mm.program
def one_row_down(T, a, b, d):
    """A row-wise permutation that writes each row one too low."""
    w = a.shape[1]
    for x in range(T.id, a.size, T.count):
        i, j = x // w, x % w
        b[(i + 1) % w, d[i, j]] = a[i, j]


@mm.program
def in_order(T, a, b, s, d):
    """The words in their own order, not in that of the colouring: the same result for some."""
    i = T.id
    b[i % 4 * 4 + i // 4] = a[i]
    s[i]
    d[i]


@mm.program
def nothing_moves(T, a, b, first, second, third):
    """Three tables and no step."""
    b[T.id, 0] = a[T.id, 0]


@mm.program
def every_other(T, m):
    """Reads words of even addresses only."""
    m[T.id // 2 * 2]


BROKEN = [
    (smm_figures, "PROGRAMS", {"contiguous": stride, "stride": contiguous}, "figure_2"),
    (smm_figures, "PROGRAMS", {"contiguous": contiguous, "stride": contiguous}, "figure_2"),
    (smm_figures, "smm_figure_4", icpp_figure_3, "figure_4"),
    (smm_figures, "diagonal", straightforward, "figure_5"),
    (smm_figures, "rotating", not_rotating, "figure_6"),
    (smm_figures, "tiled", direct, "figure_7"),
    (smm_figures, "tiled", local, "figure_7"),
    (smm_permutation_figures, "conflict_free", in_order, "figure_8"),
    (smm_permutation_figures, "row_wise", one_row_down, "figure_9"),
    (smm_permutation_figures, "column_wise", one_row_down, "figure_10"),
    (smm_permutation_figures, "permutation", nothing_moves, "figure_11"),
    (bank_figures, "contiguous", every_other, "figure_2"),
]


@pytest.mark.parametrize(("module", "name", "other", "figure"), BROKEN)
def test_another_program_is_not_drawn(monkeypatch, module, name, other, figure):
    monkeypatch.setattr(module, name, other)
    with pytest.raises(ClaimError, match="the run gives"):
        getattr(module, figure)()


@pytest.mark.parametrize(
    ("module", "figure"),
    [
        (smm_figures, "figure_4"),
        (smm_figures, "figure_5"),
        (smm_figures, "figure_6"),
        (smm_permutation_figures, "figure_8"),
    ],
)
def test_wrong_stages_are_not_drawn(monkeypatch, module, figure):
    """A machine that counts a stage too many for each request."""
    for machine in (mm.DMM, mm.UMM):
        real = machine.run

        def longer(self, *arguments, real=real, **options):
            run = real(self, *arguments, **options)
            run.trace.made().__dict__["dispatches"] = tuple(
                dataclasses.replace(one, stages=tuple(stage + 1 for stage in one.stages))
                for one in run.trace.dispatches
            )
            return run

        monkeypatch.setattr(machine, "run", longer)
    with pytest.raises(ClaimError, match="stage"):
        getattr(module, figure)()


def test_a_cell_that_two_threads_read_is_not_drawn():
    @mm.program
    def twice(T, a):
        a[T.id // 2]

    run = mm.DMM(2, 1).run(twice, np.arange(4), threads=4, trace=True)
    with pytest.raises(ClaimError, match="with one read each"):
        threads_of(run, "a", "read", (2, 2))


def test_steps_that_a_run_lacks_are_not_drawn():
    case = contiguous.prepare(width=2, size=4)
    run = mm.DMM(2, 1).run(contiguous, *case.arguments, threads=2, trace=True)
    with pytest.raises(ClaimError, match=r"the steps: the run gives \['contiguous'\]"):
        contents(run, "m", ["stride"])


def test_kinds_differ_in_colour_and_in_hatch():
    with sheet(7, 1) as axes:
        cells(axes, "a", 0, 0, [[""] * 7], kinds=[range(7)])
    looks = [(patch.get_facecolor(), patch.get_hatch()) for patch in axes.patches]
    for number in (0, 1):
        assert len({look[number] for look in looks}) == 7
    assert all(patch.get_facecolor()[3] == 1 for patch in axes.patches)


def test_neighbouring_panels_do_not_touch():
    for figure in (smm_figures.figure_7(), smm_permutation_figures.figure_11()):
        (axes,) = figure.axes
        columns = sorted({patch.get_x() for patch in axes.patches if hasattr(patch, "get_x")})
        steps = {round(after - before, 6) for before, after in itertools.pairwise(columns)}
        assert min(steps) == 1
        assert max(steps) > 1.9
