"""Bad input: one clear error that says where and what, and the caller's arrays as they were."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import (
    AddressError,
    ArithmeticFault,
    BarrierError,
    EndlessError,
    LaunchError,
    LayoutError,
    MachineError,
    ProgramError,
    TypeFault,
    UnassignedError,
)
from tests.kit.generators.random_programs import define
from tests.kit.runs.programs import program_of

SCHEDULES = ["synchronous", "asynchronous"]
both_schedules = pytest.mark.parametrize("schedule", SCHEDULES)


def program(body, parameters="a, b"):
    """A program named bad; its body begins in line 2."""
    return program_of(body, parameters, "bad")


def failure(code, *args, kind=ProgramError, machine=None, threads=8, **options):
    """The error of a run, after checking that the caller's arrays are as they were."""
    copies = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    with pytest.raises(kind) as caught:
        (machine or mm.DMM(4, 2)).run(code, *args, threads=threads, **options)
    for arg, copy in zip(args, copies, strict=True):
        if isinstance(arg, np.ndarray):
            np.testing.assert_array_equal(arg, copy)
    return caught.value


def fault(body, *args, **options):
    """The error of a program with that body on two arrays of eight zeros, or on `args`."""
    args = args or (np.zeros(8, int), np.zeros(8, int))
    parameters = ", ".join("abcd"[: len(args)])
    error = failure(program(body, parameters), *args, **options)
    assert type(error) is options.get("kind", type(error))
    assert "program 'bad'" in str(error)
    return error


def facts(error):
    """Program, line, array, thread and index, after checking that the text names them too."""
    text = str(error)
    for name, value in [("line", error.place.line), ("thread", error.thread)]:
        assert value is None or f", {name} {value}" in text
    assert error.array is None or repr(error.array) in text
    assert error.index is None or f"[{', '.join(map(str, error.index))}]" in text
    assert error.place.text.strip() in text
    assert "^" in text
    return error.program, error.place.line, error.array, error.thread, error.index


# ---------------------------------------------------------------- where and what

FAULTS = [
    (
        "b[0] = 1\na[T.id + 3] = b[T.id]",
        (AddressError, 3, "a", 5, (8,)),
        "the array has 8 elements; indices run from 0 to 7",
    ),
    (
        "x = a[T.id - 6]",
        (AddressError, 2, "a", 0, (-6,)),
        "an address is not negative, and indices don't wrap",
    ),
    (
        "x = square[T.id % 2, T.id]",
        (AddressError, 2, "square", 4, (0, 4)),
        "axis 1 has 4 elements; indices run from 0 to 3",
    ),
    ("x = a.shape[1]", (AddressError, 2, "a", None, None), "'a' has 1 dimension, no axis 1"),
    ("if T.id > 2:\n    a[8] = 1", (AddressError, 3, "a", 3, (8,)), ""),
    ("a[-9223372036854775808] = 1", (AddressError, 2, "a", 0, (-(2**63),)), ""),
    ("r = mm.registers(2)\nr[T.id] = 1", (AddressError, 3, "r", 2, (2,)), ""),
    ("r = mm.registers(2, int)\na[0] = r[T.id]", (AddressError, 3, "r", 2, (2,)), ""),
    ("s = mm.shared(2)\ns[T.id - 1] = 1", (AddressError, 3, "s", 0, (-1,)), ""),
    (
        "if T.id != 6:\n    T.barrier()\na[T.id] = 1",
        (BarrierError, 3, None, 6, None),
        "thread 4 waits at this barrier but thread 6 of the same warp 1 is elsewhere",
    ),
    ("x = 1\nwhile x:\n    x += 1", (EndlessError, 3, None, 0, None), "max_accesses=100000"),
    (
        "for k in range(0, 3, T.id):\n    pass",
        (ArithmeticFault, 2, None, 0, None),
        "the step of a range is 0",
    ),
    (
        "for k in range(T.id / 2):\n    pass",
        (TypeFault, 2, None, None, None),
        "range takes integers; write int(...)",
    ),
    (
        "a[T.id] = x\nx = 1",
        (UnassignedError, 2, None, 0, None),
        "the variable 'x' is read before this thread has assigned it",
    ),
    ("if T.id != 5:\n    x = 1\na[T.id] = x", (UnassignedError, 4, None, 5, None), ""),
    ("for k in range(3 - T.id):\n    pass\na[0] = k", (UnassignedError, 4, None, 3, None), ""),
    ("x: int\na[0] = x", (TypeFault, 3, None, None, None), "the variable 'x' is never assigned"),
    ("if T.id > 4:\n    narrow[7 - T.id] = 100 * T.id", (TypeFault, 3, "narrow", 5, (2,)), ""),
    (
        "r = mm.registers((2, 4), 'int8')\nr[1, T.id % 4] = 25 * T.id",
        (TypeFault, 3, "r", 6, (1, 2)),
        "",
    ),
    (
        "s = mm.shared(8 // (len(a) - 8))",
        (TypeFault, 2, "s", None, None),
        "'s' can't have an extent without a value",
    ),
]
"""A body; the kind of its error, and line, array, thread and index; a part of the message."""


