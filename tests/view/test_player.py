"""The stepping player: its data, its page, the command; and the page in a real Chromium.

The browser's tests skip themselves where Playwright or Debian's chromium is missing.
"""

import json
import re
from functools import partial
from html.parser import HTMLParser

import numpy as np
import pytest

import mmsim as mm
from mmsim.cli import main
from mmsim.errors import LaunchError
from mmsim.gpu.words import CardDMM
from mmsim.view.player import Player, TooLargeError, data, page
from mmsim_algorithms import permutations, transpose
from mmsim_algorithms.access import figures
from tests.kit.oracle.own_machines import OwnMachine
from tests.kit.views.states import expected, until

NASTY = "</script><b id=injected onclick=x>&amp;\u2028"


@mm.program
def copy(T, a, b):
    b[T.id] = a[T.id]


@mm.program
def through_shared(T, a, b, P):
    s = mm.shared(T.block_size)
    s[T.index] = a[T.id]
    T.barrier()
    b[P[T.id]] = s[T.index]
    T.barrier()
    b[T.id] = b[T.id] + 0.5


@mm.program
def says_html(T, a):
    x = 1  # </script><b id=injected>bold</b><!-- & -->
    a[T.id] = x


def halve(T, x):
    half = x / 2
    if half > 3:
        return half
    r = mm.registers(2)
    r[1] = half
    return r[1] + r[0]


@mm.program
def all_kinds(T, a, b, n):
    """Variables in loops and branches, a parameter that is assigned, registers, two calls."""
    r = mm.registers((2, 2))
    s = mm.shared(T.block_size)
    for j in range(n):
        r[j % 2, 1] = a[3 * T.id % a.size] + j
        s[T.index] = r[0, 1]
        if T.lane == 1:
            odd = s[T.index] > 2
    n = T.id
    T.barrier()
    x = -0.0 if n % 2 else 0.5
    b[T.id] = halve(T, r[0, 1]) + halve(T, r[1, 1] * x)


def kinds(machine, schedule):
    args = np.arange(16), np.zeros(16), 3
    how = {"threads": 14, "block_size": 7, "schedule": schedule, "trace": True}
    return machine.run(all_kinds, *args, **how)


def a_copy(**how):
    return mm.DMM(4, 3).run(copy, np.arange(16), np.zeros(16), threads=16, trace=True, **how)


def permuting(schedule="asynchronous", machine=None):
    """A random permutation through shared memory, with barriers."""
    machine = machine or mm.HMM(2, 4, 5, 2)
    P = permutations.random(32, 7)
    a, b = np.arange(32) * 1.25, np.zeros(32)
    how = {"threads": 30, "block_size": 8, "schedule": schedule, "trace": True}
    return machine.run(through_shared, a, b, P, **how)


@mm.program
def tickets(T, x, h, old):
    old[T.id] = mm.atomic.add(h, x[T.id], 1)
    mm.atomic.exch(h, x[T.id] + 2, T.id)


def changing(schedule="synchronous"):
    """Atomics, several of one warp for one word."""
    args = np.arange(12) % 5 // 3, np.zeros(4, int), np.zeros(12, int)
    return mm.DMM(4, 3).run(tickets, *args, threads=12, trace=True, schedule=schedule)


def transposing(layout):
    a = mm.place(np.arange(16).reshape(4, 4), layout)
    b = mm.place(np.zeros((4, 4), int), layout)
    return mm.DMM(4, 2).run(transpose.straightforward, a, b, threads=16, trace=True)


@mm.program
def pairs(T, a, b):
    x, y = mm.vector(a, 2)[T.id ^ 1]
    mm.vector(b, 2)[T.id] = y, x


def pairing(machine=None, schedule="asynchronous"):
    machine = machine or mm.DMM(4, 3)
    return machine.run(
        pairs, np.arange(16), np.zeros(16, int), threads=8, schedule=schedule, trace=True
    )


RUNS = {
    "SMM Figure 4, DMM": lambda: mm.DMM(4, 3).run(
        figures.smm_figure_4, np.arange(16), threads=8, trace=True
    ),
    "SMM Figure 4, UMM": lambda: mm.UMM(4, 3).run(
        figures.smm_figure_4, np.arange(16), threads=8, trace=True, schedule="asynchronous"
    ),
    "ICPP Figure 3, DMM": lambda: mm.DMM(4, 5).run(
        figures.icpp_figure_3, np.arange(16), threads=8, trace=True, schedule="asynchronous"
    ),
    "ICPP Figure 3, UMM": lambda: mm.UMM(4, 5).run(
        figures.icpp_figure_3, np.arange(16), threads=8, trace=True
    ),
    "permutation, HMM": permuting,
    "permutation, HMM, lock step": lambda: permuting("synchronous"),
    "transpose, RAP, DMM": lambda: transposing(mm.layout.RAP(4, seed=3)),
    "permutation, DMM": lambda: permuting(machine=mm.DMM(4, 3)),
    "atomics, DMM": changing,
    "vectors, DMM": pairing,
    "vectors, card": lambda: pairing(mm.DMM(4, 3, bank_bytes=4)),
}
WITH_VARIABLES = {
    f"variables, {type(machine).__name__}, {schedule}": partial(kinds, machine, schedule)
    for machine in (mm.DMM(4, 3), mm.UMM(4, 3), mm.HMM(2, 4, 5))
    for schedule in ("synchronous", "asynchronous")
}


