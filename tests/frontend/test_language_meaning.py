"""What programs mean: Python's meaning, for each lane by itself."""

from __future__ import annotations

import inspect
import math
from types import SimpleNamespace

import numpy as np
import pytest

import mmsim as mm
from tests.kit.generators.random_programs import define

LIMIT = 3
SCALE = np.float32(0.5)


def run(program, *args, threads=4, trace=True, **options):
    return mm.DMM(4, 2).run(program, *args, threads=threads, trace=trace, **options)


def b(program, *args, size=4, dtype=int, **options):
    """Run a program; give its last array, which is `size` zeros before."""
    result = run(program, *args, np.zeros(size, dtype), **options)
    return list(result.arrays.values())[-1].tolist()


ROWS = []


def leaves(expected, *arguments, **how):
    """A program that leaves these words in its last array, with what `b` needs."""

    def add(function):
        ROWS.append(pytest.param(function, expected, arguments, how, id=function.__name__))
        return function

    return add


def as_in_python(*arguments, size=4, threads=4):
    """A program that leaves what Python leaves if it runs thread after thread."""

    def add(function):
        out = np.zeros(size, int)
        for number in range(threads):
            function(SimpleNamespace(id=number), *arguments, out)
        return leaves(out.tolist(), *arguments, size=size, threads=threads)(function)

    return add


def touched(result):
    """The warp requests in order: array, kind, threads."""
    return [(d.array, d.kind, list(d.threads)) for d in result.trace.dispatches]


# ---------------------------------------------------------------- element types


TENTHS = np.array([0.1, 0.2, 0.3, 1 / 3], np.float32)


@leaves(TENTHS.tolist(), TENTHS, dtype=np.float32)
def a_float32_stays_one_when_moved(T, a, out):
    x = a[T.id]
    out[T.id] = x


@leaves([float(x) + 0.1 for x in TENTHS], TENTHS, dtype=float)
def arithmetic_on_float32_is_done_in_double(T, a, out):
    out[T.id] = a[T.id] + 0.1


for kind in ("int8", "uint8", "int16", "uint16", "int32", "uint32"):

    @leaves([0, 1001, 110000, 143129], np.array([0, 1, 100, 127], kind))
    def arithmetic_on_small_integers_is_done_in_64_bits(T, a, out):
        out[T.id] = a[T.id] * a[T.id] + a[T.id] * 1000


@leaves([1.0, 2.0, 2.5, 2.5], dtype=float)
def a_variable_holds_the_widest_of_its_values(T, out):
    x = True
    if T.id > 0:
        x = 2
    if T.id > 1:
        x = 2.5
    out[T.id] = x


def test_integers_are_stored_in_float_arrays_and_bools_in_both():
    @mm.program
    def store(T, x, y):
        x[T.id] = T.id
        y[T.id] = T.id > 1

    result = run(store, np.zeros(4), np.zeros(4, np.int8))
    assert result.arrays["x"].tolist() == [0.0, 1.0, 2.0, 3.0]
    assert result.arrays["y"].tolist() == [0, 0, 1, 1]


# ---------------------------------------------------------------- assignment and order


@as_in_python(size=5, threads=1)
def assignments(T, out):
    x, y = 1, 2
    x, y = y, x
    z = u = x + y
    u += 10
    u -= 1
    u *= 2
    u //= 5
    u **= 3
    u %= 50
    u <<= 2
    u >>= 1
    u |= 64
    u &= 96
    u ^= 1
    v: float = 1
    v /= 2
    out[0] = x
    out[1] = y
    out[2] = z
    out[3] = u
    out[4] = int(4 * v)


@leaves([10, 0, 30, 20], [0, 10, 20, 30], threads=2)
def elements_are_swapped(T, a, out):
    i = T.id
    a[2 * i], a[2 * i + 1] = a[2 * i + 1], a[2 * i]
    out[2 * i] = a[2 * i]
    out[2 * i + 1] = a[2 * i + 1]


@leaves([2, 7, 2], size=3, threads=1)
def targets_are_assigned_from_left_to_right(T, out):
    i = 0
    i, out[i] = 1, 7
    j = out[j_of(i)] = 2
    out[2] = j


