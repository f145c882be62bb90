"""The lines of Python in the library and in the tests: a number that only goes down.

A new capability may raise it, in the commit that brings the capability.
"""

import shutil
import subprocess

import pytest

from tests.kit import ROOT

LINES = {"mmsim": 87959, "tests": 106350}
NEAR = 100
"""So many lines below the number kept are allowed."""


def lines_of(folder):
    """All lines of the Python files in a folder that git tracks."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", f"{folder}/*.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    files = [ROOT / name for name in listed.split("\0") if name]
    return sum(len(file.read_bytes().splitlines()) for file in files if file.exists())


@pytest.mark.skipif(not shutil.which("git") or not (ROOT / ".git").exists(), reason="needs git")
@pytest.mark.parametrize("folder", LINES)
def test_there_are_no_more_lines_than_before(folder):
    found, kept = lines_of(folder), LINES[folder]
    assert found <= kept, f"{found - kept} lines more than {kept} in {folder}"
    assert found >= kept - NEAR, f"lower the number of {folder} to {found}"
