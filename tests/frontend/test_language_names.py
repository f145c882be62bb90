"""Names of arrays, tuples and tables: what Python makes of a program, every engine does.

Each program runs as plain Python too, one thread at a time, and must leave the same arrays.
"""

from __future__ import annotations

import enum
import math
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest

import mmsim as mm
from mmsim.engines.array.fused.analysis import CannotFuse
from mmsim.errors import AddressError, TypeFault
from mmsim.gpu import kernel
from tests.kit.generators.random_programs import define
from tests.kit.oracle.emulated_gpu import Emulated, needs_compiler
from tests.kit.runs.paths import SCHEDULES, agrees, run_along

DIRECTIONS = ((0, 1), (1, 0), (0, -1), (-1, 0))
WEIGHTS = np.array([0.5, 2.0, 3.0])
SQUARE = np.arange(6).reshape(2, 3)
MIXED = [1, 2.5, True]
EMPTY = ()
INFINITE = float("inf")


class Config:
    WIDTH = 4

    @staticmethod
    def twice(x):
        return 2 * x


class Colour(enum.IntEnum):
    RED = 2


class Plain(enum.Enum):
    BLUE = 3


def python(function, arguments, threads):
    """Run a program as Python, thread after thread; give the arrays."""
    held = [np.array(one) if isinstance(one, np.ndarray) else one for one in arguments]
    for number in range(threads):
        function(SimpleNamespace(id=number, index=number, count=threads), *held)
    return [one.tolist() for one in held if isinstance(one, np.ndarray)]


CASES = []


def case(*arguments, threads=4):
    """A program, its arguments and the number of its threads."""

    def add(function):
        CASES.append(pytest.param(function, arguments, threads, id=function.__name__))
        return function

    return add


def grid():
    return np.arange(24).reshape(4, 6)


# ------------------------------------------------------------ names of arrays


@case(np.arange(4), np.zeros(4, int), 0)
@case(np.arange(4), np.zeros(4, int), 1)
@case(np.arange(4), np.zeros(4, int), 2)
@case(np.arange(4), np.zeros(4, int), 5)
def swap_in_a_loop(T, a, b, n):
    i = T.id
    for k in range(n):
        b[i] = 2 * a[i] + k
        a, b = b, a
    a[i] += 100


@case(np.arange(4), np.zeros(4, int))
def swap_before_break_and_continue(T, a, b):
    i = T.id
    n = 0
    while n < 9:
        n += 1
        if n % 3 == 0:
            a, b = b, a
            continue
        a[i] += n
        if a[i] > 8:
            a, b = b, a
            break
        b[i] -= 1
    a[i] += 1000


@case(grid(), np.zeros((4, 4), int))
def rows(T, a, out):
    row = a[T.id]
    total = 0
    for j in range(row.shape[0]):
        total += row[j]
    row[2] += total
    row[3] = row[2]
    (width,) = row.shape
    out[T.id, 0] = row[1] + len(row)
    out[T.id, 1] = row.size + row.ndim
    mine = out[T.id]
    mine[2] = width + len(a[0])
    mine[3] = row.shape[-1]


