"""The player in a lecture hall, on a phone, on paper: what is in sight, how large, and where."""

import numpy as np
import pytest

import mmsim as mm
from mmsim_algorithms import permutations, transpose
from mmsim_algorithms.hmm_permutation.programs import plan, scheduled
from tests.kit.views.states import until

PIERCE = """const inside = (node) => [...node.children].flatMap(
  (one) => [one, ...(one.shadowRoot ? inside(one.shadowRoot) : []), ...inside(one)]);
const all = inside(document.body);"""

# The boxes whose whole must be in the window; each group's must be apart from one another.
BOXES = (
    "() => {"
    + PIERCE
    + """
  const seen = (one) => one.getClientRects().length > 0;
  const box = (one) => {
    const { left, top, right, bottom } = one.getBoundingClientRect();
    return [one.id || one.className, left, top, right, bottom];
  };
  const groups = ["header, #status, .buttons, section", "#controls button", ".pipeline > *"];
  return [groups.map((group) => all.filter((one) => one.matches(group) && seen(one)).map(box)),
          all.filter((one) => one.matches("canvas, .source-line") && seen(one)).map(box)];
}"""
)

# Of each element with a text of its own: the size of its letters, and what covers its middle as
# far as it can be seen in its boxes.
TEXTS = (
    "() => {"
    + PIERCE
    + """
  return all.flatMap((one) => {
    const own = [...one.childNodes].filter((node) => node.nodeType === 3 && node.data.trim());
    if (!own.length || one.matches("style, script, option")) return [];
    if (!one.getClientRects().length) return [];
    const range = document.createRange();
    range.selectNodeContents(own[0]);
    let { left, top, right, bottom } = range.getBoundingClientRect();
    for (let box = one; box; box = box.parentElement ?? box.getRootNode().host) {
      if (getComputedStyle(box).overflow === "visible") continue;
      const clip = box.getBoundingClientRect();
      [left, top] = [Math.max(left, clip.left), Math.max(top, clip.top)];
      [right, bottom] = [Math.min(right, clip.right), Math.min(bottom, clip.bottom)];
    }
    if (right - left < 4 || bottom - top < 12) return [];
    const hit = one.getRootNode().elementFromPoint((left + right) / 2, (top + bottom) / 2);
    const clear = hit && (one.contains(hit) || hit.contains(one));
    const head = one.closest(".memory") && hit?.closest("thead");  // it stays above the rows
    const size = parseFloat(getComputedStyle(one).fontSize);
    return [[own[0].data, size, Boolean(clear || head), left, top, right, bottom]];
  });
}"""
)

# Controls whose letters are no text of the page, with their size.
FIELDS = (
    "() => {"
    + PIERCE
    + """
  return all.filter((one) => one.matches("input, select") && one.getClientRects().length)
    .map((one) => [one.id, parseFloat(getComputedStyle(one).fontSize)]);
}"""
)

# The panels whose whole width must be in sight; code and memory may be wider than their panels.
CUT = (
    "() => {"
    + PIERCE
    + """
  return all.filter((one) => one.matches("#held, .pipeline, #lanes, #status"))
    .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.id || one.className);
}"""
)

# What the pictures of the timelines are written in.
LETTERS = """window.letters = [];
window.inks = [];
const fillText = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (...given) {
  window.letters.push(parseFloat(this.font));
  window.inks.push(this.fillStyle);
  return fillText.apply(this, given);
};"""


def transposing(program=transpose.straightforward, machine=None):
    a = np.arange(16).reshape(4, 4)
    machine = machine or mm.DMM(4, 3)
    return machine.run(program, a, np.zeros_like(a), threads=16, trace=True)


def permuting():
    P = permutations.random(64, 1)
    return scheduled(mm.HMM(2, 4, 10), np.arange(64), plan(P, 4), trace=True)


def transposing_a_tile():
    a = np.arange(1024).reshape(32, 32)
    run = mm.DMM(32, 8).run(
        transpose.straightforward, a, np.zeros_like(a), threads=1024, trace=True
    )
    return run.player()


PLAYERS = {
    "32 banks": transposing_a_tile,
    "one memory": lambda: transposing().player(),
    "HMM, five launches": lambda: permuting().player(end=120),
    "two runs": lambda: mm.compare(transposing(), transposing(transpose.diagonal)),
}


def apart(first, second):
    """Tell whether two boxes do not overlap, but for a pixel that both are rounded to."""
    _, left, top, right, bottom = first
    _, other_left, other_top, other_right, other_bottom = second
    return (
        right <= other_left + 1
        or other_right <= left + 1
        or bottom <= other_top + 1
        or other_bottom <= top + 1
    )


