"""A memory of 32 banks: all in sight, on any screen, with what a request touches."""

import numpy as np
import pytest

import mmsim as mm
from mmsim_algorithms import transpose

SCREENS = [(1280, 720, ""), (1280, 720, "?lecture"), (1920, 1080, ""), (1920, 1080, "?lecture")]

# The boxes of what matches, cut off by the memory's box.
INSIDE = """(box, selector) => {
  const clip = box.getBoundingClientRect();
  return [...box.querySelectorAll(selector)].map((one) => {
    const { left, top, right, bottom } = one.getBoundingClientRect();
    return [Math.min(right, clip.right) - Math.max(left, clip.left),
            Math.min(bottom, clip.bottom) - Math.max(top, clip.top), right - left, bottom - top];
  });
}"""

BY_20 = "td[title$='by warp 20']"


@mm.program
def across(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    row, column = T.id // 32, T.id % 32
    b[column, row] = a[row, column]


@mm.program
def staged(T: mm.Thread, a: mm.Array) -> None:
    s = mm.shared(32)
    s[T.index] = a[T.id]
    a[T.id] = s[31 - T.index]


def transposed(machine=None, **launch):
    a = np.arange(1024).reshape(32, 32)
    machine = machine or mm.DMM(32, 8)
    return machine.run(across, a, np.zeros_like(a), threads=1024, trace=True, **launch)


def whole(inside):
    """Whether boxes are in sight as a whole, but for the pixels of a border."""
    return all(w > 2 and h > 2 and w >= W - 2 and h >= H - 2 for w, h, W, H in inside)


@pytest.mark.parametrize(("width", "height", "address"), SCREENS)
def test_all_banks_and_all_cells_of_a_conflict_are_in_sight(show, width, height, address):
    viewport = {"width": width, "height": height}
    shown = show(transposed().player(), address=address, viewport=viewport)
    memory = shown.locator(".memory")
    for time in (20, 80):  # a row is read; a column is written, in a conflict
        shown.evaluate("t => mmsim.go(t)", time)
        for selector in ("thead th", "tbody tr:nth-child(5) td"):
            columns = memory.evaluate(INSIDE, selector)
            assert len(columns) == 32
            assert all(one[0] >= one[2] - 2 > 2 for one in columns)
    touched = memory.evaluate(INSIDE, "td.w1")
    assert len(touched) == 32
    assert whole(touched)
    if address:
        assert memory.bounding_box()["y"] + memory.bounding_box()["height"] <= height
        cut = "all => all.filter((one) => one.scrollHeight > one.clientHeight + 1).length"
        assert shown.locator(".register, .requests").evaluate_all(cut) == 0
        first, last = memory.locator("tr.first th, tr.last th").all()
        assert (first.inner_text(), last.inner_text()) == ("[0, 0]", "[31, 0]")
    else:
        assert [one.split() for one in memory.locator("td.w1").all_inner_texts()] == [
            ["W1", str(32 + n)] for n in range(32)
        ]


@pytest.mark.parametrize("address", ["", "?lecture"])
def test_a_conflict_on_another_page_of_rows_is_in_sight(show, address):
    @mm.program
    def add(T, a, b, c):
        row, column = T.id // 32, T.id % 32
        c[column, row] = a[column, row] + b[row, column]

    a = np.arange(1024).reshape(32, 32)
    run = mm.DMM(32, 8).run(add, a, a, np.zeros_like(a), threads=1024, trace=True)
    viewport = {"width": 1280, "height": 720}
    shown = show(run.player(), address=address, viewport=viewport)
    for dispatch in (run.trace.dispatches[31], run.trace.dispatches[-1]):
        shown.evaluate("t => mmsim.go(t)", dispatch.time)
    touched = shown.locator(".memory").evaluate(INSIDE, "td[title$='by warp 31']")
    assert len(touched) == 32
    assert whole(touched)


@pytest.mark.parametrize("machine", [mm.DMM(32, 8), mm.UMM(32, 8)])
@pytest.mark.parametrize(("width", "address"), [(390, ""), (1280, ""), (1280, "&lecture")])
def test_a_link_opens_where_a_conflict_is_in_sight(show, machine, width, address):
    viewport = {"width": width, "height": 820}
    shown = show(transposed(machine).player(), address=f"#t=80{address}", viewport=viewport)
    shown.locator(".memory.flat").wait_for()
    shown.evaluate("() => new Promise(requestAnimationFrame)")
    touched = shown.locator(".memory").evaluate(INSIDE, "td[title$='by warp 1']")
    assert len(touched) == 32
    assert whole(touched)


def test_the_source_is_whole_in_lecture_mode(show):
    """Lines are broken, and what follows stands further in."""
    shown = show(transposed().player(), address="?lecture", viewport={"width": 1280, "height": 720})
    source = shown.locator("#source")
    assert source.evaluate("one => one.scrollWidth - one.clientWidth") <= 0
    line = source.locator(".text").nth(3)
    left, right = line.evaluate(
        "one => { const range = document.createRange(); const at = (from) => {"
        "range.setStart(one.firstChild, from); range.setEnd(one.firstChild, from + 1);"
        "return range.getBoundingClientRect().left; };"
        "return [at(one.textContent.search(/\\S/)), at(one.textContent.length - 1)]; }"
    )
    assert line.inner_text().endswith("a[row, column]")
    assert line.evaluate("one => one.getClientRects()[0].height") > 30
    assert left < right


def test_columns_are_as_wide_as_what_is_in_them(show):
    """Of a request to one bank its column; of one to all banks none: then marks have a name."""
    shown = show(transposed().player(), viewport={"width": 1280, "height": 720})
    memory = shown.locator(".memory")
    shown.evaluate("mmsim.go(80)")
    widths = [one[2] for one in memory.evaluate(INSIDE, "tbody tr:nth-child(5) td")]
    assert widths[1] > 2 * max(widths[:1] + widths[2:])
    shown.evaluate("mmsim.go(20)")
    widths = [one[2] for one in memory.evaluate(INSIDE, "tbody tr:nth-child(5) td")]
    assert max(widths) - min(widths) <= 1.5
    texts = [text for text in memory.locator(BY_20).all_inner_texts() if text]
    assert [text.strip() for text in texts] == ["W20"]
    last = memory.locator(BY_20).nth(31)
    assert last.get_attribute("title").startswith("a[20, 31] = 671;")


@pytest.mark.parametrize("machine", [mm.DMM(32, 8), mm.UMM(32, 8)])
@pytest.mark.parametrize("width", [346, 390])
def test_all_columns_are_in_sight_on_a_phone(show, machine, width):
    shown = show(transposed(machine).player(), viewport={"width": width, "height": 820})
    columns = shown.locator(".memory").evaluate(INSIDE, "tbody tr:nth-child(5) td")
    assert len(columns) == 32
    assert all(one[0] >= one[2] - 2 > 1 for one in columns)


def test_a_memory_with_room_is_as_before(show):
    a = np.arange(16).reshape(4, 4)
    run = mm.DMM(4, 3).run(transpose.straightforward, a, np.zeros_like(a), threads=16, trace=True)
    shown = show(run.player(), viewport={"width": 1280, "height": 720})
    assert not shown.locator(".dense, .flat, .marks").count()
    assert shown.locator("thead th").first.inner_text().split()[:2] == ["bank", "0"]


def test_dmms_that_do_nothing_are_not_drawn(show):
    machine = mm.HMM(dmms=132, width=32, global_latency=400, shared_latency=20)
    run = machine.run(staged, np.arange(64), threads=64, block_size=32, trace=True)
    shown = show(run.player())
    names = shown.locator(".unit > h2").all_inner_texts()
    assert [name.split()[0] for name in names] == ["global", "shared[0]", "shared[1]"]
    title = shown.locator("#title")
    assert title.inner_text() == (
        "staged on an HMM of 132 DMMs of width 32, latency 400, 20 of shared memory"
    )
    assert title.get_attribute("title") == repr(machine)
    run = machine.run(staged, np.arange(32), threads=32, trace=True)
    shown = show(run.player())
    assert shown.locator(".unit").count() == 2


def test_empty_registers_in_a_row_are_one_box(show):
    run = mm.DMM(4, 20).run(staged, np.arange(32), threads=32, trace=True)
    shown = show(run.player())
    boxes = shown.locator(".pipeline > :not(.outside)")
    for time in range(0, run.time, 7):
        shown.evaluate("t => mmsim.go(t)", time)
        numbers = [
            int(number)
            for text in boxes.all_inner_texts()
            for number in text.split("\n")[0].replace("–", " ").split()
            if number.isdecimal()
        ]
        assert numbers[0] == 1
        assert numbers[-1] == 20
        folds = shown.locator(".fold").count()
        assert boxes.count() - folds == shown.locator(".register .badge").count()


def test_of_many_requests_in_a_pipeline_the_last_are_not_drawn(show):
    @mm.program
    def each(T, a):
        a[T.id]

    run = mm.UMM(1, 200).run(each, np.arange(150), threads=150, trace=True)
    shown = show(run.player())
    shown.evaluate("mmsim.go(149)")
    assert shown.locator(".register").count() == 96
    assert shown.locator(".fold").all_inner_texts() == ["registers 97–200 not drawn"]


def test_an_array_without_requests_has_no_rows_until_they_are_wanted(show):
    @mm.program
    def copy(T, a, b, unused):
        b[T.id] = a[T.id]

    a = np.arange(8)
    run = mm.DMM(4, 3).run(copy, a, np.zeros_like(a), np.arange(400), threads=8, trace=True)
    shown = show(run.player())
    names = shown.locator(".memory th.array")
    assert names.all_inner_texts() == ["a", "b"]
    assert not shown.get_by_text("rows ›").is_visible()
    shown.get_by_role("button", name="show unused").click()
    assert names.all_inner_texts() == ["a", "b", "unused"]
    assert not shown.locator(".idle-arrays").count()
    shown.get_by_text("rows ›").click()
    assert shown.locator(".memory tbody th").last.inner_text() == "[396]"


# Play as fast as can be for 2.4 s, then pause; how often the memory turned to another page.
TURNED = """async () => {
  const { stage } = mmsim;
  const [panel] = stage.players[0].panels;
  const { length } = stage.part("speed").options;
  stage.part("speed").selectedIndex = length - 1;
  stage.part("play").click();
  const pages = [panel.page];
  for (const began = performance.now(); performance.now() < began + 2400;) {
    await new Promise((done) => requestAnimationFrame(done));
    if (panel.page !== pages.at(-1)) pages.push(panel.page);
  }
  stage.part("play").click();
  return pages.length - 1;
}"""


def test_a_memory_does_not_turn_its_pages_faster_than_one_can_see(show):
    """Of 2 x 32 x 4 rows of 8 words a page has 64; each request of 8 stages is in another page."""
    a = np.arange(1024).reshape(32, 32)
    run = mm.DMM(8, 4).run(across, a, np.zeros_like(a), threads=1024, trace=True)
    shown = show(run.player())
    shown.evaluate("mmsim.go(140)")
    assert 1 <= shown.evaluate(TURNED) <= 5
    assert shown.locator(".memory td.unread").count() == 0
    panel = "mmsim.stage.players[0].panels[0]"
    assert shown.evaluate(f"{panel}.at === mmsim.time && {panel}.sought !== null")
