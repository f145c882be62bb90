"""Random programs that always end and never leave their arrays, to compare evaluations on.

A program is written as source text, statement by statement, by an `Author` who knows which
variables exist and of what type they are. It may race (its warps may write the same words): the
order of dispatches says what happens then. The first option of every choice is the plainest one,
so that a failing program shrinks to a plain one.
"""

from __future__ import annotations

import linecache
import math
import warnings
from dataclasses import astuple, dataclass, field, replace
from functools import cached_property
from itertools import count

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.kit.generators import random_atomics as atomics
from tests.kit.generators import random_complex
from tests.kit.generators import random_exchange as exchange
from tests.kit.generators import random_forms as forms
from tests.kit.generators import random_typed as typed
from tests.kit.generators import random_vectors as vectors
from tests.kit.oracle.reference import RefDMM, RefHMM, RefOwn, RefPlaced, RefUMM, evaluate

INDENT = "    "
TYPE_OF = {
    "int64": "int",
    "int32": "int",
    "uint32": "int",
    "float64": "float",
    "float32": "float",
    "bool": "bool",
    "complex128": "complex",
    "complex64": "complex",
}
WIDE = {"int": "int64", "float": "float64", "bool": "bool", "complex": "complex128"}
NARROW = ("int32", "float32", "bool", "complex64")
THREAD_NUMBERS = ["id", "index", "block", "lane", "warp", "count", "block_size", "blocks"]
AXES = ("x", "y", "z")
PLACES = [f"{name}.{axis}" for name in ("threadIdx", "blockIdx") for axis in AXES]
EXTENTS = [f"{name}.{axis}" for name in ("blockDim", "gridDim") for axis in AXES]


ELSEWHERE = {
    **{"typed": typed.statement, "complex": random_complex.statement},
    **{"name": forms.name_statement, "swap": forms.swap_statement, "pair": forms.pair_statement},
}
"""Statements that other modules write."""


@dataclass(frozen=True)
class RotatingRows:
    """A layout: row i lies rotated by i * step places."""

    step: int

    def offsets(self, shape):
        i, j = np.indices(shape)
        return i * shape[1] + (j + i * self.step) % shape[1]


@dataclass
class RandomCase:
    source: str
    name: str
    machine_spec: RefDMM | RefUMM | RefHMM | RefOwn
    args: list
    threads: int
    block_size: int | None
    shape: tuple | None = None  # of the grid and of a block, along x, y and z

    @property
    def launch(self):
        """The number of threads, as `Machine.run` takes it."""
        if self.shape is None:
            return {"threads": self.threads, "block_size": self.block_size}
        return dict(zip(("grid", "block"), self.shape, strict=True))

    @cached_property
    def program(self):
        """The program, parsed once so that all its runs name one file."""
        import mmsim as mm

        return mm.program(define(self.source, self.name))

    @property
    def arguments(self):
        """The arguments as mmsim takes them."""
        import mmsim as mm

        return [
            mm.place(arg.array, GivenOffsets(arg.offsets)) if isinstance(arg, RefPlaced) else arg
            for arg in self.args
        ]

    def describe(self):
        lines = [self.source]
        lines.append(f"{self.machine_spec}")
        lines.append(", ".join(f"{name}={size}" for name, size in self.launch.items()))
        for arg in self.args:
            if isinstance(arg, RefPlaced):
                lines.append(f"{arg.array!r} at\n{arg.offsets!r}")
            else:
                lines.append(repr(arg))
        return "\n".join(lines)

    def __repr__(self):  # what hypothesis prints of a failing example
        return f"\n{self.describe()}\n"


_numbers = count()


def define(source, name, mm=None, np=np):
    """The function `name` of the source text, readable by `inspect`; mm is the real mmsim."""
    if mm is None:
        import mmsim as mm
    filename = f"<random program {next(_numbers)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace = {"mm": mm, "np": np, "math": math, "__name__": filename}
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # of ~True
        exec(compile(source, filename, "exec"), namespace)
    return namespace[name]


class GivenOffsets:
    """The layout of one array whose offsets are known already."""

    def __init__(self, offsets):
        self.given = offsets

    def offsets(self, shape):
        assert tuple(shape) == self.given.shape
        return self.given

    def __repr__(self):  # the same in every process, as the text of a kernel has to be
        return "offsets given for each element"


