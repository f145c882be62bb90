"""Ownership of files: only this user can have written one, before mmsim executes its contents.

The rule is OpenSSH's for a user's keys. The file, its folder, and every folder and link on the way
belong to this user or to root, and other users can't write to them. A folder on the way may be
sticky, like /tmp: there, a user can move only the user's own files. Windows has no such owners and
modes, so nothing is checked there.
"""

from __future__ import annotations

import os
import stat
import sys
from functools import cache
from pathlib import Path


class NotOwnError(Exception):
    """Another user can have written the file at a path; names the path and the reason."""


def check_folder(folder: Path, make: bool = False) -> None:
    """Raise `NotOwnError` if another user can write to a folder, or put another in its place.

    With `make`, missing folders are made, for this user alone. Raises OSError if it is not a
    folder.
    """
    if sys.platform == "win32":
        if make:
            folder.mkdir(parents=True, exist_ok=True)
        return
    here = Path("/")
    left = [*reversed((folder if folder.is_absolute() else Path.cwd() / folder).parts)]
    links = 0
    while left:
        there = here / left.pop()
        if there.name == "..":  # `here` has no links in it
            here = here.parent
            continue
        if make:
            _make(there)
        about = os.lstat(there)
        if stat.S_ISLNK(about.st_mode):
            _check_owner(there, about)
            links += 1
            if links > 40:  # Linux's limit
                raise OSError(f"too many links on the way to {folder}")
            left += reversed(Path(os.readlink(there)).parts)
            continue
        if not stat.S_ISDIR(about.st_mode):
            raise NotADirectoryError(f"{there} is not a folder")
        _check_owner(there, about)
        if not (left and about.st_mode & stat.S_ISVTX):
            _check_mode(there, about)
        here = there


def read(file: Path) -> bytes:
    """Return the contents of a file in a checked folder. Raises OSError and `NotOwnError`."""
    with open(file, "rb", opener=_without_links) as opened:
        about = os.fstat(opened.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise OSError(f"{file} is not a file")
        if sys.platform != "win32":
            _check_owner(file, about)
            _check_mode(file, about)
        return opened.read()


def _without_links(path: str, flags: int) -> int:
    # A pipe is opened without waiting for its other end.
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _make(folder: Path) -> None:
    if not os.path.lexists(folder):
        folder.mkdir(mode=0o700, exist_ok=True)  # another process may do this at the same time


def _check_owner(path: Path, about: os.stat_result) -> None:
    if about.st_uid not in (0, os.getuid()):
        raise NotOwnError(
            f"{path} belongs to user {about.st_uid}, and this process to user {os.getuid()}"
        )


def _check_mode(path: Path, about: os.stat_result) -> None:
    mode = about.st_mode
    if mode & stat.S_IWOTH or (mode & stat.S_IWGRP and not _mine_alone(path, about.st_gid)):
        raise NotOwnError(
            f"other users can write to {path}, whose mode is {stat.filemode(mode)} "
            f"(chmod go-w {path})"
        )


def _mine_alone(path: Path, group: int) -> bool:
    """Return whether only this user has the rights of a group here: no access list names others.

    With such a list, the group bits of the mode stand for all that it names.
    """
    if sys.platform != "linux":
        return False
    try:
        return "system.posix_acl_access" not in os.listxattr(path) and _is_own(group)
    except OSError:
        return False


@cache
def _is_own(group: int) -> bool:
    """Return whether a group is the one that Linux made for this user, without other members."""
    import grp
    import pwd

    try:
        me, it = pwd.getpwuid(os.getuid()), grp.getgrgid(group)
    except KeyError:  # without a name
        return False
    of_it = {*it.gr_mem, *(one.pw_name for one in pwd.getpwall() if one.pw_gid == group)}
    return it.gr_gid == me.pw_gid and it.gr_name == me.pw_name and of_it == {me.pw_name}
