"""The operations of small programs, counted by hand, and that counting changes nothing."""

import numpy as np
import pytest
from hypothesis import given, settings
from numba import float64, uint32, uint64

import mmsim as mm
from mmsim import cuda
from mmsim.api.binding import bind
from mmsim.engines.selection import launch
from mmsim.meaning.counted import counted
from mmsim.model.threads import asked
from tests.kit.generators.draws import draws
from tests.kit.generators.race_free_programs import race_free_cases
from tests.kit.generators.random_programs import define, run_case, same
from tests.kit.runs.paths import both_engines

MACHINE = mm.Cached(2, 4, 10)
SINGLES, DOUBLES = np.arange(8, dtype=np.float32), np.arange(8, dtype=np.float64)
WHOLE = np.arange(1, 9)


def run_counted(program, *args, sizes, engine="array", machine=MACHINE):
    """A run, and the operations of each warp by name."""
    own = [one.copy() if isinstance(one, np.ndarray) else one for one in args]
    one = bind(machine, program, own, asked(**sizes), "asynchronous", 1 << 40)
    found = counted(one)
    run = launch(one, engine, False, False)
    return run, {kind: row.tolist() for kind, row in zip(found.kinds, found.warps, strict=True)}


def operations(program, *args, engine="array"):
    """The operations of 2 warps of 4 threads, each a block; of a text or a kernel of Numba."""
    sizes = {"threads": 8, "block_size": 4, "grid": None, "block": None}
    if isinstance(program, str):
        lines = program.splitlines()
        head = "@mm.program\ndef made(T, a, b, n):\n"
        program = define(head + "".join(f"    {line}\n" for line in lines), "made")
        args = *args, *([7] if len(args) == 2 else [])
    else:
        sizes = {"threads": None, "block_size": None, "grid": 2, "block": 4}
    return run_counted(program, *args, sizes=sizes, engine=engine)[1]


def in_each(**counts):
    """The same counts of both warps; `_` stands for a space."""
    return {name.replace("_", " "): [float(count)] * 2 for name, count in counts.items()}


@both_engines
def test_an_access_has_an_address_that_is_computed_once(engine):
    """The place of T.id in a and in b, of 4 accesses; a constant is added in the access."""
    text = "b[T.id] = a[T.id]\nb[T.id] = a[T.id]\n"
    assert operations(text, WHOLE, WHOLE, engine=engine) == in_each(access=4, product_int32=2)
    text = "x = a[(T.id + n) % 4]\ny = a[(T.id + n) % 4 + 3]"
    assert operations(text, WHOLE, WHOLE, engine=engine) == in_each(
        access=2, product_int32=1, sum_int64=1, sum_int32=1
    )


@both_engines
def test_a_loop_tests_once_in_four_trips_and_computes_before_it_what_stays(engine):
    """8 trips from 0 to a word: x * x and T.id + n once; a product and its sum are one operation.

    In each trip x ^ k and a sum, and a quarter of a step, of a test and of two jumps.
    """
    text = (
        "x = T.id + n\ns = 0\nt = a[7]\n"
        "for k in range(t):\n    s = s + x * x + (x ^ k)\nb[T.id] = s"
    )
    assert operations(text, WHOLE, WHOLE, engine=engine) == in_each(
        access=2, choice=4, product_int32=1 + 1 + 1, sum_int64=1 + 16 + 4
    )


@pytest.mark.parametrize(("trips", "of_a_loop"), [(32, 0), (48, 3)])
def test_a_loop_of_a_known_number_of_trips_tests_once_in_16_or_never(trips, of_a_loop):
    found = operations(f"m = {trips}\nfor k in range(m):\n    b[T.id] = k", WHOLE, WHOLE)
    jumps = {"choice": 2 * of_a_loop, "sum int64": 2 * of_a_loop}
    counts = {name: number for name, number in jumps.items() if number}
    assert found == in_each(access=trips, product_int32=trips, **counts)


