"""The CUDA C of a program: how it reads, what it refuses, and that nvcc takes it."""

from __future__ import annotations

import re
import shutil
import subprocess
import textwrap
from itertools import product

import numpy as np
import pytest
from test_cuda_emulated import RULES

import mmsim as mm
import mmsim_algorithms
from mmsim.gpu import kernel
from mmsim.ir.operators import BINARY
from mmsim.ir.row import WHOLE, is_within
from mmsim_algorithms import hmm_permutation, rap, transpose
from tests.kit.generators.random_programs import define

NVCC = shutil.which("nvcc")
needs_nvcc = pytest.mark.skipif(NVCC is None, reason="there is no nvcc")


def body(text):
    """The lines between the braces of a kernel."""
    inside = text[text.index("__global__") :].split("{\n", 1)[1].rsplit("}", 1)[0]
    return textwrap.dedent(inside)


def lines(text):
    return textwrap.dedent(text).lstrip("\n")


# ------------------------------------------------------------ how it reads


def test_a_program_for_shared_memory_reads_like_the_paper():
    example = transpose.diagonal.prepare(32)
    text = transpose.diagonal.cuda(*example.arguments, threads=1024, space="shared")
    assert text.startswith(
        lines("""
        // diagonal in CUDA C: p = 1024 threads, 1 block of 1024.
        // SMM section 5, [Transpose by the diagonal access on the DMM] (Lemma 5.1).
        // Compile with --fmad=false: Python never fuses a product and a sum.
        """)
    )
    assert text.endswith(
        lines("""
        extern "C" __global__ void diagonal(
            const long long *from_a,
            long long *from_b,
            int repeat,
            long long *cycles)
        {
            __shared__ __align__(128) volatile long long a[32][32];
            __shared__ __align__(128) volatile long long b[32][32];
            copy_words(&a[0][0], from_a, 1024);
            copy_words(&b[0][0], from_b, 1024);
            __syncthreads();
            __builtin_assume(threadIdx.x < 1024);
            const struct { long long id, count; } T = {threadIdx.x, 1024};
            long long start = clock64();
            for (int turn = 0; turn < repeat; turn++) {
                // rows = a.shape[0]
                long long rows = 32;
                // n, p, i = a.size, T.count, T.id
                long long n = 1024;
                long long p = T.count;
                long long i = T.id;
                // for t in range(n // p):
                for (long long t = 0; t < n / p; t++) {
                    // j = (t * p + i) // rows
                    long long j = (t * p + i) / rows;
                    // k = (t * p + i) % rows
                    long long k = (t * p + i) % rows;
                    // b[(j + k) % rows, k] = a[k, (j + k) % rows]
                    b[(j + k) % rows][k] = a[k][(j + k) % rows];
                }
            }
            __syncthreads();
            if (threadIdx.x == 0)
                *cycles = clock64() - start;
            copy_words(from_b, &b[0][0], 1024);
        }
        """)
    )


def test_a_program_for_the_hmm_reads_like_the_paper():
    example = hmm_permutation.row_wise.prepare(32)
    sizes = {"threads": example.threads, "block_size": example.block_size}
    text = hmm_permutation.row_wise.cuda(*example.arguments, **sizes, clear_shared=False)
    assert body(text) == lines("""
        __shared__ __align__(128) volatile long long alpha[64];
        __shared__ __align__(128) volatile long long beta[64];
        const struct { long long index, block; } T = {threadIdx.x, blockIdx.x};
        // i, j = T.block, T.index
        long long i = T.block;
        long long j = T.index;
        // alpha[j] = a[i, j]
        alpha[j] = a[i][j];
        // source, target = s[i, j], d[i, j]
        long long source = s[i][j];
        long long target = d[i][j];
        // T.barrier()
        __syncthreads();
        // beta[target] = alpha[source]
        beta[target] = alpha[source];
        // T.barrier()
        __syncthreads();
        // b[i, j] = beta[j]
        b[i][j] = beta[j];
        """)
    assert "const volatile long long (*a)[64],\n    volatile long long (*b)[64]," in text
    cleared = hmm_permutation.row_wise.cuda(*example.arguments, **sizes)
    assert "clear(alpha, 64);\n    clear(beta, 64);\n    __syncthreads();\n" in cleared


