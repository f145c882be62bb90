"""The address of the repository, and the Git commits of files."""

from __future__ import annotations

import subprocess
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
        git(file.parent, "ls-files", "--error-unmatch", file.name)
        return git(file.parent, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    except (OSError, subprocess.CalledProcessError):
        return UNKNOWN


def git(folder: Path, *arguments: str) -> str:
    """The output of a command of Git in a folder."""
    done = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()
