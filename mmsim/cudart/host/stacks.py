"""The line of the host that made an allocation, and those of the calls that led there."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from mmsim.frontend.ptx.raw import Allocation, Calls

HEADERS = ("/include/", "/cccl/")
"""Parts of the names of folders with headers that aren't the program's own."""
MOST = 4
"""The most lines that a message names."""


def described(found: Allocation) -> str:
    """The size of an allocation, and the host's line that made it."""
    lines = lines_of(found.calls)[:MOST]
    what = f"the variable {found.variable!r}, " if found.variable else ""
    allocated = f", allocated in {', called from '.join(lines)}" if lines else ""
    return f"{what}{found.size} bytes{allocated}"


def placed(address: int, nearest: Allocation) -> str:
    """The place of an address in or beside the allocation that is nearest to it."""
    before, behind = nearest.address - address, address - nearest.address - nearest.size
    where = f"{before} bytes before" if before > 0 else f"{behind} bytes past the end of"
    if before <= 0 and behind < 0:
        where = "in"
    freed = ", which was freed" if nearest.is_freed else ""
    return f"{where} an allocation of {described(nearest)}{freed}"


def lines_of(calls: Calls) -> list[str]:
    """The line of each call in the program's own files, as "a.cu:12 (main)", up to `main`.

    The line table of the program has them, which `addr2line` reads; g++ brings this command. There
    are none without either.
    """
    found = []
    for function, line in _found(calls):
        name, _, number = line.partition(" ")[0].rpartition(":")
        if name != "??" and not any(part in name for part in HEADERS):
            found.append(f"{near(name)}:{number} ({function})")
        if function == "main":
            break
    return found


def _found(calls: Calls) -> Iterator[tuple[str, str]]:
    """The function and the line of each call, those of inlined functions too."""
    reader = shutil.which("addr2line")
    for file, places in groupby(calls, key=lambda call: call[0]):
        if reader is None:
            return
        command = [reader, "-fiC", "-e", file, *(hex(at) for _, at in places)]
        done = subprocess.run(command, capture_output=True, text=True)
        lines = iter(done.stdout.splitlines())
        for function, line in zip(lines, lines, strict=False):
            yield re.sub(r"\(.*", "", function), line


def near(file: str) -> str:
    """The name of a file relative to the working directory, if it lies there."""
    try:
        return str(Path(file).resolve().relative_to(Path.cwd()))
    except ValueError:
        return file