class Scripts(HTMLParser):
    """The texts of a page's script elements, and its tags."""

    def __init__(self, text):
        super().__init__()
        self.scripts, self.tags, self.inside = [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.inside = tag == "script"

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, text):
        if self.inside:
            self.scripts.append(text)


# ------------------------------------------------------------------ data and page


def test_the_page_is_one_file_and_holds_the_data():
    player = a_copy().trace.player()
    parsed = Scripts(player.html())
    assert json.loads(parsed.scripts[0]) == json.loads(json.dumps(player.data))
    for tag, attributes in parsed.tags:
        assert "src" not in attributes, tag
        assert attributes.get("href", "data:,") == "data:,", tag
    assert "http" not in re.sub(r'http-equiv="', "", player.html())


def test_a_notebook_shows_the_page_in_a_frame():
    player = a_copy().trace.player()
    ((tag, attributes),) = Scripts(player._repr_html_()).tags
    assert tag == "iframe"
    assert attributes["srcdoc"] == player.html()
    assert repr(player) == "<player of copy, time units 0 to 12>"


def test_the_page_is_small_beyond_its_data():
    player = a_copy().trace.player()
    assert not re.search(r"^ *//", player.html(), re.MULTILINE)
    assert len(player.html().encode()) < 139_000 + len(page.as_json(player.data).encode())


def test_data_does_not_grow_with_time_and_registers():
    """Twice the latency is twice the time, and the same data but for longer numbers."""
    sizes = [
        len(
            page.as_json(
                mm.DMM(4, latency)
                .run(copy, np.arange(64), np.zeros(64), threads=64, trace=True)
                .trace.player()
                .data
            )
        )
        for latency in (100, 200)
    ]
    assert sizes[1] < 1.05 * sizes[0]


def test_what_json_cannot_hold_is_text():
    a = np.array([np.nan, np.inf, -np.inf, 0.1])
    run = mm.DMM(4, 1).run(copy, a, np.zeros(4), threads=4, trace=True)
    assert run.trace.player().data["moved"] == ["nan", "inf", "-inf", 0.1] * 2
    big = np.array([2**60, -(2**60), 2**53, True])
    run = mm.DMM(4, 1).run(copy, big, np.zeros(4, int), threads=4, trace=True)
    assert run.trace.player().data["moved"] == [str(2**60), str(-(2**60)), 2**53, 1] * 2
    pairs = np.array([1 - 2.5j, complex(-0.0, np.inf)])
    run = mm.DMM(4, 1).run(copy, pairs, np.zeros(2, complex), threads=2, trace=True)
    assert run.trace.player().data["moved"] == [[1.0, -2.5], [-0.0, "inf"]] * 2


def test_no_file_is_named_with_its_folder():
    (source,) = a_copy().trace.player().data["sources"]
    assert (source["function"], source["file"]) == ("copy", "test_player.py")


def test_a_run_read_from_json_has_the_same_player():
    run = permuting()
    assert mm.Run.from_json(run.to_json()).trace.player().html() == run.trace.player().html()


def test_a_trace_too_large_is_refused_and_a_window_offered(monkeypatch):
    monkeypatch.setattr(data, "MOST", 40)
    run = mm.DMM(4, 3).run(copy, np.arange(20), np.zeros(20), threads=20, trace=True)
    trace = run.trace
    assert trace.player().data["end"] == run.time
    monkeypatch.setattr(data, "MOST", 39)
    with pytest.raises(TooLargeError, match=r"40 words of memory, .* at most 39; run it smaller"):
        trace.player()
    run = mm.DMM(4, 3).run(fourfold, np.arange(20), threads=20, trace=True)
    with pytest.raises(TooLargeError, match=r"80 requests.*at most 39; .*player\(start=..., end="):
        run.trace.player()
    assert run.trace.player(start=8, end=9).data["end"] == 9


@mm.program
def fourfold(T, a):
    for _ in range(4):
        a[T.id]


def test_a_window_of_numpys_numbers():
    player = a_copy().trace.player(start=np.int64(2), end=np.int64(3))
    assert '"start":2,"end":3,' in player.html()


@pytest.mark.parametrize("window", [(-1, 3), (4, 3), (0, 13), (13, None)])
def test_windows_that_the_run_does_not_have(window):
    start, end = window
    with pytest.raises(LaunchError, match="time units 0 to 12"):
        a_copy().trace.player(start=start, end=end)


def test_step_writes_the_page(capsys, tmp_path):
    saved = tmp_path / "page.html"
    call = ["step", "mmsim_algorithms.transpose:diagonal", "--width", "4", "--latency", "3"]
    assert main([*call, "--html", str(saved)]) == 0
    assert "time units; open" in " ".join(capsys.readouterr().out.split())
    shown = json.loads(Scripts(saved.read_text("utf-8")).scripts[0])
    assert (shown["program"], shown["machine"]) == ("diagonal", "DMM(width=4, latency=3)")
    assert main([*call, "--html", str(saved), "--start", "2", "--end", "4"]) == 0
    shown = json.loads(Scripts(saved.read_text("utf-8")).scripts[0])
    assert (shown["start"], shown["end"]) == (2, 4)
    assert main([*call, "--html", str(saved), "--end", "9999"]) == 2
    assert "time units 0 to" in capsys.readouterr().err


