"""Random nestings of loops, branches and jumps leave what Python does, thread by thread.

Loops without a second trip are among them: Numba joins the head of such a loop with the block
before it, which may be the head of another loop.
"""

from __future__ import annotations

import random
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from mmsim import cuda
from tests.kit.generators.draws import draws
from tests.kit.generators.random_programs import define

HEADS = "range(i, n)", "d[n:]", "range(3)", "enumerate(d[:2])"
JUMPS = "break", "continue", "return"


class Nesting:
    """The statements of a seed. A loop `while` has at most three trips in all."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = self.block(4, 0)

    def inner(self, head, lines):
        return [head, *(f"    {line}" for line in lines)]

    def block(self, depth, loops):
        found = []
        for _ in range(self.random.choice((1, 1, 2))):
            kinds = ("mark", "jump", "if", "for", "for", "while") if depth else ("mark", "jump")
            kind = self.random.choice(kinds)
            if kind == "mark":
                found.append(f"b[i, 0] += {self.random.randrange(1, 9)}")
            elif kind == "jump":
                found.append(self.random.choice(JUMPS if loops else JUMPS[2:]))
                break
            else:
                found += self.nested(kind, depth, loops)
        return found

    def nested(self, kind, depth, loops):
        head = f"if b[i, 0] % {self.random.randrange(2, 5)} < 2:"
        body = self.block(depth - 1, loops + (kind != "if"))
        if kind == "while":
            head, body = f"while b[i, {loops + 1}] < 3:", [f"b[i, {loops + 1}] += 1", *body]
        elif kind == "for":
            head = f"for k{loops} in {self.random.choice(HEADS)}:"
        found = self.inner(head, body)
        if self.random.random() < 0.4:
            found += self.inner("else:", self.block(depth - 1, loops))
        return found


def check(lines):
    text = "\n".join(f"    {line}" for line in ("i = cuda.grid(1)", *lines, "b[i, 0] += 1000"))
    kernel = define(f"def kernel(b, d, n):\n{text}\n", "kernel")
    found, right, d = np.zeros((4, 6), int), np.zeros((4, 6), int), np.arange(6)
    for i in range(4):
        kernel.__globals__["cuda"] = SimpleNamespace(grid=lambda _, own=i: own)
        kernel(right, d, 2)
    kernel.__globals__["cuda"] = cuda
    with warnings.catch_warnings(action="ignore"):
        cuda.jit(kernel)[2, 2](found, d, 2)
    assert (found == right).all(), text


@pytest.mark.parametrize("seed", range(draws(40)))
def test_a_nesting_leaves_what_python_does(seed):
    check(Nesting(seed).lines)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1000, 4000))
def test_many_nestings_leave_what_python_does(seed):
    check(Nesting(seed).lines)


LOOP = "for k in d[n:]:"
ELSE = "    else:", "        break"
OUTER = "while b[i, 1] < 3:"


@pytest.mark.parametrize(
    "lines",
    [
        ["b[i, 1] += 1", LOOP, "    return"],
        ["b[i, 1] += 1", LOOP, "    b[i, 0] += 1", "    break"],
        ["b[i, 1] += 1", LOOP, "    b[i, 0] += 1", "    break", "else:", "    continue"],
        ["b[i, 1] += 1", "for j in range(n):", f"    {LOOP}", "        continue", *ELSE],
        [LOOP, "    break", "b[i, 1] += 1"],
    ],
)
def test_a_loop_without_a_second_trip_begins_anew_in_each_trip_around_it(lines):
    check([OUTER, *(f"    {line}" for line in lines)])
