"""Layouts of tiles: padding, strides, swizzles, and what CuTe prints."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mmsim as mm
from mmsim.errors import LayoutError
from mmsim.model.layout import Padded, Strided, Swizzle, XorRows, cute, offsets_of
from tests.kit.runs.paths import both_engines
from tests.kit.runs.programs import transpose


@given(rows=st.integers(1, 6), columns=st.integers(1, 6), by=st.integers(0, 5))
def test_padded_rows_begin_apart(rows, columns, by):
    found = Padded(by).offsets((rows, columns))
    assert [list(row) for row in found] == [
        [row * (columns + by) + column for column in range(columns)] for row in range(rows)
    ]


def swizzled(bits, base, shift, offset):
    """CuTe's definition, bit by bit."""
    source = base + max(shift, 0)
    target = base - min(shift, 0)
    for bit in range(bits):
        offset ^= (offset >> (source + bit) & 1) << (target + bit)
    return offset


@given(
    st.integers(0, 4).flatmap(
        lambda bits: st.tuples(
            st.just(bits),
            st.integers(0, 4),
            st.one_of(st.integers(bits, 5), st.integers(-5, -bits)),
        )
    )
)
def test_a_swizzle_mixes_bits_as_cute_does(numbers):
    bits, base, shift = numbers
    swizzle = Swizzle(bits, base, shift)
    found = swizzle.apply(np.arange(1 << 13)).tolist()
    assert sorted(found) == list(range(1 << 13))
    if shift >= 0:
        assert found == [swizzled(bits, base, shift, offset) for offset in range(1 << 13)]
    assert swizzle.apply(np.array(found)).tolist() == list(range(1 << 13))  # its own inverse


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("row", [32, 64, 128])
def test_the_modes_of_the_hardware_move_pieces_of_16_bytes(row, size):
    swizzle = Swizzle.of_bytes(row, size)
    for offset in range(0, 1 << 11, size):
        wanted = swizzled(row.bit_length() - 5, 4, 3, offset)
        assert swizzle.of(offset // size) * size == wanted


@given(
    extents=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    strides=st.lists(st.integers(0, 9), min_size=3, max_size=3),
)
def test_strides_count_words(extents, strides):
    layout = Strided(tuple(extents), tuple(strides[: len(extents)]))
    found = layout.offsets(tuple(extents))
    for index in np.ndindex(*extents):
        assert found[index] == sum(i * stride for i, stride in zip(index, strides, strict=False))


def test_the_first_part_of_a_nested_axis_moves_fastest():
    layout = cute("((2,4),8):((1,16),2)")
    assert layout.extents == (8, 8)
    for row in range(8):
        assert layout.offsets((8, 8))[row, 3] == row % 2 + row // 2 * 16 + 6


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        ("(8,8):(8,1)", Strided((8, 8), (8, 1))),
        ("(_8,_8):(_8,_1)", Strided((8, 8), (8, 1))),
        ("16:1", Strided((16,), (1,))),
        ("((2,(2,2)),4):((1,(8,16)),2)", Strided(((2, (2, 2)), 4), ((1, (8, 16)), 2))),
        ("Swizzle<3,4,3>", Swizzle(3, 4, 3)),
        ("Sw<2,3,-4>", Swizzle(2, 3, -4)),
        ("Swizzle<3,3,3> o (8,64):(64,1)", Swizzle(3, 3, 3, Strided((8, 64), (64, 1)))),
        ("Sw<3,4,3> o _0 o (8,64):(64,1)", Swizzle(3, 4, 3, Strided((8, 64), (64, 1)))),
        (  # of bytes before a pointer: what CUTLASS's GMMA::Layout_K_SW32_Atom<half_t> prints
            "Sw<1,4,3> o smem_ptr[16b](unset) o (_64,_16):(_16,_1)",
            Swizzle(1, 3, 3, Strided((64, 16), (16, 1))),
        ),
        (
            "Sw<3,4,3> o smem_ptr[8b](unset) o (8,128):(128,1)",
            Swizzle(3, 4, 3, Strided((8, 128), (128, 1))),
        ),
        (
            "Sw<3,4,3> o smem_ptr[64b](0x7f00) o (8,16):(16,1)",
            Swizzle(3, 1, 3, Strided((8, 16), (16, 1))),
        ),
    ],
)
def test_what_cute_prints_is_read(text, layout):
    assert cute(text) == layout
    assert cute(str(layout)) == layout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not a layout of CuTe"),
        ("(8,8)", "is not a layout of CuTe"),
        ("(8,8):(8,1", "is not a layout of CuTe"),
        ("(8,x):(8,1)", "is not a layout of CuTe"),
        ("(8,8):(8,1) o 5", "is not a layout of CuTe"),
        ("Swizzle<3,4,3> o _64 o (8,64):(64,1)", "is not a layout of CuTe"),
        ("Sw<3,4,3> o smem_ptr[4b](unset) o (8,64):(64,1)", "is not a layout of CuTe"),
        (
            "Sw<1,2,3> o smem_ptr[64b](unset) o (8,64):(64,1)",
            "first bit of a swizzle is at least 0",
        ),
        ("(8,8):(8,(1,2))", "aren't nested in the same way"),
        ("(8,0):(8,1)", "an extent of a layout is at least 1"),
        ("Swizzle<3,4,2>", "would mix bits with themselves"),
        ("Swizzle<3,99,3>", "the first bit of a swizzle is at most 31"),
    ],
)
def test_what_cute_does_not_print_is_refused(text, said):
    with pytest.raises(LayoutError, match=said):
        cute(text)


@pytest.mark.parametrize(
    ("layout", "shape", "said"),
    [
        (Padded(1), (), "pads rows"),
        (Strided((4, 4), (4, 1)), (4, 5), "a layout of shape"),
        (Strided((4, 4), (1, 1)), (4, 4), "a word of its own"),
        (Strided((2,), (2**40,)), (2,), None),
        (XorRows(8), (4, 12), "a power of two of words"),
        (XorRows(8, 2), (4, 8), "at least 16"),
    ],
)
def test_a_layout_that_does_not_fit_is_refused(layout, shape, said):
    if said is None:
        assert offsets_of(layout, shape).tolist() == [0, 2**40]
        return
    with pytest.raises(LayoutError, match=said):
        offsets_of(layout, shape)


@both_engines
@pytest.mark.parametrize(
    "layout", [Padded(1), Swizzle(3, 0, 3), XorRows(8), Strided((8, 8), (1, 9))]
)
def test_a_transpose_is_free_of_conflicts_under_each(layout, engine):
    a = np.arange(64).reshape(8, 8)
    given = mm.place(a, layout), mm.place(np.zeros_like(a), layout)
    run = mm.DMM(8, 5).run(transpose, *given, threads=64, engine=engine)
    assert (run.arrays["b"] == a.T).all()
    assert run.time == 2 * (8 + 5 - 1)
    assert {row.access_class for row in run.accesses} == {"conflict-free"}


def test_words_that_no_element_has_take_room():
    a = np.arange(64).reshape(8, 8)
    given = mm.place(a, Padded(2)), np.zeros_like(a)
    run = mm.DMM(8, 5).run(transpose, *given, threads=64, trace=True, engine="events")
    first, second = (array.addresses for array in run.trace.arrays)
    assert int(first.max()) == 77
    assert int(second.min()) == 80  # the next multiple of the width
    again = mm.Run.from_json(run.to_json())
    assert again.time == run.time


def test_a_duration_is_not_a_number_of_words():
    with pytest.raises(LayoutError, match=r"whole number, not np\.timedelta64"):
        Padded(np.timedelta64(1, "D"))
