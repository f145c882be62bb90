"""Layouts and tiles in the page's engine, next to those of Python.

The browser's tests skip themselves where Playwright or Debian's chromium is missing.
"""

import argparse
import json
import random

import numpy as np
import pytest

from mmsim.cli import tile_conflicts
from mmsim.errors import LayoutError
from mmsim.model import layout as layouts
from mmsim.model.layout import cute, offsets_of, words_of
from tests.kit.generators.random_layouts import Layouts
from tests.kit.views.js_difference import DIFFERENCE
from tests.kit.views.js_engine import JsEngine

COMPARED = """
const orError = (make) => {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof MMSimFault)) throw error;
    return { kind: error.kind, text: error.text };
  }
};

const placed = (layout, shape) => orError(() => {
  const own = layoutOf(layout);
  return { name: own.text, ...offsetsOf(own, shape) };
});

const casesDiffer = (cases, found) => cases.map(({ asked, expected }) => {
  const difference = differenceIn(expected, found(asked));
  return difference && `${JSON.stringify(asked)}: ${difference}`;
}).filter((one) => one !== null);

const layoutsDiffer = (cases) => casesDiffer(cases, ([layout, shape]) => placed(layout, shape));
const tilesDiffer = (cases) => casesDiffer(cases, (asked) => orError(() => tileAnswer(asked)));

const drawn = (seed, widths) => {
  const random = new FrozenRandom(seed);
  return widths.map((width) => [random.permutation(width), random.integers(width, 2 * width)]);
};
"""


@pytest.fixture(scope="module")
def engine(shared_page):
    found = JsEngine(shared_page)
    found.page.add_script_tag(content=DIFFERENCE + COMPARED)
    return found


@pytest.mark.parametrize("count", [10, pytest.param(300, marks=pytest.mark.long)])
def test_random_numbers_are_numpys(engine, count):
    own = random.Random(3)
    for seed in (0, 2**32 - 1, *(own.randrange(2**32) for _ in range(count))):
        widths = [1, 2, 3, 32, 33, own.randrange(1, 700)]
        state = np.random.RandomState(seed)
        expected = [
            [state.permutation(width).tolist(), state.randint(width, size=2 * width).tolist()]
            for width in widths
        ]
        assert engine.call("drawn", seed, widths) == expected


def made(data):
    """The layout of data."""
    fields = {name: held for name, held in data.items() if name != "kind"}
    if data["kind"] == "cute":
        return cute(data["text"])
    if fields.get("layout") is not None:
        fields["layout"] = made(fields["layout"])
    if isinstance(fields.get("shifts"), list):
        fields["shifts"] = tuple(fields["shifts"])
    return getattr(layouts, data["kind"])(**fields)


def placed(data, shape):
    """A shape that the layout holds, and what Python says of the two."""
    try:
        layout = made(data)
        inner = layout.layout if isinstance(layout, layouts.Swizzle) else layout
        shape = getattr(inner, "extents", (16, 16)) if shape is None else shape
        if len(shape) > 0 and np.prod([float(extent) for extent in shape]) > 20_000:
            shape = (16,)
        offsets = offsets_of(layout, tuple(shape))
    except LayoutError as error:
        return (16,) if shape is None else shape, {"kind": "LayoutError", "text": str(error)}
    found = {"offsets": offsets.ravel().tolist(), "words": words_of(offsets)}
    return shape, {"name": str(layout)} | found


@pytest.mark.parametrize(
    ("count", "least"), [(120, 70), pytest.param(6000, 4000, marks=pytest.mark.long)]
)
def test_layouts_place_elements_as_in_python(engine, count, least):
    cases, author = [], Layouts(random.Random(4))
    for _ in range(count):
        data, shape = author.layout()
        shape, expected = placed(data, shape)
        cases.append({"asked": (data, shape), "expected": expected})
    assert engine.call("layoutsDiffer", json.loads(json.dumps(cases))) == []
    assert least < sum("offsets" in one["expected"] for one in cases) < count


@pytest.fixture
def ask(monkeypatch):
    """Asks the command: gives the printed lines, whether all is free, and the saved data."""
    parser, shown, kept = argparse.ArgumentParser(), [], []
    tile_conflicts.add_options(parser)
    monkeypatch.setattr(tile_conflicts, "show", lambda *parts: shown.extend(map(str, parts)))
    monkeypatch.setattr(tile_conflicts, "keep", lambda _, answer: kept.append(answer()))

    def answer(asked):
        shown.clear()
        kept.clear()
        words = [f"--type={asked['type']}", f"--vector={asked['vector']}"]
        words += [f"--{kind}={way}" for kind, way in asked["accesses"]]
        words += [f"--{name}={asked[name]}" for name in ("tile", "search") if asked.get(name)]
        words += ["--collisions"] * asked["collisions"]
        try:
            code = tile_conflicts.command(parser.parse_args([*words, "--", asked["layout"]]))
        except LayoutError as error:
            return {"kind": type(error).__name__, "text": str(error)}
        return {"lines": list(shown), "free": code == 0, "data": kept[0]}

    return answer


@pytest.mark.parametrize(
    ("count", "search", "least"),
    [(30, 0.05, 8), pytest.param(1500, 0.05, 500, marks=pytest.mark.long)],
)
def test_the_page_answers_what_the_command_answers(engine, ask, count, search, least):
    author, cases = Layouts(random.Random(5)), []
    for _ in range(count):
        asked = author.tile(search)
        cases.append({"asked": asked, "expected": ask(asked)})
    assert engine.call("tilesDiffer", json.loads(json.dumps(cases))) == []
    assert least < sum("lines" in one["expected"] for one in cases) < count


def test_the_page_knows_the_types_of_the_command(engine):
    known = engine.page.evaluate("TILE_TYPES")
    found = {name: int(size) for size, names in known.items() for name in names}
    assert list(found.items()) == list(tile_conflicts.BYTES.items())
