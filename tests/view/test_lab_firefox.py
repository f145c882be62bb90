"""The laboratory, the player and the puzzles' page in a real Firefox, held against Python.

The tests skip themselves where Debian's firefox-esr is missing.
"""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

import mmsim as mm
from tests.kit.views import axe
from tests.kit.views.firefox import Firefox
from tests.kit.views.states import expected


@mm.program
def transpose(T, a, b):
    i, j = T.id // a.shape[1], T.id % a.shape[1]
    b[j, i] = a[i, j]


@mm.program
def shared_sum(T, a, b, k):
    s = mm.shared(T.block_size, mm.float32)
    s[T.index] = a[T.id] * k
    T.barrier()
    if T.index == 0:
        total = 0.0
        for i in range(T.block_size):
            total += s[i]
        b[T.block] = total


def transposing():
    a = np.arange(16).reshape(4, 4)
    return mm.lab(transpose, a, np.zeros_like(a), threads=16, machine=mm.DMM(4, 3))


def summing(make, *args, **how):
    a = np.random.RandomState(3).random_sample(16).astype(np.float32)
    return make(shared_sum, a, np.zeros(2), 2, *args, threads=16, block_size=8, **how)


def run(machine, layout=None, program=transpose, **how):
    """The run of the page's program on the page's arrays."""
    a = np.arange(16).reshape(4, 4)
    placed = a if layout is None else mm.place(a, layout)
    return machine.run(program, placed, np.zeros_like(a), threads=16, **how)


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    started = Firefox(tmp_path_factory.mktemp("firefox"))
    yield started
    started.close()


@pytest.fixture
def show(firefox, tmp_path):
    """Opens what can be saved; afterwards, that nothing went wrong there and nothing was fetched.

    The pages' policies forbid to fetch anything, which the console would say.
    """
    firefox.wrong.clear()
    saved = []

    def show(shown, address=""):
        path = tmp_path / f"page{len(saved)}.html"
        saved.append(path)
        shown.save(path)
        firefox.open(path.as_uri() + address)
        return firefox

    yield show
    firefox.evaluate("null")
    assert firefox.wrong == []


@pytest.fixture
def opened(show):
    def opened(lab, address=""):
        page = show(lab, address)
        page.until("window.laboratory?.runs")
        return page

    return opened


def time_on(page):
    """The time that the page says, when no run is under way."""
    return int(page.text("#verdict b").replace(",", ""))


def settled(page, act, *args):
    """Do something that changes the setup, and wait for the run."""
    before = page.evaluate("laboratory.runs")
    act(*args)
    page.until(f"laboratory.runs > {before}")


def written(page, old, new):
    """Change the text of the program, and wait for the run."""
    text = page.evaluate("found('#text').value")
    assert old in text
    settled(page, page.fill, "#text", text.replace(old, new))


# ------------------------------------------------------------------ the laboratory


def test_the_run_is_that_of_python(opened):
    page = opened(transposing())
    assert "Firefox" in page.evaluate("navigator.userAgent")
    assert time_on(page) == run(mm.DMM(4, 3)).time
    trace = run(mm.DMM(4, 3), trace=True).trace
    data, there = page.evaluate("mmsim.data"), trace.player().data
    for one in (data["waits"], there["waits"]):
        one.pop("line")  # of another file
    for name in ("dispatches", "waits", "lanes", "moved", "held", "changes", "rounds", "arrays"):
        assert data[name] == json.loads(json.dumps(there[name])), name


def test_another_text_has_another_time(opened):
    @mm.program
    def copy(T, a, b):
        i, j = T.id // a.shape[1], T.id % a.shape[1]
        b[i, j] = a[i, j]

    page = opened(transposing())
    written(page, "b[j, i] =", "b[i, j] =")
    assert time_on(page) == run(mm.DMM(4, 3), program=copy).time < run(mm.DMM(4, 3)).time
    assert "fewer" in page.text("#verdict")


def test_the_machine_and_the_schedule_change_the_run(opened):
    page = opened(transposing())
    settled(page, page.fill, "[aria-label='width, as a number']", "2")
    settled(page, page.fill, "[aria-label='latency, as a number']", "7")
    assert time_on(page) == run(mm.DMM(2, 7)).time
    settled(page, page.click, "#schedules button:nth-child(2)")
    assert time_on(page) == run(mm.DMM(2, 7), schedule="asynchronous").time
    settled(page, page.click, "#kinds button:nth-child(2)")
    assert time_on(page) == run(mm.UMM(2, 7), schedule="asynchronous").time