def j_of(i):
    return i - 1


@pytest.mark.parametrize(
    ("statement", "order"),
    [
        ("b[p[i]] = a[i]", "a p B"),
        ("a[p[i]] += c[i]", "p a c A"),
        ("a[i] = b[i] = c[i]", "c A B"),
        ("a[i], b[i] = b[i], a[i]", "b a A B"),
        ("x = a[i] + b[i] * c[i]", "a b c"),
        ("x = a[p[i]] - a[p[i] // 2]", "p a p a"),
        ("x = min(a[i], b[i], c[i])", "a b c"),
        ("x = a[i] < b[i] < c[i]", "a b"),
        ("x = 0 <= b[i] <= c[i]", "b c"),
        ("x = a[i] and b[i]", "a"),
        ("x = a[i] or b[i]", "a b"),
        ("x = b[i] if a[i] else c[i]", "a c"),
        ("for k in range(a[i], p[i] + 1, n[i] + 1):\n        c[k]", "a p n c c c c"),
        ("while a[i] < 2:\n        a[i] += 1", "a a A a a A a"),
        ("a[i]", "a"),
        ("b[i]; a[i]", "b a"),
    ],
)
def test_order_of_accesses(statement, order):
    source = f"def f(T, a, b, c, p, n):\n    i = T.id\n    {statement}\n"
    arguments = [0] * 4, [0] * 4, [0] * 4, [3] * 4, [0] * 4
    result = run(mm.program(define(source, "f")), *arguments, threads=1)
    letters = [d.array.upper() if d.kind == "write" else d.array for d in result.trace.dispatches]
    assert " ".join(letters) == order


@leaves([17, 37, 57, 77], np.arange(8).reshape(4, 2))
def two_ways_to_index(T, a, out):
    i = T.id
    out[i] = a[i][1] + 10 * a[i, -0 + 1]
    out[i] += a[T.count - 1 - i][0]


@leaves([34, 34, 42, 17], np.zeros((3, 4)), threads=1)
def shapes(T, a, out):
    rows, cols = a.shape
    out[0] = rows * 10 + cols
    out[1] = a.shape[0] * 10 + a.shape[-1]
    out[2] = len(a) * 10 + a.size
    for more in (2, -2):
        out[2] += more
    s = mm.shared((2, 5))
    out[3] = s.size + s.shape[1] + len(s)


def test_threads_know_who_they_are():
    @mm.program
    def who(T, out):
        out[T.id, 0] = T.index
        out[T.id, 1] = T.block
        out[T.id, 2] = T.lane
        out[T.id, 3] = T.warp
        out[T.id, 4] = T.count * 100 + T.block_size * 10 + T.blocks

    expected = [
        [0, 0, 0, 0, 862],
        [1, 0, 1, 0, 862],
        [2, 0, 2, 0, 862],
        [3, 0, 3, 0, 862],
        [4, 0, 0, 1, 862],
        [5, 0, 1, 1, 862],
        [0, 1, 0, 2, 862],
        [1, 1, 1, 2, 862],
    ]
    for schedule in ("synchronous", "asynchronous"):
        out = b(who, size=(8, 5), threads=8, block_size=6, schedule=schedule)
        assert out == expected


# ---------------------------------------------------------------- local arrays


def test_registers_belong_to_a_thread_and_cost_nothing():
    @mm.program
    def reverse(T, out):
        r = mm.registers(4)
        r[T.id] = 1 + T.id
        r[3 - T.id] += 10
        for k in range(4):
            out[T.id, k] = r[k]

    result = run(reverse, np.zeros((4, 4), int))
    expected = [[1, 0, 0, 10], [0, 2, 10, 0], [0, 10, 3, 0], [10, 0, 0, 4]]
    assert result.arrays["out"].tolist() == expected
    assert {row.array for row in result.accesses} == {"out"}


def padded(n, w=32):
    return n + n // w


def odd_after(n):
    m = padded(n, 4)
    before = m
    m = 2 * m
    return before + m % 2 + 1


def kept_in_registers(x, n):
    r = mm.registers(padded(n, 2))
    r[0] = x
    return r[0] + 10 * len(r)


