"""What is written as CUDA C computes what the simulator does, run on the CPU block by block.

The emulation lets the threads of a block run in turn from barrier to barrier, in
ascending and in descending order, so that only programs without a race come out the same.
"""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

import mmsim as mm
import mmsim_algorithms
from mmsim.cuda_c import kernels
from mmsim.gpu import kernel
from tests.kit.generators.lane_races import draw_cases
from tests.kit.generators.random_programs import run_case, same
from tests.kit.oracle.emulated_gpu import Emulated, needs_compiler

pytestmark = needs_compiler

MACHINES = {"global": mm.HMM(4, 32, 5), "shared": mm.DMM(32, 5)}


# ------------------------------------------------------------ one rule at a time

RULES = []


def rule(*arguments, threads=1, block_size=None, spaces=("global", "shared")):
    """A program and the arguments to try it with."""

    def add(function):
        program = function if isinstance(function, mm.Program) else mm.program(function)
        for space in spaces:
            RULES.append((program, arguments, threads, block_size, space))
        return program

    return add


WHOLE = np.array([0, 1, -1, 2, -2, 3, -3, 7, -7, 63, 64, 65, 2**62, 2**63 - 1, -(2**63)])
X, Y = (part.ravel() for part in np.meshgrid(WHOLE, WHOLE))
PARTS = np.array([0.0, -0.0, 0.5, -0.75, 1.0, 2.5, -3.0, 1e300, 0.1, math.inf, -math.inf, math.nan])
F, G = (part.ravel() for part in np.meshgrid(PARTS, PARTS))


WORDS = {
    dtype: (np.arange(96) * 7 % 61).astype(dtype)
    for dtype in ("int8", "uint16", "int32", "uint64", "float32", "float64", "bool")
}


