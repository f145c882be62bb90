"""The tested versions of all libraries (.ci/constraints), and which of them make takes."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.kit.tools import pythons

ROOT = Path(__file__).parents[2]
LISTS = ROOT / ".ci" / "constraints"
SUPPORTED = [f"{major}.{minor}" for major, minor in pythons.supported()]


def pinned(minor):
    """The version of each library in the list of a Python."""
    lines = (LISTS / f"{minor}.txt").read_text("utf-8").splitlines()
    return dict(line.split("==") for line in lines if not line.startswith("#"))


def required():
    """All that pyproject.toml asks for, except for CuPy, which make does not install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    lists = [project["build-system"]["requires"], project["project"]["dependencies"]]
    extras = project["project"]["optional-dependencies"]
    lists += [extra for name, extra in extras.items() if not name.startswith("gpu")]
    lists += project["dependency-groups"].values()
    return [Requirement(one) for some in lists for one in some if isinstance(one, str)]


def test_each_supported_python_has_a_list():
    assert sorted(path.stem for path in LISTS.iterdir()) == SUPPORTED


@pytest.mark.parametrize("minor", SUPPORTED)
def test_a_list_has_names_and_versions_only(minor):
    for line in (LISTS / f"{minor}.txt").read_text("utf-8").splitlines():
        assert re.fullmatch(r"#[\w ]*:?|[a-z0-9-]+==[\w.+!]+|#    make constraints", line), line


@pytest.mark.parametrize("minor", SUPPORTED)
def test_each_requirement_of_pyproject_is_in_the_list(minor):
    """If this fails after an edit of pyproject.toml: `make constraints`, then `make test`."""
    versions = pinned(minor)
    missing = [
        str(one)
        for one in required()
        if not one.specifier.contains(versions.get(canonicalize_name(one.name), "0"))
    ]
    assert missing == []
    assert {canonicalize_name(one.name) for one in required()} <= set(versions)


@pytest.fixture
def make(tmp_path):
    """Say what make would do in an environment, with a Python of such a version."""
    if shutil.which("make") is None:
        pytest.skip("make isn't installed")
    (tmp_path / "bin").mkdir()
    surroundings = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHON", "MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS")
    }
    surroundings["PATH"] = f"{tmp_path / 'bin'}:{surroundings['PATH']}"

    def would(*words, python="3.12", command="python3"):
        fake = tmp_path / "bin" / command
        fake.write_text(f"#!/bin/sh\necho {python}\n")
        fake.chmod(0o755)
        done = subprocess.run(
            ["make", "-n", f"VENV={tmp_path / 'venv'}", *words],
            cwd=ROOT,
            env=surroundings,
            capture_output=True,
            text=True,
        )
        return done.stdout + done.stderr

    return would


@pytest.mark.parametrize("target", ["test", "verify", "docs"])
@pytest.mark.parametrize("minor", SUPPORTED)
def test_make_takes_the_tested_versions(make, tmp_path, minor, target):
    would = make(target, python=minor)
    assert f"Taking the versions of .ci/constraints/{minor}.txt" in would
    file = tmp_path / "venv" / "constraints.txt"
    assert f"cat .ci/constraints/{minor}.txt /dev/null > {file}" in would
    installs = [line for line in would.splitlines() if " install " in line]
    assert len(installs) >= 2
    for line in installs:
        assert line.startswith(f"PIP_CONSTRAINT={file} PIP_BUILD_CONSTRAINT={file} ")


def test_make_takes_the_newest_versions_for_a_python_without_a_list(make):
    would = make("test", python="3.99")
    assert "Taking the newest version of each library" in would
    assert "cat  /dev/null > " in would


def test_a_second_target_takes_the_newest_versions(make):
    would = make("test-newest")
    assert "rm -rf build/newest" in would
    assert "build/newest/bin/mypy --strict" in would
    assert "Taking the newest version of each library" in would


def test_another_python_that_is_asked_for_replaces_that_of_the_environment(make, tmp_path):
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / ".made-3.12").touch()
    assert "-m venv" not in make("test", python="3.11")
    assert ".ci/constraints/3.12.txt" in make("test", python="3.11")
    asked = make("test", "PYTHON=another", python="3.13", command="another")
    assert "another -m venv --clear" in asked
    assert ".ci/constraints/3.13.txt" in asked
    same = make("test", "PYTHON=another", python="3.12", command="another")
    assert "-m venv" not in same


def test_a_python_that_is_too_old_is_refused(make):
    assert 'try "make PYTHON=python3.12"' in make("test", python="")