def test_rap_is_packed_into_numbers_as_in_the_paper():
    a = mm.place(np.zeros((32, 32)), mm.layout.RAP(32, shifts=tuple(range(31, -1, -1))))
    text = rap.crsw.cuda(a, threads=1024, space="shared")
    words = [sum((31 - i) << (5 * (i % 12)) for i in row) for row in (range(12), range(12, 24))]
    assert f"i < 12 ? {words[0]:#018x}ULL :\n        i < 24 ? {words[1]:#018x}ULL :" in text
    assert "return r >> (5 * (i % 12)) & 0x1f;" in text
    assert "return i * 32 + (j + shift_a(i)) % 32;" in text
    assert "a[at_a(j, i)] = a[at_a(i, j)];" in text


@pytest.mark.parametrize(
    ("layout", "shape", "expected"),
    [
        (mm.layout.Diagonal(8), (20, 8), "return i * 8 + (j + i) % 8;"),
        (mm.layout.RAS(8), (100, 8), "__constant__ unsigned char shifts_a[100] = {"),
        (mm.layout.RAS(8), (2000, 8), "return offsets_a[i * 8 + j];"),
        (mm.layout.OneP(4), (4, 4, 4, 4), "((i * 4 + j) * 4 + k) * 4 + (l + shift_a("),
    ],
)
def test_layouts_are_small_functions(layout, shape, expected):
    @mm.program
    def one(T, a):
        a[0, 0]

    @mm.program
    def first(T, a):
        a[0, 0, 0, 0]

    program = one if len(shape) == 2 else first
    written = kernel(program, mm.place(np.zeros(shape), layout), threads=1)
    assert expected in written.source
    passed = [argument for argument in written.arguments if argument.role == "offsets"]
    assert len(passed) == ("offsets_a" in expected)
    assert all((one.words() == layout.offsets(shape).ravel()).all() for one in passed)