# ------------------------------------------------------------------ in the browser


def now(shown):
    """The time that the page says it is."""
    said = int(re.match(r"Time (\d+) of", shown.locator("#now").inner_text())[1])
    assert shown.evaluate("mmsim.time") == said
    assert shown.locator("#status").inner_text().count(f"Time {said} of") == 1
    return said


def states(shown, times):
    return shown.evaluate("times => times.map(mmsim.state)", list(times))


@pytest.mark.parametrize(
    "make", [*RUNS.values(), *WITH_VARIABLES.values()], ids=[*RUNS, *WITH_VARIABLES]
)
def test_the_state_is_that_of_the_trace_at_every_time_unit(show, make):
    run = make()
    shown = show(run.trace.player())
    assert states(shown, range(run.time + 1)) == list(expected(run.trace))


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
@pytest.mark.parametrize("make", [permuting, partial(kinds, mm.DMM(4, 3)), changing])
def test_a_window_shows_the_same_states(show, schedule, make):
    run = make(schedule=schedule)
    third = run.time // 3
    shown = show(run.trace.player(start=third, end=2 * third))
    assert now(shown) == third
    assert states(shown, range(third, 2 * third + 1)) == list(expected(run.trace, third, 2 * third))
    shown.keyboard.press("End")
    assert now(shown) == 2 * third


@pytest.mark.parametrize(
    "name",
    [
        "SMM Figure 4, DMM",
        "SMM Figure 4, UMM",
        pytest.param("permutation, HMM", marks=pytest.mark.long),
    ],
)
def test_what_is_drawn_is_the_state(show, name):
    """Registers, queue and cells as texts of the page, forward and back by keyboard."""
    run = RUNS[name]()
    shown = show(run.trace.player(), viewport={"width": 1280, "height": 900})
    read = list(expected(run.trace))

    def drawn_is(state):
        boxes = shown.locator(".unit").evaluate_all(
            "units => units.map(unit => [...unit.querySelectorAll('.register')]"
            ".map(box => box.querySelector('.badge')?.textContent ?? null))"
        )
        assert boxes == [
            [stage and f"W{stage['warp']}" for stage in row] for row in state["registers"].values()
        ]
        queue = shown.locator("#queue td .badge").all_inner_texts()
        assert queue == [f"W{warp}" for warp in sorted(one["warp"] for one in state["waiting"])]
        cells = (
            shown.locator(".unit")
            .first.locator("td[data-place]")
            .evaluate_all("all => all.map(cell => Number(cell.lastElementChild.textContent))")
        )
        first = run.trace.units[0].name
        arrays = [array for array in run.trace.arrays if array.units[0] == first]
        values = [v for array in arrays for row in state["memory"][array.name] for v in row]
        assert cells == pytest.approx(values, rel=1e-3)

    for time in range(run.time + 1):
        assert now(shown) == time
        drawn_is(read[time])
        shown.keyboard.press("ArrowRight")
    assert now(shown) == run.time
    for time in reversed(range(run.time)):
        shown.keyboard.press("ArrowLeft")
        assert now(shown) == time
        drawn_is(read[time])


STEPPED = ("SMM Figure 4, UMM", "atomics, DMM")
"""The runs that are stepped through in the quick tests."""
STEPS = 16
"""As many steps of one kind are taken: the runs that have fewer are walked to their end."""


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(make, id=name, marks=() if name in STEPPED else pytest.mark.long)
        for name, make in RUNS.items()
    ],
)
def test_stepping_by_keyboard_and_by_mouse(show, make):
    run = make()
    trace = run.trace
    shown = show(trace.player())
    accesses = sorted({dispatch.time for dispatch in trace.dispatches})[:STEPS]
    more = (d.time for d in trace.dispatches if d.stage_count > d.phase_count)
    conflicts = sorted(set(more))[:STEPS]
    rounds = sorted(trace.rounds or {release.time for release in trace.releases})[:STEPS]

    def walk(times, forward, back):
        shown.keyboard.press("Home")
        seen = [now(shown)]
        for _ in [time for time in times if time > 0]:
            forward()
            seen.append(now(shown))
        assert seen == sorted({0, *times})
        for time in reversed(seen[:-1]):
            back()
            assert now(shown) == time or time not in times

    def key(name):
        return lambda: shown.keyboard.press(name)

    def click(name):
        return lambda: shown.click(f"[data-go={name}]")

    walk(range(min(run.time, 8) + 1), key("ArrowRight"), key("ArrowLeft"))
    walk(range(min(run.time, 8) + 1), click("next"), click("back"))
    walk(accesses, key("Shift+ArrowRight"), key("Shift+ArrowLeft"))
    walk(accesses, click("access"), click("access-back"))
    if rounds:
        walk(rounds, key("Control+ArrowRight"), key("Control+ArrowLeft"))
        walk(rounds, click("round"), click("round-back"))
    if conflicts:
        walk(conflicts, key("c"), key("Shift+C"))
        walk(conflicts, click("conflict"), click("conflict-back"))
    shown.click("[data-go=last]")
    assert now(shown) == run.time
    shown.click("[data-go=first]")
    assert now(shown) == 0
    shown.locator("#slider").fill("3")
    assert now(shown) == 3


