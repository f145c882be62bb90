"""Proofs that no access has a bank conflict: tiles, swizzles, strides, and random programs."""

from math import gcd

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mmsim as mm
from mmsim import cuda
from mmsim.engines.check import bank_conflicts
from tests.kit.generators.draws import draws

pytest.importorskip("z3", reason="proofs need z3-solver")

HMM = mm.HMM(dmms=2, width=32, global_latency=20)
BYTES = mm.HMM(dmms=2, width=32, global_latency=20, bank_bytes=4)
DMM = mm.DMM(width=8, latency=5)


def words(*shape):
    return np.zeros(shape, int)


def conflict(program, *args, facts=(), machine=DMM, **options):
    """The verdict on conflicts, and what its counterexample's own run shows."""
    found = machine.check(program, *args, prove=True, given=facts, **options or {"threads": 4})
    return found.proved.conflict


# Tiles


def transpose(by):
    columns = 32 + by

    @cuda.jit
    def padded(a, b):
        tile = cuda.shared.array((32, columns), np.float32)
        x, y = cuda.grid(2)
        i, j = cuda.threadIdx.x, cuda.threadIdx.y
        if x < a.shape[1] and y < a.shape[0]:
            tile[j, i] = a[y, x]
        cuda.syncthreads()
        b[y, x] = tile[i, j]

    return padded


def swizzled(shift):
    @cuda.jit
    def xored(a, b):
        tile = cuda.shared.array((32, 32), np.float32)
        i, j = cuda.threadIdx.x, cuda.threadIdx.y
        tile[j, i ^ (j >> shift)] = a[j, i]
        cuda.syncthreads()
        b[j, i] = tile[i, j ^ (i >> shift)]

    return xored


@cuda.jit
def rotated(a, b):
    tile = cuda.shared.array((32, 32), np.float32)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    tile[j, (i + j) % 32] = a[j, i]
    cuda.syncthreads()
    b[j, i] = tile[i, (i + j) % 32]


@cuda.jit
def xored_in_a_row(a, b):
    tile = cuda.shared.array(1024, np.float32)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    k = j * 32 + i
    tile[k ^ (k >> 5)] = a[j, i]
    cuda.syncthreads()
    k = i * 32 + j
    b[j, i] = tile[k ^ (k >> 5)]


@pytest.mark.parametrize(
    ("kernel", "stages", "thread"),
    [
        (transpose(0), 32, 1),
        (transpose(1), 1, None),
        (transpose(2), 2, 16),
        (transpose(31), 1, None),
        (swizzled(0), 1, None),
        (swizzled(1), 2, 1),
        (rotated, 1, None),
        (xored_in_a_row, 1, None),
    ],
)
def test_tiles(kernel, stages, thread):
    a = np.zeros((32, 32), np.float32)
    facts = ["blockDim.x == 32", "blockDim.y == 32", "gridDim.x == 1", "gridDim.y == 1"]
    facts += [f"{name}.shape[{axis}] == 32" for name in "ab" for axis in (0, 1)]
    for machine in (HMM,) if stages == 1 else (HMM, BYTES):
        report = machine.check(
            kernel, a, a.copy(), grid=(1, 1), block=(32, 32), prove=True, given=facts
        )
        proved = report.proved
        assert proved.answer == "yes"
        assert proved.conflict.answer == ("yes" if stages == 1 else "no")
        if stages > 1:
            finding = proved.conflict.counterexample.finding
            assert (finding.kind, finding.array, finding.copy) == ("conflict", "tile", 0)
            assert f"takes {stages} stages, not 1; pad the rows" in str(finding)
            assert "cuda.syncthreads" not in str(finding)
            assert finding.lines[0] == finding.lines[1]
            assert finding.threads == (0, thread)


