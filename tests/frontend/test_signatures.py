"""The types of calls in kernels are numba-cuda's, for each name and for many types."""

from __future__ import annotations

import cmath
import itertools
import math
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from numba import cuda
from numba.core import types
from numba.core.target_extension import target_override
from numba.cuda import libdevice, libdevicefuncs
from numba.cuda import types as cuda_types
from numba.cuda.descriptor import cuda_target

from mmsim.frontend.numba.context import context
from mmsim.frontend.numba.libdevice import LIBDEVICE
from mmsim.frontend.numba.names import VECTORS
from mmsim.frontend.numba.words import RULES

pytest.importorskip("numba_cuda")  # else numba.cuda is Numba's own, which is older
NUMBERS = ("int32", "int64", "uint32", "uint64", "float32", "float64", "boolean")
MORE = (*NUMBERS, "int8", "uint16", "complex64", "complex128")
MEMBERS = ("atomic", "shared", "local", "const", "cg", "grid.sync")
SOME = ("int32", "uint64", "float32")


@pytest.fixture(scope="module")
def theirs() -> Any:
    """Numba-cuda's own context of types."""
    found = cuda_target.typing_context
    found.refresh()
    return found


def of(given: Any, where: Any) -> Any:
    """The type of an argument: a name, an integer that stands in the text, a tuple, an array."""
    match given:
        case int():
            return where.IntegerLiteral(given)
        case str():
            return getattr(where, given)
        case ("array", name, axes):
            return where.Array(getattr(where, name), axes, "C")
        case ("class", name):
            return where.NumberClass(getattr(where, name))
        case tuple():
            return where.Tuple(tuple(of(one, where) for one in given))
    raise AssertionError(given)


def function(context: Any, where: Any, thing: Any) -> Any:
    """The type of what is called: of an object, or of numba.cuda's member of a name."""
    if not isinstance(thing, str):
        return context.resolve_value_type(thing)
    found = where.Module(cuda)
    for name in thing.split("."):
        found = context.resolve_getattr(found, name)
    return found


def signature(context: Any, where: Any, thing: Any, given: tuple[Any, ...]) -> str:
    """The types of a call as text, "" if it is refused."""
    args = tuple(of(one, where) for one in given)
    for literal in (True, False):
        used = args if literal else tuple(map(where.unliteral, args))
        try:
            found = context.resolve_function_type(function(context, where, thing), used, {})
        except Exception:
            continue
        if found is not None:
            taken = ", ".join(str(where.unliteral(one)) for one in found.args)
            return f"({taken}) -> {found.return_type}"
    return ""


def both(theirs: Any, thing: Any, given: tuple[Any, ...]) -> tuple[str, str]:
    """numba-cuda's types of a call, and ours."""
    with target_override("cuda"):
        found = signature(theirs, cuda_types, thing, given)
    return found, signature(context(), types, thing, given)


def compared(theirs: Any, thing: Any, arguments: Iterable[tuple[Any, ...]]) -> list[str]:
    """The calls that numba-cuda types otherwise than we do; what it refuses may be typed here."""
    found = []
    for given in arguments:
        expected, ours = both(theirs, thing, given)
        if expected not in ("", ours):
            found.append(f"{thing} {given}: {ours or 'refused'}, not {expected}")
    return found


CALLS = sorted(name for name in RULES if not name.startswith(MEMBERS) and name not in VECTORS)


@pytest.mark.parametrize("name", [name for name in CALLS if "libdevice" not in name])
def test_a_name_of_numba_cuda_has_its_types(theirs: Any, name: str) -> None:
    rule = RULES[name]
    pool = (*NUMBERS, 3) if len(rule.names) < 3 else SOME
    counts = range(rule.needed, len(rule.names) + 1)
    calls = [given for count in counts for given in itertools.product(pool, repeat=count)]
    assert not compared(theirs, name, calls)


@pytest.mark.parametrize("name", [name for name in CALLS if name.startswith("libdevice.")][::5])
def test_a_function_of_libdevice_has_its_types(theirs: Any, name: str) -> None:
    thing = getattr(libdevice, name.split(".")[1])
    calls = itertools.product(SOME, repeat=len(RULES[name].names))
    assert not compared(theirs, thing, calls)


def test_all_functions_of_libdevice_with_a_meaning_have_types() -> None:
    expected = {
        name.removeprefix("__nv_"): f"({', '.join(str(one.ty) for one in args)}) -> {result}"
        for name, (result, args) in libdevicefuncs.functions.items()
        if not any(one.is_ptr for one in args)
    }
    pairs = {name for name, row in LIBDEVICE.items() if "," in row.code}
    assert set(LIBDEVICE) - pairs <= set(expected)
    for name in set(LIBDEVICE) - pairs:
        types_ = expected[name]
        given = tuple(types_[1:].split(")")[0].split(", "))
        assert signature(context(), types, getattr(libdevice, name), given) == types_