@pytest.mark.parametrize(
    ("kind", "layout"), [("Padded", mm.layout.Padded(1)), ("RAP", mm.layout.RAP(4, seed=0))]
)
def test_layouts_change_the_run(opened, kind, layout):
    page = opened(transposing())
    settled(page, page.fill, "[aria-label='a: layout']", kind)
    assert time_on(page) == run(mm.DMM(4, 3), layout).time


def test_a_slider_follows_the_arrow_keys(opened):
    page = opened(transposing())
    page.evaluate("found('[type=range][aria-label=n]').focus()")
    settled(page, page.press, "ArrowRight")
    assert page.evaluate("laboratory.setup.sizes.n") == 5


def test_a_mistake_names_its_line_and_the_player_keeps_the_run_before(opened):
    page = opened(transposing())
    written(page, "T.id %", "T.idd %")
    assert page.text("#program-error").startswith("Line 6:")
    assert page.text("#gutter button.wrong") == "6"
    assert page.text("#stale")
    written(page, "T.idd %", "T.id %")
    assert page.evaluate("found('#program-error') ?? found('#stale')") is None


def test_the_editor_by_keyboard(opened):
    page = opened(transposing())
    page.click("#text")
    page.press("Control+End", *"def f():", "Enter", *"pass", "Tab")
    assert page.evaluate("found('#text').value").endswith("def f():\n    pass    ")
    page.press("Shift+Tab")
    assert page.evaluate("found('#text').value").endswith("def f():\npass    ")
    page.press("Space")
    assert page.evaluate("mmsim.time") == 0  # Space is for the text, not for the player
    page.press("Escape", "Tab")
    assert page.evaluate("laboratory.player && found('#text').matches(':focus')") is False
    painted = page.evaluate("found('#paint').textContent")
    assert painted.rstrip() == page.evaluate("found('#text').value").rstrip()


def test_the_text_that_one_sees_lies_where_one_types(opened):
    page = opened(transposing())
    written(page, "a[i, j]", "a[i, j]" + " + 0" * 40)
    sizes = "one => [one.scrollWidth, one.getBoundingClientRect().x, one.getBoundingClientRect().y]"
    paint, text = (page.evaluate(f"({sizes})(found('{one}'))") for one in ("#paint", "#text"))
    assert paint == pytest.approx(text, abs=1)


def test_the_link_is_the_laboratory(opened):
    page = opened(transposing())
    settled(page, page.fill, "[aria-label='width, as a number']", "3")
    settled(page, page.fill, "[aria-label='b: layout']", "Padded")
    page.evaluate("mmsim.go(9)")
    page.until("laboratory.setup.view.includes('t=9')")
    page.until("location.hash === laboratory.link && laboratory.link.length > 99")
    before = page.evaluate("laboratory.link")
    written(page, "b[j, i] =", "b[i, j] =")
    page.until(f"laboratory.link !== {json.dumps(before)}")
    setup, link, time = page.evaluate("[laboratory.setup, laboratory.link, laboratory.result.time]")
    again = opened(summing(mm.lab, machine=mm.HMM(2, 4, 5)), link)
    assert again.evaluate("laboratory.setup") == setup
    assert time_on(again) == time
    assert again.evaluate("mmsim.time") == 9


def test_sums_with_shared_memory_and_the_file_of_python(opened, tmp_path):
    page = opened(summing(mm.lab, machine=mm.HMM(2, 4, 5)))
    there = summing(mm.HMM(2, 4, 5).run)
    assert time_on(page) == there.time
    b = page.evaluate("laboratory.result.arrays.b.data")
    assert [one["float"] for one in b] == there.arrays["b"].tolist()
    settled(page, page.fill, "[aria-label='a: filled with']", "random")
    settled(page, page.click, "#schedules button:nth-child(2)")
    path = tmp_path / "exported.py"
    path.write_text(page.evaluate("laboratory.python()"), encoding="utf-8")
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)
    assert int(done.stdout) == time_on(page)


def test_the_picture_is_an_svg_and_a_png(opened):
    page = opened(transposing())
    page.click("#share")
    page.click("#save-svg")
    assert page.downloaded(".svg").startswith(b"<svg ")
    page.click("#save-png")
    picture = page.downloaded(".png")
    assert picture.startswith(b"\x89PNG")
    drawn = page.evaluate(
        """async (bytes) => {
          const image = await createImageBitmap(new Blob([Uint8Array.from(bytes)]));
          const paint = new OffscreenCanvas(image.width, image.height).getContext("2d");
          paint.drawImage(image, 0, 0);
          const { data } = paint.getImageData(0, 0, image.width, image.height);
          return new Set(new Uint32Array(data.buffer)).size;
        }""",
        list(picture),
    )
    assert drawn > 100, "the picture is empty"


