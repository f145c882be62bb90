"""Random arithmetic in types that are asked for, and functions, for the `Author` of programs.

No float leaves what an array holds, and none is a NaN. What a function gives that machines round
differently is rounded to far fewer bits immediately, so that all of them go on with the same
number.
"""

from tests.kit.generators import random_exchange as exchange

INTEGERS = ("uint32", "int32", "uint64", "int64", "uint8", "int8", "uint16", "int16")
FLOATS = ("float32", "float64")
TYPES = INTEGERS + FLOATS
ROUNDED = {
    2: ("math.degrees({} % 1.0)",),
    3: (
        *("math.exp({} % 4.0)", "math.exp2({} % 4.0)", "mm.exp10({} % 2.0)"),
        *("math.expm1({} % 4.0)", "math.sinh({} % 3.0)", "math.cosh({} % 3.0)"),
        *("math.hypot({}, 1.5)", "math.pow(abs({}) % 4.0 + 0.5, 1.25)"),
        *("math.gamma({} % 4.0 + 0.5)", "math.lgamma({} % 4.0 + 0.5)"),
    ),
    4: (
        *("math.log(abs({}) + 0.75)", "math.log2(abs({}) + 0.75)", "math.log10(abs({}) + 0.75)"),
        *("math.log1p(abs({}))", "math.log(abs({}) + 0.75, 3)", "math.cbrt({})"),
        *("math.tan({} % 1.0)", "math.asinh({})", "math.acosh(abs({}) + 1.25)"),
        "math.radians({} % 90.0)",
    ),
    5: (
        *("math.sin({} % 8.0)", "math.cos({} % 8.0)", "math.asin({} % 0.75)"),
        *("math.acos({} % 0.75)", "math.atan({})", "math.atan2({}, 2.5)", "math.tanh({})"),
        *("math.atanh({} % 0.75)", "math.erf({})", "math.erfc({} % 4.0)"),
    ),
}
INEXACT = {form: kept for kept, forms in ROUNDED.items() for form in forms}
"""Functions that machines round differently, and the bits that are kept of them."""


def value(author, type_, s, depth):
    """An expression of a type that is asked for."""
    if type_ in FLOATS:
        return _float(author, type_, s, depth)
    if depth <= 0:
        own = [name for name, of in s.variables.items() if of == type_]
        kind = author.pick("int", *["variable"] * 2 * bool(own), "float")
        if kind == "variable":
            return author.pick(*own)
        if kind == "float":
            return f"mm.{type_}({author.float(s, 0)} % 97.0)"
        return f"mm.{type_}({author.int(s, 0)})"
    x = value(author, type_, s, depth - 1)
    kinds = ["+", "-", "*", "bits", "shift", "divide", "unary", "extreme", "power", "cast"]
    kind = author.pick(*kinds, "lanes")
    if kind == "lanes":
        return exchange.shuffle(author, s, x)
    if kind == "unary":
        return author.pick(f"(-{x})", f"(~{x})", f"(+{x})", f"abs({x})", f"mm.brev({x})")
    if kind == "shift":
        return f"({x} {author.pick('<<', '>>')} {author.pick(0, 1, 5, 9, 40)})"
    if kind == "divide":
        return f"({x} {author.pick('//', '%')} {author.pick(1, 3, 7)})"
    if kind == "power":
        return f"({x} ** {author.number(0, 3)})"
    if kind == "cast":
        return f"mm.{type_}({value(author, author.pick(*INTEGERS), s, depth - 1)})"
    y = author.pick(value(author, type_, s, depth - 1), "3", _beside(author, type_, s))
    if kind == "extreme":
        return author.pick(f"min({x}, {y})", f"max({x}, {y})")
    if kind == "bits":
        return f"({x} {author.pick('&', '|', '^')} {y})"
    return f"({x} {kind} {y})"


def _beside(author, type_, s):
    """A plain integer combined with a type; a number that is written in the program has to fit."""
    text = author.int(s, 0)
    elements = tuple(f"{array.name}[" for array in s.arrays)
    known = text.startswith(("T.", *elements)) or text in s.variables
    return f"({text})" if known else f"mm.{type_}({text})"


