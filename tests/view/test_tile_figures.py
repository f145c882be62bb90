"""Figures of tiles and of their conflicts: what is drawn is what the layout and the rule say."""

import re

import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb

import mmsim as mm
from mmsim import figures
from mmsim.errors import LaunchError, LayoutError
from mmsim.view.figures.conflicts import ALONE, COLLIDES
from mmsim.view.figures.layout import COLUMNS, ROWS, bank_colour

LAYOUTS = {
    "row-major": (mm.layout.RAW(), (5, 7), 32),
    "padded": (mm.layout.Padded(3), (8, 16), 32),
    "columns": (mm.layout.Strided((6, 4), (1, 6)), (6, 4), 32),
    "swizzle": (mm.layout.Swizzle(3, 2, 3), (8, 32), 32),
    "xor": (mm.layout.XorRows(8), (8, 8), 32),
    "RAP": (mm.layout.RAP(4, seed=2), (4, 4), 4),
    "RAS": (mm.layout.RAS(8, seed=2), (3, 8), 8),
    "diagonal": (mm.layout.Diagonal(4), (8, 4), 4),
    "3P": (mm.layout.ThreeP(2, seed=1), (2, 2, 2, 2), 2),
    "one row": (mm.layout.Swizzle(1, 0, 1), (12,), 32),
}


def written(axes):
    """The lines in each cell that has any, by row and column."""
    return {
        tuple(map(int, text.get_gid().split("-")[1:])): text.get_text().split("\n")
        for text in axes.texts
        if (text.get_gid() or "").startswith("cell-")
    }


def framed(axes):
    """The cells that have a frame, by row and column."""
    gids = [patch.get_gid() or "" for patch in axes.patches]
    return {tuple(map(int, gid.split("-")[1:])) for gid in gids if gid.startswith("asked-")}


def shades(axes):
    """The bank of each element by its colour, and whether it is pale."""
    drawn = np.asarray(axes.collections[0].get_array())
    banks = axes.collections[0].cmap.N // 2
    return drawn % banks, drawn >= banks


