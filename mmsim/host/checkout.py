"""The address of the repository, and the Git commits of files."""

from __future__ import annotations

import subprocess
from datetime import datetime
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

UNKNOWN = "unknown"
DISTRIBUTION = "memory-machine-simulator"


def repository() -> str:
    """Return the address of the repository: `Repository` of `[project.urls]` in pyproject.toml.

    Empty if pyproject.toml names none, or if mmsim isn't installed.
    """
    try:
        urls = metadata(DISTRIBUTION).get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    named: dict[str, str] = dict(url.split(", ", 1) for url in urls)
    return named.get("Repository", "")


def commit_of(file: Path) -> str:
    """Return the commit checked out at a file's place, with "-dirty" if a file was changed since.

    "unknown" if Git doesn't track the file, as in an installed package, or if there is no Git.

    >>> commit_of(Path("/no/such/folder/file.py"))
    'unknown'
    """
    try:
        _git(file.parent, "ls-files", "--error-unmatch", file.name)
        return _git(file.parent, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    except (OSError, subprocess.CalledProcessError):
        return UNKNOWN


def commit_with(folder: Path, text: str) -> tuple[str, datetime] | None:
    """The first commit in which a JSON file has a text, and its date.

    None if there is none, or no Git. Git is asked in the folder, about the whole repository.

    >>> commit_with(Path("/no/such/folder"), "text")
    """
    asked = ("log", "--reverse", "--format=%H %cI", f"-S{text}", "--", ":(top)*.json")
    try:
        commits = _git(folder, *asked).splitlines()
    except (OSError, subprocess.CalledProcessError):
        return None
    if not commits:
        return None
    commit, date = commits[0].split()
    return commit, datetime.fromisoformat(date)


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()
