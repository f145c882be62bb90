"""Shapes, atomics, exchange and types on request in one program, against NumPy."""

import math

import numpy as np
import pytest

import mmsim as mm
from mmsim.api.kernels import kernel
from mmsim.ir import nodes as ir
from mmsim.ir.walk import operands, statements, with_expressions, with_operands
from tests.kit.generators.random_programs import same
from tests.kit.oracle.emulated_gpu import Emulated, needs_compiler
from tests.kit.runs.paths import agrees, both_schedules

GRID, BLOCK = (2, 2), (4, 3)
THREADS = 48
MULTIPLIER = 0x9E3779B97F4A7C15
TOP = 2**63
X = np.arange(THREADS) * 7 % 31


@mm.program
def together(T, x, counts, sums, products, constants, roots):
    v = mm.float32(x[T.id]) * 0.1
    partner = mm.warp.shuffle_xor(v, 1)
    products[T.id] = v * partner
    constants[T.id] = mm.warp.shuffle(mm.float32(0.1), 0) * 3
    hashed = mm.uint64(x[T.id]) * MULTIPLIER
    mm.atomic.add(sums, (T.blockIdx.y, T.threadIdx.y), hashed)
    mm.atomic.max(counts, T.blockIdx.x, mm.popc(hashed))
    roots[T.id] = math.sqrt(T.barrier_count(hashed > TOP))


def arguments():
    return (
        X,
        np.zeros(2, np.int32),
        np.zeros((2, 3), np.uint64),
        *(np.zeros(THREADS) for _ in range(3)),
    )


def expected():
    thread = np.arange(THREADS)
    block, index = thread // 12, thread % 12
    v = X.astype(np.float32) * np.float32(0.1)
    hashed = X.astype(np.uint64) * np.uint64(MULTIPLIER)
    counts, sums = np.zeros(2, np.int32), np.zeros((2, 3), np.uint64)
    np.maximum.at(counts, block % 2, np.bitwise_count(hashed))
    np.add.at(sums, (block // 2, index // 4), hashed)
    large = np.array([np.count_nonzero(hashed[block == one] > TOP) for one in range(4)])
    return {
        "x": X,
        "counts": counts,
        "sums": sums,
        "products": (v * v[thread ^ 1]).astype(float),
        "constants": np.full(THREADS, np.float32(0.1) * np.float32(3), float),
        "roots": np.sqrt(large[block]),
    }


@both_schedules
def test_it_computes_what_numpy_does(schedule):
    runs = [
        mm.HMM(2, 4, 5).run(
            together, *arguments(), grid=GRID, block=BLOCK, schedule=schedule, **how
        )
        for how in ({"engine": "events"}, {"engine": "array"}, {"check": True})
    ]
    for run in runs:
        assert same(run.arrays, expected())
        assert (run.time, run.accesses) == (runs[0].time, runs[0].accesses)
    assert runs[2].findings == ()


@mm.program
def gathered(T, x, added, most, least, common):
    hashed = mm.uint64(x[T.id]) * MULTIPLIER
    mm.atomic.add(added, x[T.id] % 8, hashed)
    mm.atomic.max(most, x[T.id] % 8, hashed)
    mm.atomic.min(least, x[T.id] % 8, hashed)
    mm.atomic.and_(common, T.threadIdx.x % 2, hashed | 3)


@pytest.mark.parametrize("path", ["fused", "plain", "interpreted"])
def test_atomics_on_unsigned_words_of_64_bits_along_every_path(path):
    x = np.arange(2048) * 37 % 101
    all_bits = 2**64 - 1
    most, least = np.zeros(8, np.uint64), np.full(8, all_bits, np.uint64)
    run = agrees(
        path,
        gathered,
        *(x, np.zeros(8, np.uint64), most, least, np.full(2, all_bits, np.uint64)),
        threads=2048,
        machine=mm.HMM(2, 32, 5),
        block_size=256,
    )
    hashed = x.astype(np.uint64) * np.uint64(MULTIPLIER)
    added, mask = np.zeros(8, np.uint64), np.full(2, all_bits, np.uint64)
    np.add.at(added, x % 8, hashed)
    np.maximum.at(most, x % 8, hashed)
    np.minimum.at(least, x % 8, hashed)
    np.bitwise_and.at(mask, np.arange(2048) % 2, hashed | np.uint64(3))
    expected = {"added": added, "most": most, "least": least, "common": mask, "x": x}
    assert same(run.arrays, expected)


@needs_compiler
def test_so_does_its_kernel(tmp_path):
    written = kernel(together, *arguments(), grid=GRID, block=BLOCK)
    for backward in (False, True):
        assert same(Emulated([written], tmp_path).run(0, backward), expected())


def test_a_pass_may_change_every_expression():
    """The parts of an expression or a statement can be put into it again, and replaced."""

    def marked(value):
        return ir.Const(7) if isinstance(value, ir.Var) else with_operands(value, marked)

    def same_again(value):
        return with_operands(value, same_again)

    seen = set()
    for statement in statements(together.code.body):
        seen.add(type(statement))
        assert with_expressions(statement, same_again) == statement
        changed = []
        with_expressions(statement, lambda value, changed=changed: changed.append(value) or value)
        for value in map(marked, changed):
            assert not any(isinstance(part, ir.Var) for part in [value, *operands(value)])
    assert {ir.Atomic, ir.Exchange, ir.Barrier} <= seen
    (barrier,) = (one for one in statements(together.code.body) if isinstance(one, ir.Barrier))
    assert with_expressions(barrier, lambda value: ir.Const(True)).test == ir.Const(True)