@both_schedules
@pytest.mark.parametrize(("body", "expected", "message"), FAULTS)
def test_the_error_says_where_and_what(body, expected, message, schedule):
    kind, *place = expected
    arrays = np.zeros(8, int), np.zeros(8, int), np.zeros((2, 4)), np.zeros(8, np.int8)
    error = failure(program(body, "a, b, square, narrow"), *arrays, kind=kind, schedule=schedule)
    assert type(error) is kind
    assert facts(error) == ("bad", *place)
    assert message in str(error)


# ---------------------------------------------------------------- addresses


def test_only_active_lanes_need_a_good_index():
    code = program("if T.id < 4:\n    b[T.id] = a[2 * T.id]")
    run = mm.DMM(4, 2).run(code, np.arange(8), np.zeros(8, int), threads=8)
    assert run.arrays["b"].tolist() == [0, 2, 4, 6, 0, 0, 0, 0]


def test_an_index_in_a_helper():
    source = "def get(x, i):\n    return x[i + 1]\ndef bad(T, a):\n    a[0] = get(a, T.id)\n"
    error = failure(mm.program(define(source, "bad")), np.zeros(8), kind=AddressError)
    assert error.place.function == "get"
    assert str(error).startswith("program 'bad', line 2 (in 'get'), thread 7: index [8] of 'a'")


@pytest.mark.parametrize(
    ("index", "value"), [("T.id / 2", 0.0), ("0.5", 0.5), ("a[0]", 7.0), ("1.0", 1.0)]
)
def test_an_index_that_is_a_float(index, value):
    error = fault(f"b[{index}] = 1", np.full(8, 7.0), np.zeros(8), kind=AddressError)
    assert facts(error) == ("bad", 2, "b", 0, (value,))
    assert f"thread 0: index [{value}] of 'b': an address is a whole number" in str(error)
    assert "//" in str(error)


@pytest.mark.parametrize(
    ("body", "shape", "used", "thread", "index"),
    [
        ("a[T.id + 3] = 1", (2, 4), 1, 0, (3,)),
        ("a[T.id, 0] = 1", (8,), 2, 0, (0, 0)),
        ("x = a[T.id][1][2]", (2, 4), 3, 0, (0, 1, 2)),
        ("rows, cols = a.shape", (8,), 2, None, None),
    ],
)
def test_an_array_of_the_wrong_rank(body, shape, used, thread, index):
    error = fault(body, np.zeros(shape), kind=AddressError)
    assert facts(error) == ("bad", 2, "a", thread, index)
    dimensions = f"{len(shape)} dimension{'s' * (len(shape) > 1)}"
    assert f"'a' has {dimensions} (shape {shape}) but is used with {used}" in str(error)


def test_an_empty_array():
    code = program("if T.id < len(a):\n    b[T.id] = a[T.id]")
    run = mm.DMM(4, 2).run(code, np.zeros(0), np.ones(8), threads=8)
    assert (run.time, run.arrays["a"].shape) == (0, (0,))
    error = fault("a[T.id] = 1", np.zeros((0,)), kind=AddressError)
    assert facts(error) == ("bad", 2, "a", 0, (0,))
    assert "the array is empty" in str(error)
    assert "indices run" not in str(error)


