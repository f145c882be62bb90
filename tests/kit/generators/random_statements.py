"""Random kernels of integers whose statements Python runs, too, thread by thread.

Loops, branches, jumps, functions with several results; names that change where something still
needs their old value: numbers, tuples, arrays, ranges. No thread reads what another one writes.
"""

from __future__ import annotations

import random
import warnings
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np

from mmsim import cuda
from tests.kit.generators.random_programs import define


def first(a: Any, b: Any) -> Any:
    for k in range(3):
        if a > b:
            return k + a
        a += 2
    return b


def rest(a: Any, b: Any = 2) -> Any:
    while a > 5:
        a -= 4
        if a == b:
            break
    else:
        return a * b
    return a - 1


def turned(a: Any, b: Any) -> Any:
    if a < b:
        a, b = b, a
    return a, b - 1


def one_of(a: Any, b: Any, n: Any) -> Any:
    if n > 1:
        return a
    return b


def total(a: Any, n: Any) -> Any:
    found = 0
    for k in range(len(a)):
        if k == n:
            return found
        found += a[k]
    return found


def put(a: Any, n: Any) -> None:
    for k in range(len(a)):
        if a[k] == n:
            break
        a[k] = n


HELPERS = first, rest, turned, one_of, total, put
BEGIN = """
i = cuda.grid(1)
d = rows[i]
x, y, z = 0, n, i
w = (x, z)
e = ((x, y), z)
q = d
c, p = b[i, 2:], b[i, 4:]
r = (q, c)
m = cuda.local.array(5, numba.int64)[::1]
for k in range(5): m[k] = k
r2, sl = range(2, 4), slice(1, None)
"""
NUMBERS = (
    *("x", "y", "z", "x", "y", "z", "i", "n", "1", "2", "-1", "3", "len(q)", "w[0]", "w[1]"),
    *("q[0]", "q[-1]", "b[i, 0]", "p[0]", "c.shape[0]", "e[0][1]", "r[1][0]"),
)
OF_TWO = (
    *("({0} + {1})", "({0} - {1})", "({0} * {1})", "({0} % 3)", "({0} % 5)", "abs({0})"),
    *("({0} if {2} else {1})", "min({0}, {1})", "max({0}, {1})", "first({0}, {1})"),
    *("rest({0}, {1})", "turned({0}, {1})[0]", "turned({0}, {1})[1]", "total(q[1:], {0})"),
)
TESTS = (
    *("{0} < {1}", "{0} == {1}", "{0} < {1} <= {2}", "not {0} > {1}", "({0} % 3 or {1} > 2)"),
    "({0} < {1} and {2} != {0})",
)
STATEMENTS = (
    *("{a} = {0}", "{a} = {0}", "{a} += {0}", "{a} -= {0}", "b[i, 0] += {0}", "b[i, 1] = {0}"),
    *("p[0] = {0}", "c[0] = {0}", "m[{s}] = {0}", "{a} = m[{s}]", "{a}, {b} = {b}, {a}"),
    *("{a}, {b} = {0}, {1}", "{a}, {b} = w", "{a}, {b} = turned({0}, {1})", "{a} = {b} = {0}"),
    *("x, y, z = z, x, y", "w = ({0}, {1})", "w = w[::-1]", "w = (w[1], x)", "w = turned(y, z)"),
    *("e = ((w[0], {0}), z)", "e = (e[0][::-1], x)", "(x, y), z = e", "w = e[0]"),
    *("q = d[{s}:]", "q = c[1:]", "q = d[:3]", "q = d[::-1]", "q = d[::2]", "q = c", "q = m"),
    *("q = c if {t} else d", "c = b[i, {s}:]", "c = b[i, 2:8:2]", "p = b[i, 1:-1]", "q = b[i]"),
    *("r = (q, c)", "r = r[::-1]", "q, c = r", "q = r[0]", "r = (c, d) if {t} else (d, q)"),
    *("q = one_of(q, c, {0})", "c = one_of(d, c, {0})", "y = total(one_of(q, d, x), y)"),
    *("put(m, y)", "put(c, x)", "q = b[i:i+1].T[:, 0]", "r2 = range({s}, 4)", "x = len(r2)"),
    *("sl = slice({s}, None)", "q = d[sl]", "c = b[i, sl]", "z = (x, y, 3)[{s} % 3]"),
    *("if {t}: {a} = {0}", "{a} = divmod({0}, 3)[0]"),
)
LOOPS = (
    *("{a} in range({s})", "k in range({s}, 5)", "k in range(3, {s}, -1)", "{a} in r2", "k in q"),
    *(
        "{a} in q[1:]",
        "{a} in c[{s}:]",
        "{a} in w",
        "{a} in (x, y)",
        "k in p",
        "k, x in enumerate(q)",
    ),
    *("y, z in zip(q, c)", "x, k in zip(range(x % 3), w)", "k, y in enumerate(w)"),
)
JUMPS = "break", "continue", "return"