def test_a_run_in_which_nothing_happens(show):
    @mm.program
    def idle(T, a):
        x = T.id

    run = mm.UMM(2, 2).run(idle, np.arange(4), threads=4, trace=True)
    shown = show(run.trace.player())
    assert states(shown, [0]) == list(expected(run.trace))
    for key in (" ", "ArrowRight", "Shift+ArrowLeft", "Control+ArrowRight", "c", "End", "d"):
        shown.keyboard.press(key)
        assert now(shown) == 0
    assert "No warp waits" in shown.locator("#queue").inner_text()


def test_much_memory_and_many_registers(show):
    """The page turns to the rows that are asked for, and draws the registers that are taken."""
    a = np.arange(1200)
    run = mm.DMM(4, 60).run(copy, a, np.zeros(1200), threads=1200, trace=True)
    shown = show(run.trace.player())
    assert shown.locator(".register").count() == 1
    assert "rows 1 to 64 of 600" in shown.locator(".pages").inner_text()
    shown.keyboard.press("End")
    assert "rows 577 to 600 of 600" in shown.locator(".pages").inner_text()
    assert shown.locator("td[data-place='2399']").inner_text() == "1199.0"
    shown.get_by_role("button", name="‹ rows").click()
    assert "rows 513 to 576 of 600" in shown.locator(".pages").inner_text()
    wide = mm.DMM(32, 5).run(copy, a, np.zeros(1200), threads=1200, trace=True)
    shown = show(wide.trace.player(), address="#t=end")
    assert "rows 65 to 76 of 76" in shown.locator(".pages").inner_text()
    assert now(shown) == wide.time
    shown = show(run.trace.player(), address="#t=end")
    shown.click("#zoom")
    shown.locator("#timeline").click(position={"x": 30, "y": 1})
    assert shown.locator("#follow option:checked").inner_text() == "warp 0"
    shown.locator("#timeline").click(position={"x": 400, "y": 20})
    assert 0 < now(shown) < run.time


def test_playing_and_pausing(show):
    run = a_copy()
    shown = show(run.trace.player())
    shown.select_option("#speed", "60")
    shown.locator("body").press(" ")
    shown.get_by_text(re.compile(f"^Time {run.time} of")).first.wait_for()
    assert shown.locator("#play").inner_text() == "Play"
    shown.select_option("#speed", "1")
    shown.click("#play")
    assert shown.locator("#play").get_attribute("aria-pressed") == "true"
    shown.click("#play")
    assert shown.locator("#play").get_attribute("aria-pressed") == "false"
    assert now(shown) < run.time


def test_a_conflict_is_named_where_it_is(show):
    """ICPP Figure 3: W(0) asks for 7, 5, 15, 0, so bank 3 for two; W(1) waits behind it."""
    run = mm.DMM(4, 5).run(figures.icpp_figure_3, np.arange(16), threads=8, trace=True)
    shown = show(run.trace.player())
    assert shown.locator(".load").all_inner_texts() == ["", "", "", "×2"]
    queue = shown.locator("#queue").inner_text()
    assert "bank conflict of 2 stages: stage 1 enters" in queue
    assert "turn at memory: behind warp 0, bank conflict of 2 stages" in queue
    assert "W0 1 stage" in " ".join(shown.locator(".outside").inner_text().split())
    assert shown.locator(".source-line.current").inner_text().split()[:2] == ["W0", "W1"]
    run = mm.UMM(4, 5).run(figures.icpp_figure_3, np.arange(16), threads=8, trace=True)
    shown = show(run.trace.player())
    assert "3 address groups: stage 1 enters" in shown.locator("#queue").inner_text()


def test_a_machine_of_one_s_own_is_drawn_by_its_rules(show):
    """A memory by sectors of 8 words, and shared memory of 4 banks, for warps of 8 threads."""

    @mm.program
    def through(T, a, b):
        s = mm.shared(32)
        s[2 * T.index] = a[3 * T.id]
        b[T.id] = s[2 * T.index]

    machine = OwnMachine(8, ("sector", 8, 3), (("bank", 4, 2),))
    run = machine.run(through, np.arange(64), np.zeros(8, int), threads=8, trace=True)
    shown = show(run.trace.player())
    memory, shared = shown.locator(".unit").all()
    assert "sectors, latency 3" in memory.inner_text()
    assert "Memory: a row is a sector" in memory.inner_text()
    assert "sector 1 · [8]" in memory.inner_text()
    assert memory.locator("thead th").all_inner_texts() == [f"+{n}" for n in range(8)]
    assert "3 sectors: stage 1 enters" in shown.locator("#queue").inner_text()
    assert "4 banks, latency 2" in shared.inner_text()
    assert shared.locator("td[data-place]").nth(6).get_attribute("title").endswith("6, bank 2")
    shown.locator("#slider").fill(str(run.trace.dispatches[1].time))
    names = shared.locator("thead th").all_inner_texts()
    assert [name.split() for name in names] == [
        [str(n % 4), *(["×4"] if n % 2 == 0 else [])] for n in range(8)
    ]


