"""The lowered form: what its page says holds for every node of many programs."""

import numpy as np
import pytest
from numba import cuda

import mmsim as mm
from mmsim.frontend.numba.kernel import as_program
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import BOOL, INT, UNSIGNED, is_int
from mmsim.ir.lower import Lowering, as_written, is_check, is_implied, unchecked
from mmsim.ir.numba_types import typed
from mmsim.ir.operators import BINARY, LOWERED
from mmsim.ir.walk import expressions, parts, statements, stored, targets
from mmsim.meaning.launch import Launch
from mmsim_algorithms import programs
from tests.kit.generators.race_free_programs import CANDIDATES
from tests.kit.generators.random_programs import drawn
from tests.kit.oracle.reference import RefPlaced

MACHINE = mm.HMM(2, 4, 5)


def lowered(program, *args, threads=8):
    """The lowered form of a program for such arguments."""
    launch = Launch(MACHINE, program, args, threads, None, "synchronous", 1000)
    return launch.lowered


def faults(form):
    """The nodes of a lowered program that break a rule of the form."""
    for one in statements(form.code.body):
        for value in expressions(one):
            yield from (part for part in parts(value) if breaks(form, part))
        if statement_breaks(form, one):
            yield one


def breaks(form, node):
    types = [form.of(operand) for operand in expressions(node)]
    if isinstance(node, ir.Compare):
        return types[0] != types[1] and {*types} != {INT, UNSIGNED}
    if isinstance(node, ir.Choose):
        return types[0] != BOOL or len({*types[1:]}) != 1
    if isinstance(node, ir.Lookup | ir.RegisterRead):
        return {*types} != {INT}
    if isinstance(node, ir.Unary):
        return (node.op == "not" and types != [BOOL]) or node.op == "+"
    return len({*types}) > 1


def statement_breaks(form, one):
    variables, arrays = form.variables, form.arrays
    types = [form.of(value) for value in expressions(one)]
    if isinstance(one, ir.Assign):
        return types != [variables[one.target]]
    if isinstance(one, ir.If | ir.While):
        return types != [BOOL]
    if isinstance(one, ir.For):
        return {*types, variables[one.target]} != {INT}
    if isinstance(one, ir.Access | ir.RegisterWrite):
        index = {*types[: len(one.index)]} - {INT}
        held = arrays[one.array]
        values = {form.of(value) for value in stored(one)} - {held}
        read = {variables[name] for name in targets(one)} - {held}
        return index or read or not all(is_int(held) and is_int(type_) for type_ in values)
    return False


def test_every_node_of_the_papers_programs_is_typed_to_the_bit():
    for program in programs():
        example = program.prepare(4, seed=3)
        form = lowered(program, *example.arguments, threads=example.threads)
        assert not list(faults(form)), program.name


def test_every_node_of_random_programs_is_typed_to_the_bit():
    for case in drawn(CANDIDATES, 30, "lowered"):
        data = (one.array if isinstance(one, RefPlaced) else one for one in case.args)
        form = lowered(case.program, *data, threads=case.threads)
        assert not list(faults(form)), case.describe()


def nodes(form):
    return [part for one in statements(form.code.body) for value in expressions(one)
            for part in parts(value)]  # fmt: skip


@mm.program
def mixed(T, a, out):
    x = a[T.id] // 3
    if a[T.id]:
        x = 0.5
    out[T.id] = x / a[T.id]


def test_conversions_and_checks_are_nodes():
    form = lowered(mixed, np.arange(8), np.zeros(8, np.float32))
    casts = [node.op for node in nodes(form) if is_implied(node)]
    assert casts == ["float64", "bool", "float32", "float64"]  # x, the test, the store, the divisor
    assert [node.op for node in nodes(form) if is_check(node)] == ["divisor"]  # 3 is none
    (quotient,) = (n for n in nodes(form) if isinstance(n, ir.Binary) and n.op == "/")
    assert form.of(unchecked(quotient.right)) == form.of(quotient.left) == np.float64


@mm.program
def two_types(T, a, b, out):
    x = a[T.id]
    if T.id > 3:
        x = b[T.id]
    out[T.id] = x


def test_what_is_read_is_converted_behind_the_read():
    form = lowered(two_types, np.arange(8, dtype=np.int32), np.ones(8), np.zeros(8))
    loads = {
        one.array: one.target for one in statements(form.code.body) if isinstance(one, ir.Load)
    }
    assert form.variables[loads["a"]] == np.int32
    assert form.variables[loads["b"]] == form.variables["x"] == np.float64
    assert not list(faults(form))
    numbers = [one.number for one in statements(form.code.body)]
    assert numbers == list(range(len(numbers)))


def of_numba(a, out):
    i = cuda.grid(1)
    out[i] = a[i - 3] // a[i] + a[i] // 2


def test_numbas_indices_wrap_and_its_divisions_by_zero_are_nodes():
    program = as_program(cuda.jit(of_numba))
    a = np.arange(8)
    program, args, _ = program.specialized((a, a.copy()))
    form = lowered(program, *args)
    found = [node.op for node in nodes(form) if isinstance(node, ir.Binary)]
    assert [op for op in found if op in LOWERED].count("from end") == 4
    assert [op for op in found if "//" in op] == ["// or 0", "//"]
    assert not any(map(is_check, nodes(form)))
    index = next(one for one in statements(form.code.body) if isinstance(one, ir.Load)).index[0]
    assert as_written(index) is not index


def test_parts_that_an_expression_shares_stay_shared():
    """Else an expression of 16 nodes would become one of 2^16."""

    @mm.program
    def write(T, a):
        a[T.id] = 1

    value, (store,) = ir.Const(1), write.code.body
    for _ in range(16):
        value = ir.Binary("+", value, value, store.place)
    form = Lowering(write.code, typed(write.code, {"a": np.dtype(int)}, {})).value(value)
    assert form.left is form.right


@pytest.mark.parametrize("op", LOWERED)
def test_only_the_lowered_form_has_these_operators(op):
    assert op not in BINARY
    assert not LOWERED[op].means