def run_case(case, schedule, **options):
    """The run of a case on the machine of mmsim that its specification stands for."""
    import mmsim as mm
    from tests.kit.oracle.own_machines import OwnMachine

    kinds = {RefDMM: mm.DMM, RefUMM: mm.UMM, RefHMM: mm.HMM, RefOwn: OwnMachine}
    return kinds[type(case.machine_spec)](*astuple(case.machine_spec)).run(
        case.program, *case.arguments, **case.launch, schedule=schedule, **options
    )


def evaluated(case, schedule):
    """The plain evaluation of a case."""
    return evaluate(
        case.source,
        case.name,
        case.machine_spec,
        case.args,
        case.threads,
        case.block_size,
        schedule,
        case.shape,
    )


def races(run):
    """Return whether the check of a run found a data race."""
    return any(finding.kind in ("race", "beside-atomic") for finding in run.findings)


def in_turn(case):
    """Return whether a case's results follow from the order in which its warps make atomics."""
    from mmsim.ir.atomics import order_matters

    run = run_case(case, "synchronous", engine="events", trace=True)
    types = {array.name: array.data.dtype for array in run.trace.arrays}
    return order_matters(case.program.code.body, types)


def bits(array):
    return array.dtype, array.shape, np.ascontiguousarray(array).tobytes()


def same(first, second):
    """Return whether the arrays of two runs, by name, are the same bit for bit."""
    assert first.keys() == second.keys()
    return all(bits(first[name]) == bits(second[name]) for name in first)


@dataclass(frozen=True)
class ArrayName:
    """An array that a function knows; in a helper its shape is known only as `name.shape`."""

    name: str
    dtype: str  # of several arrays handed to one helper: the narrowest they may have
    dimensions: int
    shape: tuple | None
    writable: bool = True
    placed: bool = False  # it has a layout of its own

    @property
    def type(self):
        return TYPE_OF[self.dtype]


@dataclass
class Helper:
    name: str
    array: ArrayName | None
    parameters: list  # types
    takes_thread: bool
    result: str | None


@dataclass
class Scope:
    """All that may be written at one place of a function."""

    variables: dict  # name -> type; assigned on every path to here
    arrays: list
    helpers: list = field(default_factory=list)
    registers: list = field(default_factory=list)  # (name, size)
    tuples: dict = field(default_factory=dict)  # name -> types; assigned on every path to here
    fixed: frozenset = frozenset()  # variables on which a loop's end depends
    thread: bool = True  # T is known
    result: str | None = None  # the type that return needs
    may_return: bool = True
    in_loop: bool = False
    may_break: bool = False
    barriers: bool = False  # every live lane of a warp comes here together

    def inner(self, **changes):
        """The scope of a block inside: what it names is not known after it."""
        own = {"variables": dict(self.variables), "tuples": dict(self.tuples)}
        lists = {"arrays": list(self.arrays), "registers": list(self.registers)}
        return replace(self, **own, **lists, **changes)