def test_division_rounds_down_wherever_that_makes_a_difference():
    @mm.program
    def divided(T, a, w):
        i = T.id - 1
        a[T.id // w] = a[T.id % w] // 2 + i // w - i % w
        a[T.id] = a[T.id] / 2 // 1 % -0.5

    text = body(divided.cuda(np.zeros(8), 4, threads=8))
    assert "const long long w = 4;" in text
    assert "a[T.id / w] = float_floor_div(a[T.id % w], 2.0) + (double)floor_div(i, w)" in text
    assert "- (double)modulo(i, w);" in text
    assert "float_modulo(float_floor_div(a[T.id] / 2.0, 1.0), -0.5)" in text


def test_arithmetic_wraps_around_wherever_it_could_overflow():
    @mm.program
    def sums(T, a):
        a[T.id] = a[T.id] + T.id * 3 - 1

    assert "a[T.id] = subtract(add(a[T.id], T.id * 3), 1);" in sums.cuda(np.arange(9), threads=9)
    assert "add(" not in sums.cuda(np.zeros(9), threads=9)
    narrow = sums.cuda(np.arange(9, dtype=np.int32), threads=9)
    assert "a[T.id] = (long long)a[T.id] + T.id * 3 - 1;" in narrow


@pytest.mark.parametrize("op", sorted(BINARY.keys() - {"/", "**"}))
def test_the_range_of_an_operation_holds_all_that_it_gives(op):
    ends = [-70, -9, -2, -1, 0, 1, 3, 8, 66]
    some = [(low, high) for low in ends for high in ends if low <= high <= low + 12]
    for left, right in product(some, some):
        found = BINARY[op].range(left, right)
        if found is not None and not is_within(found, WHOLE):
            continue
        for x, y in product(range(left[0], left[1] + 1), range(right[0], right[1] + 1)):
            fails = y == 0 if op in ("//", "%") else y < 0 and op in ("<<", ">>")
            if found is not None and not fails:
                assert found[0] <= BINARY[op].python(x, y) <= found[1], (left, right)


def test_c_gets_the_truth_of_a_complex_number_and_not_the_number():
    @mm.program
    def facts(T, b):
        if T.id > 2:
            b[T.id] = bool(mm.complex128(1j))
        else:
            b[T.id] = mm.complex64(T.id) != 0

    text = body(facts.cuda(np.zeros(8, bool), threads=8))
    assert "b[T.id] = true;" in text
    assert "complex<double>" not in text


def test_a_variable_lives_where_all_who_read_it_can_see_it():
    @mm.program
    def carries(T, a):
        for k in range(4):
            if k > 0:
                a[T.id] += before + k  # noqa: F821 (from the trip before)
            before = k * 2
            if a[T.id] > 9:
                half = a[T.id] / 2
            else:
                half = 0
            a[T.id] += half

    text = body(carries.cuda(np.zeros(4), threads=4))
    assert "long long before;\ndouble half;\nfor (long long k = 0; k < 4; k++) {\n" in text
    assert "\n    before = k * 2;\n" in text


def test_threads_beyond_p_do_nothing():
    @mm.program
    def copy(T, a):
        a[T.id] = T.warp

    written = kernel(copy, np.arange(100), threads=100, block_size=48)
    assert (written.grid, written.block, written.name) == ((3, 1, 1), (48, 1, 1), "copy_")
    assert body(written.source).startswith(
        "if (blockIdx.x * 48LL + threadIdx.x >= 100)\n    return;\n"
    )
    assert "blockIdx.x * 2LL + threadIdx.x / 32" in written.source
    whole = copy.cuda(np.arange(96), threads=96, block_size=48)
    assert "return" not in body(whole)


def test_unused_reads_stay_and_each_is_an_access_of_its_own():
    @mm.program
    def reads(T, a, b):
        a[T.id]
        b[T.id] = a[T.id] + a[T.id] * 2
        b[int(a[T.id])] = a[0]

    assert body(reads.cuda(np.zeros(9), np.zeros(9), threads=9)) == lines("""
        const struct { long long id; } T = {threadIdx.x};
        // a[T.id]
        (void)a[T.id];
        // b[T.id] = a[T.id] + a[T.id] * 2
        double t = a[T.id];
        b[T.id] = t + a[T.id] * 2.0;
        // b[int(a[T.id])] = a[0]
        double t_3 = a[0];
        b[(long long)a[T.id]] = t_3;
        """)


def test_adjacent_elements_are_accessed_together():
    @mm.program
    def halves(T, a, b):
        x, y, z, w = mm.vector(a, 4)[T.block, T.index]
        mm.vector(b, 8)[T.id] = x, y, z, w, 0, 0, 0, 1

    text = halves.cuda(np.zeros((2, 16), "float32"), np.zeros(64), threads=8, block_size=4)
    assert body(text).split(";\n", 1)[1] == lines("""
        // x, y, z, w = mm.vector(a, 4)[T.block, T.index]
        const float4 vector = read_vector<float4>(&a[T.block][4LL * T.index]);
        float x = vector.x;
        float y = vector.y;
        float z = vector.z;
        float w = vector.w;
        // mm.vector(b, 8)[T.id] = x, y, z, w, 0, 0, 0, 1
        write_vector(&b[8LL * T.id], make_double2(x, y));
        write_vector(&b[8LL * T.id] + 2, make_double2(z, w));
        write_vector(&b[8LL * T.id] + 4, make_double2(0, 0));
        write_vector(&b[8LL * T.id] + 6, make_double2(0, 1));
        """)
    assert "    return *(const Vector *)from;" in text
    assert "    *(Vector *)to = from;" in text


def test_narrow_elements_make_vectors_of_the_words_that_they_are_kept_in():
    @mm.program
    def narrow(T, a):
        s = mm.shared(64, dtype=a.dtype)
        mm.vector(s, 4)[T.id] = mm.vector(a, 4)[T.id]

    text = narrow.cuda(np.zeros(64, "uint8"), threads=16)
    assert "const uchar4 vector = read_vector<uchar4>(&a[4LL * T.id]);" in text
    assert "write_vector(&s[4LL * T.id], make_uint4(" in text


def test_no_variable_is_called_like_a_vector():
    @mm.program
    def named(T, a):
        float2, vector = 1, 2
        make_float2 = T.id
        x, y = mm.vector(a, 2)[T.id]
        mm.vector(a, 2)[T.id] = float2 + vector + x, make_float2 + y

    text = named.cuda(np.zeros(8, "float32"), threads=4)
    assert "long long float2_ = 1;" in text
    assert "const float2 vector_2 = read_vector<float2>(&a[2LL * T.id]);" in text
    assert "long long make_float2_ = T.id;" in text


def test_a_returned_thread_still_comes_to_the_barriers_of_shared_space():
    @mm.program
    def leaves(T, a):
        if T.id > 3:
            return
        T.barrier()
        a[T.id] = 1

    text = leaves.cuda(np.zeros(8), threads=8, space="shared")
    assert "goto end_of_program;" in text
    assert "__syncthreads_and(0);" in text
    assert "while (!__syncthreads_and(1))" in text
    assert "return;" in leaves.cuda(np.zeros(8), threads=8)


def test_narrow_elements_fill_a_bank_in_shared_memory():
    @mm.program
    def moves(T, a, b):
        s = mm.shared(32, dtype=np.uint16)
        s[T.id] = 3
        b[T.id] = a[T.id]

    args = np.zeros(32, bool), np.zeros(32, np.int8)
    text = moves.cuda(*args, threads=32, space="shared")
    assert "const unsigned char *from_a" in text
    assert "volatile int a[32];" in text
    assert "volatile unsigned int s[32];" in text
    assert "volatile signed char *b" in moves.cuda(*args, threads=32)


def test_a_long_sum_takes_no_long_time():
    terms = " + ".join(f"a[{n} % 7] * T.id" for n in range(400))
    program = mm.program(define(f"def long(T, a):\n    a[0] = {terms}\n", "long"))
    for dtype in (int, float):
        code = re.sub("//.*", "", program.cuda(np.zeros(7, dtype), threads=1))
        assert code.count("a[") == 400 + 1


# ------------------------------------------------------------ what it refuses


@mm.program
def identity(T, a):
    a[T.id] = a[T.id]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threads": 2000}, "a block of 2000 threads, but a GPU's has at most 1024"),
        ({"threads": 64, "block_size": 32, "space": "shared"}, "2 blocks can't have their arrays"),
        ({"threads": 64, "space": "local"}, "space must be 'global' or 'shared'"),
    ],
)
def test_what_a_gpu_cannot_run(options, message):
    with pytest.raises(mm.MMSimError, match=message):
        identity.cuda(np.zeros(2000), **options)