# ---------------------------------------------------------------- barriers and endless programs


@both_schedules
def test_a_barrier_that_whole_warps_or_all_live_lanes_reach(schedule):
    code = program("if T.id == 1:\n    return\nif T.warp == 0:\n    T.barrier()\na[T.id] = 1")
    run = mm.DMM(4, 2).run(code, np.zeros(8, int), np.zeros(8, int), threads=8, schedule=schedule)
    assert run.arrays["a"].tolist() == [1, 0, 1, 1, 1, 1, 1, 1]


@both_schedules
@pytest.mark.parametrize(
    "body", ["x = 0\nwhile a[0] == 0:\n    x += 1", "while True:\n    a[T.id] += 1"]
)
def test_a_program_that_never_ends(body, schedule):
    error = fault(body, kind=EndlessError, schedule=schedule, max_accesses=500)
    assert error.program == "bad"
    assert error.place.line in (2, 3)
    assert "no end after max_accesses=500 accesses and loop iterations" in str(error)
    assert "give run a larger max_accesses" in str(error)


@both_schedules
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("while a[0] == 0:\n    x = 1", "line 2 finds a[0] = 0 again and again"),
        ("while True:\n    a[0] = 0", "nothing changes in it"),
    ],
)
def test_a_program_that_changes_nothing_any_more(body, said, schedule):
    error = fault(body, kind=EndlessError, schedule=schedule, max_accesses=500)
    assert error.place.line == 2
    assert f"repeat this loop forever: {said}" in str(error)


@both_schedules
def test_a_larger_bound_helps(schedule):
    code = program("for k in range(300):\n    a[T.id] += 1")
    arrays = np.zeros(8, int), np.zeros(8, int)
    assert facts(failure(code, *arrays, max_accesses=899, schedule=schedule))[:2] == ("bad", 3)
    run = mm.DMM(4, 2).run(code, *arrays, threads=8, max_accesses=900, schedule=schedule)
    assert run.arrays["a"].tolist() == [300] * 8


# ---------------------------------------------------------------- values


@both_schedules
@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("1 // a[T.id]", "division by zero"),
        ("1 / a[T.id]", "division by zero"),
        ("1 % a[T.id]", "modulo zero"),
        ("1.5 // a[T.id]", "division by zero"),
        ("1 // (2 - 2)", "division by zero"),
        ("1 << (a[T.id] - 1)", "a shift by a negative number"),
        ("1 >> -1", "a shift by a negative number"),
        ("2 ** (a[T.id] - 1)", "an integer to a negative power"),
        ("0.0 ** (a[T.id] - 1)", "not a finite real number"),
        ("(a[T.id] - 8.0) ** 0.5", "not a finite real number"),
        ("int(1e300 * (a[T.id] + 1))", "64 bits"),
    ],
)
def test_an_operation_without_a_value(expression, message, schedule):
    a = np.array([0 if i in (2, 5) else 1 for i in range(8)])
    whole = "a[T.id]" in expression and "8.0" not in expression and "1e300" not in expression
    error = fault(f"x = {expression}", a, kind=ArithmeticFault, schedule=schedule)
    assert facts(error) == ("bad", 2, None, 2 if whole else 0, None)
    assert message in str(error)
    assert str(error).count(expression) == 1


def test_inactive_lanes_may_divide_by_zero():
    code = program(
        "if a[T.id]:\n    b[T.id] = 6 // a[T.id]\nc = 1 // (T.id - T.id) if T.id < 0 else 0"
    )
    run = mm.DMM(4, 2).run(code, [0, 1, 2, 3], [0, 0, 0, 0], threads=4)
    assert run.arrays["b"].tolist() == [0, 6, 3, 2]


HELPERS = """\
def first(x):
    if x > 0:
        y = x
    return y
def some(x):
    if x > 0:
        return x
"""


