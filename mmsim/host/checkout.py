"""The Git commit of files."""

from __future__ import annotations

import subprocess
from pathlib import Path

UNKNOWN = "unknown"


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


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()
