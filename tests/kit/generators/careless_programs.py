"""Random programs full of mistakes: races, divergent barriers, waits without end, syncs left out.

Few of them end as meant. Arrays are small, so that threads meet at their elements.
"""

from __future__ import annotations

import random

import numpy as np

from tests.kit.generators.random_programs import RandomCase, RefDMM, RefHMM, RefUMM

SIZE = 4
PLACES = (
    *("T.id % 4", "T.index % 4", "T.lane % 4", "T.block % 4", "T.warp % 4", "0", "1"),
    *("(T.id + 1) % 4", "T.id // 2 % 4", "x % 4", "T.id"),
)
TESTS = (
    *("T.id % 2 == 0", "T.id % 3 == 1", "T.index == 0", "T.id > 2", "T.lane < 2", "T.block == 0"),
    *("T.warp % 2 == 0", "x % 2 == 0", "T.id < 5", "T.index % 2 == 1"),
)
VALUES = "T.id", "1", "x", "x + 1", "T.block", "7", "T.lane"
LANES = "0", "T.lane", "(T.lane + 1) % 2"
TRIPS = "2", "3", "T.id % 3"
ATOMICS = (
    *("mm.atomic.add({}, 1)", "x = mm.atomic.add({}, 1)", "x = mm.atomic.exch({}, x)"),
    *("x = mm.atomic.cas({}, 0, 1)", "mm.atomic.max({}, T.id)", "x = mm.atomic.max({}, x)"),
)
WAITS = (
    *("while {} == 0:", "while {} < 2:", "while x < 4:"),
    *("while mm.atomic.cas({}, 0, 1) != 0:", "while mm.atomic.exch({}, 1) == 1:"),
)
TYPES = "int64", "int32", "uint8", "uint64", "float16", "float32", "float64", "complex64", "bool"


class Careless:
    """Writes statements at random."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.pick = draw.choice
        self.loops = 0

    def element(self) -> tuple[str, str]:
        """An element as it is written, and as the first operands of an atomic."""
        array, place = self.pick("abss"), self.pick(PLACES)
        return f"{array}[{place}]", f"{array}, {place}"

    def block(self, depth: int) -> list[str]:
        """Up to three statements, indented."""
        lines = [line for _ in range(self.draw.randint(1, 3)) for line in self.statement(depth)]
        return [f"    {line}" for line in lines]

    def statement(self, depth: int) -> list[str]:
        """A statement with at most so many levels of others inside."""
        one, operands = self.element()
        simple = [
            *[[f"x = {one}"], [f"{one} = {self.pick(VALUES)}"]] * 5,
            *[[f"{one} += {self.pick(VALUES)}"], [self.pick(ATOMICS).format(operands)]] * 3,
            [f"{one} = max({one}, {self.pick(VALUES)})"],
            [f"x = {one}", f"{one} = x + 1"],
            *[["T.barrier()"], ["mm.warp.sync()"]] * 2,
            ["T.grid_barrier()"],
            [f"x = mm.warp.shuffle(x, {self.pick(LANES)})"],
            *[["return"], [f"x = 12 // {one}"], ["x = y"]],
        ]
        if depth == 0 or self.draw.random() < 0.7:
            return self.pick(simple)
        return self.pick([self.branch, self.branch, self.trips, self.wait])(depth - 1)

    def branch(self, depth: int) -> list[str]:
        lines = [f"if {self.pick(TESTS)}:", *self.block(depth)]
        return [*lines, "else:", *self.block(depth)] if self.draw.random() < 0.4 else lines

    def trips(self, depth: int) -> list[str]:
        self.loops += 1
        return [f"for i{self.loops} in range({self.pick(TRIPS)}):", *self.block(depth)]

    def wait(self, depth: int) -> list[str]:
        one, operands = self.element()
        test = self.pick(WAITS)
        lines = [test.format(operands if "atomic" in test else one)]
        lines += self.block(depth) if self.draw.random() < 0.5 else ["    pass"]
        lines += ["    x += 1"] * ("x < 4" in test)
        return [*lines, *self.statement(0), f"{one} = 0"] if "atomic" in test else lines


def careless_case(number: int) -> RandomCase:
    """A program; each number gives another one."""
    draw = random.Random(number)
    author = Careless(draw)
    count = draw.randint(2, 6)
    body = ["s = mm.shared(4, dtype=int)", "x = T.id", "if T.id < 6:", "    y = 1"]
    body += [line for _ in range(count) for line in author.statement(2)]
    source = "\n".join(["def program(T, a, b):", *[f"    {line}" for line in body], ""])
    width, latency = draw.choice([1, 2, 4]), draw.randint(1, 5)
    machines = RefDMM(width, latency), RefUMM(width, latency), RefHMM(2, width, latency, 1)
    threads = draw.choice([4, 6, 8, 12, 16])
    block_size = draw.choice([threads, threads // 2, 3, 4])
    shape = None
    if threads % block_size == 0 and block_size % 2 == 0 and draw.random() < 0.2:
        shape = (threads // block_size, 1, 1), (block_size // 2, 2, 1)
    other = draw.choice(TYPES) if draw.random() < 0.3 else "int64"
    words = [[draw.randint(0, 3) for _ in range(SIZE)] for _ in "ab"]
    args = [np.array(words[0]), np.array(words[1]).astype(other)]
    return RandomCase(source, "program", draw.choice(machines), args, threads, block_size, shape)
