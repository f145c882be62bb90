"""Checks of users' arguments, with a message for every wrong one."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from mmsim.errors import LaunchError, shown
from mmsim.printable import printable


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether a value is a whole number of Python or NumPy: no bool, and no duration."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)


def whole(name: str, value: object, least: int | None = 1) -> None:
    """Refuse a count that is not a whole number from `least` on."""
    if not is_whole(value):
        raise LaunchError(f"{name} must be a whole number, not {shown(value)}")
    if least is not None and value < least:
        raise LaunchError(f"{name}={shown(value)}, but it must be at least {least}")


def one_of(name: str, value: object, known: tuple[str, ...]) -> None:
    """Refuse a value that isn't one of a few words."""
    if not isinstance(value, str) or value not in known:
        listed = " or ".join(map(repr, known))
        raise LaunchError(f"{name}={shown(value)}, but {name} must be {listed}")


def yes_or_no(name: str, value: object) -> bool:
    """Return True or False; refuse any other value."""
    if not isinstance(value, bool | np.bool_):
        raise LaunchError(f"{name}={shown(value)}, but {name} must be True or False")
    return bool(value)


def file_path(name: str, value: str | PathLike[str]) -> Path:
    """Return the path of a file; refuse a value that can't name one."""
    if not isinstance(value, str | PathLike) or "\0" in str(value):
        raise LaunchError(f"{name}={shown(value)}, but {name} must be the name of a file")
    return Path(value)


def two_names(names: Any) -> tuple[str, str]:
    """The names that a caller gave for two things, fit to be printed."""
    texts = [printable(str(name)) for name in several("names are two texts", names)]
    if len(texts) != 2:
        raise LaunchError(f"names has {len(texts)} texts; give one for each of the two")
    return texts[0], texts[1]


def several(what: str, value: Any) -> list[Any]:
    """Return the items of a list or of any other collection."""
    try:
        return list(value)
    except TypeError:
        raise LaunchError(f"{what}, not {shown(value)}") from None