def test_a_helpers_variable_is_named_as_it_is_written():
    source = HELPERS + "def bad(T, a):\n    y = 1\n    a[T.id] = first(T.id)\n"
    error = failure(mm.program(define(source, "bad")), np.zeros(8), kind=UnassignedError)
    assert facts(error) == ("bad", 4, None, 0, None)
    assert "the variable 'y' is read" in str(error)


def test_a_helper_that_returned_nothing():
    source = HELPERS + "def bad(T, a):\n    a[T.id] = some(T.id - 1)\n"
    error = failure(mm.program(define(source, "bad")), np.zeros(8), kind=UnassignedError)
    assert facts(error) == ("bad", 9, None, 0, None)
    assert "'some(T.id - 1)' gives this thread no value: its function returned without one" in str(
        error
    )


@pytest.mark.parametrize(
    ("value", "dtype", "message"),
    [
        ("T.id / 2", "int64", "a float is stored in 'a', which holds int64; write int(...)"),
        ("0.0", "int8", "a float is stored in 'a', which holds int8"),
        ("b[0]", "bool", "a float is stored in 'a', which holds bool"),
        ("T.id", "bool", "a number is stored in 'a', which holds bool; write bool(...)"),
    ],
)
def test_a_value_of_the_wrong_type(value, dtype, message):
    error = fault(f"a[T.id] = {value}", np.zeros(8, dtype), np.zeros(8), kind=TypeFault)
    assert facts(error) == ("bad", 2, "a", None, None)
    assert message in str(error)


@pytest.mark.parametrize("body", ["x = 1.5 & 2", "x = 1 << 2.0", "x = ~1.5", "x = 1\nx |= 0.5"])
def test_bits_of_floats(body):
    error = fault(body, kind=TypeFault)
    assert "an integer" in str(error) or "takes integers" in str(error)


@both_schedules
@pytest.mark.parametrize(
    ("dtype", "value", "thread", "shown"),
    [
        ("int8", "100 + 10 * T.id", 3, "130 doesn't fit a[3]: 'a' holds int8, from -128 to 127"),
        ("uint8", "2 - T.id", 3, "-1 doesn't fit a[3]: 'a' holds uint8, from 0 to 255"),
        ("uint32", "-1", 0, "-1 doesn't fit a[0]"),
        ("int32", "1 << 31", 0, "2147483648 doesn't fit a[0]"),
        ("int16", "b[T.id]", 5, "40000 doesn't fit a[5]"),
    ],
)
def test_an_integer_that_does_not_fit(dtype, value, thread, shown, schedule):
    b = np.array([0, 1, 2, 3, 4, 40000, 6, 40000])
    error = fault(f"a[T.id] = {value}", np.zeros(8, dtype), b, kind=TypeFault, schedule=schedule)
    assert facts(error) == ("bad", 2, "a", thread, (thread,))
    assert shown in str(error)


@pytest.mark.parametrize("engine", ["array", "events"])
@pytest.mark.parametrize("threads", [2**62, 2**63, 2**1000])
def test_more_threads_than_any_memory_holds(threads, engine):
    with pytest.raises(LaunchError, match="more threads than any memory holds"):
        mm.DMM(4, 1).run(program("a[0] = 1", "a"), [0], threads=threads, engine=engine)


@pytest.mark.parametrize(
    ("width", "words"),
    [
        (np.timedelta64(4, "D"), "must be a whole number, not np.timedelta64"),
        (10**5000, "width=of 16610 bits, but the width of a DMM must be at most"),
    ],
    ids=["span", "huge"],
)
def test_an_odd_width(width, words):
    with pytest.raises(MachineError, match=words):
        mm.DMM(width, 1)


# ---------------------------------------------------------------- local arrays


@pytest.mark.parametrize(
    ("size", "shown"),
    [("0", "0"), ("len(a) - 9", "-1"), ("len(a) / 2", "4.0"), ("True", "True")],
)
@pytest.mark.parametrize("kind", ["shared", "registers"])
def test_a_size_that_can_not_be(kind, size, shown):
    error = fault(f"s = mm.{kind}({size})", kind=TypeFault)
    assert facts(error) == ("bad", 2, "s", None, None)
    assert f"'s' can't have an extent of {shown}; extents are whole numbers from 1" in str(error)