def test_an_index_that_cannot_be_is_refused():
    @mm.program
    def half(T, a):
        a[T.id / 2] = 1

    with pytest.raises(mm.ProgramError, match="an address is a whole number"):
        half.cuda(np.zeros(4), threads=4)
    with pytest.raises(mm.ProgramError, match="2 dimensions but is used with 1"):
        identity.cuda(np.zeros((4, 4)), threads=4)


def test_in_lock_step_threads_wait_after_every_access():
    @mm.program
    def swap(T, a, n):
        for k in range(n):
            a[T.count - 1 - T.id] = a[T.id] + k

    text = swap.cuda(np.zeros(64, int), 2, threads=64, lock_step=True)
    assert (
        body(text)[-6:]
        == lines("""
                // a[T.count - 1 - T.id] = a[T.id] + k
                long long t_1 = a[T.id];
                __syncthreads();
                a[T.count - 1 - T.id] = t_1 + k;
                __syncthreads();
            }
        """)[-6:]
    )


def test_what_cannot_run_in_lock_step_is_refused():
    @mm.program
    def parting(T, a):
        if a[T.id] > 0:
            a[T.id] = 0

    @mm.program
    def own_loop(T, a):
        for k in range(T.id):
            a[k] = 0

    for program in (parting, own_loop):
        with pytest.raises(mm.MMSimError, match=r"threads may diverge \(line \d+ of"):
            program.cuda(np.zeros(64), threads=64, lock_step=True)
    with pytest.raises(mm.MMSimError, match="2 blocks can't run in lock step"):
        identity.cuda(np.zeros(64), threads=64, block_size=32, lock_step=True)


# ------------------------------------------------------------ what nvcc says


