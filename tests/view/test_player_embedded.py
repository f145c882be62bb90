"""Players in frames: of a notebook's cells, of an exported notebook, of another page."""

import nbformat
import numpy as np
import pytest

import mmsim as mm
from mmsim.view.player.scripts import HEIGHT
from mmsim_algorithms import transpose
from tests.kit.views.states import until
from tests.view.test_player_dense import INSIDE, transposed, whole

nbconvert = pytest.importorskip("nbconvert", reason="nbconvert isn't installed")


def transposing(program=transpose.straightforward, machine=None):
    a = np.arange(16).reshape(4, 4)
    machine = machine or mm.DMM(4, 3)
    return machine.run(program, a, np.zeros_like(a), threads=16, trace=True)


PLAYERS = {
    "4 banks": lambda: transposing().player(),
    "32 banks": lambda: transposed().player(),
    "UMM": lambda: transposing(machine=mm.UMM(4, 3)).player(),
    "two runs": lambda: mm.compare(transposing(), transposing(machine=mm.UMM(4, 3))),
}


@pytest.fixture
def framed(new_page, tmp_path):
    """Shows a player in a frame of a size, and gives the frame."""

    def show(player, width, height):
        frame = player._repr_html_().replace(HEIGHT, f"{height}px")
        path = tmp_path / "around.html"
        text = f"<!doctype html><body style='margin: 0'><div style='width: {width}px'>{frame}</div>"
        path.write_text(text, encoding="utf-8")
        page = new_page(viewport={"width": width + 40, "height": height + 200})
        page.goto(path.as_uri())
        page.frame_locator("iframe").locator("#run.compact").first.wait_for()
        return page.frames[1]

    return show


@pytest.mark.parametrize(("width", "height"), [(700, 600), (1100, 820)])
@pytest.mark.parametrize("make", PLAYERS.values(), ids=PLAYERS)
def test_controls_conflict_and_timeline_are_in_sight_together(framed, make, width, height):
    shown = framed(make(), width, height)
    assert shown.evaluate("[innerWidth, innerHeight]") == [width, height]
    for _ in range(3):
        shown.locator("[data-go=conflict]").click()
        shown.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        assert shown.evaluate("document.documentElement.scrollHeight") <= height
        for one in ("#controls", ".buttons", "#slider", ".memory", "#timeline", "#origin"):
            for box in (found.bounding_box() for found in shown.locator(one).all()):
                assert box["y"] >= 0, one
                assert box["y"] + box["height"] <= height, one
                assert box["x"] + box["width"] <= width, one
        for unit in shown.locator(".unit").all():
            warp = unit.locator(".register .badge").first.inner_text().removeprefix("W")
            asked = f"td[title$='by warp {warp}']"
            touched = unit.locator(".memory").evaluate(INSIDE, asked)
            assert len(touched) >= 4
            seen = [one for one in touched if whole([one])]
            assert len(seen) == len(touched) or (height == 600 and len(seen) >= 2)


@pytest.mark.parametrize("width", [346, 600])
def test_a_narrow_frame_keeps_the_timeline_in_sight(framed, width):
    shown = framed(transposing().player(), width, 820)
    box = shown.locator("#timeline-panel").bounding_box()
    assert box["y"] + box["height"] <= 820
    panels = shown.locator(".panels")
    panels.evaluate("box => box.scrollTo(0, 1e4)")
    assert panels.evaluate("box => box.scrollTop") > 0
    assert shown.locator("#timeline-panel").bounding_box() == pytest.approx(box, abs=1)
    held = shown.locator("#held").bounding_box()
    assert held["y"] + held["height"] <= box["y"] + 1
    assert shown.evaluate("document.documentElement.scrollWidth") <= width


def test_lecture_mode_fills_the_frame_and_ends(framed):
    shown = framed(transposing().player(), 900, 600)
    shown.locator("#lecture").click()
    assert shown.locator("#whole.compact").count() == 0
    assert shown.locator("#timeline").bounding_box()["y"] < 600
    shown.locator("#lecture").click()
    assert shown.locator("#whole.compact #run.compact").count() == 1


# ------------------------------------------------------------------ who gets the keys


@pytest.fixture
def exported(browser, tmp_path):
    """A notebook of three players, exported, which loads nothing from elsewhere."""
    player = transposing().player()._repr_html_()
    outputs = [nbformat.v4.new_output("display_data", data={"text/html": player}) for _ in range(3)]
    cells = [nbformat.v4.new_code_cell("run.player()", outputs=[one]) for one in outputs]
    text, _ = nbconvert.HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=cells))
    path = tmp_path / "exported.html"
    path.write_text(text, encoding="utf-8")
    page = browser.new_page(viewport={"width": 1100, "height": 900})
    page.route("http*://**", lambda route: route.abort())
    page.goto(path.as_uri(), wait_until="domcontentloaded")
    yield page
    page.close()


def playing(page):
    """Which of the players play."""
    frames = [page.frame_locator("iframe").nth(number) for number in range(3)]
    return [frame.locator("#play").inner_text() == "Pause" for frame in frames]


def point(page, number):
    """Move the pointer onto a player, as a hand does, and let it rest there."""
    frame = page.locator("iframe").nth(number)
    frame.scroll_into_view_if_needed()
    box = frame.bounding_box()
    for step in range(4):
        page.mouse.move(box["x"] + 200 + 10 * step, box["y"] + 300 + 3 * step)
    page.wait_for_timeout(300)


def test_space_plays_the_player_that_the_pointer_rests_on(exported):
    assert playing(exported) == [False] * 3
    assert exported.locator("iframe").nth(0).bounding_box()["height"] == 0.85 * 900
    for number in (1, 0, 2):
        point(exported, number)
        exported.keyboard.press(" ")
        assert playing(exported) == [one == number for one in range(3)]
        frame = exported.frame_locator("iframe").nth(number)
        assert frame.locator("main.keys").count() == 1
        exported.keyboard.press(" ")
        assert playing(exported) == [False] * 3
    assert exported.frame_locator("iframe").nth(0).locator("main.keys").count() == 0


def test_space_plays_the_player_that_was_clicked(exported):
    for number in (2, 0, 1):
        exported.frame_locator("iframe").nth(number).locator("h1").click()
        exported.keyboard.press(" ")
        assert playing(exported) == [one == number for one in range(3)]
        exported.keyboard.press(" ")


def test_a_pointer_that_does_not_move_takes_no_key(exported):
    """A page scrolls a player below it, or a cell that has run shows one there."""
    exported.evaluate(
        "() => { const field = document.createElement('textarea'); document.body.prepend(field);"
        " field.focus(); }"
    )
    exported.mouse.move(400, 700)
    exported.mouse.wheel(0, 200)
    until(exported, "scrollY > 100")
    exported.wait_for_timeout(400)
    exported.keyboard.type("a")
    assert exported.evaluate("document.activeElement.value") == "a"