def test_two_arrays_of_one_name():
    with pytest.raises(mm.LanguageError, match="two arrays or variables of one name: 'a'"):
        program("a = mm.shared(4)")
    with pytest.raises(SyntaxError, match="duplicate argument"):
        program("pass", "a, a")


# ---------------------------------------------------------------- launches


def launch_error(code, *args, **options):
    return str(failure(code, *args, kind=LaunchError, **options))


COPY = program("b[T.id] = a[T.id] * n + m", "a, b, n, m=0")
EIGHT = np.zeros(8, int)


@pytest.mark.parametrize("name", ["threads", "block_size", "max_accesses"])
@pytest.mark.parametrize("value", [0, -1, 2.0, 0.5, "8", True, np.timedelta64(4, "D")])
def test_counts(name, value):
    message = launch_error(COPY, EIGHT, EIGHT.copy(), 1, **{name: value})
    assert message.startswith(name)
    assert repr(value) in message


def test_a_block_of_more_threads_than_there_are():
    message = launch_error(COPY, EIGHT, EIGHT.copy(), 1, block_size=9)
    assert "block_size=9 is larger than threads=8; give a block_size of at most 8" in message


def test_counts_may_be_numpy_integers():
    run = mm.DMM(4, 2).run(
        COPY, EIGHT, EIGHT.copy(), 1, threads=np.int64(8), block_size=np.int32(4)
    )
    assert (run.threads, run.block_size) == (8, 4)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "bad(T, a, b, n, m) is missing argument 'a'"),
        (([0] * 8, [0] * 8), "bad(T, a, b, n, m) is missing argument 'n'"),
        (([0] * 8, [0] * 8, 1, 2, 3), "bad(T, a, b, n, m) takes 4 arguments, not 5"),
        ((5, [0] * 8, 1), "argument 'a' of program 'bad' must be an array, not 5 (line 1 of"),
        ((None, [0] * 8, 1), "argument 'a' of program 'bad' must be an array, not a NoneType"),
        (("text", [0] * 8, 1), "argument 'a' of program 'bad' must be an array, not 'text'"),
        (({}, [0] * 8, 1), "argument 'a' of program 'bad' must be an array, not a dict"),
        (([0] * 8, [0] * 8, [1]), "argument 'n' of program 'bad' must be a number, not a list"),
        (([0] * 8, [0] * 8, np.zeros(3)), "must be a number, not an array of shape (3,)"),
        (([0] * 8, [0] * 8, b"1"), "argument 'n' of program 'bad' must be a number, not a bytes"),
        (([0] * 8, [0] * 8, None), "must be a number, not a NoneType"),
        (([0] * 8, [0] * 8, np.timedelta64(3, "D")), "must be a number, not a timedelta64"),
        ((np.ma.array(EIGHT, mask=[1] * 8), [0] * 8, 1), "is masked; fill what is masked: pass"),
        (([0] * 8, [0] * 8, 2**64), "n=18446744073709551616 of program 'bad' doesn't fit into 64"),
        ((np.array(1), [0] * 8, 1), "argument 'a' of program 'bad' must have at least one dim"),
        (([[1], [1, 2]], [0] * 8, 1), "argument 'a' of program 'bad' is not an array of numbers"),
    ],
)
def test_arguments(args, message):
    assert message in launch_error(COPY, *args)


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (np.zeros(8, "clongdouble"), np.dtype("clongdouble").name),
        (np.zeros(8, object), "object"),
        (np.zeros(8, "longdouble"), np.dtype("longdouble").name),
        (np.array(["text"] * 8), "<U4"),
        (["text"] * 8, "<U4"),
        (np.zeros(8, "datetime64[s]"), "datetime64[s]"),
        (np.zeros(8, [("x", int)]), "[('x', '<i8')]"),
        (np.zeros(8, ">i8"), ">i8"),
        ([2**70] * 8, "object"),
    ],
)
def test_element_types(data, shown):
    message = launch_error(COPY, data, [0] * 8, 1)
    assert (
        f"argument 'a' of program 'bad' holds {shown}; arrays hold bool, int8 to int64" in message
    )
    assert "convert it with astype" in message


