"""The words in which the elements of an array lie."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mmsim as mm
from mmsim.cli import tile_conflicts, trial
from mmsim.errors import RoomError
from mmsim.model.layout import RAP, RAS, RAW, Diagonal, Layout, offsets_of
from mmsim_algorithms import rap
from mmsim_algorithms.rap import higher
from tests.kit.runs.programs import transpose

ROOT = Path(__file__).parents[2]
SEEDS = st.integers(0, 2**32 - 1)


def test_row_major_counts_in_order():
    assert RAW().offsets((2, 3)).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert RAW().offsets((2, 2, 2)).ravel().tolist() == list(range(8))
    assert RAW().offsets((0, 3)).shape == (0, 3)


def test_diagonal_rotates_row_i_by_i():
    assert Diagonal(4).offsets((5, 4)).tolist() == [
        [0, 1, 2, 3],
        [5, 6, 7, 4],
        [10, 11, 8, 9],
        [15, 12, 13, 14],
        [16, 17, 18, 19],
    ]


def test_rap_figure_6():
    offsets = RAP(4, shifts=(2, 0, 3, 1)).offsets((4, 4))
    assert offsets.tolist() == [[2, 3, 0, 1], [4, 5, 6, 7], [11, 8, 9, 10], [13, 14, 15, 12]]
    assert offsets.ravel()[10] == 9


def test_shifts_may_be_given_beyond_the_width():
    assert RAS(3, shifts=(4, -1)).offsets((2, 3)).tolist() == [[1, 2, 0], [5, 3, 4]]


@pytest.mark.parametrize("layout", [RAP(4, seed=1), RAS(4, seed=1), Diagonal(4)], ids=repr)
def test_a_flat_array_lies_like_the_matrix_of_its_rows(layout):
    assert np.array_equal(layout.offsets((16,)), layout.offsets((4, 4)).ravel())


@pytest.mark.parametrize("layout", [RAS(4, seed=1), Diagonal(4)], ids=repr)
def test_higher_dimensions_are_rows_of_the_last_extent(layout):
    assert np.array_equal(layout.offsets((3, 2, 4)).reshape(6, 4), layout.offsets((6, 4)))


@given(st.integers(1, 12), st.integers(0, 9), SEEDS)
def test_every_element_has_a_word_of_its_own(width, rows, seed):
    for layout, shape in [
        (RAW(), (rows, width)),
        (Diagonal(width), (rows, width)),
        (RAS(width, seed), (rows, width)),
        (RAP(width, seed), (width, width)),
    ]:
        offsets = layout.offsets(shape)
        assert (offsets.shape, offsets.dtype) == (shape, np.int64)
        assert sorted(offsets.ravel()) == list(range(math.prod(shape)))
        assert np.array_equal(offsets // width, np.indices(shape)[0])  # rows stay rows


@given(st.integers(1, 12), SEEDS)
def test_rap_has_no_conflict_along_rows_and_columns(width, seed):
    banks = RAP(width, seed).offsets((width, width)) % width
    for line in (*banks, *banks.T):
        assert sorted(line) == list(range(width))


def test_seeds_mean_the_same_everywhere():
    assert RAP(8, seed=0).offsets((8, 8))[:, 0].tolist() == [6, 10, 17, 31, 35, 40, 53, 60]
    assert RAS(8, seed=0).offsets((8, 8))[:, 0].tolist() == [4, 15, 21, 24, 35, 43, 51, 63]
    assert np.array_equal(RAS(8, 3).offsets((8, 8)), RAS(8, 3).offsets((8, 8)))
    assert not np.array_equal(RAS(8, 3).offsets((8, 8)), RAS(8, 4).offsets((8, 8)))
    assert not np.array_equal(RAP(8, 3).offsets((8, 8)), RAP(8, 4).offsets((8, 8)))


def test_numpy_integers_are_integers():
    assert RAP(np.int64(4), np.int64(1)) == RAP(4, 1)
    assert RAS(2, shifts=np.array([1, 0])) == RAS(2, shifts=(1, 0))


def test_a_layout_is_anything_with_offsets():
    class Backwards:
        def offsets(self, shape):
            return np.arange(math.prod(shape))[::-1].reshape(shape)

    assert isinstance(Backwards(), Layout)
    assert offsets_of(Backwards(), (2, 2)).tolist() == [[3, 2], [1, 0]]


@pytest.mark.parametrize(
    ("layout", "time"),
    [
        # a row a warp: w stages; columns: w * w of them, or w under the rotations (RAP Lemma 1)
        (RAW(), 4 + 1 + 16 + 1),
        (Diagonal(4), 4 + 1 + 4 + 1),
        (RAP(4, seed=5), 4 + 1 + 4 + 1),
    ],
    ids=repr,
)
def test_one_program_under_every_layout(layout, time):
    a = np.arange(16).reshape(4, 4)
    run = mm.DMM(4, 2).run(
        transpose, mm.place(a, layout), mm.place(np.zeros_like(a), layout), threads=16
    )
    assert run.arrays["b"].tolist() == a.T.tolist()  # in logical order, whatever the layout
    assert run.time == time


def test_a_placed_array_says_what_it_is():
    placed = mm.place([[1, 2], [3, 4]], mm.layout.Diagonal(2))
    assert repr(placed) == "place(int64 array of shape (2, 2), Diagonal(width=2))"


@pytest.mark.parametrize(("blocks", "words"), [(8, 2**60), (1, 2**63 - 8)])
@pytest.mark.parametrize("machine", [mm.DMM(4, 1), mm.HMM(2, 4, 5)])
def test_shared_arrays_beyond_any_address_have_no_room(machine, blocks, words):
    @mm.program
    def vast(T, a, words):
        s = mm.shared(words)
        s[T.index] = a[T.id]

    with pytest.raises(RoomError, match="more words than can be numbered"):
        machine.run(vast, np.zeros(blocks, int), words, threads=blocks, block_size=1)


def test_only_layouts_are_listed_for_completion():
    listed = dir(mm.layout)
    public = {name for name, value in vars(mm.layout).items() if name[0] != "_"}
    kinds = {name for name in public if isinstance(getattr(mm.layout, name), type)}
    layouts = {name for name in kinds if hasattr(getattr(mm.layout, name), "offsets")}
    assert set(listed) == layouts - {"DrawnLayout", "RowMajor"} | {"cute"}


def test_row_major_order_has_one_name():
    """In code, in what is printed, in tables and options; RowMajor is left for users' programs."""
    assert mm.layout.RowMajor is mm.layout.RAW
    assert str(mm.layout.RAW()) == "RAW()"
    assert set(rap.LAYOUTS) | set(higher.LAYOUTS) | {"diagonal"} == set(trial.LAYOUTS)
    for name in ("RAW", "raw"):
        assert trial.LAYOUTS[trial.layout_name(name)](4, 0) == mm.layout.RAW()
        assert tile_conflicts.layout_of(name, 4) == mm.layout.RAW()
    texts = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for folder in ("mmsim", "algorithms", "docs", "notebooks")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".md", ".py") and "_build" not in path.parts
    }
    assert {path for path, text in texts.items() if "RowMajor" in text} <= {"mmsim/model/layout.py"}
