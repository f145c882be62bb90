"""Space, stops and links: a real Chromium presses keys, and reads where the player is."""

import re
from pathlib import Path

import numpy as np
import pytest

import mmsim as mm
from mmsim_algorithms import permutations
from tests.kit.views.states import until


@mm.program
def moving(T, a, b, P):
    x = 0
    for turn in range(3):
        x = a[P[T.id]] + turn
        b[T.id // 4, T.id % 4] = x


@pytest.fixture(scope="module")
def run():
    P = permutations.random(16, 3)
    how = {"threads": 16, "schedule": "asynchronous", "trace": True}
    return mm.DMM(4, 3).run(moving, np.arange(16), np.zeros((4, 4), int), P, **how)


def now(shown):
    return shown.evaluate("mmsim.time")


def test_space_plays_without_a_click_and_never_scrolls(show, run):
    shown = show(run.player(), viewport={"width": 900, "height": 400}, alone=True)  # with a clock
    shown.clock.install(time="2030-01-01")
    scrolled = "[scrollY, document.documentElement.scrollHeight > innerHeight]"
    assert shown.evaluate(scrolled) == [0, True]
    play = shown.locator("#play")
    shown.keyboard.press(" ")
    assert play.inner_text() == "Pause"
    shown.clock.run_for(3000)
    assert now(shown) > 1
    shown.keyboard.press(" ")
    assert play.inner_text() == "Play"
    # The clock of the page stands still from here on: what moves was pressed.
    shown.clock.pause_at("2030-01-02")
    # Wherever one has clicked; a button that was clicked is not pressed again.
    for place in ("[data-go=next]", "#play", "#slider", "td[data-place='3']", "h1", "#timeline"):
        shown.locator(place).click()
        if play.inner_text() == "Pause":
            shown.keyboard.press(" ")
        assert play.inner_text() == "Play", place
        shown.evaluate("mmsim.go(5)")
        shown.keyboard.press(" ")
        assert play.inner_text() == "Pause", place
        shown.keyboard.press(" ")
        assert play.inner_text() == "Play", place
        assert now(shown) == 5, place
    shown.evaluate("scrollTo(0, 0)")
    for _ in range(2):
        shown.keyboard.press(" ")
        assert shown.evaluate(scrolled) == [0, True]
    # Who came to a button with Tab presses it.
    shown.evaluate("mmsim.go(0)")
    shown.locator("[data-go=last]").focus()
    shown.keyboard.press("Tab")
    shown.keyboard.press("Shift+Tab")
    shown.keyboard.press(" ")
    assert now(shown) == run.time


def test_space_on_the_page_around_a_player(new_page, run, tmp_path):
    """As on the site's first page, whose script hands Space on to the player in sight."""
    script = Path(__file__).parents[2] / "docs" / "_static" / "player.js"
    path = tmp_path / "site.html"
    text = f"<!doctype html><p>{run.player()._repr_html_()}<p style='height: 4000px'><input>"
    path.write_text(f"{text}<script>{script.read_text('utf-8')}</script>", encoding="utf-8")
    shown = new_page(viewport={"width": 900, "height": 700})
    shown.goto(path.as_uri())
    frame = shown.frame_locator("iframe")
    frame.locator("#play").wait_for()
    shown.keyboard.press(" ")
    frame.get_by_text("Pause", exact=True).wait_for()
    assert shown.evaluate("scrollY") == 0
    shown.keyboard.press(" ")
    frame.get_by_text("Play", exact=True).wait_for()
    shown.locator("input").focus()  # far below: Space is not the player's
    shown.keyboard.press(" ")
    assert frame.locator("#play").inner_text() == "Play"


def stops(shown, text):
    """The player's stops with this text, by the keys S and Shift+S."""
    field = shown.get_by_label("Stop at")
    field.fill(text)
    field.press("Enter")
    shown.evaluate("document.querySelector('#player').shadowRoot.activeElement?.blur()")
    shown.keyboard.press("Home")
    seen = []
    while True:
        shown.keyboard.press("s")
        if "No later stop" in shown.locator("#status").inner_text():
            break
        assert f"Stop: {text}." in shown.locator("#status").inner_text()
        seen.append(now(shown))
    for before in reversed(seen[:-1]):
        shown.keyboard.press("Shift+S")
        assert now(shown) == before
    return seen


def test_stops(show, run):
    trace = run.trace
    shown = show(run.player())

    def times(which):
        return sorted({one.time for one in trace.dispatches if which(one)} - {0})

    conflicts = times(lambda one: one.stage_count > 1)
    assert conflicts
    assert stops(shown, "conflict") == conflicts
    assert stops(shown, "W2") == times(lambda one: one.warp == 2)
    line = trace.dispatches[-1].line
    assert stops(shown, f"line {line}") == times(lambda one: one.line == line)
    assert stops(shown, "address 9") == times(lambda one: 9 in one.addresses)
    assert stops(shown, "b[1, 2]") == times(lambda one: one.array == "b" and 6 in one.elements)

    def changes(holds, thread=None):
        found = set()
        for change in trace.changes:
            threads = trace.grid.warp_threads(change.warp)
            for own, value in zip(threads, change.values, strict=True):
                if change.name == "x" and value is not None and thread in (None, own):
                    found |= {change.time} if holds(value) else set()
        return sorted(found - {0})

    assert changes(lambda value: value == 7)
    assert stops(shown, "x == 7") == changes(lambda value: value == 7)
    assert stops(shown, "x > 14") == changes(lambda value: value > 14)
    thread = changes(lambda value: value > 0, 5)
    assert thread
    assert stops(shown, "x > 0 in thread 5") == thread
    # Playing stops there too.
    last = stops(shown, "x == 7")[-1]
    shown.keyboard.press("Home")
    shown.select_option("#speed", "300")
    seen = 0
    while seen < last:
        shown.keyboard.press(" ")
        until(shown, f"mmsim.time > {seen}")
        shown.locator("#play", has_text="Play").wait_for()
        assert now(shown) in changes(lambda value: value == 7)
        seen = now(shown)
    # What means nothing is said, and changes nothing.
    field = shown.get_by_label("Stop at")
    field.fill("whenever")
    field.press("Enter")
    assert "Cannot stop at “whenever”" in shown.locator("#status").inner_text()
    assert field.get_attribute("aria-invalid") == "true"
    field.fill("")
    field.press("Enter")
    assert shown.locator("[data-go=stop]").is_hidden()


def test_a_link_reopens_what_is_shown(show, run):
    player = run.player()
    shown = show(player, address="#t=12&warp=3")
    assert now(shown) == 12
    assert shown.locator("#follow option:checked").inner_text() == "warp 3"
    assert shown.locator("#thread").input_value() == "12"
    shown.evaluate("mmsim.choose(14)")
    shown.evaluate("mmsim.go(17)")
    for key in ("a", "l"):
        shown.keyboard.press(key)
    shown.keyboard.press("l")
    field = shown.get_by_label("Stop at")
    field.fill("conflict or x == 7 in thread 5")
    field.press("Enter")

    def view(page):
        return page.evaluate(
            "() => { const root = document.querySelector('#player').shadowRoot;"
            "const marked = [...root.querySelectorAll('.followed')];"
            "const text = (one) => root.querySelector(one).textContent;"
            "return ['#now', '.unit', '#queue', '#held', '#lanes', '#source', '#status'].map("
            "  (one) => text(one).replace(/^.*stops? at.*?[.] /, '')).concat("
            "['#stop', '#thread', '#follow'].map((one) => root.querySelector(one).value),"
            "marked.map((one) => one.textContent)); }"
        )

    link = shown.locator("#link").get_attribute("href")
    assert re.match(r"#t=17&warp=3&thread=14&stop=.*&show=addresses$", link)
    again = show(player, address=link)
    assert view(again) == view(shown)
    shown.locator("td[data-place='5']").click()
    assert "address=5&unit=memory" in shown.locator("#link").get_attribute("href")
    line = run.trace.dispatches[-1].line
    shown.locator(".source-line .code", has_text="b[T.id // 4").click()
    link = shown.locator("#link").get_attribute("href")
    assert f"line={line}&function=moving" in link
    assert view(show(player, address=link, on=again)) == view(shown)
    # An address that is typed in goes there, on the same page.
    shown.evaluate("location.hash = '#t=3&warp=1&lecture'")
    until(shown, "mmsim.time === 3")
    assert shown.locator("#run.lecture").count() == 1
    assert shown.locator("#follow option:checked").inner_text() == "warp 1"
    for nonsense in ("#t=many", "#warp=99&t=2", "#stop=whenever", "#address=-1&unit=none", "#%"):
        assert now(show(player, address=nonsense, on=again)) in (0, 2)
