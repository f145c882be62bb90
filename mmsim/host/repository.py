"""The place of mmsim's source code."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, metadata

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
