"""The how-to about tests without a GPU: its workflow is whole, and its commands do what it says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")
PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "ci.md").read_text("utf-8")
FILES = dict(
    re.findall(
        r"^```\{code-block\} python\n:caption: (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL
    )
)
WORKFLOW = yaml.safe_load(re.search(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[1])
STEPS = {step["name"]: step for step in WORKFLOW["jobs"]["kernels"]["steps"] if "name" in step}
FIRST_BARRIER = "    cuda.syncthreads()\n    step = 64\n"
NO_NETWORK = {name: "http://127.0.0.1:9" for name in ("http_proxy", "https_proxy", "all_proxy")}


@pytest.fixture
def project(tmp_path):
    """A folder with the files of the page."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    return tmp_path


def run(command, folder):
    """A step of the workflow, as a shell runs it."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, **NO_NETWORK, "PATH": path}
    environment.pop("NUMBA_ENABLE_CUDASIM", None)
    return subprocess.run(
        ["bash", "-e", "-c", command], cwd=folder, env=environment, capture_output=True, text=True
    )


ADDED_AND_HALVED = """            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
"""


def change(project, old, new):
    path = project / "kernels.py"
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), "utf-8")


def test_the_workflow_is_one():
    assert WORKFLOW[True] == ["push", "pull_request"]  # YAML reads "on" as true
    job = WORKFLOW["jobs"]["kernels"]
    assert {"runs-on", "timeout-minutes", "steps"} == set(job)
    assert all(("uses" in step) != ("run" in step) for step in job["steps"])
    assert list(STEPS) == ["Install", "Tests", "Example", "Keep the costs"]
    kept = STEPS["Keep the costs"]
    assert kept["if"] == "always()"
    for name in kept["with"]["path"].split():
        assert name in STEPS["Tests"]["run"]


def test_its_steps_pass_for_the_project_of_the_page_and_keep_the_costs(project):
    (project / "tests" / "test_costs.py").unlink()
    tests = run(STEPS["Tests"]["run"], project)
    assert tests.returncode == 0, tests.stdout + tests.stderr
    shown = PAGE.partition("## The commands")[2].partition("## The workflow")[0]
    table = [line.strip() for line in shown.splitlines() if line.startswith("    ")]
    printed = [" ".join(line.split()) for line in tests.stdout.splitlines()]
    for line in table:
        beginning = " ".join(line.replace("...", "").split())
        assert any(one.startswith(beginning) for one in printed), (line, tests.stdout)
    for name in STEPS["Keep the costs"]["with"]["path"].split():
        assert "block_sums" in (project / name).read_text("utf-8")
    example = run(STEPS["Example"]["run"], project)
    assert (example.returncode, "2048.0" in example.stdout) == (0, True), example.stderr


OTHERS = [
    (FIRST_BARRIER, "    if t < 64: cuda.syncthreads()\n    step = 64\n", 1, "barrier"),
    ("    part[t] = words", "    if t > 0: part[t] = words", 1, "uninitialized"),
    (ADDED_AND_HALVED, "            pass\n", 2, "repeat this loop forever"),
]


@pytest.mark.parametrize(
    ("old", "new", "status", "said"),
    [
        (FIRST_BARRIER, "    step = 64\n", 1, "race"),
        ("part[t + step]\n", "part[t + step + 1]\n", 2, "out of range"),
        *(pytest.param(*one, marks=pytest.mark.long) for one in OTHERS),
    ],
)
def test_its_steps_fail_for_what_the_page_says(project, old, new, status, said):
    change(project, old, new)
    done = run(STEPS["Example"]["run"], project)
    assert done.returncode == status
    assert said in done.stdout + done.stderr


def test_a_finding_fails_the_tests_too(project):
    change(project, FIRST_BARRIER, "    step = 64\n")
    done = run(STEPS["Tests"]["run"], project)
    assert done.returncode == 1
    assert "data race" in done.stdout
    assert "put cuda.syncthreads()" in done.stdout  # the advice, in Numba's words


def test_the_test_of_the_costs_notices_a_conflict(project):
    command = "python -m pytest -q -p mmsim.cuda.pytest tests/test_costs.py"
    assert run(command, project).returncode == 0
    text = (project / "kernels.py").read_text("utf-8")
    text = text.replace("array(128,", "array(256,").replace("part[t]", "part[2 * t]")
    (project / "kernels.py").write_text(text.replace("part[t + step]", "part[2 * (t + step)]"))
    done = run(command, project)
    assert done.returncode == 1
    assert "test_block_sums_has_no_bank_conflict" in done.stdout
