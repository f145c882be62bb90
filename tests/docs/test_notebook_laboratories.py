"""The laboratories of the notebooks, as they are saved: changed in Chromium, and held to Python."""

from pathlib import Path

import nbformat
import numpy as np
import pytest

import mmsim as mm
from mmsim_algorithms.transpose import hmm as hmm_transpose

FOLDER = Path(__file__).parents[2] / "notebooks"
FRAME = '<iframe class="mmsim-laboratory" '


def saved(name):
    """The frame of a notebook's laboratory."""
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    outputs = [one for cell in notebook.cells for one in cell.get("outputs", [])]
    shown = ["".join(one.get("data", {}).get("text/html", "")) for one in outputs]
    (frame,) = [text for text in shown if text.startswith(FRAME)]
    return frame


@pytest.fixture
def shown(new_page):
    """The page of a notebook's laboratory, when it has run."""

    def shown(name):
        page = new_page()
        page.set_content(saved(name))
        frame = page.query_selector("iframe").content_frame()
        frame.locator("#verdict b").wait_for()
        return frame

    return shown


def time_after(frame, act):
    """Do something that changes the run; return its time."""
    before = frame.evaluate("laboratory.runs")
    act()
    frame.wait_for_function(f"laboratory.runs > {before}")
    return int(frame.locator("#verdict b").inner_text().replace(",", ""))


def test_another_machine_serves_the_same_requests(shown):
    frame = shown("01-banks-and-address-groups")
    asked = np.array([0, 1, 10, 6, 8, 9, 14, 15])

    @mm.program
    def read(T, m, asked):
        m[asked[T.id]]

    def time(machine):
        return machine.run(read, np.arange(16), asked, threads=8).time

    assert int(frame.locator("#verdict b").inner_text()) == time(mm.DMM(4, 3)) == 9
    on_groups = time_after(frame, frame.get_by_role("button", name="UMM", exact=True).click)
    assert on_groups == time(mm.UMM(4, 3)) == 11


def test_another_text_of_the_transpose_costs_more(shown):
    frame = shown("03-transpose-three-ways")
    machine = mm.HMM(dmms=2, width=4, global_latency=5)
    arguments = np.arange(32).reshape(8, 4), np.zeros((4, 8), dtype=int), 4
    run = machine.run(hmm_transpose.transpose, *arguments, threads=32, block_size=16)
    assert int(frame.locator("#verdict b").inner_text()) == run.time
    text = frame.locator("#text")
    rotated = text.input_value()
    plain = rotated.replace("(i + j) % w", "j").replace("(j + i) % w", "i")
    (row,) = (row for row in run.accesses if row.array == "alpha" and row.kind == "read")
    a_dmm = row.stages // machine.dmms
    # Without the diagonal a warp of w threads reads from one bank: w stages where it took one.
    assert time_after(frame, lambda: text.fill(plain)) == run.time + (machine.width - 1) * a_dmm


def test_another_layout_and_width_are_those_of_python(shown):
    frame = shown("06-random-address-permute-shift")
    for array in ("a", "b"):
        layout = frame.get_by_label(f"{array}: layout", exact=True)
        time = time_after(frame, lambda layout=layout: layout.select_option("RAW"))
    w, l = 8, 3
    assert time == w * w + w + 2 * (l - 1)