class Author:
    orderly = False  # whether no two threads may race

    def __init__(self, draw, threads, index_array):
        self.draw, self.threads, self.index_array = draw, threads, index_array
        self.fresh = count()
        self.tables, self.rotating = [], []
        self.counters = {}  # arrays that only atomics change, with the kind of those

    @cached_property
    def commuting(self):
        """Return whether atomics give the same in every order."""
        return self.pick(True, False)

    def pick(self, *options):
        return self.draw(st.sampled_from(options))

    def number(self, low, high):
        return self.draw(st.integers(low, high))

    def name(self, prefix):
        return f"{prefix}{next(self.fresh)}"

    # ------------------------------------------------------------ arrays

    def readable(self, s):
        """The arrays that may be read at a place."""
        return s.arrays

    def writable(self, s):
        """The arrays that may be written at a place."""
        return [a for a in s.arrays if a.writable]

    def nameable(self, arrays):
        """The arrays that may be given other names, whoever accesses them by these.

        The array of indices keeps its own: its numbers are indices of the others only.
        """
        own = self.index_array
        return [a for a in arrays if a is not own and a.name not in self.counters]

    def helper_array(self, arrays):
        """The array parameter of a new helper; `arrays` are those of the program."""
        # int32 stands for every integer array: what fits in it fits in all of them
        return ArrayName("x", self.pick(*NARROW), self.pick(1, 2), None)

    def array_parameters(self, array):
        """The parameters of a helper that stand for an array."""
        return [array.name]

    def array_arguments(self, array, s):
        """The arguments that are handed to a helper for them."""
        return [array.name]

    # ------------------------------------------------------------ expressions

    def expression(self, type_, s, depth):
        if isinstance(type_, tuple):
            return forms.result(self, type_, s, depth)
        if type_ in typed.TYPES:
            return typed.value(self, type_, s, depth)
        if type_ in random_complex.TYPES:
            return random_complex.value(self, type_, s, depth)
        return {"int": self.int, "float": self.float, "bool": self.bool}[type_](s, depth)

    def leaf(self, type_, s):
        """A variable or an array's element of the type, or None where there is none."""
        variables = [name for name, of in s.variables.items() if of == type_]
        arrays = [a for a in self.readable(s) if a.type == type_]
        items = forms.items(self, type_, s)
        kinds = ["variable"] * bool(variables) + ["array"] * 2 * bool(arrays)
        kinds += ["item"] * bool(items)
        if not kinds:
            return None
        kind = self.pick(*kinds)
        if kind == "variable":
            return self.pick(*variables)
        if kind == "item":  # by its number: Hypothesis looks at the text of what it picks from
            return items[self.number(0, len(items) - 1)]()
        return self.access(self.pick(*arrays), s)

    def access(self, array, s):
        indices = self.place(array, s)
        if array.dimensions == 2 and self.pick(False, False, True):
            return f"{array.name}[{indices[0]}][{indices[1]}]"
        return f"{array.name}[{', '.join(indices)}]"

    def place(self, array, s):
        """The indices of an element."""
        return [self.index(array, axis, s) for axis in range(array.dimensions)]

    def index(self, array, axis, s):
        """An index in range: constant, taken from the array of indices, or modulo the size."""
        kinds = ["modulo", "thread", "modulo"]
        size = array.shape and array.shape[axis]
        if size:
            kinds.append("constant")
        # Its numbers are indices of the others, not of itself, whatever it is called.
        if size and self.index_array in s.arrays and not forms.matched(array, self.index_array):
            kinds.append("array")
        kind = self.pick(*kinds)
        if kind == "constant":
            return str(self.number(0, size - 1))
        if kind == "array":
            return self.access(self.index_array, s)
        if kind == "thread" and s.thread and size and self.threads <= size:
            return self.pick("T.id", "T.index")
        length = f"len({array.name})" if axis == 0 else f"{array.name}.shape[{axis}]"
        size = self.pick(str(size or length), f"{array.name}.shape[{axis}]", length)
        if kind == "thread" and s.thread:
            return f"{self.pick('T.id', 'T.index', 'T.lane', 'T.threadIdx.x')} % {size}"
        return f"({self.int(s, self.pick(0, 0, 1))}) % {size}"

    def int(self, s, depth):
        if depth <= 0:
            kind = self.pick("constant", "thread", "leaf", "leaf", "leaf", "register", "shape")
            if kind == "thread" and s.thread:
                kind = self.pick(THREAD_NUMBERS, ["id"], PLACES, EXTENTS)
                return f"T.{self.pick(*kind)}"
            if kind == "leaf":
                return self.leaf("int", s) or "1"
            if kind == "register" and s.registers:
                name, size = self.pick(*s.registers)
                return f"int({name}[({self.int(s, 0)}) % {size}])"
            if kind == "shape":
                return forms.extent(self, s) or "1"
            return self.pick("0", "1", "2", "3", "5", "7", "-1", "-4", "100", "3000000000")
        x = self.int(s, depth - 1)
        kinds = ["leaf", "+", "+", "divide", "unary", "extreme", "choice", "logic", "helper"]
        kinds += ["*", "bits", "shift", "power", "abs", "cast", "truths", "atomic", "lanes"]
        kind = self.pick(*kinds, *["typed"] * 4)
        if kind == "lanes":
            return exchange.number(self, s, x)
        if kind == "leaf":
            return x
        if kind == "atomic":
            return atomics.expression(self, "int", s) or x
        if kind in ("unary", "abs"):
            return {"unary": f"({self.pick('-', '~', '+')}{x})", "abs": f"abs({x})"}[kind]
        if kind == "shift":
            return f"({x} {self.pick('>>', '<<')} {self.number(0, 4)})"
        if kind == "power":
            return f"({x}) ** {self.number(0, 3)}"
        if kind == "helper":
            return self.helper_call("int", s) or x
        if kind == "cast":
            float_ = self.float(s, depth - 1)
            return self.pick(f"int({float_} % {self.pick('97.0', '-97.0')})", f"int({x} > 2)")
        if kind == "typed":
            return typed.int_of(self, s, depth - 1)
        if kind == "truths":
            return f"(({self.bool(s, 0)}) + ({self.bool(s, 0)}))"
        y = self.int(s, depth - 1)
        if kind == "divide":
            divisor = self.pick("2", "3", "-3", "7", "-1", f"(({y}) % 5 + 1)")
            if self.pick(False, False, True):
                return f"divmod({x}, {divisor})[{self.pick(0, 1)}]"
            return f"({x} {self.pick('//', '%')} {divisor})"
        if kind == "bits":
            return f"({x} {self.pick('&', '|', '^')} {y})"
        return self.either(kind, x, y, s) or f"({x} {self.pick('+', '-', kind)} {y})"

    def float(self, s, depth):
        """A float that stays small: factors are constants, and loops reduce what they keep."""
        if depth <= 0:
            if self.pick("leaf", "leaf", "constant") == "leaf":
                return self.leaf("float", s) or "0.5"
            return self.pick("0.5", "0.0", "1.0", "-2.25", "0.1", "1e-3")
        x = self.float(s, depth - 1)
        kinds = ["leaf", "+", "*", "/", "unary", "abs", "extreme", "choice", "logic", "helper"]
        kinds += ["divide", "cast", "ratio", "mixed", "power", "atomic", "lanes", "complex"]
        kind = self.pick(*kinds, *["typed"] * 5)
        if kind == "lanes":
            return exchange.shuffle(self, s, x)
        if kind == "leaf":
            return x
        if kind == "atomic":
            return atomics.expression(self, "float", s) or x
        if kind in ("unary", "abs"):
            return {"unary": f"(-{x})", "abs": f"abs({x})"}[kind]
        if kind in ("*", "/"):
            return f"({x} {kind} {self.pick('2.0', '3', '-1.5')})"
        if kind == "power":
            return forms.power(self, s, x)
        if kind == "typed":
            return typed.float_of(self, s, x, depth - 1)
        if kind == "complex":
            return random_complex.float_of(self, s, depth - 1)
        if kind == "divide":
            return f"({x} {self.pick('//', '%')} {self.pick('0.75', '3.0', '-2.0', '5')})"
        if kind == "helper":
            return self.helper_call("float", s) or x
        if kind in ("cast", "ratio", "mixed"):
            i = f"({self.int(s, depth - 1)}) % 1000"
            return {"cast": f"float({i})", "ratio": f"({i}) / 7", "mixed": f"({x} - ({i}))"}[kind]
        y = self.float(s, depth - 1)
        return self.either(kind, x, y, s) or f"({x} {self.pick('+', '-')} {y})"

    def either(self, kind, x, y, s):
        """Expressions that evaluate to one of two parts, and perhaps only evaluate that one."""
        if kind == "extreme":
            return self.pick(f"min({x}, {y})", f"max({x}, {y})", f"max({x}, {y}, {x})")
        if kind == "choice":
            return f"({x} if {self.bool(s, self.pick(0, 1))} else {y})"
        if kind == "logic":
            return f"({x} {self.pick('and', 'or')} {y})"
        return None

    def bool(self, s, depth):
        kinds = [
            *("compare", "compare", "compare", "leaf", "chain", "cast", "constant", "member"),
            "complex",
        ]
        kind = self.pick(*kinds)
        if depth > 0:
            kind = self.pick(kind, "and", "or", "not", "logic", "choice", "helper", "bits", "vote")
        type_ = self.pick("int", "int", "float")
        sign = ("<", "<=", ">", ">=", "==", "!=")
        if kind == "leaf":
            return self.leaf("bool", s) or "True"
        if kind == "constant":
            return self.pick("True", "False")
        if kind == "complex":
            return random_complex.bool_of(self, s)
        if kind == "member":
            return forms.member(self, s)
        if kind == "cast":
            return f"bool({self.expression(type_, s, 0)})"
        if kind in ("compare", "chain"):
            x = self.expression(type_, s, max(0, depth))
            y = self.expression(type_, s, 0)
            compared = f"({x}) {self.pick(*sign)} {y}"
            if kind == "chain":
                compared += f" {self.pick(*sign)} {self.expression(type_, s, 0)}"
            return f"({compared})"
        x = self.bool(s, depth - 1)
        if kind == "vote":
            return exchange.truth(self, s, x)
        if kind == "not":
            return f"(not {x})"
        if kind == "helper":
            return self.helper_call("bool", s) or x
        y = self.bool(s, depth - 1)
        if kind == "bits":
            return f"({x} {self.pick('&', '|', '^')} {y})"
        if kind in ("and", "or"):
            third = f" {kind} {self.bool(s, 0)}" if self.pick(False, False, True) else ""
            return f"({x} {kind} {y}{third})"
        return self.either(kind, x, y, s)

    def helper_call(self, result, s):
        """A call of a helper with this result, or None where there is none to call."""
        calls = []
        for helper in s.helpers:
            if helper.result == result and (s.thread or not helper.takes_thread):
                arrays = self.writable(s) if helper.array else []
                fits = [a for a in arrays if fits_parameter(a, helper.array)]
                fits += [
                    a
                    for a in self.nameable(arrays)
                    if helper.array and (a.type, a.dimensions) == (helper.array.type, 2)
                    if a not in fits
                ]
                if fits or not helper.array:
                    calls.append((helper, fits))
        if not calls:
            return None
        helper, fits = self.pick(*calls)
        given = ["T"] * helper.takes_thread
        if helper.array:
            array = self.pick(*fits)
            if array.dimensions != helper.array.dimensions:  # a row of it
                given.append(forms.row(self, array, s)[0])
            else:
                given += self.array_arguments(array, s)
        given += [self.expression(type_, s, self.pick(0, 0, 1)) for type_ in helper.parameters]
        return f"{helper.name}({', '.join(given)})"

    # ------------------------------------------------------------ statements

    def body(self, s):
        """The statements of a whole program."""
        return self.block(s, self.number(1, 8), 2)

    def block(self, s, statements, depth):
        """Some statements, one line each or indented under one; changes s.variables."""
        lines = []
        for _ in range(statements):
            lines += self.statement(s, depth)
        return lines or ["pass"]

    def statement(self, s, depth):
        kinds = ["store", "store", "store", "assign", "assign", "read", "augment", "tuple"]
        kinds += ["name", "pair", "atomic", "atomic", "typed", "typed", "complex"]
        kinds += ["vector"] * 2
        kinds += ["swap"] * 2 * bool(self.rotating or s.registers)
        kinds += ["register"] * bool(s.registers) + ["call"] * bool(s.helpers)
        kinds += ["barrier"] * 2 * s.barriers
        if depth > 0:
            kinds += ["if", "if", "for", "for", "while", "leave"]
            kinds += ["leave"] * (2 * s.may_break + (s.result is not None))
        kind = self.pick(*kinds)
        if kind in ELSEWHERE:
            return ELSEWHERE[kind](self, s)
        return getattr(self, f"{kind}_statement")(s, depth)

    def store_statement(self, s, depth):
        arrays = self.writable(s)
        if not arrays:
            return self.assign_statement(s, depth)
        array = self.pick(*arrays)
        target, augmented = self.access(array, s), self.pick(False, False, True)
        if augmented and array.dtype == "int64":
            op = self.pick("+=", "-=", "*=", "^=", "//=", "%=")
            value = "3" if op in ("//=", "%=") else self.int(s, self.pick(0, 1))
            return [f"{target} {op} {value}"]
        if augmented and array.dtype == "int32":  # what is kept must fit in 32 bits
            return [f"{target} {self.pick('%=', '//=', '&=')} {self.number(1, 9)}"]
        if augmented and array.type == "float":
            return [f"{target} {self.pick('+=', '-=')} ({self.float(s, 1)}) % 16.0"]
        if array.type == "complex" and augmented:
            return [f"{target} {self.pick('+=', '-=', '*=')} {self.pick('1j', '-1j')}"]
        return [f"{target} = {self.stored(array, s)}"]

    def stored(self, array, s):
        """An expression that an array can hold."""
        if array.type == "complex":
            return random_complex.small(self, "complex", s, self.pick(1, 0, 2))
        value = self.expression(array.type, s, self.pick(1, 0, 2))
        if array.type == "float":  # what is kept stays small
            value = f"({value}) % {self.pick('1000.0', '-8.0')}"
        if array.dtype == "int32":
            value = f"({value}) % {self.pick('1000', '-50')}"
        return value

    def target(self, s, type_):
        """A variable to assign to: a new one (known only afterwards) or an old one."""
        old = [n for n, of in s.variables.items() if of == type_ and n not in s.fixed]
        return self.pick(*old) if old and self.pick(True, False) else self.name(type_[0])

    def assign_statement(self, s, depth):
        type_ = self.pick("int", "int", "float", "bool")
        value = self.expression(type_, s, self.pick(1, 0, 2))
        if type_ == "float" and s.in_loop:
            value = f"({value}) % 1000.0"
        target = self.target(s, type_)
        s.variables[target] = type_
        return [f"{target} = {value}"]

    def tuple_statement(self, s, depth):
        values, targets = [], []
        for _ in range(2):
            values.append(self.int(s, self.pick(0, 1)))
            targets.append(self.target(s, "int"))
        arrays = [a for a in self.writable(s) if a.dtype == "int64"]
        if arrays and self.pick(False, True):
            targets[self.pick(0, 1)] = self.access(self.pick(*arrays), s)
        s.variables.update({target: "int" for target in targets if "[" not in target})
        return [f"{', '.join(targets)} = {', '.join(values)}"]

    def augment_statement(self, s, depth):
        names = [n for n, type_ in s.variables.items() if type_ != "bool" and n not in s.fixed]
        if not names:
            return self.assign_statement(s, depth)
        name = self.pick(*names)
        type_ = s.variables[name]
        if type_ in random_complex.TYPES:
            return [f"{name} {self.pick('+=', '-=')} {random_complex.small(self, type_, s, 0)}"]
        op = self.pick("+=", "-=", "*=" if type_ == "int" else "+=")
        return [f"{name} {op} {self.expression(type_, s, self.pick(0, 1))}"]

    def atomic_statement(self, s, depth):
        return atomics.statement(self, s) or self.assign_statement(s, depth)

    def vector_statement(self, s, depth):
        return vectors.statement(self, s) or self.store_statement(s, depth)

    def read_statement(self, s, depth):
        arrays = self.readable(s)
        return [self.access(self.pick(*arrays), s)] if arrays else ["pass"]

    def register_statement(self, s, depth):
        name, size = self.pick(*s.registers)
        return [f"{name}[({self.int(s, 0)}) % {size}] = ({self.int(s, 1)}) % 1000"]

    def call_statement(self, s, depth):
        return [self.helper_call(self.pick(None, "int"), s) or "pass"]

    def barrier_statement(self, s, depth):
        return exchange.barrier(self, s)

    def if_statement(self, s, depth):
        lines = []
        keywords = ["if"] + ["elif"] * self.pick(0, 0, 1, 2) + ["else"] * self.pick(0, 1)
        for keyword in keywords:
            test = "" if keyword == "else" else f" {self.bool(s, self.pick(0, 1))}"
            lines.append(f"{keyword}{test}:")
            inner = s.inner(barriers=False)
            lines += indented(self.block(inner, self.number(1, 2), depth - 1))
        return lines

    def leave_statement(self, s, depth):
        """Some lanes leave the loop, its body or the function."""
        ways = ["break", "continue", "continue", "break"] * s.may_break + ["return"] * s.may_return
        if not ways:
            return ["pass"]
        lines = [f"if {self.bool(s, self.pick(0, 1))}:"]
        inner, way = s.inner(barriers=False), self.pick(*ways)
        lines += indented(self.block(inner, 1, 0)) if self.pick(False, True) else []
        if way == "return" and s.result:
            way = f"return {self.expression(s.result, inner, 1)}"
        return [*lines, INDENT + way]

    def for_statement(self, s, depth):
        variable = self.name("k")
        uniform = s.barriers and self.pick(True, False)
        inner = s.inner(in_loop=True, may_break=not uniform, barriers=uniform)
        if uniform:
            inner.may_return = False
        if self.pick(False, False, True):
            header, body = forms.loop_header(self, s, inner, uniform)
            body += self.block(inner, self.number(1, 3), depth - 1)
            return [header, *indented(body)]
        if uniform:
            limits = self.pick("2", "1", "3", "1, 3", "4, 0, -2", "T.blocks % 3")
        else:
            some = f"({self.int(s, 0)}) % {self.number(2, 4)}"
            limits = self.pick(some, "2", f"{some}, 3", f"{some}, -2, -2", f"0, {some}, 2", "0")
        inner.variables[variable] = "int"
        body = self.block(inner, self.number(1, 3), depth - 1)
        return [f"for {variable} in range({limits}):", *indented(body)]

    def while_statement(self, s, depth):
        """A counter that the body cannot change, and counts first so that continue is safe."""
        counter = self.name("n")
        inner = s.inner(in_loop=True, may_break=True, barriers=False, fixed=s.fixed | {counter})
        inner.variables[counter] = "int"
        start = self.pick("0", f"({self.int(s, 0)}) % 3")
        test = f"{counter} < {self.number(1, 3)}"
        ending = []
        if self.pick(False, True):
            test = self.pick(
                f"{test} and {self.bool(inner, 0)}", f"{self.int(inner, 0)} and {test}"
            )
        elif self.pick(False, True):
            test, ending = "True", [f"if not ({test}):", f"{INDENT}break"]
        body = self.block(inner, self.number(1, 3), depth - 1)
        s.variables[counter] = "int"
        body = indented([*ending, f"{counter} += 1", *body])
        return [f"{counter} = {start}", f"while {test}:", *body]


