"""A second dialect is one object: kernels in the words of `numba.cuda`, lowered like all programs.

Numba's names are used as they are; nothing of Numba runs.
"""

from __future__ import annotations

import ast
import functools
import pickle
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import cuda

import mmsim as mm
from mmsim.errors import LanguageError
from mmsim.frontend.python.dialect import Dialect, Effect, Intrinsic, Maker, Vocabulary, Word
from mmsim.frontend.python.function import Function
from mmsim.frontend.python.grammar import numpy_name
from mmsim.frontend.python.parse import parse
from mmsim.ir import nodes as ir

PACKAGE = "mmsim.frontend"
FOLDER = Path(sys.modules[PACKAGE].__file__).parent
FIELDS = {
    (cuda.threadIdx, "x"): "index",
    (cuda.blockIdx, "x"): "block",
    (cuda.blockDim, "x"): "block_size",
    (cuda.gridDim, "x"): "blocks",
}


def grid(given, place):
    return ir.ThreadField("id") if given == (ir.Const(1),) else (ir.ThreadField("id"), ir.Const(0))


WORDS = Vocabulary(
    [
        (cuda.grid, Intrinsic((1,), grid)),
        (cuda.syncthreads, Effect((), lambda target, given, place: ir.Barrier(place))),
        (
            cuda.shared.array,
            Maker("shared", "cuda.shared.array", "a cuda.shared.array", "shape"),
        ),
        (
            cuda.local.array,
            Maker("registers", "cuda.local.array", "a cuda.local.array", "shape"),
        ),
    ]
)


class Cuda:
    """The thread, its barrier and its arrays in the words of `numba.cuda`, along one axis."""

    decorator = "cuda.jit"
    launch = "the kernel"
    own_array = "a cuda.local.array"
    uniform = "numbers, shapes and cuda.blockDim.x"

    def word(self, node: ast.expr, function: Function) -> Word | None:
        if isinstance(node, ast.Attribute):
            field = FIELDS.get((function.captured(node.value), node.attr))
            if field is not None:
                return ir.ThreadField(field)
        return WORDS.get(function.captured(node))

    def remedy(self, node: ast.expr, function: Function) -> str | None:
        return None

    def helper(self, called: Any) -> types.FunctionType | None:
        plain = isinstance(called, types.FunctionType) and WORDS.get(called) is None
        return called if plain else None

    def element_type(self, given: Any) -> str:
        return numpy_name(given)


def jit(function: types.FunctionType) -> mm.Program:
    dialect: Dialect = Cuda()
    return mm.Program(function, parse(function, dialect))


TABLE = (1, 2, 3)


def larger(x, y):
    if x > y:
        return x
    return y


def block_max(a, b):
    s = cuda.shared.array(4, np.int64)
    i = cuda.threadIdx.x
    s[i] = a[cuda.grid(1)]
    cuda.syncthreads()
    n = cuda.blockDim.x // 2
    while n > 0:
        if i < n:
            s[i] = larger(s[i], s[i + n])
        cuda.syncthreads()
        n //= 2
    if i == 0:
        b[cuda.blockIdx.x] = s[0]


@mm.program
def the_same(T, a, b):
    s = mm.shared(4, np.int64)
    i = T.index
    s[i] = a[T.id]
    T.barrier()
    n = T.block_size // 2
    while n > 0:
        if i < n:
            s[i] = larger(s[i], s[i + n])
        T.barrier()
        n //= 2
    if i == 0:
        b[T.block] = s[0]


def test_a_kernel_of_another_dialect_is_the_same_program():
    machine = mm.HMM(2, 4, 5, 2)
    runs = []
    for program in (jit(block_max), the_same):
        a, b = np.array([3, 1, 4, 1, 5, 9, 2, 6]), np.zeros(2, int)
        runs.append(machine.run(program, a, b, threads=8, block_size=4))
        assert runs[-1].arrays["b"].tolist() == [4, 9]
    assert runs[0].time == runs[1].time
    costs = [[(row.array, row.kind, row.space, row.stages) for row in run.accesses] for run in runs]
    assert costs[0] == costs[1]


