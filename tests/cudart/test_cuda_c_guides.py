"""The how-tos about CUDA C++: their examples run, their workflow is whole and fails for a race."""

import contextlib
import io
import os
import re
import subprocess
import sys
from textwrap import dedent

import pytest

from mmsim.cudart import installed
from mmsim.errors import MMSimError
from tests.kit import ROOT

yaml = pytest.importorskip("yaml")
GUIDE = (ROOT / "docs/how-to/cuda-c.md").read_text("utf-8")
PAGE = (ROOT / "docs/how-to/ci-cuda-c.md").read_text("utf-8")
EXAMPLE = re.compile(
    r"^```\{code-block\} python\n(.*?)^```\n\n((?:    [^\n]*\n|\n(?=    ))*)", re.M | re.S
)
FILE = re.compile(r"^```\{code-block\} \S+\n:caption: (\S+)\n(.*?)^```$", re.M | re.S)
WORKFLOW, PROGRAM = (
    yaml.safe_load(dedent(found))
    for found in re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.M | re.S)
)
BARRIER = "    __syncthreads();\n    for"
TEMPLATE = (
    "template <typename T> __global__ void scale(T* a, T by) { a[threadIdx.x] *= by * TILE; }\n"
)


@pytest.fixture(autouse=True)
def compiler():
    """Skip the test without NVRTC."""
    try:
        installed.library()
    except MMSimError as error:
        pytest.skip(str(error))


def test_the_examples_of_the_guide_run_and_print_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels.cu").write_text(TEMPLATE)
    names, shown = {}, 0
    for code, expected in EXAMPLE.findall(GUIDE):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "example.py", "exec"), names)
        if expected:
            lines = [line.rstrip() for line in printed.getvalue().splitlines()]
            assert lines == [line.rstrip() for line in dedent(expected).splitlines()]
            shown += 1
    assert shown == 1
    assert not names["report"].findings
    assert (tmp_path / "transpose.html").exists()
    a = names["np"].ones(4, names["np"].float32)
    names["scale"]((1,), (4,), (a, 3))
    assert a.tolist() == [96] * 4


@pytest.fixture
def project(tmp_path):
    """A folder with the files of the page about CI."""
    for name, text in FILE.findall(PAGE):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def outcome(project):
    """Run the tests of the workflow."""
    (command,) = (one["run"] for one in STEPS if one.get("name") == "Tests")
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    return subprocess.run(
        ["bash", "-e", "-c", command],
        cwd=project,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )


STEPS = WORKFLOW["jobs"]["kernels"]["steps"]


def test_the_workflow_is_one():
    assert WORKFLOW[True] == ["push", "pull_request"]  # YAML reads "on" as true
    assert all(("uses" in step) != ("run" in step) for step in STEPS)
    assert [step.get("name") for step in STEPS][-2:] == ["Install", "Tests"]
    assert "[cuda-c]" in STEPS[-2]["run"]
    assert [step["name"] for step in PROGRAM] == ["Install", "Program"]


def test_its_tests_pass(project):
    done = outcome(project)
    assert done.returncode == 0, done.stdout


def test_its_tests_fail_for_a_race(project):
    file = project / "block_sums.cu"
    assert file.read_text().count(BARRIER) == 1
    file.write_text(file.read_text().replace(BARRIER, "    for"))
    done = outcome(project)
    assert done.returncode == 1
    (said,) = re.findall(r"^    (data race .*\n.*)", PAGE, re.MULTILINE)
    for part in " ".join(said.split()).split("..."):
        assert part.strip("; ") in done.stdout


@pytest.mark.long
def test_its_tests_fail_for_an_index_out_of_range(project):
    file = project / "block_sums.cu"
    file.write_text(file.read_text().replace("i < n ? words[i] : 0", "words[i]"))
    done = outcome(project)
    assert done.returncode == 1
    assert "index [1] of 'words' is out of range" in done.stdout
