"""The way in: the rooms' READMEs, the tour, and CONTRIBUTING name only what is there."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from test_house import FLOOR

import mmsim as mm
from mmsim.engines.array.engine import FEW
from tests.kit.runs.programs import copy

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "docs" / "_ext"))
from tour_picture import BEFORE, ROOMS, STEPS  # noqa: E402

TOUR = ROOT / "docs" / "explanation" / "tour.md"
DESCRIBED = ("ir", "frontend", "meaning", "engines", "results", "cuda", "cudart")
READMES = [ROOT / "mmsim" / room / "README.md" for room in DESCRIBED]
FILE = re.compile(r"`([\w./*]+(?:\.py|\.md|\.yml|\.yaml)|(?:mmsim|tests|docs)/[\w/]+)`")


def missing(page):
    """The files and folders that a page names and that are not there, from its folder or ours."""
    named = FILE.findall(page.read_text("utf-8"))
    assert named
    return [
        one
        for one in named
        if not any(any(folder.glob(one.rstrip("/"))) for folder in (page.parent, ROOT))
    ]


@pytest.mark.parametrize(
    "page", [*READMES, TOUR, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.parent.name
)
def test_a_page_names_only_files_that_exist(page):
    assert missing(page) == []


def test_a_file_that_is_not_there_is_seen(tmp_path):
    page = tmp_path / "README.md"
    page.write_text("`here.py`, `gone.py`, `mmsim/ir/nodes.py`, `mmsim/ir/gone.py`, `tests/gone`\n")
    (tmp_path / "here.py").touch()
    assert missing(page) == ["gone.py", "mmsim/ir/gone.py", "tests/gone"]


@pytest.mark.parametrize("page", READMES, ids=lambda page: page.parent.name)
def test_a_readme_is_short_and_says_what_enters_and_leaves(page):
    text = page.read_text("utf-8")
    assert 15 <= len(text.splitlines()) <= 30
    for part in ("**What enters:**", "**What leaves:**", "**Where to begin:**", "**The tests:**"):
        assert part in text


def test_the_tour_goes_the_way_of_a_run():
    """The files of the picture's steps are entered in its order, in a real run."""
    entered = []

    def note(frame, event, _):
        parts = Path(frame.f_code.co_filename).parts
        if event == "call" and "mmsim" in parts:
            entered.append("/".join(parts[-2:]))

    machine = mm.DMM(width=4, latency=3)
    sys.setprofile(note)
    try:
        run = machine.run(copy, np.arange(8), np.zeros(8, int), threads=8)
    finally:
        sys.setprofile(None)
    assert run.time == 8
    way = iter(entered)
    for step in STEPS:
        assert f"{step.room}/{step.file}" in way, step  # after that of the step before


def test_the_picture_shows_the_steps_on_their_floors():
    shown = (ROOT / "docs" / "figures" / "tour.svg").read_text("utf-8")
    for number, step in enumerate(STEPS, 1):
        assert (ROOT / "mmsim" / step.room / step.file).is_file()
        assert f">{number}  {step.file}<" in shown
    for room, (file, _) in BEFORE.items():
        assert (ROOT / "mmsim" / room / file).is_file()
    floors = [FLOOR[room] for room in ROOMS]
    assert floors == sorted(floors, reverse=True)
    assert f"{FEW:,} threads" in TOUR.read_text("utf-8")


def test_a_first_change_quotes_the_table():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    (row,) = re.findall(r'`("remainder": [^`]+)`', text)
    assert row in (ROOT / "mmsim" / "ir" / "functions.py").read_text("utf-8")
