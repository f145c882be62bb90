"""The kinds of moments that a lecturer picks, and links to the rows of memory in sight."""

import re

import numpy as np
import pytest

import mmsim as mm
from mmsim import cuda
from mmsim.cli import main
from mmsim.errors import LaunchError
from mmsim.view.player.page import PRESETS
from mmsim_algorithms import transpose
from tests.kit.views.states import until
from tests.view.test_player import permuting


@pytest.fixture(scope="module")
def run():
    """On an HMM, with bank conflicts, requests to several address groups, and barriers."""
    return permuting()


def transposing(machine):
    a = np.arange(16).reshape(4, 4)
    return machine.run(transpose.straightforward, a, np.zeros_like(a), threads=16, trace=True)


def stops(shown):
    """The stops of `S` from the beginning on."""
    shown.keyboard.press("Home")
    seen = []
    while True:
        shown.keyboard.press("s")
        if "No later stop" in shown.locator("#status").inner_text():
            return seen
        seen.append(shown.evaluate("mmsim.time"))


def moments(trace):
    """The times of each kind, worked out from the trace."""
    more = [one for one in trace.dispatches if one.stage_count > one.phase_count]
    entering = {one.time + k for one in trace.dispatches for k in range(one.stage_count)}
    still = {t for t in range(trace.time) if t not in entering and t - 1 in entering}
    opens = sorted({release.time for release in trace.releases})
    comes = sorted(wait.start for wait in trace.waits if wait.reason == "barrier")
    firsts = set()
    for before, opened in zip([-1, *opens], opens, strict=False):
        firsts |= {
            time
            for time in comes
            if before < time < opened and time == min(one for one in comes if one > before)
        }
    return {
        "conflict": {one.time for one in more if one.unit != "global"}
        or {one.time for one in more},
        "coalescing": {one.time for one in more if one.unit == "global"},
        "latency": still,
        "barrier": firsts | set(opens),
    }


@pytest.mark.parametrize("kind", PRESETS)
def test_a_kind_goes_to_its_first_moment_and_stops_at_all(show, run, kind):
    expected = sorted(moments(run.trace)[kind])
    assert expected
    shown = show(run.player(preset=kind), viewport={"width": 1280, "height": 800})
    assert shown.locator("#show").input_value() == kind
    assert shown.evaluate("mmsim.time") == expected[0]
    assert stops(shown) == [time for time in expected if time > 0]
    pressed = shown.locator("#addresses").get_attribute("aria-pressed")
    assert pressed == str(kind == "coalescing").lower()
    shown.select_option("#show", "")
    assert shown.locator("#stop").input_value() == ""
    assert shown.evaluate("mmsim.time") == expected[-1]
    shown.select_option("#show", kind)
    assert shown.evaluate("mmsim.time") == expected[0]
    link = shown.locator("#link").get_attribute("href")
    assert f"show={kind}" in link
    again = show(run.player(), address=f"#show={kind}")
    assert again.evaluate("mmsim.time") == expected[0]
    again = show(run.player(), address=f"{link.replace('t=', 't=3&was=')}&lecture", on=again)
    assert again.evaluate("mmsim.time") == 3
    assert again.locator(f"#run.lecture[data-show={kind}]").count() == 1
    assert again.locator(".memory").first.is_visible() == (kind in ("conflict", "coalescing"))
    assert again.locator("#queue-panel").is_visible() == (kind in ("latency", "barrier"))


def test_kinds_that_a_run_does_not_have_cannot_be_picked(show):
    shown = show(transposing(mm.DMM(4, 3)).player())
    disabled = shown.locator("#show option").evaluate_all(
        "all => all.filter((one) => one.disabled).map((one) => one.value)"
    )
    assert disabled == ["coalescing"]
    shown = show(transposing(mm.DMM(4, 3)).player(preset="coalescing"))
    assert "No coalescing in this run." in shown.locator("#status").inner_text()
    shown = show(transposing(mm.UMM(4, 3)).player(preset="conflict"))
    assert shown.locator("#stop").input_value() == "conflict"
    with pytest.raises(LaunchError, match=r"preset is one of conflict, coalescing, .*not 'banks'"):
        transposing(mm.DMM(4, 3)).player(preset="banks")


