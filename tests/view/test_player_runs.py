"""Several launches as one player, and two runs side by side."""

import json

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import FormatError, LaunchError
from mmsim_algorithms import permutations, transpose
from mmsim_algorithms.hmm_permutation.programs import plan, scheduled
from tests.kit.views.states import expected


@pytest.fixture(scope="module")
def permuted():
    """The scheduled permutation of ICPP: five launches."""
    P = permutations.random(16, 1)
    return scheduled(mm.HMM(2, 2, 5), np.arange(16), plan(P, 2), trace=True)


def transposing(program, machine=None, schedule="synchronous"):
    a = np.arange(16).reshape(4, 4)
    how = {"threads": 16, "schedule": schedule, "trace": True}
    return (machine or mm.DMM(4, 3)).run(program, a, np.zeros_like(a), **how)


def shifted(trace, before):
    """The states of a launch that begins after so many time units."""
    for state in expected(trace):
        state["time"] += before
        for wait in state["waiting"]:
            wait["start"] += before
            wait["end"] += before
        yield state


def beginnings(run):
    return np.cumsum([0, *(trace.time for trace in run.traces)]).tolist()


def states_of(run):
    """The states of several launches; where one ends and the next begins, that of the next."""
    found = {}
    for trace, before in zip(run.traces, beginnings(run), strict=False):
        found |= {state["time"]: state for state in shifted(trace, before)}
    return [found[time] for time in range(run.time + 1)]


def now(shown):
    return shown.evaluate("mmsim.time")


def test_a_total_keeps_the_traces(permuted):
    assert [trace.program for trace in permuted.traces] == [
        *("row_wise", "transpose", "row_wise", "transpose", "row_wise")
    ]
    assert permuted.launches == 5
    assert sum(trace.time for trace in permuted.traces) == permuted.time
    with pytest.raises(mm.MMSimError, match=r"run.traces has one for each of its launches"):
        _ = permuted.trace
    plain = transposing(transpose.straightforward)
    assert [trace.time for trace in mm.total([plain, plain]).traces] == [plain.time] * 2
    a = np.arange(16).reshape(4, 4)
    silent = mm.DMM(4, 3).run(transpose.straightforward, a, np.zeros_like(a), threads=16)
    with pytest.raises(mm.MMSimError, match="if all of them were run with trace=True"):
        _ = mm.total([plain, silent]).traces


def test_traces_of_several_launches_are_saved(permuted):
    text = permuted.to_json()
    read = mm.Run.from_json(text)
    assert read == permuted
    assert read.player().html() == permuted.player().html()
    assert "records" not in json.loads(transposing(transpose.diagonal).to_json())["value"]
    for change, message in (
        (lambda value: value["records"].pop(), "4 traces for 5 launches"),
        (lambda value: value.update(records=value["records"][:1] * 5), "its launches take"),
        (lambda value: value.update(program="another"), "another program"),
    ):
        document = json.loads(text)
        change(document["value"])
        with pytest.raises(FormatError, match=message):
            mm.Run.from_json(json.dumps(document))


def test_five_launches_are_stepped_through_as_one(show, permuted):
    states = states_of(permuted)
    shown = show(permuted.player())
    starts = beginnings(permuted)
    near = {time + near for time in starts for near in (-1, 0, 1)} | set(range(0, len(states), 9))
    times = sorted(near & set(range(len(states))))
    assert shown.evaluate("times => times.map(mmsim.state)", times) == [states[t] for t in times]
    assert states[-1]["memory"]["b"] == [permuted.arrays["b"].ravel().tolist()]
    assert "5 launches" in shown.locator("#subtitle").inner_text()
    # By round, every launch is come by; what is drawn is that launch.
    seen = []
    while now(shown) < permuted.time:
        shown.keyboard.press("PageDown")
        seen.append(now(shown))
        number = sum(start <= seen[-1] for start in starts[:-1]) - 1
        trace = permuted.traces[number]
        assert shown.locator("#source .file").inner_text().startswith(f"{trace.program}, ")
        assert shown.locator(".unit").count() == 3
        if seen[-1] in starts[1:-1]:
            assert (
                f"launch {number + 1} of 5, {trace.program}, begins"
                in shown.locator("#status").inner_text()
            )
    assert set(starts[1:-1]) < set(seen)
    shown.select_option("#follow", label="warp 1")
    for number in (1, 2, 4):  # steps by access cross from launch to launch
        shown.evaluate("t => mmsim.go(t)", starts[number] - 1)
        shown.keyboard.press("Shift+ArrowRight")
        own = [one.time for one in permuted.traces[number].dispatches if one.warp == 1]
        assert now(shown) == starts[number] + own[0]
    assert shown.locator("#launch-name").is_visible()


