"""RAP for arrays of four dimensions (RAP section VII)."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mmsim as mm
from mmsim.errors import LayoutError
from mmsim.model.layout import R1P, W2P, OneP, OnePW2R, ThreeP, offsets_of

HIGHER = (OneP, R1P, ThreeP, W2P, OnePW2R)
SEEDS = st.integers(0, 2**32 - 1)


def by_the_paper(layout, r, i, j, k):
    """f(i, j, k) as section VII writes it, one row at a time, r being the random numbers."""
    w = layout.width
    match layout:
        case OneP():
            return r[k]
        case R1P():
            return r[i] + r[j] + r[k]
        case ThreeP():
            return r[i] + r[w:][j] + r[2 * w :][k]
        case W2P():
            return r[w * (i * w + j) :][k]
        case OnePW2R():
            return r[w:][i * w + j] + r[k]


@pytest.mark.parametrize("kind", HIGHER)
@settings(max_examples=20)
@given(w=st.integers(1, 4), seed=SEEDS)
def test_every_row_is_rotated_as_the_paper_says(kind, w, seed):
    layout = kind(w, seed)
    offsets, r = offsets_of(layout, (w, w, w, w)), layout.draw().tolist()
    for i, j, k, l in product(range(w), repeat=4):
        row = (i * w + j) * w + k
        assert offsets[i, j, k, l] == row * w + (l + by_the_paper(layout, r, i, j, k)) % w


@pytest.mark.parametrize("kind", HIGHER)
def test_numbers_is_how_many_are_drawn(kind):
    for w in (1, 2, 5, 8):
        assert len(kind(w, 3).draw()) == kind(w, 3).numbers
        assert set(kind(w, 3).draw()) <= set(range(w))


def test_the_last_row_of_table_iv():
    w = 8
    assert [kind(w).numbers for kind in HIGHER] == [w, w, 3 * w, w**3, w**2 + w]


@pytest.mark.parametrize(("kind", "drawn"), [(OneP, 1), (R1P, 1), (ThreeP, 3), (W2P, 36)])
def test_permutations_are_permutations(kind, drawn):
    numbers = kind(6, seed=2).draw().reshape(drawn, 6)
    for permutation in numbers:
        assert sorted(permutation) == list(range(6))
    assert len({tuple(permutation) for permutation in numbers}) > 0.8 * drawn


def test_many_layouts_together():
    """`f` takes the numbers of many layouts, one in each row."""
    i, j, k = np.indices((3, 3, 3)).reshape(3, 27)
    for kind in HIGHER:
        layouts = [kind(3, seed) for seed in range(4)]
        together = layouts[0].f(np.array([layout.draw() for layout in layouts]), i, j, k)
        assert together.tolist() == [
            layout.f(layout.draw(), i, j, k).tolist() for layout in layouts
        ]


@pytest.mark.parametrize("kind", HIGHER)
def test_the_shape_may_hide_the_extents_but_not_the_rows(kind):
    layout = kind(3, seed=1)
    full = layout.offsets((3, 3, 3, 3))
    for shape in ((81,), (27, 3), (9, 3, 3), (3, 9, 3)):
        assert np.array_equal(layout.offsets(shape).ravel(), full.ravel())


@pytest.mark.parametrize("kind", HIGHER)
@pytest.mark.parametrize("shape", [(3, 3), (3, 3, 3), (2, 3, 3, 3), (3, 3, 3, 4), (3,) * 5, (80,)])
def test_shapes_it_cannot_hold_are_refused(kind, shape):
    with pytest.raises(LayoutError, match=r"can't hold") as error:
        mm.place(np.zeros(shape), kind(3))
    assert kind.paper_name in str(error.value)


@pytest.mark.parametrize("kind", HIGHER)
def test_frozen_comparable_printable_and_checked(kind):
    assert kind(4, 1) == kind(np.int64(4), np.int64(1)) != kind(4, 2)
    assert len({kind(4, 1), kind(4, 1), kind(4, 2)}) == 2
    assert repr(kind(4, seed=1)) == f"{kind.__name__}(width=4, seed=1)"
    assert str(kind(4, seed=1)) == f"{kind.paper_name}(width=4, seed=1)"
    assert kind.paper_name in kind.__doc__
    with pytest.raises(AttributeError):
        kind(4).seed = 3
    for arguments in ((0,), (2.5,), (4, -1), (4, 2**32), (4, "one")):
        with pytest.raises(LayoutError):
            kind(*arguments)


def test_the_papers_names():
    assert [kind.paper_name for kind in HIGHER] == ["1P", "R1P", "3P", "w²P", "1Pw²R"]
    assert all(getattr(mm.layout, kind.__name__) is kind for kind in HIGHER)
    assert OneP(4) != R1P(4)


def test_seeds_mean_the_same_everywhere():
    assert {kind: kind(4, seed=3).draw()[:8].tolist() for kind in HIGHER} == {
        OneP: [3, 1, 0, 2],
        R1P: [3, 1, 0, 2],
        ThreeP: [3, 1, 0, 2, 1, 2, 0, 3],
        W2P: [3, 1, 0, 2, 1, 2, 0, 3],
        OnePW2R: [3, 1, 0, 2, 3, 0, 0, 0],
    }
