"""Random programs with symbols for their sizes, and what their cost is in numbers.

The arrays are large, so that most indices are in range; a launch with one that isn't is left out.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from random import Random

import numpy as np
import sympy

import mmsim as mm
from mmsim.claims.claim import symbols_of
from mmsim.claims.launch import SymbolicLaunch
from mmsim.proof.domain import domain, holds
from mmsim.proof.launched import executed
from mmsim.proof.prove import leaves, possible
from tests.kit.generators.random_programs import define

EXTENT = 3000
LEAST = "-9"
HELPERS = """\
def rest(x, y):
    z = y - x
    return z - 1
def half(x):
    y = x // 2
    return y
"""
DOMAINS = (
    ("n", "m", [], lambda n, m: True),
    ("n", "m", ["m divides n"], lambda n, m: n % m == 0),
    ("n", "m", ["n is a power of two"], lambda n, m: n & (n - 1) == 0),
    ("n", "m", ["n and m are powers of two", "m <= n"], lambda n, m: n & (n - 1) == m & (m - 1) == 0 and m <= n),
    ("n", "m", ["m <= n"], lambda n, m: m <= n),
    ("n", "m", ["n is a square"], lambda n, m: sympy.integer_nthroot(n, 2)[1]),
)  # fmt: skip


class Author:
    """Writes the text of a program called `made`; `size` bounds its statements."""

    def __init__(self, random, shared, width, plain):
        self.random, self.shared, self.width = random, shared, width
        self.plain = plain
        self.count = 0
        self.variables = []
        self.loops = 0

    def pick(self, *options):
        return self.random.choice(options)

    def leaf(self):
        own = self.variables * (1 if self.plain else 2)
        more = [] if self.plain else ["T.warp", "T.count", "T.block_size", "m", "T.block"]
        return self.pick(
            "T.id", "T.index", "T.lane", "n", "m", "1", "2", "T.id", "T.warp", *more, *own
        )

    def number(self, depth=2):
        """An expression."""
        if depth == 0 or self.pick(0, 0, 1):
            return self.leaf()
        if self.plain:
            x, y = self.number(depth - 1), self.leaf()
            w = self.width
            return self.pick(f"({x} + {y})", f"({x} + {y})", f"{self.pick(2, 3, w, w, 2 * w)} * {x}", f"(n - 1 - {x})",
                             f"{x} // {self.pick(w, 2, 2 * w)}", f"{x} % {self.pick(w, 2, 2 * w, 'n')}", f"({x} + n)", f"{x} * n",
                             f"({x} ^ 1)", f"({x} & {self.pick(1, 2, w - 1)})")  # fmt: skip
        x, y = self.number(depth - 1), self.number(depth - 1)
        small = self.pick("2", "3", "4", str(self.width), str(2 * self.width), "5")
        positive = self.pick(small, small, "n", "m")
        return self.pick(
            f"({x} + {y})", f"({x} + {y})", f"({x} - {y})", f"{small} * {x}", f"({x} * {y})", f"{x} // {positive}",
            f"{x} % {positive}", f"min({x}, {y})", f"max({x}, {y})", f"({x} << 1)", f"({x} >> 1)",
            f"({x} & {small})", f"({x} ^ {small})", f"({x} | 1)", f"({x} if {self.test(depth - 1)} else {y})",
            f"half({x})", f"({x} - {x} % {small})", f"({x} // {small} * {small})", f"{x} // -{small}", f"({x} & -{small})",
            f"rest({x}, {y})", f"(-{x})", f"{x} % -{small}",
        )  # fmt: skip

    def test(self, depth=1):
        x, y = self.number(depth), self.number(min(depth, 1))
        if self.plain:
            y = self.pick("n", "m", "2", y)
            x = self.pick("T.id", "T.index", x)
            return self.pick(f"{x} < {y}", f"{x} < {y}", f"{x} >= {y}", f"{x} == {y}", f"T.lane < {self.pick(1, 2, 3)}", "T.lane % 2 == 1",
                             "T.warp % 2 == 0", "T.block % 2 == 0", "T.block < m", f"{x} == {y} or T.lane == 0")  # fmt: skip
        return self.pick(
            f"{x} < {y}", f"{x} < {y}", f"{x} >= {y}", f"{x} == {y}", f"{x} % 2 == 0", f"T.lane < {self.pick(1, 2, 3)}",
            "T.lane % 2 == 1", f"{x} != {y}", f"{x} < {y} and T.lane != 1", f"not {x} <= {y}", f"T.warp < {y}",
            f"T.id < {y} or {x} == 1", f"T.block < {y}", f"T.block % 2 == {self.pick(0, 1)}", "T.warp % 2 == 0", f"{x}",
        )  # fmt: skip

    def array(self):
        return self.pick("a", "b", *["s"] * 2 * self.shared)

    def access(self):
        array, x = self.array(), self.number(self.pick(1, 2, 2))
        return self.pick(
            f"{array}[{x}] = T.id", f"{array}[{x}] = T.id", f"{self.name('v')} = {array}[{x}]",
            f"{array}[{x}] += 1", f"mm.atomic.add({array}, {x}, 1)", f"mm.vector({array}, 2)[{x}] = 1, 2",
        )  # fmt: skip

    def name(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    def block(self, size, inner=0):
        """Some statements, with an access at the end."""
        lines, kept = [], list(self.variables)
        for _ in range(self.random.randint(0, size)):
            lines += self.statement(inner)
        self.variables = kept
        return [*lines, self.access()]

    def statement(self, inner):
        own = [one for one in self.variables if one[0] == "x"]
        ways = ["access", "access", "set", "if", "barrier"]
        if inner < 2:
            ways += ["for", "for", "while"] * (2 - inner)
        if own:
            ways += ["change", "change", "rename"]
        if self.loops:
            ways += ["swap"] + ["leave"] * (self.pick(0, 0, 0, 1))
        if inner == 0:
            ways += ["set"]
        way = self.pick(*ways)
        if way == "access":
            return [self.access()]
        if way == "barrier":
            return ["T.barrier()"] if inner == 0 and not self.loops else [self.access()]
        if way == "set":
            lines = [f"{self.name('x')} = {self.number()}"]
            self.variables.append(lines[0].split()[0])
            return lines
        if way == "change":
            x = self.pick(*own)
            return [
                self.pick(f"{x} += {self.number(1)}", f"{x} = 1 - {x}", f"{x} = {self.number()}", f"{x} -= {self.leaf()}",
                          f"{x} //= 2", f"{x} *= 2", f"{x} += 1", f"{x} = half({x})", f"{x} = ({x} + 1) // 2")
            ]  # fmt: skip
        if way == "rename":
            x, y = self.pick(*own), self.pick(*own)
            return [self.pick(f"{x}, {y} = {y}, {x}", f"{x} = {y}", f"{x}, {y} = {y}, {y} // 2")]
        if way == "swap":
            return ["a, b = b, a"]
        if way == "leave":
            return [f"if {self.test()}:", f"    {self.pick('break', 'continue', 'return')}"]
        if way == "if":
            lines = [f"if {self.test()}:", *indented(self.block(2, inner))]
            if self.pick(0, 1):
                lines += ["else:", *indented(self.block(1, inner))]
            return lines
        self.loops += 1
        if way == "for":
            i = self.name("i")
            x, y = (
                self.number(1),
                self.pick("n", "m", "3", "2", *[self.number(1)] * (1 - self.plain)),
            )
            x = self.pick("0", "1", "T.id") if self.plain else x
            header = self.pick(f"range({y})", f"range({y})", f"range({x}, {y})", f"range({x}, {y}, {self.pick(2, 3, 'm', 'T.block_size')})",
                               f"range({y}, -1, -1)", f"range(T.id, {y}, T.count)")  # fmt: skip
            kept = list(self.variables)
            self.variables.append(i)
            body = self.block(3, inner + 1)
            self.variables = kept
            lines = [f"for {i} in {header}:", *indented(body)]
        else:
            x = self.name("x")
            self.variables.append(x)
            start, test, step = self.pick(
                (self.pick("n", "m", "8", "n // 2", "T.count"), f"{x} > {self.pick(0, 0, 1, 2)}", self.pick(f"{x} //= 2", f"{x} = half({x})", f"{x} >>= 1")),
                ("1", f"{x} < {self.pick('n', 'm', '9', 'T.count')}", self.pick(f"{x} *= 2", f"{x} = 2 * {x}", f"{x} <<= 1")),
                (self.pick("0", "T.id", "m"), f"{x} < {self.pick('n', 'm', '9', 'T.count')}", f"{x} += {self.pick(1, 2, 3, 'm', 'T.block_size')}"),
                (self.pick("n", "m", "7"), f"{x} >= {self.pick(1, 2)}", f"{x} -= {self.pick(1, 2, 'm')}"),
                (self.pick("n", "m", "9"), f"{x} > 1", f"{x} = ({x} + 1) // 2"),
                ("0", f"rest({x}, n) >= 0", f"{x} += 1"),
            )  # fmt: skip
            kept = list(self.variables)
            body = self.block(2, inner + 1)
            self.variables = kept
            body.insert(self.random.randint(0, 1) * len(body), step)
            lines = [f"{x} = {start}", f"while {test}:", *indented(body)]
        self.loops -= 1
        return lines


def indented(lines):
    return [f"    {line}" for line in lines]


@dataclass
class SizedCase:
    """A program, its launch, and the domain of its sizes."""

    source: str
    launch: SymbolicLaunch
    names: list[str]
    sentences: list[str]
    belongs: object

    def __str__(self):
        launch = self.launch
        return f"{self.source}{launch.machine}, threads={launch.threads}, block_size={launch.block_size}, {self.sentences}"

    def numbers(self, most):
        """The points of the domain with no larger number."""
        for point in product(range(1, most + 1), repeat=len(self.names)):
            numbers = dict(zip(self.names, point, strict=True))
            if self.belongs(numbers.get("n", 1), numbers.get("m", 1)):
                yield numbers


def sized_case(seed):
    """A random case."""
    random = Random(seed)
    width = random.choice((1, 2, 2, 3, 4, 4))
    n, m, k, l, d, L = symbols_of("nmkldL").values()
    kind = random.choice(("DMM", "UMM", "HMM", "HMM"))
    block = random.choice((width * m, width * k, width, 2 * width, k, m, 3, n, 3 * width))
    blocks = (
        random.choice((1, k if block.has(k) is False else m, 2, 3, d))
        if isinstance(block, sympy.Expr)
        else random.choice((1, k, 2, m, n, 3))
    )
    if kind == "HMM":
        dmms = random.choice((d, 2, 3, 1))
        machine = mm.HMM(dmms, width, L, random.choice((l, 1)))
    else:
        blocks = random.choice((1, 1, blocks))
        machine = getattr(mm, kind)(width, l)
    *_, sentences, belongs = random.choice(DOMAINS)
    sentences_text = " ".join(sentences)
    author = Author(random, kind == "HMM", width, random.random() < 0.8)
    lines = ["s = mm.shared(900, dtype=mm.int64)"] * (kind == "HMM")
    lines += author.block(3 if author.plain else 5)
    source = "".join(
        f"{line}\n"
        for line in [
            *HELPERS.splitlines(),
            "@mm.program",
            "def made(T, a, b, n, m):",
            *indented(lines),
        ]
    )
    threads = sympy.sympify(block * blocks)
    arguments = {"a": (EXTENT,), "b": (EXTENT,), "n": n, "m": m}
    launch = SymbolicLaunch(
        define(source, "made"), arguments, threads, machine, None if blocks == 1 else block
    )
    more = [
        one
        for one in (n, m)
        if one.name in sentences_text
        or re.search(rf"\b{one.name}\b", source.split("made(")[1].split(":", 1)[1])
    ]
    used = sympy.Tuple(
        *more,
        threads,
        *(
            getattr(machine, one)
            for one in machine.__dataclass_fields__
            if getattr(machine, one) is not None
        ),
    ).free_symbols
    return SizedCase(source, launch, sorted(one.name for one in used), list(sentences), belongs)


# ------------------------------------------------------------ the cost, with symbols


def value(term, numbers, facts):
    """A term at numbers; a quotient is one of numbers."""

    def of(name):
        if name in numbers:
            return numbers[name]
        quotient = facts.quotients[name]
        above, below = (value(one, numbers, facts) for one in (quotient.above, quotient.below))
        return above // below

    total = 0
    for (powers, exponent), factor in term.parts.items():
        below = 1
        for name, power in powers:
            factor, below = (
                (factor * of(name) ** power, below)
                if power > 0
                else (factor, below * of(name) ** -power)
            )
        power = sum(times * of(name) for name, times in exponent)
        factor, below = (factor * 2**power, below) if power >= 0 else (factor, below * 2**-power)
        total += factor if below == 1 else Fraction(factor) / below
    return total


@dataclass
class Part:
    """The cost in a part of the domain, None outside it."""

    case: object
    facts: object
    rows: object = None
    time: object = None


def parts(one, until):
    """The parts of a case's domain, with the cost in each."""
    whole = domain(one.names, {}, one.sentences)

    def action(case):
        facts = case.facts()
        facts.until = until
        if not possible(case, facts) or not holds(case, facts):
            return Part(case, facts)
        done = executed(one.launch, case, facts)
        return Part(case, facts, done.rows, done.time)

    return [part for _, part in leaves(whole, action, until)]


