"""Texts of programs as the page's parser reads them, next to what Python's front end gives.

The browser's tests skip themselves where Playwright or Debian's chromium is missing.
"""

import enum
import linecache
import math
import warnings
from random import Random

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import LanguageError
from mmsim.frontend.program import Program
from mmsim.javascript.representation import number, plain
from mmsim.javascript.text import text_of
from mmsim_algorithms import programs
from tests.kit.fuzzing.corpus import Original, of_docs, random_ones
from tests.kit.fuzzing.programs import make_program
from tests.kit.fuzzing.surroundings import FILE, define
from tests.kit.fuzzing.texts import mutate_text
from tests.kit.generators import race_free_programs, random_programs, simple_programs
from tests.kit.views.js_difference import DIFFERENCE
from tests.kit.views.js_engine import JsEngine

HEAD = "import math\nimport numpy as np\nimport mmsim as mm\n\n\n"

COMPARED = """
/** What `read` gives, or what the error says. */
const readOrRefused = (read) => {
  try {
    return read();
  } catch (error) {
    if (error instanceof NotPython) return { kind: "SyntaxError" };
    if (!(error instanceof MMSimFault)) throw error;
    const { kind, text, place } = error;
    return kind === "SyntaxError" ? { kind } : { kind, text, place };
  }
};

const textsDiffer = (cases) => cases.map(({ text, file, expected }) => {
  const found = readOrRefused(() => ({ programs: programsOf(text, file).programs }));
  const different = differenceIn(expected, found);
  return different === null ? null : `${text}\\n${different}`;
}).filter((one) => one !== null);

const refusalsOf = (texts) => texts.map((text) => {
  const { kind, text: said } = readOrRefused(() => programsOf(text, "x.py"));
  return [kind ?? "none", said ?? ""];
});

/** The last function of a text with surroundings, as Python's `define` has it, as a program. */
const lastProgram = (text, file, numbers) => {
  const lines = linesOfText(text);
  const { body, tokens } = treeOf(lines);
  const [mmsim, np, math] = ["mmsim", "numpy", "math"].map(moduleNamed);
  const items = [0, 1, 2, 3].map(intObject);
  const other = (type) => ({ is: "other", type });
  const globals = new Map(Object.entries({
    __name__: { is: "str", value: "x" }, __builtins__: other("dict"), mm: mmsim, np, math,
    __nothing__: other("function"), shared: mmsim.members.get("shared"), LISTED: other("dict"),
    registers: mmsim.members.get("registers"), min_of: mmsim.members.get("program"),
    NUMBER: intObject(10n ** 5000n), WORDS: { is: "list", items: items.slice(1) },
    TABLE: { is: "array", dtype: "int64", shape: [4], items }, TRAP: other("Trap"),
    ...Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, objectsOf(value)])),
  }));
  const top = body[0]?.kind === "If" ? body[0].body : body;
  for (const node of top) {
    if (!["FunctionDef", "AsyncFunctionDef"].includes(node.kind)) continue;
    const defaults = node.args.defaults.map((one) => (one.kind === "Constant" ? one.value : NONE));
    const own = { is: "function", name: node.name, globals, defaults };
    globals.set(node.name, { ...own, text: new FunctionText(node, file, lines, tokens) });
  }
  const last = [...globals.values()].filter((one) => one.is === "function").at(-1);
  if (last === undefined) return { kind: "none" };
  last.text.requireFunction();
  return returnsValue(last) ?? codeOfProgram(last);
};

const objectsOf = (value) =>
  (Array.isArray(value) ? { is: "tuple", items: value.map(objectsOf) } : objectOf(value));

const mutantsDiffer = (cases) => cases.map(({ text, file, numbers, expected }) => {
  const found = readOrRefused(() => lastProgram(text, file, numbers));
  const different = differenceIn(expected, found);
  return different === null ? null : `${text}\\n${different}`;
}).filter((one) => one !== null);
"""


@pytest.fixture(scope="module")
def engine(shared_page):
    found = JsEngine(shared_page)
    found.page.add_script_tag(content=DIFFERENCE + COMPARED)
    return found


