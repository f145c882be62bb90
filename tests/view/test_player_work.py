"""How little a step of the player does: what is the same is left alone, in a real Chromium."""

import numpy as np
import pytest

import mmsim as mm

# Go to a time, and report for each panel how many nodes came, went, or have another text or
# attribute.
WATCHED = """([time, panels]) => {
  const root = document.querySelector("#player").shadowRoot;
  const players = [...root.querySelectorAll(".run")].map((one) => one.shadowRoot);
  const all = { subtree: true, childList: true, characterData: true, attributes: true };
  const seen = (players.length ? players : [root]).map((one) => panels.map((panel) => {
    const watch = new MutationObserver(() => {});
    watch.observe(one.querySelector(panel), all);
    return watch;
  }));
  mmsim.go(time);
  return seen.map((watches) => watches.map((watch) => watch.takeRecords().length));
}"""


@mm.program
def copy(T, a, b):
    b[T.id] = a[T.id]


@mm.program
def scatter(T, a, b):
    b[4 * T.id % b.size] = a[T.id]


def copying(latency=8, threads=4):
    a = np.arange(4 * threads)
    return mm.DMM(4, latency).run(copy, a, np.zeros_like(a), threads=threads, trace=True)


def scattering(threads):
    a = np.arange(threads)
    return mm.DMM(4, 20).run(scatter, a, np.zeros(4 * threads, int), threads=threads, trace=True)


@pytest.mark.parametrize(
    "player", [copying().player(), mm.compare(copying(), copying())], ids=["one run", "two runs"]
)
def test_what_a_step_leaves_alone_is_not_touched(show, player):
    """One request is on its way: no panel but the pipeline has anything to change."""
    shown = show(player)
    shown.evaluate("mmsim.go(2)")
    still = ["#source", "#queue", "#lanes", "#held", ".memory"]
    for touched in shown.evaluate(WATCHED, [3, still]):
        assert dict(zip(still, touched, strict=True)) == dict.fromkeys(still, 0)
    shown.evaluate("mmsim.go(7)")
    for touched in shown.evaluate(WATCHED, [8, still]):  # it completes, and another is dispatched
        assert 0 not in touched[-2:]


# Of each time the numbers of the registers, that of the one which is taken, and whether its box is
# that of the time before.
BOXES = """times => {
  const root = document.querySelector("#player").shadowRoot;
  let before = null;
  return times.map((time) => {
    mmsim.go(time);
    const name = (box) => box.querySelector(".name").textContent;
    const own = root.querySelector(".pipeline .badge").closest(".register");
    const same = own === before;
    before = own;
    return [[...root.querySelectorAll(".register")].map(name), name(own), same];
  });
}"""


def test_a_register_s_box_goes_on_to_the_next_register(show):
    """By one register a time unit, in either direction; another request has a box of its own."""
    shown = show(copying().player())
    names = [f"register {number}" for number in range(1, 9)]
    times = [2, 3, 4, 7, 6, 6, 8, 9]
    assert shown.evaluate(BOXES, times) == [
        [names, f"register {time % 8 + 1}", time not in (2, 8)] for time in times
    ]
    shown.evaluate("mmsim.go(2)")
    shown.keyboard.press("a")
    assert shown.locator(".register .requests").inner_text() == "a at 0 1 2 3"
    assert shown.locator(".pipeline [tabindex='0']").count() == 1


def test_the_newest_request_is_in_sight_where_a_page_opens(show):
    """Of memory that is higher than its box; a page may open at any time."""
    run = scattering(200)
    time = run.trace.dispatches[90].time
    shown = show(run.trace.player(start=time))
    above = "document.querySelector('#player').shadowRoot.querySelector('.memory').scrollTop"
    seen = shown.evaluate(above)
    for moment in (time + 1, time):
        shown.evaluate(f"mmsim.go({moment})")
    assert seen == shown.evaluate(above) > 0


