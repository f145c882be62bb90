"""The checks of a first change: `make quick`, the workflow and the hooks, the way in."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"
HOOKS = ROOT / ".pre-commit-config.yaml"
TARGETS = set(re.findall(r"(?m)^([a-z][a-z-]*):", MAKEFILE))


def quick():
    """The files that `make quick` tests."""
    listed = re.search(r"QUICK := \$\(addprefix tests/,(.*?)\)\n", MAKEFILE, re.DOTALL)
    return re.sub(r"\\\n", " ", listed[1]).split()


def targets_in(text):
    """The targets of the calls of make in a text: `make verify docs JOBS=2` has two."""
    calls = re.findall(r"(?m)(?:run|entry): make((?: [a-zA-Z0-9=.-]+)+)", text)
    return [word for call in calls for word in call.split() if "=" not in word]


def test_make_quick_runs_the_core_of_each_room():
    files = quick()
    assert len(files) == len(set(files))
    for file in files:
        assert (TESTS / file).is_file()
    folders = {path.parent.name for path in TESTS.glob("*/test_*.py")}
    assert {file.split("/")[0] for file in files} == folders


def test_make_quick_checks_style_types_and_tests():
    if shutil.which("make") is None:
        pytest.skip("make isn't installed")
    done = subprocess.run(
        ["make", "-n", "VENV=none", "quick"], cwd=ROOT, capture_output=True, text=True
    )
    for command in (
        "none/bin/ruff format --check .",
        "none/bin/ruff check .",
        "none/bin/mypy --strict --package mmsim",
        f"none/bin/python -m pytest -q -n 2 --dist loadgroup tests/{quick()[0]} ",
    ):
        assert command in done.stdout, done.stderr


def test_contributing_names_all_that_make_lists():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    said = set(re.findall(r"(?:`|^    )make ([a-z-]+)", text, re.MULTILINE))
    assert said <= TARGETS
    assert {"quick", "test", "verify", "docs"} <= said


@pytest.mark.parametrize("file", [WORKFLOW, HOOKS], ids=lambda file: file.name)
def test_the_workflow_and_the_hooks_call_make(file):
    text = file.read_text("utf-8")
    called = targets_in(text)
    assert called
    assert set(called) <= TARGETS
    commands = re.findall(r"\b(?:run|entry): (\w+)", text)
    assert set(commands) == {"make"}


def test_the_workflow_runs_on_each_python():
    asked = re.findall(r'Python :: (3\.\d+)"', (ROOT / "pyproject.toml").read_text("utf-8"))
    assert str(asked).replace("'", '"') in WORKFLOW.read_text("utf-8")


def test_targets_are_read():
    assert targets_in("- run: make verify docs JOBS=4\n  entry: make quick-style\n") == [
        *("verify", "docs", "quick-style")
    ]
