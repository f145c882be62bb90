"""The puzzles' page: it judges as Python does, keeps the score, and exports what Python grades."""

import json
import subprocess
import sys
import time

import pytest

from mmsim.javascript.bundle import bundle
from mmsim.javascript.table import table
from mmsim.names import everything
from tests.kit import ROOT
from tests.kit.views import axe

pytest.importorskip("jupytext")

from course.puzzle_page import part, puzzle_page
from course.puzzling import solved
from puzzles import puzzles
from puzzles.exported import programs_in, whole

PUZZLES = puzzles()
JUDGED = """
const judgedHere = ({ cases, ...puzzle }, texts) => texts.map((text) => {
  const said = [];
  for (const setting of cases) {
    try {
      said.push({ result: simulate({ ...setting, text }, { check: true }) });
    } catch (fault) {
      said.push({ fault });
      break;
    }
  }
  const judged = judgedOf(puzzle, said);
  return { judged, points: pointsOf(puzzle, judged) };
});
"""


def answers(name, mistakes):
    """The starter and the solution, and the mistakes if they are asked for."""
    cells = [*solved()[name], *(solved("mistake")[name] if mistakes else [])]
    return [PUZZLES[name].starter, *(cell.source for cell in cells)]


@pytest.fixture(scope="module")
def text():
    return puzzle_page()


@pytest.fixture
def opened(browser, text, tmp_path):
    """Opens the page, with a storage or without; afterwards, that nothing went wrong there."""
    path = tmp_path / "puzzles.html"
    path.write_text(text, "utf-8")
    wrong = []
    context = browser.new_context(viewport={"width": 1440, "height": 900})

    def opened(before=""):
        page = context.new_page()
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        if before:
            page.add_init_script(before)
        asked = []
        page.goto(path.as_uri())
        until(page, "puzzles.runs > 0")
        assert [url for url in asked if not url.startswith(("file:", "blob:", "data:"))] == []
        return page

    yield opened
    context.close()
    assert wrong == []


def until(page, condition):
    """Wait until a condition holds in the page."""
    end = time.monotonic() + 30
    while not page.evaluate(f"Boolean({condition})"):
        assert time.monotonic() < end, condition
        time.sleep(0.02)


def test_the_page_is_made_without_jupytext():
    """The site has the page, and its environment has no Jupytext."""
    code = "import sys\nsys.modules['jupytext'] = None\nimport course.puzzle_page"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT / "notebooks", check=True)


def answer(page, text):
    """Write a program, and wait until it is judged."""
    runs = page.evaluate("puzzles.runs")
    page.locator("#laboratory #text").fill(text)
    until(page, f"puzzles.runs > {runs}")


@pytest.mark.parametrize("mistakes", [False, pytest.param(True, marks=pytest.mark.long)])
def test_the_page_judges_answers_as_python_does(new_page, mistakes):
    page = new_page()
    page.add_script_tag(content=bundle() + part("gates.js") + JUDGED)
    page.evaluate("(data) => useTable(JSON.parse(data))", json.dumps(table(everything())))
    judge = "(args) => judgedHere(...JSON.parse(args))"
    for name, one in PUZZLES.items():
        texts = list(map(whole, answers(name, mistakes)))
        judged = page.evaluate(judge, json.dumps([one.setting(), texts]))
        for text, found in zip(texts, judged, strict=True):
            grade = one.grade(text, cases=[0, 1])
            assert found["points"] == grade.points, (name, text, found)
            for here, there in zip(found["judged"], grade.judged, strict=True):
                assert (here["what"], here["passed"], here["found"]) == there, (name, text)


BODY = """

@mm.program
def scale(T, a, f, b):
    i, j = T.id // 8, T.id % 8
    b[i, j] = f[i] * a[i, j]
"""
ODD = {
    "print(1)": 0,
    "import os": 0,
    "W = 8\nW += 0": 0,
    "if True:\n    W = 8": 0,
    "if __name__ == '__main__':\n    print(1)": 2,
    "if __name__ == '__main__':\n    W = 8\nelse:\n    W = 9": 0,
    "X = [8]\nX[0] = 8": 0,
    "del mm": 0,
    "x = (": 0,
    "W, V = 8, 9": 2,
    "class Sizes:\n    W = 8": 2,
    "from enum import IntEnum\nclass Sizes(IntEnum):\n    W = 8": 2,
    "import math\nW = math.floor(8.5)": 2,
    "import numpy as np\nW = np.arange(9)[8]": 2,
    "def eighth(x):\n    return x // 8": 2,
}
"""Texts above a right program, and its points."""


