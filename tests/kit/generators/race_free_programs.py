"""Random programs without a data race, that do much of what programs with one do.

An `OrderlyAuthor` keeps to rules under which nothing races. An array has one *role* throughout:

- "input": no thread writes it, any thread reads it;
- "flag": any thread writes one certain value anywhere, no thread reads it;
- "worked": a block keeps to its own segment of it (all of a shared array is the block's), in one
  *mode* from one barrier to the next. In "gather" mode the threads of the block read anywhere in
  the segment; in the others they write and read, each thread or each warp its own elements.

So a warp reads what another wrote, with a barrier between. The modes of an array that a loop's body
has changed are changed back behind a barrier at the body's end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import assume
from hypothesis import strategies as st

from tests.kit.generators import random_exchange as exchange
from tests.kit.generators.random_programs import (
    INDENT,
    NARROW,
    TYPE_OF,
    WIDE,
    ArrayName,
    Author,
    RandomCase,
    arrays,
    cases,
    indented,
    launches,
    machines,
    races,
    run_case,
    write_program,
)

SCHEDULES = ("synchronous", "asynchronous")
MODES = ["straight", "gather", "gather", "warp", "backward", "rotated", "interleaved"]
FLAGS = {"int": "1", "float": "2.5", "bool": "True", "complex": "(1.5-2j)"}


@dataclass(frozen=True)
class Segment:
    """A block's segment of a worked array."""

    start: str  # "" where it begins at 0
    words: int  # for each lane
    lanes: int  # of the warps of a full block

    @property
    def size(self):
        return self.words * self.lanes