def indented(lines):
    return [INDENT + line for line in lines]


def fits_parameter(array, parameter):
    return (array.type, array.dimensions) == (parameter.type, parameter.dimensions)


def write_helper(author, helpers, arrays):
    """A small function that works on its parameters alone."""
    array = author.helper_array(arrays) if author.pick(True, False) else None
    types = [author.pick("int", "int", "float") for _ in range(author.number(0, 2))]
    result = author.pick("int", "float", "bool", None, ("int", "int"), ("int", "float"))
    helper = Helper(author.name("helper"), array, types, author.pick(True, False), result)
    names = [author.name("u") for _ in types]
    scope = Scope(dict(zip(names, types, strict=True)), [array] if array else [], list(helpers))
    scope.thread, scope.result = helper.takes_thread, result
    body = [forms.use(author, scope, array.name)] if array else []
    body += author.block(scope, author.number(0, 2), 1)
    if result:
        body = [line for line in body if line != "pass"]
        body.append(f"return {author.expression(result, scope, 1)}")
    parameters = ["T"] * helper.takes_thread
    parameters += (author.array_parameters(array) if array else []) + names
    head = ["@mm.program"] * author.pick(0, 0, bool(result))
    head.append(f"def {helper.name}({', '.join(parameters)}):")
    return helper, [*head, *indented(body), "", ""]


