"""Files in mmsim's cache directory: written as a whole, and read only if they are undamaged."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from mmsim.host import ownership

DIGEST = 32
"""Bytes of a SHA-256, with which a file begins."""


def cache_directory() -> Path | None:
    """The directory of what is compiled: MMSIM_CACHE_DIR, or the user's cache directory, if any."""
    if given := os.environ.get("MMSIM_CACHE_DIR"):
        return Path(given)
    return users_directory("XDG_CACHE_HOME", ".cache", "Caches")


def data_directory() -> Path | None:
    """The directory of what the user keeps: MMSIM_DATA_DIR, or that of the user's data, if any."""
    if given := os.environ.get("MMSIM_DATA_DIR"):
        return Path(given)
    return users_directory("XDG_DATA_HOME", ".local/share", "Application Support")


def users_directory(variable: str, usual: str, on_mac: str) -> Path | None:
    """The directory of mmsim among the user's: as a variable says, or at the usual place."""
    try:
        home = Path.home()
    except RuntimeError:  # HOME is not set, and the system does not know the user
        home = Path()
    if sys.platform == "win32":
        found = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        found = home / "Library" / on_mac
    else:
        found = Path(os.environ.get(variable) or home / usual)
    return found / "mmsim" if found.is_absolute() else None


def read(file: Path) -> bytes | None:
    """The contents of a file that `write` made; None if there is none, or a damaged one.

    Raises `NotOwnError` if another user can have written it.
    """
    try:
        data = ownership.read(file)
    except OSError:
        return None
    body = data[DIGEST:]
    return body if hashlib.sha256(body).digest() == data[:DIGEST] else None


def write(file: Path, body: bytes) -> None:
    """Write a file in a folder, if possible. Two processes may do this at the same time."""
    with suppress(OSError):  # the disk is full, or can't be written
        descriptor, name = tempfile.mkstemp(dir=file.parent, suffix=".tmp")
        try:
            with open(descriptor, "wb") as new:
                new.write(hashlib.sha256(body).digest() + body)
            os.replace(name, file)
        except OSError:
            os.unlink(name)
            raise
