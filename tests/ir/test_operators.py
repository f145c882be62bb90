"""The tables of operators and functions: one row is all that a new one needs."""

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mmsim as mm
from mmsim.engines.array.fused.analysis import CannotFuse
from mmsim.ir import nodes as ir
from mmsim.ir import walk
from mmsim.ir.functions import FUNCTIONS
from mmsim.ir.operators import BINARY, COMPARE, UNARY
from mmsim.ir.row import Row
from tests.kit.generators.random_programs import define
from tests.kit.oracle.emulated_gpu import Emulated, needs_compiler
from tests.kit.runs.paths import run_along

PACKAGE = Path(mm.__file__).parent
HALVES = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.0, 7.25, 1e300])
ROW = Row(1, np.rint, "rint", takes="float", exact=True, numba="np.rint")
"""A function to the nearest whole number, under a name that the language lacks."""


def powers_of_ten(T, x, out):
    out[T.id] = mm.exp10(x[T.id])


def singles(T, x, out):
    out[T.id] = mm.exp10(mm.float32(x[T.id]))


def calling(name):
    """A program that calls a function of the table by its name alone."""
    program = mm.program(define("def called(T, x, out):\n    out[T.id] = abs(x[T.id])\n", "called"))

    def renamed(value):
        value = walk.with_expressions(value, renamed)
        return (
            ir.Call(name, (value.operand,), value.place) if isinstance(value, ir.Unary) else value
        )

    body = tuple(walk.with_expressions(one, renamed) for one in program.code.body)
    program._code = replace(program.code, body=body)
    return program


def results(program, x, paths=("interpreted", "plain")):
    """The result on each engine, by its name."""
    machine, sizes = mm.HMM(2, 4, 5), {"threads": len(x), "block_size": 4}
    events = machine.run(program, x, np.zeros(len(x)), engine="events", **sizes)
    found = {
        path: run_along(path, program, x, np.zeros(len(x)), machine=machine, **sizes)
        for path in paths
    }
    return {name: run.arrays["out"] for name, run in {"events": events, **found}.items()}


@pytest.mark.parametrize(("function", "dtype"), [(powers_of_ten, float), (singles, np.float32)])
def test_a_power_of_ten(function, dtype):
    x = np.array([0.0, 1.0, 2.0, 3.0, -1.0, 0.5, 22.0, 30.5], dtype)
    program = mm.program(function)
    found = results(program, x, ["interpreted"])
    right = np.power(dtype(10), x)
    assert all(np.array_equal(one, right) for one in found.values())
    with pytest.raises(CannotFuse):  # which rounds it in another way, and is interpreted instead
        results(program, x, ["plain"])
    assert np.isinf(results(program, x * 0 + 400, ["interpreted"])["events"]).all()
    text = program.cuda(x, np.zeros(8), threads=8)
    assert f"exp10{'f' if dtype is np.float32 else ''}(" in text


def test_a_power_of_ten_belongs_to_programs():
    with pytest.raises(mm.MMSimError, match=r"mm\.exp10 has a meaning only inside"):
        mm.exp10(2.0)


@needs_compiler
def test_one_row_gives_every_backend_a_function(monkeypatch, tmp_path):
    from mmsim.gpu import kernel

    monkeypatch.setitem(FUNCTIONS, "nearest", ROW)
    program = calling("nearest")
    found = results(program, HALVES)
    made = kernel(program, HALVES, np.zeros(8), threads=8)
    assert "rint(" in made.source
    found["emulated"] = Emulated([made], tmp_path).run(0)["out"]
    for name, values in found.items():
        assert np.array_equal(values, np.rint(HALVES)), name


@needs_compiler
def test_the_nearest_whole_number_is_the_even_one_of_two(tmp_path):
    from mmsim.gpu import kernel

    program = calling("rint")
    found = results(program, HALVES)
    made = kernel(program, HALVES, np.zeros(8), threads=8)
    found["emulated"] = Emulated([made], tmp_path).run(0)["out"]
    right = [-2.0, -2.0, -0.0, 0.0, 2.0, 2.0, 7.0, 1e300]
    for name, values in found.items():
        assert values.tolist() == right, name
        assert np.signbit(values[2]), name


def test_one_row_gives_every_reader_an_operator(monkeypatch):
    """The remainder under another name: types, values, ranges, C and Numba follow from the row."""
    monkeypatch.setitem(BINARY, "mod", BINARY["%"])
    x = np.array([-7, -1, 0, 1, 5, 8, 100, -100])
    plain = mm.program(define("def p(T, x, out):\n    out[T.id] = x[T.id] % 8\n", "p"))
    named = mm.program(define("def p(T, x, out):\n    out[T.id] = x[T.id] % 8\n", "p"))

    def renamed(value):
        value = walk.with_expressions(value, renamed)
        return replace(value, op="mod") if isinstance(value, ir.Binary) else value

    body = tuple(walk.with_expressions(one, renamed) for one in named.code.body)
    named._code = replace(named.code, body=body)
    assert "'mod'" in repr(body)
    found = results(named, x, ["interpreted"])
    assert all(np.array_equal(one, x % 8) for one in found.values())
    sizes = {"threads": 8}
    assert named.cuda(x, x.copy(), **sizes) == plain.cuda(x, x.copy(), **sizes)