DTYPES = ["int64", "int64", "float64", "int32", "bool", "float32", "complex128", "complex64"]
SHAPES = st.one_of(st.tuples(st.integers(1, 16)), st.tuples(st.integers(1, 6), st.integers(1, 6)))


@st.composite
def arrays(draw, name, shapes=SHAPES):
    """An array parameter: what the program knows of it, and its argument."""
    dtype = draw(st.sampled_from(DTYPES))
    shape = draw(shapes)
    size = int(np.prod(shape))
    fill = draw(st.sampled_from(["counted", "mixed", "large"]))
    random = np.random.default_rng(draw(st.integers(0, 9999)))
    values = np.arange(size) if fill == "counted" else random.integers(-40, 40, size)
    if dtype == "bool":
        data = values % 2 == 0
    elif "complex" in dtype:
        data = ((values - 1j * values[::-1]) / 8).astype(dtype)
    elif "float" in dtype:
        data = (values / 8 + (0.1 if fill == "large" else 0)).astype(dtype)
    else:
        large = 2**62 if dtype == "int64" else 2**30
        data = (values + (large * (values % 3 == 0) if fill == "large" else 0)).astype(dtype)
    data = data.reshape(shape)
    known = ArrayName(name, dtype, len(shape), shape)
    if len(shape) == 2 and draw(st.booleans()):
        data = RefPlaced(data, RotatingRows(draw(st.integers(1, 3))).offsets(shape))
        known = replace(known, placed=True)
    return known, data