@pytest.mark.parametrize("name", sorted(name for name in RULES if name.startswith("atomic.")))
def test_an_atomic_has_its_types(theirs: Any, name: str) -> None:
    values = len(RULES[name].names) - ("index" in RULES[name].names) - 1
    calls = []
    for element, value in itertools.product(NUMBERS[:-1], SOME):
        one, two = ("array", element, 1), ("array", element, 2)
        index = (("int32",), ("uint64",)) if "index" in RULES[name].names else ((),)
        calls += [(one, *at, *[value] * values) for at in index]
        if index[0]:
            calls.append((two, ("int64", "int32"), *[value] * values))
    assert not compared(theirs, name, calls)


@pytest.mark.parametrize("name", ["shared.array", "local.array"])
def test_arrays_of_a_kernel_have_its_types(theirs: Any, name: str) -> None:
    shapes = (3, (3, 4), (2, 3, 4), (3,), "int64")
    calls = [(shape, ("class", dtype)) for shape in shapes for dtype in NUMBERS]
    assert not compared(theirs, name, calls)
    assert not signature(context(), types, name, ("int64", ("class", "int32")))


def test_vectors_have_its_types(theirs: Any) -> None:
    for name in VECTORS:
        made = getattr(cuda, name, None)
        if made is not None:
            count = VECTORS[name][1]
            calls = [(one,) * count for one in SOME]
            assert not compared(theirs, made, calls)


MATH = [one for one in vars(math).values() if callable(one)]


@pytest.mark.parametrize("thing", MATH, ids=lambda one: one.__name__)
def test_a_function_of_math_has_its_types(theirs: Any, thing: Any) -> None:
    pool = (*NUMBERS, 3)
    calls = [(one,) for one in pool] + list(itertools.product(pool, repeat=2))
    assert not compared(theirs, thing, calls)


OF_COMPLEX = [one for one in vars(cmath).values() if callable(one)]


def test_functions_of_cmath_have_its_types(theirs: Any) -> None:
    overloads = (cmath.phase, cmath.polar)  # written in Python there, and spelled out here
    for thing in OF_COMPLEX:
        if thing not in overloads:
            assert not compared(theirs, thing, [(one,) for one in MORE])


OPERATORS = [
    one for name, one in vars(operator).items() if callable(one) and not name.startswith("_")
]


def test_operators_have_its_types(theirs: Any) -> None:
    # x /= y of integers is an int64 there, and can't be compiled
    for thing in set(OPERATORS) - {operator.itruediv, operator.truth}:
        calls = [(one,) for one in MORE] + list(itertools.product(SOME, repeat=2))
        assert not compared(theirs, thing, calls)


UFUNCS = [one for one in vars(np).values() if isinstance(one, np.ufunc)]


def test_ufuncs_of_numbers_have_its_types(theirs: Any) -> None:
    for thing in UFUNCS:
        pool = MORE if thing.nin == 1 else SOME
        assert not compared(theirs, thing, itertools.product(pool, repeat=thing.nin))


@pytest.mark.parametrize("thing", [abs, bool, complex, divmod, float, int, max, min, pow, round])
def test_a_function_of_python_has_its_types(theirs: Any, thing: Any) -> None:
    calls = [(one,) for one in MORE] + list(itertools.product(SOME, repeat=2))
    assert not compared(theirs, thing, calls)


OF_TUPLES = [
    *(operator.getitem, operator.eq, operator.ne, operator.lt, operator.add, operator.contains),
    *(len, tuple, zip, enumerate, range, reversed, slice, iter),
]


def test_functions_of_arrays_and_tuples_have_its_types(theirs: Any) -> None:
    pool = (("array", "float32", 1), ("array", "int32", 2), ("int32",) * 2, ("int32", "float64"), 1)
    calls = [given for count in (1, 2) for given in itertools.product(pool, repeat=count)]
    for thing in OF_TUPLES:
        assert not compared(theirs, thing, calls)


@pytest.mark.parametrize("name", ["T", "dtype", "flat", "itemsize", "nbytes", "ndim", "real"])
def test_attributes_of_an_array_have_its_types(theirs: Any, name: str) -> None:
    given = ("array", "complex64", 2)
    with target_override("cuda"):
        expected = theirs.resolve_getattr(of(given, cuda_types), name)
    assert str(context().resolve_getattr(of(given, types), name)) == str(expected)