def test_sizes_are_made_by_functions_too():
    @mm.program
    def sizes(T, out, n):
        s = mm.shared((padded(n, w=4), odd_after(n) + odd_after(3)), dtype=int)
        r = mm.registers(padded(T.block_size))
        out[0] = 10 * s.shape[0] + s.shape[1]
        out[1] = len(r)
        for k in range(2):
            out[2 + k] = kept_in_registers(k, n)

    for engine in ("array", "events"):
        found = run(sizes, np.zeros(4, int), 8, threads=1, trace=False, engine=engine)
        assert found.arrays["out"].tolist() == [10 * 10 + 11 + 4, 1, 120, 121]


@pytest.mark.parametrize("size", ["padded(T.id)", "least(a)", "capped(n)"])
def test_a_size_that_a_function_makes_is_known_before_the_launch(size):
    source = f"""
def padded(n):
    return n + 1

def least(a):
    return a[0]

def capped(n):
    if n > 4:
        return 4
    return n

def program(T, a, n):
    s = mm.shared({size}, dtype=int)
"""
    with pytest.raises(mm.LanguageError, match="known before the launch") as caught:
        mm.program(define(source, "program"))
    assert caught.value.place.text.strip() == f"s = mm.shared({size}, dtype=int)"


@leaves([0, 5, 0, 50])
def registers_of_two_dimensions_and_a_type(T, out):
    r = mm.registers((2, 3), dtype="int8")
    r[T.id // 3, T.id % 3] = 5
    out[T.id] = r[0, 1] + 10 * r[1][0]


BYTE = np.dtype("int8")


def test_every_way_to_give_an_element_type():
    @mm.program
    def types(T, a, out):
        s0 = mm.shared(4, float)
        s1 = mm.shared(4, "int16")
        s2 = mm.shared(4, dtype=np.float32)
        s3 = mm.shared(4, dtype=a.dtype)
        s4 = mm.shared(4, BYTE)
        s5 = mm.shared(4, s2.dtype)
        s6 = mm.shared(4)
        s7 = mm.shared(4, None)
        s8 = mm.shared(4, bool)
        s6[0] = 1
        s7[0] = 0.5
        s8[0] = s0[0] + s1[0] + s2[0] + s3[0] + s4[0] + s5[0] > 0

    result = run(types, np.zeros(4, np.uint16), [0])
    held = {a.name: a.data.dtype.name for a in result.trace.arrays}
    assert [held[f"s{k}"] for k in range(9)] == (
        ["float64", "int16", "float32", "uint16", "int8", "float32", "int64", "float64", "bool"]
    )


def test_an_array_after_a_loop_over_a_tuple_is_at_the_top_level():
    @mm.program
    def after(T, out):
        for k in (1, 2):
            out[0] += k
        s = mm.shared(2)
        s[0] = 5
        out[1] = s[0]

    assert run(after, [0, 0], threads=1).arrays["out"].tolist() == [3, 5]


def test_sizes_of_local_arrays():
    @mm.program
    def sizes(T, a, n):
        twice = 2 * n
        rows, cols = a.shape
        s0 = mm.shared(twice + LIMIT)
        s1 = mm.shared((rows, cols))
        s2 = mm.shared([T.block_size, min(T.count, a.shape[-1])])
        s3 = mm.shared(T.blocks * len(a) + a.size)
        s0[0] = s1[0, 0] + s2[0, 0] + s3[0] + sized(T, twice - 1, rows)

    result = run(sizes, np.zeros((2, 3)), 5, threads=4)
    shapes = {a.name: a.shape for a in result.trace.arrays}
    assert [shapes[f"s{k}"] for k in range(4)] == [(13,), (2, 3), (4, 3), (8,)]
    assert shapes["own"] == (9, 2)


def sized(T, n, rows):
    own = mm.shared((n, rows))
    return own[0, 0]


def test_every_block_has_its_own_shared_array():
    @mm.program
    def share(T, out):
        s = mm.shared(2)
        s[T.index] = T.id
        T.barrier()
        out[T.id] = s[1 - T.index]

    for schedule in ("synchronous", "asynchronous"):
        assert b(share, block_size=2, schedule=schedule) == [1, 0, 3, 2]


@leaves([1, 1, 1, 1])
def local_arrays_hold_zeros_first(T, out):
    s = mm.shared(4, int)
    r = mm.registers(2, int)
    out[T.id] = 1 + s[T.id] + r[0]


# ---------------------------------------------------------------- helpers and captured numbers


def clamp(x, low=0, high=10):
    if x < low:
        return low
    if x > high:
        return high
    return x


def scaled(T, array, factor):
    return factor * array[T.id]


def both_ends(array):
    return clamp(array[0], high=5) * 100 + clamp(x=array[len(array) - 1], low=2)


def fill(registers, value):
    for k in range(len(registers)):
        registers[k] = value + k


def counted(x, step=1):
    step += x
    x = step * 2
    return x


@mm.program
def put(T, array, value):
    if value < 0:
        return
    array[T.id] = value


@leaves([-499, 1, 707, 2010], [-5, 0, 7, 20])
def helpers(T, a, out):
    x = clamp(a[T.id], 1)
    out[T.id] = x + scaled(T, factor=100, array=a)


@leaves([502] * 4, [7, 3, 1])
def helpers_that_call_helpers(T, a, out):
    out[T.id] = both_ends(a)


@leaves([8 * 100 + 10 * 10 + 3], threads=1, size=1)
def helpers_assign_their_parameters_for_themselves(T, out):
    x = 3
    out[T.id] = counted(x) * 100 + counted(x, step=2) * 10 + x


@leaves([210, 321, 432, 543])
def helpers_get_registers(T, out):
    r = mm.registers(3)
    fill(r, T.id)
    out[T.id] = r[0] + 10 * r[1] + 100 * r[2]


def set_to(r, value):
    r[0] = value
    return 3


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("out[0] = r[0] + set_to(r, 5) * 10 + r[0]", [1 + 30 + 5, 0, 0, 0]),
        ("out[set_to(r, 5)] = r[0]", [0, 0, 0, 1]),
        ("out[r[0]] += set_to(r, 2)", [0, 3, 0, 0]),
        ("out[0] = 0 < r[0] < set_to(r, 5)", [1, 0, 0, 0]),
        ("out[0] = min(r[0], set_to(r, 5), 7)", [1, 0, 0, 0]),
        ("out[r[0]], out[r[0]] = r[0], set_to(r, 2)", [0, 0, 3, 0]),
        ("out[0] = (r[0] or 4) + (set_to(r, 0) and r[0])", [1, 0, 0, 0]),
    ],
)
def test_a_value_is_taken_before_a_later_call_changes_it(statement, expected):
    lines = "    r = mm.registers(1, int)\n    r[0] = 1\n"
    helper = inspect.getsource(set_to)
    source = f"{helper}\ndef f(T, out):\n{lines}    {statement}\n"
    assert b(mm.program(define(source, "f")), threads=1) == expected


