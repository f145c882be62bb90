"""Random programs with symbols for their sizes, and what their cost is in numbers.

The arrays are large, so that most indices are in range; a launch with one that isn't is left out.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
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
HELPERS = """\
def rest(x, y):
    z = y - x
    return z - 1
def half(x):
    y = x // 2
    return y
"""
DOMAINS = (
    ((), lambda n, m: True),
    (("m divides n",), lambda n, m: n % m == 0),
    (("n is a power of two",), lambda n, m: power(n)),
    (("n and m are powers of two", "m <= n"), lambda n, m: power(n) and power(m) and m <= n),
    (("m <= n",), lambda n, m: m <= n),
    (("n is a square",), lambda n, m: sympy.integer_nthroot(n, 2)[1]),
)
PLAIN = (
    "({x} + {y}); ({x} + {y}); {k} * {x}; 3 * {x}; (n - 1 - {x}); {x} // {k}; {x} % {k}; {x} % n; "
    "({x} + n); {x} * n; ({x} ^ 1); ({x} & 2); ({x} & {mask})"
)
"""Numbers with an easy rule."""
WILD = (
    "({x} + {y}); ({x} + {y}); ({x} - {y}); {k} * {x}; ({x} * {y}); {x} // {by}; {x} % {by}; "
    "min({x}, {y}); max({x}, {y}); ({x} << 1); ({x} >> 1); ({x} & {k}); ({x} ^ {k}); ({x} | 1); "
    "({x} if {test} else {y}); half({x}); ({x} - {x} % {k}); ({x} // {k} * {k}); {x} // -{k}; "
    "({x} & -{k}); rest({x}, {y}); (-{x}); {x} % -{k}"
)
TESTS = (
    "{x} < {y}; {x} < {y}; {x} >= {y}; {x} == {y}; T.lane < {small}; T.lane % 2 == 1; T.block < m; "
    "T.warp % 2 == 0; T.block % 2 == {bit}; {x} == {y} or T.lane == 0"
)
WILD_TESTS = (
    "{x} != {y}; {x} < {y} and T.lane != 1; not {x} <= {y}; T.warp < {y}; T.block < {y}; {x}; "
    "T.id < {y} or {x} == 1; {x} % 2 == 0"
)
ACCESSES = (
    "{a}[{x}] = T.id; {a}[{x}] = T.id; {v} = {a}[{x}]; {a}[{x}] += 1; mm.atomic.add({a}, {x}, 1); "
    "mm.vector({a}, 2)[{x}] = 1, 2"
)
CHANGES = (
    "{x} += {y}; {x} = 1 - {x}; {x} = {y}; {x} -= {y}; {x} //= 2; {x} *= 2; {x} += 1; "
    "{x} = half({x}); {x} = ({x} + 1) // 2; {x}, {z} = {z}, {x}; {x} = {z}; "
    "{x}, {z} = {z}, {x} // 2"
)
RANGES = (
    "range({y}); range({y}); range({x}, {y}); range({x}, {y}, {k}); range({x}, {y}, T.block_size); "
    "range({y}, -1, -1); range(T.id, {y}, T.count)"
)
WHILES = (
    ("n; m; 8; n // 2; T.count", "> 0; > 0; > 1; > 2", "//= 2; = half({x}); >>= 1"),
    ("1", "< n; < m; < 9; < T.count", "*= 2; = 2 * {x}; <<= 1"),
    ("0; T.id; m", "< n; < m; < 9; < T.count", "+= 1; += 2; += 3; += m; += T.block_size"),
    ("n; m; 7", ">= 1; >= 2", "-= 1; -= 2; -= m"),
    ("n; m; 9", "> 1", "= ({x} + 1) // 2"),
)
"""What a while loop begins with, its test, and its step."""


def power(number):
    return number & (number - 1) == 0


class Author:
    """Writes statements. Plain ones have indices and tests with an easy rule."""

    def __init__(self, random, shared, width, plain):
        self.random, self.shared, self.width, self.plain = random, shared, width, plain
        self.count = 0
        self.variables = []
        self.loops = 0

    def pick(self, *options):
        return self.random.choice(options)

    def name(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    def one_of(self, texts, depth=0, **given):
        """One of some texts, with parts for the names in it."""
        text = self.pick(*texts.split("; "))
        w = self.width
        parts = {
            "x": lambda: self.number(depth),
            "y": lambda: self.leaf() if self.plain else self.number(depth),
            "z": self.variable,
            "k": lambda: self.pick(2, w, 2 * w, *[5] * (not self.plain)),
            "by": lambda: self.pick(2, 3, w, "n", "m"),
            "mask": lambda: max(1, w - 1),
            "small": lambda: self.pick(1, 2, 3),
            "bit": lambda: self.pick(0, 1),
            "test": lambda: self.test(0),
            "a": lambda: self.pick("a", "b", *["s"] * 2 * self.shared),
            "v": lambda: self.name("v"),
        }
        named = dict.fromkeys(re.findall(r"{(\w+)}", text))
        return text.format(**{one: given[one] if one in given else parts[one]() for one in named})

    def leaf(self):
        more = () if self.plain else ("T.warp", "T.count", "T.block_size", "m", "T.block")
        own = self.variables * (1 if self.plain else 2)
        return self.pick(
            "T.id", "T.index", "T.lane", "n", "m", "1", "2", "T.id", "T.warp", *more, *own
        )

    def variable(self):
        return self.pick(*[one for one in self.variables if one[0] == "x"])

    def number(self, depth=2):
        """An expression."""
        if depth == 0 or self.pick(0, 0, 1):
            return self.leaf()
        return self.one_of(PLAIN if self.plain else WILD, depth - 1)

    def test(self, depth=1):
        if not self.plain:
            return self.one_of(f"{TESTS}; {WILD_TESTS}", depth)
        limit = self.pick("n", "m", "2", self.leaf())
        return self.one_of(TESTS, x=self.pick("T.id", "T.index", self.number(depth)), y=limit)

    def access(self):
        return self.one_of(ACCESSES, self.pick(1, 2, 2))

    def block(self, size, inner=0):
        """Some statements, with an access at the end."""
        lines, kept = [], list(self.variables)
        for _ in range(self.random.randint(0, size)):
            lines += self.statement(inner)
        self.variables = kept
        return [*lines, self.access()]

    def statement(self, inner):
        ways = ["access", "access", "set", "set", "if"] + ["for", "for", "while"] * (2 - inner)
        if any(one[0] == "x" for one in self.variables):
            ways += ["change"] * 3
        if self.loops:
            ways += ["swap", *self.pick([], [], [], ["leave"])]
        match self.pick(*ways, *["barrier"] * (inner == self.loops == 0)):
            case "access":
                return [self.access()]
            case "barrier":
                return ["T.barrier()"]
            case "swap":
                return ["a, b = b, a"]
            case "leave":
                return [f"if {self.test()}:", f"    {self.pick('break', 'continue', 'return')}"]
            case "set":
                value, x = self.number(), self.name("x")
                self.variables.append(x)
                return [f"{x} = {value}"]
            case "change":
                return [self.one_of(CHANGES, 1, x=self.variable())]
            case "if":
                lines = [f"if {self.test()}:", *indented(self.block(2, inner))]
                more = ["else:", *indented(self.block(1, inner))]
                return lines + self.pick([], more)
            case way:
                self.loops += 1
                lines = getattr(self, f"{way}_loop")(inner)
                self.loops -= 1
                return lines

    def for_loop(self, inner):
        low = self.pick("0", "1", "T.id") if self.plain else self.number(1)
        high = self.pick("n", "m", "3", "2", *[self.number(1)] * (not self.plain))
        header = self.one_of(RANGES, x=low, y=high)
        i = self.name("i")
        kept = list(self.variables)
        self.variables.append(i)
        body = self.block(3, inner + 1)
        self.variables = kept
        return [f"for {i} in {header}:", *indented(body)]

    def while_loop(self, inner):
        x = self.name("x")
        self.variables.append(x)
        start, test, step = (self.one_of(one, x=x) for one in self.pick(*WHILES))
        body = self.block(2, inner + 1)
        body.insert(self.pick(0, len(body)), f"{x} {step}")
        return [f"{x} = {start}", f"while {x} {test}:", *indented(body)]


def indented(lines):
    return [f"    {line}" for line in lines]


@dataclass
class SizedCase:
    """A program, its launch, and the domain of its sizes."""

    source: str
    launch: SymbolicLaunch
    sentences: tuple
    belongs: object

    def __str__(self):
        launch = self.launch
        threads = f"threads={launch.threads}, block_size={launch.block_size}"
        return f"{self.source}{launch.machine}, {threads}, {self.sentences}"

    @property
    def names(self):
        """The sizes on which the launch depends."""
        launch = self.launch
        text = f"{self.source.split('made(')[1].partition(':')[2]} {' '.join(self.sentences)} "
        text += f"{launch.threads} {launch.block_size} {launch.machine}"
        return [name for name in "nmkldL" if re.search(rf"\b{name}\b(?!=)", text)]

    def numbers(self, most):
        """The points of the domain with no larger number."""
        for point in product(range(1, most + 1), repeat=len(self.names)):
            numbers = dict(zip(self.names, point, strict=True))
            if self.belongs(numbers.get("n", 1), numbers.get("m", 1)):
                yield numbers


def case_of(lines, machine, threads, block=None, sentences=(), belongs=DOMAINS[0][1]):
    """The case of a program with these lines; the width and the sizes may be text."""
    begin = ["@mm.program", "def made(T, a, b, n, m):"]
    source = "".join(f"{line}\n" for line in (*HELPERS.splitlines(), *begin, *indented(lines)))
    sizes = symbols_of("nmkldL")
    arguments = {"a": (EXTENT,), "b": (EXTENT,), "n": sizes["n"], "m": sizes["m"]}
    threads, block = (one and sympy.sympify(one, sizes) for one in (threads, block))
    launch = SymbolicLaunch(define(source, "made"), arguments, threads, machine, block)
    return SizedCase(source, launch, sentences, belongs)


def sized_case(seed):
    """A random case."""
    random = Random(seed)
    width = random.choice((1, 2, 2, 3, 4, 4))
    n, m, k, l, d, L = symbols_of("nmkldL").values()
    kind = random.choice(("DMM", "UMM", "HMM", "HMM"))
    sizes = (width * m, width * k, width, 2 * width, k, m, 3, n, 3 * width)
    block = sympy.sympify(random.choice(sizes))
    blocks = random.choice((1, 2, 3, d, n, m if block.has(k) else k))
    machine = getattr(mm, kind)(width, l) if kind != "HMM" else None
    if kind == "HMM":
        machine = mm.HMM(random.choice((d, 2, 3, 1)), width, L, random.choice((l, 1)))
    elif random.random() < 0.6:
        blocks = 1
    author = Author(random, kind == "HMM", width, random.random() < 0.8)
    lines = ["s = mm.shared(900, dtype=mm.int64)"] * (kind == "HMM")
    lines += author.block(3 if author.plain else 5)
    given = random.choice(DOMAINS)
    return case_of(lines, machine, block * blocks, None if blocks == 1 else block, *given)


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

        at = partial(value, numbers=numbers, facts=part.facts)
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
