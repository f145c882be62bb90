"""mmsim as a wheel, for students to install."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
PARTS = ("mmsim", "algorithms", "benchmarks/results/gpu", "pyproject.toml", "README.md", "LICENSE")
BUILD = "import sys; from setuptools import build_meta as b; b.build_wheel(sys.argv[1])"


def copy_sources(folder: Path) -> None:
    """Copy what a wheel is built of: building writes next to it."""
    for part in PARTS:
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / part).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / part, folder / part, ignore=ignored)
        else:
            shutil.copy(ROOT / part, folder / part)


def build_wheel(folder: Path) -> Path:
    """Build the wheel in a folder, without a network, by the setuptools that is installed here."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as place:
        copy_sources(Path(place))
        command = [sys.executable, "-c", BUILD, str(folder.resolve())]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the wheel of mmsim was not built:\n{done.stderr}")
    (built,) = folder.glob("*.whl")
    return built
