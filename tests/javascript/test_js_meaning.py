"""Programs in JavaScript, in Chromium, compute Python's values and make Python's mistakes."""

import random
import re
import warnings
from itertools import product

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import MMSimError
from mmsim.ir import nodes as ir
from mmsim.ir.operators import CHECKS, OR_ZERO, TABLES, NoValue, result_of, row_of
from mmsim.ir.shapes import NOWHERE
from mmsim.ir.typed import computing, may_refuse
from mmsim.javascript.representation import number
from mmsim.model.layout import RAP
from tests.kit.generators.random_programs import cases, define, drawn
from tests.kit.views.js_engine import JsEngine, case_of

SCHEDULES = "synchronous", "asynchronous"
MACHINES = (
    mm.UMM(width=4, latency=2),
    mm.HMM(dmms=2, width=4, global_latency=9, shared_latency=2),
)
FEW, MANY = 12, 150  # operands of each operation
MUTANTS, MANY_MUTANTS = 15, 1000


@pytest.fixture(scope="module")
def engine(shared_page):
    return JsEngine(shared_page)


# ------------------------------------------------------------ operations, one by one

INEXACT = {
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt", "hypot", "pow", "exp10"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh"),
    *("asinh", "acosh", "atanh", "erf", "erfc", "gamma", "lgamma", "**", "finite **"),
}
"""Operations whose last bits may differ."""
EDGES = {
    "i": (0, 1, 2, 3, 7, 31, 32, 63, 64, 100, -1, -2, -3, -64),
    "u": (0, 1, 2, 3, 7, 31, 32, 63, 64, 100),
    "f": (
        *(0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5, -2.5, 3.0, np.inf, -np.inf, np.nan),
        *(1e-5, 1e5, 2.0**31, 2.0**53, 2.0**63, -(2.0**63), 2.0**64, 65504.0, 65520.0, 5e-324),
    ),
}
EXPONENTS = (-4, -3, -2, -1, 0, 1, 2, 3, 8, 0.5, -0.5)
"""Powers with these are rounded exactly."""
NEAR_SAFE = (2**53 - 1, 2**53, 2**53 + 1, 2**32, 2**31, 2**52 + 12345, 10**15 + 7)
"""Integers that a Number of JavaScript holds, or just does not hold."""

OPERATIONS = """(
(found) => found.flatMap(({ node, op, held, type, operands, results, near }) => {
  const value = { node, op, operand: 0, left: 0, right: 0, operands: [] };
  const isSame = (one, other) => Object.is(one, other)
    || (near && Math.abs(one - other) <= Math.max(2 ** near[0] * Math.abs(one), 2 ** near[1]));
  return operands.flatMap((given, at) => [false, true].flatMap((isUniform, which) => {
    const expected = results[at][which];
    let own;
    try {
      own = computingOf(value, held, type, isUniform)(...given.map(decodedNumber));
    } catch (error) {
      if (error !== REFUSED) throw error;
      own = refusalOf(value);
    }
    const right = typeof expected === "string" ? expected : decodedNumber(expected);
    const parts = (one) => (typeof one === "object" ? [one.re, one.im] : [one]);
    if (parts(right).every((part, k) => isSame(part, parts(own)[k]))) return [];
    return [`${op} of ${held} ${JSON.stringify(given)}: ${String(right)}, but ${String(own)}`];
  }));
}))
"""


def operands(dtype, count, draws):
    """Numbers of a type: small ones, any ones, and those at which arithmetic changes."""
    if dtype.kind == "b":
        return np.array(draws.choices([False, True], k=count))
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        found = np.empty(count, dtype)
        found.real, found.imag = operands(part, count, draws), operands(part, count, draws)
        return found
    if dtype.kind == "f":
        ways = (
            lambda: draws.choice(EDGES["f"]),
            lambda: draws.randint(-40, 40) / 4,
            lambda: draws.gauss(0, 1) * 10.0 ** draws.randint(-8, 8),
        )
        with np.errstate(all="ignore"):
            return np.array([draws.choice(ways)() for _ in range(count)]).astype(dtype)
    low, high = np.iinfo(dtype.name).min, np.iinfo(dtype.name).max
    edges = [*EDGES[dtype.kind], low, low + 1, high, high - 1, *NEAR_SAFE, *(-x for x in NEAR_SAFE)]
    edges = [one for one in edges if low <= one <= high]
    ways = (
        lambda: draws.choice(edges),
        lambda: draws.randint(max(low, -20), 20),
        lambda: draws.randint(low, high) >> draws.randint(0, dtype.itemsize * 8 - 1),
    )
    return np.array([draws.choice(ways)() for _ in range(count)], dtype)