def test_phases_are_shown_where_a_request_has_several(show):
    @mm.program
    def read(T, a, b):
        a[T.id]
        a[2 * T.id]
        b[2 * T.id]

    run = CardDMM(8, 3).run(read, np.zeros(16), np.zeros(16, np.int32), threads=8, trace=True)
    _, second, third = run.trace.dispatches
    shown = show(run.trace.player())
    assert "(line" in shown.locator("#status").inner_text()
    assert "2 phases, 2 stages)" in shown.locator("#status").inner_text()
    assert shown.locator(".register .phase").all_inner_texts() == ["phase 1 of 2"]
    shown.keyboard.press("ArrowRight")
    boxes = shown.locator(".register .phase").all_inner_texts()
    assert boxes == ["phase 2 of 2", "phase 1 of 2"]
    assert shown.locator("#lanes > *").all_inner_texts() == [
        *("phase 1 of 2", "0", "1", "2", "3", "phase 2 of 2", "4", "5", "6", "7")
    ]
    shown.evaluate("mmsim.choose(5)")
    assert "phase 2 of 2, on its way" in shown.locator("#held").inner_text()
    stops = []  # without a conflict, a request takes a stage for each phase
    for _ in range(2):
        shown.keyboard.press("c")
        stops.append(now(shown))
    assert stops == [second.time, third.time]
    assert "bank conflict of 2 stages" in shown.locator("#queue").inner_text()
    assert shown.locator(".phase").count() == 0
    assert states(shown, range(run.time + 1)) == list(expected(run.trace))


def test_arrays_of_elements_of_several_sizes_have_rows_of_their_own(show):
    """8 doubles from byte 0 on, 8 of 4 bytes from byte 64 on, doubles again from byte 96 on."""

    @mm.program
    def add(T, a, b, c):
        c[T.id] = a[T.id] + b[T.id]

    arguments = np.arange(8.0), np.arange(8, dtype=np.int32), np.zeros(8)
    run = mm.DMM(8, 3, bank_bytes=4).run(add, *arguments, threads=8, trace=True)
    assert [array.addresses[0, 0] for array in run.trace.arrays] == [0, 16, 12]
    shown = show(run.trace.player())
    assert "a column is a bank of 4 bytes" in shown.locator(".unit").inner_text()
    assert shown.locator("th.array").all_inner_texts() == ["a", "b", "c"]
    cells = shown.locator("td[data-place]")
    places = [int(cell.get_attribute("data-place")) for cell in cells.all()]
    assert places == [*range(0, 64, 8), *range(64, 96, 4), *range(96, 160, 8)]
    shown.keyboard.press("End")
    values = cells.evaluate_all("all => all.map(one => Number(one.lastElementChild.textContent))")
    assert values == [*range(8), *range(8), *range(0, 16, 2)]
    shown.locator("td[data-place='64']").click()  # b[0], at the same address as c[4]
    assert "b[0], memory 64" in shown.locator("#follow option:checked").inner_text()
    assert shown.locator("td.followed").count() == 1
    shown.keyboard.press("Home")
    shown.keyboard.press("Shift+ArrowRight")
    assert now(shown) == run.trace.dispatches[1].time
    shown.get_by_label("follow byte").fill("128")
    shown.get_by_label("follow byte").press("Enter")
    assert "c[4], memory 128" in shown.locator("#follow option:checked").inner_text()
    assert states(shown, range(run.time + 1)) == list(expected(run.trace))


def test_elements_of_every_size_stand_under_their_banks(show):
    """Of a row of 8 banks: 8 floats, 16 of 2 bytes, and 4 doubles, each as wide as its bytes."""

    @mm.program
    def add(T, a, b, c):
        c[T.id] = a[T.id] + b[4 * T.id % 32]

    arguments = np.arange(8, dtype=np.float32), np.arange(32, dtype=np.int16), np.zeros(8)
    run = mm.DMM(8, 3, bank_bytes=4).run(add, *arguments, threads=8, trace=True)
    shown = show(run.trace.player())
    assert "8 banks of 4 bytes" in shown.locator(".unit").inner_text()
    spans = "all => all.map(one => [Number(one.dataset.place), one.colSpan])"
    cells = shown.locator("td[data-place]").evaluate_all(spans)
    floats = [(place, 2) for place in range(0, 32, 4)]
    shorts = [(place, 1) for place in range(32, 96, 2)]
    doubles = [(place, 4) for place in range(96, 160, 8)]
    assert list(map(tuple, cells)) == floats + shorts + doubles
    rows = shown.locator("tbody tr:has(td)").evaluate_all("all => all.map(one => one.cells.length)")
    assert rows == [9, 17, 17, 5, 5]
    titles = [
        shown.locator(f"td[data-place='{place}']").get_attribute("title") for place in (36, 50, 104)
    ]
    assert [title.rpartition("address ")[2] for title in titles] == [
        "18, bank 1",
        "25, bank 4",
        "13, banks 2–3",
    ]
    shown.keyboard.press("Shift+ArrowRight")  # the read of b: words 0, 2, ... 14, two of a bank
    loads = shown.locator(".load").all_inner_texts()
    assert loads == ["×2", "", "×2", "", "×2", "", "×2", ""]
    assert states(shown, range(run.time + 1)) == list(expected(run.trace))