@pytest.mark.parametrize("make", PLAYERS.values(), ids=PLAYERS)
@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
def test_a_lecture_fits_its_screen(show, make, size):
    """All in the window, nothing over anything, large letters, and places that stay."""
    width, height = size
    shown = show(
        make(), address="?lecture", before=LETTERS, viewport={"width": width, "height": height}
    )
    end = shown.evaluate(
        "Number(document.querySelector('#player').shadowRoot.querySelector('#slider').max)"
    )
    places = None
    for time in range(0, end + 1, max(1, end // 7)):
        shown.evaluate("t => mmsim.go(t)", time)
        groups, others = shown.evaluate(BOXES)
        assert shown.evaluate(
            "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
        ) == [width, height]
        panels, buttons, registers = groups
        assert len(panels) >= 6
        assert len(buttons) >= 10
        timelines = [one for one in others if one[0] == "timeline"]
        for box in [*panels, *buttons, *registers, *timelines]:
            name, left, top, right, bottom = box
            assert left >= 0, name
            assert top >= 0, name
            assert right <= width + 0.5, name
            assert bottom <= height + 0.5, name
        for group in groups:
            for number, box in enumerate(group):
                assert all(apart(box, other) for other in group[number + 1 :]), box
        texts = shown.evaluate(TEXTS)
        assert len(texts) > 50
        assert [text for text in texts if text[1] < 18] == []
        assert [text for text in texts if not text[2]] == []
        assert [one for one in shown.evaluate(FIELDS) if one[1] < 18] == []
        assert shown.evaluate(CUT) == []
        now = [*panels, *registers, *timelines]
        places = places or now
        if shown.evaluate("mmsim.data.launches === undefined") or time < 60:
            assert now == places, time
    shown.keyboard.press("l")
    assert shown.evaluate("document.documentElement.scrollHeight") > height
    assert not shown.locator(".lecture").count()
    shown.evaluate("letters.length = 0")
    shown.keyboard.press("l")
    assert shown.evaluate(BOXES)[0][0] == panels
    assert min(shown.evaluate("letters")) >= 18


def test_badges_stand_next_to_the_lines(show):
    """However many warps wait in a line, the source begins at the same place and none covers it."""
    shown = show(permuting().player(end=200), viewport={"width": 1180, "height": 900})
    most = 0
    for time in range(0, 201, 10):
        shown.evaluate("t => mmsim.go(t)", time)
        for badges, right, left in shown.locator(".source-line.current").evaluate_all(
            "all => all.map((row) => [row.querySelectorAll('.badge').length, Math.max(0, ..."
            "[...row.querySelectorAll('.badge')].map((one) => one.getBoundingClientRect().right)),"
            " row.querySelector('.number').getBoundingClientRect().left])"
        ):
            most = max(most, badges)
            assert right <= left
    assert most == 2


def test_registers_show_elements_and_on_request_addresses(show):
    shown = show(transposing().player())
    requests = shown.locator(".register .requests")
    assert requests.all_inner_texts() == ["a[0, 0]"]
    shown.evaluate("mmsim.go(20)")
    assert requests.first.inner_text() == "→b[2, 0–3]"
    shown.keyboard.press("a")
    assert requests.first.inner_text() == "→b at 24 25 26 27"
    assert shown.locator("#addresses").get_attribute("aria-pressed") == "true"
    shown.click("#addresses")
    assert requests.first.inner_text() == "→b[2, 0–3]"

    @mm.program
    def read(T, a):
        a[(3 * T.id) % 4, T.id % 2]

    run = mm.DMM(8, 2).run(read, np.zeros((4, 2)), threads=8, trace=True)
    shown = show(run.player())
    assert shown.locator(".register .requests").inner_text() == "a[0, 0] a[3, 1] a[2, 0] a[1, 1]"


@pytest.mark.parametrize("width", [346, 390, 736])
def test_the_memory_is_in_sight_immediately(show, width):
    """In the frame of a notebook, and of the site's first page, on a phone too."""
    shown = show(transposing().player(), viewport={"width": width, "height": 820})
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    left, top, right, bottom = shown.locator(".memory table").evaluate(
        "one => ['left', 'top', 'right', 'bottom'].map((side) => one.getBoundingClientRect()[side])"
    )
    assert left >= 0
    assert top >= 0
    assert right <= width
    assert bottom <= 820
    assert shown.locator(".register").first.bounding_box()["y"] < 600


def test_the_current_line_stays_in_sight_when_the_player_becomes_narrow(show):
    """As in a frame whose width is known only after the player has been drawn."""
    shown = show(transposing().player(), viewport={"width": 1280, "height": 820})
    shown.set_viewport_size({"width": 700, "height": 820})
    shown.locator("#run.narrow").wait_for()
    shown.evaluate("() => new Promise(requestAnimationFrame)")
    beyond = shown.locator(".source-line.current").evaluate(
        "one => one.getBoundingClientRect().bottom"
        " - one.closest('#source').getBoundingClientRect().bottom"
    )
    assert beyond <= 0.5


@pytest.mark.parametrize("width", [794, 1280])
def test_on_paper_and_with_less_motion(show, width):
    """White, with all of the panels, whatever the screen had; 794 pixels are a sheet of A4."""
    shown = show(
        permuting().player(end=40),
        before=LETTERS,
        reduced_motion="reduce",
        color_scheme="dark",
        viewport={"width": width, "height": 900},
    )
    assert shown.locator("#speed").input_value() == "1"
    assert min(int(ink[1:3], 16) for ink in shown.evaluate("inks.splice(0)")) > 150
    shown.emulate_media(media="print")
    colour = "getComputedStyle(document.querySelector('#player')).backgroundColor"
    assert shown.evaluate(colour) == "rgb(255, 255, 255)"
    until(shown, "inks.length")
    assert max(int(ink[1:3], 16) for ink in shown.evaluate("inks")) < 100
    assert not shown.locator(".buttons").is_visible()
    for box in ("#source", "#queue", ".memory", "#held"):
        hidden = shown.locator(box).first.evaluate("one => one.scrollHeight - one.clientHeight")
        assert hidden <= 1, box
    panels = shown.evaluate(BOXES)[0][0]
    for number, panel in enumerate(panels):
        assert all(apart(panel, other) for other in panels[number + 1 :]), panel
    badge = shown.locator(".badge").first
    assert badge.evaluate("one => getComputedStyle(one).printColorAdjust") == "exact"


def test_a_page_says_where_it_comes_from(show):
    shown = show(transposing().player())
    assert f"mmsim {mm.__version__}" in shown.locator("#origin").inner_text()
