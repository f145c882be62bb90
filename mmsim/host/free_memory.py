"""The memory that the system leaves to this process, and asking for it before an object is made.

Linux has several accounts of it, and the least one counts. These are the machine's free memory, the
limits of the process's control groups (a container's, a batch job's, a systemd service's) and of
all groups around them, and the limits of the process itself (``ulimit -v``). Swap doesn't count: a
simulation that needs it would never end.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mmsim.errors import RoomError

ROOT = Path("/")
GIB = 2**30
SMALL = 2**26  # bytes that need no check


def available(root: Path = ROOT) -> int | None:
    """Return the bytes that this process may still take, None if the system does not say.

    `root` is the root folder of the system's files.
    """
    free = _free(root)
    left = [*_left_by_groups(root), *_left_of_limits(root), *([] if free is None else [free])]
    return max(min(left), 0) if left else None


def require_memory(what: str, needed: int, detail: str = "", advice: str = "take less") -> None:
    """Raise a `RoomError` for an object that needs more bytes than there are."""
    if needed < SMALL:
        return
    free = available()
    if free is None or needed <= free:
        return
    raise RoomError(
        f"{what} needs about {needed / GIB:,.1f} GiB{detail}, but only {free / GIB:,.1f} GiB are "
        f"free; {advice}"
    )


def _free(root: Path) -> int | None:
    """The free memory of the machine or, if unknown, its whole memory."""
    try:
        lines = (root / "proc/meminfo").read_text(encoding="ascii").splitlines()
        return (
            next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")) * 1024
        )
    except (OSError, StopIteration, ValueError, IndexError):
        try:
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        except (AttributeError, ValueError, OSError):
            return None


# ------------------------------------------------------------------ control groups


class Account(NamedTuple):
    """The files of one version of control groups with its account of memory.

    Of several limits, the least counts. `cache` is the memory that the kernel releases if needed.
    """

    limits: tuple[str, ...]
    used: str
    cache: str


VERSION_2 = Account(("memory.max", "memory.high"), "memory.current", "inactive_file")
"""Above `memory.high` the kernel slows a process down until it stands still: a limit too."""
VERSION_1 = Account(("memory.limit_in_bytes",), "memory.usage_in_bytes", "total_inactive_file")


def _left_by_groups(root: Path) -> Iterator[int]:
    """The memory that each control group around this process leaves."""
    for account, mounted, group in _groups(root):
        while True:
            left = _left(account, group)
            if left is not None:
                yield left
            if group == mounted:
                break
            group = group.parent


def _groups(root: Path) -> Iterator[tuple[Account, Path, Path]]:
    """For each hierarchy that counts memory: its mount point, and this process's group."""
    try:
        own = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
        mounts = (root / "proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return
    paths: dict[str, str] = {}  # by controller; version 2 has none
    for line in own:
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        paths |= dict.fromkeys(controllers.split(","), path)
    for line in mounts:
        about, _, kind = line.partition(" - ")
        fields, (type_, *_, options) = about.split(), kind.split() or ("", "")
        if type_ == "cgroup2":
            account, controller = VERSION_2, ""
        elif type_ == "cgroup" and "memory" in options.split(","):
            account, controller = VERSION_1, "memory"
        else:
            continue
        if controller in paths and len(fields) > 4:
            top, point = map(_unescaped, fields[3:5])
            mounted = root / point.lstrip("/")
            yield account, mounted, mounted / _below(paths[controller], top)


def _below(path: str, top: str) -> str:
    """The part of a group's path below the mounted group; empty if it is not below it."""
    parts, tops = path.strip("/").split("/"), top.strip("/").split("/")
    if top.strip("/") and parts[: len(tops)] == tops:
        parts = parts[len(tops) :]
    elif top.strip("/"):
        return ""
    return "" if ".." in parts else "/".join(parts)


def _unescaped(path: str) -> str:
    """A path from mountinfo, in which a space is \\040."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), path)


def _left(account: Account, group: Path) -> int | None:
    """The memory that one group leaves, None without a limit."""
    limits = [_number(group / name) for name in account.limits]
    known = [limit for limit in limits if limit is not None]
    used = _number(group / account.used)
    if not known or used is None:
        return None
    return min(known) - used + _cached(group, account.cache)


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text(encoding="ascii"))
    except (OSError, ValueError):  # "max" means no limit
        return None


def _cached(group: Path, name: str) -> int:
    try:
        words = (group / "memory.stat").read_text(encoding="ascii").split()
        return int(words[words.index(name) + 1])
    except (OSError, ValueError, IndexError):
        return 0


# ------------------------------------------------------------------ the limits of the process


def limits_of_process() -> tuple[int | None, int | None]:
    """The limits of addresses (``ulimit -v``) and of data (``ulimit -d``) in bytes, or None."""
    try:
        import resource
    except ImportError:  # no such limits on Windows
        return None, None
    soft = [resource.getrlimit(one)[0] for one in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    addresses, data = (None if one == resource.RLIM_INFINITY else one for one in soft)
    return addresses, data


def _left_of_limits(root: Path) -> Iterator[int]:
    """The bytes of addresses and of data that the process's own limits leave."""
    limits = limits_of_process()
    if limits == (None, None):
        return
    try:
        pages = list(map(int, (root / "proc/self/statm").read_text(encoding="ascii").split()))
        used = [pages[number] * os.sysconf("SC_PAGE_SIZE") for number in (0, 5)]
    except (OSError, ValueError, IndexError):
        used = [0, 0]
    for most, taken in zip(limits, used, strict=True):
        if most is not None:
            yield most - taken
