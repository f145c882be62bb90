"""Products of matrices by the lanes of a warp: mma, on fragments as the manual has them."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import ExchangeError, LanguageError
from mmsim.frontend.ptx.kernel import PtxProgram
from mmsim.frontend.ptx.text import read
from tests.kit.generators.fragments import (
    FORMS,
    bits_of,
    fragments,
    kernel_text,
    matrices_of,
    parts_of,
    small,
)

MACHINE = mm.HMM(2, 32, 50, 5, bank_bytes=4)


def ran(program, *args, block=32, **how):
    found = program.specialized(args)
    return MACHINE.run(found.program, *found.args, grid=1, block=block, **how)


def kernel_of(name, words):
    ptx = kernel_text(name, words)
    return PtxProgram(read(ptx), "multiply", ptx=ptx)


def multiplied(form, a, b, c, name="mma.sync.aligned.", **how):
    """D by the kernel for a form."""
    shape, (result, *types) = parts_of(form)
    parts = zip((a, b, c), "abc", types, strict=True)
    given = [fragments(bits_of(x, type_), which, shape, type_) for x, which, type_ in parts]
    out = np.zeros_like(given[2])
    words = [one.shape[1] for one in (out, *given)]
    run = ran(kernel_of(name + form, words), out, *given, **how)
    return matrices_of(next(iter(run.arrays.values())), shape, result)


def matrices(form):
    (m, n, k), _ = parts_of(form)
    a, b, c = small(m, k), small(k, n), small(m, n)
    return tuple(abs(x) if "u8" in form else x for x in (a, b, c))


@pytest.mark.parametrize("form", FORMS)
def test_a_product_of_fragments_is_that_of_matrices(form):
    a, b, c = matrices(form)
    assert np.array_equal(multiplied(form, a, b, c), a @ b + c)


def test_engines_agree_and_a_product_is_free():
    form = FORMS[2]
    a, b, c = matrices(form)
    runs = [multiplied(form, a, b, c, engine=engine) for engine in ("array", "events")]
    assert np.array_equal(*runs)
    program = kernel_of("mma.sync.aligned." + form, [4, 4, 2, 4])
    run = ran(program, *(np.zeros((32, k), "u4") for k in (4, 4, 2, 4)))
    assert {row.kind for row in run.accesses} == {"read", "write"}
    assert len(run.accesses) == 4 + 2 + 4 + 4


ONE = 2.0**24
"""The next float is ONE + 2."""


@pytest.mark.parametrize(
    ("form", "terms", "c", "wanted"),
    [
        (FORMS[0], [1.0] * 8, ONE, ONE + 8),  # together, not each lost
        (FORMS[0], [3.0], ONE, ONE + 2),  # towards 0
        (FORMS[0], [-1.0, -2.0], -ONE, -ONE - 2),
        (FORMS[0], [2.0**-15, 2.0**-15, 2.0**-14], 2.0**10, 2.0**10 + 2.0**-13),  # 25 bits kept
        (FORMS[0], [2.0**-16] * 8, 2.0**10, 2.0**10),  # the 26th bit of each is lost
        (FORMS[0], [-(2.0**-16), 2.0**10], 0.0, 2.0**10),
        (FORMS[0], [2.0**-24, 2.0**10, -(2.0**10)], 0.0, 0.0),
        (FORMS[2], [1.0] * 16, ONE, ONE + 16),
        (FORMS[1], [2.0**-11 + 2.0**-13], 1.0, 1 + 2.0**-10),  # f16: the nearest one
        (FORMS[1], [2.0**-11], 1.0, 1.0),
        (FORMS[4], [2.0**127] * 2, 0.0, np.inf),
        (FORMS[4], [2.0**127, 2.0**126, -(2.0**102)], 0.0, 2.0**127 + 2.0**126 - 2.0**104),
        (FORMS[7], [0.0, 2.0**-24, 0.0, 2.0**-24], 1.0, 1 + 2.0**-23),
    ],
)
def test_products_are_added_at_once_with_25_bits(form, terms, c, wanted):
    (m, n, k), _ = parts_of(form)
    a, b = np.zeros((m, k)), np.zeros((k, n))
    a[:, : len(terms)] = terms
    b[: len(terms)] = 1
    assert set(multiplied(form, a, b, np.full((m, n), c)).ravel().tolist()) == {wanted}


def test_a_zero_has_no_exponent():
    """The product of 0 and a large number doesn't make the sum drop bits."""
    a, b = np.zeros((16, 8)), np.full((8, 8), 2.0**15)
    a[:, 0], b[0] = 1.0, 2.0**-14
    found = multiplied(FORMS[0], a, b, np.full((16, 8), 2.0**-25))
    assert set(found.ravel().tolist()) == {2.0**-14 + 2.0**-25}


def test_the_lower_bits_of_a_tf32_are_dropped():
    x = np.array([0x3F800000 + 0x1FFF], np.uint32).view(np.float32)[0]  # 1 and a little more
    a, b, c = np.full((16, 8), x), np.ones((8, 8)), np.zeros((16, 8))
    assert np.array_equal(multiplied(FORMS[7], a, b, c), np.full((16, 8), 8))


def test_bytes_wrap_around_or_stay_at_the_end_of_the_range():
    a, b = np.full((16, 32), 100), np.full((32, 8), 100)
    c = np.full((16, 8), 2**31 - 1)
    form = "row.col.s32.s8.s8.s32"
    wrapped = (2**31 - 1 + 320000) - 2**32
    assert set(multiplied(f"m16n8k32.{form}", a, b, c).ravel().tolist()) == {wrapped}
    form = f"m16n8k32.{form.replace('col', 'col.satfinite')}"
    assert set(multiplied(form, a, b, c).ravel().tolist()) == {2**31 - 1}
    assert set(multiplied(form, -a, b, -c).ravel().tolist()) == {-(2**31)}


@pytest.mark.parametrize(
    "name",
    [
        "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32",
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc",
    ],
)
def test_other_products_are_refused_by_name(name):
    program = kernel_of(name, [4, 4, 2, 4])
    arrays = [np.zeros((32, k), "u4") for k in (4, 4, 2, 4)]
    with pytest.raises(LanguageError, match=f"{name} is not modelled.*m16n8k16 of f16"):
        ran(program, *arrays)


def test_the_number_of_registers_is_that_of_the_shape():
    program = kernel_of("mma.sync.aligned." + FORMS[2], [4, 3, 2, 4])
    with pytest.raises(LanguageError, match="another number of registers"):
        ran(program, *(np.zeros((32, k), "u4") for k in (4, 3, 2, 4)))


def test_all_lanes_have_to_take_part():
    program = kernel_of("mma.sync.aligned." + FORMS[2], [4, 4, 2, 4])
    with pytest.raises(ExchangeError, match="a lane that is asked has to take part"):
        ran(program, *(np.zeros((32, k), "u4") for k in (4, 4, 2, 4)), block=16)
