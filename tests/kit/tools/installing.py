"""For tests of an installation: the commands that the pages list."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.kit import ROOT

CHEAPER = {
    "mmsim verify --claim SMM-L5.1": "mmsim verify --claim SMM-ROT",
    "mmsim reproduce RAP-T2": "mmsim reproduce CFP-T1",
    "mmsim bench scheduled": "mmsim bench scheduled --most 16384 --repeat 1",
}
"""Cheaper commands in the place of long ones."""

PROGRAM = """
import mmsim as mm

@mm.program
def {name}(T, a, b):
    {statement}
"""
SCRIPT = """
import numpy as np
from numba import cuda

@cuda.jit
def double(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= 2

a = np.arange(64)
double[2, 32](a)
assert a[63] == 126
"""


def listed() -> list[str]:
    """The commands of mmsim in the blocks of the shell of two pages, without comments."""
    pages = ("README.md", "docs/reference/commands.md")
    text = "\n".join((ROOT / page).read_text("utf-8") for page in pages)
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [shlex.join(shlex.split(line, comments=True)) for line in lines if line[:6] == "mmsim "]


def ready(command: str, folder: Path) -> list[str]:
    """The words of a command or of a cheaper one, once the files that it names are in a folder."""
    flat = re.search(r" \w+:\d+x\d+ ", command) is None
    statement = (
        "b[T.id] = a[T.id]" if flat else "b[T.id // 32, T.id % 32] = a[T.id // 32, T.id % 32]"
    )
    for file, name in re.findall(r"(\w+\.py)(?::(\w+))?", command):
        text = PROGRAM.format(name=name, statement=statement) if name else SCRIPT
        (folder / file).write_text(text, encoding="utf-8")
    return shlex.split(CHEAPER.get(command, command))


def went_well(command: str, status: int, errors: str) -> bool:
    """Return whether a command did what it should; `mmsim gpu` says with 1 that there is no GPU."""
    return "Traceback" not in errors and status in ((0, 1) if command == "mmsim gpu" else (0,))