TEXTS = """window.texts = [];
const fillText = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...given) {
  window.texts.push(text);
  return fillText.call(this, text, ...given);
};"""


def test_launches_are_marked_in_the_timeline(show):
    run = transposing(transpose.diagonal)
    shown = show(mm.total([run, run, run]).player(), before=TEXTS)
    for number in (1, 2, 3):
        assert f"launch {number}: diagonal" in shown.evaluate("texts")


def test_a_window_of_several_launches(show, permuted):
    starts = beginnings(permuted)
    start, end = starts[1] + 3, starts[3] - 1
    player = permuted.player(start=start, end=end)
    assert [launch["program"] for launch in player.data["launches"]] == ["transpose", "row_wise"]
    shown = show(player)
    assert now(shown) == start
    states = states_of(permuted)
    times = [start, starts[2] - 1, starts[2], end]
    assert shown.evaluate("times => times.map(mmsim.state)", times) == [states[t] for t in times]
    shown.evaluate("t => mmsim.go(t)", starts[2])
    assert "launch 3 of 5" in shown.locator("#status").inner_text()
    with pytest.raises(LaunchError, match=f"time units 0 to {permuted.time}"):
        permuted.player(end=permuted.time + 1)


def test_warps_of_several_launches_are_drawn(permuted):
    axes = mm.figures.warps(permuted)
    assert axes.get_xlim() == (0, permuted.time)
    spans = [path for bar in axes.collections for path in bar.get_paths()]
    assert max(path.get_extents().x1 for path in spans) == permuted.time


PAIRS = {
    "before and after": lambda: (
        transposing(transpose.straightforward),
        transposing(transpose.diagonal),
    ),
    "DMM and UMM": lambda: (
        transposing(transpose.straightforward),
        transposing(transpose.straightforward, mm.UMM(4, 5)),
    ),
    "synchronous and asynchronous": lambda: (
        transposing(transpose.straightforward),
        transposing(transpose.straightforward, schedule="asynchronous"),
    ),
}


@pytest.mark.parametrize("make", PAIRS.values(), ids=PAIRS)
def test_two_runs_go_in_step(show, make):
    runs = make()
    shown = show(mm.compare(*runs), viewport={"width": 1280, "height": 900})
    last = max(run.time for run in runs)
    known = [list(expected(run.trace)) for run in runs]
    both = shown.locator(".run")
    assert both.count() == 2
    for time in range(last + 1):
        assert now(shown) == time
        assert shown.locator("#now").inner_text() == f"Time {time} of {last}"
        for number, run in enumerate(runs):
            at = min(time, run.time)
            states = shown.evaluate("t => mmsim.states(t)", at)
            assert states[number] == known[number][at]
            boxes = (
                both.nth(number)
                .locator(".register")
                .evaluate_all(
                    "all => all.map((one) => one.querySelector('.badge')?.textContent ?? null)"
                )
            )
            registers = known[number][at]["registers"]["memory"]
            assert boxes == [stage and f"W{stage['warp']}" for stage in registers]
            if time > run.time:
                assert f"has ended at {run.time}" in shown.locator("#status").inner_text()
        shown.keyboard.press("ArrowRight")
    # Conflicts of either are stopped at.
    shown.keyboard.press("Home")
    conflicts = {one.time for run in runs for one in run.trace.dispatches if one.stage_count > 1}
    for time in sorted(conflicts - {0}):
        shown.keyboard.press("c")
        assert now(shown) == time
    # What is followed in one is followed in the other.
    both.first.locator("#queue .badge, .badge").first.click()
    assert shown.locator("#follow option:checked").inner_text().startswith("warp")
    shown.keyboard.press("Escape")
    both.first.locator("td[data-place='21']").click()
    followed = shown.locator("td.followed")
    assert followed.count() == 2
    assert [one.get_attribute("title").split(" = ")[0] for one in followed.all()] == ["b[1, 1]"] * 2


