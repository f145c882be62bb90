"""The page that compares mmsim with numba-cuda's simulator says what both do."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numba_cuda")
pytestmark = pytest.mark.long

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "explanation" / "numba-simulator.md"
ROW = re.compile(r"^\| (.+?) \| (yes|no) \| (yes|no) \| .*\|$", re.MULTILINE)


def outcomes(*command, simulator):
    """Output of the programs: whether each feature works, and the seconds of an addition."""
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": str(int(simulator))}
    done = subprocess.run(
        [sys.executable, *command, str(HERE / "feature_programs.py")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"features"')]
    assert len(lines) == 1, done.stdout + done.stderr
    return json.loads(lines[0])


def test_every_row_of_the_page_is_what_both_do_and_mmsim_is_faster():
    simulator = outcomes(simulator=True)
    mmsim = outcomes("-m", "mmsim", "cuda", "--check", simulator=False)
    rows = {name: (first, second) for name, first, second in ROW.findall(PAGE.read_text("utf-8"))}
    assert list(simulator["features"]) == list(mmsim["features"])
    found = {
        name: tuple("yes" if side["features"][name][0] else "no" for side in (simulator, mmsim))
        for name in simulator["features"]
    }
    said = {name: (simulator["features"][name][1], mmsim["features"][name][1]) for name in found}
    assert rows == found, {name: said[name] for name in found if rows.get(name) != found[name]}
    assert simulator["seconds"] > 10 * mmsim["seconds"]