def module_of(text, file):
    """The names of a text's module."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space = {"__name__": "<module>"}
    with warnings.catch_warnings(action="ignore"):
        exec(compile(text, file, "exec", dont_inherit=True), space)
    return space


def refusal(error):
    return {"kind": "LanguageError", "text": str(error), "place": plain(error.place)}


def case(text, file):
    """A text, and what Python makes of it: its programs, or the refusal."""
    try:
        found = module_of(text, file).values()
        made = {one.name: one for one in found if isinstance(one, Program) and not one.is_helper}
        expected = {"programs": {name: plain(one.code) for name, one in made.items()}}
    except LanguageError as error:
        expected = refusal(error)
    except SyntaxError:
        expected = {"kind": "SyntaxError"}
    return {"text": text, "file": file, "expected": expected}


def agree(engine, texts, label):
    cases = [case(text, f"<{label} {k}>") for k, text in enumerate(texts)]
    assert engine.call("textsDiffer", cases) == []


def without_places(part):
    """A representation with the text at a place for the place, and without the sources."""
    if isinstance(part, list):
        return [without_places(one) for one in part]
    if not isinstance(part, dict):
        return part
    if part.get("node") == "Place":
        return part["text"][part["column"] : part["end_column"]]
    return {name: without_places(one) for name, one in part.items() if name != "sources"}


def decorated(case):
    """The whole text of a random program."""
    head, body = case.source.split("def program(", 1)
    return f"{HEAD}{head}@mm.program\ndef program({body}"


# ------------------------------------------------------------ shipped programs


def test_shipped_programs_from_their_texts(engine):
    texts = []
    for k, program in enumerate(programs()):
        texts.append(text_of(program))
        again = module_of(texts[-1], f"<again {k}>")[program.name]
        assert without_places(plain(again.code)) == without_places(plain(program.code))
    assert len(texts) > 130
    agree(engine, texts, "shipped")


# ------------------------------------------------------------ text_of

FACTOR, TABLE, INFINITE = 3, np.array([[1, 2], [3, 4]], np.int16), (math.inf, -0.0, 1 + 2j)


class Sizes:
    WIDTH = 4


class Odd(enum.Enum):
    SIZE = 4


def twice(x, by=FACTOR):
    # two times
    return x * by


another = twice


def test_a_text_has_everything_that_a_program_uses(engine):
    captured = 5

    @mm.program
    def uses(T, a, n=FACTOR):  # a comment
        """Many objects."""
        row = TABLE[n % 2]
        x = another(a[T.id]) + captured + Sizes.WIDTH  # another comment
        a[T.id] = x + row[0] + INFINITE[1] + math.floor(2.5) + np.float32(1)

    text = text_of(uses)
    assert text == (
        "import math\nimport numpy as np\nimport mmsim as mm\n\n"
        "TABLE = np.array([[1, 2], [3, 4]], dtype=np.int16)\n"
        "captured = 5\n"
        'INFINITE = (float("inf"), -0.0, complex(1.0, 2.0))\n\n\n'
        "class Sizes:\n    WIDTH = 4\n\n\n"
        "def twice(x, by=3):\n    # two times\n    return x * by\n\n\n"
        "another = twice\n\n\n"
        "@mm.program\ndef uses(T, a, n=3):  # a comment\n"
        '    """Many objects."""\n    row = TABLE[n % 2]\n'
        "    x = another(a[T.id]) + captured + Sizes.WIDTH  # another comment\n"
        "    a[T.id] = x + row[0] + INFINITE[1] + math.floor(2.5) + np.float32(1)\n"
    )
    again = module_of(text, "<everything>")["uses"]
    assert without_places(plain(again.code)) == without_places(plain(uses.code))
    agree(engine, [text], "everything")


def helper_with(value):
    def helper():
        return value

    return helper


def test_two_objects_of_one_name_are_refused():
    one, two = helper_with(1), helper_with(2)

    @mm.program
    def both(T, a):
        a[T.id] = one() + two()

    with pytest.raises(LanguageError, match="two objects are called 'helper'"):
        text_of(both)


def test_an_object_without_a_text_is_refused():
    @mm.program
    def odd(T, a):
        a[T.id] = Odd.SIZE.value

    with pytest.raises(LanguageError, match="which this file can't hold"):
        text_of(odd)


# ------------------------------------------------------------ random programs


def random_texts(count, seed):
    strategies = random_programs.cases(), race_free_programs.orderly_cases()
    drawn = [one for of in strategies for one in random_programs.drawn(of, count, seed)]
    simple = random_programs.drawn(simple_programs.simple_programs(), count, seed)
    return [*dict.fromkeys([*map(decorated, drawn), *(HEAD + text for text in simple)])]


def test_random_programs(engine):
    agree(engine, random_texts(12, 1), "random")


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_many_random_programs(engine, seed):
    agree(engine, random_texts(300, 100 + seed), f"random {seed}")


# ------------------------------------------------------------ the top level

TOP = """\
from __future__ import annotations
from math import floor, pi
import math as m, numpy as np
import mmsim as mm
from mmsim import shared, program
from enum import IntEnum

