"""numba-cuda's own tests, with mmsim in the place of its simulator."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SUITE = Path(__file__).parents[1] / "numba_suite"
pytest.importorskip("numba_cuda")


def run(tmp_path, *names, least, more):
    """The outcomes of the tests in the files of these names, by name."""
    saved = tmp_path / "outcomes.json"
    command = [sys.executable, str(SUITE / "run.py"), "--json", str(saved), *names]
    command += ["--least", str(least), "--least-more", str(more)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr
    return json.loads(saved.read_text("utf-8"))["outcomes"]


def test_a_file_of_the_suite_runs(tmp_path):
    outcomes = run(tmp_path, "test_sync", least=15, more=0)
    launched = [name for name, one in outcomes.items() if one["launches"]]
    assert len(launched) >= 15


@pytest.mark.long
def test_the_suite_passes_as_far_as_the_simulator_passes_it(tmp_path):
    run(tmp_path, least=560, more=60)
