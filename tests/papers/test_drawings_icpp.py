"""ICPP's figures: they show what the paper's text says, and nothing else can be drawn."""

from dataclasses import replace

import numpy as np
import pytest

import mmsim as mm
from mmsim.claims import ClaimError
from mmsim_algorithms.access.figures import smm_figure_4
from mmsim_algorithms.drawings import icpp_figures
from mmsim_algorithms.hmm_permutation import plan, row_tables
from tests.kit.views.drawn import labels, words

PAIRS = [[f"({i},{j})" for j in range(4)] for i in range(4)]


def test_figure_3_takes_7_and_9_time_units():
    """In five stages and three; two and one of W(1)."""
    above_dmm, above_umm, *below = icpp_figures.figure_3().axes
    assert [axes.get_title() for axes in below] == ["7 time units", "9 time units"]
    rows = {}
    for name, axes in (("DMM", above_dmm), ("UMM", above_umm)):
        assert axes.get_title() == f"{name}, w = 4, l = 5"
        rows[name] = [t.get_text() for t in axes.get_yticklabels() if "stage" in t.get_text()]
    assert [len(rows["DMM"]), len(rows["UMM"])] == [3, 5]
    assert sum(row.startswith("W(1)") for row in rows["UMM"]) == 2


def test_figure_4_has_rows_and_columns_in_different_banks():
    figure = icpp_figures.figure_4()
    assert labels(figure, "a") == PAIRS
    drawn = labels(figure, "alpha")
    assert drawn[1] == ["(1,3)", "(1,0)", "(1,1)", "(1,2)"]  # a[i][j] is at i w + (i + j) mod w
    for bank in zip(*drawn, strict=True):
        assert {label[1] for label in bank} == {label[3] for label in bank} == set("0123")


def test_figure_5_has_4_colours_at_each_node():
    (axes,) = icpp_figures.figure_5().axes
    edges = [line for line in axes.lines if (line.get_gid() or "").startswith("edge-")]
    assert len(edges) == 16
    for end in (0, -1):
        assert len({(line.get_ydata()[end], line.get_color()) for line in edges}) == 16
    assert "B[3] of β" in words(axes.figure)


def test_figure_6_has_every_number_at_its_place_in_the_end():
    figure = icpp_figures.figure_6()
    given, row_wise, column_wise, done = (labels(figure, name) for name in "abcd")
    assert given != PAIRS
    assert sorted(np.ravel(given)) == sorted(np.ravel(PAIRS))
    assert [sorted(row) for row in row_wise] == [sorted(row) for row in given]
    for column in zip(*row_wise, strict=True):
        assert sorted(label[1] for label in column) == list("0123")
    assert [{label[1] for label in row} for row in column_wise] == [{i} for i in "0123"]
    assert done == PAIRS
    assert {"Step 1", "Step 2", "Step 3"} <= set(words(figure))


def without_colours(P, w):
    """Tables that permute each row, but by no colouring: in the order of the words."""
    rows = np.asarray(P)
    return np.broadcast_to(np.arange(rows.shape[1]), rows.shape).copy(), rows


@mm.program
def in_rows(T, a, b, w):
    """The transpose of a tile without the diagonal arrangement: the same result."""
    alpha = mm.shared((w, w))
    i, j = T.index // w, T.index % w
    alpha[i, j] = a[i, j]
    T.barrier()
    b[i, j] = alpha[j, i]


@mm.program
def backwards(T, a, b, w):
    """An arrangement without conflicts, but another: rows rotated the other way."""
    alpha = mm.shared((w, w))
    i, j = T.index // w, T.index % w
    alpha[i, (j - i) % w] = a[i, j]
    T.barrier()
    b[i, j] = alpha[j, (i - j) % w]


def with_steps_exchanged(P, w):
    steps = plan(P, w)
    return replace(steps, first=steps.third, third=steps.first)


def with_a_lazy_first_step(P, w):
    """Step 1 leaves the words where they are: some column then has two of one row."""
    stay = row_tables(np.broadcast_to(np.arange(w), (w, w)), w)
    return replace(plan(P, w), first=stay)


BROKEN = [
    ("icpp_figure_3", smm_figure_4, "figure_3"),
    ("transpose", in_rows, "figure_4"),
    ("transpose", backwards, "figure_4"),
    ("row_tables", without_colours, "figure_5"),
    ("plan", with_steps_exchanged, "figure_6"),
    ("plan", with_a_lazy_first_step, "figure_6"),
]


@pytest.mark.parametrize(("name", "other", "figure"), BROKEN)
def test_another_program_is_not_drawn(monkeypatch, name, other, figure):
    monkeypatch.setattr(icpp_figures, name, other)
    with pytest.raises(ClaimError, match="the run gives"):
        getattr(icpp_figures, figure)()


def test_a_row_that_is_permuted_wrongly_is_not_drawn(monkeypatch):
    def inverted(P, w):
        return row_tables(np.argsort(P, axis=1), w)

    monkeypatch.setattr(icpp_figures, "row_tables", inverted)
    with pytest.raises(ClaimError, match="left a wrong result in 'b'"):
        icpp_figures.figure_5()
