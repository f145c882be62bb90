"""The engine's JavaScript, checked by TypeScript's compiler, which `make tsc` fetches."""

import shutil
import subprocess

import pytest

from tests.kit import ROOT

FOLDER = ROOT / "build" / "tsc"
SOURCES = "mmsim/javascript"
OPTIONS = "tests/javascript/tsconfig.json"

pytestmark = pytest.mark.long


@pytest.fixture
def compiler():
    """The command that runs the compiler, or a skip that says how to get it."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js isn't there, which runs TypeScript's compiler")
    scripts = sorted(FOLDER.glob("*/_tsc.js"))
    if not scripts:
        pytest.skip("TypeScript's compiler isn't there: make tsc")
    return [node, str(scripts[-1])]


def found(compiler, root):
    """The lines in which the compiler says what is wrong with the engine in a copy of this tree."""
    command = [*compiler, "--pretty", "false", "--project", OPTIONS]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)
    lines = ended.stdout.splitlines()
    assert (ended.returncode == 0) == (not lines), ended.stderr
    return lines


def test_the_types_of_the_engine_agree(compiler):
    assert found(compiler, ROOT) == []


def test_a_wrong_name_and_an_argument_too_many_are_found(tmp_path, compiler):
    for path in [*(ROOT / SOURCES).glob("*.js"), ROOT / OPTIONS]:
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    units = tmp_path / SOURCES / "units.js"
    text, right = units.read_text("utf-8"), "completionTime(0, stages, this.latency)"
    assert text.count(right) == 1
    wrong = "completionTime(0, stages, this.latencies, 0)"
    units.write_text(text.replace(right, wrong), "utf-8")
    name, count = sorted(found(compiler, tmp_path))
    assert name.startswith(f"{SOURCES}/units.js(")
    assert "'latencies' does not exist on type 'MemoryUnit'" in name
    assert count.startswith(f"{SOURCES}/units.js(")
    assert "but got 4" in count