@pytest.mark.long  # Z3 needs seconds
def test_a_block_of_a_symbolic_number_of_rows():
    @mm.program
    def rows(T, a, m):
        i, j = T.index % 8, T.index // 8
        a[i * m + j] = a[j * m + i] + 1

    def answer(*facts):
        return conflict(rows, words(200), 9, facts=facts).answer

    assert answer("m % width == 1") == "yes"
    assert answer("m % 2 == 1", "m > 0") == "yes"
    assert answer("m > 0") == "no"


# Strides


@mm.program
def strided(T, a, s):
    a[T.id * s] = 0


@pytest.mark.parametrize("width", [8, 12])
def test_a_stride_without_a_common_factor(width):
    machine = mm.DMM(width, 5)
    for s in (1, 3, 4, 6, 7, width, width + 5):
        found = conflict(
            strided, words(width * 20), s, facts=[f"s == {s}"], machine=machine, threads=1
        )
        assert (found.answer == "yes") == (gcd(s, width) == 1), found


def test_a_stride_with_a_symbol():
    def answer(fact):
        return conflict(strided, words(99), 5, facts=[fact, "s > 0"], threads=1).answer

    assert answer("s % 2 == 1") == "yes"
    assert answer("s % 4 == 1") == "yes"
    assert answer("s > 0") == "no"


# Requests


@mm.program
def halves(T, a, all_of_them):
    i = T.lane
    if i < 4 or all_of_them > 0:
        a[2 * i] = 0


@mm.program
def trees(T, a):
    half = len(a) // 2
    while half > 0:
        if T.index < half:
            a[T.index] += a[T.index + half]
        T.barrier()
        half //= 2


@mm.program
def strided_trees(T, a):
    step = 1
    while step < len(a):
        if T.index * 2 * step + step < len(a):
            a[T.index * 2 * step] += a[T.index * 2 * step + step]
        T.barrier()
        step *= 2


@mm.program
def iterations(T, a, n):
    k = 0
    while k < n + T.lane:
        a[8 * k + T.lane] = 0
        k += 1


@mm.program
def iterations_of_lanes(T, a, n):
    k = 0
    while k < n + T.lane:
        a[8 * k + T.lane] = 0
        k += 1
    a[8 * T.lane + k] = 0


@mm.program
def read_from(T, p, a):
    a[p[T.id]]


@mm.program
def counted(T, a, n):
    mm.atomic.add(a, T.lane % n, 1)


@mm.program
def broadcast(T, a, n):
    a[T.lane % n]


def test_only_active_lanes_in_one_iteration_share_a_request():
    a = words(99)
    assert conflict(halves, a, 0, facts=["all_of_them == 0"]).answer == "yes"
    assert conflict(halves, a, 0).answer == "no"
    assert conflict(trees, a).answer == "yes"
    assert conflict(strided_trees, a[:2], threads=2).answer == "no"
    assert conflict(iterations, a, 2).answer == "yes"
    found = conflict(iterations_of_lanes, a, 1, threads=1)
    assert found.answer == "no"
    assert found.counterexample.finding.lines[0] == iterations_of_lanes.code.body[-1].place.line


def test_reads_of_one_word_merge_and_atomics_do_not():
    a = words(99)
    for program, n in ((broadcast, 1), (broadcast, 8), (counted, 8)):
        facts = ["n >= 1", "n <= 8"] if program is broadcast else ["n == 8"]
        assert conflict(program, a, n, facts=facts, threads=1).answer == "yes"
    found = conflict(counted, a, 8, facts=["n >= 1", "n <= 8"], threads=1)
    assert found.answer == "no"
    assert found.counterexample.numbers["n"] < 8


def test_the_words_of_an_index_decide():
    p, a = np.arange(8), words(99)
    assert conflict(read_from, p, a, threads=8).answer == "no"
    facts = ["all(5 <= x < 9 for x in p)"]
    assert conflict(read_from, p[5:], a, facts=facts, threads=3).answer == "yes"