@both_engines
def test_a_while_counts_the_trips_of_the_slowest_lane(engine):
    """Of lanes 0 to 3: 3 trips, each two jumps, a comparison and a sum."""
    text = "x = T.lane\nwhile x > 0:\n    x = x - 1"
    assert operations(text, WHOLE, WHOLE, engine=engine) == in_each(choice=6, sum_int64=3 + 3)


@both_engines
def test_a_warp_issues_what_one_of_its_lanes_does(engine):
    """Both sides of the first branch in each warp, the second one's in warp 1."""
    text = (
        "if T.lane < 1:\n    b[T.id] = 1\nelse:\n    b[T.id] = 2\n"
        "if T.block == 1:\n    b[T.id] = a[T.id] & 1"
    )
    assert operations(text, WHOLE, WHOLE, engine=engine) == {
        "access": [2, 4],
        "choice": [2, 2],
        "product int32": [2, 4],
        "sum int64": [2, 3],
    }


@pytest.mark.parametrize(
    ("lines", "jumps"),
    [
        (["b[T.id] = 1"] * 4, 1),
        (["b[T.id] = 1"] * 5, 3),
        (["while T.id < 0:", "    n = 5"], 3),
        (["if T.lane < 1:", *["    b[T.id] = 1"] * 5], 1 + 3),
    ],
)
def test_a_branch_with_much_in_it_is_three_jumps(lines, jumps):
    """But at the end of a program lanes don't meet again."""
    text = "\n".join(["if T.lane < 2:", *(f"    {line}" for line in lines)])
    last = operations(text, WHOLE, WHOLE)["choice"]
    assert last == [1 + (jumps == 4)] * 2
    assert operations(f"{text}\nb[T.id] = 2", WHOLE, WHOLE)["choice"] == [jumps, jumps]


def test_a_product_with_a_power_of_two_is_a_shift():
    found = operations("b[T.id] = a[T.id] * 16 + 8 * a[T.id] * n", WHOLE, WHOLE)
    assert found == in_each(access=3, product_int32=2, product_int64=1, sum_int64=2 + 1)


def test_a_place_that_moves_with_a_loop_is_a_sum_in_four_trips():
    """Beside a step, a test and two jumps in four trips; k * k moves by another distance."""
    found = operations("n = a[7]\nfor k in range(n):\n    b[k]", WHOLE, WHOLE)
    assert found == in_each(access=1 + 8, product_int32=1, sum_int64=2 + 4, choice=4)
    found = operations("n = a[3]\nfor k in range(n):\n    b[k * k % 8]", WHOLE, WHOLE)
    assert found == in_each(
        access=1 + 4, product_int32=1 + 4, product_int64=4, sum_int64=4 + 2, choice=2
    )


def test_lanes_that_have_left_issue_nothing():
    text = "if T.block == 0:\n    return\nb[T.id] = 3"
    assert operations(text, WHOLE, WHOLE) == {
        "access": [0, 1],
        "choice": [2, 1],
        "product int32": [0, 1],
        "sum int64": [1, 1],
    }


@pytest.mark.parametrize(
    ("value", "counts"),
    [
        ("T.id // 4", {"sum int32": 1}),
        ("T.id // n", {"product int32": 2, "sum int32": 2}),
        ("T.id % 10", {"product int32": 2, "sum int32": 2}),
        ("a[T.id] % 16", {"sum int64": 1}),
        ("a[T.id] // 10", {"product int64": 2, "sum int64": 2}),
        ("n // a[T.id]", {"division int64": 1}),
        ("n // (a[T.id] % 8 + 1)", {"division int32": 1, "sum int64": 2}),
        ("a[T.id] // (a[T.id] + 1)", {"division int64": 1, "sum int64": 1}),
        ("a[T.id] * a[T.id]", {"product int64": 1}),
        ("T.id * T.id", {"product int32": 1}),
        ("a[T.id] ^ 3", {"sum int64": 1}),
        ("n * 5 + 2", {}),
        ("int(math.sqrt(2.0))", {}),
    ],
)
def test_integers(value, counts):
    """Beside what all of them have: the accesses, and their addresses."""
    found = operations(f"b[T.id] = {value}", WHOLE, WHOLE)
    reads = value.count("a[")
    found["access"] = [one - reads - 1 for one in found["access"]]
    found["product int32"] = [one - 1 - (reads > 0) for one in found["product int32"]]
    left = {name: numbers[0] for name, numbers in found.items() if any(numbers)}
    assert left == counts


