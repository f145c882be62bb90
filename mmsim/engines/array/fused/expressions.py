"""Writes the expressions of a program as text that Numba compiles.

It spells the lowered form (`mmsim.ir.lower`). Numba computes with 64-bit integers wherever it can,
so every result is cast to its type, which wraps around. An operation without a value (a division by
zero) sets `bad`, and so does every other error: the interpreter then runs the program again, and
explains the error. An operation that needs NumPy's own code for the same bits raises `CannotFuse`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

import numpy as np

from mmsim.engines.array.fused.analysis import READER, Analysis, CannotFuse
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import BOOL, FLOAT, HALF, INT, SINGLE, UNSIGNED, Type, is_int, limits, part
from mmsim.ir.lower import unchecked
from mmsim.ir.nodes import assert_never
from mmsim.ir.operators import row_of
from mmsim.ir.row import Row
from mmsim.ir.typed import consists_of
from mmsim.ir.walk import expressions

UNIFORM = {
    "count": "threads",
    "block_size": "block_size",
    "blocks": "blocks",
    **{field: field.replace(".", "_") for field in ir.EXTENTS},
}
OWN = {
    "id": "(thread + lane)",
    "index": "(start + lane)",
    "block": "block",
    "lane": "lane",
    "warp": "warp",
}
LARGEST = 64
"""The most numbers of a constant table in a compiled program: each use writes them out."""
LITERAL = (ir.Const, ir.Unary, ir.Binary, ir.Compare, ir.Call)
"""The nodes of an expression of literals."""


class Text:
    """The lines of a program that is being written, each at its depth."""

    def __init__(self, names: Iterator[str]) -> None:
        self.lines: list[str] = []
        self.depth = 0
        self.marks: list[tuple[int, int]] = []
        """Lines and depths: before the loop at work, and where its body begins."""
        self.divisors: dict[tuple[ir.Expr, bool], tuple[str, str]] = {}
        """The divisors of the loop at work: the names of each divisor and of its power of two."""
        self.doubtful = False
        """Return whether an earlier line may have set `bad` and no line has tested it since."""
        self._names = names

    @contextmanager
    def loop(self, head: str) -> Iterator[None]:
        """A loop, with the line that begins it; `hoisted` adds before it, `at_head` in its body."""
        outer = self.marks, self.divisors
        before = len(self.lines), self.depth
        self.add(head)
        self.depth += 1
        self.marks, self.divisors = [before, (len(self.lines), self.depth)], {}
        yield
        self.depth -= 1
        self.marks, self.divisors = outer

    @contextmanager
    def _at(self, number: int) -> Iterator[None]:
        """Add lines at a mark, behind the lines added there before."""
        marks, outer = self.marks, self.depth
        line, depth = marks[number]
        rest = self.lines[line:]
        del self.lines[line:]
        self.depth, self.marks = depth, []
        yield
        more = len(self.lines) - line
        moved = [(at + more, deep) for at, deep in marks[number:]]
        self.depth, self.marks = outer, marks[:number] + moved
        self.lines += rest

    def hoisted(self) -> AbstractContextManager[None]:
        """Add lines before the loop at work."""
        return self._at(0)

    def at_head(self) -> AbstractContextManager[None]:
        """Add lines at the start of the body of the loop at work."""
        return self._at(1)

    def add(self, *lines: str) -> None:
        """More lines."""
        for line in lines:
            self.doubtful |= "bad" in line
            self.lines.append("    " * self.depth + line)

    def drop(self, name: str) -> None:
        """Remove the last line that sets a variable if no later line needs the value."""
        for at in range(len(self.lines) - 1, -1, -1):
            if self.lines[at].lstrip().startswith(f"{name} = "):
                if not re.search(rf"\b{name}\b", "\n".join(self.lines[at + 1 :])):
                    del self.lines[at]
                return

    def temporary(self) -> str:
        """A new, unique name."""
        return next(self._names)


@dataclass(eq=False)
class NumbaText:
    """Writes expressions into `text`, for one lane or, if they are `uniform`, for all lanes.

    `of` gives the type of an expression, `constant` its value if it is known before the launch,
    `own` the text of a lane's own variable. `is_power` says that a divisor is a constant power of
    two.
    """

    text: Text
    of: Callable[[ir.Expr], Type]
    analysis: Analysis
    shapes: dict[str, tuple[int, ...]]
    address: Callable[[str, tuple[ir.Expr, ...]], str]
    own: Callable[[str], str]
    constant: Callable[[ir.Expr], ir.Scalar | None]
    is_power: Callable[[ir.Expr], bool]
    uniform: bool
    assigned: set[str] = field(default_factory=set)

    def folded(self, value: ir.Expr) -> ir.Scalar | None:
        """The value of an expression of literals, None of any other.

        The kernel doesn't compute them: its integers wrap around, Python's don't.
        """
        if not consists_of(value, LITERAL):
            return None
        if (number := self.constant(value)) is None:
            raise CannotFuse("a literal expression without a value")
        return number

    def write(self, value: ir.Expr) -> str:
        """The text of an expression in its own type; earlier lines compute its parts."""
        if isinstance(value, ir.Operation | ir.Var) and self.of(value) == HALF:
            raise CannotFuse("Numba has no float16 for this computer")
        if self.uniform and self.of(value).kind == "c":  # a skeleton has none
            raise CannotFuse("a complex number that all threads share")
        if (number := self.folded(value)) is not None:
            return self._number(number, self.of(value))
        match value:
            case ir.Number(name):
                return f"number_{name}"
            case ir.ThreadField():
                return UNIFORM.get(value.field) or OWN[value.field]
            case ir.Extent(array, axis, rank):
                return self._extent(array, axis, rank)
            case ir.Var(name):
                return self._variable(name)
            case ir.Unary():
                return self._unary(value)
            case ir.Binary():
                return self._binary(value)
            case ir.Compare(op, left, right):
                return f"({self.write(left)} {op} {self.write(right)})"
            case ir.Operation():
                operands = expressions(value)
                type_, texts = self.of(operands[0]), map(self.write, operands)
                return call(value.op, row_of(value), type_, *texts)
            case ir.Logic(op, left, right):
                first = self._keep(self.write(left))
                return self._either(first if op == "and" else f"not {first}", right, first)
            case ir.Choose(test, then, other):
                return self._either(self.write(test), then, other)
            case ir.RegisterRead(array, index):
                return f"register_{array}[{self.address(array, index)}, here]"
            case ir.Lookup():
                return self._lookup(value)
            case ir.Const():
                raise AssertionError(f"{value} is a literal")
            case _:
                assert_never(value, READER)

    def _literal(self, number: ir.Scalar) -> str:
        if isinstance(number, complex):
            parts = ", ".join(map(self._literal, (number.real, number.imag)))
            return f"np.complex128(complex({parts}))"
        if isinstance(number, float) and not np.isfinite(number):
            return "np.nan" if np.isnan(number) else "np.inf" if number > 0 else "(-np.inf)"
        if type(number) is int and not -(2**63) < number < 2**63:
            raise CannotFuse(f"{number} is not a 64-bit literal")
        if self.uniform and type(number) is int:
            return f"np.int64({number})"  # the skeleton's results with it mustn't wrap unseen
        return f"({number!r})" if number < 0 else repr(number)

    def _number(self, number: ir.Scalar, type_: Type) -> str:
        """A number of a type."""
        if type_ in (BOOL, INT, FLOAT):
            return self._literal(number)
        return f"{numpy_name(type_)}({number if type_ == UNSIGNED else self._literal(number)})"

    def _extent(self, array: str, axis: int | str | None, rank: int | None) -> str:
        dimensions = len(self.shapes[array])
        is_outside = isinstance(axis, int) and not -dimensions <= axis < dimensions
        if is_outside or rank not in (None, dimensions):
            raise CannotFuse(f"{array} has no such size")
        if axis is None:
            return f"size_{array}"
        if isinstance(axis, int):
            return f"extent_{array}_{axis % dimensions}"
        return self._literal(dimensions)

    def _variable(self, name: str) -> str:
        if name not in self.assigned:
            raise CannotFuse(f"{name} may be read before it is assigned")
        if name in self.analysis.uniform:
            return f"same_{name}"
        if name in self.analysis.inlined:
            return f"({self.write(self.analysis.inlined[name])})"
        return self.own(name)

    def _lookup(self, value: ir.Lookup) -> str:
        """An element of a constant table."""
        kind = self.of(value).kind
        if kind in "uc":
            raise CannotFuse("a table of complex numbers or of integers without a sign")
        if len(value.values) > LARGEST:
            raise CannotFuse(f"a table of more than {LARGEST} numbers")
        numbers = ", ".join(map(self._literal, value.values))
        number = ""
        for axis, extent in zip(value.index, value.shape, strict=True):
            at = self._keep(self.write(axis))
            self._refuse(f"{at} < 0 or {at} >= {extent}", at, "0")
            number = f"({number} * {extent} + {at})" if number else at
        found = f"({numbers},)[{number}]"
        return f"np.int64({found})" if kind == "i" else found  # it wraps around, Python's doesn't

    def _unary(self, value: ir.Unary) -> str:
        row, held, wanted = row_of(value), self.of(value.operand), self.of(value)
        text, name, kind = self.write(value.operand), numpy_name(wanted), row.kind
        if kind == "check":
            text = self._keep(text)
            self._refuse(f"{text} {row.sign}", text, f"{name}(1)")
            return text
        if kind == "cast" and is_int(wanted) and held.kind == "f":
            text = self._keep(text)
            self._refuse(f"not ({inside(text, wanted)})", text, f"{numpy_name(held)}(0)")
        if wanted == BOOL:
            return f"(not {text})" if kind == "not" else f"({text} != 0)"
        if kind == "cast":
            return f"{name}({text})"
        if held.kind == "c":
            if kind == "absolute":
                raise CannotFuse("abs of a complex number")
            return f"{name}(complex_negate({text}))"
        if kind == "absolute" and (held.kind == "f" or held == INT):
            return f"abs({text})"
        if kind == "absolute":
            text = self._keep(text)
            return f"{name}({text} if {text} >= 0 else -{text})"
        if kind == "sign" and is_int(held) and held != INT:
            return f"{name}({name}(0) - {text})"
        return wrapped(held, f"{row.sign}{text}")

    def _binary(self, value: ir.Binary) -> str:
        row, type_ = row_of(value), self.of(value)
        if row.checked is not None:
            return self._float_power(value)
        left, name = self.write(value.left), numpy_name(type_)
        number = self.folded(value.right)
        divides = row.kind == "division" and type_ == INT and self.text.marks and number is None
        if divides and self.analysis.is_uniform(value.right):
            natural = isinstance(value.left, ir.ThreadField)
            return self._by_uniform(row, left, value.right, natural)
        known = number if isinstance(number, int | float) and number > 0 else None
        right = self.write(value.right)
        if row.kind in ("extreme", "index"):
            left = self._keep(left)
        if row.kind == "index":
            return f"({left} + {right} if {left} < 0 else {left})"
        if row.kind == "extreme":
            right = self._keep(right)
            return f"({right} if {right} {row.sign} {left} else {left})"
        if type_.kind == "c" and row.kind == "quotient":
            return f"{name}(complex_divide({left}, {right}, np.{part(type_).name}(1)))"
        if type_.kind == "c" and value.op == "*":
            return f"{name}(complex_multiply({left}, {right}))"
        if row.kind == "power" and type_ == UNSIGNED:
            right = self._keep(right)
            self._refuse(f"{right} > {2**63 - 1}", right, f"{name}(1)")
        if type_.kind in "fc" and row.numba:
            is_checked = known is not None or unchecked(value.right) is not value.right
            if type_ != FLOAT or row.kind != "division" or not is_checked:
                raise CannotFuse(f"{value.op} of {type_}")
            return f"float_{row.numba}({left}, {right})"
        # Whether Numba's own operator gives the value for all right operands left.
        is_numbas = not row.numba
        if row.kind == "division":
            is_numbas = type_ == UNSIGNED or known is not None
        elif row.kind == "shift" and known is not None:
            is_numbas = known < 64 and type_ != UNSIGNED
        if is_numbas:
            return wrapped(type_, f"{left} {value.op} {right}")
        if type_ == INT:
            return f"{row.numba}({left}, {right})"
        if type_ == UNSIGNED and row.kind == "shift":
            return f"np.uint64(unsigned_{row.numba}({left}, {right}))"
        return f"{name}({row.numba}(np.int64({left}), np.int64({right})))"

    def _float_power(self, value: ir.Binary) -> str:
        """A power of floats by one operation of IEEE 754; `powers` has the others."""
        exponent = self.folded(value.right)
        if exponent not in (2, 0.5):
            raise CannotFuse("a power of floats")
        base = self._keep(self.write(value.left))
        if exponent == 0.5:
            self._refuse(f"{base} < 0", base, "1.0")
            return f"np.sqrt({base} + 0.0)"
        square = self._keep(f"{base} * {base}")
        self._refuse(f"np.isinf({square}) and not np.isinf({base})", square, "1.0")
        return square

    def _by_uniform(self, row: Row, left: str, divisor: ir.Expr, natural: bool) -> str:
        """A division by a value that all threads share: a shift by a constant power of two.

        Processors divide slowly. The divisor is inspected once, before the loop over the warps.
        One instruction shifts many unsigned lanes, so `natural` numbers have no
        sign.
        """
        power, number = self.is_power(divisor), unchecked(divisor)
        if (number, power) not in self.text.divisors:
            name, shift = self.text.temporary(), self.text.temporary()
            self.text.divisors[number, power] = name, shift
            with self.text.hoisted():
                self.text.add(f"{name} = {self.write(number)}")
                if power:
                    self.text.add(f"{shift} = shift_of({name})")
                    self._refuse(f"{shift} < 0", shift, "0")
                elif number is not divisor:
                    self._refuse(f"{name} == 0", name, "1")
        name, shift = self.text.divisors[number, power]
        if power and row.sign == "%":
            return f"({left} & ({name} - 1))"
        if power and natural:
            return f"np.int64(np.uint64({left}) >> np.uint64({shift}))"
        return f"({left} >> {shift})" if power else f"{row.numba}({left}, {name})"

    def _keep(self, text: str) -> str:
        """The text of a value that is used more than once, computed once."""
        name = self.text.temporary()
        self.text.add(f"{name} = {text}")
        return name

    def _refuse(self, bad: str, name: str, instead: str) -> None:
        self.text.add(f"if {bad}:")
        self.text.add("    bad = True")
        self.text.add(f"    {name} = {instead}")

    def _either(self, test: str, then: ir.Expr, other: ir.Expr | str) -> str:
        """`then` if `test` holds, else `other`; only the chosen one is evaluated."""
        name = self.text.temporary()
        self.text.add(f"if {test}:")
        self._arm(name, then)
        self.text.add("else:")
        self._arm(name, other)
        return name

    def _arm(self, name: str, value: ir.Expr | str) -> None:
        self.text.depth += 1
        text = value if isinstance(value, str) else self.write(value)
        if not isinstance(value, str) and self.of(value) == INT and self.folded(value) is not None:
            text = f"np.int64({text})"  # it wraps around where Python runs the kernel, too
        self.text.add(f"{name} = {text}")
        self.text.depth -= 1


def numpy_name(type_: Type) -> str:
    """The text of a type."""
    return "np.bool_" if type_ == BOOL else f"np.{type_.name}"


def wrapped(type_: Type, text: str) -> str:
    """A result in its type: Numba computes with 64 bits."""
    return f"({text})" if type_ in (BOOL, INT, FLOAT) else f"np.{type_.name}({text})"


def inside(text: str, type_: Type) -> str:
    """A test of a float: whether a type of integers holds its whole part."""
    low, high = limits(type_)
    if type_ == INT:
        return f"abs({text}) < {float(high + 1)}"
    return f"{text} > {float(low - 1)} and {text} < {float(high + 1)}"


def call(op: str, row: Row, type_: Type, *texts: str) -> str:
    """The text of a function of values of a type; a real number may stand for a complex one."""
    text, name = texts[0], f"np.{type_.name}"
    if row.result in ("integer", "floating"):
        wanted = np.dtype(f"{row.result[0]}{type_.itemsize}").name
        return f"{name}({text}).view(np.{wanted})"
    if row.takes == "bits":
        width = 8 * type_.itemsize
        found = f"{row.numba}(np.uint64(np.uint{width}({text})))"
        if row.result == "same":
            return f"{name}(np.uint64({found}) >> np.uint64({64 - width}))"
        return f"({found} - {64 - width})" if row.from_top else found
    if row.result == "complex":
        return f"np.complex128(complex({', '.join(texts)}))"
    if row.takes == "complex" and type_.kind != "c":
        return f"{name}(0)" if op == "imag" else text
    if row.takes == "complex":
        return f"{name}(complex_conjugate({text}))" if row.result == "same" else f"{text}.{op}"
    if not row.numba or (row.numba.endswith("_single") and type_ != SINGLE):
        raise CannotFuse(f"the function {op} of {name}")
    text = f"{row.numba}({', '.join(texts)})"
    return f"{name}({text})" if row.result == "same" else text
