"""Matrices of wmma between memory and the lanes of a warp, and their products, on both engines.

`ptx/tensor.ptx` is what NVRTC made of `ptx/tensor.cu`, with the headers that come with nvcc.
"""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import LanguageError
from mmsim.frontend.ptx.kernel import PtxProgram
from mmsim.frontend.ptx.text import read
from tests.kit.generators.fragments import WMMA_FORMS, bits_of, small, wmma_text

HERE = Path(__file__).parent / "ptx"
MACHINE = mm.HMM(2, 32, 50, 5, bank_bytes=4)
ENGINES = pytest.mark.parametrize("engine", ["array", "events"])


@cache
def module():
    ptx, source = ((HERE / f"tensor.{end}").read_text("utf-8") for end in ("ptx", "cu"))
    return read(ptx), {"text": {"tensor.cu": source}, "ptx": ptx}


def ran(program, *args, block=32, **how):
    found = program.specialized(args)
    return MACHINE.run(found.program, *found.args, grid=1, block=block, **how)


def of_file(name):
    found, texts = module()
    return PtxProgram(found, name, **texts)


WHOLE = {
    "half_float": ((16, 16, 16), "f16", "f32", (24, 16, 16), "row col row"),
    "half_half": ((32, 8, 16), "f16", "f16", (32, 8, 40), "col row col"),
    "brain": ((8, 32, 16), "bf16", "f32", (16, 40, 8), "row row col"),
    "tensor_float": ((16, 16, 8), "tf32", "f32", (20, 16, 16), "col row row"),
    "doubles": ((8, 8, 4), "f64", "f64", (4, 6, 10), "row col row"),
    "bytes": ((16, 16, 16), "s8", "s32", (16, 16, 16), "row row row"),
}
"""Of each kernel shape, types, the distances of lines, and whether these are rows or columns."""


def laid_out(matrix, pitch, order, type_):
    """A matrix in memory: its lines, each with numbers behind it that nothing reads."""
    lines = matrix if order == "row" else matrix.T
    found = np.full((len(lines), pitch), 99)
    found[:, : lines.shape[1]] = lines
    return bits_of(found, type_)


@ENGINES
@pytest.mark.parametrize("name", WHOLE)
def test_wmma_multiplies_matrices_in_memory(name, engine):
    (m, n, k), type_, sum_, pitches, orders = WHOLE[name]
    orders = orders.split()
    a, b, c = small(m, k), small(k, n), small(m, n)
    types = type_, type_, sum_
    given = [laid_out(*one) for one in zip((a, b, c), pitches, orders, types, strict=True)]
    run = ran(of_file(name), *given, np.zeros_like(given[2]), engine=engine)
    *_, lines = run.arrays.values()
    found = lines if orders[2] == "row" else lines.T
    assert np.array_equal(found[:m, :n], a @ b + c)
    assert not lines[:, (n if orders[2] == "row" else m) :].any()


@ENGINES
def test_wmma_in_shared_memory(engine):
    a, b = small(16, 48), small(48, 16)
    given = a.astype(np.float16), b.astype(np.float16), np.zeros((16, 16), np.float32)
    run = ran(of_file("shared_tiles"), *given, 48, 8, engine=engine)
    assert np.array_equal(run.arrays["d"], 2 * (a @ b + 1))


def costs(skew):
    """The requests and stages of the accesses of wmma in shared memory, by array."""
    given = [np.zeros((16, 16), dtype) for dtype in ("f2", "f2", "f4")]
    run = ran(of_file("shared_tiles"), *given, 16, skew)
    kinds = {("left", "read"), ("right", "read"), ("sums", "write")}
    rows = [row for row in run.accesses if (row.array, row.kind) in kinds]
    return {row.array: (row.requests, row.stages) for row in rows}


def test_wmma_costs_what_the_words_of_its_lanes_cost():
    """A request takes 8 rows of 16 bytes, 32 bytes apart: 2 words in each bank, 1 with a skew.

    A store takes pairs of floats, in two halves of a warp, of 4 rows each.
    """
    assert costs(0) == {"left": (4, 8), "right": (4, 8), "sums": (4, 16)}
    assert costs(8) == {"left": (4, 4), "right": (4, 4), "sums": (4, 8)}


def wmma(form, orders):
    ptx = wmma_text(form, orders)
    return PtxProgram(read(ptx), "multiply", ptx=ptx)


@pytest.mark.parametrize("number", range(len(WMMA_FORMS)))
def test_all_shapes_in_some_order_of_lines(number):
    form = [*WMMA_FORMS][number]
    shape, type_, sum_ = form.split()
    m, n, k = map(int, shape[1:].replace("n", " ").replace("k", " ").split())
    orders = ["col", "row", "col"] if number % 2 else ["row", "col", "row"]
    a, b, c = small(m, k), small(k, n), small(m, n)
    a, b = (abs(x) if type_ == "u8" else x for x in (a, b))
    lines = [x if order == "row" else x.T for x, order in zip((a, b, c), orders, strict=True)]
    types = type_, type_, sum_
    given = [bits_of(np.ascontiguousarray(x), t) for x, t in zip(lines, types, strict=True)]
    run = ran(wmma(form, orders), *given, np.zeros_like(given[2]))
    *_, found = run.arrays.values()
    assert np.array_equal(found if orders[2] == "row" else found.T, a @ b + c)


def test_other_matrices_are_refused_by_name():
    program = wmma("m8n8k32 s4 s32", ["row", "col", "row"])
    with pytest.raises(
        LanguageError, match=r"wmma\.load\.a.*s4 has no meaning in the model; use m16"
    ):
        ran(program, *(np.zeros(64, np.int32) for _ in range(4)))