def test_all_ways_to_a_player_take_a_kind(show, tmp_path):
    @cuda.jit
    def copy(a):
        a[cuda.grid(1)] = 0

    copy[1, 32](np.ones(32))
    report = mm.DMM(4, 3).check(copy, np.ones(8), threads=8, trace=True)
    for made in (copy.player(preset="latency"), report.player(preset="latency")):
        assert made.data["show"] == "latency"
    page = tmp_path / "page.html"
    call = ["step", "mmsim_algorithms.transpose:diagonal", "--html", str(page)]
    assert main([*call, "--preset", "barrier"]) == 0
    assert '"show":"barrier"' in page.read_text(encoding="utf-8")
    compared = mm.compare(*map(transposing, (mm.DMM(4, 3), mm.UMM(4, 3))), preset="coalescing")
    shown = show(compared)
    assert shown.locator("#show").input_value() == "coalescing"
    assert shown.locator("#stop").input_value() == "coalescing"


def test_a_link_has_addresses_other_than_the_kind_has(show, run):
    shown = show(run.player(), address="#show=coalescing")
    pressed = "document.querySelector('#player').shadowRoot.querySelector('#addresses').ariaPressed"
    assert shown.evaluate(pressed) == "true"
    shown.keyboard.press("a")
    link = shown.locator("#link").get_attribute("href")
    assert re.search("show=coalescing%2Celements", link)
    assert show(run.player(), address=link).evaluate(pressed) == "false"


# ------------------------------------------------------------------ rows in sight


@mm.program
def reading(T, a):
    a[T.id]


FIRST = """(memory) => {
  const head = memory.querySelector("thead").getBoundingClientRect().bottom;
  const rows = [...memory.querySelectorAll("tbody tr")].filter((row) => row.cells.length > 1);
  return rows.find((row) => row.getBoundingClientRect().bottom > head + 3).cells[0].textContent;
}"""


def test_a_link_leads_to_the_rows_that_were_scrolled_to(show):
    run = mm.DMM(4, 3).run(reading, np.arange(400), threads=64, trace=True)
    shown = show(run.player(), viewport={"width": 1280, "height": 900})
    memory = shown.locator(".memory")
    shown.evaluate("mmsim.go(3)")
    assert "rows" not in shown.locator("#link").get_attribute("href")
    memory.hover()
    shown.mouse.wheel(0, 500)
    until(
        shown,
        "document.querySelector('#player').shadowRoot.querySelector('#link').href.includes('rows')",
    )
    shown.wait_for_timeout(300)  # the wheel scrolls smoothly
    first = memory.evaluate(FIRST)
    assert first != "[0]"
    link = shown.locator("#link").get_attribute("href")
    row = 1 + int(first[1:-1]) // 4
    assert re.search(r"t=3&rows=(\d+)$", link)[1] == str(row)
    for address in (link, link + "&lecture"):
        again = show(run.player(), address=address, viewport={"width": 1280, "height": 900})
        again.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        assert again.locator(".memory").evaluate(FIRST) == first
    # Another page of rows, too; and a request that is sought ends it.
    shown.get_by_role("button", name="rows ›").click()
    link = shown.locator("#link").get_attribute("href")
    assert link.endswith("rows=65")
    again = show(run.player(), address=link, on=again)
    assert again.locator(".memory").evaluate(FIRST) == "[256]"
    again.evaluate("mmsim.go(5)")
    assert "rows=" not in again.locator("#link").get_attribute("href")
    show(run.player(), address="#rows=0,many,9999", on=again)


def test_a_link_holds_the_rows_of_each_memory(show):
    machine = mm.HMM(2, 4, 5)

    @mm.program
    def staging(T, a):
        s = mm.shared(128)
        s[T.index] = a[T.id]
        a[T.id] = s[127 - T.index]

    run = machine.run(staging, np.arange(256), threads=16, block_size=8, trace=True)
    shown = show(run.player(), viewport={"width": 1280, "height": 900})
    assert shown.locator(".memory").count() == 3
    box = shown.locator(".memory").nth(1)
    box.hover()
    shown.mouse.wheel(0, 300)
    until(
        shown,
        "document.querySelector('#player').shadowRoot.querySelector('#link').href.includes('rows=%2C')",
    )
    shown.wait_for_timeout(300)
    link = shown.locator("#link").get_attribute("href")
    again = show(run.player(), address=link, viewport={"width": 1280, "height": 900})
    assert again.locator(".memory").nth(1).evaluate(FIRST) == box.evaluate(FIRST) != "[0]"