def _float(author, type_, s, depth):
    if depth <= 0:
        own = [name for name, of in s.variables.items() if of == type_]
        kind = author.pick("float", *["variable"] * 2 * bool(own), "int")
        if kind == "variable":
            return author.pick(*own)
        if kind == "int":
            return f"mm.{type_}(({author.int(s, 0)}) % 1000)"
        return f"mm.{type_}({author.float(s, 0)})"
    x = _float(author, type_, s, depth - 1)
    kinds = ["+", "-", "scale", "divide", "unary", "root", "extreme", "inexact", "fused"]
    kind = author.pick(*kinds, "lanes", "half")
    if kind == "lanes":
        return exchange.shuffle(author, s, x)
    if kind == "half":
        return f"mm.{type_}(mm.float16({x} % 97.0) {author.pick('+', '*', '-')} mm.float16(1.1))"
    if kind == "scale":
        return f"({x} {author.pick('*', '/')} {author.pick('0.1', '3', '-1.5')})"
    if kind == "divide":
        return f"({x} {author.pick('//', '%')} {author.pick('0.75', '3', '-2.0')})"
    if kind == "unary":
        return author.pick(f"(-{x})", f"(+{x})", f"abs({x})", f"math.fabs({x})")
    if kind == "root":
        return f"math.sqrt(abs({x}))"
    if kind == "inexact":
        return f"mm.{type_}({inexact(author, x)})"
    y = author.pick(_float(author, type_, s, depth - 1), "0.1", f"({author.float(s, 0)})")
    if kind == "extreme":
        return author.pick(f"min({x}, {y})", f"max({x}, {y})", f"math.copysign({x}, {y})")
    if kind == "fused":
        return author.pick(
            f"mm.fma({x}, 0.1, {y})",
            f"math.fmod({x}, 3.5)",
            f"math.remainder({x}, 3.5)",
            f"math.nextafter({x}, {y})",
        )
    return f"({x} {kind} {y})"


def inexact(author, x):
    """A function of a float, rounded to few bits."""
    form = author.pick(*INEXACT)
    return f"(math.floor({form.format(x)} * {2 ** INEXACT[form]}.0 + 0.3) / 64)"


def int_of(author, s, depth):
    """A plain integer that typed arithmetic, a count of bits or a function gives."""
    kind = author.pick("cast", "count", "whole", "compare")
    if kind == "whole":
        rounded = author.pick("math.floor", "math.ceil", "math.trunc")
        inner = author.pick(author.float(s, 0), value(author, author.pick(*FLOATS), s, depth))
        return f"{rounded}(({inner}) % 97.0)"
    x = value(author, author.pick(*INTEGERS), s, depth)
    if kind == "count":
        return f"mm.{author.pick('popc', 'clz', 'ffs')}({author.pick(x, author.int(s, 0))})"
    if kind == "compare":
        y = author.pick(value(author, author.pick("uint64", "int32"), s, 0), author.int(s, 0))
        return f"(({x}) {author.pick('<', '<=', '>', '>=', '==', '!=')} ({y}))"
    return f"int({x})"


def float_of(author, s, x, depth):
    """A plain float that typed arithmetic or a function gives."""
    kind = author.pick("inexact", "cast", "root", "fused", "inexact", "test", "inexact")
    if kind == "inexact":
        return inexact(author, x)
    if kind == "root":
        return author.pick(f"math.sqrt(abs({x}))", f"math.fabs({x})", f"math.copysign({x}, -0.5)")
    if kind == "fused":
        return author.pick(
            f"mm.fma({x}, 0.1, {x})", f"math.fmod({x}, 3.5)", f"math.remainder({x}, 3.5)"
        )
    if kind == "test":
        test = author.pick("isnan", "isinf", "isfinite")
        return f"({x} if math.{test}({x}) else 0.5)"
    return f"float({value(author, author.pick(*FLOATS), s, depth)})"


def statement(author, s):
    """An assignment to a variable of a type that is asked for."""
    type_ = author.pick(*TYPES)
    text = value(author, type_, s, author.pick(1, 0, 2))
    if type_ in FLOATS:
        text = f"({text}) % 64.0"
    target = author.target(s, type_)
    s.variables[target] = type_
    return [f"{target} = {text}"]
