"""The timing rules and the language, evaluated once more: slowly, and as plainly as possible.

The simulator's engines are tested against this file, so it shares no code with them. It walks
Python's own syntax tree with a dictionary of values per lane, lets Python's own operators do the
arithmetic, and finds the times by counting `now = 0, 1, 2, ...`.

Every array begins at a multiple of the width, and one request touches one array (of one block),
so where an array begins can change neither which of its words share a bank nor which share an
address group. Addresses are therefore counted here from the beginning of each array.
"""

from __future__ import annotations

import ast
import math
import operator
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np


@dataclass(frozen=True)
class RefDMM:
    width: int
    latency: int


@dataclass(frozen=True)
class RefUMM:
    width: int
    latency: int


@dataclass(frozen=True)
class RefHMM:
    dmms: int
    width: int
    global_latency: int
    shared_latency: int = 1


@dataclass(frozen=True)
class RefOwn:
    """A machine of somebody's own: for each unit its rule, the rule's width and the latency."""

    width: int
    memory: tuple[str, int, int]
    shared: tuple[tuple[str, int, int], ...]

    @property
    def dmms(self):
        return len(self.shared)


@dataclass(frozen=True)
class RefPlaced:
    """An array whose element at an index lies `offsets[index]` words from the array's base."""

    array: np.ndarray
    offsets: np.ndarray


@dataclass
class Outcome:
    time: int = 0
    arrays: dict = field(default_factory=dict)
    dispatches: list = field(default_factory=list)  # time unit warp line array kind stages end
    rounds: list = field(default_factory=list)  # line, array, kind, stages, time
    releases: list = field(default_factory=list)  # time, block


# ---------------------------------------------------------------- threads and memory


class Launch:
    """The blocks and warps of the threads."""

    def __init__(self, threads, block_size, width, shape=None):
        self.threads, self.block_size, self.width = threads, block_size, width
        self.warps = []  # the threads of each warp; warps are numbered over the blocks in order
        for first in range(0, threads, block_size):
            block = range(first, min(first + block_size, threads))
            self.warps += [list(block[k : k + width]) for k in range(0, len(block), width)]
        self.warp_of = {t: number for number, warp in enumerate(self.warps) for t in warp}
        self.blocks = len(range(0, threads, block_size))
        self.grid, self.block = shape or ((self.blocks, 1, 1), (block_size, 1, 1))
        self.grid_places, self.block_places = in_order(self.grid), in_order(self.block)

    def block_of(self, thread):
        return thread // self.block_size

    def attribute(self, name, thread):
        index = thread % self.block_size
        return {
            "id": thread,
            "index": index,
            "block": self.block_of(thread),
            "lane": index % self.width,
            "warp": self.warp_of[thread],
            "count": self.threads,
            "block_size": self.block_size,
            "blocks": self.blocks,
            "threadIdx": self.block_places[index],
            "blockIdx": self.grid_places[self.block_of(thread)],
            "blockDim": Triple(*self.block),
            "gridDim": Triple(*self.grid),
        }[name]


@dataclass(frozen=True)
class Triple:
    """Three numbers, .x, .y and .z."""

    x: int
    y: int
    z: int


def in_order(extents):
    """All places: x counts first, then y, then z."""
    columns, rows, layers = map(range, extents)
    return [Triple(x, y, z) for z in layers for y in rows for x in columns]


class Array:
    """A parameter (one copy, `shared` false) or a shared array (one copy per block).

    `order` counts the parameters from left to right and after them the declarations.
    """

    def __init__(self, name, copies, shared, order, offsets=None):
        self.name, self.copies, self.shared, self.order = name, copies, shared, order
        self.shape = copies[0].shape
        row_major = np.arange(copies[0].size).reshape(self.shape)
        self.offsets = row_major if offsets is None else np.asarray(offsets)

    def cells(self, block):
        return self.copies[block if self.shared else 0]


class Registers:
    """An array in each thread's own registers."""

    def __init__(self, size, lanes):
        self.values = {t: [0] * size for t in lanes}
        self.shape = (size,)
        self.order = -id(self)  # they are not memory, so that any order will do


@dataclass(frozen=True)
class Row:
    """The elements that an array's name stands for in a thread: those with these indices first."""

    array: Array | Registers
    index: tuple
    fixed: int = 0

    @property
    def shape(self):
        return self.array.shape[len(self.index) :]