def occurs(kind, op, row, dtype):
    """Return whether the lowered form has an operation of numbers of this type."""
    held, name = dtype.kind, dtype.name
    if op.endswith(OR_ZERO):
        return False  # of Numba's kernels
    if name == "float16":
        return row.kind in ("cast", "compare", "extreme") or op in ("nextafter", "as_integer")
    if kind is ir.Compare:
        return name in ("int64", "uint64") or held in "fb" or (held == "c" and not row.complex)
    if row.kind == "cast":
        by_single = row.gives == np.float16 and dtype.itemsize == 8 and held != "f"
        return not by_single and (held != "c" or row.gives.kind in "cb")
    if row.kind == "check":
        return held in ("iufc" if "zero" in row.refused else "i")
    if row.takes in ("float", "bits"):
        kinds = {"float": "f", "bits": "iub" if kind is ir.Binary and row.kind == "bits" else "iu"}
        return held in kinds[row.takes] and (op != "as_float" or dtype.itemsize > 1)
    if row.kind in ("not", "index"):
        return name == {"not": "bool", "index": "int64"}[row.kind]
    if held == "b":
        return row.kind == "extreme"
    return (held != "c" or callable(row.complex) or row.kind == "function") and (
        op != "finite **" or name == "float64"
    )


def with_values(row, dtype, columns):
    """Operands that pass the checks in front of an operation."""
    if len(columns) < 2:
        return columns
    if dtype.kind == "f":
        if row.kind == "power":
            columns[1][::2] = np.resize(EXPONENTS, len(columns[1][::2]))
        return columns
    second = columns[1]
    if row.kind == "shift":
        second[second < 0] = 5
    elif row.kind == "power":
        columns[1] = second & dtype.type(15)
    elif row.kind in ("division", "quotient"):
        second[second == 0] = 3
    elif row.kind == "index":
        second[second < 0] = 9
    return columns


def computed(value, of, given):
    """The result of arrays and that of numbers, or the messages that there is none."""
    mask = (True,) * may_refuse(value, of)
    compute, found = computing(value, of), []
    for values in ([np.array([one]) for one in given], [one.item() for one in given]):
        try:
            result = np.asarray(compute(*values, *mask)).ravel()[0]
            found.append(number(result.item()))
        except NoValue as refusal:
            found.append(refusal.message)
    return found


def operation(kind, op, dtype, count, draws):
    """An operation on some operands, as data."""
    row = TABLES[kind][op]
    names = tuple(ir.Var(name, NOWHERE) for name in "xyz"[: row.arity])
    value = kind(op, names, NOWHERE) if kind is ir.Call else kind(op, *names, NOWHERE)
    assert row_of(value) is row
    columns = [operands(dtype, count, draws) for _ in names]
    given = list(zip(*with_values(row, dtype, columns), strict=True))
    with np.errstate(all="ignore"):
        results = [computed(value, lambda _: dtype, one) for one in given]
    near = (
        {"float32": (-22, -147), "float64": (-49, -1072)}.get(dtype.name) if op in INEXACT else None
    )
    return {
        **{"node": kind.__name__, "op": op, "held": dtype.name},
        **{"type": result_of(value, dtype).name, "near": near, "results": results},
        "operands": [[number(one.item()) for one in operands] for operands in given],
    }


