"""The objects that installed packages register, by entry points."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mmsim.errors import MMSimError
from mmsim.tracebacks import said


def registered_in(group: str, broken: list[MMSimError] | None = None) -> list[Any]:
    """The results of all functions of an entry point group, in order of entry point name.

    Raises `MMSimError` if a package doesn't load. With `broken`, it adds the error to this list
    instead, and goes on with the other packages.
    """
    found: list[Any] = []
    for point in sorted(entry_points(group=group), key=lambda point: point.name):
        try:
            found += _called(point)
        except MMSimError as error:
            if broken is None:
                raise
            broken.append(error)
    return found


def texts_in(group: str, name: str) -> Iterator[str]:
    """The texts of the files of this name in the folders of an entry point group's packages."""
    tops = {re.split(r"[.:]", point.value)[0] for point in entry_points(group=group)}
    for top in sorted(tops):
        spec = find_spec(top)
        for folder in (spec and spec.submodule_search_locations) or ():
            if (file := Path(folder) / name).is_file():
                yield file.read_text(encoding="utf-8")


def _called(point: EntryPoint) -> list[Any]:
    try:
        return list(point.load()())
    except MMSimError:
        raise
    except (Exception, SystemExit) as error:  # any exception of the package's own code
        raise MMSimError(
            f"the entry point {point.name} = {point.value} of the group {point.group} cannot be "
            f"loaded: {said(error)}"
        ) from error