@st.composite
def machines(draw, width=None):
    width = width or draw(st.integers(1, 8))
    latency = draw(st.integers(1, 6))
    kind = draw(st.sampled_from([RefDMM, RefUMM, RefHMM]))
    if kind is RefHMM:
        return RefHMM(draw(st.integers(1, 3)), width, latency, draw(st.integers(1, 3)))
    return kind(width, latency)


@st.composite
def launches(draw, machine, threads=None, most=24):
    """Threads, block size and shape of a launch of at most so many threads."""
    if threads is None and draw(st.sampled_from([False, False, True])):
        extents, left = [], most
        for most_along in (6, 4, 3, 4, 3, 3):  # of a block, then of the grid
            extents.append(draw(st.integers(1, min(left, most_along))))
            left //= extents[-1]
        block, grid = tuple(extents[:3]), tuple(extents[3:])
        size = int(np.prod(block))
        return size * int(np.prod(grid)), size, (grid, block)
    threads = threads or draw(st.integers(1, most))
    blocks = st.integers(1, threads)
    size = draw(blocks if isinstance(machine, RefHMM) else st.one_of(st.none(), blocks))
    return threads, size, None


@st.composite
def cases(draw, threads=None, width=None):
    machine = draw(machines(width))
    sizes = draw(launches(machine, threads))
    threads = sizes[0]
    known, args = [], []
    for name in "abc"[: draw(st.integers(1, 3))]:
        array, data = draw(arrays(name))
        known.append(array)
        args.append(data)
    author = Author(draw, threads, None)
    declarations = []
    for _ in range(author.pick(0, 1, 2)):
        name, type_ = author.name("s"), author.pick(*WIDE)
        shape, text = author.pick(
            ((5,), "5"), (known[0].shape[:1], f"{known[0].name}.shape[0]"), ((2, 3), "(2, 3)")
        )
        declarations.append(f"{name} = mm.shared({text}, dtype={type_})")
        known.append(ArrayName(name, WIDE[type_], len(shape), shape))
    source = write_program(author, known, args, declarations)
    return RandomCase(source, "program", machine, args, *sizes)