def compiled(source, folder):
    """The PTX of a text."""
    path, out = folder / "kernel.cu", folder / "kernel.ptx"
    path.write_text(source)
    command = [NVCC, "-ptx", "--fmad=false", "-o", str(out), str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]
    return out.read_text()


@pytest.mark.long
@needs_nvcc
def test_nvcc_takes_every_text(tmp_path):
    written = []
    for program in mmsim_algorithms.programs():
        example = program.prepare(32)
        sizes = {"threads": example.threads, "block_size": example.block_size}
        written.append(kernel(program, *example.arguments, **sizes))
    for program, arguments, threads, block_size, space in RULES:
        sizes = {"threads": threads, "block_size": block_size}
        written.append(kernel(program, *arguments, **sizes, space=space))
    texts, known = [], set()
    for number, one in enumerate(written):
        text = one.source.replace('extern "C" ', "") if one.name in known else one.source
        known.add(one.name)
        texts.append(f"namespace n{number} {{\n{text}}}\n")
    compiled("".join(texts), tmp_path)


@needs_nvcc
def test_the_compiler_keeps_every_access_in_its_order(tmp_path):
    @mm.program
    def reads(T, a, b):
        a[T.id]
        a[T.id]
        b[T.id] = 1.5
        b[T.id] = a[T.id] + b[T.id]

    text = compiled(reads.cuda(np.zeros(64), np.zeros(64), threads=64), tmp_path)
    found = re.findall(r"(ld|st)\.volatile\.global\.\w+", text)
    assert found == ["ld", "ld", "st", "ld", "ld", "st"]


@needs_nvcc
@pytest.mark.parametrize(
    ("program", "arrays", "between"), [(rap.crsw, 1, ["bar.sync"]), (rap.crsw_to, 2, [])]
)
def test_the_timed_loop_holds_nothing_but_the_accesses(program, arrays, between, tmp_path):
    # In place a repetition reads what the one before wrote: there is a barrier between them.
    a = [mm.place(np.zeros((32, 32)), mm.layout.RAP(32, seed=1)) for _ in range(arrays)]
    text = compiled(program.cuda(*a, threads=1024, space="shared"), tmp_path)
    inside = text[text.index("clock64") : text.rindex("clock64")]
    loop = re.findall(r"(?:ld|st)\.[a-z.0-9]+|bar\.sync", inside)
    turn = ["ld.volatile.shared.f64", "st.volatile.shared.f64", *between]
    assert len(loop) > len(turn)
    assert loop == turn * (len(loop) // len(turn)) + ["bar.sync"]


def test_a_loop_is_plain_only_where_c_counts_as_python_does():
    @mm.program
    def loops(T, a, n):
        top = 4
        for i in range(top):  # its bound changes meanwhile
            top = i
        for k in range(4, 0, -(a[1] % 3)):  # its step may be 0
            a[k] = k
        for j in range(0, -(2**63), -2):  # the last step would pass the least number
            a[j] = j
        for m in range(0, -n, -2):
            a[m] = m

    text = body(loops.cuda(np.zeros(64, int), 5, threads=1))
    assert "for (long long m = 0; m > -n; m += -2)" in text
    assert not re.search(r"for \(long long [ikj] ", text)


def test_c_finds_the_type_of_an_operation_by_the_left_operand():
    @mm.program
    def literals(T, a):
        a[T.id] = min(3, a[0]) + (2 << a[1]) + 5 ** a[2] + 7 % a[3]

    text = body(literals.cuda(np.zeros(8, int), threads=8))
    found = re.findall(r"(minimum|shift_left|power|modulo)\((\w+),", text)
    assert sorted(found) == [
        ("minimum", "3LL"),
        ("modulo", "7"),
        ("power", "5LL"),
        ("shift_left", "2LL"),
    ]


def test_shared_arrays_take_whole_units_of_128_bytes():
    @mm.program
    def two(T, a):
        first = mm.shared(8193, dtype=np.float32)
        second = mm.shared(8192, dtype=np.float64)
        second[T.id] = first[T.id]
        a[T.id] = second[T.id]

    written = kernel(two, np.zeros(4), threads=4)
    assert written.shared_bytes == 128 * 257 + 8 * 8192
    assert f"(memory + {128 * 257})" in written.source