@pytest.mark.parametrize("operator", [" + ", " and ", " or ", " <= ", ", "])
@pytest.mark.parametrize("term", ["x", "a_[T.id]"])
def test_long_chains(operator, term):
    """A sum of 300 terms is a tree 300 levels deep; it is none when it is run."""
    text = operator.join([term] * 300)
    text = f"min({text})" if operator == ", " else text
    source = f"def f(T, a_, out):\n    x = a_[T.id]\n    out[T.id] = {text}\n"
    expected = {" + ": [0, 300, 600], " <= ": [1, 1, 1]}.get(operator, [0, 1, 2])
    assert b(mm.program(define(source, "f")), [0, 1, 2], size=3, threads=3) == expected


@leaves([0, 0, 0, 7])
def programs_call_programs(T, out):
    put(T, out, T.id - 2)
    if T.id == 3:
        put(T, out, 7)


def first_of_its_own(k):
    r = mm.registers(2)
    before = r[1]
    r[1] = k + 1
    return before


@leaves([0, 0, 0, 0])
def a_helper_starts_anew_at_every_call_in_a_loop(T, out):
    for k in range(3):
        out[T.id] += first_of_its_own(k)


def applied_twice(function, x):
    return function(function(x))


def square(x):
    return x * x


@leaves([0, 1, 16, 81])
def helpers_can_be_handed_over(T, out):
    out[T.id] = applied_twice(square, T.id)


