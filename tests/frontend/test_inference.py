"""The types of whole kernels: calls of other functions, mistakes, and the time before the first."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from numba.core import types

from mmsim import cuda
from mmsim.errors import LanguageError
from mmsim.frontend.numba import context
from mmsim.frontend.numba.context import inferred
from mmsim.frontend.numba.kinds import Flattened
from mmsim.frontend.numba.parse import parse_kernel

ARRAY = types.Array(types.float32, 1, "A")
SETTINGS = {"x": 1}


def returned(function, *given):
    """The type of what a function returns."""
    return inferred(function, given).result


def scaled(x, by=2, *rest):
    return x * by + len(rest)


def test_a_device_function_takes_defaults_keywords_and_a_rest():
    def calls(x):
        return scaled(x), scaled(x, 2.0), scaled(x, 1, 2, 3), scaled(by=1, x=x)

    assert str(returned(calls, types.int32)) == "Tuple(int64, float64, int64, int64)"


def test_each_assignment_has_a_type_of_its_own():
    def squares(a, out):
        y = a[0]
        out[0] = y * y
        y = 1.0
        return y

    found = inferred(squares, (ARRAY, ARRAY))
    assert {str(found.types[name]) for name in ("y", "y.1")} == {"float32", "float64"}


def test_the_types_of_a_vector_a_method_and_a_type_of_ours():
    def kernel(a):
        own = cuda.local.array(3, cuda.types.float32)
        n = cuda.threadIdx.x
        return cuda.float32x4(1, 2, 3, 4).w, own, n.bit_count(), max(n, 2.0), int(n), a.T

    wanted = "float32, array(float32, 1d, C), int32, float64, int32, array(float32, 1d, A)"
    assert str(returned(kernel, ARRAY)) == f"Tuple({wanted})"


def recursive(x):
    return recursive(x - 1) if x > 1 else x


def without(x):
    return x.length


def unknown(x):
    return zork  # noqa: F821


def of_a_dict(x):
    return SETTINGS


def of_two_types(x):
    y = 1
    if x:
        y = (x, x)
    return y


def of_text(x):
    return x + "text"


def generator(x):
    yield x


def without_a_number(x):
    return cuda.shared.array(x, cuda.types.float32)


def surplus(x):
    return cuda.popc(x, x)


def surplus_of_a_function(x):
    return scaled(x, bye=1)


@pytest.mark.parametrize(
    ("function", "message", "offset"),
    [
        (recursive, "'recursive' calls itself; write a loop", 1),
        (without, "'x.length' doesn't exist; it has real, imag", 1),
        (unknown, "the name 'zork' means nothing here; assign it first", 1),
        (of_a_dict, "'SETTINGS' is a dict from outside the program; numbers", 1),
        (of_two_types, "'y' is 1 on one way and UniTuple(int32 x 2) on another", None),
        (of_text, "'\"text\"' is a string; programs compute with numbers only", 1),
        (generator, "yield isn't in the language of programs", 1),
        (without_a_number, "the shape of a cuda.shared.array is not known before", 1),
        (surplus, "'cuda.popc' takes value; write cuda.popc(value)", 1),
        (surplus_of_a_function, "'scaled' can't be called so: got an unexpected", 1),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_a_refusal_has_a_place_and_plain_words(function, message, offset):
    with pytest.raises(LanguageError) as caught:
        inferred(function, (types.int32,))
    place = caught.value.place
    assert message in str(caught.value)
    assert (place.function, place.file) == (function.__name__, __file__)
    if offset is not None:
        assert place.line == function.__code__.co_firstlineno + offset


def test_a_mistake_in_a_device_function_has_its_place_there():
    def kernel(x):
        return without(x)

    with pytest.raises(LanguageError) as caught:
        inferred(kernel, (types.int32,))
    assert caught.value.place.function == "without"


def test_a_function_that_was_refused_may_be_asked_again():
    for _ in range(2):
        with pytest.raises(LanguageError, match="calls itself"):
            inferred(recursive, (types.int32,))


TYPED = """
import operator
import sys
import numpy as np
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from numba.core import base, types
from mmsim import cuda

def refuse(self):
    raise AssertionError("a target was filled")

base.BaseContext.refresh = refuse
from mmsim.frontend.numba import context
from mmsim.frontend.numba.context import inferred
from mmsim.frontend.numba.parse import parse_kernel

def helper(x):
    return x * 2

def kernel(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = max(helper(a[i]), 1.0)

inferred(kernel, (types.Array(types.float32, 1, "A"),))
print(*sorted(sys.modules))


def counting(a, n):
    if n > 2:
        n = operator.iadd(n, 2)
    a[0] = n + np.count_nonzero(a)


inferred(counting, (types.Array(types.int64, 1, "C"), types.int64))
assert "numba.np.arraymath" in sys.modules
"""
"""Its end: functions that are loaded for one name give another new types."""


def test_types_need_no_compiler_and_no_overload():
    command = [sys.executable, "-c", TYPED]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    for name in ("numba.np.arraymath", "numba.cpython.unicode", "scipy.linalg", "pycparser"):
        assert name not in loaded


def test_types_compile_nothing(monkeypatch):
    from numba.core.codegen import CPUCodegen

    def refuse(*args):
        raise AssertionError("a module of LLVM was made")

    monkeypatch.setattr(CPUCodegen, "create_library", refuse)
    monkeypatch.setattr(CPUCodegen, "_create_empty_module", refuse)

    def kernel(a, n):
        for i in range(cuda.threadIdx.x, len(a), n):
            a[i] = round(abs(a[i])) + cuda.popc(i)

    inferred(kernel, (ARRAY, types.int64))


def test_only_the_latest_functions_are_held(monkeypatch):
    monkeypatch.setattr(context, "_inferred", {})
    monkeypatch.setattr(context, "MOST", 3)
    functions = [eval("lambda x: x + 1") for _ in range(5)]
    for function in functions:
        inferred(function, (types.int64,))
    assert [function for function, _ in context._inferred] == functions[-3:]


def test_kernels_of_several_threads_may_call_one_function():
    def called(x):
        for k in range(3):
            x += k
        return x

    def made():
        def kernel(a):
            a[0] = called(a[0])

        return kernel

    given, ready = Flattened("kernel", [np.zeros(1, np.float32)]), Barrier(6)

    def parse(kernel):
        ready.wait()
        return parse_kernel(kernel, given)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for _ in range(5):
            context._inferred.clear()
            with ThreadPoolExecutor(6) as threads:
                found = list(threads.map(parse, [made() for _ in range(6)]))
            assert all(one.code.body for one in found)
    finally:
        sys.setswitchinterval(before)