class OrderlyAuthor(Author):
    """Writes programs without a race, for so many threads, blocks so large and warps so wide."""

    orderly = True

    def __init__(self, draw, threads, block_size, width):
        super().__init__(draw, threads, None)
        self.blocks = -(-threads // block_size)
        self.width = width
        self.lanes = -(-block_size // width) * width
        self.segments = {}  # of worked arrays
        self.flags = set()
        self.modes = {}  # of worked arrays, at the place of the text that is being written

    def work(self, name, shared):
        """Make an array a worked one; the size that it needs."""
        words = self.pick(1, 1, 2, 3)
        several = self.blocks > 1 and not shared
        start = f"T.block * {words * self.lanes}" if several else ""
        self.segments[name] = Segment(start, words, self.lanes)
        self.modes[name] = self.pick(*MODES)
        return self.segments[name].size * (self.blocks if several else 1)

    def readable(self, s):
        return [a for a in s.arrays if a.name not in self.flags and a.name not in self.counters]

    def writable(self, s):
        """The worked arrays, or in a helper the array that was handed to it."""
        return [
            a for a in s.arrays if a.name == "x" or self.modes.get(a.name, "gather") != "gather"
        ]

    def nameable(self, arrays):
        """The arrays that no thread writes."""
        nobodys = [a for a in arrays if not a.writable and a.name not in self.flags]
        return super().nameable(nobodys)

    def helper_array(self, arrays):
        """One that some array fits."""
        array = self.pick(*(a for a in arrays if a.name in self.segments))
        narrowest = next(name for name in NARROW if TYPE_OF[name] == array.type)
        return ArrayName("x", narrowest, array.dimensions, None)

    def array_parameters(self, array):
        return [array.name, "at"]

    def array_arguments(self, array, s):
        return [array.name, self.own_element(array.name, s)]

    def place(self, array, s):
        if array.name == "x":
            return ["at"] if array.dimensions == 1 else ["at // x.shape[1]", "at % x.shape[1]"]
        if array.name not in self.segments:
            return super().place(array, s)
        if self.modes[array.name] == "gather":
            segment = self.segments[array.name]
            element = f"({self.int(s, self.pick(0, 0, 1))}) % {segment.size}"
            element = f"{segment.start} + {element}" if segment.start else element
        else:
            element = self.own_element(array.name, s)
        if array.dimensions == 1:
            return [element]
        columns = array.shape[1]
        return [f"({element}) // {columns}", f"({element}) % {columns}"]

    def own_element(self, name, s):
        """An element that no other thread touches in this mode, or no thread of another warp."""
        if name == "x":
            return "at"
        segment, mode = self.segments[name], self.modes[name]
        words, lanes = segment.words, segment.lanes
        word = f"({self.int(s, 0)}) % {words}" if words > 1 else "0"
        if mode == "warp":
            word = f"({self.int(s, self.pick(0, 1))}) % {words * self.width}"
            element = f"(T.index - T.lane) * {words} + {word}"
        elif mode == "interleaved":
            element = f"T.index * {words} + {word}"
        else:
            index = {
                "straight": "T.index",
                "backward": f"{lanes - 1} - T.index",
                "rotated": f"(T.index + {self.width}) % {lanes}",
            }[mode]
            element = f"{index} + {lanes} * ({word})" if words > 1 else index
        return f"{segment.start} + {element}" if segment.start else element

    # ------------------------------------------------------------ more of what matters here

    def int(self, s, depth):
        if depth <= 0 and s.thread and self.pick(False, False, True):
            return f"T.{self.pick('id', 'index', 'lane')}"
        return super().int(s, depth)

    def bool(self, s, depth):
        if s.thread and self.pick(True, False):
            number = f"T.{self.pick('id', 'lane', 'index', 'warp')}"
            return f"({number} % {self.pick(2, 3)} {self.pick('==', '!=', '>')} 0)"
        return super().bool(s, depth)

    def statement(self, s, depth):
        if s.helpers and self.pick(False, True):
            return self.call_statement(s, depth)
        if s.barriers and self.pick(False, False, True):
            return self.exchange_statement(s)
        if depth > 0 and self.pick(False, False, True):
            kind = self.pick("ragged", "if", "for", "ragged", "while")
            return getattr(self, f"{kind}_statement")(s, depth)
        if not s.barriers and self.pick(True, False):
            return self.store_statement(s, depth)
        return super().statement(s, depth)

    def exchange_statement(self, s):
        """Each thread writes, then a barrier, then each reads what any of its block has written."""
        arrays = [a for a in self.writable(s) if a.name in self.segments]
        if not arrays:
            return self.barrier_statement(s, 0)
        array = self.pick(*arrays)
        value = {
            "int": f"T.id + ({self.int(s, 0)}) % 100",
            "float": "T.id * 0.5",
            "complex": "T.id * (0.5-1j)",
            "bool": "T.id % 3 == 0",
        }[array.type]
        lines = [f"{self.access(array, s)} = {value}", *self.barrier_statement(s, 0)]
        self.modes[array.name] = "gather"
        read, target = self.access(array, s), self.target(s, array.type)
        s.variables[target] = array.type
        return [*lines, f"{target} = {read}"]

    def ragged_statement(self, s, depth):
        """A loop from which neighbours leave at different times."""
        if not s.thread:
            return self.for_statement(s, depth)
        variable = self.name("k")
        inner = s.inner(in_loop=True, may_break=True, barriers=False)
        inner.variables[variable] = "int"
        trips = f"T.{self.pick('id', 'lane', 'index')} % {self.number(3, 4)}"
        body = self.store_statement(inner, 0) + self.block(inner, self.number(0, 1), depth - 1)
        return [f"for {variable} in range({trips}):", *indented(body)]

    def call_statement(self, s, depth):
        results = {helper.result for helper in s.helpers if helper.array} or {None}
        return [self.helper_call(self.pick(*sorted(results, key=str)), s) or "pass"]

    # ------------------------------------------------------------ statements

    def store_statement(self, s, depth):
        flags = [a for a in s.arrays if a.name in self.flags]
        if flags and self.pick(False, False, True):
            array = self.pick(*flags)
            return [f"{super().access(array, s)} = {FLAGS[array.type]}"]
        return super().store_statement(s, depth)

    def barrier_statement(self, s, depth):
        lines = exchange.barrier(self, s)  # what it tests is read before it
        for name in self.modes:
            if self.pick(True, True, False):
                self.modes[name] = self.pick(*MODES)
        return lines

    def for_statement(self, s, depth):
        before = dict(self.modes)
        lines = super().for_statement(s, depth)
        if self.modes != before:
            self.modes = before
            lines.append(f"{INDENT}T.barrier()")
        return lines

    def body(self, s):
        lines = self.block(s, self.number(1, 4), 2)
        for _ in range(self.pick(1, 0, 2)):
            lines += self.barrier_statement(s, 2)
            lines += self.block(s, self.number(1, 3), 2)
        return lines


@st.composite
def orderly_cases(draw, most_threads=24, width=None):
    """A case by an orderly author."""
    machine = draw(machines(width))
    sizes = draw(launches(machine, most=most_threads))
    threads, block_size, _ = sizes
    author = OrderlyAuthor(draw, threads, block_size or threads, machine.width)
    known, args, declarations = [], [], []
    roles = [
        "worked",
        *(author.pick("input", "worked", "flag") for _ in range(author.pick(1, 0, 2))),
    ]
    for name, role in zip("abc", roles, strict=False):
        if role == "worked":
            array, data = draw(arrays(name, shapes_of(author.work(name, shared=False))))
        else:
            array, data = draw(arrays(name))
            array = replace(array, writable=False)
        if role == "flag":
            author.flags.add(name)
        known.append(array)
        args.append(data)
    for _ in range(author.pick(1, 0, 2)):
        name, type_ = author.name("s"), author.pick(*WIDE)
        shape = draw(shapes_of(author.work(name, shared=True)))
        declarations.append(f"{name} = mm.shared({shape}, dtype={type_})")
        known.append(ArrayName(name, WIDE[type_], len(shape), shape))
    source = write_program(author, known, args, declarations)
    before, _, _ = source.rpartition("T.grid_barrier()")
    if "return" in map(str.strip, before.splitlines()):  # a block that ended never comes
        source = source.replace("T.grid_barrier()", "T.barrier()")
    return RandomCase(source, "program", machine, args, *sizes)


def shapes_of(size):
    """The shapes of one and of two dimensions that have this size."""
    columns = [n for n in range(1, size + 1) if size % n == 0]
    return st.one_of(st.just((size,)), st.sampled_from([(size // n, n) for n in columns]))


CANDIDATES = st.one_of(orderly_cases(), orderly_cases(), orderly_cases(), cases())
"""Cases that may have a race, but most of them haven't."""


def has_race(case, schedules=SCHEDULES):
    """Return whether a case races under one of the schedules."""
    return any(races(run_case(case, schedule, check=True)) for schedule in schedules)


@st.composite
def race_free_cases(draw, schedules=SCHEDULES):
    """A case without a data race under any of the schedules."""
    case = draw(CANDIDATES)
    assume(not has_race(case, schedules))
    return case
