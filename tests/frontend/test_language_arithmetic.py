"""Random expressions on many lanes against Python's own operators on one number at a time.

Two rules of the language are not rules of Python, and `Node.value` states them: integers wrap at 64
bits, and where a float meets an integer both are doubles. A lane without a value (a division by
zero) is an error of that lane, if it needs the value at all.
"""

from __future__ import annotations

import itertools
import math
import operator
import struct
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mmsim as mm
from mmsim.errors import ArithmeticFault
from tests.kit.generators.draws import draws
from tests.kit.generators.random_programs import define

LANES = 8
TYPES = {bool: np.bool_, int: np.int64, float: np.float64}
KINDS = [bool, int, float]  # from narrow to wide


def shift(function, most):
    def run(x, y):
        if y < 0:
            raise ValueError
        return function(x, y) if y <= most else function(x, most)

    return run


ARITHMETIC = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda x, y: float(x) / float(y),
    "//": operator.floordiv,
    "%": operator.mod,
}
WHOLE = {
    "<<": shift(operator.lshift, 64),
    ">>": shift(operator.rshift, 64),
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
COMPARE = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
UNARY = {"-": operator.neg, "+": operator.pos, "~": operator.invert, "abs": abs}
CASTS = {"int": int, "float": float, "bool": bool, "not": operator.not_}


def whole_power(x, y):
    if y < 0:
        raise ZeroDivisionError
    return pow(x, y, 2**64)


@dataclass(frozen=True)
class Node:
    """An expression: its text, its type, and its value for a lane's variables."""

    text: str
    type: type
    how: object

    def value(self, lane):
        result = self.type(self.how(lane))
        if self.type is int:
            return (result + 2**63) % 2**64 - 2**63
        return result


def wide(*nodes):
    return float if any(node.type is float for node in nodes) else int


def join(*nodes):
    return max((node.type for node in nodes), key=KINDS.index)


def two(op, function, type_, operands, x, y):
    return Node(
        f"({x.text} {op} {y.text})",
        type_,
        lambda lane: function(operands(x.value(lane)), operands(y.value(lane))),
    )


def binary(op, x, y):
    both = wide(x, y)
    if op in COMPARE:
        return two(op, COMPARE[op], bool, both, x, y)
    if op in ("&", "|", "^") and x.type is y.type is bool:
        return two(op, WHOLE[op], bool, bool, x, y)
    function = whole_power if op == "**" else {**ARITHMETIC, **WHOLE}[op]
    return two(op, function, float if op == "/" else both, both, x, y)


def unary(op, x):
    if op in CASTS:
        text = f"(not {x.text})" if op == "not" else f"{op}({x.text})"
        type_ = bool if op == "not" else CASTS[op]

        def cast(lane):
            result = CASTS[op](x.value(lane))
            if op == "int" and not -(2**63) < result < 2**63 and x.type is float:
                raise OverflowError
            return result

        return Node(text, type_, cast)
    text = f"abs({x.text})" if op == "abs" else f"({op} {x.text})"
    return Node(text, wide(x), lambda lane: UNARY[op](wide(x)(x.value(lane))))


def logic(op, x, y):
    def how(lane):
        first = x.value(lane)
        return y.value(lane) if bool(first) == (op == "and") else first

    return Node(f"({x.text} {op} {y.text})", join(x, y), how)


def extreme(name, x, y):
    function, type_ = (min if name == "min" else max), join(x, y)
    return Node(
        f"{name}({x.text}, {y.text})",
        type_,
        lambda lane: function(type_(x.value(lane)), type_(y.value(lane))),
    )


def choice(test, x, y):
    return Node(
        f"({x.text} if {test.text} else {y.text})",
        join(x, y),
        lambda lane: (x if test.value(lane) else y).value(lane),
    )


def chain(x, y, z, op1, op2):
    def how(lane):
        middle = y.value(lane)
        if not COMPARE[op1](wide(x, y)(x.value(lane)), wide(x, y)(middle)):
            return False
        return COMPARE[op2](wide(y, z)(middle), wide(y, z)(z.value(lane)))

    return Node(f"({x.text} {op1} {y.text} {op2} {z.text})", bool, how)


def as_whole(node):
    return binary("<", node, constant(1.0)) if node.type is float else node


def constant(value):
    return Node(f"({value!r})", type(value), lambda lane: value)


def name(text, type_):
    return Node(text, type_, lambda lane: lane[text])


INTEGERS = (
    st.integers(-4, 4)
    | st.integers(-(2**63), 2**63 - 1)
    | st.sampled_from([2**63 - 1, -(2**63), 63, 64])
)
FLOATS = st.integers(-8, 8).map(lambda x: x / 2) | st.floats(allow_nan=False, allow_infinity=False)

LEAVES = st.one_of(
    st.sampled_from([name("x", int), name("y", int), name("u", float), name("v", float)]),
    st.sampled_from([name("t", bool), name("n", int), name("r", float), name("T.id", int)]),
    INTEGERS.map(constant),
    FLOATS.map(constant),
    st.booleans().map(constant),
)


def grow(inner):
    whole = inner.map(as_whole)
    return st.one_of(
        st.builds(binary, st.sampled_from([*ARITHMETIC, *COMPARE]), inner, inner),
        st.builds(binary, st.sampled_from([*WHOLE, "**"]), whole, whole),
        st.builds(unary, st.sampled_from(["-", "+", "abs", *CASTS]), inner),
        st.builds(unary, st.just("~"), whole),
        st.builds(logic, st.sampled_from(["and", "or"]), inner, inner),
        st.builds(extreme, st.sampled_from(["min", "max"]), inner, inner),
        st.builds(choice, inner, inner, inner),
        st.builds(
            chain, inner, inner, inner, st.sampled_from([*COMPARE]), st.sampled_from([*COMPARE])
        ),
    )


EXPRESSIONS = st.recursive(LEAVES, grow, max_leaves=12)
COLUMNS = st.fixed_dictionaries(
    {
        "x": st.lists(INTEGERS, min_size=LANES, max_size=LANES),
        "y": st.lists(INTEGERS, min_size=LANES, max_size=LANES),
        "u": st.lists(FLOATS, min_size=LANES, max_size=LANES),
        "v": st.lists(FLOATS, min_size=LANES, max_size=LANES),
        "t": st.lists(st.booleans(), min_size=LANES, max_size=LANES),
    }
)


def bits(value):
    """A value with its type; all NaNs are one, 0.0 and -0.0 are two."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else struct.pack("d", value)
    return type(value), value


VALUES = {
    bool: [True, False],
    int: [-(2**63), -7, -3, -2, -1, 0, 1, 2, 3, 7, 63, 64, 1000, 2**31, 2**63 - 1],
    float: [-1e300, -7.5, -3.0, -2.5, -0.1, -0.0, 0.0, 0.1, 2.5, 3.0, 7.5, math.inf, math.nan],
}
"""Numbers of every sign, and those at which something changes."""
OF_TWO = {
    **{op: partial(binary, op) for op in (*ARITHMETIC, *WHOLE, *COMPARE, "**")},
    **{op: partial(logic, op) for op in ("and", "or")},
    **{op: partial(extreme, op) for op in ("min", "max")},
    **{f"{op} x": lambda x, y, op=op: unary(op, x) for op in (*UNARY, *CASTS)},
    "choice": lambda x, y: choice(x, y, x),
    "chain": lambda x, y: chain(x, y, constant(3), "<", "<="),
    "guarded and": lambda x, y: logic("and", y, binary("<", binary("//", x, y), constant(2))),
    "guarded or": lambda x, y: logic("or", unary("not", y), binary("%", x, y)),
    "guarded choice": lambda x, y: choice(y, binary("/", x, y), x),
}
"""Expressions of x and y; a guard keeps lanes from dividing by 0."""


def program(text):
    reads = "".join(f"    {name} = {name}s[T.id]\n" for name in "xyuvt")
    return mm.program(
        define(f"def f(T, xs, ys, us, vs, ts, n, r, out):\n{reads}    out[T.id] = {text}\n", "f")
    )


@settings(max_examples=draws(20), deadline=None)
@given(EXPRESSIONS, COLUMNS, INTEGERS, FLOATS)
def test_expressions_mean_what_they_mean_in_python(expression, columns, n, r):
    lanes = [
        {key: column[i] for key, column in columns.items()} | {"n": n, "r": r, "T.id": i}
        for i in range(LANES)
    ]
    expected, faults = [], set()
    for i, lane in enumerate(lanes):
        try:
            expected.append(bits(expression.value(lane)))
        except (ZeroDivisionError, ValueError, OverflowError):
            faults.add(i)
    arrays = [np.array(columns[key], TYPES[type(columns[key][0])]) for key in "xyuvt"]
    out = np.zeros(LANES, TYPES[expression.type])

    def run():
        machine = mm.DMM(width=4, latency=1)
        return machine.run(program(expression.text), *arrays, n, r, out, threads=LANES)

    if faults:
        with pytest.raises(ArithmeticFault) as caught:
            run()
        assert caught.value.thread in faults
    else:
        assert [bits(value) for value in run().arrays["out"].tolist()] == expected


LIMITS = [(2**63 - 1, 1), (-(2**63), -1), (-8, 64), (1, 64), (1, 63), (2**62, 62), (2, 3), (3, 2)]
LIMITS += [(True, 2), (-7, 2.5), (0.0, -0.0), (-0.0, 0.0)]


def lanes_of(expression, pairs):
    """The pairs of x and y for which an expression has a value, and the values."""
    found = []
    for x, y in pairs:
        try:
            found.append((x, y, bits(expression.value({"x": x, "y": y}))))
        except (ZeroDivisionError, ValueError, OverflowError):
            continue  # the test above has what is an error
    return zip(*found, strict=True)


def left_by(expression, *sides):
    """The array left by a program that computes an expression of x and y, a lane for each pair."""
    source = "def f(T, a, b, out):\n    x, y = a[T.id], b[T.id]\n"
    source += f"    out[T.id] = {expression.text}\n"
    out = np.zeros(len(sides[0]), TYPES[expression.type])
    arrays = [np.array(side, TYPES[type(side[0])]) for side in sides]
    run = mm.DMM(4, 1).run(mm.program(define(source, "f")), *arrays, out, threads=len(out))
    return [bits(value) for value in run.arrays["out"].tolist()]


@pytest.mark.parametrize("op", OF_TWO)
def test_operators_at_every_sign_and_at_the_limits(op):
    of_whole = op in (*WHOLE, "**", "~ x")
    for left, right in itertools.product(KINDS[: 2 if of_whole else 3], repeat=2):
        expression = OF_TWO[op](name("x", left), name("y", right))
        pairs = itertools.product(VALUES[left], VALUES[right])
        x, y, expected = lanes_of(expression, pairs)
        assert left_by(expression, x, y) == list(expected), (left, right)


@pytest.mark.parametrize("op", OF_TWO)
def test_constants_are_what_lanes_compute(op):
    for x, y in LIMITS:
        if float in (type(x), type(y)) and op in (*WHOLE, "**", "~ x"):
            continue
        expression = OF_TWO[op](constant(x), constant(y))
        for *_, expected in zip(*lanes_of(expression, [(x, y)]), strict=True):
            assert left_by(expression, (0,), (0,)) == [expected], (x, y)


@pytest.mark.parametrize("op", ["and", "or"])
def test_sums_with_a_literal_that_a_lane_may_choose_wrap_around(op):
    chosen = logic(op, name("x", int), constant(2**63 - 1))
    x, y, expected = lanes_of(binary("+", constant(2), chosen), [(0, 0), (1, 0), (7, 0)])
    assert left_by(binary("+", constant(2), chosen), x, y) == list(expected)
