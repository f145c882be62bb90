"""Values known before kernels run: members of enums, kinds of arguments, defaults, lengths."""

from __future__ import annotations

import cmath
import enum
import operator

import numba
import numpy as np
import pytest
from numba.extending import overload

import mmsim as mm
from mmsim.errors import LanguageError
from mmsim.frontend.numba.kernel import numba_program

MACHINE = mm.HMM(2, 4, 5, 3)


class Colour(enum.Enum):
    """No numbers."""

    RED = 1
    GREEN = 2


class Level(enum.IntEnum):
    """Numbers."""

    LOW = 1
    HIGH = 5


class Depth(enum.IntEnum):
    """Others, one of the same value."""

    SHALLOW = 1


def same_as_python(kernel, *args):
    """Compare the last argument after a kernel of one thread and after the Python function."""
    right = [np.copy(one) if isinstance(one, np.ndarray) else one for one in args]
    kernel(*right)
    run = MACHINE.run(numba_program(kernel), *args, threads=1, schedule="asynchronous")
    assert run.arrays["out"].tolist() == right[-1].tolist()


def same_as_numba(kernel, *args):
    """Compare the last argument after a kernel of one thread and after what Numba compiles."""
    right = [np.copy(one) if isinstance(one, np.ndarray) else one for one in args]
    numba.njit(kernel)(*right)
    run = MACHINE.run(numba_program(kernel), *args, threads=1, schedule="asynchronous")
    assert run.arrays["out"].tolist() == right[-1].tolist()


@numba.njit
def apply(function, x):
    return function(x, last=7)


def test_members_of_enums_are_compared_and_looked_up_by_name():
    def compare(a, b, out):
        out[0] = a == b
        out[1] = a is b
        out[2] = a is not b
        out[3] = Colour["RED"] == Colour.RED
        out[4] = Level["HIGH"] + Level.LOW

    def multiply(a, b, out):
        if a is Level.LOW:
            out[0] = a * 3

    for a, b in [(Colour.RED, Colour.GREEN), (Colour.RED, Colour.RED)]:
        same_as_python(compare, a, b, np.zeros(6))
    for a, b in [(Level.LOW, Depth.SHALLOW), (Level.HIGH, Level.HIGH)]:
        same_as_python(compare, a, b, np.zeros(6))
        same_as_python(multiply, a, b, np.zeros(1))
    with pytest.raises(LanguageError, match=r"'a' is a member of an enumeration; write a\.value"):
        MACHINE.run(numba_program(multiply), Colour.RED, Colour.RED, np.zeros(1), threads=1)


def test_the_path_may_choose_a_member_of_an_enum():
    def colour_of(n):
        return Colour.RED if n > 1 else Colour.GREEN

    def level_of(n):
        if n > 1:
            return Level.LOW
        return Level["HIGH"]

    def choose(n, out):
        out[0] = colour_of(n) == Colour.RED
        out[1] = colour_of(n) != Colour.GREEN
        level = level_of(n)
        out[2] = level == Level.LOW
        out[3] = level + 1
        out[4] = n != Level.HIGH
        out[5] = (n, 1) == (Level.LOW, 1)
        own = Colour.RED
        if n > 2:
            own = Colour.GREEN
        out[6] = own.value
        out[7] = n == None  # noqa: E711

    for n in range(5):
        same_as_python(choose, n, np.zeros(8, int))


def test_the_path_may_choose_the_array_that_is_returned():
    def first(n, a, b):
        if n > 1:
            return a, 1
        return b[1:], 2

    def choose(n, a, out):
        x, by = first(n, out, out[1:]) if n < 3 else first(n, a, out)
        x[0] = by
        out[3] = a[0]

    for n in (1, 2, 3):
        same_as_python(choose, n, np.zeros(2), np.zeros(4))


def test_the_path_may_choose_a_slice_or_a_range():
    def choose(n, out):
        ends = slice(1, None, n) if n > 0 else slice(None, 2, n)
        numbers = range(n, 9)
        for i in range(3):
            out[ends] = i + 1
            for k in numbers:
                out[0] += k * k
            if i > 0:
                numbers = range(8, n, -3)
                ends = slice(2, 3, 1)
        out[1] += len(numbers) + ends.start

    for n in (1, 2, -1):
        same_as_numba(choose, n, np.zeros(6))


def test_the_path_may_not_choose_an_iterator():
    def choose(n, out):
        items = enumerate(out) if n > 1 else enumerate(out, 1)
        for number, one in items:
            out[0] += number * one

    with pytest.raises(LanguageError, match="what a name stands for depends on the path"):
        MACHINE.run(numba_program(choose), 1, np.zeros(4), threads=1)


def test_a_member_that_is_a_number_may_be_assigned():
    def count(level, out):
        level += 1
        out[0] = level

    same_as_python(count, Level.HIGH, np.zeros(1))


def test_none_may_be_replaced():
    def replace(x, out):
        if x is None:
            x = 1
        out[0] = x

    same_as_numba(replace, 2, np.zeros(1))
    same_as_numba(replace, None, np.zeros(1))


def test_isinstance_chooses_the_branch_that_is_parsed():
    def first(x, out):
        if isinstance(x, (tuple, list)):
            out[0] = x[0]
        else:
            out[0] = x + 1
        out[1] = isinstance(x, tuple)
        size = 1
        if not isinstance(x, int):
            size = len(x)
        out[2] = size

    for x in (3, (4, 5), (4, 5.5)):
        same_as_numba(first, x, np.zeros(3))


