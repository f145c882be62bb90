"""Launches that have a shape, from the command line."""

from __future__ import annotations

import json

import pytest

import mmsim as mm
from mmsim.cli.main import main

PROGRAM = """
import numpy as np
import mmsim as mm


@mm.program
def fill(T, a):
    a[T.threadIdx.y, T.threadIdx.x] = T.blockIdx.x


@fill.example
def example(width, size=16, seed=0):
    return mm.Example(np.zeros((4, 4), int), grid=2, block=(4, 4))
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(PROGRAM)
    return tmp_path


def saved(*words):
    assert main(["run", "mine.py:fill", *words, "--json", "run.json"]) == 0
    with open("run.json", encoding="utf-8") as text:
        return mm.Run.from_json(text.read())


def test_a_run_of_a_shape(file, capsys):
    assert "32 threads in a grid of 2 blocks of 4 x 4" in repr(saved())
    run = saved("zeros:4x4", "--grid", "3x1x2", "--block", "2x4")
    assert run.shape == mm.model.threads.Shape((3, 1, 2), (2, 4, 1))
    assert saved("--grid", "1", "--block", "4x2").threads == 8
    assert saved("--threads", "4", "--block-size", "2").shape is None
    assert "in a grid of" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--grid", "0", "--block", "4"], "grid along x=0, but it must be at least 1"),
        (["--grid", "2"], "grid= goes with block="),
        (["--grid", "2", "--block", "4", "--threads", "8"], "not by both"),
        (["zeros:4x4"], "give --threads, or --grid and --block"),
    ],
)
def test_a_shape_that_cannot_be_is_refused(file, capsys, words, message):
    assert main(["run", "mine.py:fill", *words]) != 0
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("text", ["4y2", "1x2x3x4", "-1", "x", "4x", "9" * 30])
def test_a_text_that_is_no_extents_is_refused(file, capsys, text):
    with pytest.raises(SystemExit):
        main(["run", "mine.py:fill", "--grid", text, "--block", "4"])
    assert "does not give extents; write 16, 4x2 or 8x8x4" in capsys.readouterr().err


def test_a_check_and_a_page_of_a_shape(file, capsys):
    schedule = ["--schedule", "asynchronous"]
    assert main(["check", "mine.py:fill", "--grid", "2", "--block", "4x2", *schedule]) == 1
    assert "(threadIdx (0, 0, 0), blockIdx (1, 0, 0))" in capsys.readouterr().out
    assert main(["step", "mine.py:fill", "--html", "page.html"]) == 0
    assert "a grid of 2 blocks of 4 x 4" in (file / "page.html").read_text(encoding="utf-8")


def test_a_sweep_over_shapes(file):
    words = ["--grid", "1", "2x1", "--block", "4x4", "2x2", "--out", "rows.jsonl", "--jobs", "1"]
    assert main(["sweep", "mine.py:fill", "--arguments", "zeros:4x4", *words]) == 0
    rows = [json.loads(line) for line in (file / "rows.jsonl").read_text().splitlines()]
    found = {(row["grid"], row["block"]): row["threads"] for row in rows if "grid" in row}
    assert found == {("1", "4x4"): 16, ("1", "2x2"): 4, ("2x1", "4x4"): 32, ("2x1", "2x2"): 8}