STOPS = """end => {
  const press = (key, shiftKey) => (document.activeElement ?? document.body).dispatchEvent(
    new KeyboardEvent("keydown", { key, shiftKey, bubbles: true, composed: true, cancelable: true })
  );
  press("Home", false);
  const seen = [];
  while (mmsim.time < end && seen.length <= end) {
    press("ArrowRight", true);
    seen.push(mmsim.time);
  }
  return seen;
}"""
"""Where Shift+Right stops from the first time unit to the last, pressed inside the page."""


def test_following_a_warp_a_cell_and_a_line(show):
    run = permuting()
    dispatches = run.trace.dispatches
    shown = show(run.trace.player())

    def stops():
        seen = shown.evaluate(STOPS, run.time)
        assert now(shown) == run.time
        return seen[:-1]

    def times(which):
        return sorted({d.time for d in dispatches if which(d)} - {0})

    shown.locator("#queue .badge", has_text="W2").click()
    assert stops() == times(lambda d: d.warp == 2)
    shown.keyboard.press("Escape")
    assert stops() == times(lambda d: True)
    shown.locator("td[data-unit='0'][data-place='5']").click()
    assert stops() == times(lambda d: d.unit == "global" and 5 in d.addresses)
    assert "a[5], global 5" in shown.locator("#follow option:checked").inner_text()
    shown.keyboard.press("Escape")
    shown.get_by_label("follow address").first.fill("5")
    shown.get_by_label("follow address").first.press("Enter")
    shown.locator("h1").click()
    assert stops() == times(lambda d: d.unit == "global" and 5 in d.addresses)
    shown.locator(".source-line", has_text="b[P[T.id]]").click()
    line = run.trace.dispatches[-1].line - 2
    assert stops() == times(lambda d: d.line == line)
    shown.select_option("#follow", label="warp 1")
    assert stops() == times(lambda d: d.warp == 1)
    shown.keyboard.press("Home")
    shown.keyboard.press("Shift+ArrowRight")
    followed = shown.locator(".register.followed")
    assert [one.locator(".badge").inner_text() for one in followed.all()] == ["W1"]


def test_a_thread_of_a_launch_with_a_shape_shows_its_indices(show):
    @mm.program
    def fill(T, a):
        a[T.id] = T.threadIdx.z

    run = mm.DMM(4, 3).run(fill, np.zeros(48, int), grid=(2, 2), block=(2, 3, 2), trace=True)
    shown = show(run.trace.player())
    assert (
        "48 threads in a grid of 2 x 2 blocks of 2 x 3 x 2, 12 warps"
        in shown.locator("#subtitle").inner_text()
    )
    for thread in (0, 11, 33, 47):
        shown.get_by_label("thread", exact=True).fill(str(thread))
        shown.get_by_label("thread", exact=True).press("Enter")
        index, block = run.shape.position(thread)
        assert (
            shown.locator("#thread-is")
            .inner_text()
            .endswith(f"; threadIdx {index}, blockIdx {block}")
        )


def texts(rows):
    """The texts of a table's rows, cell by cell."""
    return rows.evaluate_all("rows => rows.map(row => [...row.cells].map(cell => cell.innerText))")


VALUES = """all => all.map((one) =>
  [one.dataset.variable, [...one.querySelectorAll(".value")].map((value) => value.innerText)])"""


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
def test_a_chosen_thread_shows_what_it_holds_and_touches(show, schedule):
    run = kinds(mm.HMM(2, 4, 5), schedule)
    trace = run.trace
    shown = show(trace.player())
    shown.get_by_label("thread", exact=True).fill("8")
    shown.get_by_label("thread", exact=True).press("Enter")
    assert "lane 1 of W2, block 1, index 1" in " ".join(
        shown.locator("#thread-is").inner_text().split()
    )
    assert shown.locator(".lane").all_inner_texts() == ["7", "8", "9", "10"]
    shown.locator("h1").click()
    seen = set()
    for cycle in trace.cycles():
        assert now(shown) == cycle.time
        held = cycle.thread(8)
        read = dict(shown.locator("[data-variable]").evaluate_all(VALUES))
        for name in ("odd", "n_2", "j", "x"):
            (value,) = read[name]
            seen.add((name, value))
            assert value == ("not assigned" if held[name] is None else str(held[name]))
        assert read["r"] == [str(value) for value in held["r"].ravel()]
        own = [
            (dispatch, dispatch.threads.index(8))
            for dispatch in trace.dispatches
            if dispatch.time <= cycle.time and 8 in dispatch.threads
        ]
        rows = texts(shown.locator(".accesses tr"))
        assert len(rows) == len(own)
        for (when, what, where), (dispatch, lane) in zip(rows, reversed(own), strict=True):
            assert when == f"{dispatch.time}–{dispatch.completion}"
            block = " of block 1" if dispatch.array == "s" else ""
            element = f"{dispatch.array}[{dispatch.elements[lane]}]{block}"
            arrow = "→" if dispatch.kind == "read" else "←"
            value = dispatch.values[lane]
            assert what.split() == f"{dispatch.kind}s {element} {arrow} {value}".split()
            on_its_way = dispatch.completion > cycle.time
            assert where == f"line {dispatch.line}" + ", on its way" * on_its_way
        shown.keyboard.press("ArrowRight")
    assert {("odd", "not assigned"), ("odd", "True"), ("x", "0.5")} <= seen
    shown.locator(".lane", has_text="9").click()
    assert shown.get_by_label("thread", exact=True).input_value() == "9"
    assert shown.locator("tr[data-variable=odd] .value").inner_text() == "not assigned"
    assert shown.locator("tr[data-variable=x] .value").inner_text() == "-0.0"
    shown.locator("#queue .badge, #follow").first.focus()
    shown.select_option("#follow", label="warp 0")
    assert shown.locator(".lane[aria-pressed=true]").inner_text() == "0"
    assert shown.locator(".function").all_inner_texts() == ["all_kinds", "halve", "halve, call 2"]


