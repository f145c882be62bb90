"""numba-cuda's own tests, with mmsim in the place of its simulator."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.numba_suite.reasons import why

ROOT = Path(__file__).parents[2]
SUITE = "tests.kit.numba_suite"
pytest.importorskip("numba_cuda")


def run(tmp_path, *names, least, more):
    """The outcomes of the tests in the files of these names, by name."""
    saved = tmp_path / "outcomes.json"
    command = [sys.executable, "-m", f"{SUITE}.run", "--json", str(saved), *names]
    command += ["--least", str(least), "--least-more", str(more)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr
    return json.loads(saved.read_text("utf-8"))["outcomes"]


def test_a_file_of_the_suite_runs(tmp_path):
    outcomes = run(tmp_path, "test_sync", least=15, more=0)
    launched = [name for name, one in outcomes.items() if one["launches"]]
    assert len(launched) >= 15


@pytest.mark.long
def test_the_suite_passes_as_far_as_the_simulator_passes_it(tmp_path):
    run(tmp_path, least=560, more=60)


def test_the_page_is_made_of_the_kept_outcomes_and_knows_every_reason():
    kept = ROOT / "benchmarks" / "results" / "numba-suite.json"
    command = [sys.executable, "-m", f"{SUITE}.page", str(kept)]
    made = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert made.stdout == (ROOT / "docs" / "numba-suite.md").read_text("utf-8")
    assert "No reason is known" not in made.stdout
    outcomes = json.loads(kept.read_text("utf-8"))["outcomes"]
    missing = [name for name, one in outcomes.items() if one["outcome"] != "passed"]
    _, _, listed = made.stdout.partition("## What doesn't pass, and why")
    for name in missing:
        short = name.partition("::")[2].replace("::", ".")
        assert len(re.findall(rf"(?<![\w.]){re.escape(short)}(?![\w.])", listed)) >= 1, name
    points = [line.partition(": ")[2] for line in listed.splitlines() if line.startswith("- ")]
    assert sum(len(point.split(", ")) for point in points) == len(missing)


def test_a_failure_that_no_rule_knows_has_no_reason():
    strange = {"outcome": "failed", "said": "ValueError: something new"}
    assert why("cudapy/test_lang.py::TestLang::test_zip", strange) is None
    half = {"outcome": "failed", "said": "argument 1 of the kernel 'f' holds float16"}
    assert why("cudapy/test_lang.py::TestLang::test_zip", half) == ("half", "")
