"""Random kernels of numbers of all types, which Numba compiles for this computer, too.

A thread reads and writes only its own elements. Names get values of other types, on some paths
only, and types of operations are Numba's own. Left out are: where Numba leaves the result open
(shifts by the width or more, floats out of range of an integer, the sign of a NaN), where mmsim
differs (docs/numba.md), and functions of which libraries round the results differently.
"""

from __future__ import annotations

import math
import operator
import random
from functools import cache
from typing import Any

import numba
import numpy as np
from numba import cuda
from numba.core import config, errors, types
from numba.core.registry import cpu_target
from numba.cpython import numbers
from numba.np.numpy_support import from_dtype

import mmsim as mm
from mmsim.frontend.numba.kernel import numba_program
from tests.kit.generators.random_programs import define

THREADS = 8
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
DTYPES = (*INTEGERS, "float32", "float64", "bool_")
PARAMETERS = "a, b, c, d, whole, positive, real"


def larger(x, y):
    if x > y:
        return x
    return y


def turned(x, y, n=2):
    for _ in range(n):
        x, y = y, x - n
    return y, x


def scaled(x, by=None):
    if by is None:
        return x + 1
    return x * by


def halved(x):
    if isinstance(x, float):
        return x / 2
    return x - 1


HELPERS = (larger, turned, scaled, halved)
ONLY = {"error_model": "numpy", "no_cfunc_wrapper": True}
"""How Numba compiles kernels, without what is never called."""
OUTSIDE = {"FACTOR": np.float32(1.1), "TABLE": (3, -1, 2), "ROW": np.array([250, 3, 7], np.uint8)}
KNOWN = {"numba": numba, "cuda": cuda, **OUTSIDE, **{one.__name__: one for one in HELPERS}}
COMPILED = KNOWN | {
    one.__name__: numba.njit(no_cpython_wrapper=True, **ONLY)(one) for one in HELPERS
}
OF_TWO = {
    **{f"{{}} {op} {{}}": getattr(operator, name) for op, name in zip(
        ("+", "-", "*", "&", "|", "^", "<", "<=", "==", "!=", ">"),
        ("add", "sub", "mul", "and_", "or_", "xor", "lt", "le", "eq", "ne", "gt"), strict=True)},
    "min({}, {})": min,
    "max({}, {})": max,
    **{f"np.{one.__name__}({{}}, {{}})": one for one in (
        *(np.add, np.subtract, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin),
        *(np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.less, np.greater_equal, np.equal),
        *(np.logical_and, np.logical_or, np.logical_xor, np.not_equal, np.true_divide),
        np.nextafter,
    )},
    "math.copysign({}, {})": math.copysign,
    "np.copysign({}, {})": np.copysign,
    "{} / {}": operator.truediv,
}  # fmt: skip
"""Operations of two numbers, and the functions that give their types."""
OF_ONE = {
    "(-{})": operator.neg,
    "(+{})": operator.pos,
    "(~{})": operator.invert,
    "(not {})": operator.not_,
    "abs({})": abs,
    "bool({})": bool,
    "float({})": float,
    "math.sqrt({})": math.sqrt,
    "math.fabs({})": math.fabs,
    "math.isnan({})": math.isnan,
    "math.isinf({})": math.isinf,
    "math.isfinite({})": math.isfinite,
    **{f"np.{one.__name__}({{}})": one for one in (
        *(np.negative, np.invert, np.absolute, np.sign, np.square, np.sqrt, np.floor, np.ceil),
        *(np.trunc, np.rint, np.logical_not, np.isnan, np.isfinite, np.signbit, np.fabs),
        *(np.positive, np.isinf),
    )},
    **{f"({{}} ** {power})": operator.mul for power in (0, 1, 2, 3)},
}  # fmt: skip


@cache
def result_of(function: Any, *given: Any) -> Any:
    """Numba's type of what a function gives, None if it refuses the arguments."""
    context = cpu_target.typing_context
    context.refresh()
    try:
        type_ = context.resolve_value_type(function)
        return types.unliteral(context.resolve_function_type(type_, given, {}).return_type)
    except (errors.NumbaError, AttributeError):
        return None