def test_two_runs_are_named_by_what_they_differ_in():
    names = {name: mm.compare(*make()).names for name, make in PAIRS.items()}
    assert names == {
        "before and after": ("straightforward", "diagonal"),
        "DMM and UMM": ("DMM(width=4, latency=3)", "UMM(width=4, latency=5)"),
        "synchronous and asynchronous": ("synchronous", "asynchronous"),
    }
    run = transposing(transpose.diagonal)
    assert mm.compare(run, run).names == ("first run", "second run")
    assert mm.compare(run, run, names=["<b>RAW", "RAP"]).title == "<b>RAW and RAP"
    assert (
        "<title>&lt;b&gt;RAW and RAP</title>"
        in mm.compare(run, run, names=["<b>RAW", "RAP"]).html()
    )
    with pytest.raises(LaunchError, match="names has 1 text"):
        mm.compare(run, run, names=["RAW"])
    with pytest.raises(LaunchError, match=r"two runs, or two predictions .* not Run and int"):
        mm.compare(run, 3)
    for window in ({"start": -1}, {"start": 9, "end": 8}, {"end": 13}):
        with pytest.raises(LaunchError, match="the longer run has time units 0 to 12"):
            mm.compare(run, run, **window)
    a = np.arange(16).reshape(4, 4)
    silent = mm.DMM(4, 3).run(transpose.diagonal, a, np.zeros_like(a), threads=16)
    with pytest.raises(mm.MMSimError, match="has no trace"):
        mm.compare(run, silent)


def test_a_window_of_two_runs_of_which_one_has_ended(show):
    runs = PAIRS["before and after"]()
    shown = show(mm.compare(*runs, start=10, end=20))
    assert now(shown) == 10
    shown.keyboard.press("End")
    assert now(shown) == 20
    longer, shorter = shown.evaluate("mmsim.states(20)")
    assert longer == list(expected(runs[0].trace))[20]
    assert shorter["memory"]["b"] == [np.arange(16).reshape(4, 4).T.ravel().tolist()]


def test_several_launches_next_to_one(show, permuted):
    """The scheduled permutation and the conventional one."""
    P = permutations.random(16, 1)

    @mm.program
    def straight(T, a, b, P):
        b[P[T.id]] = a[T.id]

    machine = mm.HMM(2, 2, 5)
    one = machine.run(straight, np.arange(16), np.zeros(16, int), P, threads=16, trace=True)
    shown = show(mm.compare(permuted, one))
    last = shown.evaluate("t => mmsim.states(t)", permuted.time)
    assert last[0]["memory"]["b"] == last[1]["memory"]["b"]
    shown.keyboard.press("End")
    assert now(shown) == max(permuted.time, one.time)


def test_a_comparison_as_widget_and_figure():
    runs = PAIRS["before and after"]()
    comparison = mm.compare(*runs)
    assert repr(comparison) == "<straightforward and diagonal, time units 0 to 24>"
    assert comparison._repr_html_().startswith('<iframe class="mmsim-player"')
    upper, lower = comparison.plot().axes
    assert upper.get_xlim() == lower.get_xlim() == (0, 24)
    assert [axes.get_ylabel() for axes in (upper, lower)] == [
        "straightforward\n24 time units",
        "diagonal\n12 time units",
    ]
    assert "<svg" in comparison.plot()._repr_svg_()
    pytest.importorskip("anywidget", reason="anywidget isn't installed")
    widget = comparison.widget()
    widget.time = 100
    assert widget.time == 24
    assert widget.data == comparison.data
