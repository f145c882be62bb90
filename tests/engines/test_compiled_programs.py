"""Programs really compiled, against the event engine: the papers' own, and types of all kinds."""

import inspect

import numpy as np
import pytest

import mmsim as mm
from mmsim.engines.array.fused import execute
from mmsim_algorithms import rap, transpose, umm_permutation
from mmsim_algorithms.access import rounds as hmm_rounds
from mmsim_algorithms.dmm_permutation import many_arrays
from mmsim_algorithms.hmm_permutation import regular as hmm_regular
from mmsim_algorithms.rap import higher as rap_higher
from mmsim_algorithms.transpose import hmm as hmm_transpose
from mmsim_algorithms.transpose import umm as umm_transpose
from tests.kit.runs.paths import agrees

WIDTH = 8
DMM, UMM, HMM = mm.DMM(WIDTH, 5), mm.UMM(WIDTH, 5), mm.HMM(3, WIDTH, 9)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch, tmp_path_factory):
    """Many pieces on several threads, and nothing kept from another time."""
    monkeypatch.setattr(execute, "PIECE", 2 * WIDTH)
    monkeypatch.setattr(execute, "SHORT", 0)
    monkeypatch.setattr(execute, "PART", 1)
    monkeypatch.setenv("MMSIM_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "compiled"))


MORE = [
    (transpose.diagonal, DMM),
    (rap.contiguous, DMM),
    (rap.stride, DMM),
    (umm_permutation.one_pass, UMM),
    (hmm_regular.bit_reversal, HMM),
    (hmm_rounds.scattered, HMM),
    (many_arrays.conflict_free, DMM),
    (hmm_regular.shuffle, HMM),
]


@pytest.mark.parametrize(
    ("program", "machine"),
    [
        (transpose.straightforward, DMM),
        (rap.diagonal, DMM),
        (rap_higher.stride3, DMM),
        (many_arrays.destination_designated, UMM),
        (umm_transpose.rotating, UMM),
        (hmm_transpose.transpose, HMM),
        (hmm_rounds.one_bank, HMM),
        *(pytest.param(*one, marks=pytest.mark.long) for one in MORE),
    ],
)
def test_the_papers_programs(program, machine):
    example = program.prepare(machine.width)
    how = {"threads": example.threads, "block_size": example.block_size, "machine": machine}
    agrees("fused", program, *example.arguments, **how)


# ------------------------------------------------------------------ types and control


@mm.program
def short_types(T, b, i8, u8, i16):
    x, y = i8[T.id], i16[T.id]
    b[T.id] = not b[T.id] or x < y
    i8[T.id] = max(x, -5) % 100
    u8[T.id] = min(abs(x), 255) if x > 3 else b[T.id]
    i16[T.id] = y ^ x


@mm.program
def long_types(T, b, i8, u32, f32, f64):
    x, y = i8[T.id], u32[T.id]
    u32[T.id] = (y << 3 | y >> 29) & 0xFFFFFFFF
    f32[T.id] = f32[T.id] / 3 + x
    f64[T.id] = f64[T.id] // 0.7 + f64[T.id] % -1.5 + int(f64[T.id]) * y + b[T.id]


@pytest.mark.parametrize("program", [short_types, long_types])
def test_values_of_every_type(program):  # two programs are compiled sooner than one of both
    random = np.random.default_rng(1)
    n = 70
    args = {
        "b": random.random(n) < 0.5,
        "i8": random.integers(-128, 128, n, dtype=np.int8),
        "u8": random.integers(0, 256, n, dtype=np.uint8),
        "i16": random.integers(-(2**15), 2**15, n, dtype=np.int16),
        "u32": random.integers(0, 2**32, n, dtype=np.uint32),
        "f32": random.normal(size=n).astype(np.float32),
        "f64": random.normal(size=n) * 1e5,
    }
    named = [args[name] for name in list(inspect.signature(program.function).parameters)[1:]]
    agrees("fused", program, *named, threads=n, machine=mm.DMM(7, 3))


def weighed(r, x, n):
    if x % 2 == 0:
        r[x % 3] += n
    else:
        r[0] = x
    return r[0] + r[x % 3] * 2


@mm.program
def every_statement(T, a, b, n):
    s = mm.shared((3, T.block_size), dtype=int)
    r = mm.registers(3, dtype=int)
    total = 0
    for k in range(n):
        if k == 4:
            break
        if k % 2 == 1:
            continue
        s[k % 3, T.index] = a[T.id] + k
        if T.lane > 2:
            total += weighed(r, T.id + k, k)
            for j in range(2):
                a[T.id] = total + j
        T.barrier()
        total = total * 3 + s[(k + T.id) % 3, T.block_size - 1 - T.index] // (n - 4)
        T.barrier()
    left = 3
    while left > 0:
        left -= 1
        b[(T.count - 1 - T.id) * 2] = total + left + n // T.blocks
    if T.id % 3 == 0:
        return
    b[2 * T.id + 1] = T.warp * 100 + T.block if T.index < 9 and total else -total


@pytest.mark.parametrize(
    "machine",
    [
        mm.DMM(64, 3),
        pytest.param(mm.UMM(1, 3), marks=pytest.mark.long),
        pytest.param(mm.HMM(2, 65, 9), marks=pytest.mark.long),
    ],
)
def test_statements_of_every_kind(machine):
    args = np.arange(144), np.zeros(288, int), 7
    agrees("fused", every_statement, *args, threads=144, block_size=12, machine=machine)
