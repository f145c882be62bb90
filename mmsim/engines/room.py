"""Whether a run, or what prepares it, fits into the memory there is."""

from __future__ import annotations

import os
from pathlib import Path

from mmsim.errors import RoomError
from mmsim.launch import Launch

GIB = 2**30
SMALL = 2**26  # bytes that nobody asks about


def available() -> int | None:
    """Bytes that this process may still take, None where the system doesn't say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        try:
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        except (AttributeError, ValueError, OSError):
            return None
    return min(free * 1024, _left_of_the_group())


def _left_of_the_group() -> int:
    """What a control group (a container's limit) leaves of its memory."""
    group = Path("/sys/fs/cgroup")
    try:
        most = int((group / "memory.max").read_text())
        used = int((group / "memory.current").read_text())
        statistics = (group / "memory.stat").read_text().split()
        cache = int(statistics[statistics.index("inactive_file") + 1])
    except (OSError, ValueError, IndexError):
        return 2**63
    return most - used + cache


def check_room(launch: Launch, needed: int) -> None:
    """Refuse a run that needs more bytes than there are."""
    threads = launch.grid.threads
    require_room(
        f"program {launch.program.name!r} with {threads} threads",
        needed,
        f" ({needed // threads:,} bytes a thread)",
        "take fewer threads, smaller arrays or a narrower type",
    )


def require_room(what: str, needed: int, detail: str = "", advice: str = "take less") -> None:
    """Refuse, with a `RoomError`, anything that needs more bytes than there are."""
    if needed < SMALL:
        return
    free = available()
    if free is None or needed <= free:
        return
    raise RoomError(
        f"{what} needs about {needed / GIB:,.1f} GiB{detail}, but only {free / GIB:,.1f} GiB are "
        f"free; {advice}"
    )


def copies(launch: Launch) -> int:
    """Bytes of the parameters that are copied because the program writes them."""
    arrays = launch.arrays.values()
    return sum(
        array.size * array.dtype.itemsize for array in arrays if array.written and not array.shared
    )