def test_one_array_as_two_parameters():
    shared = np.zeros(16, int)
    message = launch_error(COPY, shared, shared, 1)
    assert "arguments 'a' and 'b' of program 'bad' are the same array" in message
    assert "pass a copy" in message
    assert "are the same array" in launch_error(COPY, shared[:8], shared[4:], 1)
    assert "are the same array" in launch_error(
        COPY, shared, mm.place(shared, mm.layout.Diagonal(4)), 1
    )


def test_one_array_that_is_only_read_or_in_separate_parts():
    shared = np.arange(16)
    read = program("c[T.id] = a[T.id] + b[T.id]", "a, b, c")
    run = mm.DMM(4, 2).run(read, shared, shared, EIGHT, threads=8)
    assert run.arrays["c"].tolist() == [0, 2, 4, 6, 8, 10, 12, 14]
    mm.DMM(4, 2).run(COPY, shared[:8], shared[8:], 1, threads=8)
    run = mm.DMM(4, 2).run(COPY, shared[::2], shared[1::2], 1, threads=8)
    assert run.arrays["b"].tolist() == list(range(0, 16, 2))


@pytest.mark.parametrize(("name", "value"), [("schedule", "fifo"), ("engine", "gpu")])
def test_words_that_mean_nothing(name, value):
    message = launch_error(COPY, EIGHT, EIGHT.copy(), 1, **{name: value})
    assert message.startswith(f"{name}={value!r}, but {name} must be '")


@pytest.mark.parametrize("thing", [lambda T: 0, "copy", None])
def test_a_program_that_is_none(thing):
    message = launch_error(thing, EIGHT)
    assert "is not a program; decorate the function with mmsim.program" in message


# ---------------------------------------------------------------- machines and layouts


@pytest.mark.parametrize("value", [0, -1, 4.0, True, "4", None])
@pytest.mark.parametrize(
    ("machine", "name"),
    [
        *((machine, name) for machine in (mm.DMM, mm.UMM) for name in ("width", "latency")),
        *((mm.HMM, name) for name in ("dmms", "width", "global_latency", "shared_latency")),
    ],
)
def test_machines(machine, name, value):
    right = {"dmms": 2, "width": 4, "global_latency": 9} if machine is mm.HMM else {"latency": 2}
    with pytest.raises(MachineError) as caught:
        machine(**{"width": 4, **right, name: value})
    for part in (name, repr(value), machine.__name__):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([[1], [1, 2]], "this is not an array"),
        ("abc", "holds no numbers"),
        (mm.place(np.zeros((4, 4)), mm.layout.RAP(4)), "is placed already"),
        (np.ma.array(np.zeros(4), mask=[1, 0, 0, 0]), "this array is masked; fill what is masked"),
        (np.ma.array(np.zeros(4)), r"pass array.filled\(\.\.\.\)"),
    ],
)
def test_what_cannot_be_placed(data, message):
    with pytest.raises(LayoutError, match=message):
        mm.place(data, mm.layout.RAW())


def test_a_layout_that_gives_no_array():
    class Ragged:
        def offsets(self, shape):
            return [[1], [2, 3]]

    with pytest.raises(LayoutError, match="failed"):
        mm.place(np.zeros(3), Ragged())


def test_shifts_that_are_no_permutation():
    with pytest.raises(LayoutError, match=r"a permutation of 0..3, not \(0, 1, 1, 3\)"):
        mm.layout.RAP(4, shifts=(0, 1, 1, 3))


@pytest.mark.parametrize(
    ("layout", "shape", "message"),
    [
        (mm.layout.Diagonal(4), (4, 5), "can't hold an array of shape (4, 5)"),
        (mm.layout.Diagonal(4), (6,), "can't hold an array of shape (6,)"),
        (mm.layout.RAS(4), (), "can't hold an array of shape ()"),
        (mm.layout.RAP(4), (3, 4), "can't hold 3 rows; use RAS"),
        (mm.layout.RAP(4), (2, 4, 4), "can't hold 8 rows"),
        (mm.layout.RAS(4, shifts=(1, 2)), (3, 4), "has 2 shifts for 3 rows"),
    ],
)
def test_a_shape_that_a_layout_can_not_hold(layout, shape, message):
    with pytest.raises(LayoutError) as caught:
        mm.place(np.zeros(shape), layout)
    assert message in str(caught.value)
    assert repr(layout) in str(caught.value)