@pytest.mark.parametrize("name", LAYOUTS)
def test_each_cell_has_the_bank_and_the_offset_of_its_element(name):
    layout, shape, banks = LAYOUTS[name]
    offsets = layout.offsets(shape).reshape(-1, shape[-1])
    axes = layout.plot(shape)
    assert (shades(axes)[0] == offsets % banks).all()
    assert not shades(axes)[1].any()
    lines = written(axes)
    assert set(lines) == set(np.ndindex(offsets.shape))
    for cell, found in lines.items():
        offset = str(offsets[cell])
        assert found == [str(offsets[cell] % banks), *([offset] if shape[-1] <= 16 else [])]
    assert framed(axes) == set()


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_elements_take_their_bytes(size):
    layout = mm.layout.Padded(16 // size)
    axes = layout.plot((3, 16), bytes=size)
    first = layout.offsets((3, 16)) * size // 4
    assert (shades(axes)[0] == first % 32).all()
    lines = written(axes)
    each = max(4 // size, 1)  # elements of one word are one cell
    assert sorted(lines) == [(i, j) for i in range(3) for j in range(0, 16, each)]
    for cell, found in lines.items():
        words = range(first[cell], first[cell] + max(size // 4, 1))
        names = {str(words[0] % 32), f"{words[0] % 32}–{words[-1] % 32}"}
        assert found[0] in names
        assert found[1] == str(layout.offsets((3, 16))[cell])


def test_elements_of_one_word_are_one_cell_only_side_by_side():
    axes = mm.layout.Strided((2, 8), (8, 1)).plot(bytes=1)
    assert set(written(axes)) == {(i, j) for i in (0, 1) for j in (0, 4)}
    axes = mm.layout.Swizzle(1, 0, 1).plot((1, 4), bytes=2)  # 0, 1, 3, 2
    assert written(axes) == {(0, 0): ["0", "0"], (0, 2): ["1", "3"], (0, 3): ["1", "2"]}


def test_threads_of_an_access_stand_in_their_cells():
    axes = mm.layout.Padded(1).plot((8, 8), lambda t, v: (t % 8, v), value=2, threads=12)
    assert framed(axes) == {(row, 2) for row in range(8)}
    banks, pale = shades(axes)
    assert (pale == (np.arange(8) != 2)).all()
    assert banks[3, 5] == (3 * 9 + 5) % 32
    lines = written(axes)
    assert [lines[row, 2][-1] for row in range(8)] == [
        *("T0,8", "T1,9", "T2*", "T3*", "T4", "T5", "T6", "T7")
    ]
    assert lines[0, 3] == ["3", "3"]
    assert axes.get_xlabel() == "column (cells show bank, offset, thread)"


@pytest.mark.parametrize(
    ("layout", "access"),
    [
        ("(16,32):(32,1)", lambda t, v: (t % 16, 4 * (t // 16) + 8 * v)),
        ("(32,16):(1,32)", lambda t, v: (4 * (t % 8), t // 8 + 4 * v)),  # vectors along columns
        ("(32,16):(1,32)", "(32,16):(4,1)"),
    ],
)
def test_vectors_are_framed_wherever_they_lie(layout, access):
    found = mm.conflicts(layout, access, vector=4, values=2)
    axes = figures.layout(layout, None, access, vector=4, value=1)
    offsets = mm.layout.cute(layout).offsets()
    words = {
        word: threads
        for phase in found.requests[1].phases
        for own in phase.words.values()
        for word, threads in own.items()
    }
    assert len(words) == 128
    assert {int(offsets[cell]) for cell in framed(axes)} == set(words)
    lines = written(axes)
    for cell in framed(axes):
        (thread,) = words[int(offsets[cell])]
        assert lines[cell][-1].lstrip("T") == str(thread)


def test_rows_of_matrices_are_framed():
    axes = figures.layout(
        "(8,16):(16,1)", None, lambda t, v: (t, 8), bytes=2, kind="ldmatrix", threads=8
    )
    assert framed(axes) == {(row, column) for row in range(8) for column in range(8, 16, 2)}


def test_threads_that_take_no_part_are_not_drawn():
    axes = mm.layout.RAW().plot((4, 8), lambda t, v: (0, t) if t < 3 else None)
    assert framed(axes) == {(0, 0), (0, 1), (0, 2)}


def test_a_tile_of_many_columns_has_numbers_where_they_fit():
    halves = mm.layout.Swizzle.of_bytes(128, 2).plot((8, 64), bytes=2)
    assert len(written(halves)) == 8 * 32
    assert len(halves.figure.axes) == 1
    floats = mm.layout.RAW().plot((8, 128))
    assert written(floats) == {}
    _, bar = floats.figure.axes  # which colour is which bank
    assert bar.get_xlabel() == "bank"


def test_what_is_left_out_of_a_large_tile_is_said():
    axes = mm.layout.RAW().plot((1000, 300), lambda t, v: (500, t))
    assert shades(axes)[0].shape == (ROWS, COLUMNS) == (128, 256)
    assert axes.get_xlabel() == "column (the first 256 of 300)"
    assert axes.get_ylabel() == "row (the first 128 of 1000)"
    assert framed(axes) == set()
    assert shades(axes)[1].all()


def test_banks_can_be_distinguished():
    colours = {bank_colour(bank, 32) for bank in range(32)}
    assert len(colours) == 32
    assert len({bank_colour(bank, 8) for bank in range(8)}) == 8
    # Four neighbours share a hue: what one of them lacks of white, all lack in the same proportion.
    for first in range(0, 32, 4):
        lacks = [1 - np.array(to_rgb(bank_colour(first + bank, 32))) for bank in range(4)]
        for lack in lacks:
            assert lack / lack.max() == pytest.approx(lacks[0] / lacks[0].max(), abs=0.05)


def test_rows_of_arrays_of_more_dimensions_have_all_their_indices():
    axes = mm.layout.ThreeP(2, seed=1).plot()
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names[:3] == ["0,0,0", "0,0,1", "0,1,0"]


def test_layouts_of_one_s_own_are_drawn():
    class Backwards:
        def offsets(self, shape):
            return np.arange(np.prod(shape))[::-1].reshape(shape)

    axes = figures.layout(Backwards(), (2, 4), banks=4)
    assert written(axes)[0, 0] == ["3", "7"]
    with pytest.raises(LayoutError, match="holds tiles of any shape; say which"):
        figures.layout(Backwards())


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"shape": (4, 0)}, "has no elements to draw"),
        ({"bytes": 3}, "an element has 1, 2, 4, 8 or 16 bytes, not 3"),
        ({"banks": 0}, "banks"),
        ({"access": "(4,2):(1,4)", "value": 2}, "a thread has 2 values, counted from 0, so none"),
        ({"access": lambda t, v: (9, 9)}, "index 0 of the element"),
        ({"access": lambda t, v: (0, 1), "vector": 2}, "is not an aligned vector"),
    ],
)
def test_what_can_not_be_drawn(how, words):
    with pytest.raises(mm.MMSimError, match=re.escape(words)):
        mm.layout.RAW().plot(**{"shape": (4, 4), **how})


def words_drawn(axes):
    """Of each cell of words: phase, bank and row of it, its thread's text and its colour."""
    found = {}
    for patch in axes.patches:
        phase, bank, row = map(int, patch.get_gid().split("-")[1:])
        x, y = patch.get_xy()
        assert x == bank
        (text,) = [
            text.get_text() for text in axes.texts if text.get_position() == (x + 0.5, y + 0.53)
        ]
        found[phase, bank, row] = (text, to_hex(patch.get_facecolor()).upper())
    return found


def counts_drawn(axes):
    return {
        tuple(map(int, text.get_gid().split("-")[1:])): text.get_text()
        for text in axes.texts
        if (text.get_gid() or "").startswith("count-")
    }


ASKED = {
    "free": mm.conflicts("(32,32):(32,1)", lambda t, v: (v, t), values=2),
    "columns": mm.conflicts("(32,32):(32,1)", lambda t, v: (t, v)),
    "pairs": mm.conflicts("(32,32):(32,1)", lambda t, v: (t % 4, t // 8)),
    "vectors": mm.conflicts("(32,64):(64,1)", lambda t, v: (t, 0), vector=4),
    "matrices": mm.conflicts(
        "(32,8):(8,1)", lambda t, v: (t, 0), bytes=2, kind="ldmatrix", threads=32
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_words_stand_below_their_banks_with_their_threads(name):
    found = ASKED[name]
    axes = found.plot()
    drawn, counts = words_drawn(axes), counts_drawn(axes)
    expected = {}
    for number, phase in enumerate(found.requests[0].phases):
        for bank, words in phase.words.items():
            colour = COLLIDES if len(words) > 1 else ALONE
            for row, (_, threads) in enumerate(sorted(words.items())):
                text = f"{min(threads)}{'*' if len(threads) > 1 else ''}"
                expected[number, bank, row] = (text, colour)
    assert drawn == expected
    assert counts == {
        (phase, bank): f"×{len(words)}" for _, phase, bank, words in found.collisions() if _ == 0
    }
    stages = found.requests[0].stages
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert len(labels) == stages
    assert sum(label.startswith("phase") for label in labels) == len(found.requests[0].phases)
    assert f"{stages} stage" in axes.get_xlabel()


def test_the_worst_request_is_drawn_unless_one_is_chosen():
    found = mm.conflicts("(32,32):(32,1)", lambda t, v: (t % (v + 1), t), values=4)
    worst = mm.conflicts("(32,32):(32,1)", lambda t, v: (t * v, 0), values=2)
    assert "value 1, 32 stages, 1 at best" in worst.plot().get_xlabel()
    assert "value 0, 1 stage, 1 at best" in worst.plot(0).get_xlabel()
    assert "value 0, 1 stage" in found.plot().get_xlabel()
    with pytest.raises(mm.MMSimError, match="no thread has a value 2 in this access"):
        worst.plot(2)
    idle = mm.conflicts("(32,32):(32,1)", lambda t, v: None)
    with pytest.raises(mm.MMSimError, match="no thread takes part"):
        idle.plot()
    with pytest.raises(LaunchError, match="found, not of 3"):
        figures.conflicts(3)


def test_atomic_operations_come_one_thread_after_the_other():
    found = mm.conflicts("(32,32):(32,1)", lambda t, v: (0, t // 4), kind="atomic")
    axes = found.plot()
    assert {key: text for key, (text, _) in words_drawn(axes).items()} == {
        (0, t // 4, t % 4): str(t) for t in range(32)
    }
    assert counts_drawn(axes) == {}
    swap = mm.conflicts("(32,32):(32,1)", lambda t, v: (t % 2, 0), kind="cas", threads=4)
    labels = [label.get_text() for label in swap.plot().get_yticklabels()]
    assert labels == ["phase 0, stages 0–1", "stages 2–3", "stages 4–5", "stages 6–7"]
    assert counts_drawn(swap.plot()) == {(0, 0): "×4"}
