"""Programs with expressions changed at random: other operators, numbers, casts and types.

Most have a fault of types, or values of types that no program of a paper has. They are not run.
"""

from dataclasses import replace

import numpy as np

from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import SUPPORTED
from mmsim.ir.functions import FUNCTIONS
from mmsim.ir.operators import BINARY, CASTS, COMPARE, UNARY
from mmsim.ir.walk import with_expressions, with_inside

WHOLE = (0, 1, -1, 2, 7, -3, 255, 256, -129, 40000, 2**31, 2**32, -(2**31) - 1, 2**53, 2**53 + 1)
LARGE = (-(2**53) - 3, 2**62, 2**63 - 1, -(2**63))
BEYOND = (2**63, 2**64 - 1)
FRACTIONS = (0.5, -0.0, 0.0, 1e300, float("inf"), float("-inf"), float("nan"), -0.25)
NUMBERS = (*WHOLE, *LARGE, *BEYOND, True, False, *FRACTIONS, 1j, 2 + 0.5j, complex("inf"))
UNSIGNED = tuple(one for one in NUMBERS if type(one) is not int or one >= 0)
SIGNED = tuple(one for one in NUMBERS if one not in BEYOND)
"""A table of numbers has no negative one next to one of 64 bits without a sign."""
CALLED = {op: row for op, row in FUNCTIONS.items() if not op.startswith("as_")}
"""The functions of Python's programs; `as_integer` is one of Numba's."""
ATOMICS = ("add", "sub", "max", "min", "and", "or", "xor", "exch", "inc", "dec")
SIMILAR = (
    ("shuffle", "shuffle_up", "shuffle_down", "shuffle_xor"),
    ("ballot", "any", "all"),
    ("match_any", "match_all"),
)
"""The exchanges that take the same operands."""
POOLS = (
    SUPPORTED,
    *(("int64",), ("float64", "int64"), ("float32", "int64"), ("uint64", "int64", "float64")),
    ("complex128", "complex64", "float64"),
)
"""The types of a program's arrays."""
NUMBER_TYPES = ("int64", "int64", "int64", "float64", "bool", "uint64", "complex128")


def types_of(code, random):
    """Types for the parameters of a program: of arrays, and of numbers."""
    pool, arrays, numbers = random.choice(POOLS), {}, {}
    for one in code.parameters:
        if one.use == "number" or (one.use == "unused" and random.random() < 0.5):
            numbers[one.name] = np.dtype(random.choice(NUMBER_TYPES))
        else:
            arrays[one.name] = np.dtype(random.choice(pool))
    return arrays, numbers


class Changes:
    """Changes a share of the parts of a program."""

    def __init__(self, random, share):
        self.random, self.share, self.names = random, share, ["unassigned"]

    def pick(self, *options):
        return self.random.choice(options)

    def hits(self, often=1):
        return self.random.random() < often * self.share

    def code(self, code):
        """The changed program."""
        self.names = [*(one.name for one in code.variables), "unassigned"]
        locals_ = [
            replace(one, dtype=self.pick(None, *SUPPORTED)) if self.hits(3) else one
            for one in code.locals
        ]
        return replace(code, body=self.block(code.body), locals=tuple(locals_))

    def block(self, block):
        return tuple(map(self.statement, block))

    def statement(self, one):
        if isinstance(one, ir.Exchange) and self.hits():
            others = next((ops for ops in SIMILAR if one.op in ops), (one.op,))
            one = replace(one, op=self.pick(*others))
        if isinstance(one, ir.Atomic) and one.op != "cas" and self.hits():
            one = replace(one, op=self.pick(*ATOMICS))
        place = getattr(one, "place", None)
        if place is not None:
            one = with_expressions(one, lambda value: self.value(value, place))
        return with_inside(one, self.block)

    def value(self, value, place):
        place = getattr(value, "place", place)
        if isinstance(value, ir.Const) and self.hits(2):
            value = self.number()
        elif self.hits():
            value = self.with_other_operator(value)
        value = with_expressions(value, lambda part: self.value(part, place))
        return self.within_another(value, place) if self.hits() else value

    def number(self):
        return ir.Const(self.pick(*NUMBERS))

    def with_other_operator(self, value):
        match value:
            case ir.Unary():
                return replace(value, op=self.pick(*UNARY, *CASTS))
            case ir.Binary():
                return replace(value, op=self.pick(*BINARY))
            case ir.Compare():
                return replace(value, op=self.pick(*COMPARE))
            case ir.Call():
                arity = len(value.operands)
                of_as_many = [op for op, row in CALLED.items() if row.arity == arity]
                return replace(value, op=self.pick(*of_as_many))
            case ir.Lookup():
                few = self.random.sample(self.pick(UNSIGNED, SIGNED), self.pick(1, 2, 3))
                return replace(value, values=tuple(self.pick(*few) for _ in value.values))
        return value

    def within_another(self, value, place):
        """A new expression with the value as a part."""
        cast = ir.Unary(self.pick(*CASTS), self.pick(value, ir.Const(1)), place)
        other = self.pick(value, self.number(), cast)
        match self.random.randrange(7):
            case 0 | 1:
                return ir.Unary(self.pick(*CASTS, *UNARY), value, place)
            case 2:
                return ir.Binary(self.pick(*BINARY), value, other, place)
            case 3:
                return ir.Binary(self.pick(*BINARY), cast, value, place)
            case 4:
                op = self.pick(*CALLED)
                more = [self.pick(value, other, cast) for _ in range(CALLED[op].arity - 1)]
                return ir.Call(op, (value, *more), place)
            case 5:
                right = self.pick(self.number(), ir.Var(self.pick(*self.names), place))
                return ir.Logic(self.pick("and", "or"), value, right)
        return ir.Choose(self.pick(value, ir.Const(True)), value, other)
