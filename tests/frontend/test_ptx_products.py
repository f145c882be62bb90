"""Products of matrices are those that a card left, bit by bit, and a fused sum is rounded once."""

import json
from pathlib import Path

import numpy as np
import pytest

import mmsim as mm
from mmsim.frontend.ptx.kernel import PtxProgram
from mmsim.frontend.ptx.text import read
from tests.kit.cards.products_on_gpu import EACH, KINDS, equal, forms, of_model

ROOT = Path(__file__).parents[2]
RECORD = json.loads((ROOT / "benchmarks/results/cuda-c/products.json").read_text("utf-8"))
PAGE = " ".join((ROOT / "docs/reference/cuda-c.md").read_text("utf-8").split())
QUICK = {
    "m16n8k8.row.col.f16.f16.f16.f16",
    "m16n8k16.row.col.f32.bf16.bf16.f32",
    "m16n8k16.row.col.f64.f64.f64.f64",
    "m16n8k32.row.col.satfinite.s32.s8.s8.s32",
    "m16n16k8 tf32 f32",
}


LONG = [pytest.param(one, marks=pytest.mark.long) for one in RECORD["forms"] if one not in QUICK]


@pytest.mark.parametrize("form", [*sorted(QUICK), *LONG])
def test_a_product_is_that_of_a_card(form):
    """The first matrices of each kind of numbers."""
    ((number, (_, shape, types, matrices)),) = (
        (number, one) for number, one in enumerate(forms()) if one[0] == form
    )
    found = of_model(number, form, shape, types, [one[::EACH] for one in matrices])
    kept = b"".join(map(bytes.fromhex, RECORD["forms"][form]["card"]))
    right = np.frombuffer(kept, found.dtype.newbyteorder(">")).astype(found.dtype)
    assert len(found) == len(KINDS)
    assert equal(found, right.reshape(found.shape)).all()


def test_the_page_has_the_numbers_of_the_record():
    every = RECORD["forms"].values()
    count = sum(one["numbers"] for one in every)
    assert all(one["equal"] == one["numbers"] for one in every)
    assert f"{count:,} numbers of {len(every)} forms" in PAGE
    assert f"On an {RECORD['device']}, on {RECORD['date']}," in PAGE


FUSED = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry fused(.param .u64 d, .param .u64 a)
{
    .reg .b64 %p<2>;
    .reg .b16 %h<4>;
    ld.param.u64 %p0, [d];
    ld.param.u64 %p1, [a];
    ld.b16 %h0, [%p1];
    ld.b16 %h1, [%p1+2];
    ld.b16 %h2, [%p1+4];
    fma.rn.bf16 %h3, %h0, %h1, %h2;
    st.b16 [%p0], %h3;
    ret;
}
"""


@pytest.mark.parametrize(("small", "right"), [(-(2.0**-60), 193), (0.0, 194), (2.0**-60, 194)])
def test_a_product_and_a_sum_of_bf16_are_rounded_once(small, right):
    """129/128 * 3/2 lies in the middle of 193/128 and 194/128."""
    numbers = np.array([129 / 128, 1.5, small], np.float32)
    words = (numbers.view(np.uint32) >> 16).astype(np.uint16)
    special = PtxProgram(read(FUSED), "fused").specialized((np.zeros(1, np.uint16), words))
    machine = mm.HMM(1, 32, 50, 5, bank_bytes=4)
    for engine in ("array", "events"):
        run = machine.run(special.program, *special.args, threads=1, engine=engine)
        found, *_ = run.arrays.values()
        assert (found.astype(np.uint32) << 16).view(np.float32)[0] == right / 128