@pytest.mark.parametrize(
    ("value", "counts"),
    [
        ("a[T.id] * 0.5", {"product float32": 1}),
        ("a[T.id] / 3.0", {"quotient float32": 1}),
        ("a[T.id] + a[T.id + 0]", {"sum float32": 1}),
        ("a[T.id] * 0.1", {"product float64": 1, "convert float64": 2}),
        ("a[T.id] * 1e300", {"product float64": 1, "convert float64": 2}),
        ("math.exp(a[T.id])", {"exp float64": 1, "convert float64": 2}),
    ],
)
def test_floats_of_32_bits_through_64_are_computed_in_32_if_that_is_exact(value, counts):
    found = operations(f"b[T.id] = {value}", SINGLES, SINGLES)
    assert {name: own[0] for name, own in found.items() if "float" in name} == counts


def test_doubles_are_not_fused_in_programs_and_are_in_numbas_kernels():
    @cuda.jit
    def fused(a, b):
        i = cuda.threadIdx.x
        b[i] = a[i] * b[i] + a[i]

    @cuda.jit
    def subtracted(a, b):
        i = cuda.threadIdx.x
        b[i] = a[i] - a[i] * b[i]

    found = operations("b[T.id] = a[T.id] * b[T.id] + a[T.id]", DOUBLES, DOUBLES)
    assert found == in_each(access=4, product_int32=2, product_float64=1, sum_float64=1)
    for kernel in (fused, subtracted):
        found = operations(kernel, DOUBLES, DOUBLES)
        assert found == in_each(access=4, product_float64=1, place_int32=2 * 2)


def test_rows_of_two_axes_are_found_once_in_a_loop():
    """a[T.id, k]: its row once; both places move with k, one sum each in 4 trips."""
    text = "m = b[3]\nfor k in range(m):\n    b[k] = a[T.id, k]"
    found = operations(text, np.zeros((8, 4), int), WHOLE)
    assert found == in_each(
        access=1 + 8, product_int32=1, product_int64=1, sum_int64=2 + 2, choice=2
    )


def test_barriers_and_functions_have_their_names():
    text = "T.barrier()\nb[T.id] = math.sin(a[T.id]) + math.sqrt(a[T.id])"
    found = operations(text, DOUBLES, DOUBLES)
    assert found == in_each(
        access=3, barrier=1, product_int32=2, sin_float64=1, sqrt_float64=1, sum_float64=1
    )


def test_numbas_kernels_compute_their_index():
    """An index of 64 bits may count from the end, but not a positive one; T's parts are given.

    A constant is in the access then.
    """

    @cuda.jit
    def copy(a, b):
        i = cuda.grid(1)
        if i < a.size:
            b[i] = a[i]

    @cuda.jit
    def inner(a, b):
        i = cuda.grid(1)
        if i > 0:
            b[i - 1] = a[i]

    found = operations(copy, SINGLES, SINGLES)
    assert found == in_each(access=2, choice=1, product_int32=1, sum_int64=1, place_int32=14)
    found = operations(inner, SINGLES, SINGLES)
    assert found == in_each(access=2, choice=1, product_int32=1, sum_int64=1, place_int32=2 * 2)


def test_numbas_loops_step_in_64_bits_and_one_that_is_unrolled_whole_has_no_indices():
    @cuda.jit
    def sums(a, b, n):
        s = 0.0
        for k in range(n):
            s += a[k]
        b[0] = s

    @cuda.jit
    def eight(a, b, n):
        s = 0.0
        for k in range(8):
            s += a[k]
        b[0] = s

    counts = {"access": 9, "sum float64": 8}
    assert operations(eight, DOUBLES, DOUBLES, 8) == in_each(**counts)
    found = operations(sums, DOUBLES, DOUBLES, 8)
    assert found == in_each(**counts, place_int32=30 + 8 * (10 + 5 + 2))