def known_by(part, points):
    """Of the numbers for the symbols of a part, those that are points of it, with the sizes."""
    for steps in points:
        numbers = {
            name: low + step
            for (name, low), step in zip(part.case.lows.items(), steps, strict=False)
        }

        def at(term):
            return value(term, numbers, part.facts)

        if any(at(a) != at(b) * at(q) for a, b, q in part.case.shares):
            continue
        if any(at(term) < 0 for term in part.case.assumed):
            continue
        sizes = {name: at(term) for name, term in part.case.values.items()}
        if all(size == int(size) >= 1 for size in sizes.values()):
            yield numbers, {name: int(size) for name, size in sizes.items()}


def counted(part, numbers):
    """The time, and counts by access, of a part at numbers."""

    def at(term):
        return value(term, numbers, part.facts)

    found = {}
    for row in part.rows.values():
        key = row.place.line, row.array, row.kind, row.space
        counts = [at(one) for one in (row.requests, row.stages, row.rounds)]
        found[key] = [x + y for x, y in zip(found.get(key, (0, 0, 0)), counts, strict=True)]
    return at(part.time), {key: counts for key, counts in found.items() if any(counts)}


# ------------------------------------------------------------ the cost in numbers


def measured(launch, sizes, engine):
    """The same of a run."""
    values = {symbol: sizes[name] for name, symbol in symbols_of(sizes).items()}

    def at(one):
        return int(sympy.sympify(one).subs(values))

    fields = {name: getattr(launch.machine, name) for name in launch.machine.__dataclass_fields__}
    machine = type(launch.machine)(**{k: at(v) for k, v in fields.items() if v is not None})
    arrays = [np.zeros(EXTENT, dtype=int) for _ in "ab"]
    threads = at(launch.threads)
    block = None if launch.block_size is None else at(launch.block_size)
    run = machine.run(
        launch.program,
        *arrays,
        sizes.get("n", 1),
        sizes.get("m", 1),
        threads=threads,
        block_size=block,
        engine=engine,
        max_accesses=4000,
    )
    found = {}
    for row in run.accesses:
        found[row.line, row.array, row.kind, row.space] = [row.requests, row.stages, 0]
    for row in run.rounds:
        found[row.line, row.array, row.kind, row.space][2] += 1
    return run.time, found