def test_a_tile_has_its_stages_and_a_padding_that_frees_it(opened):
    page = opened(transposing())
    page.click("#mode-tile")
    page.until("laboratory.tile")
    assert time_on(page) == 32 * 32 + 32
    page.click("#tile-found button")
    page.until("found('#verdict .fewer')")
    assert time_on(page) == 2 * 32


def test_nothing_is_wider_than_the_page(opened):
    page = opened(transposing())
    for width in (1280, 390):
        page.resize(width)
        page.until(f"innerWidth === {width}")
        page.until(f"document.documentElement.scrollWidth <= {width}")


def test_a_notebook_s_frame_runs_too(firefox, tmp_path):
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html>{transposing()._repr_html_()}", encoding="utf-8")
    firefox.wrong.clear()
    firefox.open(path.as_uri())
    frame = firefox.call("browsingContext.getTree", root=firefox.page)["contexts"][0]["children"][0]
    outside, firefox.page = firefox.page, frame["context"]
    try:
        firefox.until("window.laboratory?.runs")
        assert time_on(firefox) == run(mm.DMM(4, 3)).time
        firefox.until("laboratory.link")
    finally:
        firefox.page = outside
    assert firefox.wrong == []


# ------------------------------------------------------------------ the player


def test_the_player_s_states_are_those_of_the_trace(show):
    there = summing(mm.HMM(2, 4, 5).run, schedule="asynchronous", trace=True)
    page = show(there.trace.player())
    states = page.evaluate("times => times.map(mmsim.state)", list(range(there.time + 1)))
    assert states == list(expected(there.trace))


def test_keys_and_buttons_step_the_player(show):
    there = run(mm.DMM(4, 3), trace=True)
    page = show(there.trace.player())

    def now():
        return int(re.match(r"Time (\d+) of", page.text("#now"))[1])

    accesses = sorted({one.time for one in there.trace.dispatches} - {0})
    page.press("ArrowRight", "ArrowRight", "ArrowLeft")
    assert now() == 1
    page.press("Home", "Shift+ArrowRight")
    assert now() == accesses[0]
    page.press("End")
    assert now() == there.time
    page.click("[data-go=first]")
    page.click("[data-go=next]")
    assert now() == 1
    page.fill("#slider", "3")
    assert now() == 3
    page.press("Space")
    page.until("mmsim.time > 3")
    page.press("Space")
    page.press("Home")
    waiting = page.evaluate(
        "[...found('#queue').querySelectorAll('td .badge')].map(one => one.innerText)"
    )
    assert waiting == [f"W{warp}" for warp in range(4)]


def test_light_dark_and_lecture(show):
    page = show(run(mm.DMM(4, 3), trace=True).trace.player())
    seen = page.screenshot()
    page.press("d")
    page.until("found('#whole').getRootNode().host.dataset.theme")
    assert page.screenshot() != seen
    page.press("l")
    page.until("found('#whole.lecture')")
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")


def test_axe_finds_no_barrier(opened):
    script = axe.needed()
    page = opened(transposing())
    assert axe.violations(page, script) == []
    written(page, "T.id %", "T.idd %")
    assert axe.violations(page, script) == []
    page.click("#share")
    assert axe.violations(page, script) == []


def test_axe_finds_no_barrier_of_the_player(show):
    script = axe.needed()
    page = show(run(mm.DMM(4, 3), trace=True).trace.player())
    page.press("ArrowRight")
    for key in ("d", "l", "d"):
        page.press(key)
        assert axe.violations(page, script) == []
    page.evaluate("mmsim.stage.part('title').replaceWith(document.createElement('img'))")
    assert [one.partition(":")[0] for one in axe.violations(page, script)] == ["image-alt"]


# ------------------------------------------------------------------ the puzzles


def test_the_puzzles_page_judges_a_starter_and_a_solution(firefox, tmp_path):
    pytest.importorskip("jupytext")
    from course.puzzle_page import puzzle_page
    from course.puzzling import solved
    from puzzles import puzzles
    from puzzles.exported import whole

    path = tmp_path / "puzzles.html"
    path.write_text(puzzle_page(), "utf-8")
    firefox.wrong.clear()
    firefox.open(path.as_uri())
    firefox.until("window.puzzles?.runs > 0")
    first = next(iter(puzzles().values()))
    assert firefox.text("#title") == first.title
    starter = first.grade(whole(first.starter), cases=[0, 1])
    assert firefox.text("#points").startswith(f"{starter.points} of 2 points")
    runs = firefox.evaluate("puzzles.runs")
    firefox.fill("#text", whole(solved()[first.name][0].source))
    firefox.until(f"puzzles.runs > {runs}")
    assert firefox.text("#points") == "Solved: 2 of 2 points"
    assert firefox.wrong == []