def test_a_counter_that_a_branch_of_numbas_keeps_has_indices():
    """Without `at = k` only the place of b[i] takes 7 operations."""

    @cuda.jit
    def place(a, b, n):
        i = cuda.grid(1)
        at = 0
        for k in range(4):
            if a[k] < n:
                at = k
        b[i] = at

    assert operations(place, WHOLE, WHOLE, 7)["place int32"] == [7 + 4 * (10 + 5 + 2)] * 2


def test_a_loop_of_numbas_whose_counter_is_not_used_tests_once_in_four_trips():
    @cuda.jit
    def again(a, b, n):
        for _ in range(n):
            cuda.atomic.add(b, 0, 1.0)

    found = operations(again, DOUBLES, DOUBLES, 8)
    assert found == in_each(access=8, place_int32=30, sum_int32=2, sum_int64=2, choice=4)


def test_numbas_kernels_find_neighbours_from_one_place():
    """A guard says that x and y are positive; y - 1 and y + 1 are two sums from y each."""

    @cuda.jit
    def near(a, b):
        x, y = cuda.threadIdx.x, cuda.blockIdx.x
        if x < 1 or y < 1:
            return
        b[y, x] = a[y, x - 1] + a[y, x + 1]

    @cuda.jit
    def above(a, b):
        x, y = cuda.threadIdx.x, cuda.blockIdx.x
        if x < 1 or y < 1:
            return
        b[y, x] = a[y, x - 1] + a[y, x + 1] + a[y - 1, x] + a[y + 1, x]

    rows = np.zeros((9, 9), np.float32)
    found = operations(near, rows, rows)["place int32"]
    assert found == [0, 2 * (2 + 4)]
    assert operations(above, rows, rows)["place int32"] == [0, found[1] + 2 * 2]


def test_a_shared_place_that_a_compiler_knows_in_each_copy_of_a_loop_is_found_once():
    @cuda.jit
    def sums(a, b):
        s = cuda.shared.array((4, 16), float64)
        x = cuda.threadIdx.x
        t = 0.0
        for k in range(16):
            t += s[x, k]
        b[x] = t

    found = operations(sums, DOUBLES, DOUBLES)
    assert found == in_each(access=17, sum_float64=16, place_int32=2 + 2)


def test_integers_of_numbas_that_are_narrow_take_32_bits():
    """A thread's number is, and what is cut to 32 bits afterwards."""

    @cuda.jit
    def narrow(a, b):
        t = cuda.threadIdx.x
        u = (t ^ 1) & 2
        if u > t:
            b[0] = 1

    @cuda.jit
    def wide(a, b):
        t = cuda.grid(1)
        u = (t ^ 1) & t
        if u > t:
            b[0] = 1

    @cuda.jit
    def cut(a, b):
        b[0] = uint32(3 * a[0] + 1)

    assert operations(narrow, WHOLE, WHOLE) == in_each(access=0, choice=1, logic_int32=3)
    assert operations(wide, WHOLE, WHOLE) == in_each(
        access=0, choice=1, sum_int64=3, product_int32=1
    )
    found = operations(cut, WHOLE.astype(np.uint32), WHOLE.astype(np.uint32))
    assert found == in_each(access=2, product_int32=1)


def test_a_branch_without_a_jump_chooses_each_value_that_it_sets():
    """One of 64 bits takes two operations."""

    @cuda.jit
    def least(a, b):
        i = cuda.grid(1)
        x = a[0]
        k = 0
        if x < a[1]:
            x = a[1]
            k = i
        b[0] = x
        b[1] = k

    found = operations(least, SINGLES, SINGLES)
    assert found["logic int32"] == [1 + 1 + 2] * 2


