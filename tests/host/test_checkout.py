"""Which commit files belong to."""

import shutil
import subprocess

import pytest

from mmsim.host.checkout import UNKNOWN, commit_of


def git(folder, *arguments):
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    command = ["git", *who, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no Git")
def test_the_commit_of_a_file(tmp_path):
    file, other = tmp_path / "one.py", tmp_path / "other.py"
    file.write_text("1")
    other.write_text("2")
    assert commit_of(file) == UNKNOWN  # no repository
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "one.py")
    git(tmp_path, "commit", "-q", "-m", "one")
    git(tmp_path, "tag", "-a", "v1", "-m", "a tag is not part of the name")
    head = git(tmp_path, "rev-parse", "HEAD").strip()
    assert commit_of(file) == head
    assert commit_of(other) == UNKNOWN  # as an installed package in a folder of the repository
    file.write_text("3")
    assert commit_of(file) == f"{head}-dirty"


def test_without_git_it_is_unknown(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit_of(tmp_path / "one.py") == UNKNOWN