# ------------------------------------------------------------ no other table

SIGNS = {*BINARY, *COMPARE, *UNARY} - {"min", "max", "and", "not", "abs"}
SIGNS -= {"int", "float", "complex", "bool"}
NAMES = {name for name in FUNCTIONS if name not in ("complex", "real", "imag", "pow")}
TABLES = {"ir/operators.py", "ir/functions.py"}
OTHERS = {
    "frontend/numba/function_calls.py": {"conjugate"},  # a method
    "frontend/numba/libdevice.py": NAMES,  # of the functions of libdevice
    "frontend/numba/library.py": {"isfinite", "isinf", "isnan", "log2"},  # of complex numbers
    "frontend/numba/words.py": {"brev", "cbrt", "clz", "ffs", "fma", "popc"},  # of numba.cuda
    "frontend/ptx/instructions.py": {  # of PTX
        *("brev", "clz", "copysign", "cos", "fma", "popc", "sin", "sqrt", "tanh"),
    },
    "meaning/alone.py": {"sqrt"},  # Python's own, of a float
    "engines/array/fused/skeleton.py": {"popc", "clz", "ffs", "brev"},  # on unbounded integers
    "proof/evaluation.py": {"&", "^", "|"},  # of the numbers of lanes
    "proof/execution.py": {"<", "<=", ">", ">="},  # of a loop's test
    "proof/races_bits.py": {"&", "^", "|"},  # of bit vectors
    "proof/races_values.py": SIGNS,  # as Z3 has them
    "proof/whole_numbers.py": SIGNS,  # of unbounded whole numbers
    "view/lab/claims.py": {"log2"},  # of formulas
    "view/cases.py": {"~", "^", "<", ">", "|"},  # marks in a drawing
}
"""Tables with some operators for keys that mean something else."""


def keys(path):
    """The texts that are keys of a dict in a file."""
    tree = ast.parse(path.read_text("utf-8"))
    dicts = (node for node in ast.walk(tree) if isinstance(node, ast.Dict))
    return {key.value for one in dicts for key in one.keys if isinstance(key, ast.Constant)}


def test_no_other_file_has_a_table_of_operators():
    found = {}
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        here = keys(path) & (SIGNS | NAMES if path.parent.name != "view" else SIGNS)
        if here and name not in TABLES:
            found[name] = here
    assert not {
        name: more for name, here in found.items() if (more := here - OTHERS.get(name, set()))
    }


def test_every_row_has_what_its_readers_need():
    for op, row in BINARY.items():
        assert row.sign or row.c, op
        assert callable(row.complex) or row.complex or row.kind in ("bits", "shift"), op
        assert not row.refused or row.numba or row.kind == "quotient", op
        assert (row.ends is not None) == (row.kind == "sum"), op
    every = [
        one for row in (*BINARY.values(), *COMPARE.values(), *UNARY.values()) for one in row.means
    ]
    assert len(every) == len(set(every))  # none has two meanings


PROOFS = [path.relative_to(PACKAGE).as_posix() for path in (PACKAGE / "proof").glob("*.py")]
COMPARED = {
    "engines/array/fused/rows.py": {"+", "-", "//", "%"},  # how consecutive lanes' values differ
    "engines/array/fused/writer.py": {"//", "%", "-", "~"},  # the limits of a loop's bounds
    "engines/array/fused/counted.py": {"+", "-"},  # how a loop's own variable changes
    # products, constant parts of an index, linear places, parts of a thread's number, signs
    "ir/operations.py": {"+", "-", "*", "//", "%", ">", ">=", "==", "!="},
    "ir/compiled.py": {"+", "-"},  # how a loop's counter changes
    # of the two divisions, by a shift or a mask; of the sums, the one whose parts mix
    "engines/array/fused/expressions.py": {"%", "*"},
    "ir/idioms.py": {"+", "-", "&", "|", ">>", "!=", "<", "<=", ">", ">="},  # forms of statements
    "frontend/ptx/printing.py": {"%"},  # in a format of C
    "frontend/ptx/source.py": {"-"},  # the same
    "frontend/python/values.py": {"-"},  # a literal with a sign
    "frontend/python/scope.py": {"+"},  # a sum with 0
    "frontend/numba/names.py": {"<"},  # in names of Python's own
    "cuda_c/writer.py": {"+"},  # an added line
    "meaning/alone.py": {"%", ">>"},  # Python's own on integers: the sign's remainder, no wrapping
    "meaning/clock_loops.py": {"==", "!="},  # tests that the ends of ranges don't decide
    "sweeps/functions.py": {"*"},  # the names of an import
    **dict.fromkeys(PROOFS, SIGNS),  # what operators of unbounded whole numbers mean in proofs
}
"""Files that look for one operator, and what for."""


def compared(path):
    """The texts that something is compared with in a file."""
    tree = ast.parse(path.read_text("utf-8"))
    found = (part for node in ast.walk(tree) if isinstance(node, ast.Compare) for part in
             ast.walk(ast.Tuple(node.comparators)))  # fmt: skip
    return {part.value for part in found if isinstance(part, ast.Constant)}


def test_readers_ask_for_an_operators_kind_not_for_its_sign():
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        if name not in TABLES:
            here = {one for one in compared(path) if isinstance(one, str)} & SIGNS
            assert here <= COMPARED.get(name, set()), name