def test_a_quotient_of_numbas_is_that_of_python():
    """It rounds down, which takes two sums more if the number may be negative."""

    @cuda.jit
    def halves(a, b):
        b[0] = a[0] // 2

    @cuda.jit
    def halves_of_threads(a, b):
        b[0] = cuda.threadIdx.x // 2

    assert operations(halves, WHOLE, WHOLE)["sum int64"] == [1 + 2] * 2
    assert operations(halves_of_threads, WHOLE, WHOLE) == in_each(access=1, sum_int32=1)


def test_a_compiler_does_not_know_that_the_number_of_a_thread_among_all_has_no_sign():
    @cuda.jit
    def halves(a, b):
        b[0] = cuda.grid(1) // 2

    @cuda.jit
    def halves_of_words(a, b):
        b[0] = a[0] // uint64(2)

    assert operations(halves, WHOLE, WHOLE)["sum int64"] == [2, 2]
    words = WHOLE.astype(np.uint64)
    assert operations(halves_of_words, words, words)["sum int64"] == [1, 1]


@both_engines
def test_a_launch_that_begins_anew_counts_anew(engine):
    """Warp 1 waits for warp 0, which lock step doesn't know: then the array engine begins anew."""
    text = (
        "x = a[T.id]\nfor k in range(8):\n    x = x / n\nb[T.id] = x\n"
        "if T.warp == 1:\n    while b[0] != 5:\n        pass\nelse:\n    b[0] = 5"
    )
    found = operations(text, DOUBLES, np.zeros(8), engine=engine)
    assert found["quotient float64"] == [8, 8]


@settings(max_examples=draws(10))
@given(case=race_free_cases())
def test_counting_leaves_times_and_arrays(case):
    plain = run_case(case, "asynchronous", engine="array", trace=False)
    sizes = {"threads": None, "block_size": None, "grid": None, "block": None, **case.launch}
    how = {"sizes": sizes, "machine": plain.machine}
    run, _ = run_counted(case.program, *case.arguments, **how)
    assert run.time == plain.time
    assert run.accesses == plain.accesses
    same(run.arrays, plain.arrays)


def test_numbas_compiler_tests_an_integer_for_0_without_a_conversion():
    """The types of an unsigned word and of 0 have float64 in common."""

    @cuda.jit
    def flag(a, b):
        x = a[0]
        b[0] = x != 0
        b[1] = x != 3

    words = WHOLE.astype(np.uint64)
    found = operations(flag, words, words)
    assert (found["convert int64"], found["sum int64"]) == ([1, 1], [1, 1])


def test_numbas_compiler_counts_bits_without_a_loop():
    """One by one from the lowest, or those up to the highest; not if the loop does more."""

    @cuda.jit
    def lowest(a, b):
        x, n = a[0], 0
        while x != 0:
            x = x & (x - uint64(1))
            n += 1
        b[0] = n

    @cuda.jit
    def highest(a, b):
        x, n = a[0], 0
        while x != 0:
            x = x >> uint64(1)
            n += 1
        b[0] = n

    @cuda.jit
    def doubled(a, b):
        x, n = a[0], 0
        while x != 0:
            x = x >> uint64(1)
            n += n
        b[0] = n

    words = np.full(8, 3, np.uint64)
    for kernel in (lowest, highest):
        found = operations(kernel, words, words)
        assert found == in_each(access=2, choice=3, sum_int32=4, sum_int64=1)
    assert operations(doubled, words, words)["choice"] == [3 + 2] * 2  # the second trip has a jump


def test_the_smaller_one_of_two_values_is_one_operation():
    """Of floats in Numba's code, too, where it is a branch, which also tests for a NaN."""

    @cuda.jit
    def least(a, b):
        b[0] = min(a[0], a[1])

    @cuda.jit
    def chosen(a, b):
        x, y = a[0], a[1]
        b[0] = x if x < y else y

    @cuda.jit
    def other(a, b):
        x, y = a[0], a[1]
        b[0] = x if (x < y) | (x != x) else y

    assert operations(other, SINGLES, SINGLES)["choice"] == [1, 1]
    assert operations(least, SINGLES, SINGLES) == in_each(access=3, logic_int32=1)
    assert operations(least, DOUBLES, DOUBLES) == in_each(access=3, sum_float64=1)
    found = operations(chosen, SINGLES, SINGLES)
    assert found == in_each(access=3, choice=1, logic_int32=1 + 1)
    whole = operations(chosen, WHOLE.astype(np.int32), WHOLE.astype(np.int32))
    assert whole == in_each(access=3, logic_int32=1)