def measured_or_none(launch, sizes, engine="array"):
    """None if the launch is none: an index out of range, a negative shift, no end."""
    try:
        return measured(launch, sizes, engine)
    except mm.MMSimError:
        return None


# ------------------------------------------------------------ both


def differences(one, until, random, most=5):
    """The differences between the cost with symbols and runs, and how many points were compared.

    Raises `Undecided` if the cost isn't found. Each point of the domain has to belong to a part.
    """
    found, compared = [], 0
    covered = set()
    all_parts = parts(one, until)
    symbols = max(len(part.case.lows) for part in all_parts)
    wide = 2 if symbols > 4 else 3
    for part in all_parts:
        if any(term.symbols - part.case.lows.keys() for term in part.case.assumed):
            return [("assumes", part.case.assumed)], compared
        small = product(range(wide), repeat=len(part.case.lows))
        covered.update(
            tuple(sizes[name] for name in one.names) for _, sizes in known_by(part, small)
        )
        if part.rows is None:
            continue
        drawn = ([random.randint(0, 4) for _ in range(symbols)] for _ in range(40))
        for numbers, sizes in islice(known_by(part, drawn), most):
            if max(sizes.values()) > 40:
                continue
            engine = random.choice(("array", "events"))
            real = measured_or_none(one.launch, sizes, engine)
            if real is None:
                continue
            try:
                claimed = counted(part, numbers)
            except KeyError as error:
                found.append(("left", str(error), sizes))
                continue
            compared += 1
            if real != claimed:
                found.append(
                    (part.case.steps, sizes, numbers, engine, "run", real, "claimed", claimed)
                )
                break
    every = {tuple(point[name] for name in one.names) for point in one.numbers(wide)}
    for missed in sorted(every - covered)[:1]:
        found.append(("no part has", dict(zip(one.names, missed, strict=True))))
    return found, compared