def write_program(author, known, args, declarations):
    """The text of a program on arrays; adds the arguments of its further parameters."""
    registers, size = [], author.number(1, 4)
    for _ in range(author.pick(0, 1, 2)):
        registers.append((author.name("r"), size))
        declarations.append(f"{registers[-1][0]} = mm.registers({size})")
    parameters = ["T", *[a.name for a in known if a.name in "abc"]]
    if author.pick(False, True):
        atomics.counter(author, known, parameters, args, ArrayName)
    variables = {}
    if author.pick(False, True):
        # No value exceeds any axis of any array, and no thread writes it: an index everywhere.
        smallest = min(min(array.shape) for array in known)
        size = author.number(1, 8)
        author.index_array = ArrayName("p", "int64", 1, (size,), writable=False)
        known.append(author.index_array)
        parameters.append("p")
        args.append(np.arange(size) * author.number(1, 5) % smallest)
    if author.pick(False, True):
        type_ = author.pick("int", "float")
        variables["m"] = type_
        parameters.append("m")
        args.append(author.number(-5, 20) if type_ == "int" else author.number(-9, 9) / 4)
    if author.pick(False, True):
        forms.rotate(author, known)
    author.tables, lines = forms.write_tables(author)
    lines += forms.EXCHANGE * bool(author.rotating)
    helpers = []
    if author.pick(False, True):
        lines += ["LIMIT = 6", "", ""]
        variables["LIMIT"] = "int"
    for _ in range(author.pick(0, 1, 2)):
        helper, text = write_helper(author, helpers, known)
        helpers.append(helper)
        lines += text
    scope = Scope(variables, known, helpers, registers, fixed=frozenset(["LIMIT"]), barriers=True)
    body = declarations + author.body(scope)
    if author.rotating:
        body.append(forms.use(author, scope, *author.rotating))
    lines += [f"def program({', '.join(parameters)}):", *indented(body)]
    return "\n".join(lines) + "\n"


def drawn(strategy, most, number):
    """At most so many cases of a strategy; each number gives others, and some may come twice."""
    found = []

    @seed(number)
    @settings(
        max_examples=most,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def keep(case):
        found.append(case)

    keep()
    return found