def test_the_focus_stays_on_what_is_to_enter(show):
    """Also where another badge takes the place of the focused one."""
    run = scattering(16)
    shown = show(run.player())
    time = next(one.time for one in run.trace.dispatches if len(set(one.stages)) > 1)
    shown.evaluate(f"mmsim.go({time})")
    shown.locator(".outside .badge").focus()
    for _ in range(5):
        shown.evaluate("mmsim.go(mmsim.time + 1)")
        active = "document.querySelector('#player').shadowRoot.activeElement?.className"
        assert "badge" in shown.evaluate(active)


CUT = """all => all.filter((one) => getComputedStyle(one).overflowX === "hidden")
  .map((one) => one.textContent)"""
# What is longer than its box although nothing cuts it off.
QUEUE = "[...document.querySelector('#player').shadowRoot.querySelectorAll('#queue td')]"
LOOSE = """all => all.filter((one) => one.scrollWidth > one.clientWidth)
  .filter((one) => getComputedStyle(one).overflowX === "visible").map((one) => one.textContent)"""


def test_only_long_texts_are_cut_off(show):
    """The browser goes through all that is cut off or sticky, at each frame."""
    shown = show(scattering(32).player(), viewport={"width": 1280, "height": 900})
    rows = shown.locator("#queue td:nth-child(2)")
    assert rows.evaluate_all(CUT) == []
    for width in (1280, 360):
        shown.set_viewport_size({"width": width, "height": 900})
        # The page follows the window's width soon, not immediately.
        shown.wait_for_function(f"() => ({LOOSE})({QUEUE}).length === 0", timeout=10_000)
    assert rows.evaluate_all(CUT) != []
    cells = shown.locator(".memory td[data-place]")
    assert cells.evaluate_all(CUT) == []
    a = np.array([1.5, -2.25e-300, 1 / 3 - 1j, 4e300])
    run = mm.DMM(4, 3).run(copy, a, np.zeros(4, complex), threads=4, trace=True)
    shown = show(run.player())
    shown.keyboard.press("End")
    cells = shown.locator(".memory td[data-place]")
    assert cells.evaluate_all(CUT) == ["-2.25e-300+0.0j", "0.3333-1.0j", "4.0e+300+0.0j"] * 2
    assert cells.evaluate_all(LOOSE) == []


def test_the_names_of_rows_stay_in_sight_where_the_table_is_wide(show):
    """512 columns have no room on any screen."""
    wide = "one => [...one.querySelectorAll('tbody th')].map((th) => getComputedStyle(th).position)"
    a = np.arange(256)
    runs = [mm.DMM(w, 3).run(copy, a, np.zeros_like(a), threads=256, trace=True) for w in (16, 512)]
    shown = show(runs[0].player(), viewport={"width": 1600, "height": 900})
    assert set(shown.locator(".memory").evaluate(wide)) == {"static"}
    shown = show(runs[1].player(), viewport={"width": 1600, "height": 900})
    shown.locator(".memory.wide").wait_for()
    memory = shown.locator(".memory")
    assert set(memory.evaluate(wide)) == {"sticky"}
    memory.evaluate("one => { one.scrollLeft = 200; }")
    left = memory.locator("tbody th[scope=row]").first.bounding_box()["x"]
    assert left == pytest.approx(memory.bounding_box()["x"], abs=2)


def test_a_page_is_ascii():
    """A browser decodes it faster."""
    player = copying().player()
    player.data["program"] = "Größe → \U0001d465"
    assert player.html().isascii()
    assert "Gr&#246;&#223;e &#8594; &#119909; on DMM" in player.html()


def test_a_page_without_scripts_says_what_to_do(browser, tmp_path):
    run = mm.HMM(2, 4, 10).run(copy, np.arange(8), np.zeros(8), threads=8, trace=True)
    path = tmp_path / "page.html"
    run.player().save(path)
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(path.as_uri())
        assert page.locator("noscript p").inner_text() == (
            "copy on HMM(dmms=2, width=4, global_latency=10, shared_latency=1): to step through "
            "this run, allow JavaScript for this page. It fetches nothing."
        )


def test_the_title_of_a_page_is_in_words(show):
    run = mm.HMM(2, 4, 10).run(copy, np.arange(8), np.zeros(8), threads=8, trace=True)
    assert show(run.player()).title() == "copy on an HMM of 2 DMMs of width 4, latency 10"