def test_captured_numbers():
    step, half = 5, np.float64(0.5)
    big, yes = np.int16(300), np.bool_(True)

    @mm.program
    def f(T, out):
        out[0] = step + LIMIT
        out[1] = half * SCALE
        out[2] = big + yes
        out[3] = math.pi

    assert b(f, dtype=float, threads=1) == [8, 0.25, 301, math.pi]


def test_captured_numbers_are_those_at_decoration():
    step = 5

    @mm.program
    def f(T, out):
        out[0] = step

    step = 6
    assert b(f, size=1, threads=1) == [5]


leaves([8] * 4)(define("def default(T, out, n=(N := 4)):\n    out[T.id] = N + n\n", "default"))


def test_number_parameters_and_their_defaults():
    @mm.program
    def f(T, out, n, factor=2, offset=-1):
        n += T.id
        out[T.id] = n * factor + offset

    zero = np.zeros(4, int)
    assert run(f, zero, 1).arrays["out"].tolist() == [1, 3, 5, 7]
    assert run(f, zero, np.int32(1), 10).arrays["out"].tolist() == [9, 19, 29, 39]
    assert run(f, zero, True, 10, 0).arrays["out"].tolist() == [10, 20, 30, 40]


# ---------------------------------------------------------------- lanes that part


@leaves([10, 11, 12, 13, 0], size=5, threads=5)
def branches(T, out):
    i = T.id
    if i < 3:
        if i == 0:
            out[i] = 10
        elif i == 1:
            out[i] = 11
        else:
            out[i] = 12
    elif i == 3:
        out[i] = 13
    else:
        pass


def test_the_parts_of_a_branch_run_one_after_the_other():
    @mm.program
    def f(T, a, c):
        if T.id % 2:
            a[T.id]
        else:
            c[T.id]
        c[T.id]

    assert touched(run(f, [0] * 4, [0] * 4)) == [
        ("a", "read", [1, 3]),
        ("c", "read", [0, 2]),
        ("c", "read", [0, 1, 2, 3]),
    ]


def test_only_lanes_that_need_an_operand_read_it():
    @mm.program
    def f(T, a, c, out):
        out[T.id] = a[T.id] > 1 and c[T.id] > 1
        x = 0 <= a[T.id] <= 1 < c[T.id]
        y = c[T.id] if a[T.id] == 3 else 0

    result = run(f, [0, 1, 2, 3], [2, 2, 2, 0], np.zeros(4, bool))
    everyone = [0, 1, 2, 3]
    assert touched(result) == [
        ("a", "read", everyone),
        ("c", "read", [2, 3]),
        ("out", "write", everyone),
        ("a", "read", everyone),
        ("c", "read", [0, 1]),
        ("a", "read", everyone),
        ("c", "read", [3]),
    ]
    assert result.arrays["out"].tolist() == [False, False, True, False]


def test_no_lane_no_access():
    @mm.program
    def f(T, a):
        if T.id > 10:
            a[T.id]
        x = T.id < 0 and a[T.id]

    assert run(f, [0] * 4).time == 0


@as_in_python([0])
def loops_with_a_count_for_each_lane(T, a, out):
    for _ in range(T.id):
        out[T.id] += 1
    for _ in range(5, T.id, -2):
        out[T.id] += 10
    for _ in range(T.id, 7, T.id + 1):
        out[T.id] += 100


LOW, HIGH = -(2**63), 2**63 - 1
BOUNDS = [
    *((LOW, HIGH, 2**62), (-HIGH, HIGH, 2**62 - 1), (HIGH, LOW, -(2**62)), (HIGH, LOW, LOW)),
    *((HIGH - 2, HIGH, 5), (LOW, HIGH, HIGH), (HIGH, LOW, 1), (LOW, LOW, LOW)),
]


@leaves([len(range(*bound)) for bound in BOUNDS], *np.array(BOUNDS).T, size=8, threads=8)
def loops_whose_ends_lie_farther_apart_than_63_bits(T, starts, stops, steps, out):
    for _ in range(starts[T.id], stops[T.id], steps[T.id]):
        out[T.id] += 1