def vectors_of(count):
    """A program that reads and writes vectors of so many elements."""

    def vectors(T, a, b, x):
        s = mm.shared(96, dtype=a.dtype)
        if T.id % 3 < 2:
            mm.vector(s, count)[T.id] = mm.vector(a, count)[T.id]
        T.barrier()
        v = mm.vector(s, count)[T.id ^ 1]
        mm.vector(b, count)[T.id % 2, T.id // 2] = v
        p, q = mm.vector(x, 2)[T.id // 2 % 8, T.id % 2]
        if T.id < 16:
            mm.vector(x, 2)[T.id // 2, T.id % 2] = q - 0.5, p + v[0]

    return vectors


for dtype, words in WORDS.items():
    for count in (2, 4, 8, 16):
        own = words, np.zeros((2, 48), dtype), np.arange(256.0).reshape(8, 32)
        rule(*own, threads=96 // count)(vectors_of(count))
swizzled = mm.place(np.arange(256.0).reshape(8, 32), mm.layout.Swizzle(3, 2, 3))
rule(WORDS["float64"], np.zeros((2, 48)), swizzled, threads=24)(vectors_of(4))


def rows(count, dtype, size):
    """The same words in so many rows."""
    return np.tile(np.resize(WHOLE, size).astype(dtype), (count, 1))


INT32 = np.array([0, 1, -1, 5, 2**31 - 1, -(2**31)], np.int32)
with np.errstate(over="ignore"):
    F32, G32 = F.astype(np.float32), G.astype(np.float32)
UINT32 = np.array([0, 1, 4, 5, 2**32 - 1, 2**31], np.uint32)


@rule(rows(9, np.int64, X.size), Y, np.zeros((9, X.size), np.int64), threads=X.size)
@rule(rows(9, np.int32, 6), INT32, np.zeros((9, 6), np.int32), threads=6)
@rule(rows(9, np.uint32, 6), UINT32, np.zeros((9, 6), np.uint32), threads=6)
def atomics(T, words, y, old):
    i = T.id
    old[0, i] = mm.atomic.add(words, (0, i), y[i])
    old[1, i] = mm.atomic.sub(words, (1, i), y[i])
    old[2, i] = mm.atomic.max(words, (2, i), y[i])
    old[3, i] = mm.atomic.min(words, (3, i), y[i])
    old[4, i] = mm.atomic.and_(words, (4, i), y[i])
    old[5, i] = mm.atomic.or_(words, (5, i), y[i])
    old[6, i] = mm.atomic.xor(words, (6, i), y[i])
    old[7, i] = mm.atomic.exch(words, (7, i), y[i])
    old[8, i] = mm.atomic.cas(words, (8, i), y[i], 9)


@rule(np.tile(UINT32, (2, 6)), np.repeat(UINT32, 6), np.zeros((2, 36), np.uint32), threads=36)
def atomic_counters(T, words, y, old):
    i = T.id
    old[0, i] = mm.atomic.inc(words, (0, i), y[i])
    old[1, i] = mm.atomic.dec(words, (1, i), y[i])


@rule(np.tile(F, (3, 1)), G, np.zeros((3, F.size)), threads=F.size)
@rule(np.tile(F32, (3, 1)), G32, np.zeros((3, F.size), np.float32), threads=F.size)
def atomic_floats(T, words, y, old):
    i = T.id
    old[0, i] = mm.atomic.add(words, (0, i), y[i])
    old[1, i] = mm.atomic.exch(words, (1, i), y[i])
    old[2, i] = mm.atomic.cas(words, (2, i), y[i], 9.5)


@rule(np.arange(40) % 7, np.zeros(40, np.int64), threads=40)
def returns_and_barriers(T, a, out):
    s = mm.shared(40)
    s[T.id] = a[T.id]
    T.barrier()
    for k in range(3):
        if a[T.id] == 5 and T.id >= 32:
            pass
        out[T.id] += s[(T.id + k) % 40]
    T.barrier()
    if T.id >= 32:
        return
    s[T.id] = out[T.id] * 2
    T.barrier()
    out[T.id] += s[(T.id + 7) % 32]
    T.barrier()
    for k in range(100):
        if k == T.id:
            return
        out[T.id] += k


@rule(np.zeros((3, 64), np.int64), threads=64, block_size=16, spaces=["global"])
def untouched_words_hold_0(T, out):
    s = mm.shared((2, 16))
    out[T.block % 3, T.id] = s[1, T.index] + s[0, 15 - T.index]
    T.barrier()
    s[1, T.index] = 5 + T.id
    s[0, T.index] = 9


@rule(
    np.array([-128, 127, -1, 0], np.int8),
    np.array([255, 0, 128, 7], np.uint8),
    np.array([-32768, 5, 32767, 1], np.int16),
    np.array([2**32 - 1, 1, 2**31, 3], np.uint32),
    np.array([0.1, 1e30, -0.0, 2.5], np.float32),
    np.array([True, False, True, True]),
    np.zeros((4, 4)),
    threads=4,
)
def narrow_types(T, a, b, c, d, e, f, out):
    i = T.id
    out[0, i] = a[i] * b[i] + c[i] * d[i]
    out[1, i] = e[i] * e[i] if f[i] else -e[i]
    out[2, i] = min(a[i], c[i]) + max(b[i], d[i]) + min(e[i], e[3]) + (f[i] or a[i])
    out[3, i] = (d[i] << 3) + (a[i] and b[i]) + (e[i] and 2)
    T.barrier()
    a[i], b[i] = -a[i] % 100, abs(b[i]) // 2
    d[i] = d[i] - 1
    e[i] = e[i] + i
    f[i] = (not f[i] and i > 0) or a[i] > b[i]


@rule(np.arange(8000.0).reshape(80, 100), np.zeros((80, 100)), threads=100, spaces=["shared"])
def much_shared_memory(T, a, b):
    s = mm.shared(100, dtype=bool)
    s[T.id] = T.id % 3 == 0
    T.barrier()
    for i in range(80):
        b[i, T.id] = a[i, 99 - T.id] * s[(T.id + i) % 100]


@rule(np.arange(5), 3, 2.5, True, threads=5)
def int(T, double, linux, index, at_double):
    for_, 名, __x = linux, index, at_double
    double[T.id] = (double[T.id] + for_) * 2 if __x else 0
    new = 名 * 2
    double[T.id] += T.id * (new > 4)


A = np.arange(40) * 3 % 41


@rule(A, np.zeros((14, 40), np.int64), 7, threads=40)
@rule(A, np.zeros((14, 40), np.int64), 1, threads=40, block_size=32, spaces=["global"])
def exchange(T, a, out, n):
    i = T.id
    x = a[i]
    here = min(T.block_size - T.index // 32 * 32, 32)
    if T.blocks > 1:
        here = min(T.count - i // 32 * 32, 32)
    out[0, i] = mm.warp.shuffle(x, (T.lane + n) % here - 32)
    out[1, i] = mm.warp.shuffle_up(x * 2, n * 5)
    out[2, i] = mm.warp.shuffle_up(x > 9, T.lane)
    if here == 32:
        out[3, i] = mm.warp.shuffle_down(x, T.lane * n)
        out[4, i] = mm.warp.shuffle_xor(x / 2, n * 9) > 8.5
    out[5, i] = mm.warp.ballot(x % 3)
    out[6, i] = mm.warp.any(x == 6) + 2 * mm.warp.all(x > 5)
    out[7, i] = mm.warp.match_any(x // 8)
    out[8, i] = mm.warp.match_all(here) + mm.warp.match_all(x)
    out[9, i] = mm.warp.active_mask()
    if x % 2:
        out[10, i] = mm.warp.ballot(x % 4 == 1)
        if x > 20:
            out[10, i] += mm.warp.active_mask()
        else:
            out[10, i] -= mm.warp.active_mask()
    k = 0
    while k * k < x:
        k += 1
        out[11, i] += mm.warp.active_mask()
        if x % 5 == k:
            break
        out[11, i] -= mm.warp.ballot(x > k)
    for k in range(x % 4):
        out[12, i] += mm.warp.match_any(k) * k
    if x > 30:
        return
    out[13, i] = mm.warp.ballot(x > 15)
    mm.warp.sync()


@rule(
    np.arange(40) * (2 - 1j),
    np.zeros((4, 40), np.complex64),
    np.zeros((3, 40), np.int64),
    1,
    threads=40,
    block_size=32,
    spaces=["global"],
)
def complex_exchange(T, a, out, votes, n):
    i = T.id
    z = a[i]
    w = mm.complex64(z * 1j)
    out[0, i] = mm.warp.shuffle(z, n)
    out[1, i] = mm.warp.shuffle_up(w, T.lane * n)
    if T.block == 0:
        out[2, i] = mm.warp.shuffle_down(z + 1j, n * 9)
        out[3, i] = mm.warp.shuffle_xor(w * 2, n * 5)
        votes[0, i] = mm.warp.ballot(z) - 2 * mm.warp.any(z - 4)
    votes[1, i] = mm.warp.all(z + 1) + 2 * T.barrier_and(z) + 4 * T.barrier_or(z - 8 + 4j)
    votes[2, i] = T.barrier_count(w)


def every_other(x):
    if x % 2:
        return 0
    return mm.warp.active_mask()


@rule(A, np.zeros((5, 40), np.int64), threads=40)
def counting_barriers(T, a, out):
    out[0, T.id] = T.barrier_or(a[T.id] > 39) + 2 * T.barrier_and(a[T.id])
    out[1, T.id] = T.barrier_count(a[T.id] > 20)
    T.grid_barrier()
    out[2, T.id] = every_other(a[T.id])
    out[3, T.id] = out[1, (T.id + 1) % 40]
    k = 0
    while T.barrier_or(a[T.id] > 5 * k):
        k += 1
    out[4, T.id] = k


@rule(A, np.zeros((3, 40), np.int64), threads=40)
def branches_in_loops_without_exchange(T, a, out):
    i, k = T.id, 0
    while k < a[i] % 4:
        k += 1
        if a[i] % 3 == 0:
            continue
        out[0, i] += k
    for n in range(a[i] % 5):
        if n > a[i] % 7:
            break
        out[1, i] += n
    out[2, i] = mm.warp.ballot(out[0, i] > out[1, i])


def placed(layout, shape, dtype=np.int64):
    return mm.place(np.arange(math.prod(shape), dtype=dtype).reshape(shape), layout)


class Backwards:
    """A layout that is not a rotation."""

    def offsets(self, shape):
        return np.arange(math.prod(shape))[::-1].reshape(shape)


LAYOUTS = [
    placed(mm.layout.RAP(32, seed=3), (32, 32)),
    placed(mm.layout.RAS(32, seed=3), (7, 32), np.int32),
    placed(mm.layout.RAS(32, seed=3), (100, 32), np.float32),
    *(placed(mm.layout.RAS(300, seed=3), (3, 300)), placed(mm.layout.RAS(4, seed=3), (1100, 4))),
    *(placed(mm.layout.Diagonal(32), (40, 32)), placed(mm.layout.RAS(8, seed=1), (64,))),
    *(placed(mm.layout.ThreeP(4, seed=1), (4, 4, 4, 4)), placed(mm.layout.RAW(), (5, 6))),
    placed(Backwards(), (5, 6)),
]


def moved(T, a, b):
    for n in range(T.id, a.size, T.count):
        columns = a.shape[1]
        b[n // columns, n % columns] = a[n // columns, n % columns]
        a[n // columns, n % columns] = n


def moved_1(T, a, b):
    for n in range(T.id, a.size, T.count):
        b[n] = a[n]
        a[n] = n + 3


def moved_4(T, a, b):
    for n in range(T.id, a.size, T.count):
        i, j, k, l = n // 64, n // 16 % 4, n // 4 % 4, n % 4
        b[i, j, k, l] = a[i, j, k, l]
        a[i, j, k, l] = n + 3


for one in LAYOUTS:
    function = {1: moved_1, 2: moved, 4: moved_4}[one.data.ndim]
    rule(one, np.zeros_like(one.data), threads=24)(function)


def rows_of_the_language():
    """The programs of the language's own tests that say which words they leave."""
    path = Path(__file__).parents[1] / "frontend" / "test_language_meaning.py"
    spec = importlib.util.spec_from_file_location("rows_of_the_language", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [row.values for row in module.ROWS]


for function, _, arguments, how in rows_of_the_language():
    out = np.zeros(how.get("size", 4), how.get("dtype", np.int64))
    rule(*arguments, out, threads=how.get("threads", 4))(function)


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    written = [
        kernel(program, *arguments, threads=threads, block_size=block_size, space=space)
        for program, arguments, threads, block_size, space in RULES
    ]
    return Emulated(written, tmp_path_factory.mktemp("rules"))


@pytest.mark.parametrize(
    "number", range(len(RULES)), ids=[f"{one[0].name}-{one[4]}" for one in RULES]
)
def test_a_rule_of_the_language(rules, number):
    program, arguments, threads, block_size, space = RULES[number]
    run = MACHINES[space].run(program, *arguments, threads=threads, block_size=block_size)
    for backward in (False, True):
        assert same(rules.run(number, backward), run.arrays), rules.kernels[number].source


def test_repeating_a_program_repeats_it(tmp_path):
    @mm.program
    def again(T, a):
        if T.id == 3:
            return
        a[T.id] += a[3]

    written = kernel(again, np.arange(8), threads=8, space="shared")
    emulated = Emulated([written], tmp_path)
    for repeat in (0, 1, 5):
        expected = np.arange(8) + 3 * repeat * (np.arange(8) != 3)
        assert (emulated.run(0, repeat=repeat)["a"] == expected).all()


# ------------------------------------------------------------ the papers' programs

NEED_LOCK_STEP = {"crsw", "srcw", "drdw", "column_wise", "permutation"}
"""Examples whose threads exchange words without a barrier."""
WAIT_FOR_EARLIER_BLOCKS = {"look_back", "bands"}
"""Programs that never end where later blocks come first, and each block runs to its end."""


@pytest.mark.parametrize(
    "twelfth", [0, *(pytest.param(k, marks=pytest.mark.long) for k in range(1, 12))]
)
def test_the_papers_programs_compute_what_they_do_when_simulated(tmp_path, twelfth):
    written, launches = [], []
    chosen = list(mmsim_algorithms.programs())[twelfth::12]
    for program in chosen:
        example = program.prepare(32)
        block_size = example.block_size
        several = block_size is not None and block_size < example.threads
        for space in ["global"] if several else ["global", "shared"]:
            sizes = {"threads": example.threads, "block_size": block_size}
            written.append(kernel(program, *example.arguments, **sizes, space=space))
            launches.append((program, example.arguments, sizes, MACHINES[space]))
    emulated = Emulated(written, tmp_path)
    different = set()
    for number, (program, arguments, sizes, machine) in enumerate(launches):
        run = machine.run(program, *arguments, **sizes)
        orders = (False,) if program.name in WAIT_FOR_EARLIER_BLOCKS else (False, True)
        for backward in orders:
            if not same(emulated.run(number, backward), run.arrays):
                different.add(program.name)
    assert different == NEED_LOCK_STEP & {program.name for program in chosen}
    assert len(launches) > 15


def test_in_lock_step_programs_that_lean_on_it_are_right_too(tmp_path):
    written, launches = [], []
    for program in mmsim_algorithms.programs():
        if program.name in NEED_LOCK_STEP:
            example = program.prepare(32)
            for space in ("global", "shared"):
                options = {"threads": example.threads, "space": space, "lock_step": True}
                written.append(kernel(program, *example.arguments, **options))
                launches.append((program, example, MACHINES[space]))
    assert len(launches) == 2 * len(NEED_LOCK_STEP)
    emulated = Emulated(written, tmp_path)
    for number, (program, example, machine) in enumerate(launches):
        run = machine.run(program, *example.arguments, threads=example.threads)
        for backward in (False, True):
            assert same(emulated.run(number, backward), run.arrays), program


# ------------------------------------------------------------ random programs


def compare(cases, folder, monkeypatch):
    written, launched = [], []
    for case in cases:
        monkeypatch.setattr(kernels, "WARP", case.machine_spec.width)
        sizes = case.launch
        one_block = case.block_size in (None, case.threads)
        for space in ["global", "shared"] if one_block else ["global"]:
            written.append(kernel(case.program, *case.arguments, **sizes, space=space))
            launched.append(case)
    emulated = Emulated(written, folder)
    for number, case in enumerate(launched):
        arrays = run_case(case, "synchronous").arrays
        for backward in (False, True):
            result = emulated.run(number, backward)
            assert same(result, arrays), f"{case}\n{written[number].source}\n{result}\n{arrays}"


def test_random_programs_compute_what_they_do_when_simulated(tmp_path, monkeypatch):
    compare(draw_cases(15, 0), tmp_path, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("number", range(1, 10))
def test_many_random_programs_compute_what_they_do_when_simulated(number, tmp_path, monkeypatch):
    compare(draw_cases(600, number), tmp_path, monkeypatch)