class Statements:
    """The statements of a seed. A loop `while` has at most three trips each time."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.loops = 0
        self.lines = self.block(3, False)

    def written(self, forms: tuple[str, ...], depth: int) -> str:
        """A form with numbers, a test and names."""
        form = self.random.choice(forms)
        numbers = [self.number(depth) if f"{{{n}}}" in form else "" for n in range(2)]
        third = self.random.choice(NUMBERS)
        has_test = "{t}" in form or (forms is OF_TWO and "{2}" in form)
        test = self.written(TESTS, 0) if has_test else third
        names = self.random.sample("xyz", 2)
        small = f"({self.random.choice(NUMBERS)}) % 4"
        return form.format(*numbers, test, a=names[0], b=names[1], s=small, t=test)

    def number(self, depth: int) -> str:
        if depth <= 0 or self.random.random() < 0.35:
            return self.random.choice(NUMBERS)
        return self.written(OF_TWO, depth - 1)

    def block(self, depth: int, in_loop: bool) -> list[str]:
        found: list[str] = []
        for _ in range(self.random.choice((1, 2, 3, 4))):
            kinds = ("one", "one", "one", "if", "for", "while", "jump")[: 7 if depth else 3]
            kind = self.random.choice(kinds)
            if kind == "one":
                found.append(self.written(STATEMENTS, 2))
            elif kind == "jump":
                found.append(self.random.choice(JUMPS if in_loop else JUMPS[2:]))
                break
            else:
                found += self.nested(kind, depth - 1, in_loop)
        return found

    def nested(self, kind: str, depth: int, in_loop: bool) -> list[str]:
        begin, head, more = [], f"if {self.written(TESTS, 1)}:", []
        if kind == "while":
            self.loops += 1
            begin, more = [f"u{self.loops} = 0"], [f"u{self.loops} += 1"]
            head = f"while u{self.loops} < {self.random.randrange(1, 4)}:"
        elif kind == "for":
            head = f"for {self.written(LOOPS, 1)}:"
        lines = [*more, *self.block(depth, in_loop or kind != "if")]
        found = [*begin, head, *(f"    {line}" for line in lines)]
        if self.random.random() < 0.35:
            found += ["else:", *(f"    {line}" for line in self.block(depth, in_loop))]
        return found


def compare(lines: list[str]) -> None:
    """Assert that a kernel leaves in each thread's rows what Python does."""
    body = [*BEGIN.split("\n"), *lines, "b[i, 0] += x * 3 + y * 5 + z * 7 + w[0]"]
    text = "\n".join(f"    {line}" for line in body)
    kernel = define(f"def kernel(b, rows, n):\n{text}\n", "kernel")
    # each row is every other word, so that all arrays have one layout for Numba
    both = [[np.arange(80).reshape(4, 20) * by % 6 for by in (1, 7)] for _ in range(2)]
    found, right = ([one[:, ::2] for one in arrays] for arrays in both)
    known = kernel.__globals__
    known |= {"numba": numba} | {one.__name__: one for one in HELPERS}
    local = SimpleNamespace(array=lambda count, _: np.zeros(count, int))
    for i in range(4):
        known["cuda"] = SimpleNamespace(grid=lambda _, own=i: own, local=local)
        kernel(*right, 2)
    known |= {"cuda": cuda} | {one.__name__: cuda.jit(device=True)(one) for one in HELPERS}
    with warnings.catch_warnings(action="ignore"):
        cuda.jit(kernel)[2, 2](*found, 2)
    for one, other in zip(found, right, strict=True):
        assert (one == other).all(), text