@pytest.mark.parametrize(
    "x", [1, 2.5, True, 1j, np.int8(3), np.float32(2), None, (1, 2), (1, 2.5), np.zeros(2)], ids=str
)
def test_isinstance_knows_types_as_numba_does(x):
    def kind(x, out):
        out[0] = isinstance(x, int)
        out[1] = isinstance(x, (int, float))
        if isinstance(x, (complex, bool, tuple)):
            out[2] = 7

    same_as_numba(kind, x, np.zeros(3))


def test_isinstance_of_a_name_with_two_types_is_refused():
    def kind(x, out):
        k = 1
        if x > 1:
            k = 2.5
        out[0] = isinstance(k, int)

    with pytest.raises(LanguageError, match='the type of variable "k" due to a branch'):
        MACHINE.run(numba_program(kind), 1, np.zeros(1), threads=1)


def test_the_length_of_a_tuple_chooses_the_branch_that_is_parsed():
    def total(out, *values):
        if len(values) == 1:
            found = values[0]
        elif len(values) > 1:
            found = values[0] + values[1]
        return found

    def lengths(out):
        out[0] = total(out, 3)
        out[1] = total(out, 3, 4)

    same_as_python(lengths, np.zeros(2))


def test_functions_inside_kernels_have_defaults():
    def defaults(out):
        base = 100

        def inner(a, b=2, last=-3):
            return base + a * 10 + b * last

        out[0] = inner(1)
        out[1] = inner(1, 5)
        out[2] = apply(inner, 6)
        out[3] = apply(lambda x, last: x - last, 6)

    same_as_numba(defaults, np.zeros(4))


def test_functions_inside_kernels_have_no_named_arguments():
    def named(out):
        def inner(a, b):
            return a - b

        out[0] = inner(b=1, a=2)

    with pytest.raises(LanguageError, match=r"takes its arguments in order: no b=, a="):
        MACHINE.run(numba_program(named), np.zeros(1), threads=1)


def test_a_default_inside_a_kernel_may_be_computed():
    def varying(out):
        k = out[0]

        def inner(a, b=k):
            return a + b

        k += 5
        out[0] = inner(1)

    same_as_numba(varying, np.array([3.0]))


def test_tuples_are_spread_over_the_arguments_of_any_function():
    def spread(out):
        out[0] = complex(*cmath.polar(3 + 4j)).real
        out[1] = max(*(2, 9), 4)

    same_as_python(spread, np.zeros(2))


def test_texts_that_are_known_are_compared_and_measured():
    ops, other = ("add", "mul"), "max"

    def kernel(a, op):
        if op == "add":
            a[0] = 1
        elif op != "sub" and op in ops:
            a[0] = 2
        a[1] = len(op) + 10 * len(other)
        a[2] = other == ops[0]

    for op, first in (("add", 1), ("multiply", 0), ("mul", 2), ("sub", 0)):
        run = MACHINE.run(numba_program(kernel), np.zeros(3), op, threads=1)
        assert run.arrays["a"].tolist() == [first, len(op) + 30, 0]


def test_ranges_and_slices_have_ends():
    def kernel(n, out):
        out[0], out[1], out[2] = len(range(n)), len(range(-n)), len(range(n, 0, -2))
        r, s, t = range(1, n, 2), slice(n), slice(n, None, -1)
        out[3] = r.start + 10 * r.stop + 100 * r.step
        out[4] = s.start + 10 * s.stop + 100 * s.step
        out[5] = t.start + 10 * (t.stop < -n) + 100 * t.step
        out[6] = 4 in r
        out[7] = 5 in r
        out[8] = n in range(9, 1, -2)
        out[9] = n in range(7)
        first, last, step = slice(-3, n).indices(5)
        out[10] = first + 10 * last + 100 * step

    same_as_numba(kernel, 7, np.zeros(11))


def test_types_members_and_operators_are_called():
    def kernel(x, n, a, out):
        out[0] = type(n)(3.7) + type(x)(2.5)
        out[1] = (4, 7, n).index(n)
        if hasattr(a, "shape"):
            out[2] = operator.iadd(n, 2) + operator.getitem((1, n), 1)
        out[3] = hasattr(a, "colour") + 10 * operator.is_(n, 2) + 100 * operator.contains((n, 1), 1)
        out[4] = np.count_nonzero(a) + 10 * np.count_nonzero(a[1:])

    same_as_python(kernel, np.float32(1), 5, np.array([1, 0, 2, 0]), np.zeros(6))


def test_a_known_character_has_a_number():
    def kernel(out):
        out[0] = ord("n")

    same_as_python(kernel, np.zeros(1))


def test_a_number_is_stored_at_several_indices():
    def kernel(a, b, mask, out):
        out[a] = 1
        b[1, a[:2]] = out[0] + 2
        b[a[1:]] = 5
        out[mask] = b[1, 2] + 4
        b[mask[:3]] = 7
        out[1] += b[2, 1] + b[1, 0] + b[0, 0]

    def several(a, out):
        out[a] = out

    a, b, mask = np.array([2, 0]), np.zeros((3, 3)), np.array([False, False, True, True])
    same_as_python(kernel, a, b, mask, np.zeros(4))
    with pytest.raises(LanguageError, match="an array stands where a number must"):
        MACHINE.run(numba_program(several), a, np.zeros(4), threads=1)


def test_an_overload_may_be_defined_after_other_kernels():
    def first(a):
        a[0] = 1

    MACHINE.run(numba_program(first), np.zeros(1), threads=1)

    def further(x, y=1):
        """A function that Numba writes otherwise."""

    @overload(further)
    def of_further(x, y=1):
        return lambda x, y=1: x + y

    def kernel(a):
        a[0] = further(a[1]) + further(1, 5)

    run = MACHINE.run(numba_program(kernel), np.array([0.0, 2.0]), threads=1)
    assert run.arrays["a"][0] == 9