class Author:
    """Writes one kernel; `names` has the types of its variables.

    A variable of which the type depends on the path counts as a double, as every type becomes one.
    A kernel for a card has nothing that numba-cuda lacks: functions of NumPy, `min` of booleans.
    """

    def __init__(self, seed: int, for_card: bool) -> None:
        self.random, self.for_card = random.Random(seed), for_card
        self.lines: list[str] = []
        self.names: dict[str, Any] = {}
        self.count = 0
        self.tuples: list[str] = []
        self.complex: list[str] = []
        self.local: Any = None
        dtypes = [self.pick(*DTYPES) for _ in range(4)]
        if self.pick(True, False, False):
            dtypes[3] = self.pick("complex64", "complex128")
            self.complex = ["d[i]", "d[7 - i]"]
        self.given = [from_dtype(np.dtype(dtype.rstrip("_"))) for dtype in dtypes]
        self.arrays = dict(zip("abcd"[: 4 - bool(self.complex)], self.given, strict=False))

    def pick(self, *options: Any) -> Any:
        return self.random.choice(options)

    def add(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def forms(self, table: dict[str, Any]) -> list[str]:
        return [form for form in table if not (self.for_card and form.startswith("np."))]

    # Numbers

    def leaf(self) -> tuple[str, Any]:
        kind = self.pick(
            *("array", "array", "name", "name", "literal", "typed", "thread", "outside", "tuple")
        )
        if kind == "array":
            name = self.pick(*self.arrays)
            index = self.pick("i", "i", "7 - i", "-1 - i", "(i ^ 1)", "np.uint8(i)")
            return f"{name}[{index}]", self.arrays[name]
        if kind == "name" and self.names:
            return self.pick(*self.names.items())
        if kind == "literal":
            return self.pick(
                *((text, types.int64) for text in ("0", "1", "2", "7", "255", "(-3)", "2**31")),
                *((text, types.float64) for text in ("0.5", "1.0", "(-2.25)", "1e30", "3e-9")),
                *((text, types.boolean) for text in ("True", "False")),
            )
        if kind == "typed":
            dtype, text = self.pick(*DTYPES), self.pick("0", "1", "3", "100")
            return f"{self.pick('np', 'numba')}.{dtype}({text})", getattr(types, dtype)
        if kind == "outside":
            return self.pick(
                *(("FACTOR", types.float32), ("TABLE[i % 3]", types.int64), ("i", types.int64)),
                *(
                    ("ROW[i % 3]", types.uint8),
                    ("a.size", types.int64),
                    ("d[1:i].size", types.int64),
                ),
            )
        if kind == "tuple" and self.tuples:
            return f"{self.pick(*self.tuples)}[{self.pick(0, 1, -1)}]", types.float64
        return ("i", types.int64) if self.local is None else ("m[i & 1]", self.local)

    def number(self, depth: int) -> tuple[str, Any]:
        """An expression and its type."""
        while depth > 0:
            kind = self.pick(
                *("one", "two", "two", "two", "divide", "shift", "cast", "choice", "call"),
                *["part"] * bool(self.complex),
            )
            found = getattr(self, f"of_{kind}")(depth - 1)
            if found is not None:
                return found
        return self.leaf()

    def of_one(self, depth: int) -> tuple[str, Any] | None:
        form, (x, own) = self.pick(*self.forms(OF_ONE)), self.number(depth)
        if form == "np.signbit({})":
            x = self.signed(x, own)
        found = result_of(OF_ONE[form], *[own] * (1 + ("**" in form)))
        is_cube = "** 3" in form and isinstance(own, types.Float)
        is_sign_of_unsigned = "sign(" in form and (
            own == types.float64 or getattr(own, "signed", True) is False
        )
        is_left_out = found is None or is_cube or is_sign_of_unsigned
        return None if is_left_out else (form.format(x), found)

    def of_two(self, depth: int) -> tuple[str, Any] | None:
        form = self.pick(*self.forms(OF_TWO))
        (x, own), (y, other) = self.number(depth), self.number(depth)
        is_extreme = form[:4] in ("min(", "max(")
        if self.for_card and is_extreme and types.boolean in (own, other):
            return None
        if "copysign" in form or (not self.for_card and is_extreme):
            x, y = self.signed(x, own), self.signed(y, other)
        elif is_extreme:  # a double may be a boolean on one path
            x, y = (
                f"numba.{t}({n})" if t == types.float64 else n for n, t in ((x, own), (y, other))
            )
        found = result_of(OF_TWO[form], own, other)
        text = form.format(x, y)
        return None if found is None else (text if "(" in form else f"({text})", found)

    def of_divide(self, depth: int) -> tuple[str, Any] | None:
        """No integer but 0 is divided by -1: the least one has no quotient."""
        (x, own), (by, other) = self.number(depth), self.number(depth)
        if not isinstance(other, types.Float):
            by = self.pick(f"(({by} & 7) - 9)", f"(({by} & 7) + 1)", "3", "(-5)", "0.0")
            other = types.float64 if by == "0.0" else types.int64
        if self.pick(True, False):
            by, other = "np.uint8(6)", types.uint8
        if self.for_card and {types.float32, types.float64} & {own, other}:
            return None
        functions = {
            "({} // {})": operator.floordiv,
            "({} % {})": operator.mod,
            "np.floor_divide({}, {})": np.floor_divide,
            "np.remainder({}, {})": np.remainder,
            "divmod({}, {})[0]": divmod,
        }
        form = self.pick(*self.forms(functions))
        function = functions[form]
        found = result_of(function, own, other)
        return None if found is None else (form.format(x, by), getattr(found, "dtype", found))

    def of_shift(self, depth: int) -> tuple[str, Any] | None:
        (x, own), (y, other), dtype = self.number(depth), self.number(depth), self.pick(*INTEGERS)
        form, function = self.pick(("({} << {})", operator.lshift), ("({} >> {})", operator.rshift))
        by = self.pick("0", "5", "(i & 3)", f"np.{dtype}({self.pick('2', 'i')})")
        if isinstance(other, types.Integer) and self.pick(True, False):
            by = f"({y} & 15)"
        found = result_of(function, own, types.int64)
        return None if found is None else (form.format(x, by), found)

    def of_cast(self, depth: int) -> tuple[str, Any] | None:
        """Numbers outside of the type's range are left out."""
        (x, own), dtype = self.number(depth), self.pick(*DTYPES)
        is_float = isinstance(own, types.Float)
        if (dtype in INTEGERS or self.for_card) and is_float:
            x = self.small(x)
        if is_float and self.pick(True, False, False):
            return (
                self.pick((f"int({x})", types.int64), (f"round({x})", types.int64))
                if dtype in INTEGERS or self.for_card
                else (f"round({x}, {self.pick(0, 1, 3, -1)})", own)
            )
        return f"{self.pick('np', 'numba')}.{dtype}({x})", getattr(types, dtype)

    def small(self, x: str) -> str:
        """A number that every type of integers holds."""
        return f"({x} if abs({x}) < 100 and {x} >= 0 else 5)"

    def signed(self, x: str, own: Any) -> str:
        """A number with a sign: which one a NaN has, compilers leave open."""
        return f"({x} if {x} == {x} else np.{own}(1))" if isinstance(own, types.Float) else x

    def of_part(self, depth: int) -> tuple[str, Any]:
        """A real number that is made of complex ones."""
        z, other = self.of_complex(depth), self.of_complex(0)
        return self.pick(
            *((f"({z}).real", types.float64), (f"({z}).imag", types.float64)),
            (f"({z} {self.pick('==', '!=')} {other})", types.boolean),
        )

    def of_complex(self, depth: int) -> str:
        """A complex number."""
        if depth <= 0:
            x, y = (f"np.{self.pick('float32', 'float64')}({self.leaf()[0]})" for _ in range(2))
            return self.pick(*self.complex, f"complex({x}, {y})")
        z, (x, _) = self.of_complex(depth - 1), self.number(depth - 1)
        other = self.pick(self.of_complex(depth - 1), x)
        return self.pick(
            *(f"({z} {self.pick('+', '-', '*')} {other})", f"({other} - {z})", f"(-{z})"),
            *(f"np.{self.pick('complex64', 'complex128')}({other})", f"({z}).conjugate()"),
            f"({z} if {self.test(0)} else {other})",
        )

    def of_choice(self, depth: int) -> tuple[str, Any] | None:
        (x, own), (y, other) = self.number(depth), self.number(depth)
        both = cpu_target.typing_context.unify_types(own, other)
        return f"({x} if {self.test(depth)} else {y})", self.safe(both)

    def of_call(self, depth: int) -> tuple[str, Any] | None:
        (x, own), (y, other) = self.number(depth), self.number(depth)
        if self.pick(True, False):
            both = cpu_target.typing_context.unify_types(own, other)
            return f"larger({x}, {y})", self.safe(both)
        more = self.pick("", "", ", 3", ", n=0")
        return self.pick(
            (f"turned({x}, {y}{more})[{self.pick(0, 1)}]", types.float64),
            *((f"scaled({x}, {y})", types.float64), (f"scaled({x})", types.float64)),
            (f"halved({x})", types.float64),
        )

    def safe(self, type_: Any) -> Any:
        return types.float64 if type_ is None else type_

    def test(self, depth: int) -> str:
        form = self.pick("compare", "compare", "chain", "both", "not", "plain")
        (x, _), (y, _), (z, _) = (self.number(depth) for _ in range(3))
        first, second = self.pick("<", "<=", "!=", "=="), self.pick("<", ">", "<=")
        return {
            "compare": f"{x} {first} {y}",
            "chain": f"{x} {first} {y} {second} {z}",
            "both": f"({x} {first} {y} {self.pick('and', 'or')} {z} {second} {x})",
            "not": f"not ({x} {first} {y})",
            "plain": x,
        }[form]

    # Statements

    def assign(self, depth: int) -> None:
        """A name gets a value; in a branch or a loop its type depends on the path."""
        known = [*self.names]
        text, type_ = self.number(self.pick(1, 2, 3))
        if depth > 1 and not known:
            self.add(depth, "pass")
        elif known and self.pick(True, False, depth > 1):
            name = self.pick(*known)
            if self.pick(True, False):
                op = self.pick("+=", "-=", "*=")
                self.add(depth, f"{name} {op} {text}")
                type_ = types.float64
            else:
                self.add(depth, f"{name} = {text}")
            self.names[name] = type_ if depth == 1 else types.float64
        elif len(known) > 1 and self.pick(True, False):
            x, y = self.random.sample(known, 2)
            self.add(depth, f"{x}, {y} = {y}, {x}")
            self.names[x], self.names[y] = self.names[y], self.names[x]
            if depth > 1:
                self.names[x] = self.names[y] = types.float64
        elif depth == 1:
            self.add(depth, f"v{len(known)} = {text}")
            self.names[f"v{len(known)}"] = type_
        else:
            self.add(depth, "pass")

    def store(self, depth: int) -> None:
        text, type_ = self.number(2)
        if self.complex and self.pick(True, False):
            z, form = self.pick(*self.complex), self.pick("+=", "-=", "*=", "=")
            z = "z" if "z" in self.complex else z
            if z == "z":
                self.add(depth, f"z {form} {self.of_complex(2)}")
                return
        if self.local is not None and self.pick(True, False):
            op = "+=" if isinstance(self.local, types.Float) else "="
            self.add(depth, f"m[{self.pick('0', 'i & 1')}] {op} {self.held(text, type_)}")
            return
        array = "real"
        if not isinstance(type_, types.Float):
            array = self.pick("whole", "positive", "real")
        row, op = self.pick(0, 1, 2), self.pick("=", "=", "+=")
        self.add(depth, f"{array}[{row}, i] {op} {text}")

    def held(self, text: str, type_: Any) -> str:
        """A number that elements of the local array can hold."""
        is_cut = isinstance(type_, types.Float) and not isinstance(self.local, types.Float)
        return self.small(text) if is_cut else text

    def block(self, depth: int, inside: bool = False) -> None:
        for _ in range(self.pick(1, 2)):
            kind = self.pick("assign", "assign", "store", *["if", "for", "while"] * (depth < 3))
            if kind in ("assign", "store"):
                getattr(self, kind)(depth)
                continue
            before = dict(self.names)
            if kind != "if":  # any name may have another type when a trip begins
                self.names = dict.fromkeys(before, types.float64)
            self.count += 1
            name = f"k{self.count}"
            if kind == "if":
                self.add(depth, f"if {self.test(1)}:")
            elif kind == "for":
                trips = self.pick("3", "i % 4", "i, 5", "7, i, -2", "1, 6, 2", "np.uint8(3)")
                over = self.pick(f"range({trips})", f"range({trips})", "TABLE", "ROW[1:]", "a[i:]")
                self.add(depth, f"for {name} in {over}:")
                self.names |= {name: types.float64} if over[0] != "r" else {}
            else:
                self.add(depth, f"{name} = {self.pick('0', 'i')}")
                self.add(depth, f"while {name} < {self.pick('2', '4')}:")
                self.add(depth + 1, f"{name} += 1")
            self.block(depth + 1, inside or kind != "if")
            if (inside or kind != "if") and self.pick(True, False, False):
                self.add(depth + 1, f"if {self.test(1)}:")
                self.add(depth + 2, self.pick("break", "continue", "return"))
            if kind == "if" and self.pick(True, False):
                if self.pick(True, False, False):
                    self.add(depth, f"elif {self.test(1)}:")
                    self.block(depth + 1, inside)
                self.add(depth, "else:")
                self.block(depth + 1, inside)
            elif kind != "if" and self.pick(True, False, False):
                self.add(depth, "else:")
                self.block(depth + 1, inside)
            self.names = {
                one: type_ if self.names[one] is before[one] and kind == "if" else types.float64
                for one, type_ in before.items()
            }

    def body(self) -> str:
        """The statements of the kernel."""
        for _ in range(self.pick(2, 3)):
            self.assign(1)
        if self.complex and self.pick(True, False):
            self.add(1, f"z = {self.of_complex(2)}")
            self.complex.append("z")
        if self.pick(True, False):
            self.add(1, f"p = {self.number(1)[0]}, {self.number(1)[0]}")
            self.tuples.append("p")
        if self.pick(True, False):
            dtype = self.pick(*DTYPES)
            self.add(1, f"m = cuda.local.array(2, numba.{dtype})")
            found, self.local = [self.number(2) for _ in range(2)], getattr(types, dtype)
            for index, one in enumerate(found):
                self.add(1, f"m[{index}] = {self.held(*one)}")
        for _ in range(self.pick(2, 3, 4)):
            self.block(1)
        for row, name in enumerate([*self.names][:3]):
            self.add(1, f"real[{row}, i] += {name}")
        return "\n".join(self.lines) + "\n"

    def array(self, type_: Any) -> Any:
        """Small numbers and those at the ends of a type."""
        if isinstance(type_, types.Complex):
            part = from_dtype(np.dtype(f"f{type_.bitwidth // 16}"))
            return np.stack([self.array(part), self.array(part)], 1).view(type_.name)[:, 0]
        dtype = np.dtype("bool" if type_ == types.boolean else type_.name)
        if dtype.kind == "b":
            return np.array([self.pick(True, False) for _ in range(THREADS)])
        if dtype.kind == "f":
            options = [0.0, -0.0, 1.5, -2.25, 0.1, 1e30, np.inf, np.nan, -7, 3]
        else:
            least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
            options = [0, 1, 2, 3, 7, most, most - 1, least, least + 1, most // 3]
        return np.array([self.pick(*options) for _ in range(THREADS)], dtype)


def same(found: list[Any], right: list[Any]) -> bool:
    """Compare results bit for bit, but for the signs of NaN."""
    return all(
        np.array_equal(x, y, equal_nan=y.dtype.kind == "f")
        and np.array_equal(np.signbit(x[y == 0]), np.signbit(y[y == 0]))
        for x, y in zip(found, right, strict=True)
    )


def plainly(replace: Any) -> None:
    """Let Numba compile integers that wrap around, which it leaves open, and in less time."""
    replace(numbers, "_int_arith_flags", lambda type_: [])
    replace(config, "OPT", type(config.OPT)(0))


class TypedCase:
    """The kernel of a seed, and its arguments."""

    def __init__(self, seed: int, for_card: bool = False) -> None:
        author = Author(seed, for_card)
        self.body = author.body()
        self.arrays = [author.array(type_) for type_ in author.given]

    def function(self, first: str, known: dict[str, Any]) -> Any:
        """The kernel, or the same for one thread."""
        source = f"def kernel({first}{PARAMETERS}):\n    {'' if first else 'i = cuda.grid(1)'}\n"
        body = self.body.replace("cuda.local.array", "np.empty") if first else self.body
        made: Any = define(source + body, "kernel")
        made.__globals__.update(known)
        return made

    @property
    def kernel(self) -> Any:
        """The kernel of numba.cuda."""
        return self.function("", KNOWN)

    def args(self) -> list[Any]:
        """Fresh arguments of a run."""
        results = [np.zeros((3, THREADS), one) for one in (np.int64, np.uint64, np.float64)]
        return [one.copy() for one in (*self.arrays, *results)]

    def on_card(self) -> list[Any]:
        """The results on a GPU, as numba-cuda compiles the kernel."""
        helpers = {one.__name__: cuda.jit(device=True)(one) for one in HELPERS}
        args = self.args()
        cuda.jit(self.function("", KNOWN | helpers))[2, THREADS // 2](*args)
        return args[4:]

    def simulated(self) -> list[Any]:
        """The results of mmsim."""
        program = numba_program(self.kernel)
        sizes: Any = {"grid": 2, "block": THREADS // 2, "engine": "events"}
        run = mm.HMM(2, 4, 5, 3).run(program, *self.args(), schedule="asynchronous", **sizes)
        return [run.arrays[name] for name in ("whole", "positive", "real")]

    def right(self) -> list[Any]:
        """The results of the same function as Numba compiles it, called for each thread."""
        args = self.args()
        given = (types.int64, *map(numba.typeof, args))
        compiled = numba.njit(given, **ONLY)(self.function("i, ", COMPILED))
        for i in range(THREADS):
            compiled(i, *args)
        return args[4:]
