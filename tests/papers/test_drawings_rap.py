"""RAP's figures: they show what the paper prints and says, and nothing else can be drawn."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.claims import ClaimError
from mmsim_algorithms.access.figures import smm_figure_4
from mmsim_algorithms.drawings import icpp_figures, rap_figures
from mmsim_algorithms.rap import cuda, programs
from tests.kit.views.drawn import labels


def numbers(figure, name):
    return [[int(label) for label in row] for row in labels(figure, name)]


def gids(axes, beginning):
    return {p.get_gid() for p in axes.patches if (p.get_gid() or "").startswith(beginning)}


def test_figure_2_has_congestions_1_4_and_1():
    parts = rap_figures.figure_2().axes
    titles = ["(1) congestion 1", "(2) congestion 4", "(3) congestion 1"]
    assert [axes.get_title() for axes in parts] == titles
    assert [len(gids(axes, "stage-")) for axes in parts] == [4, 4, 1]
    assert gids(parts[1], "stage-") == {f"stage-1-{k}-{4 * k + 1}" for k in range(4)}  # bank 1
    assert gids(parts[2], "stage-") == {"stage-0-0-5"}


def test_figure_3_takes_7_time_units():
    above, below = rap_figures.figure_3().axes
    assert below.get_title() == "7 time units"
    rows = [label.get_text() for label in above.get_yticklabels()]
    assert rows[-3:] == ["W(0), stage 1", "W(0), stage 2", "W(1), stage 1"]
    assert gids(above, "stage-0-1") == {"stage-0-1-15"}  # m[7] and m[15] are in bank 3


def test_figure_4_is_as_printed():
    figure = rap_figures.figure_4()
    assert numbers(figure, "contiguous") == np.arange(16).reshape(4, 4).tolist()
    assert numbers(figure, "stride") == np.arange(16).reshape(4, 4).T.tolist()
    printed = [[0, 4, 8, 12], [13, 1, 5, 9], [10, 14, 2, 6], [7, 11, 15, 3]]
    assert numbers(figure, "diagonal") == printed


def test_figure_5_moves_each_element_to_its_place():
    """The thread that reads a[i][j] is the one that writes a[j][i]."""
    figure = rap_figures.figure_5()
    for name in ("CRSW", "SRCW", "DRDW"):
        read, write = (np.array(numbers(figure, f"{name}-{kind}")) for kind in ("read", "write"))
        assert (read == write.T).all()
    assert numbers(figure, "CRSW-read") == numbers(figure, "SRCW-write")
    assert numbers(figure, "CRSW-read")[0] == [0, 1, 2, 3]
    assert numbers(figure, "DRDW-write") == numbers(rap_figures.figure_4(), "diagonal")


def test_figure_6_is_as_printed():
    figure = rap_figures.figure_6()
    assert numbers(figure, "r") == [[2], [0], [3], [1]]
    memory = numbers(figure, "m")
    assert memory == [[2, 3, 0, 1], [4, 5, 6, 7], [9, 10, 11, 8], [15, 12, 13, 14]]
    assert np.ravel(memory)[9] == 10  # a[10] is mapped to a[9]


def test_figure_7_is_as_printed():
    drawn = labels(rap_figures.figure_7(), "r")
    assert drawn[0] == ["", "r5", "r4", "r3", "r2", "r1", "r0"]
    assert drawn[5] == ["", "", "", "", "", "r31", "r30"]
    assert [row[6] for row in drawn] == [f"r{6 * k}" for k in range(6)]


def packed_the_other_way(shifts):
    """Six to a register, the first highest."""
    packed = np.zeros(6, dtype=np.int64)
    for i, shift in enumerate(shifts):
        packed[i // 6] |= shift << (5 * (5 - i % 6))
    return packed


@mm.program
def fields_of_6_bits(T, a, b, packed):
    """The paper's CUDA, which takes its numbers from the wrong bits."""
    r = mm.registers(6)
    for n in range(6):
        r[n] = packed[n]
    i, j = T.id // 32, T.id % 32
    b[j, (i + (r[j // 6] >> (6 * (j % 6)))) & 31] = a[i, (j + (r[i // 6] >> (6 * (i % 6)))) & 31]


BROKEN = [
    (rap_figures, "diagonal", programs.stride, "figure_2"),
    (rap_figures, "stride", programs.contiguous, "figure_2"),
    (icpp_figures, "icpp_figure_3", smm_figure_4, "figure_3"),
    (rap_figures, "ACCESSES", programs.ACCESSES | {"stride": programs.diagonal}, "figure_4"),
    (
        rap_figures,
        "ACCESSES",
        programs.ACCESSES | {"diagonal": programs.diagonal_transposed},
        "figure_4",
    ),
    (rap_figures, "IN_PLACE", programs.IN_PLACE | {"CRSW": programs.srcw}, "figure_5"),
    (rap_figures, "IN_PLACE", programs.IN_PLACE | {"DRDW": programs.crsw}, "figure_5"),
    (rap_figures, "R", (2, 0, 1, 3), "figure_6"),
    (rap_figures, "contiguous", programs.diagonal, "figure_6"),
    (cuda, "pack", packed_the_other_way, "figure_7"),
    (cuda, "cuda_corrected", fields_of_6_bits, "figure_7"),
]


@pytest.mark.parametrize(("module", "name", "other", "figure"), BROKEN)
def test_another_program_is_not_drawn(monkeypatch, module, name, other, figure):
    monkeypatch.setattr(module, name, other)
    with pytest.raises(ClaimError, match="the run gives"):
        getattr(rap_figures, figure)()


def test_a_transpose_that_leaves_a_wrong_matrix_is_not_drawn(monkeypatch):
    """It reads and writes where it should, and writes something else."""

    @mm.program
    def crsw_plus_one(T, a):
        w = a.shape[0]
        i, j = T.id // w, T.id % w
        a[j, i] = a[i, j] + 1

    monkeypatch.setitem(rap_figures.IN_PLACE, "CRSW", crsw_plus_one)
    with pytest.raises(ClaimError, match="left a wrong result in 'a'"):
        rap_figures.figure_5()