def test_a_conflict_that_no_small_launch_shows_stays_undecided():
    @mm.program
    def far(T, a, n):
        a[T.id * (n // 1000 + 1)] = 0

    found = conflict(far, words(99), 0, facts=["n >= 0"], threads=8)
    assert found.answer == "undecided"
    assert "two lanes of a warp may want different words of one bank of a" in found.reason


# Machines


def test_banks_of_bytes():
    def kernel(dtype):
        @cuda.jit
        def along(a):
            s = cuda.shared.array(1024, dtype)
            i = cuda.threadIdx.x
            s[i] = a[i]

        return along

    @cuda.jit
    def columns_of_bytes(a):
        s = cuda.shared.array(4096, np.int8)
        i = cuda.threadIdx.x
        s[128 * (i // 4) + i % 4] = a[i]

    @cuda.jit
    def read(a):
        s = cuda.shared.array(1024, np.float64)
        a[cuda.threadIdx.x] = s[cuda.threadIdx.x]

    def found(program, dtype):
        a = np.zeros(64, dtype)
        return conflict(program, a, machine=BYTES, grid=1, block=64)

    for dtype in (np.int8, np.int16, np.float32, np.float64, np.complex128):
        assert found(kernel(dtype), dtype).answer == "yes"
    assert found(columns_of_bytes, np.int8).answer == "no"
    verdict = found(read, np.float64)
    assert verdict.answer == "undecided"
    assert "the banks of s have a rule that the proof doesn't know" in verdict.reason


def test_an_array_with_a_layout_stays_undecided():
    a = mm.place(words(8, 8), layout=mm.layout.RAP(8, seed=0))

    @mm.program
    def rows(T, a):
        a[0, T.id]

    assert "its layout decides" in conflict(rows, a, threads=8).reason


def test_a_conflict_is_no_mistake():
    report = DMM.check(strided, words(99), 8, prove=True, given="a.size > threads * s", threads=3)
    proved = report.proved
    assert proved.answer == proved.index.answer
    assert proved.conflict.answer == "no"
    assert "no bank conflict at this width: no: 3 threads" in str(report)
    again = type(report).from_json(report.to_json())
    assert str(again) == str(report)


def test_machines_without_banks_have_no_verdict():
    for machine in (mm.UMM(8, 5), mm.HMM(dmms=2, width=8, global_latency=5)):
        assert conflict(strided, words(99), 1, machine=machine) is None


# Random programs


@mm.program
def accesses(T, a, c, d, m, x, y):
    i, j = T.index, T.block
    k = c * i + d * (i // m) + (i ^ x) * (y % 3)
    if i & y != 1:
        a[k % len(a)] = i
    for n in range(y % 4):
        a[(k + n * m * j + (n ^ i)) % len(a)]


SMALL = st.integers(0, 9)


@pytest.mark.long  # tests/proof/test_random_proofs.py asks about conflicts, too
@settings(max_examples=draws(6), deadline=None)
@given(st.sampled_from([4, 6, 8]), st.integers(1, 40), SMALL, SMALL, SMALL, SMALL, SMALL)
def test_no_run_contradicts_a_proof(width, size, c, d, m, x, y):
    from mmsim.api.binding import bind
    from mmsim.proof.races import Questions

    machine, a = mm.DMM(width, 3), words(size)
    numbers = (c, d, m + 1, x, y)
    names = dict(zip("cdmxy", numbers, strict=True))
    facts = [f"width == {width}", *(f"{name} == {value}" for name, value in names.items())]

    def launch(threads, block_size):
        sizes = threads, block_size, None
        return bind(machine, accesses, (a, *numbers), sizes, "asynchronous", 10**4)

    own = launch(10, 5)
    opened = Questions(own, (*facts, f"a.size == {size}"), None, False).conflicts()
    runs = ((threads, block) for block in (3, width, 11) for threads in (block, 2 * block))
    met = any(bank_conflicts(launch(*sizes)) for sizes in runs)
    assert opened or not met
    assert met or not opened or size % width