def test_page_and_python_refuse_the_same_texts(new_page):
    page = new_page()
    page.add_script_tag(content=bundle() + part("gates.js") + JUDGED)
    page.evaluate("(data) => useTable(JSON.parse(data))", json.dumps(table(everything())))
    one = PUZZLES["scale-rows"]
    texts = [f"import mmsim as mm\n{odd}\n{BODY}" for odd in ODD]
    texts += [f"import mmsim as mm\n{BODY}".replace("def scale", "def other")]
    judge = "(args) => judgedHere(...JSON.parse(args))"
    judged = page.evaluate(judge, json.dumps([one.setting(), texts]))
    assert [found["points"] for found in judged] == [*ODD.values(), 0]
    assert [one.grade(text, cases=[0]).points for text in texts] == [*ODD.values(), 0]


def test_the_page_keeps_score_programs_and_hints(opened):
    page = opened()
    first, second = list(PUZZLES.values())[:2]
    assert page.inner_text("#title") == first.title
    assert page.inner_text("#words") == first.plain_task
    assert page.locator("#list button").count() == len(PUZZLES)
    most = sum(1 + len(one.gates) for one in PUZZLES.values())
    assert f"0 of {most} points, 0 of {len(PUZZLES)} solved" in page.inner_text("#score")
    assert page.locator("#gates li.passed").all_inner_texts() == ["passed: right results"]
    assert page.locator("#export").is_disabled()
    solution = whole(solved()[first.name][0].source)
    answer(page, solution)
    assert page.inner_text("#points") == "Solved: 2 of 2 points"
    assert f"2 of {most} points, 1 of {len(PUZZLES)} solved" in page.inner_text("#score")
    answer(page, "import mmsim as mm\n\n\n@mm.program\ndef other(T):\n    pass\n")
    assert "keep its name" in page.inner_text("#gates")
    answer(page, solution.replace("f[i] *", "f[i] *("))
    assert page.inner_text("#points") == "0 of 2 points"
    assert f"2 of {most} points" in page.inner_text("#score")  # the best counts
    page.locator("#laboratory").get_by_role("button", name="Reset").click()
    until(page, "puzzles.judged?.at(-1).found === '136'")
    page.click("#next")
    until(page, "puzzles.judged?.at(-1).found === '40'")
    assert page.inner_text("#title") == second.title
    for number in range(len(second.hints)):
        assert page.locator("#hints li").count() == number
        page.click("#hint")
    assert page.locator("#hints li").all_inner_texts() == list(second.hints)
    assert page.locator("#hint").is_disabled()
    assert programs_in(page.evaluate("puzzles.exported()")) == {first.name: solution}
    with page.expect_download() as download:
        page.click("#export")
    assert programs_in(download.value.path().read_text("utf-8")) == {first.name: solution}
    page.reload()
    until(page, "puzzles.runs > 0")
    assert page.inner_text("#title") == second.title
    assert page.locator("#hints li").count() == len(second.hints)
    assert f"2 of {most} points" in page.inner_text("#score")
    page.close()


def test_the_gates_are_those_of_the_puzzle_whatever_else_one_tries(opened):
    page = opened()
    before = page.inner_text("#gates")
    assert page.locator("#elsewhere").is_hidden()
    page.locator("#laboratory").get_by_role("button", name="DMM").click()
    page.locator("#elsewhere").wait_for()
    assert page.inner_text("#gates") == before
    page.evaluate("puzzles.open('smallest-and-largest')")
    last = page.locator("#list button").last.bounding_box()
    assert 0 < last["y"] < page.locator("#list").bounding_box()["height"]
    page.locator("#elsewhere").wait_for(state="hidden")
    page.close()


def test_without_a_storage_the_page_keeps_the_work_while_it_is_open(opened):
    page = opened(
        "Object.defineProperty(window, 'localStorage', { get() { throw new Error('none'); } });"
    )
    answer(page, whole(solved()["scale-rows"][0].source))
    page.evaluate("puzzles.open('pixels')")
    until(page, "puzzles.judged?.length === 4")
    assert " 1 of 29 solved" in page.inner_text("#score").replace(str(len(PUZZLES)), "29")
    page.locator("#laboratory #text").fill("# a beginning")
    page.evaluate("puzzles.open('scale-rows')")  # before the text is judged
    until(page, "puzzles.judged?.length === 2")
    assert page.evaluate("puzzles.exported()").endswith(
        "\n\n\n# %% puzzle: pixels\n# a beginning\n"
    )
    assert page.inner_text("#points") == "Solved: 2 of 2 points"
    page.close()


def test_the_page_holds_no_solution_and_is_small(text):
    squashed = "".join(text.split())
    for name, cells in solved().items():
        own = "".join(json.dumps(cells[0].source)[1:-1].split())
        assert own not in squashed, name
    assert len(text) < 950_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_on_the_page_is_a_barrier(opened, scheme):
    script = axe.needed()
    page = opened()
    page.emulate_media(color_scheme=scheme)
    page.click("#hint")
    assert axe.violations(page, script) == []
    page.close()
