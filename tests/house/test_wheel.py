"""The wheel: what is in it, and that it can be installed with the other `algorithms` of PyPI.

It is built by the backend that is installed here, without a network.
"""

import importlib.util
import os
import re
import subprocess
import sys
import zipfile
from importlib.metadata import (
    Distribution,
    PackageNotFoundError,
    distribution,
    packages_distributions,
    version,
)
from pathlib import Path

import pytest
from course.wheel import build_wheel
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import mmsim_algorithms
from tests.kit.tools import installing

ROOT = Path(__file__).parents[2]
PIP = [sys.executable, "-m", "pip", "install", "-qq", "--no-index", "--no-deps"]


def cannot_build():
    """The reason why no wheel can be built and installed here, or nothing."""
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
            if path.name == "README.md":  # for readers of the source
                assert f"{name}/{path.relative_to(ROOT / folder).as_posix()}" not in names
            elif path.is_file() and path.suffix != ".pyc":
                assert f"{name}/{path.relative_to(ROOT / folder).as_posix()}" in names
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"mmsim", "mmsim_algorithms"}


@pytest.mark.parametrize("ours_first", [True, False])
def test_it_is_installed_next_to_the_other_algorithms(wheel, tmp_path, ours_first):
    place, other = tmp_path / "site-packages", tmp_path / "algorithms-1.0-py3-none-any.whl"
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
        "from mmsim.proof.kept import kept_outcomes\n"
        "diagonal = [claim for claim in registered() if claim.id == 'SMM-L5.1']\n"
        "assert kept_outcomes(diagonal)['SMM-L5.1'].proved\n"
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


HIDE = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hidden())
"""


def needed(found, known):
    """Add to the names of distributions all that they require on this machine, without extras."""
    for text in found.requires or ():
        requirement = Requirement(text)
        name = canonicalize_name(requirement.name)
        if name not in known and (not requirement.marker or requirement.marker.evaluate()):
            known.add(name)
            needed(distribution(name), known)
    return known


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A folder with what is in the wheel; the libraries that it does not require are hidden."""
    place = tmp_path_factory.mktemp("installed")
    subprocess.run([*PIP, "--target", place, wheel], capture_output=True, check=True)
    (metadata,) = place.glob("*.dist-info")
    allowed = needed(Distribution.at(metadata), {"memory-machine-simulator"})
    names = {
        name
        for name, owners in packages_distributions().items()
        if not allowed & set(map(canonicalize_name, owners))
    }
    assert {"pytest", "cffi"} <= names
    assert not {"numpy", "joblib", "mmsim"} & names
    (place / "sitecustomize.py").write_text(HIDE.format(names=names))
    return place


COMMANDS = dict.fromkeys(installing.listed())
FIRST = {command.split()[1]: command for command in reversed(COMMANDS)}.values()
"""One of each kind; `make bare` and the long tests run all."""


@pytest.mark.parametrize(
    "command",
    [one if one in FIRST else pytest.param(one, marks=pytest.mark.long) for one in COMMANDS],
)
def test_each_command_of_the_readme_works_after_pip_install(installed, tmp_path, command):
    name, *words = installing.ready(command, tmp_path)
    assert name == "mmsim"
    environment = {**os.environ, "PYTHONPATH": str(installed), "PYTHONSAFEPATH": "1"}
    done = subprocess.run(
        [sys.executable, "-m", name, *words],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert installing.went_well(command, done.returncode, done.stderr), done.stdout + done.stderr


def test_commands_are_read_with_their_files(tmp_path):
    assert "mmsim conflicts 'padded 1' --tile 32x32" in installing.listed()
    words = installing.ready("mmsim run mine.py:copy arange:4x4 zeros:4x4 --threads 16", tmp_path)
    assert words[:3] == ["mmsim", "run", "mine.py:copy"]
    assert "def copy(T, a, b):" in (tmp_path / "mine.py").read_text()
    assert installing.ready("mmsim bench scheduled", tmp_path)[-2:] == ["--repeat", "1"]
    assert installing.went_well("mmsim gpu", 1, "no GPU")
    assert not installing.went_well("mmsim run", 1, "")
    assert not installing.went_well("mmsim run", 0, "Traceback")


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
