"""The types and the lowered form that the page's engine finds, next to those of Python.

The browser's tests skip themselves where Playwright or Debian's chromium is missing.
"""

import json
import random

import numpy as np
import pytest

from mmsim.errors import LanguageError, Place, TypeFault, shown
from mmsim.ir.dtypes import type_of_number
from mmsim.ir.lower import lower
from mmsim.ir.types import Typing
from mmsim.ir.walk import all_parts
from mmsim.javascript.representation import lowered, plain
from mmsim_algorithms import programs
from tests.kit.generators import random_programs
from tests.kit.generators.changed_codes import Changes, types_of
from tests.kit.views.js_difference import DIFFERENCE
from tests.kit.views.js_engine import JsEngine

COMPARED = """
const typedOrFault = (code, arrays, numbers) => {
  try {
    const { withBody, of, ...program } = loweredOf(code, arrays, numbers);
    return { ...program, parts: allParts(program.code.body).map((part) => of(part)) };
  } catch (error) {
    if (!(error instanceof MMSimFault)) throw error;
    const { kind, message, text, place, array } = error;
    return { kind, message, text, place, array };
  }
};

const typesDiffer = (cases) => cases.map(({ code, arrays, numbers, expected }) =>
  differenceIn(expected, typedOrFault(code, arrays, numbers))).filter((one) => one !== null);

const faultTexts = (cases) =>
  cases.map(([kind, message, facts]) => new MMSimFault(kind, message, facts).text);

const shownTexts = (values) => values.map(shownValue);
"""


@pytest.fixture(scope="module")
def engine(shared_page):
    found = JsEngine(shared_page)
    found.page.add_script_tag(content=DIFFERENCE + COMPARED)
    return found


def case(code, arrays, numbers):
    """A program, the types of its arguments, and what Python makes of them."""
    try:
        program = lower(code, Typing(code, arrays, numbers))
        parts = [program.of(one).name for one in all_parts(program.code.body)]
        expected = lowered(program) | {"parts": parts}
    except TypeFault as fault:
        facts = {"place": plain(fault.place), "array": fault.array}
        expected = {"kind": "TypeFault", "message": fault.message, "text": str(fault)} | facts
    given = {"arrays": arrays, "numbers": numbers}
    names = {kind: {name: one.name for name, one in given[kind].items()} for kind in given}
    return {"code": plain(code), **names, "expected": expected}


def differences(engine, cases):
    """The differences, and the number of cases with a fault."""
    found = []
    for first in range(0, len(cases), 50):
        found += engine.call("typesDiffer", cases[first : first + 50])
    return found, sum("kind" in one["expected"] for one in cases)


def test_every_shipped_program_has_pythons_types(engine):
    cases = []
    for program in programs():
        code, arguments = program.code, program.prepare(4, seed=3).arguments
        arrays, numbers = {}, {}
        given = [*arguments, *(one.default for one in code.parameters[len(arguments) :])]
        for parameter, value in zip(code.parameters, given, strict=True):
            held = getattr(value, "data", value) if hasattr(value, "layout") else value
            if isinstance(held, np.ndarray) and held.ndim:
                arrays[parameter.name] = held.dtype
            else:
                number = held.item() if isinstance(held, np.generic) else held
                numbers[parameter.name] = type_of_number(number)
        cases.append(case(code, arrays, numbers))
    assert differences(engine, cases) == ([], 0)


@pytest.mark.parametrize(
    ("count", "least"), [(75, 15), pytest.param(4000, 1000, marks=pytest.mark.long)]
)
def test_changed_programs_have_pythons_types_or_pythons_fault(engine, count, least):
    own, codes, cases = random.Random(7), [one.code for one in programs()], []
    for _ in range(count):
        code = own.choice(codes)
        share = own.choice((0, 0.003, 0.01, 0.03, 0.1))
        code = Changes(own, share).code(code) if share else code
        cases.append(case(code, *types_of(code, own)))
    found, faults = differences(engine, cases)
    assert found == []
    assert least < faults < count


@pytest.mark.parametrize(
    ("count", "number"), [(12, 1), pytest.param(400, 2, marks=pytest.mark.long)]
)
def test_random_programs_have_pythons_types(engine, count, number):
    own, cases = random.Random(number), []
    for drawn in random_programs.drawn(random_programs.cases(), count, number):
        code = drawn.program.code
        changed = Changes(own, 0.02).code(code)
        cases += [case(one, *types_of(one, own)) for one in (code, code, changed, changed)]
    found, faults = differences(engine, cases)
    assert found == []
    assert 0 < faults < len(cases)


TEXTS = ("", "    a[i] = 'x'  ", "\tif  x:", "  é = \U0001d4d0 + 1 # y", " \x1c\x85 q", "abc")
NAMES = ("f", "g'h", "a\"b'c", "\0\n\t\u200b\U000e0001é", "back\\slash", "\xa0 x", "plain file.py")


def test_errors_have_pythons_texts(engine):
    own, cases, expected = random.Random(1), [], []
    for _ in range(300):
        column = own.randrange(12)
        places = own.choice(NAMES), own.choice(NAMES), own.randrange(99), column
        place = Place(*places, column + own.randrange(-1, 9), own.choice(TEXTS))
        program, thread = own.choice(NAMES), own.choice((None, 0, 11))
        position = own.choice((None, ((3, 0, 0), (1, 0, 2))))
        known = own.choice((place, None))
        facts = {"program": program, "thread": thread, "position": position}
        cases.append(("TypeFault", "it is wrong", facts | {"place": known and plain(known)}))
        expected.append(str(TypeFault("it is wrong", place=known, **facts)))
        advice = own.choice(("", "write this"))
        cases.append(("LanguageError", "no", {"place": plain(place), "advice": advice}))
        expected.append(str(LanguageError("no", place, advice)))
    assert engine.call("faultTexts", cases) == expected


def test_values_are_shown_as_python_shows_them(engine):
    own = random.Random(2)
    floats = [own.random() * 10 ** own.randrange(-10, 15) for _ in range(200)]
    values = [*floats, 0.1, 1.5e-5, 0.00012345, 5e-324, 12345.678, 2**53 - 1, True, None, *NAMES]
    values = [one for one in values if not (isinstance(one, float) and one.is_integer())]
    values += [(1, 2.5, ("x",)), (), "a" * 300, "a\n b"]
    assert engine.call("shownTexts", json.loads(json.dumps(values))) == list(map(shown, values))
