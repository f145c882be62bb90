"""How much memory the system leaves this process.

Linux has several accounts of it, and the least of them counts: the machine's own free memory, the
limits of the control groups that the process is in (a container's, a batch job's, a systemd
service's) and of all groups around those, and the limits of the process itself (``ulimit -v``).
Swap is not counted: a simulation that needs it would never end.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path("/")


def available(root: Path = ROOT) -> int | None:
    """Bytes that this process may still take, None where the system does not say.

    `root` is where the files of the system begin.
    """
    free = _free(root)
    left = [*_left_by_groups(root), *_left_of_limits(root), *([] if free is None else [free])]
    return max(min(left), 0) if left else None


def _free(root: Path) -> int | None:
    """What the machine has free, or where that is not known, what it has."""
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
    """The files in which a version of control groups keeps its account of memory.

    Of several limits the least counts. `cache` is what the kernel gives back when it is short.
    """

    limits: tuple[str, ...]
    used: str
    cache: str


VERSION_2 = Account(("memory.max", "memory.high"), "memory.current", "inactive_file")
"""Above `memory.high` the kernel slows a process down until it stands still: a limit too."""
VERSION_1 = Account(("memory.limit_in_bytes",), "memory.usage_in_bytes", "total_inactive_file")


def _left_by_groups(root: Path) -> Iterator[int]:
    """What each control group around this process leaves of its memory."""
    for account, mounted, group in _groups(root):
        while True:
            left = _left(account, group)
            if left is not None:
                yield left
            if group == mounted:
                break
            group = group.parent


def _groups(root: Path) -> Iterator[tuple[Account, Path, Path]]:
    """For each hierarchy that counts memory: where it is mounted, and this process's group."""
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
    """The part of a group's path below the group that is mounted; none if it is not below it."""
    parts, tops = path.strip("/").split("/"), top.strip("/").split("/")
    if top.strip("/") and parts[: len(tops)] == tops:
        parts = parts[len(tops) :]
    elif top.strip("/"):
        return ""
    return "" if ".." in parts else "/".join(parts)


def _unescaped(path: str) -> str:
    """A path as mountinfo writes it: a space is \\040."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), path)


def _left(account: Account, group: Path) -> int | None:
    """What one group leaves, None where it has no limit."""
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
    """The most bytes of addresses (``ulimit -v``) and of data (``ulimit -d``), None for any."""
    try:
        import resource
    except ImportError:  # no such limits on Windows
        return None, None
    soft = [resource.getrlimit(one)[0] for one in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    addresses, data = (None if one == resource.RLIM_INFINITY else one for one in soft)
    return addresses, data


def _left_of_limits(root: Path) -> Iterator[int]:
    """What the process's own limits leave of its addresses and of its data."""
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