def test_a_thread_shows_each_element_of_a_vector(show):
    shown = show(pairing().trace.player())
    shown.get_by_label("thread", exact=True).fill("5")
    shown.get_by_label("thread", exact=True).press("Enter")
    shown.locator("h1").click()
    shown.keyboard.press("End")
    seen = [what.split() for _, what, _ in texts(shown.locator(".accesses tr"))]
    assert seen == [
        *(["writes", "b[10]", "←", "9"], ["writes", "b[11]", "←", "8"]),
        *(["reads", "a[8]", "→", "8"], ["reads", "a[9]", "→", "9"]),
    ]


def test_complex_numbers_are_shown_by_their_parts(show):
    @mm.program
    def turned(T, a, b):
        z = a[T.id] * 1j
        r = mm.registers(1)
        r[0] = z.conjugate()
        b[T.id] = r[0]

    a = np.array([1 - 2j, 1 / 3 + 0.25j, -1j, complex(np.inf, 0)])
    run = mm.DMM(4, 2).run(turned, a, np.zeros(4, complex), threads=4, trace=True)
    shown = show(run.trace.player())
    cell = shown.locator("td[data-place='0']")
    assert cell.locator("span").last.inner_text() == "1.0-2.0j"
    shown.keyboard.press("End")
    title = shown.locator("td[data-place='1']").get_attribute("title")
    assert title.startswith("a[1] = 0.3333333333333333+0.25j; address 1")
    assert shown.locator("td[data-place='4'] span").last.inner_text() == "2.0-1.0j"
    shown.get_by_label("thread", exact=True).fill("0")
    shown.get_by_label("thread", exact=True).press("Enter")
    assert shown.locator("tr[data-variable=z] .value").inner_text() == "2.0+1.0j"
    assert shown.locator("div[data-variable=r] .value").inner_text() == "2.0-1.0j"


def focus(shown):
    """The text and the address of what has the focus."""
    return shown.evaluate(
        "[document.querySelector('#player').shadowRoot.activeElement]"
        ".map(one => [one.textContent, one.dataset.place ?? null])[0]"
    )


def test_a_panel_is_one_tab_stop_and_arrows_walk_in_it(show):
    run = permuting(machine=mm.DMM(4, 3))
    shown = show(run.trace.player())
    stops = "tabIndex => [...document.querySelector('#player').shadowRoot.querySelectorAll("
    stops += (
        "'button, select, input, [tabindex]')].filter(one => one.tabIndex >= 0 && !one.disabled)"
    )
    assert shown.evaluate(f"({stops}.length)()") <= 30
    inside = ("#queue", "#source", "#lanes", ".memory", ".pipeline")
    for box in inside:
        within = f"({stops}.filter(one => one.closest('{box}')).length)()"
        assert shown.evaluate(within) == 1, box
    shown.locator("td[data-place='0']").focus()
    walk = {"ArrowRight": "1", "ArrowDown": "5", "ArrowLeft": "4", "ArrowUp": "0"}
    for key, address in walk.items():
        shown.keyboard.press(key)
        assert focus(shown)[1] == address
    assert now(shown) == 0, "the arrows walked in the table, not in time"
    shown.keyboard.press("ArrowDown")
    shown.keyboard.press(".")
    assert now(shown) == 1
    assert focus(shown)[1] == "4"
    shown.keyboard.press("Enter")
    assert "a[4], memory 4" in shown.locator("#follow option:checked").inner_text()
    shown.locator("#queue .badge").first.focus()
    shown.keyboard.press("ArrowDown")
    assert focus(shown)[0] == "W1"
    shown.keyboard.press("ArrowRight")
    assert now(shown) == 2
    assert focus(shown)[0] == "W1", "the focus stays where it was when the list is drawn anew"
    shown.keyboard.press("Enter")
    assert shown.locator("#follow option:checked").inner_text() == "warp 1"


@pytest.mark.long
def test_warps_that_the_timeline_leaves_out_are_counted(show):
    run = mm.DMM(1, 1).run(copy, np.arange(2001), np.zeros(2001), threads=2001, trace=True)
    shown = show(run.trace.player(end=5))
    assert "first 2000 of 2001 warps" in shown.locator("#timeline-note").inner_text()
    assert not show(a_copy().trace.player()).locator("#timeline-note").is_visible()


