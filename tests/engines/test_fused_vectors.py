"""Fused programs with vectors, and with exceptions that no thread may raise."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.engines.array.fused.analysis import CannotFuse
from mmsim.errors import AddressError, RaisedError
from mmsim.frontend.ptx.kernel import PtxProgram
from mmsim.frontend.ptx.text import read
from tests.kit.runs.paths import SCHEDULES, agrees, run_along

CARD = mm.HMM(2, 32, 50, bank_bytes=4)
N = 128
HOW = {"machine": CARD, "threads": N, "block_size": 64}
RANDOM = np.random.default_rng(1)
PLACES = {
    "in a row": np.arange(N),
    "one": np.zeros(N, int),
    "in pairs": np.arange(N) // 2,
    "permuted": RANDOM.permutation(N),
    "anywhere": RANDOM.integers(0, N, N),
}


@mm.program
def move(T, a, b, p):
    s = mm.shared(256, dtype=np.float32)
    x, y, z, w = mm.vector(a, 4)[p[T.id]]
    own = T.index // 32 * 32
    mm.vector(s, 4)[own + p[T.id] % 32] = y, x, w, z
    x, y, z, w = mm.vector(s, 4)[own + p[T.id] % 32]
    if T.id % 3 == 0:
        mm.vector(b, 4)[p[T.id]] = x, y, z, w
        x, y, z, w = mm.vector(a, 4)[T.id // 7]
        mm.vector(b, 4)[T.id] = x + 1, y, z, w


@mm.program
def pairs(T, a, b, p):
    s = mm.shared(128, dtype=np.float64)
    own = T.index // 32 * 32
    x, y = mm.vector(a, 2)[p[T.id]]
    mm.vector(s, 2)[own + p[T.id] % 32] = x, y
    x, y = mm.vector(s, 2)[own + T.lane // 4]
    mm.vector(b, 2)[p[T.id]] = y, x


@mm.program
def bytes_of_words(T, a, b, p):
    s = mm.shared(256, dtype=np.uint8)
    own = T.index // 32 * 32
    x, y, z, w = mm.vector(a, 4)[p[T.id]]
    mm.vector(s, 4)[own + p[T.id] % 32] = w, z, y, x
    x, y, z, w = mm.vector(s, 4)[own + p[T.id] % 32]
    mm.vector(b, 4)[T.id] = x, y, z, w


@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize(
    ("program", "dtype"), [(move, "float32"), (pairs, "float64"), (bytes_of_words, "uint8")]
)
def test_vectors_of_a_fused_program(program, dtype, places):
    a = RANDOM.integers(0, 200, 4 * N).astype(dtype)
    races = program is move or places not in ("in a row", "permuted")
    schedules = ("synchronous",) if races and program is not bytes_of_words else SCHEDULES
    agrees("plain", program, a, np.zeros_like(a), PLACES[places], **HOW, schedules=schedules)


@pytest.mark.long  # Numba compiles it
def test_vectors_of_a_compiled_program():
    a = np.arange(4 * N, dtype=np.float32)
    for places in PLACES:
        given = a, np.zeros_like(a), PLACES[places]
        agrees("fused", move, *given, **HOW, schedules=("synchronous",))


def test_a_variable_that_a_vector_sets_may_have_another_value_before():
    @mm.program
    def twice(T, a, b):
        x = T.id * 2
        b[T.id] = x
        x, y = mm.vector(a, 2)[T.id]
        b[T.id] += x * y

    agrees("plain", twice, np.arange(2 * N), np.zeros(N, int), **HOW)


def test_vectors_out_of_range_are_left_to_the_interpreter():
    a = np.zeros(4 * N, np.float32)
    at = np.arange(N)
    at[77] = N
    with pytest.raises(AddressError, match=f"thread 77.*{N}"):
        run_along("plain", move, a, a.copy(), at, **HOW)


def test_vectors_of_words_that_are_elements_are_interpreted():
    a = np.zeros(4 * N, np.float32)
    how = {**HOW, "machine": mm.HMM(2, 32, 50)}
    with pytest.raises(CannotFuse, match="aren't served as one element"):
        run_along("plain", move, a, a.copy(), np.arange(N), **how)


@mm.program
def stores_in_pairs(T, a):
    s = mm.shared(32, dtype=np.float64)
    s[T.lane // 2] = a[T.id]
    a[T.id] = s[T.lane // 2]


def test_stores_of_8_bytes_have_no_pairs():
    run = agrees("plain", stores_in_pairs, np.arange(64.0), **{**HOW, "threads": 64})
    assert [row.stages for row in run.accesses if row.space == "shared"] == [4, 2]


TRAP = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n) {
.reg .pred %q;
.reg .b64 %p<3>;
.reg .b32 %r<4>;
ld.param.u64 %p0, [a];
ld.param.u32 %r2, [n];
mov.u32 %r0, %tid.x;
setp.ge.u32 %q, %r0, %r2;
@%q trap;
mul.wide.u32 %p1, %r0, 4;
add.u64 %p2, %p0, %p1;
st.global.u32 [%p2], %r0;
ret;
}
"""


@pytest.mark.parametrize("limit", [64, 63])
def test_a_program_that_may_stop_with_an_exception_is_fused(limit):
    array = np.zeros(64, np.int32)
    found = PtxProgram(read(TRAP), "k", ptx=TRAP).specialized((array, np.uint32(limit)))
    how = {"machine": CARD, "threads": 64, "block_size": 64}
    if limit == 64:
        found.store(agrees("plain", found.program, *found.args, **how).arrays)
        assert array.tolist() == list(range(64))
        return
    with pytest.raises(RaisedError, match=r"thread 63.*trap"):
        run_along("plain", found.program, *found.args, **how)