@leaves([range(i - (2**63 - 1), 2**63 - 1, 2**62)[-1] for i in range(4)])
def a_loop_passes_its_values_however_far_it_went(T, out):
    for k in range(T.id - 9223372036854775807, 9223372036854775807, 4611686018427387904):
        out[T.id] = k


@leaves([-1, 0, 1, 2])
def a_loops_variable_keeps_its_last_value(T, out):
    k = -1
    for k in range(T.id):
        x = k
    out[T.id] = k


@leaves([303] * 4)
def changing_the_loops_variable_changes_nothing(T, out):
    for k in range(3):
        out[T.id] += k
        k = 100
        out[T.id] += k


@as_in_python()
def break_continue_and_return_concern_one_lane(T, out):
    for k in range(6):
        if k == T.id:
            continue
        if k == T.id + 2:
            break
        if k == 4:
            return
        out[T.id] += 1
    out[T.id] += 10


@leaves([30, 30, 33, 33])
def break_and_continue_of_the_inner_loop(T, out):
    for _ in range(3):
        j = 0
        while True:
            j += 1
            if j % 2:
                continue
            if j > T.id:
                break
            out[T.id] += 1
        out[T.id] += 10


def test_a_while_reads_its_test_for_lanes_still_in_it():
    @mm.program
    def f(T, a):
        while a[T.id] > 0:
            a[T.id] -= 1

    result = run(f, [0, 1, 2, 0])
    assert [lanes for array, kind, lanes in touched(result)] == [
        [0, 1, 2, 3],  # the test
        [1, 2],
        [1, 2],
        [1, 2],  # the test again
        [2],
        [2],
        [2],
    ]


@leaves([5] * 4)
def a_loop_that_no_lane_enters(T, out):
    while T.id < 0:
        out[T.id] = 1
    for _ in range(-1):
        out[T.id] = 1
    out[T.id] += 5


@leaves([1, 0, 1, 0])
def statements_after_a_return_are_run_by_the_others(T, out):
    if T.id % 2:
        return
    out[T.id] = 1


@as_in_python(list(range(8)), size=8, threads=8)
def lanes_leave_a_loop_when_they_have_enough(T, a, out):
    total = 0
    for k in range(T.id % 5):
        if a[(T.id + k) % 8] % 2:
            continue
        total += k
        if total > 1:
            break
    out[T.id] = total


def count(T):
    r = mm.registers(1)
    r[0] += 1
    return r[0]


def partly(T, k):
    if k == 0:
        v = 5
    if k > 2:
        return 0
    return v


@mm.program
def counts_in_a_test(T, b):
    k = 0
    while count(T) < 3:
        k += 1
        if k > 10:
            break
    b[T.id] = k


@mm.program
def reads_an_old_variable(T, b):
    k = 0
    while partly(T, k):
        k += 1
    b[T.id] = k


def test_a_function_called_in_the_test_of_a_loop_starts_anew():
    run = mm.DMM(2, 1).run(counts_in_a_test, np.zeros(2, int), threads=2)
    assert run.arrays["b"].tolist() == [11, 11]
    with pytest.raises(mm.ProgramError, match="'v' is read before"):
        mm.DMM(2, 1).run(reads_an_old_variable, np.zeros(2, int), threads=2)


@mm.program
def histogram(T, a, b):
    h = mm.shared(4)
    r = mm.registers(1)
    m = mm.shared(1)
    h[a[T.id]] += 1
    r[0] += 2
    m[0] = max(m[0], a[T.id])
    T.barrier()
    b[T.index] = 10 * h[T.index] + r[0] + 100 * m[0]


def test_arrays_that_are_only_added_to_hold_what_is_added():
    a, b = np.arange(4), np.zeros(4, int)
    run = mm.DMM(1, 1).run(histogram, a, b, threads=4)
    assert run.arrays["b"].tolist() == [312, 312, 312, 312]


@leaves([1, 0], size=2, threads=2)
def return_none_is_return(T, a):
    if T.id > 0:
        return None
    a[T.id] = 1


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
@pytest.mark.parametrize(("function", "expected", "arguments", "how"), ROWS)
def test_a_program_leaves(function, expected, arguments, how, schedule):
    assert b(mm.program(function), *arguments, **how, schedule=schedule) == expected