@case(np.arange(24).reshape(2, 3, 4), np.zeros(6, int), threads=6)
def a_row_of_a_row(T, a, out):
    plane = a[T.id // 3]
    row = plane[T.id % 3]
    out[T.id] = row[0] * plane.shape[1] + plane[0, 1] + plane.size


@case(grid(), np.zeros(4, int))
def rows_move_on(T, a, out):
    before = a[0]
    now = a[1]
    for k in range(1, 4):
        out[T.id] += before[k] * now[T.id]
        before = now
        now = a[k]
    before, now = now, before
    out[T.id] += before[0] - now[5]


@case(grid(), np.zeros(6, int), np.zeros(4, int))
def a_row_or_an_array(T, a, b, out):
    line = b
    for k in range(3):
        line[T.id] += k + 1
        line = a[T.id] if k == T.id % 2 else b
    out[T.id] = line[T.id]


def add_into(target, source, i):
    target[i] += source[i]


def exchanged(x, y):
    return y, x


def renames(source, target, i):
    for k in range(3):
        target[i] = source[i] + k
        source, target = target, source
    return source[i]


@case(np.arange(4), np.ones(4, int), np.zeros(4, int))
def functions_take_and_give_arrays(T, a, b, out):
    for _ in range(3):
        add_into(a, b, T.id)
        a, b = exchanged(a, b)
    out[T.id] = renames(b, a, T.id) + renames(a, b, T.id)


@case(np.arange(4), np.ones(4, int))
def a_function_gives_arrays_before_their_first_use(T, a, b):
    a, b = exchanged(a, b)
    b[T.id] += 3


@case(np.arange(4), np.ones(4, int))
def a_loop_gives_names_to_an_array_before_its_first_use(T, a, b):
    for q, k in zip((b, b), (1, 2)):  # noqa: B905
        q[T.id] += k


@case(np.arange(4), np.ones(4, int))
def loops_give_names_to_an_array_that_is_exchanged_later(T, a, b):
    for q, k in zip((b, b), (1, 2)):  # noqa: B905
        q[T.id] += len(q) + k
    for k, q in enumerate((a, a)):
        q[T.id] -= len(q) * k
    a, b = b, a


@case(np.arange(4), np.ones(4, int))
def one_array_is_known_before_the_other(T, a, b):
    b[T.id] += 5
    b, a = exchanged(b, a)
    b[T.id] += 7


@case(np.arange(4), np.ones(4, int))
def the_test_of_a_choice_reads_what_is_chosen(T, a, b):
    chosen = a if a[T.id] > 2 else b
    chosen[T.id] += 3


@case(np.arange(4), np.ones(4, int))
def a_copy_before_the_use(T, a, b):
    kept, other = b, a
    a, b = b, other
    a[T.id] += 3
    kept[T.id] += 4


def total(line, n):
    found = 0
    for j in range(n):
        found += line[j]
    return found


@case(grid(), np.zeros(4, int))
def a_function_takes_a_row(T, a, out):
    out[T.id] = total(a[T.id], a.shape[1])
    row = a[T.id]
    out[T.id] += total(row, 2)


@case(np.arange(4), np.ones(4, int), np.full(4, 0.5))
def an_element_gives_no_array(T, a, b, c):
    for k in range(3):
        b[T.id] = int(c[T.id] * 4) + k
        a, b = b, a


# ------------------------------------------------------------ tuples


def rotate(x, y):
    return -y, x


def early(x):
    if x > 1:
        return x, 10
    return 1, x


@case(np.zeros((4, 8), int))
def functions_return_tuples(T, out):
    x, y = T.id, 1
    for _ in range(T.id):
        x, y = rotate(x, y)
    pair = rotate(x, y)
    pair = (pair[1], pair[0] + 1)
    q, r = divmod(7 * T.id - 5, 3)
    first, second = early(T.id)
    mine = out[T.id]
    mine[0], mine[1] = x, y
    mine[2] = pair[0]
    mine[3] = pair[-1]
    mine[4], mine[5] = q, r
    mine[6] = first * 100 + second
    mine[7] = divmod(T.id, 2)[1] + len(pair)


@case(np.arange(12).reshape(3, 4), np.zeros(12, int), threads=12)
def loops_over_tuples(T, a, out):
    height, width = a.shape[:2]
    y, x = divmod(T.id, width)
    for dy, dx in DIRECTIONS:
        if not (0 <= y + dy < height and 0 <= x + dx < a.shape[-1]):
            continue
        out[T.id] += a[y + dy, x + dx]
    for direction in DIRECTIONS[1:]:
        if direction[0] == x:
            break
        out[T.id] += 1000 * direction[1]
    for position, (u, v) in enumerate(zip((1, 2, 3), [T.id, x, y]), 5):  # noqa: B905
        out[T.id] += position * u * v
    for turn, k in enumerate(range(x, 7, 2), y):
        if k == 3:
            continue
        out[T.id] += turn * k
    for turn, k in enumerate(range(3)):
        out[T.id] += turn + k


@case(np.arange(4), np.zeros(4, int))
def loops_over_pairs_of_arrays(T, a, b):
    for source, target in ((a, b), (b, a)):
        target[T.id] += 2 * source[T.id] + 1


@case(np.arange(4), np.zeros(4, int))
def a_swap_in_a_loop_over_a_tuple(T, a, b):
    for k in (1, 2, 3):
        if k == T.id:
            continue
        b[T.id] += a[T.id] * k
        a, b = b, a
        if b[T.id] > 6:
            break


@case(np.zeros(6, int), threads=6)
def membership(T, out):
    i = T.id
    out[i] = i in (2, 3)
    out[i] += 10 * (i not in (0, i // 2, Colour.RED))
    out[i] += 100 * (i in DIRECTIONS[1]) + 1000 * (i in EMPTY)


@case(3, np.zeros(4, int))
def a_parameter_becomes_a_tuple(T, n, out):
    n = DIRECTIONS[T.id]
    out[T.id] = 10 * n[0] + n[1]


# ------------------------------------------------------------ constants


@case(np.zeros((4, 10)))
def captured_tables(T, out):
    mine = out[T.id]
    mine[0] = WEIGHTS[T.id % 3] + WEIGHTS[-1 - T.id % 3]
    dy, dx = DIRECTIONS[T.id]
    mine[1] = 10 * dy + dx
    mine[2] = DIRECTIONS[T.id][1] + DIRECTIONS[-1][0]
    mine[3] = SQUARE[T.id % 2, T.id % 3] + SQUARE[1][T.id - 3]
    mine[4] = len(WEIGHTS) + len(DIRECTIONS) + SQUARE.shape[1] + SQUARE.size + SQUARE.ndim
    mine[5] = Config.WIDTH + Colour.RED + Plain.BLUE.value + Config.twice(T.id)
    mine[6] = min(INFINITE, T.id + math.pi) + max(float("-inf"), math.e)
    mine[7] = float("inf") if T.id else -np.inf
    mine[8] = (1, 4, 9, 16)[T.id]
    mine[9] = MIXED[T.id % 3]


def both_exchanged(x, y):
    return y, x


def one_of(x, y, first):
    return x if first else y


@case(np.arange(4), np.zeros(4, int), 5)
def parameters_turn_out_to_be_arrays_late(T, a, b, n):
    x, y = both_exchanged(a, b)
    x[T.id] = y[T.id] + 1
    chosen = one_of(a, b, T.id < 2)
    chosen[T.id] += 10
    u = v = a
    v[T.id] += u[T.id]
    number, array = both_exchanged(b, n)
    array[T.id] += number


@case(np.arange(4), np.zeros(4, int), 5)
def loops_over_tuples_of_arrays_and_numbers(T, a, b, n):
    for k, array in enumerate((a, b)):
        array[T.id] += k
    for array, number in ((a, 1), (b, n)):
        array[T.id] += number
    for target, source in zip((a, b), (b, a), strict=True):
        target[T.id] += source[T.id]


# ------------------------------------------------------------ random renaming

NAMES = ("a", "b", "c", "d")


def renaming_statements(random, depth, loop, fresh):
    """Random statements that swap, alias and change four arrays, as lines."""
    lines = []
    for _ in range(random.integers(1, 4)):
        kind = random.integers(0, 9 if depth else 5)
        one, other, third = random.choice(NAMES, 3)
        test = f"(T.id + n) % {random.integers(2, 4)} == {random.integers(0, 2)}"
        if kind == 0:
            lines.append(f"{one}, {other} = {other}, {one}" if one != other else f"{one} = {third}")
        elif kind == 1:
            lines.append(f"{one}[T.id] += {other}[T.id] % 97 + {random.integers(0, 9)}")
        elif kind == 2:
            lines.append(f"{one} = {other} if {test} else {third}")
        elif kind == 3:
            lines += [f"row = table[(T.id + n) % 3] if {test} else table[n % 3]", "row[T.id] += 1"]
            lines.append(f"{one}[T.id] -= row[T.id] * len({other})")
        elif kind == 4 and loop:
            way = random.choice(["break", "continue"])
            lines += [f"if {test}:", f"    {one}, {other} = {other}, {third}", f"    {way}"]
        elif kind in (5, 6):
            inner = renaming_statements(random, depth - 1, loop, fresh)
            lines += [f"if {test}:", *(f"    {line}" for line in inner)]
            if kind == 6:
                inner = renaming_statements(random, depth - 1, loop, fresh)
                lines += ["else:", *(f"    {line}" for line in inner)]
        elif kind in (7, 8):
            counter = f"k{next(fresh)}"
            over = random.choice(["range(3)", "range(T.id)", "range(n % 3)", "(1, 2)"])
            inner = renaming_statements(random, depth - 1, True, fresh)
            lines.append(f"for {counter} in {over}:")
            lines += [f"    n += {counter} + 1", *(f"    {line}" for line in inner)]
    return lines or ["pass"]


def random_renaming(number):
    """A random program; in the end each name shows which array it has."""
    random = np.random.default_rng(number)
    body = ["n = table[0, 0]", *renaming_statements(random, 3, False, count())]
    body += [f"{name}[T.id] += {10**position}" for position, name in enumerate(NAMES)]
    text = "".join(f"    {line}\n" for line in body)
    source = f"def renaming_{number}(T, a, b, c, d, whole):\n    table = whole[T.id]\n{text}"
    arrays = (np.arange(4) + 10 * k for k in range(4))
    case(*arrays, np.arange(48).reshape(4, 3, 4))(define(source, f"renaming_{number}"))


for number in range(40):
    random_renaming(number)


@pytest.mark.parametrize(("function", "arguments", "threads"), CASES)
def test_it_means_what_python_says(function, arguments, threads):
    program = mm.program(function)
    expected = python(function, arguments, threads)
    run = agrees("interpreted", program, *arguments, threads=threads)
    assert [array.tolist() for array in run.arrays.values()] == expected
    try:
        run = agrees("plain", program, *arguments, threads=threads)
    except CannotFuse:
        return
    assert [array.tolist() for array in run.arrays.values()] == expected


@needs_compiler
def test_a_gpu_does_too(tmp_path):
    cases = [one.values for one in CASES[:-30]]  # ten of the random ones: a compiler takes long
    kernels = [kernel(mm.program(f), *args, threads=threads) for f, args, threads in cases]
    emulated = Emulated(kernels, tmp_path)
    for number, (function, arguments, threads) in enumerate(cases):
        expected = python(function, arguments, threads)
        found = [array.tolist() for array in emulated.run(number).values()]
        assert found == expected, function.__name__
    assert not emulated.warnings


def swapped_registers(T, a, b, n):
    now = mm.registers(2)
    then = mm.registers(2)
    for k in range(n):
        now[k % 2] += k + T.id
        then[0] = now[k % 2] + then[1]
        now, then = then, now
    a[T.id] = now[0]
    b[T.id] = then[0]


def test_registers_swap():
    expected = []
    for i in range(4):
        now, then = [0, 0], [0, 0]
        for k in range(3):
            now[k % 2] += k + i
            then[0] = now[k % 2] + then[1]
            now, then = then, now
        expected.append((now[0], then[0]))
    program = mm.program(swapped_registers)
    run = agrees("plain", program, np.zeros(4, int), np.zeros(4, int), 3, threads=4)
    assert list(zip(*(one.tolist() for one in run.arrays.values()), strict=True)) == expected


def swaps_and_looks_up(T, a, b, n):
    for k in range(n):
        b[T.id] = a[T.id] + WEIGHTS[(T.id - k) % 3 - 3]
        a, b = b, a


def test_a_compiled_program_swaps_and_looks_up():
    arguments = np.zeros(4), np.ones(4), 3
    run = agrees("fused", mm.program(swaps_and_looks_up), *arguments, threads=4)
    expected = python(swaps_and_looks_up, arguments, 4)
    assert [array.tolist() for array in run.arrays.values()] == expected


# ------------------------------------------------------------ memory and lines


def ping_pong(T, a, b, n):
    for _ in range(n):
        b[T.id] = a[T.id]
        T.barrier()
        a, b = b, a


def test_a_swap_takes_no_time_and_its_accesses_keep_their_line():
    a = np.arange(8)
    run = mm.UMM(4, 5).run(mm.program(ping_pong), a, 0 * a, 4, threads=8)
    # each turn: a read and a write of two coalesced warps, 2 + 5 - 1 each
    assert run.time == 4 * 2 * (2 + 5 - 1)
    line = ping_pong.__code__.co_firstlineno + 2
    assert {row.line for row in run.accesses} == {line}
    assert [(row.array, row.kind, row.requests) for row in run.accesses] == [
        ("a", "read", 4),
        ("b", "read", 4),
        ("a", "write", 4),
        ("b", "write", 4),
    ]


def by_turns(T, a, b, c):
    q = c if T.id == 0 else b
    q[T.id] = 1
    if T.id % 2:
        b, a = a, b
    b[T.id] = 2


def test_accesses_by_one_name_come_in_the_order_of_the_arrays():
    arguments = np.zeros(4, int), np.zeros(4, int), np.zeros(4, int)
    run = mm.DMM(4, 1).run(mm.program(by_turns), *arguments, threads=4)
    line = by_turns.__code__.co_firstlineno
    assert [(r.line - line, r.array) for r in run.rounds] == [
        (2, "b"),
        (2, "c"),
        (5, "a"),
        (5, "b"),
    ]


def test_a_row_is_named_without_an_access():
    source = """\
def f(T, a, out):
    row = a[T.id]
    unused = a[0]
    out[T.id] = row[1]
    unused = row
    a[T.id, 0]
    unused[0]
"""
    run = mm.DMM(4, 1).run(mm.program(define(source, "f")), grid(), np.zeros(4, int), threads=4)
    assert [(row.line, row.array, row.kind) for row in run.accesses] == [
        (4, "a", "read"),
        (4, "out", "write"),
        (6, "a", "read"),
        (7, "a", "read"),
    ]


# ------------------------------------------------------------ helpers with a decorator


@mm.program
def turned(x, y):
    if x > 2:
        return y, x
    return -y, x


@mm.program
def calls_a_helper(T, out):
    x, y = turned(T.id, 7)
    out[T.id] = 10 * x + y


def test_a_decorated_helper_is_called_by_a_program():
    run = mm.DMM(4, 1).run(calls_a_helper, np.zeros(4, int), threads=4)
    assert run.arrays["out"].tolist() == [-70, -69, -68, 73]
    assert repr(turned) == "<helper turned>"
    assert turned.name == "turned"


@pytest.mark.parametrize(
    "use",
    [
        lambda: mm.DMM(4, 1).run(turned, np.zeros(4), threads=4),
        lambda: turned.cuda(np.zeros(4), threads=4),
        lambda: turned(1, 2),
        lambda: turned.code,
    ],
)
def test_a_machine_runs_no_helper(use):
    with pytest.raises(mm.LanguageError) as caught:
        use()
    assert str(caught.value).startswith(
        "'turned' returns a value; it is a helper; call it from a program, or store the result in "
        "an array\n"
    )
    assert caught.value.place.text.strip() == "return -y, x"


# ------------------------------------------------------------ what is out of range

ITEMS = (10, 20, 30)


def out_of_a_table(T, out, n):
    out[T.id] = ITEMS[T.id - n]


def out_of_a_row(T, out, n):
    out[T.id] = SQUARE[T.id - n, 1]


def out_of_a_column(T, out, n):
    out[T.id] = SQUARE[1][T.id - n]


def out_of_a_tuple_of_tuples(T, out, n):
    x, y = DIRECTIONS[T.id - n]
    out[T.id] = x + y


@pytest.mark.parametrize(
    ("function", "n", "thread", "index", "table", "size"),
    [
        (out_of_a_table, 0, 3, 3, "ITEMS", 3),
        (out_of_a_table, 4, 0, -4, "ITEMS", 3),
        (out_of_a_table, -(2**62), 0, 2**62, "ITEMS", 3),
        (out_of_a_row, 0, 2, 2, "SQUARE", 2),
        (out_of_a_row, 3, 0, -3, "SQUARE", 2),
        (out_of_a_column, 0, 3, 3, "SQUARE[1]", 3),
        (out_of_a_column, 5, 0, -5, "SQUARE[1]", 3),
        (out_of_a_tuple_of_tuples, -1, 3, 4, "DIRECTIONS", 4),
        (out_of_a_tuple_of_tuples, 5, 0, -5, "DIRECTIONS", 4),
    ],
)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_an_index_outside_a_table_names_the_thread(
    function, n, thread, index, table, size, schedule
):
    program, out = mm.program(function), np.zeros(4, int)
    texts = set()
    for engine in ("events", "array"):
        with pytest.raises(AddressError) as caught:
            mm.DMM(4, 1).run(program, out, n, threads=4, schedule=schedule, engine=engine)
        error = caught.value
        texts.add(str(error))
        assert (error.thread, error.index) == (thread, (index,))
        text = error.place.text[error.place.column : error.place.end_column]
        assert text.startswith(f"{table}[")
        assert error.place.line == function.__code__.co_firstlineno + 1
        assert (
            f"index {index} of the table '{table}' is out of range: it has {size} values along "
            f"this axis, from {-size} to {size - 1}"
        ) in str(error)
    assert len(texts) == 1
    for path in ("plain", "fused"):  # compiled code leaves the error to the interpreter
        with pytest.raises(AddressError) as caught:
            run_along(path, program, out, n, threads=4, schedule=schedule)
        assert str(caught.value) in texts


def only_some_look_up(T, out):
    if T.id < 3:
        out[T.id] = ITEMS[T.id]
    out[T.id] += ITEMS[T.id] if T.id < 3 else ITEMS[-1]


def test_only_the_threads_that_read_a_table_need_an_index_in_range():
    for path in ("interpreted", "plain", "fused"):
        run = agrees(path, mm.program(only_some_look_up), np.zeros(4, int), threads=4)
        assert run.arrays["out"].tolist() == [20, 40, 60, 30]


def half_way(T, out):
    out[T.id] = ITEMS[T.id / 2]


def half_way_down(T, out):
    out[T.id] = SQUARE[1, T.id / 2]


@pytest.mark.parametrize("function", [half_way, half_way_down])
@pytest.mark.parametrize("engine", ["events", "array"])
def test_the_index_of_a_table_is_an_integer(function, engine):
    with pytest.raises(TypeFault) as caught:
        mm.DMM(4, 1).run(mm.program(function), np.zeros(4, int), threads=4, engine=engine)
    assert caught.value.place.line == function.__code__.co_firstlineno + 1
    assert "float" in str(caught.value)


# ------------------------------------------------------------ sizes, and names for a second use


@mm.program
def as_many_registers(T, b):
    s = mm.shared(5)
    r = mm.registers(s.shape[0])
    r[4] = 2
    b[T.id] = r[4] + len(r)


@pytest.mark.parametrize("engine", ["array", "events"])
def test_the_size_of_an_array_may_be_that_of_one_before(engine):
    run = mm.DMM(4, 5).run(as_many_registers, np.zeros(4, int), threads=4, engine=engine)
    assert run.arrays["b"].tolist() == [7, 7, 7, 7]


def given_a_tuple(b, side):
    side = (1, b.shape[0])
    b[side[0]] = side[1]


def test_a_number_that_a_helper_takes_does_not_become_a_tuple():
    with pytest.raises(mm.LanguageError, match="'side' is a number already"):

        @mm.program
        def program(T, b):
            given_a_tuple(b, 3)


def test_a_word_takes_its_arguments_by_name():
    @mm.program
    def program(T, a):
        x, y = mm.vector(a, count=2)[T.id]
        a[2 * T.id] = x + y

    assert mm.UMM(4, 3).run(program, np.arange(4), threads=2).arrays["a"].tolist() == [1, 1, 5, 3]


def test_a_loop_over_a_tuple_ends_before_the_next_statement():
    @mm.program
    def program(T, a):
        for k in (1, 2):
            a[T.id] = k
        s = mm.shared(4)  # which stands in no loop
        s[T.id] = a[T.id]

    assert mm.UMM(4, 3).run(program, np.zeros(4, int), threads=4).arrays["a"].tolist() == [2] * 4
