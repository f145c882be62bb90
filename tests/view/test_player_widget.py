"""The player as a widget: its two sides, and what a saved notebook shows.

Skips itself where anywidget, nbconvert, Playwright or Debian's chromium is missing.
"""

import json
import sys

import numpy as np
import pytest

import mmsim as mm
from mmsim.view.player import page

WIDGET = "application/vnd.jupyter.widget-view+json"


@mm.program
def copy(T, a, b):
    x = a[T.id]
    b[T.id] = x


@pytest.fixture
def run():
    return mm.DMM(4, 3).run(copy, np.arange(16), np.zeros(16), threads=16, trace=True)


@pytest.fixture
def widget(run):
    pytest.importorskip("anywidget", reason="anywidget isn't installed")
    return run.trace.player(start=2).widget()


def test_the_widget_shares_data_and_time(widget, run):
    assert widget.data == run.trace.player(start=2).data
    assert widget.time == 2
    state = widget.get_state()
    assert {"data", "time", "_esm"} <= set(state)
    json.dumps(state["data"], allow_nan=False)
    widget.time = 7
    assert widget.time == 7
    widget.time = 10_000
    assert widget.time == run.time
    widget.time = -1
    assert widget.time == 2


def test_page_and_widget_have_one_script(widget, run):
    assert page.script() in run.trace.player().html()
    assert widget.get_state()["_esm"].startswith(page.script())


def test_without_anywidget_the_error_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(mm.MMSimError, match="write pip install anywidget"):
        run.trace.player().widget()


def test_showing_the_player_loads_no_anywidget(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    assert run.trace.player()._repr_html_().startswith("<iframe")


def saved(outputs):
    """A notebook of cells with these outputs, without a kernel or the state of any widget."""
    nbformat = pytest.importorskip("nbformat", reason="nbformat isn't installed")
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [
        nbformat.v4.new_code_cell(
            "player", outputs=[nbformat.v4.new_output("execute_result", data, execution_count=1)]
        )
        for data in outputs
    ]
    return notebook


def test_a_saved_notebook_shows_the_page(run, widget, browser, tmp_path):
    """Both of the player and of its widget, read with nbconvert, which looks for widgets first."""
    nbconvert = pytest.importorskip("nbconvert", reason="nbconvert isn't installed")
    player = run.trace.player()
    live, _ = widget._repr_mimebundle_()
    assert WIDGET in live
    notebook = saved([{"text/html": player._repr_html_(), "text/plain": repr(player)}, live])
    text, _ = nbconvert.HTMLExporter(embed_images=True).from_notebook_node(notebook)
    path = tmp_path / "notebook.html"
    path.write_text(text, encoding="utf-8")
    shown = browser.new_page()
    shown.route("http**", lambda route: route.abort())  # the exporter's own scripts
    shown.goto(path.as_uri(), wait_until="domcontentloaded")
    assert shown.locator("iframe").count() == 2
    assert "widget-view" not in text
    for which, first in ((0, 0), (1, 2)):
        frame = shown.frame_locator("iframe").nth(which)
        assert frame.locator("#now").inner_text() == f"Time {first} of {run.time}"
        frame.locator("[data-go=last]").click()
        assert frame.locator("#now").inner_text() == f"Time {run.time} of {run.time}"
    shown.close()


HOST = """<!doctype html><meta charset="utf-8"><style>button { color: rgb(1, 2, 3) }</style>
<h1 style="font-size: 50px">a notebook</h1><button id="play">its own</button><p id="keys"></p>
<div id="first"></div><div id="second"></div>"""

# What a front end does: a model with the kernel's values, and render for each cell that shows it.
RENDER = """async ([esm, data, time]) => {
  const url = URL.createObjectURL(new Blob([esm], { type: "text/javascript" }));
  const { default: widget } = await import(url);
  const values = { data, time };
  const listeners = [];
  window.saved = [];
  window.model = {
    get: (name) => values[name],
    set: (name, value) => { values[name] = value; listeners.forEach((one) => one()); },
    save_changes: () => window.saved.push(values.time),
    on: (name, call) => listeners.push(call),
    off: (name, call) => listeners.splice(listeners.indexOf(call), 1),
    listeners,
  };
  const places = ["first", "second"].map((id) => document.getElementById(id));
  window.ends = places.map((el) => widget.render({ model, el }));
}"""


@pytest.fixture
def notebook(new_page, widget, tmp_path):
    """A page with the widget in two places; afterwards, that nothing went wrong there."""
    path = tmp_path / "host.html"
    path.write_text(HOST, encoding="utf-8")
    shown, wrong = new_page(), []
    heard = {
        "console": lambda message: wrong.append(message.text),
        "pageerror": lambda error: wrong.append(str(error)),
    }
    for event, hear in heard.items():
        shown.on(event, hear)
    shown.goto(path.as_uri())
    state = widget.get_state()
    shown.evaluate(RENDER, [state["_esm"], state["data"], state["time"]])
    yield shown
    for event, hear in heard.items():
        shown.remove_listener(event, hear)
    assert wrong == []


def times(shown):
    return [text.split()[1] for text in shown.locator("#now").all_inner_texts()]


def test_the_widget_and_its_model_go_together(notebook):
    assert times(notebook) == ["2", "2"]
    notebook.locator("#first [data-go=next]").click()
    assert times(notebook) == ["3", "3"]
    assert notebook.evaluate("saved") == [3], "told once, by the one that moved"
    notebook.evaluate("model.set('time', 5)")
    assert times(notebook) == ["5", "5"]
    assert notebook.evaluate("saved") == [3]
    notebook.locator("#second .lane", has_text="1").click()
    assert notebook.locator("#second #thread").input_value() == "1"
    assert notebook.locator("#first #thread").input_value() == "0"


def test_the_widget_takes_its_own_keys_only(notebook):
    notebook.locator("h1").first.click()
    notebook.keyboard.press("ArrowRight")
    assert times(notebook) == ["2", "2"]
    notebook.locator("#first #title").click()
    notebook.keyboard.press("ArrowRight")
    assert times(notebook) == ["3", "3"]
    suppressed = "document.querySelector('#first').firstElementChild.dataset.lmSuppressShortcuts"
    assert notebook.evaluate(suppressed) == "true"


def test_styles_stay_inside_and_outside(notebook):
    colour = "one => getComputedStyle(one).color"
    assert notebook.locator("body > #play").evaluate(colour) == "rgb(1, 2, 3)"
    assert notebook.locator("#first #play").evaluate(colour) != "rgb(1, 2, 3)"
    size = "one => getComputedStyle(one).fontSize"
    assert notebook.locator("body > h1").evaluate(size) == "50px"
    assert notebook.locator("#first #title").evaluate(size) != "50px"
    assert notebook.evaluate("getComputedStyle(document.body).margin") == "8px"


def test_an_ended_widget_listens_no_more(notebook):
    notebook.evaluate("ends.forEach((end) => end())")
    assert notebook.evaluate("model.listeners.length") == 0
    notebook.evaluate("model.set('time', 6)")
    assert times(notebook) == ["2", "2"]
