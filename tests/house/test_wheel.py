"""The wheel: what is in it, and that it can be installed with the other `algorithms` of PyPI.

It is built by the backend that is installed here, without a network.
"""

import importlib.util
import os
import re
import subprocess
import sys
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from course.wheel import build_wheel

import mmsim_algorithms

ROOT = Path(__file__).parents[2]
PIP = [sys.executable, "-m", "pip", "install", "-qq", "--no-index", "--no-deps"]


def cannot_build():
    """Why no wheel can be built and installed here, or nothing."""
    if importlib.util.find_spec("pip") is None:
        return "pip isn't installed"
    needed = int(re.search(r"setuptools>=(\d+)", (ROOT / "pyproject.toml").read_text())[1])
    try:
        found = int(version("setuptools").split(".")[0])
    except PackageNotFoundError:
        return "setuptools isn't installed"
    return f"setuptools {found} is older than {needed}" if found < needed else ""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, as `make course` builds it for students."""
    if why := cannot_build():
        pytest.skip(why)
    return build_wheel(tmp_path_factory.mktemp("wheel"))


def test_the_wheel_has_every_file_under_our_names(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder, name in (("mmsim", "mmsim"), ("algorithms", "mmsim_algorithms")):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and path.suffix != ".pyc":
                assert f"{name}/{path.relative_to(ROOT / folder).as_posix()}" in names
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"mmsim", "mmsim_algorithms"}


@pytest.mark.parametrize("ours_first", [True, False])
def test_it_is_installed_next_to_the_other_algorithms(wheel, tmp_path, ours_first):
    place, other = tmp_path / "installed", tmp_path / "algorithms-1.0-py3-none-any.whl"
    with zipfile.ZipFile(other, "w") as file:
        file.writestr("algorithms/__init__.py", "WHOSE = 'theirs'\n")
        file.writestr("algorithms/transpose.py", "")
        metadata = "Metadata-Version: 2.1\nName: algorithms\nVersion: 1.0\n"
        file.writestr("algorithms-1.0.dist-info/METADATA", metadata)
        file.writestr("algorithms-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        file.writestr("algorithms-1.0.dist-info/RECORD", "algorithms/__init__.py,,\n")
    for one in (wheel, other) if ours_first else (other, wheel):
        subprocess.run([*PIP, "--target", place, one], capture_output=True, check=True)
    code = (
        "import algorithms, mmsim, mmsim_algorithms\n"
        "from mmsim.claims import registered\n"
        "from mmsim_algorithms.printed import table\n"
        "assert algorithms.WHOSE == 'theirs'\n"
        "assert table('rap_table2')\n"
        "print(mmsim.__file__, mmsim_algorithms.__file__)\n"
        "print(len(registered()), len(mmsim_algorithms.programs()))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(place), "PYTHONSAFEPATH": "1"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    where, counts = done.stdout.splitlines()
    assert all(file.startswith(str(place)) for file in where.split())
    claims, programs = mmsim_algorithms.claims(), mmsim_algorithms.programs()
    assert counts == f"{len(claims)} {len(programs)}"


def test_nothing_of_mmsim_is_imported_as_algorithms():
    """Not from a folder that is not a source tree, where the name is free for the other package."""
    code = "import importlib.util; print(importlib.util.find_spec('algorithms'))"
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "None"
    assert importlib.util.find_spec("mmsim_algorithms") is not None
