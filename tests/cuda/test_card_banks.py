"""Launches count the conflicts of a card: banks of 4 bytes, address groups of 128."""

import numpy as np
import pytest

import mmsim as mm
from mmsim import cuda
from mmsim.cuda.machines import current, h200

DTYPES = (
    *(np.bool_, np.int8, np.int16, np.float32, np.int64, np.float64, np.complex64),
    np.complex128,
)
PAPERS = mm.HMM(dmms=132, width=32, global_latency=11031, shared_latency=29)


def column_of(dtype, length):
    """A kernel in which a warp reads a column of a tile in shared memory."""

    @cuda.jit
    def column(b):
        tile = cuda.shared.array((32, length), dtype=dtype)
        j = cuda.threadIdx.x
        tile[j, 0] = b[j]
        cuda.syncthreads()
        b[j] = tile[j, 0]

    return column


def row_of(array, kind="read", run=None):
    """The row of one array's accesses in the last launch."""
    rows = (run or cuda.last).accesses
    return next(row for row in rows if row.array == array and row.kind == kind)


@pytest.mark.parametrize(
    ("dtype", "length", "expected"),
    [
        (np.int8, 36, (1, "conflict-free")),
        (np.int8, 32, (8, "casual")),
        (np.int16, 34, (1, "conflict-free")),
        (np.float64, 34, (4, "casual")),
        (np.float64, 33, (2, "conflict-free")),
        (np.float32, 33, (1, "conflict-free")),
        (np.float32, 32, (32, "casual")),
    ],
)
def test_a_column_takes_what_it_takes_on_a_card(dtype, length, expected):
    column_of(dtype, length)[1, 32](np.zeros(32, dtype))
    row = row_of("tile")
    assert (row.stages, row.access_class) == expected


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("length", [1, 8, 17, 32, 33, 34, 36, 48])
def test_launches_take_what_is_said_of_tiles(dtype, length):
    size = np.dtype(dtype).itemsize
    column_of(dtype, length)[1, 32](np.zeros(32, dtype))
    for kind in ("read", "write"):
        asked = mm.conflicts(
            mm.layout.RAW(), lambda t, v: (t, 0), (32, length), bytes=size, kind=kind
        )
        row = row_of("tile", kind)
        assert (row.stages, row.least) == (asked.stages, asked.least)


def test_global_memory_has_groups_of_128_bytes():
    """32 elements of 1 byte every 4 bytes are one group, of 8 bytes two, as the counters say."""

    @cuda.jit
    def strided(a, b):
        i = cuda.grid(1)
        b[i] = a[4 * i]

    found = {}
    for dtype in (np.int8, np.int16, np.float32, np.float64):
        strided[1, 32](np.zeros(128, dtype), np.zeros(32, dtype))
        found[np.dtype(dtype).itemsize] = row_of("a").stages, row_of("b", "write").stages
    assert found == {1: (1, 1), 2: (2, 1), 4: (4, 1), 8: (8, 2)}


def test_the_papers_machine_is_taken_as_it_is_given():
    kernel = column_of(np.int8, 36)
    with cuda.machine(PAPERS):
        assert current() is PAPERS
        kernel[1, 32](np.zeros(32, np.int8))
        assert cuda.last.machine is PAPERS
    row = row_of("tile")
    assert (row.stages, row.access_class) == (4, "casual")
    run = PAPERS.run(kernel, np.zeros(32, np.int8), grid=1, block=32, schedule="asynchronous")
    assert row_of("tile", run=run).stages == 4
    assert current() == h200()


def test_words_of_4_bytes_cost_what_they_did():
    kernel = column_of(np.float32, 36)
    kernel[1, 32](np.zeros(32, np.float32))
    on_card = cuda.last
    with cuda.machine(PAPERS):
        kernel[1, 32](np.zeros(32, np.float32))
    assert (cuda.last.accesses, cuda.last.time) == (on_card.accesses, on_card.time)


@pytest.mark.parametrize(("dtype", "expected"), [(np.int8, 1), (np.float32, 4), (np.float64, 8)])
def test_dynamic_shared_memory_counts_the_bytes_of_its_type(dtype, expected):
    @cuda.jit
    def cast(b):
        words = cuda.shared.array(0, dtype)
        t = cuda.threadIdx.x
        words[4 * t] = b[t]
        cuda.syncthreads()
        b[t] = words[4 * t]

    cast[1, 32, 0, 128 * np.dtype(dtype).itemsize](np.ones(32, dtype))
    (name,) = {row.array for row in cuda.last.accesses} - {"b"}
    assert row_of(name).stages == expected