def test_a_value_that_only_a_branch_reads_or_that_a_jump_passes_is_not_chosen():
    @cuda.jit
    def turned(a, b):
        x = a[0]
        y = a[1]
        if x < a[2]:
            t = x
            x = y
            y = t
        b[0] = x
        b[1] = y

    @cuda.jit
    def jumped(a, b):
        x = a[0]
        if x < a[2]:
            x = a[1]
            while b[0] < 0:
                b[1] = 0
        b[0] = x

    assert operations(turned, SINGLES, SINGLES)["logic int32"] == [1 + 2] * 2
    assert operations(jumped, SINGLES, SINGLES)["logic int32"] == [1, 1]


REMAINDER = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry rest(.param .u64 a)
{
    .reg .u64 %rd<2>;
    .reg .s32 %r<4>;
    ld.param.u64 %rd1, [a];
    ld.global.s32 %r1, [%rd1];
    ld.global.s32 %r2, [%rd1+4];
    OP.s32 %r3, %r1, %r2;
    st.global.s32 [%rd1], %r3;
    ret;
}
"""


@pytest.mark.parametrize("instruction", ["rem", "div"])
def test_a_quotient_and_a_remainder_of_ptx_are_divisions(instruction):
    kernel = mm.RawKernel(REMAINDER.replace("OP", instruction), "rest")
    sizes = {"threads": None, "block_size": None, "grid": 2, "block": 4}
    found = run_counted(kernel, np.arange(1, 9, dtype=np.int32), sizes=sizes)[1]
    assert found["division int32"] == [1, 1]


def test_a_comparison_takes_the_result_of_another_one():
    """In PTX, and in a program; one of doubles is an operation of doubles."""
    both = "setp.lt.s32 %p1, %r1, 5;\n    setp.lt.and.s32 %p2, %r2, 5, %p1;\n"
    both += "    not.pred %p3, %p2;\n    selp.s32 %r3, %r1, 3, %p3;"
    text = REMAINDER.replace("OP.s32 %r3, %r1, %r2;", both)
    kernel = mm.RawKernel(text.replace(".reg .u64", ".reg .pred %p<4>;\n    .reg .u64"), "rest")
    sizes = {"threads": None, "block_size": None, "grid": 2, "block": 4}
    found = run_counted(kernel, np.arange(1, 9, dtype=np.int32), sizes=sizes)[1]
    assert found["logic int32"] == [2 + 1] * 2
    text = "x = a[T.id]\nif x < 9.0 and x > -1.0:\n    b[0] = 1"
    found = operations(text, DOUBLES, DOUBLES)
    assert found == in_each(access=2, choice=1, product_int32=2, sum_float64=2)


@pytest.mark.parametrize(("of", "name"), [("f32", "exp2"), ("f64", "sqrt")])
def test_the_inverse_of_a_root_is_one_operation(of, name):
    """As fast as 2 to a power for floats, about as a root for doubles."""
    registers = f".reg .{of} %f<4>;\n    .reg .u64"
    text = REMAINDER.replace(".reg .u64", registers).replace(".s32 %r1", f".{of} %f1")
    text = text.replace("OP.s32 %r3, %r1, %r2", f"rsqrt.approx.{of} %f3, %f1")
    text = text.replace(".s32 [%rd1], %r3", f".{of} [%rd1], %f3")
    text = text.replace("ld.global.s32 %r2, [%rd1+4];", "")
    kernel = mm.RawKernel(text, "rest")
    sizes = {"threads": None, "block_size": None, "grid": 2, "block": 4}
    argument = SINGLES if of == "f32" else DOUBLES
    found = run_counted(kernel, argument + argument.dtype.type(1), sizes=sizes)[1]
    assert found[f"{name} float{of[1:]}"] == [1, 1]
