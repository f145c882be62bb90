"""Random kernels in the language of numba.cuda, whose threads don't race and never leave arrays.

A thread writes its own column of `out` and its own word of shared arrays, and reads those of others
behind a barrier. Words of `count` are changed by one kind of atomic operation, and not read. The
kernel's text is written by an `Author`, who knows of each number whether it is an integer with a
sign ("i") or without one ("u"), or a float ("f"): no float is cut off that an integer can't hold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from tests.kit.generators.random_programs import define

INTEGERS = ("bool", "int8", "int32", "int64", "uint8", "uint32", "uint64")
FLOATS = ("float32", "float64")
EXTENT = 16
"""Elements of the arrays that are read."""
ROWS = 6
"""Words that each thread has in `out`."""
HEAD = """\
import numba
from numba import cuda


def kernel(x, y, n, out, count):
    i = cuda.grid(1)
    t = cuda.threadIdx.x
"""


@dataclass
class NumbaCase:
    """A kernel, its arguments, and the sizes of its launch."""

    source: str
    args: tuple
    grid: int
    block: int

    @property
    def python(self):
        """The kernel as a function."""
        return define(self.source, "kernel")

    @property
    def sizes(self):
        """The number of threads, as `Machine.run` takes it."""
        return {"grid": self.grid, "block": self.block}

    def __repr__(self):
        return f"{self.source}\n{self.args}\n{self.sizes}"


def kind_of(dtype):
    """The kind of an array's elements; a bool counts as an integer with a sign."""
    return {"b": "i"}.get(np.dtype(dtype).kind, np.dtype(dtype).kind)