@dataclass(frozen=True)
class Vectors:
    """The vectors of so many elements of an array, or of a row of one."""

    row: Row
    count: int

    @property
    def shape(self):
        *outer, last = self.row.shape
        assert last % self.count == 0
        return (*outer, last // self.count)


@dataclass(frozen=True)
class Vector:
    """Neighbours in an array, the first one at an index."""

    array: Array
    index: tuple
    fixed: int
    count: int

    def indices(self):
        """The index of each, in ascending order."""
        *outer, first = self.index
        return [(*outer, first + k) for k in range(self.count)]


THREAD = object()  # what the first parameter, T, is bound to


@dataclass
class Access:
    """One SIMD memory instruction, as the sequencer that executes it issues it."""

    line: int
    array: Array
    kind: str
    index: dict  # active thread -> index, or the Vector of neighbours
    values: dict  # active thread -> value to write, or the numbers of an atomic
    op: str = ""

    def indices(self, thread):
        """The indices that a thread accesses."""
        index = self.index[thread]
        return index.indices() if isinstance(index, Vector) else [index]


def count_stages(access, threads, conflict, width, launch):
    asked = {t: [int(access.array.offsets[i]) for i in access.indices(t)] for t in threads}
    if conflict.startswith("card "):
        return count_card_stages(access, asked, conflict.removeprefix("card "), width, launch)
    return count_asked(asked, access.kind, conflict, width)


def count_asked(asked, kind, conflict, width):
    """Stages of a request in which threads ask for such addresses."""
    addresses = [address for own in asked.values() for address in own]
    if kind != "atomic":  # whose requests for one address don't merge
        addresses = list(set(addresses))
    if conflict in ("group", "sector"):
        groups = {address // width for address in addresses}
        return sum(max(addresses.count(a) for a in addresses if a // width == g) for g in groups)
    banks = [address % width for address in addresses]
    return max(banks.count(bank) for bank in banks)


def count_card_stages(access, asked, conflict, width, launch):
    """A card's rule, `width` words of 4 bytes wide: longer words go by so many lanes as fit.

    Twice as many where lanes that read share their addresses in pairs. Shorter elements lie
    several to a word on "byte bank", one to a word on "bank". Neighbours are one long element. A
    read or a write takes each group once, of elements of any size.
    """
    size, kind = access.array.copies[0].itemsize, access.kind
    neighbours = len(next(iter(asked.values())))
    if conflict == "bank":
        size = max(size, 4)
    if neighbours > 1:
        size *= neighbours
        asked = {t: [own[0] // neighbours] for t, own in asked.items()}
    times = 2 if access.op == "cas" and conflict != "group" else 1
    if size <= 4 and conflict == "byte bank":
        words = {t: [address // (4 // size) for address in own] for t, own in asked.items()}
        return times * count_asked(words, kind, "bank", width)
    conflict = conflict.removeprefix("byte ")
    words, total = max(width * 4 // size, 1), 0
    if conflict == "group" and (size <= 4 or kind != "atomic"):
        return count_asked(asked, kind, conflict, words)
    if size <= 4:
        return times * count_asked(asked, kind, conflict, width)
    at_once = words
    lane = {t: launch.attribute("lane", t) for t in asked}
    if kind == "read" and conflict == "bank" and in_pairs({lane[t]: asked[t] for t in asked}):
        at_once = 2 * words
    for first in range(0, launch.width, at_once):
        part = {t: own for t, own in asked.items() if first <= lane[t] < first + at_once}
        if part:
            total += count_asked(part, kind, conflict, words)
    return times * total


def in_pairs(asked):
    """Return whether all lanes t and t xor 1, or t and t xor 2, ask for the same, if both ask."""
    return any(
        all(asked.get(lane ^ apart, own) == own for lane, own in asked.items()) for apart in (1, 2)
    )


def perform(access, threads, launch):
    """Let the request of these threads (of one warp) take effect; what they read."""
    if access.kind == "read":
        cells = {t: access.array.cells(launch.block_of(t)) for t in threads}
        read = {t: tuple(cells[t][i].item() for i in access.indices(t)) for t in threads}
        return {t: read[t] if isinstance(access.index[t], Vector) else read[t][0] for t in threads}
    if access.kind == "atomic":
        received = {}
        for t in sorted(threads):
            cells, index = access.array.cells(launch.block_of(t)), access.index[t]
            received[t] = cells[index].item()
            cells[index] = changed(access.op, cells[index], *access.values[t])
        return received
    for t in sorted(threads, reverse=True):  # the lowest-numbered thread's write stays
        values = access.values[t] if isinstance(access.index[t], Vector) else [access.values[t]]
        for i, value in zip(access.indices(t), values, strict=True):
            access.array.cells(launch.block_of(t))[i] = value
    return {}


def changed(op, word, *given):
    """The word that an atomic leaves of another, of the word's type."""
    type_ = type(word)
    given = [one.item() if isinstance(one, np.generic) else one for one in given]
    x, old = given[-1], word.item()
    if op == "cas":
        return type_(x) if word.tobytes() == type_(given[0]).tobytes() else word
    if op == "exch":
        return type_(x)
    if isinstance(word, np.floating):
        assert op == "add"
        return word + type_(x)  # one rounding, to the type
    new = {
        "add": lambda: old + x,
        "sub": lambda: old - x,
        "max": lambda: max(old, x),
        "min": lambda: min(old, x),
        "and_": lambda: old & x,
        "or_": lambda: old | x,
        "xor": lambda: old ^ x,
        "inc": lambda: 0 if old >= x else old + 1,
        "dec": lambda: x if old == 0 or old > x else old - 1,
    }[op]()
    size = 8 * word.itemsize
    signed = isinstance(word, np.signedinteger)
    return type_((new + 2 ** (size - 1)) % 2**size - 2 ** (size - 1) if signed else new % 2**size)


@dataclass
class Meeting:
    """A barrier: of the block or of the grid, and with an `op` each waiting thread's test."""

    scope: str
    op: str | None = None
    tests: dict = field(default_factory=dict)

    def answer(self, launch, everybody):
        """The answer to each thread, of all tests of `everybody` who meets by the same op."""
        if self.op is None:
            return None
        tests = {t: test for one in everybody if one.op == self.op for t, test in one.tests.items()}
        found = {}
        for thread in self.tests:
            own = [tests[t] for t in tests if launch.block_of(t) == launch.block_of(thread)]
            found[thread] = {"or": any(own), "and": all(own), "count": sum(own)}[self.op]
        return found


def exchange(op, launch, lanes, given):
    """The values that lanes of a warp get from each other by one of CUDA's functions."""
    found = {}
    for warp in launch.warps:
        there = {launch.attribute("lane", t): t for t in warp if t in lanes}
        for lane, thread in there.items():
            found[thread] = of_lane(op, launch.width, there, lane, given)
    return found


def of_lane(op, width, there, lane, given):
    """The value that one lane gets; `there` are the active lanes of its warp with their threads."""
    if op.startswith("shuffle"):
        value, where = given[0], given[1][there[lane]]
        if op == "shuffle":
            return value[there[where % width]]
        asked = {"up": lane - where, "down": lane + where, "xor": lane ^ where}[op[8:]]
        return value[there[asked if 0 <= asked < width else lane]]
    if op == "active_mask":
        return mask_of(there)
    values = {other: given[0][t] for other, t in there.items()}
    if op in ("any", "all"):
        return {"any": any, "all": all}[op](values.values())
    if op == "ballot":
        return mask_of(other for other in values if values[other])
    same = [other for other in values if values[other] == values[lane]]
    return mask_of(same) if op == "match_any" or len(same) == len(values) else 0


def mask_of(lanes):
    return sum(1 << lane for lane in lanes)


# ---------------------------------------------------------------- the language


def fitted(value, dtype):
    """A number as one of NumPy's of a type: integers wrap around, floats are rounded or cut off."""
    if dtype.kind in "fc":
        given = None if isinstance(value, np.generic | float | complex) else np.int64
        return np.array(value, given).astype(dtype)[()]
    bits = 8 * dtype.itemsize
    whole = int(value) % 2**bits
    if isinstance(value, float | np.floating):
        assert np.iinfo(dtype).min <= int(value) <= np.iinfo(dtype).max
    return np.array([whole], f"u{dtype.itemsize}").view(dtype)[0]


def matched(x, y):
    """Two operands: with one of NumPy's types, a number of Python's is of that type too."""
    if isinstance(x, np.generic) == isinstance(y, np.generic):
        return x, y
    typed, plain_one = (x, y) if isinstance(x, np.generic) else (y, x)
    dtype = typed.dtype
    if isinstance(plain_one, float) and dtype.kind not in "fc":
        dtype = np.dtype(float)
    if isinstance(plain_one, complex):
        dtype = np.result_type(dtype, np.complex64)
    if isinstance(plain_one, bool):
        plain_one = int(plain_one)
    other = fitted(plain_one, dtype)
    return (x, other) if typed is x else (other, y)


def apply(op, x, y):
    """An operator of Python's, or of NumPy's where an operand has a type of its own."""
    if not isinstance(x, np.generic) and not isinstance(y, np.generic):
        if any(isinstance(one, complex) for one in (x, y)):
            return of_complex(op, np.complex128(x), np.complex128(y)).item()
        return wrap64(BINARY[type(op)](x, y))
    with np.errstate(all="ignore"):
        return of_complex(op, *matched(x, y))


def of_complex(op, x, y):
    """An operator of NumPy's numbers; a product and a quotient of complex ones by their parts."""
    common = np.result_type(x, y)
    if common.kind != "c" or isinstance(op, ast.Add | ast.Sub):
        return BINARY[type(op)](x, y)
    x, y = x.astype(common), y.astype(common)
    a, b, c, d = x.real, x.imag, y.real, y.imag
    if isinstance(op, ast.Mult):
        return joined(a * c - b * d, a * d + b * c)
    return joined(*quotient(a, b, c, d))


def quotient(a, b, c, d):
    """The parts of (a + bi) / (c + di), by Smith's method."""
    assert c or d
    if abs(c) < abs(d):  # divide both by i
        a, b, c, d = b, -a, d, -c
    ratio = d / c
    scale = type(c)(1) / (c + d * ratio)
    return (a + b * ratio) * scale, (b - a * ratio) * scale


def joined(real, imag):
    """The complex number that has these parts."""
    return np.array([real, imag]).view(f"c{2 * real.itemsize}")[0]


def compared(op, x, y):
    """A comparison; that of integers is exact."""
    if any(isinstance(one, complex | np.complexfloating) for one in (x, y)):
        if not any(isinstance(one, np.generic) for one in (x, y)):
            x, y = np.complex128(x), np.complex128(y)
        return bool(COMPARE[type(op)](*matched(x, y)))
    if any(isinstance(one, float | np.floating) for one in (x, y)):
        return bool(COMPARE[type(op)](*matched(x, y)))
    return COMPARE[type(op)](int(x), int(y))


def absolute(x):
    """abs(x); of a complex number the distance from 0."""
    if isinstance(x, complex | np.complexfloating):
        length = np.hypot(x.real, x.imag)
        return length if isinstance(x, np.generic) else float(length)
    return abs(x)


def extreme(take):
    """min and max, of values of one type."""

    def run(first, *others):
        for other in others:
            x, y = matched(first, other)
            first = take(x, y)
        return first

    return run


def quiet(function, *values):
    with np.errstate(all="ignore"):
        return wrap64(function(*values))


def bits_of(x):
    """The bits of an integer, of 64 if it is Python's."""
    x = x if isinstance(x, np.integer) else np.int64(x)
    return f"{int(x) % 2 ** (8 * x.itemsize):0{8 * x.itemsize}b}"


def brev(x):
    turned = fitted(int(bits_of(x)[::-1], 2), x.dtype if isinstance(x, np.integer) else INT64)
    return turned if isinstance(x, np.generic) else int(turned)


INT64 = np.dtype(np.int64)
OF_BITS = {
    "popc": lambda x: bits_of(x).count("1"),
    "clz": lambda x: len(bits_of(x).split("1")[0]),
    "ffs": lambda x: len(bits_of(x)) - bits_of(x).rindex("1") if x else 0,
    "brev": brev,
}
NUMPYS_NAMES = {
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{"atan2": "arctan2", "pow": "power"},
}


def fused(x, y, z):
    """x * y + z, rounded once."""
    exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
    if exact == 0:
        return x * y + z
    if not isinstance(x, np.float32):
        return float(exact)
    below = np.float32(float(exact))
    near = [np.nextafter(below, np.float32(way)) for way in (-np.inf, np.inf)]
    every = sorted([below, *near], key=lambda one: abs(Fraction(float(one)) - exact))
    distances = [abs(Fraction(float(one)) - exact) for one in every]
    if distances[0] == distances[1]:
        return next(one for one in every[:2] if one.view(np.uint32) % 2 == 0)
    return every[0]


def function(name, values):
    """A function of floats: in single precision if all that have a type have that one."""
    types = [value.dtype for value in values if isinstance(value, np.generic)]
    dtype = np.result_type(*types) if types else np.dtype(float)
    if dtype.kind != "f":
        dtype = np.dtype(float)
    given = [fitted(value, dtype) for value in values]
    if name in ("degrees", "radians"):
        factor = 180 / math.pi if name == "degrees" else math.pi / 180
        result = given[0] * fitted(factor, dtype)
    elif name == "log" and len(given) == 2:
        result = np.log(given[0]) / np.log(given[1])
    elif name == "fma":
        result = fused(*given)
    elif name == "exp10":
        result = dtype.type(10) ** given[0]
    elif name in ("erf", "erfc", "gamma", "lgamma", "remainder"):
        result = dtype.type(getattr(math, name)(*map(float, given)))
    else:
        result = getattr(np, NUMPYS_NAMES.get(name, name))(*given)
    if name in ("floor", "ceil", "trunc"):
        return int(result)
    if name.startswith("is"):
        return bool(result)
    return result if types else float(result)


def wrap64(value):
    """Integers are 64-bit two's complement; floats and truth values stay as they are."""
    return (value + 2**63) % 2**64 - 2**63 if type(value) is int else value


def power(x, y):
    """x ** y; of floats the exact result, rounded, for the exponents that the language names."""
    if (not isinstance(x, float) and not isinstance(y, float)) or x == 0:
        return x**y
    if y in range(-4, 9):
        return float(Fraction(x) ** int(y))
    if y == 0.5:
        return float(np.sqrt(x))
    if y == -0.5:
        exact = Context(prec=100)
        return float(exact.divide(Decimal(1), exact.sqrt(Decimal(x))))
    return x**y


def invert(x):
    """~x; of a truth value that of the integer, which Python itself is about to refuse."""
    return ~int(x) if type(x) is bool else ~x


BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: power,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
UNARY = {ast.Not: operator.not_, ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: invert}
COMPARE = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
BUILTINS = {
    **{"min": extreme(min), "max": extreme(max), "abs": absolute},
    **{"int": int, "float": float, "bool": bool},
    "complex": lambda *parts: complex(*map(float, parts)) if len(parts) == 2 else complex(parts[0]),
    "divmod": lambda x, y: tuple(map(wrap64, divmod(x, y))),
}


def index_of(place):
    """The place that an access asks for in a thread: an index, or a Vector."""
    return place if isinstance(place, Vector) else place.index


def item_of(values, index):
    """An item of a tuple or of a table, as Python counts."""
    for one in index if type(index) is tuple and not isinstance(values, np.ndarray) else [index]:
        values = values[one]
    return plain(values)


def plain(values):
    """Python's own numbers, in lists."""
    return values.tolist() if isinstance(values, np.generic | np.ndarray) else values


def constant(node):
    """A constant of the module: a number, or a table of them."""
    match node:
        case ast.Call(ast.Attribute(ast.Name("np"), "array"), [table], []):
            return np.array(ast.literal_eval(table))
    return ast.literal_eval(node)


class Frame:
    """One call of one function: its names, and who has left it (or a loop in it) already."""

    def __init__(self, names):
        self.names = names  # name -> {thread: number, tuple, Row or THREAD}
        self.returned = {}  # thread -> value
        self.loops = []  # for each loop around: (threads that broke, threads that continued)


class Sequencer:
    """Runs some lanes in SIMD fashion: yields each Access (is sent what was read) and Meeting.

    Lanes are sorted lists of thread ids and never empty: what no lane executes is not executed.
    """

    def __init__(self, tree, launch, shared):
        self.functions = {f.name: f for f in tree.body if isinstance(f, ast.FunctionDef)}
        self.constants = {
            s.targets[0].id: constant(s.value) for s in tree.body if isinstance(s, ast.Assign)
        }
        self.launch = launch
        self.shared = shared  # the declarations of shared arrays seen so far, for all sequencers

    def program(self, name, arguments, lanes):
        function = self.functions[name]
        names = [parameter.arg for parameter in function.args.args]
        values = [Row(a, ()) if isinstance(a, Array) else a for a in arguments]
        self.lanes, self.parameters = lanes, len(names)
        given = [{t: value for t in lanes} for value in [THREAD, *values]]
        self.main = Frame(dict(zip(names, given, strict=True)))
        yield from self.body(function.body, lanes, self.main)

    def body(self, statements, lanes, frame):
        """Execute statements; returns the lanes that come out at the end."""
        for statement in statements:
            if not lanes:
                break
            lanes = yield from self.statement(statement, lanes, frame)
        return lanes

    def statement(self, node, lanes, frame):
        match node:
            case ast.Pass():
                pass
            case ast.Expr(value):
                yield from self.value(value, lanes, frame)
            case ast.Assign(targets, value):
                values = yield from self.value(value, lanes, frame)
                for target in targets:
                    yield from self.assign(target, values, lanes, frame)
            case ast.AugAssign(ast.Name(), op, value):
                old = yield from self.value(node.target, lanes, frame)
                new = yield from self.value(value, lanes, frame)
                result = {t: apply(op, old[t], new[t]) for t in lanes}
                yield from self.assign(node.target, result, lanes, frame)
            case ast.AugAssign(ast.Subscript() as target, op, value):
                place = yield from self.place(target, lanes, frame)
                old = yield from self.read(target, place, lanes)
                new = yield from self.value(value, lanes, frame)
                result = {t: apply(op, old[t], new[t]) for t in lanes}
                yield from self.write(target, place, result, lanes)
            case ast.If(test, body, orelse):
                yes, no = yield from self.split(test, lanes, frame)
                yes = yield from self.body(body, yes, frame)
                no = yield from self.body(orelse, no, frame)
                return sorted(yes + no)
            case ast.While(test, body, []):
                return (yield from self.loop(test, None, None, body, lanes, frame))
            case ast.For(target, over, body, []):
                trips = yield from self.trips(over, lanes, frame)
                return (yield from self.loop(None, target, trips, body, lanes, frame))
            case ast.Break():
                frame.loops[-1][0].extend(lanes)
                return []
            case ast.Continue():
                frame.loops[-1][1].extend(lanes)
                return []
            case ast.Return(value):
                if value is None:
                    frame.returned.update({t: None for t in lanes})
                else:
                    frame.returned.update((yield from self.value(value, lanes, frame)))
                return []
            case _:
                raise NotImplementedError(ast.unparse(node))
        return lanes

    def trips(self, node, lanes, frame):
        """The values that a for loop runs over."""
        match node:
            case ast.Call(ast.Name("range" | "enumerate" | "zip" as kind), arguments):
                values = []
                for argument in arguments:
                    values.append((yield from self.trips(argument, lanes, frame)))
                make = {"range": range, "enumerate": enumerate, "zip": zip}[kind]
                made = {t: make(*[value[t] for value in values]) for t in lanes}
                return {t: made[t] if kind == "range" else list(made[t]) for t in lanes}
        values = yield from self.value(node, lanes, frame)
        return {t: plain(values[t]) for t in lanes}

    def loop(self, test, target, trips, body, lanes, frame):
        """A while loop (test) or a for loop (target, trips); runs until its last lane leaves."""
        out, active, trip = [], lanes, 0
        while active:
            if test is not None:
                active, leaving = yield from self.split(test, active, frame)
            else:
                leaving = [t for t in active if trip >= len(trips[t])]
                active = [t for t in active if trip < len(trips[t])]
                values = {t: trips[t][trip] for t in active}
                if active:
                    yield from self.assign(target, values, active, frame)
            out += leaving
            broken, continued = [], []
            frame.loops.append((broken, continued))
            active = yield from self.body(body, active, frame)
            frame.loops.pop()
            out += broken
            active = sorted(active + continued)
            trip += 1
        return sorted(out)

    def split(self, test, lanes, frame):
        truth = yield from self.value(test, lanes, frame)
        return [t for t in lanes if truth[t]], [t for t in lanes if not truth[t]]

    def assign(self, target, values, lanes, frame):
        match target:
            case ast.Tuple(elements):
                for k, element in enumerate(elements):
                    yield from self.assign(element, {t: values[t][k] for t in lanes}, lanes, frame)
            case ast.Name(name):
                frame.names.setdefault(name, {}).update({t: values[t] for t in lanes})
                first = values[lanes[0]]
                if isinstance(first, Row) and isinstance(first.array, Array):
                    # a shared array is called what it is first assigned to
                    first.array.name = first.array.name or name
            case ast.Subscript():
                place = yield from self.place(target, lanes, frame)
                yield from self.write(target, place, values, lanes)

    def place(self, node, lanes, frame):
        """The meaning of a subscript in each lane: a Row, or an item of a tuple or a table."""
        thing = yield from self.value(node.value, lanes, frame)
        match node.slice:
            case ast.Slice(lower, upper, step):
                bounds = [None if one is None else constant(one) for one in (lower, upper, step)]
                index = {t: slice(*bounds) for t in lanes}
            case _:
                index = yield from self.value(node.slice, lanes, frame)
        return {t: self.part(node, thing[t], index[t], t) for t in lanes}

    def part(self, node, thing, index, thread):
        """The part that an index leaves of an array, of its vectors, of a tuple or of a table."""
        if isinstance(thing, Vectors):
            *outer, last = index if type(index) is tuple else (index,)
            row = self.row(node, thing, (*outer, last), thread)
            return Vector(row.array, (*row.index[:-1], last * thing.count), row.fixed, thing.count)
        if isinstance(thing, Row):
            return self.row(node, thing, index, thread)
        return item_of(thing, index)

    def row(self, node, row, index, thread):
        """The part that indices leave of an array; all of them leave one element."""
        index = index if type(index) is tuple else (index,)
        for i, size in zip(index, row.shape, strict=False):
            if type(i) is not int or not 0 <= i < size:
                raise IndexError(f"{ast.unparse(node)} at {index} in thread {thread}")
        assert len(index) <= len(row.shape)
        row = row.row if isinstance(row, Vectors) else row
        return Row(row.array, row.index + index, len(row.index))

    def groups(self, place, lanes):
        """The lanes for which a name stands for the same array: these access it together.

        The arrays come in their order, of one array those with fewer fixed indices first.
        """
        found = {}
        for t in lanes:
            array, fixed = place[t].array, place[t].fixed
            found.setdefault((array.order, fixed), (array, []))[1].append(t)
        return [found[key] for key in sorted(found)]

    def read(self, node, place, lanes):
        """The values in a place; what is not an element stays what it is."""
        result = {t: place[t] for t in lanes}
        elements = [t for t in lanes if isinstance(place[t], Row) and not place[t].shape]
        elements = elements or [t for t in lanes if isinstance(place[t], Vector)]
        for array, some in self.groups(place, elements):
            index = {t: index_of(place[t]) for t in some}
            if isinstance(array, Array):
                result |= yield Access(node.lineno, array, "read", index, {})
            else:
                result |= {t: array.values[t][index[t][0]] for t in some}
        return result

    def write(self, node, place, values, lanes):
        for array, some in self.groups(place, lanes):
            index = {t: index_of(place[t]) for t in some}
            if isinstance(array, Array):
                yield Access(node.lineno, array, "write", index, {t: values[t] for t in some})
            else:
                for t in some:
                    array.values[t][index[t][0]] = values[t]

    def value(self, node, lanes, frame):
        """The value of an expression: {thread: number, tuple, Row or THREAD}."""
        match node:
            case ast.Constant(value):
                return {t: value for t in lanes}
            case ast.Name(name):
                found = frame.names.get(name)
                if found is None:
                    return {t: self.constants[name] for t in lanes}
                return {t: found[t] for t in lanes}
            case ast.Attribute(inner, name):
                things = yield from self.value(inner, lanes, frame)
                return {t: self.attribute(things[t], name, t) for t in lanes}
            case ast.Subscript():
                place = yield from self.place(node, lanes, frame)
                return (yield from self.read(node, place, lanes))
            case ast.Tuple(elements) | ast.List(elements):
                parts = yield from self.several(elements, lanes, frame)
                return {t: tuple(part[t] for part in parts) for t in lanes}
            case ast.BinOp(left, op, right):
                a = yield from self.value(left, lanes, frame)
                b = yield from self.value(right, lanes, frame)
                return {t: apply(op, a[t], b[t]) for t in lanes}
            case ast.UnaryOp(op, operand):
                a = yield from self.value(operand, lanes, frame)
                return {t: quiet(UNARY[type(op)], a[t]) for t in lanes}
            case ast.Compare(left, [ast.In() | ast.NotIn() as op], [comparator]):
                a = yield from self.value(left, lanes, frame)
                b = yield from self.value(comparator, lanes, frame)
                return {t: (a[t] in b[t]) == isinstance(op, ast.In) for t in lanes}
            case ast.Compare(left, ops, comparators):
                a, result, going = (yield from self.value(left, lanes, frame)), {}, lanes
                for op, comparator in zip(ops, comparators, strict=True):
                    if going:  # a chain goes on only where it is true so far
                        b = yield from self.value(comparator, going, frame)
                        result |= {t: compared(op, a[t], b[t]) for t in going}
                        a, going = b, [t for t in going if result[t]]
                return result
            case ast.BoolOp(op, operands):
                result, going = (yield from self.value(operands[0], lanes, frame)), lanes
                for operand in operands[1:]:
                    going = [t for t in going if bool(result[t]) == isinstance(op, ast.And)]
                    if going:
                        result |= yield from self.value(operand, going, frame)
                return result
            case ast.IfExp(test, body, orelse):
                result = {}
                parts = yield from self.split(test, lanes, frame)
                for part, some in zip((body, orelse), parts, strict=True):
                    if some:
                        result |= yield from self.value(part, some, frame)
                return result
            case ast.Call(ast.Name(name), arguments) if name in self.functions:
                return (yield from self.call(self.functions[name], arguments, lanes, frame))
            case ast.Call(ast.Name("len"), [argument]):
                things = yield from self.value(argument, lanes, frame)
                whole = {t: getattr(things[t], "shape", things[t]) for t in lanes}
                return {
                    t: whole[t][0] if whole[t] is not things[t] else len(things[t]) for t in lanes
                }
            case ast.Call(ast.Name(name), arguments):
                values = yield from self.several(arguments, lanes, frame)
                return {t: quiet(BUILTINS[name], *[v[t] for v in values]) for t in lanes}
            case ast.Call(ast.Attribute(ast.Name("math" | "mm" as module), name), arguments) if (
                name not in ("shared", "registers", "barrier", "vector")
            ):
                values = yield from self.several(arguments, lanes, frame)
                if name in OF_BITS:
                    return {t: OF_BITS[name](values[0][t]) for t in lanes}
                if module == "mm" and name not in ("fma", "exp10"):
                    return {t: fitted(values[0][t], np.dtype(name)) for t in lanes}
                with np.errstate(all="ignore"):
                    return {t: function(name, [v[t] for v in values]) for t in lanes}
            case ast.Call(ast.Attribute(ast.Name("mm"), "shared"), [shape], keywords):
                shape = yield from self.value(shape, lanes, frame)
                return dict.fromkeys(lanes, Row(self.declare(node, shape[lanes[0]], keywords), ()))
            case ast.Call(ast.Attribute(ast.Name("mm"), "vector"), [array, ast.Constant(count)]):
                rows = yield from self.value(array, lanes, frame)
                return {t: Vectors(rows[t], count) for t in lanes}
            case ast.Call(ast.Attribute(ast.Name("mm"), "registers"), [size]):
                size = yield from self.value(size, lanes, frame)
                return dict.fromkeys(lanes, Row(Registers(size[lanes[0]], lanes), ()))
            case ast.Call(ast.Attribute(ast.Attribute(ast.Name("mm"), "atomic"), op), arguments):
                return (yield from self.atomic(node, op, arguments, lanes, frame))
            case ast.Call(ast.Attribute(ast.Attribute(ast.Name("mm"), "warp"), op), arguments):
                values = yield from self.several(arguments, lanes, frame)
                return {} if op == "sync" else exchange(op, self.launch, lanes, values)
            case ast.Call(ast.Attribute(inner, "conjugate"), []):
                a = yield from self.value(inner, lanes, frame)
                return {t: a[t].conjugate() for t in lanes}
            case ast.Call(ast.Attribute(ast.Name(name), kind), arguments):
                assert frame.names[name][lanes[0]] is THREAD
                self.check_barrier(lanes)
                if not arguments:
                    yield Meeting({"barrier": "block", "grid_barrier": "grid"}[kind])
                    return {}
                tests = yield from self.value(arguments[0], lanes, frame)
                tests = {t: bool(tests[t]) for t in lanes}
                return (yield Meeting("block", kind.removeprefix("barrier_"), tests))
        raise NotImplementedError(ast.unparse(node))

    def several(self, nodes, lanes, frame):
        """The values of several expressions, from left to right."""
        found = []
        for node in nodes:
            found.append((yield from self.value(node, lanes, frame)))
        return found

    def atomic(self, node, op, arguments, lanes, frame):
        """One access that reads and writes; what it read."""
        row, index, *given = yield from self.several(arguments, lanes, frame)
        place = {t: self.row(node, row[t], index[t], t) for t in lanes}
        result = {}
        for array, some in self.groups(place, lanes):
            at = {t: place[t].index for t in some}
            values = {t: [one[t] for one in given] for t in some}
            result |= yield Access(node.lineno, array, "atomic", at, values, op)
        return result

    def attribute(self, thing, name, thread):
        """A field of the thread, or what is known of an array's or a table's shape."""
        if thing is THREAD:
            return self.launch.attribute(name, thread)
        if isinstance(thing, Triple):
            return {"x": thing.x, "y": thing.y, "z": thing.z}[name]
        if name in ("real", "imag"):
            return getattr(thing, name)
        shape = tuple(thing.shape)
        return {"shape": shape, "ndim": len(shape), "size": int(np.prod(shape))}[name]

    def call(self, function, arguments, lanes, frame):
        values = yield from self.several(arguments, lanes, frame)
        names = [parameter.arg for parameter in function.args.args]
        inner = Frame(dict(zip(names, values, strict=True)))
        yield from self.body(function.body, lanes, inner)
        return {t: inner.returned.get(t) for t in lanes}

    def declare(self, node, shape, keywords):
        """A declaration makes one array, with a zero-filled copy in every block."""
        position = (node.lineno, node.col_offset)
        if position not in self.shared:
            dtype = ast.unparse(keywords[0].value).strip("'\"") if keywords else "float64"
            dtype = {"int": "int64", "float": "float64", "complex": "complex128"}.get(
                dtype, dtype.split(".")[-1]
            )
            copies = [np.zeros(shape, dtype) for _ in range(self.launch.blocks)]
            order = self.parameters + len(self.shared)
            self.shared[position] = Array(None, copies, True, order)
        return self.shared[position]

    def check_barrier(self, lanes):
        warps = {self.launch.warp_of[t] for t in lanes}
        live = [t for t in self.lanes if t not in self.main.returned]
        if any(self.launch.warp_of[t] in warps and t not in lanes for t in live):
            raise ValueError("only some of a warp's live lanes reach a barrier")


# ---------------------------------------------------------------- the clocks


class Memory:
    """The memory units of a machine: which one serves whom, by which conflicts, how late."""

    def __init__(self, machine, launch):
        self.machine, self.launch = machine, launch
        self.dmms = machine.dmms if isinstance(machine, RefHMM | RefOwn) else 1
        names = [f"shared[{k}]" for k in range(self.dmms)]
        if isinstance(machine, RefOwn):
            rules = [machine.memory, *machine.shared]
            self.rules = dict(zip(["global", *names], rules, strict=True))
        elif isinstance(machine, RefHMM):
            self.rules = {"global": ("group", machine.width, machine.global_latency)}
            of_dmms = "bank", machine.width, machine.shared_latency
            self.rules |= dict.fromkeys(names, of_dmms)
        else:
            conflict = "group" if isinstance(machine, RefUMM) else "bank"
            self.rules = {"memory": (conflict, machine.width, machine.latency)}
        self.units = list(self.rules)

    def dmm(self, warp):
        return self.launch.block_of(self.launch.warps[warp][0]) % self.dmms

    def unit(self, access, warp):
        if "memory" in self.units:
            return "memory"
        return f"shared[{self.dmm(warp)}]" if access.array.shared else "global"

    def dispatch(self, access, warp, now, outcome):
        """Serve a warp from `now` on: how many stages, when it completes, what it reads."""
        unit = self.unit(access, warp)
        threads = [t for t in self.launch.warps[warp] if t in access.index]
        conflict, width, latency = self.rules[unit]
        stages = count_stages(access, threads, conflict, width, self.launch)
        end = now + stages + latency - 1
        what = (now, unit, warp, access.line, access.array.name, access.kind, stages, end)
        outcome.dispatches.append(what)
        outcome.time = max(outcome.time, end)
        return stages, end, perform(access, threads, self.launch)


def synchronous(memory, start, outcome):
    """One sequencer for all threads; a round ends when its last request has completed."""
    launch, now, answer = memory.launch, 0, None
    program = start(list(range(launch.threads)))
    while True:
        try:
            access = program.send(answer)
        except StopIteration:
            break
        answer = None
        if isinstance(access, Meeting):  # lock step makes it idle
            answer = access.answer(launch, [access])
            continue
        answer, total, free = {}, 0, {unit: now for unit in memory.units}
        for warp, threads in enumerate(launch.warps):
            if any(t in access.index for t in threads):
                unit = memory.unit(access, warp)
                stages, _, got = memory.dispatch(access, warp, free[unit], outcome)
                free[unit] += stages
                total += stages
                answer |= got
        outcome.rounds.append(
            (access.line, access.array.name, access.kind, total, outcome.time - now)
        )
        now = outcome.time
    outcome.dispatches.sort(key=lambda d: (d[0], memory.units.index(d[1])))


class Warp:
    """A warp with a sequencer of its own: it is ready, in flight, at a barrier or finished."""

    def __init__(self, program, block):
        self.program, self.block = program, block
        self.completion, self.answer = None, None  # of the request in flight
        self.advance()

    def advance(self):
        """Local work takes no time: go on to the next request, barrier or the end."""
        try:
            self.event = self.program.send(self.answer)
        except StopIteration:
            self.event = "end"
        self.completion = self.answer = None

    def is_ready(self):
        return isinstance(self.event, Access) and self.completion is None


def after(last, candidates):
    """The first candidate after `last` in circular order."""
    return min((c for c in candidates if c > last), default=min(candidates))


def asynchronous(memory, start, outcome):
    """Every warp its own sequencer; a free unit takes the next ready warp in turn."""
    launch = memory.launch
    warps = [Warp(start(threads), launch.block_of(threads[0])) for threads in launch.warps]
    free = {unit: 0 for unit in memory.units}
    # A unit takes its DMMs in turn and within each its warps. Only the global unit of an HMM
    # sees more than one DMM, so elsewhere this is the plain circular order of the warps.
    last_dmm = {unit: -1 for unit in memory.units}
    last_warp = {(unit, dmm): -1 for unit in memory.units for dmm in range(memory.dmms)}
    now = 0
    while True:
        for warp in warps:
            if warp.completion == now:
                warp.advance()
        while release_one(warps, launch, now, outcome):
            pass
        if all(warp.event == "end" for warp in warps):
            return
        for unit in memory.units:
            ready = [
                number
                for number, warp in enumerate(warps)
                if warp.is_ready() and memory.unit(warp.event, number) == unit
            ]
            if ready and free[unit] <= now:
                dmm = after(last_dmm[unit], [memory.dmm(number) for number in ready])
                mine = [number for number in ready if memory.dmm(number) == dmm]
                number = after(last_warp[unit, dmm], mine)
                last_dmm[unit], last_warp[unit, dmm] = dmm, number
                warp = warps[number]
                stages, end, got = memory.dispatch(warp.event, number, now, outcome)
                warp.completion, warp.answer = end, got
                free[unit] = now + stages
        now += 1


def release_one(warps, launch, now, outcome):
    """Release those who all wait for each other, if there are: a block's warps, or the grid's."""
    everybody = [warp for warp in warps if warp.event != "end"]
    groups = [("grid", everybody)]
    groups += [("block", [w for w in everybody if w.block == b]) for b in range(launch.blocks)]
    for scope, group in groups:
        meetings = [warp.event for warp in group]
        if group and all(isinstance(one, Meeting) and one.scope == scope for one in meetings):
            outcome.releases += [(now, block) for block in sorted({warp.block for warp in group})]
            for warp in group:
                warp.answer = warp.event.answer(launch, meetings)
                warp.advance()
            return True
    return False


def evaluate(source, name, machine, args, threads, block_size, schedule, shape=None):
    """Run function `name` of the text `source` on the machine."""
    if block_size is None:
        if isinstance(machine, RefHMM | RefOwn):
            raise ValueError("the rules name no default block size for the HMM")
        block_size = threads
    tree = ast.parse(source)
    launch = Launch(threads, block_size, machine.width, shape)
    function = next(f for f in tree.body if getattr(f, "name", None) == name)
    arguments, outcome, shared = [], Outcome(), {}
    for parameter, given in zip(function.args.args[1:], args, strict=True):
        placed = given if isinstance(given, RefPlaced) else RefPlaced(given, None)
        if isinstance(placed.array, np.ndarray):
            copy = placed.array.copy()
            outcome.arrays[parameter.arg] = copy
            arguments.append(Array(parameter.arg, [copy], False, len(arguments), placed.offsets))
        else:
            arguments.append(given.item() if isinstance(given, np.generic) else given)

    def start(lanes):
        return Sequencer(tree, launch, shared).program(name, arguments, lanes)

    schedules = {"synchronous": synchronous, "asynchronous": asynchronous}
    schedules[schedule](Memory(machine, launch), start, outcome)
    return outcome
