"""What kernels know before they run: members of enums, kinds of arguments, defaults, lengths."""

from __future__ import annotations

import cmath
import enum

import numpy as np
import pytest

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


def test_members_of_enums_are_compared_and_looked_up_by_name():
    def compare(a, b, out):
        out[0] = a == b
        out[1] = a is b
        out[2] = a is not b
        out[3] = Colour["RED"] == Colour.RED
        out[4] = Level["HIGH"] + Level.LOW
        if a is Level.LOW:
            out[5] = a * 3

    for a, b in [(Colour.RED, Colour.GREEN), (Colour.RED, Colour.RED)]:
        same_as_python(compare, a, b, np.zeros(6))
    for a, b in [(Level.LOW, Depth.SHALLOW), (Level.HIGH, Level.HIGH)]:
        same_as_python(compare, a, b, np.zeros(6))


def test_a_member_that_is_a_number_may_be_assigned():
    def count(level, out):
        level += 1
        out[0] = level

    same_as_python(count, Level.HIGH, np.zeros(1))


def test_an_object_is_not_assigned():
    def replace(x, out):
        if x is None:
            x = 1
        out[0] = x

    same_as_python(replace, 2, np.zeros(1))
    with pytest.raises(LanguageError, match="'x' is None in this launch, and the kernel assigns"):
        MACHINE.run(numba_program(replace), None, np.zeros(1), threads=1)


def test_isinstance_chooses_the_branch_that_is_parsed():
    def first(x, out):
        if isinstance(x, (tuple, np.ndarray)):
            out[0] = x[0]
        else:
            out[0] = x + 1
        out[1] = isinstance(x, np.ndarray)

    for x in (3, (4, 5), np.array([6])):
        same_as_python(first, x, np.zeros(2))


def test_isinstance_knows_no_types_of_numbers():
    def kind(x, out):
        out[0] = isinstance(x, int)

    with pytest.raises(LanguageError, match="isinstance knows tuples and arrays here"):
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


def test_functions_inside_kernels_have_defaults_and_named_arguments():
    def apply(function, x):
        return function(x, last=7)

    def defaults(out):
        base = 100

        def inner(a, b=2, last=-3):
            return base + a * 10 + b * last

        out[0] = inner(1)
        out[1] = inner(1, 5)
        out[2] = inner(b=4, a=2)
        out[3] = apply(inner, 6)

    same_as_python(defaults, np.zeros(4))


def test_a_default_inside_a_kernel_is_a_number():
    def varying(out):
        k = out[0]

        def inner(a, b=k):
            return a + b

        out[0] = inner(1)

    with pytest.raises(LanguageError, match="the default 'k' is not a number"):
        MACHINE.run(numba_program(varying), np.zeros(1), threads=1)


def test_tuples_are_spread_over_the_arguments_of_any_function():
    def spread(out):
        out[0] = complex(*cmath.polar(3 + 4j)).real
        out[1] = max(*(2, 9), 4)

    same_as_python(spread, np.zeros(2))