def agree_on_operations(engine, count, seed):
    draws = random.Random(seed)
    types = [np.dtype(name) for name in mm.ir.dtypes.SUPPORTED]
    found = [
        operation(kind, op, dtype, count, draws)
        for kind, rows in TABLES.items()
        for (op, row), dtype in product(rows.items(), types)
        if occurs(kind, op, row, dtype)
    ]
    assert {one["op"] for one in found} >= {*CHECKS, "+", "%", "brev", "from end", "float16"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert engine.call(OPERATIONS, found) == []


def test_operations(engine):
    agree_on_operations(engine, FEW, 1)


@pytest.mark.long
def test_operations_on_many_operands(engine):
    for seed in range(10):
        agree_on_operations(engine, MANY, seed)


def test_numbers_as_python_shows_them(engine):
    floats = [0.0, -0.0, 1.0, 1e16, 123456789.125, 1e-4, 9.99e-5, 1e22, 5e-324, np.inf, np.nan, 0.1]
    given = [
        *((np.dtype(name).type(one).item(), name) for one in floats for name in ("f8", "f4")),
        *((complex(x, y), "c16") for x, y in product((0.0, -0.0, 1.5, np.nan), repeat=2)),
        *((True, "bool"), (2**63, "u8"), (-(2**63), "i8")),
    ]
    encoded = [[number(one), np.dtype(name).name] for one, name in given]
    shown = "((all) => all.map(([one, type]) => textOf(decodedNumber(one), type)))"
    assert engine.call(shown, encoded) == [str(one) for one, _ in given]


# ------------------------------------------------------------ mistakes

PARAMETERS = "T, a, b, c, f, u, z, n"
FAULTS = r"""
a[T.id - 2] = 1
x = a[T.id + n]
x = a[3 - T.id]
x = c[T.id % 4, T.id]
x = c[T.id, T.id]
x = c[T.id]
x = a[T.id * 0.5]
x = a[z[T.id]]
a[a[T.id] // (T.id - 5)] = 1
a[T.id] = a[T.id] % (T.id - 2) + 1 // (T.id - 1)
a[T.id] = 1 // (T.id - 3) + a[T.id] % (T.id - 1)
f[T.id] = 1.0 / (f[T.id] - 3.0)
f[T.id] = (T.id - 6.0) % (T.id - 4.0)
z[T.id] = 1 / (z[T.id] - 2)
a[T.id] = 1 << (3 - T.id)
a[T.id] = 1 >> (n - T.id)
a[T.id] = 2 ** (4 - T.id)
f[T.id] = (3.5 - T.id) ** 0.3
f[T.id] = 10.0 ** (T.id * 100)
a[T.id] = int(f[T.id] ** 300)
a[T.id] = int(f[T.id] * math.inf)
b[T.id] = mm.int8(f[T.id] * 100.0)
b[T.id] = a[T.id] * 30
b[a[T.id]] = u[T.id]
a[T.id] = u[T.id] + 2 ** 62
c[T.id % 4, T.id % 2] = 2 ** T.id * 2 ** 40
if T.id > 2:\n    x = 1\na[T.id] = x
if T.id == n:\n    a[0] = x\nx = 1
while a[T.id] > 2:\n    y = a[T.id]\n    break\na[T.id] = y
a[T.id] = 1 if T.id < 5 else 1 // (T.id - 6)
a[T.id] = T.id < 5 or 1 // (T.id - 6) > 0
x = (T.id > 1 and a[T.id + 3] > 2)
r = mm.registers(3)\nr[T.id] = 1
r = mm.registers(3, dtype=int)\na[T.id] = r[a[T.id] - 1]
r = mm.registers(3, dtype=mm.int8)\nr[0] = a[T.id] * 40
a[T.id] = TABLE[T.id]
a[T.id] = TABLE[-T.id]
s = mm.shared(2)\ns[T.index] = 1
s = mm.shared(n - 3)\ns[T.id] = 1
s = mm.shared(n // (n - 3))\ns[T.id] = 1
for k in range(0, 5, T.id - 3):\n    a[T.id] = k
for k in range(T.id, 10**9):\n    a[T.id] = k
while T.id < 4:\n    x = 1
while a[0] == 0:\n    f[T.id] = 2.0
if T.lane == 1:\n    while a[1] == 1:\n        b[0] = 2
if T.id != 2:\n    a[T.id] = mm.warp.shuffle(T.id, T.id + 1)
if T.lane < 2:\n    a[T.id] = mm.warp.shuffle_down(T.id, 1)
a[T.id] = mm.warp.shuffle_up(T.id, 3 - T.id)
a[T.id] = mm.warp.shuffle(T.id, 3)
if T.id % 2 == 1:\n    T.barrier()\na[T.id] = 1
if T.lane > 1:\n    x = T.barrier_or(T.id > 2)\na[T.id] = 1
if T.id < 6:\n    a[T.id] = 5\n    T.barrier()\n    a[T.id] = 6
mm.vector(a, 2)[T.id] = (T.id, T.id)
x, y, v, w = mm.vector(c, 4)[T.id, 0]
x, y = mm.vector(p, 2)[T.id % 4, 1]
mm.vector(b, 2)[T.id % 4] = (1, a[T.id] * 50)
x = mm.vector(a, 4)[T.id - 1, 0]
x = a.shape[2]
a[T.id] = got(T.id)
mm.atomic.add(a, T.id * 2, 1)
mm.atomic.cas(a, T.id, 1 // T.id, T.id + n * T.id)
x = mm.atomic.exch(a, 0, 1 // (T.id - 7))
T.grid_barrier()\na[T.id + 1] = 2
"""
HELPERS = """\
import math
import numpy as np
import mmsim as mm
TABLE = (4, 5, 6)
def got(x):
    if x < 4:
        return x
"""


def faulty_programs():
    """Programs of one statement or a few, most of them with a mistake."""
    for text in FAULTS.strip().splitlines():
        lines = text.replace("\\n", "\n").splitlines()
        parameters = PARAMETERS + ", p" * ("(p" in text)
        head = [*HELPERS.splitlines(), f"def program({parameters}):"]
        source = "\n".join([*head, *(f"    {line}" for line in lines)]) + "\n"
        yield text, mm.program(define(source, "program"))


def given_arrays(program):
    n = 8
    found = [
        *(np.arange(n), np.zeros(n, np.int8), np.zeros((4, 2), np.int32), np.arange(n) * 1.0),
        *(np.arange(n, dtype=np.uint64) * 2**61, np.arange(n) * (1 + 0j), 3),
    ]
    if "p" in (one.name for one in program.code.parameters):
        found.append(mm.place(np.arange(16).reshape(4, 4), RAP(4, seed=1)))
    return tuple(found)


def agree_on_mistakes(engine, turn):
    """Compare all programs with a mistake; in the other turn, under the other schedule."""
    kinds = set()
    for at, (text, program) in enumerate(faulty_programs()):
        which = (at // 2 + turn) % 2
        sizes = {"threads": 8, "block_size": (8, 4, 3)[at % 3], "max_accesses": 200}
        sizes["schedule"], machine = SCHEDULES[which], MACHINES[(at + which) % 2]
        case = case_of(machine, program, given_arrays(program), **sizes)
        error = case["expected"]["error"]
        if error is not None:
            kinds.add(error["kind"])
            error["index"] = [_as_object(one) for one in error["index"]]
        found = engine.disagreement(case)
        assert found is None, (text, sizes, found)
    assert kinds >= {
        *("AddressError", "ArithmeticFault", "BarrierError", "EndlessError", "ExchangeError"),
        *("TypeFault", "UnassignedError", "VectorError"),
    }


def test_mistakes_have_pythons_message_thread_and_place(engine):
    agree_on_mistakes(engine, 0)


@pytest.mark.long
def test_mistakes_under_the_other_schedule(engine):
    agree_on_mistakes(engine, 1)


def _as_object(one):
    return {"re": one.real, "im": one.imag} if isinstance(one, complex) else one


# ------------------------------------------------------------ random programs with a mistake

NUMBERS = "0", "1", "2", "7", "100", "4000000000", "9223372036854775807"
BESIDE = "-1 + ", "T.id + ", "2 * ", "T.lane - 1 + ", "1.5 * "
DIVISORS = "(T.id - 2) * ", "(3 - T.lane) + ", "-"
CONDITIONS = "if T.id % 2 == 0:", "if T.id > 3:", "while T.id < 0:", "for zz in range(T.id % 2):"
STATEMENTS = (
    *("T.barrier()", "if T.id % 3 == 1: T.barrier()", "if T.id == 2: T.grid_barrier()"),
    *("if T.lane == 0: return", "for q in range(0, 5, T.id - 1): pass"),
    *("zq = mm.warp.shuffle(T.id, T.id + 1)", "while a[0] == a[0]: pass"),
)
FORMS = "1000 * ({})", "int({})", "({}) - T.id * 70000", "({}) ** 30"


def replaced(line, pattern, draws, change):
    """A line with a change of one place that fits a pattern, if there is one."""
    places = list(re.finditer(pattern, line))
    if not places:
        return line
    place = draws.choice(places)
    return line[: place.start()] + change(place) + line[place.end() :]


def mutated(source, draws):
    """A program's text with a change that may be a mistake."""
    lines = source.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("def program"))
    at = draws.choice([k for k in range(start + 1, len(lines)) if lines[k].strip()])
    line = lines[at]
    margin = line[: len(line) - len(line.lstrip())]
    sets = re.match(r"\s*\w+ = (?!mm\.)", line)
    way = draws.randrange(7)
    if way == 0:
        pattern = r"(?<![\w.])\d+(?![\w.])"
        lines[at] = replaced(line, pattern, draws, lambda _: draws.choice(NUMBERS))
    elif way == 1:
        lines[at] = replaced(line, r"\[", draws, lambda _: "[" + draws.choice(BESIDE))
    elif way == 2:
        pattern = r"(//|%|<<|>>|\*\*|/) "
        lines[at] = replaced(line, pattern, draws, lambda one: one[0] + draws.choice(DIVISORS))
    elif way == 3:
        lines.insert(at, margin + draws.choice(STATEMENTS))
    elif way == 4 and sets:
        lines[at] = f"{margin}{draws.choice(CONDITIONS)} {line.strip()}"
    elif way == 5 and sets:
        lines[at] = f"{margin}pass"
    elif way == 6 and sets:
        lines[at] = sets[0] + draws.choice(FORMS).format(line[sets.end() :])
    return "\n".join(lines) + "\n"


def agree_on_mutants(engine, most, seed):
    draws, kinds = random.Random(seed), {}
    for case in drawn(cases(), most, seed):
        try:
            source = mutated(mutated(case.source, draws), draws)
            program = mm.program(define(source, "program"))
            sizes = {"threads": case.threads, "block_size": case.block_size, "max_accesses": 3000}
            sizes["schedule"], machine = draws.choice(SCHEDULES), draws.choice(MACHINES)
            made = case_of(machine, program, tuple(case.arguments), **sizes)
        except (MMSimError, SyntaxError, MemoryError):  # the text isn't in the language any more
            continue
        error = made["expected"]["error"]
        kind = error and error["kind"]
        kinds[kind] = kinds.get(kind, 0) + 1
        if kind == "RoomError":  # a page has less room
            continue
        found = engine.disagreement(made)
        assert found is None, (found, sizes, program.function)
    return kinds


def test_random_programs_with_a_mistake(engine):
    kinds = agree_on_mutants(engine, MUTANTS, 3)
    assert len(kinds) > 2, kinds


@pytest.mark.long
def test_many_random_programs_with_a_mistake(engine):
    kinds = {}
    for seed in range(MANY_MUTANTS // 100):
        for kind, count in agree_on_mutants(engine, 100, seed).items():
            kinds[kind] = kinds.get(kind, 0) + count
    assert kinds.keys() >= {"AddressError", "ArithmeticFault", "BarrierError", "ExchangeError"}
