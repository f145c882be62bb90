"""The line of the host that made an allocation, and those of the calls that led there."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from mmsim.frontend.ptx.raw import Allocation, Calls
from mmsim.frontend.ptx.space import beside

HEADERS = ("/include/", "/cccl/")
"""Parts of the names of folders with headers that aren't the program's own."""
STUB = ".cudafe1.stub.c"
"""The end of the name of a file that nvcc writes: a function of it launches a kernel."""
MOST = 4
"""The most lines that a message names."""


def described(found: Allocation) -> str:
    """The size of an allocation, and the host's lines that made and freed it."""
    if found.variable:
        return f"the variable {found.variable!r} of {found.size} bytes"
    allocated = within(found.calls)
    text = f"{found.size} bytes{allocated and f', allocated{allocated}'}"
    return f"{text}, freed{within(found.freed)}" if found.is_freed else text


def within(calls: Calls) -> str:
    """The words that name the lines of calls, empty if none is known: " in a.cu:3 (main)"."""
    lines = lines_of(calls)[:MOST]
    return f" in {', called from '.join(lines)}" if lines else ""


def placed(address: int, nearest: Allocation) -> str:
    """The place of an address in or beside the allocation that is nearest to it."""
    what = described(nearest) if nearest.variable else f"an allocation of {described(nearest)}"
    return beside(address, nearest, what)


def lines_of(calls: Calls) -> list[str]:
    """The line of each call in the program's own files, as "a.cu:12 (main)", up to `main`.

    The line table of the program has them, which `addr2line` reads; g++ brings this command. There
    are none without either.
    """
    found = []
    is_kernel = False
    for function, line in _found(calls):
        name, _, number = line.partition(" ")[0].rpartition(":")
        is_stub = name.endswith(STUB)
        if not (name == "??" or is_stub or is_kernel or any(part in name for part in HEADERS)):
            found.append(f"{near(name)}:{number} ({function})")
        is_kernel = is_stub  # the kernel's name stands for a function of the host, which calls it
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
