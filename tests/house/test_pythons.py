"""The Pythons that `tests/kit/tools/pythons.py` finds, and the tests that it runs on them."""

import ast
import os
import platform
import sys
from pathlib import Path

import pytest

from tests.kit.long_variants import LONG
from tests.kit.tools import pythons

TESTS = Path(__file__).parents[1]
PLAIN = (3, 12)


def fake(path, said, status=0):
    """A program that says of itself that it is such a Python."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho {said}\nexit {status}\n")
    path.chmod(0o755)
    return path


def defined(file):
    """The names of the tests of a file."""
    (path,) = TESTS.glob(f"*/test_{file}")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_a_python_prints_its_minor_version(tmp_path):
    assert pythons.version(Path(sys.executable)) == sys.version_info[:2]
    assert pythons.version(fake(tmp_path / "right", "cpython 3 12")) == PLAIN


@pytest.mark.parametrize(
    ("said", "status"), [("pypy 3 12", 0), ("cpython 3 12", 1), ("", 0), ("cpython", 0)]
)
def test_what_is_no_working_cpython_is_none(tmp_path, said, status):
    assert pythons.version(fake(tmp_path / "odd", said, status)) is None


def test_what_cannot_be_started_is_none(tmp_path):
    assert pythons.version(tmp_path / "missing") is None
    (tmp_path / "text").write_text("no program")
    assert pythons.version(tmp_path / "text") is None


def test_pythons_come_from_pyenv_and_the_path(tmp_path, monkeypatch):
    kept = fake(tmp_path / "pyenv/versions/3.12.1/bin/python", "cpython 3 12")
    other = fake(tmp_path / "bin/python3.13", "cpython 3 13")
    fake(tmp_path / "bin/python3.13-config", "cpython 3 13")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("PATH", os.pathsep.join(map(str, [tmp_path / "none", tmp_path / "bin"])))
    assert pythons.candidates() == [Path(sys.executable), kept, other]


def test_the_first_python_of_each_minor_version_from_3_11_on_is_taken(tmp_path):
    old = fake(tmp_path / "old", "cpython 3 10")
    late = fake(tmp_path / "late", "cpython 3 13")
    first = fake(tmp_path / "first", "cpython 3 11")
    second = fake(tmp_path / "second", "cpython 3 11")
    broken = fake(tmp_path / "broken", "cpython 3 12", status=1)
    found = pythons.first_of_each([old, late, broken, first, second])
    assert list(found.items()) == [((3, 11), first), ((3, 13), late)]


def test_each_python_has_the_oldest_libraries_and_the_newest():
    tried = pythons.environments({(3, 11): Path("a"), PLAIN: Path("b")})
    assert [(each.name, each.base) for each in tried] == [
        ("3.11-oldest", Path("a")),
        ("3.11-newest", Path("a")),
        ("3.12-oldest", Path("b")),
        ("3.12-newest", Path("b")),
    ]


def test_the_versions_of_an_environment_are_reported():
    said = pythons.versions(Path(sys.executable)).split()
    assert said[:2] == ["Python", platform.python_version()]
    assert f"pytest=={pytest.__version__}" in said


@pytest.mark.parametrize(
    ("way", "programs"), [("oldest", ["pytest"]), ("newest", ["pytest", "mypy"])]
)
def test_types_are_checked_with_the_newest_libraries(tmp_path, monkeypatch, way, programs):
    monkeypatch.setattr(pythons, "PLACE", tmp_path)
    environment = pythons.Environment(PLAIN, Path("python"), way)
    environment.python.parent.mkdir(parents=True)
    environment.python.write_text(f"#!/bin/sh\necho $2 >> {tmp_path / 'run'}\n")
    environment.python.chmod(0o755)
    with (tmp_path / "log").open("w") as said:
        assert pythons.passed(environment, [], said)
    assert (tmp_path / "run").read_text().split() == programs


def test_the_pythons_that_pyproject_names_are_from_the_oldest_on():
    assert pythons.supported()[0] == pythons.OLDEST
    assert pythons.supported() == sorted(set(pythons.supported()))


def test_what_is_left_out_exists():
    files = {path.stem.removeprefix("test_") for path in TESTS.glob("*/test_*.py")}
    assert set(pythons.SLOW_FILES) <= files
    assert sorted(set(pythons.SLOW_FILES)) == pythons.SLOW_FILES
    for listed in (pythons.SLOW_TESTS, pythons.SAMPLES):
        assert sorted(set(listed)) == listed
        for name in listed:
            file, test = name.split("::")
            assert test.split("[")[0] in defined(file), name


def test_single_tests_are_left_out_of_files_that_run_and_run_of_files_that_are_left_out():
    for name in pythons.SLOW_TESTS:
        assert name.split(".py::")[0] not in pythons.SLOW_FILES, name
    for name in pythons.SAMPLES:
        assert name.split(".py::")[0] in pythons.SLOW_FILES, name


def test_variants_left_to_the_long_tests_exist():
    for name in LONG:
        file, test = name.split("::")
        assert test.split("[")[0] in defined(file.split("test_")[1]), name


def test_a_new_file_of_tests_is_run():
    shown = pythons.chosen()
    assert "tests/house/test_pythons.py" in shown
    assert "tests/docs/test_docs.py" not in shown
    assert "tests/view/test_figures.py" not in shown
    assert "tests/view/test_figures.py::test_the_whole_figure_is_saved" in shown
    assert "--deselect=tests/results/test_trace.py::test_cycles_of_random_programs" in shown


def test_the_corners_leave_out_what_is_built_on_the_library():
    assert {path.name for path in TESTS.iterdir()} >= set(pythons.NOT_IN_CORNERS)
    shown = pythons.chosen(pythons.NOT_IN_CORNERS)
    assert set(shown) < set(pythons.chosen())
    folders = {name.removeprefix("--deselect=").split("/")[1] for name in shown}
    assert folders & set(pythons.NOT_IN_CORNERS) == set()
    assert folders >= {"cli", "engines", "frontend", "meaning", "model", "results", "view"}


@pytest.mark.parametrize(
    ("minors", "names"),
    [
        ([(3, 11), (3, 12), (3, 13)], ["3.11-oldest", "3.13-newest"]),
        ([(3, 12)], ["3.12-oldest", "3.12-newest"]),
    ],
)
def test_the_corners_are_the_oldest_and_the_newest(minors, names):
    tried = pythons.environments(dict.fromkeys(minors, Path("python")))
    assert [one.name for one in pythons.corners(tried)] == names