def test_its_parameters_are_all_those_of_the_function():
    program = jit(block_max)
    assert [(one.name, one.use) for one in program.code.parameters] == [
        ("a", "array"),
        ("b", "array"),
    ]
    assert repr(program).startswith("<program block_max(a, b) from ")


def test_it_is_pickled_as_every_program():
    program = jit(block_max)
    assert pickle.loads(pickle.dumps(program)).code == program.code


def test_what_returns_a_value_is_a_helper():
    helper = jit(larger)
    assert helper.is_helper
    with pytest.raises(LanguageError, match="'larger' returns a value; it is a helper"):
        helper.code  # an error for a helper


def test_a_call_of_the_dialect_may_give_a_tuple():
    def kernel(a):
        i, j = cuda.grid(2)
        a[i] = j + cuda.gridDim.x

    run = mm.DMM(4, 1).run(jit(kernel), np.zeros(8, int), threads=8, block_size=4)
    assert run.arrays["a"].tolist() == [2] * 8


def refusal(function: types.FunctionType) -> LanguageError:
    with pytest.raises(LanguageError) as caught:
        jit(function)
    return caught.value


def marked(error: LanguageError) -> str:
    return error.place.text[error.place.column : error.place.end_column]


def test_refusals_use_the_words_of_the_dialect():
    def in_a_loop(a):
        for i in range(2):
            s = cuda.shared.array(4, np.int64)
            s[i] = a[i]

    def of_a_thread(a):
        s = cuda.shared.array(cuda.threadIdx.x, np.int64)
        s[0] = a[0]

    def a_list(a):
        a[0] = [1, 2]

    error = refusal(in_a_loop)
    assert "cuda.shared.array inside a loop or a branch" in str(error)
    assert marked(error) == "cuda.shared.array(4, np.int64)"
    error = refusal(of_a_thread)
    assert "the size of a cuda.shared.array must be the same" in str(error)
    assert "make it of numbers, shapes and cuda.blockDim.x" in str(error)
    assert "a list isn't in the language of programs; use a cuda.local.array" in str(
        refusal(a_list)
    )


def test_advice_names_its_decorator_and_its_launch():
    @functools.wraps(larger)
    def wrapped(a):
        a[0] = 1

    def with_a_table(a):
        a[0] = 1 + TABLE

    def with_an_element(a):
        TABLE[0] = a[0]

    assert "put cuda.jit alone, or under the other decorator" in str(refusal(wrapped))
    assert "or pass it to the kernel as a parameter" in str(refusal(with_a_table))
    assert "make it a parameter and pass it to the kernel" in str(refusal(with_an_element))


def test_a_value_of_the_dialect_is_no_statement():
    def kernel(a):
        cuda.grid(1)

    error = refusal(kernel)
    assert "this statement does nothing" in str(error)
    assert marked(error) == "cuda.grid(1)"


def test_a_dialect_does_not_know_the_words_of_another():
    def of_threads(T, a):
        a[T.id] = 1

    def of_cuda(T, a):
        a[cuda.grid(1)] = 1

    assert "'T.id' is not a number" in str(refusal(of_threads))
    with pytest.raises(LanguageError) as caught:
        mm.program(of_cuda)
    assert "the call of 'cuda.grid' isn't in the language" in str(caught.value)


ROOMS = {"python": set(), "thread": {"python"}, "numba": {"python"}}
"""The rooms of the front end, with the others that their files may import."""


def imported_from(path):
    """The rooms of the front end, and `program`, that a file imports from."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{PACKAGE}."):
            yield node.module.split(".")[2]


@pytest.mark.parametrize("room", ROOMS)
def test_parsing_knows_no_dialect_and_no_dialect_another(room):
    found = {one for path in (FOLDER / room).glob("*.py") for one in imported_from(path)} - {room}
    assert found - {"program"} == ROOMS[room]
    assert ("program" in found) == (room != "python")


def test_a_program_knows_no_parser():
    assert set(imported_from(FOLDER / "program.py")) == {"packed"}