class Author:
    """Writes one kernel; `draw` draws from a strategy."""

    def __init__(self, draw):
        self.draw = draw
        self.lines = []
        self.variables = {}
        self.readable = {}
        self.loops = 0

    def pick(self, *options):
        return self.draw(st.sampled_from(options))

    def number(self, low, high):
        return self.draw(st.integers(low, high))

    def add(self, depth, line):
        self.lines.append("    " * depth + line)

    # Expressions, with their kinds

    def leaf(self):
        name = self.pick("literal", "thread", "array", "variable", "array", "variable")
        if name == "array":
            array = self.pick(*self.readable)
            return f"{array}[{self.index(*self.readable[array])}]", self.readable[array][0]
        if name == "variable" and self.variables:
            found = self.pick(*self.variables)
            return found, self.variables[found]
        if name == "thread":
            return self.pick(("i", "i"), ("t", "i"), ("cuda.blockDim.x", "i"), ("n", self.n))
        return self.pick(
            *(("0", "i"), ("1", "i"), ("-2", "i"), ("3", "i"), ("numba.int64(2**63 - 1)", "i")),
            *(("0.5", "f"), ("-3.0", "f"), ("1e300", "f"), ("numba.float32(0.1)", "f")),
            *(("numba.int32(-7)", "i"), ("numba.uint8(200)", "u"), ("numba.uint32(5)", "u")),
        )

    def index(self, kind, extent):
        """An index of an array: from its beginning, or from its end."""
        if kind is None:  # of a shared array, whose other words this thread may read
            kind = "i"
        place = f"({self.of('i', 1)}) % {extent}"
        return self.pick(place, f"-1 - {place}")

    def expression(self, depth):
        """A number and its kind."""
        if depth <= 0:
            return self.leaf()
        form = self.pick("leaf", "sum", "sum", "quotient", "bits", "shift", "choice", "one", "cast")
        if form == "leaf":
            return self.leaf()
        if form == "one":
            return self.one(depth)
        if form == "cast":
            text = self.of(self.pick("i", "u"), depth - 1)
            name = self.pick("int32", "uint32", "int64", "uint64", "int8")
            return f"numba.{name}({text})", "u" if name[0] == "u" else "i"
        if form == "bits":
            (x, one), (y, other) = (self.whole(depth - 1) for _ in range(2))
            return f"({x} {self.pick('&', '|', '^')} {y})", "u" if one == other == "u" else "i"
        if form == "shift":
            x, kind = self.whole(depth - 1)
            return f"({x} {self.pick('<<', '>>')} ({self.of('i', depth - 1)} & 7))", kind
        (x, one), (y, other) = (self.expression(depth - 1) for _ in range(2))
        if form == "choice":
            if one != other:
                y, other = self.of(one, depth - 1), one
            if self.pick(True, False):
                return f"({x} if {self.test(depth - 1)} else {y})", one
            return f"{self.pick('min', 'max')}({x}, {y})", one
        kind = "f" if "f" in (one, other) else "u" if one == other == "u" else "i"
        if form == "sum":
            return f"({x} {self.pick('+', '-', '*')} {y})", kind
        op = self.pick("/", "//", "%")
        return f"({x} {op} {y})", "f" if op == "/" else kind

    def one(self, depth):
        """An operation on one number."""
        x, kind = self.expression(depth - 1)
        if kind == "f":
            return self.pick(f"(-{x})", f"abs({x})", f"numba.float32({x})", f"({x} ** 2)"), "f"
        return self.pick(f"(-({x}))", f"abs({x})", f"(~({x}))", f"({x} ** 3)"), kind

    def whole(self, depth):
        """An integer and its kind."""
        x, kind = self.expression(depth)
        if kind != "f":
            return f"numba.int64({x})" if kind == "i" else f"numba.uint64({x})", kind
        return self.leaf_of("i"), "i"

    def leaf_of(self, kind):
        """A number of a kind, without an operation."""
        x, found = self.leaf()
        if found == kind:
            return x
        if kind == "f":
            return f"numba.float64({x})"
        return f"numba.{'uint64' if kind == 'u' else 'int64'}({'t' if found == 'f' else x})"

    def of(self, kind, depth):
        """A number of a kind."""
        x, found = self.expression(depth)
        if found == kind:
            return x
        return f"numba.float64({x})" if kind == "f" else self.leaf_of(kind)

    def test(self, depth):
        """Something that is true or false."""
        (x, _), (y, _) = (self.expression(depth) for _ in range(2))
        plain = f"{x} {self.pick('<', '<=', '==', '!=', '>')} {y}"
        return self.pick(plain, f"not ({plain})", f"({plain}) and {self.leaf()[0]} > 1")

    # Statements

    def assign(self, depth, name=None):
        """A variable that keeps its kind is given a number."""
        if name is None and self.variables and self.pick(True, False):
            name = self.pick(*self.variables)
            kind = self.variables[name]
            if kind != "u" and self.pick(True, False):
                op = self.pick("+", "-", "*")
                self.add(depth, f"{name} {op}= {self.of(kind, 2)}")
                return
        else:
            kind = self.pick("i", "u", "f")
            name = f"v{len(self.variables)}"
        text = self.of(kind, 3)
        if depth == 1:
            self.variables[name] = kind
        elif name not in self.variables:
            return
        self.add(depth, f"{name} = {text}")

    def store(self, depth):
        """A word of this thread's own."""
        row = self.number(-ROWS, ROWS - 1)
        column = self.pick("i", "i - out.shape[1]")
        kind = kind_of(self.out)
        text = self.of("f", 3) if kind == "f" else self.pick(*"iu") and self.whole(3)[0]
        self.add(depth, f"out[{row}, {column}] {self.pick('=', '+=')} {text}")

    def block(self, depth):
        """A few statements, which hold no barrier."""
        for _ in range(self.number(1, 2)):
            form = self.pick("assign", "store", "if", "for", "atomic")
            if form == "assign":
                before = len(self.lines)
                self.assign(depth)
                if len(self.lines) == before:
                    self.add(depth, "pass")
            elif form == "store" or depth > 2:
                self.store(depth)
            elif form == "atomic":
                place = self.pick("-1", f"({self.of('i', 1)}) % count.size")
                self.add(depth, f"cuda.atomic.{self.atomic}(count, {place}, {self.whole(2)[0]})")
            elif form == "if":
                self.add(depth, f"if {self.test(2)}:")
                self.block(depth + 1)
                if self.pick(True, False):
                    self.add(depth, "else:")
                    self.block(depth + 1)
            else:
                name = f"k{self.loops}"
                self.loops += 1
                self.add(depth, f"for {name} in range({self.of('i', 1)} % 4):")
                self.block(depth + 1)

    def exchange(self, number, block):
        """A shared array that every thread writes its own word of, and reads behind a barrier."""
        dtype = self.pick("int32", "uint32", "int64", "float32", "float64")
        kind, name = kind_of(dtype), f"s{number}"
        self.add(1, f"{name} = cuda.shared.array({block}, numba.{dtype})")
        self.add(1, f"{name}[{self.pick('t', f't - {block}')}] = {self.of(kind, 3)}")
        self.add(1, "cuda.syncthreads()")
        self.readable[name] = kind, block

    def case(self):
        """The kernel and its arguments."""
        block, grid = self.pick(4, 6, 8), self.pick(1, 2)
        dtypes = [self.pick(*INTEGERS, *FLOATS) for _ in range(2)]
        self.out = self.pick("int32", "int64", "uint32", "float32", "float64")
        self.n, n = self.pick(
            *(("i", 3), ("i", np.int32(-5)), ("u", np.uint32(9)), ("f", np.float32(0.25)))
        )
        counts = self.pick("int32", "int64", "uint32")
        self.atomic = self.pick("add", "sub", "max", "min", "xor")
        for name, dtype in zip("xy", dtypes, strict=True):
            self.readable[name] = kind_of(dtype), EXTENT
        for number in range(self.number(1, 3)):
            self.assign(1)
            if self.pick(True, False):
                self.exchange(number, block)
            self.block(1)
        self.store(1)
        source = HEAD + "\n".join(self.lines) + "\n"
        args = (
            *(self.array(dtype) for dtype in dtypes),
            n,
            np.zeros((ROWS, grid * block), self.out),
            np.zeros(3, counts),
        )
        return NumbaCase(source, args, grid, block)

    def array(self, dtype):
        """Small numbers and some at the ends of the type."""
        random = np.random.default_rng(self.number(0, 1000))
        found = random.integers(-9, 10, EXTENT)
        if dtype in FLOATS:
            found = found / 4
            found[:3] = np.inf, -0.0, np.nan
            return random.permutation(found).astype(dtype)
        if dtype == "bool":
            return found > 0
        found = found.astype(dtype)
        found[:2] = np.iinfo(dtype).min, np.iinfo(dtype).max
        return random.permutation(found)


@st.composite
def numba_cases(draw):
    """Random kernels with their arguments."""
    return Author(draw).case()