def test_a_player_is_wide_enough_for_its_banks(show):
    shown = show(permuting().trace.player(), viewport={"width": 1180, "height": 900})
    hidden = shown.locator(".memory").evaluate_all(
        "all => all.map(box => box.scrollWidth - box.clientWidth)"
    )
    assert hidden == [0, 0, 0]


@pytest.mark.parametrize("width", [360, 1180])
def test_the_controls_stay_in_sight(show, width):
    shown = show(permuting().trace.player(), viewport={"width": width, "height": 700})
    shown.mouse.wheel(0, 5000)
    until(shown, "scrollY > 100")
    top, height = shown.locator("#controls").evaluate(
        "box => [box.getBoundingClientRect().top, box.offsetHeight]"
    )
    assert top == 0
    assert height < 200
    shown.click("[data-go=next]")
    assert now(shown) == 1


def test_html_in_names_sources_and_data_shows_as_text(show):
    run = mm.DMM(4, 1).run(says_html, np.zeros(4), threads=4, trace=True)
    player = run.trace.player()
    player.data["program"] = player.data["arrays"][0]["name"] = NASTY
    player.data["sources"][0]["function"] = player.data["sources"][0]["file"] = NASTY
    player.data["arrays"][0]["data"][0][0] = NASTY
    player.data["variables"][0]["text"] = player.data["variables"][0]["function"] = NASTY
    player.data["held"] = [NASTY] * 4
    shown = show(player)
    assert shown.locator("#injected").count() == 0
    assert shown.locator("h1").inner_text().startswith("</script><b id=injected onclick=x>&amp;")
    assert "</script><b id=injected>bold</b><!-- & -->" in shown.locator("#source").inner_text()
    assert shown.locator("#held").inner_text().count("</script><b id=injected onclick=x>") >= 2
    shown.keyboard.press("End")
    assert shown.locator("#injected").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_is_cut_off(show, scheme, width):
    shown = show(
        permuting().trace.player(),
        viewport={"width": width, "height": 800},
        color_scheme=scheme,
    )
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    background = "getComputedStyle(document.querySelector('#player')).backgroundColor"
    before = shown.evaluate(background)
    assert before == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 27)")
    shown.click("#theme")
    assert shown.evaluate(background) != before


def test_a_notebook_frame_works(new_page, tmp_path):
    run = a_copy()
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><p>{run.trace.player()._repr_html_()}", encoding="utf-8")
    shown = new_page()
    shown.goto(path.as_uri())
    frame = shown.frame_locator("iframe")
    frame.locator("[data-go=last]").click()
    assert frame.locator("#now").inner_text() == f"Time {run.time} of {run.time}"


def test_a_player_is_made_of_a_trace_alone():
    trace = a_copy().trace
    assert Player(trace).html() == trace.player().html()


# ------------------------------------------------------------ what a check found


@mm.program
def neighbours(T, a, b):
    s = mm.shared(T.block_size)
    s[T.index] = a[T.id]
    b[T.id] = s[(T.index + 1) % T.block_size]


def check_neighbours():
    machine = mm.HMM(2, 4, 5, 2)
    how = {"threads": 32, "block_size": 16, "schedule": "asynchronous", "trace": True}
    return machine.check(neighbours, np.arange(32), np.zeros(32), **how)


def test_findings_are_in_the_data_with_the_cell_they_concern():
    report = check_neighbours()
    (found,) = report.findings
    (shown,) = report.player().data["findings"]
    assert shown["title"] == "data race"
    assert shown["element"] == f"s[{found.index[0]}] of block {found.copy}"
    dispatch = next(
        one
        for one in report.trace.dispatches
        if one.time == found.times[0] and found.threads[0] in one.threads
    )
    lane = dispatch.threads.index(found.threads[0])
    assert (dispatch.array, dispatch.elements[lane]) == (found.array, found.index[0])
    unit = [one.name for one in report.trace.units].index(dispatch.unit)
    assert shown["cell"] == [unit, dispatch.addresses[lane]]
    assert [one["time"] for one in shown["accesses"]] == list(found.times)
    assert report.trace.player().data["findings"] == []


def test_a_finding_leads_to_its_accesses(show):
    report = check_neighbours()
    (found,) = report.findings
    page = show(report.player())
    assert page.locator("#findings li").count() == 1
    assert "data race" in page.locator("#findings").inner_text()
    buttons = page.locator("#findings .found")
    for button, thread, time in zip(buttons.all(), found.threads, found.times, strict=True):
        assert f"thread {thread}" in button.inner_text()
        button.click()
        assert page.locator("#slider").input_value() == str(time)
        assert page.locator("#thread").input_value() == str(thread)
        assert found.element in page.locator("#follow option:checked").inner_text()


def test_a_check_without_findings_says_what_it_looked_for(show):
    report = mm.DMM(4, 3).check(neighbours, np.arange(8), np.zeros(8), threads=8, trace=True)
    page = show(report.player())
    assert page.locator("#findings-heading").inner_text() == "Nothing found"
    assert page.locator("#findings-panel p").inner_text() == report.looked_for
    assert page.locator("#found-name").is_hidden()


def test_without_findings_there_is_no_list(show):
    page = show(a_copy().trace.player())
    assert page.locator("#findings-panel").is_hidden()
    assert page.locator("#found-name").is_hidden()