class Strange:
    def __init__(self, offsets):
        self.given = offsets

    def offsets(self, shape):
        return np.array(self.given)


@pytest.mark.parametrize(
    ("offsets", "message"),
    [
        ([0, 0, 1, 2], "a word of its own"),
        ([-1, 0, 1, 2], r"the words -1 to 2; the first is 0, the last at most \d+"),
    ],
)
def test_a_layout_gives_each_element_a_word_of_its_own(offsets, message):
    with pytest.raises(LayoutError, match=message):
        mm.place(np.zeros(4), Strange(offsets))


def test_a_layout_may_leave_words_between_elements():
    """As rows that are longer than their data do."""
    placed = mm.place(np.arange(4), Strange([0, 1, 2, 4]))
    run = mm.DMM(4, 3).run(_last_two, placed, np.zeros(2, int), threads=2)
    assert run.arrays["out"].tolist() == [2, 3]
    assert run.time == 2 * 3  # words 2 and 4 of the array, which are in banks 2 and 0


@mm.program
def _last_two(T, a, out):
    out[T.id] = a[2 + T.id]


@pytest.mark.parametrize("offsets", [[0.0, 1.0, 2.0, 3.0], [[0, 1], [2, 3]], [0, 1, 2]])
def test_a_layout_gives_an_integer_array_of_the_shape(offsets):
    with pytest.raises(LayoutError, match="must give an integer array of that shape"):
        mm.place(np.zeros(4), Strange(offsets))


# ---------------------------------------------------------------- errors as such


def test_errors_can_be_caught_by_pythons_names():
    for body, kind in [
        ("a[8] = 1", IndexError),
        ("x = 1 // 0", ArithmeticError),
        ("a[0] = x\nx = 1", NameError),
        ("a[0] = 0.5", TypeError),
    ]:
        with pytest.raises(kind):
            mm.DMM(4, 2).run(program(body), EIGHT, EIGHT.copy(), threads=8)


def test_errors_travel_between_processes():
    error = fault("a[T.id + 3] = 1")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is AddressError
    assert (str(copy), facts(copy)) == (str(error), facts(error))


def test_errors_show_no_inner_workings():
    error = fault("a[T.id + 3] = 1")
    assert str(error).endswith("    a[T.id + 3] = 1\n    ^^^^^^^^^^^")
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None


def test_too_little_of_pythons_stack_is_a_kind_error():
    deep = program("a[0] = " + "(1 + " * 90 + "T.id" + ")" * 90)

    def depth():
        frame, count = sys._getframe(), 0
        while frame is not None:
            frame, count = frame.f_back, count + 1
        return count

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(depth() + 150)
    try:
        with pytest.raises(LaunchError) as caught:
            mm.DMM(4, 2).run(deep, EIGHT, EIGHT.copy(), threads=8)
    finally:
        sys.setrecursionlimit(limit)
    assert "program 'bad' is nested too deeply" in str(caught.value)
    assert "take its long expressions apart" in str(caught.value)


@pytest.mark.parametrize("body", ["s = mm.shared(10**15); s[0] = 1", "r = mm.registers(10**14)"])
def test_more_memory_than_there_is(body):
    code = program(f"{body}\na[T.id] = 1", "a")
    with pytest.raises(
        LaunchError, match=r"needs (more memory than there is|about [\d,]+\.\d GiB)"
    ):
        mm.DMM(4, 1).run(code, np.zeros(8), threads=8)


@pytest.mark.parametrize("name", ["width", "latency"])
def test_a_machine_whose_times_would_not_fit_into_64_bits(name):
    with pytest.raises(MachineError, match=f"the {name} of a DMM must be at most 2147483647"):
        mm.DMM(**{"width": 4, "latency": 1, name: 2**31})