N = 2**5 // 3 - -1
HALF: float = N / 2
PAIR = LEFT, RIGHT = (N, 0x1F), [1.5, True]
SQUARES = tuple(k * k for k in range(4) if k != 2)
MORE = [*SQUARES, len(SQUARES), max(SQUARES), sum(SQUARES), abs(-2), 7 % -3, -7 // 2, 1 << 40]
FLOATS = (1e300 * 10, 5 % -3.5, m.sqrt(2), floor(-2.5), 10 // 0.3, 2**-2, 2.0**0.5, 1e16, 1j * 1j)
WIDE = np.array([[1, 2.5], [3, 4]], dtype=np.float32)
EVENS = np.arange(0, 10, 2)
DTYPE = np.dtype("int16")


class Sizes:
    WIDTH = N * 2

    @staticmethod
    def twice(x):
        return 2 * x


class Colour(IntEnum):
    RED = 2


def helper(x: int, y=N) -> int:
    return x + y


@program
def first(T: mm.Thread, a: mm.Array, n=N + 1) -> None:
    s = shared(N, DTYPE)
    for k in MORE:
        a[k] = helper(s[0]) + Sizes.twice(Sizes.WIDTH) + Colour.RED + n
    for x in FLOATS:
        a[0] = x * WIDE[1, 0] + EVENS[T.id] + LEFT[1] + RIGHT[0] + HALF + pi


@first.example
def trial(width, size=4):
    return mm.Example(np.zeros(size), threads=width)


@mm.program
def second(T, a):
    b = a
    first(T, b)
"""

REFUSED_AT_THE_TOP = {
    "print(1)\n": "this statement isn't read at the top level",
    "if __name__ == 'x':\n    pass\n": "if isn't read at the top level",
    "for k in range(3):\n    pass\n": "for isn't read at the top level",
    "import os\n": "the module 'os' isn't known here",
    "from . import x\n": "the module '.' isn't known here",
    "x = open('x')\n": "'open' is not called at the top level here",
    "x = y + 1\n": "the name 'y' means nothing here",
    "x = 1 / 0\n": "division by zero",
    "x = 2**10**10\n": "this integer is too long",
    "x = (0,) * 10**9\n": "this constant has too many items",
    "x = {}\n": "'{}' is no constant",
    "class C(dict):\n    pass\n": "this class isn't read here",
    "def f(x):\n    return x\n\n@f\ndef g(T):\n    pass\n": "'f' is no decorator of programs",
}


def test_the_top_level(engine):
    agree(engine, [TOP], "top")


def test_what_is_refused_at_the_top_level(engine):
    found = engine.call("refusalsOf", list(REFUSED_AT_THE_TOP))
    for message, (kind, text) in zip(REFUSED_AT_THE_TOP.values(), found, strict=True):
        assert kind == "LanguageError"
        assert message in text
        assert "File 'x.py', line " in text


# ------------------------------------------------------------ refusals

BODIES = (
    *("x = 'text'", "x = 18446744073709551616", "x = 1 + y", "x = T + 1", "x = a[1:2]"),
    *("x = 1 @ 2", "x = float('one')", "x = math.phi", "x = a[0] + a", "n[0] = n"),
    *("x = mm.vector(a, 3)[0]", "x = lambda: 0", "x = [i for i in range(3)]", "x = f'{n}'"),
    *("del x", "with a:\n        pass", "match n:\n        case 1:\n            pass"),
    *("try:\n        pass\n    finally:\n        pass", "x = cuda.grid(1)", "x = np.sin(n)"),
    *("x = __syncthreads()", "x = atomicAdd(a, 0, 1)", "x = again(n)", "x = plus(n)"),
    *("x = plus(1, 2, 3)", "x = plus(1, z=2)", "x = T.size", "x = T.foo"),
    *("s = mm.shared(n + T.id)", "if n:\n        s = mm.shared(4)", "x, y = 1, 2, 3", "x, y = n"),
    *("for x in n:\n        pass", "for x in range(1, 2, 0):\n        pass", "x = PAIRS[n][1][0]"),
    *("while n:\n        pass\n    else:\n        pass", "x = a.shape[n]", "x = 1 in a", "x is n"),
    *("x = PAIRS[2]", "PAIRS[0] = 1", "x = 1 < 2 in (1, 2)", "n + 1", "x = T.threadIdx"),
    *("x = (1, 2) + 1", "x = mm.shared(4) + 1", "x = é + '\U0001f600' + y", "a[0], b.x = 1, 2"),
    *("a[T.id] = T.barrier()",),
)
HELPERS = (
    "PAIRS = ((1, 2), (3, 4))\n\n\ndef plus(x, y):\n    return x + y\n\n\n"
    "def again(x):\n    return again(x)\n\n\n"
)


def refused_text(body):
    return f"{HEAD}{HELPERS}@mm.program\ndef f(T, a, b, n):\n    {body}\n"


def test_refusals_are_pythons_word_for_word(engine):
    agree(engine, map(refused_text, BODIES), "refused")


NOT_PYTHON = (
    *("x = ", "x = (1", "x = 1)", "if x\n    pass", "if x:\npass", "  x = 1", "x = 'a", 'x = """a'),
    *("x = 1a", "x = 08", "x = $", "x = €", "f() = 1", "return 1", "break", "def f(x, x): pass"),
    *("def f(x=1, y): pass", "f(x=1, x=2)", "f(x=1, 2)", "if 1:\n        x\n    y", "x = 1 if 2"),
    *("if 1:\n\tx\n        y", "for x in y: continue\ncontinue", "x = yield", "(a, b): int = 1"),
    *("a = b += 1", "import", "from x import", "class", "x \\ 1", "print 1", "else: pass"),
    *("x = [1, 2",),
)


def test_texts_that_are_not_python(engine):
    texts = [f"{HEAD}{text}\n" for text in NOT_PYTHON]
    for text in texts:
        with pytest.raises(SyntaxError):
            compile(text, "x.py", "exec")
    assert {kind for kind, _ in engine.call("refusalsOf", texts)} == {"SyntaxError"}


# ------------------------------------------------------------ mutated texts


def as_tuples(value):
    """A table by tuples; a number stays."""
    if isinstance(value, np.ndarray | np.generic):
        return as_tuples(value.tolist())
    return tuple(map(as_tuples, value)) if isinstance(value, tuple | list) else value


def encoded(value):
    return list(map(encoded, value)) if isinstance(value, tuple) else number(value)


def of_mutant(text, numbers):
    """Python's result; None if its own parser gives up, or its `inspect` errs."""
    try:
        function = define(text, numbers)
    except (SyntaxError, ValueError):
        return {"kind": "SyntaxError"}
    except (MemoryError, RecursionError):
        return None
    if function is None:
        return {"kind": "none"}
    try:
        program = mm.program(function)
        return plain(program._returns if program.is_helper else program.code)
    except LanguageError as error:
        odd = "isn't the text that", "nested too deeply"
        return None if any(word in str(error) for word in odd) else refusal(error)


def compare_mutants(engine, count, seed, originals):
    """The number of mutated programs compared, and the texts on which the parsers differ."""
    cases = []
    for k in range(count):
        _, text, outside = make_program(seed, k, originals)
        known = {name: one for name, one in outside.items() if not isinstance(one, dict)}
        numbers = {name: as_tuples(one) for name, one in known.items()}
        expected = of_mutant(text, numbers)
        if expected is not None:
            held = {name: encoded(one) for name, one in numbers.items()}
            one = {"text": text, "file": FILE, "numbers": held, "expected": expected}
            cases.append(one)
    return len(cases), engine.call("mutantsDiffer", cases)


def test_mutated_programs(engine):
    count, found = compare_mutants(engine, 250, 7, of_docs())
    assert count > 230
    assert found == []


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_many_mutated_programs(engine, seed):
    """A few texts differ: Python's compiler refuses some by rules that only it knows."""
    shipped = [
        Original("\n\n".join("\n".join(one.lines) for one in reversed(program.code.sources)), {})
        for program in programs()
    ]
    count, found = compare_mutants(engine, 4000, seed, [*shipped, *of_docs(), *random_ones(60)])
    assert len(found) < count / 500, "\n".join(found)


def is_python(text):
    try:
        with warnings.catch_warnings(action="ignore"):
            compile(text, "x.py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def mutated_files(count, seed):
    random = Random(seed)
    texts = [*map(text_of, random.sample(list(programs()), 10)), TOP, refused_text("x = a[0]")]
    return [mutate_text(random, random.choice(texts))[1] for _ in range(count)]


@pytest.mark.parametrize("count", [150, pytest.param(10_000, marks=pytest.mark.long)])
def test_mutated_files_are_read_or_refused(engine, count):
    texts = mutated_files(count, 3)
    found = engine.call("refusalsOf", texts)
    odd = [
        text
        for text, (kind, _) in zip(texts, found, strict=True)
        if (kind == "SyntaxError") == is_python(text)
    ]
    assert len(odd) <= count / 300, "\n-----\n".join(odd)
