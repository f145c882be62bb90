"""Launches of kernels of CUDA C++ whose accesses a card's profiler counts, and the model's counts.

A place is the accesses of one kind to one memory in one line of the source, also of a header. Its
counts are requests and wavefronts in shared memory, in global memory requests, address groups and
sectors, in local memory requests and sectors. Of atomics in global memory groups aren't counted: a
card has them in its second-level cache, and the model's stages there are their turns.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import mmsim as mm
from mmsim.frontend.ptx.kernel import PtxProgram
from mmsim.frontend.ptx.text import read
from mmsim.model.byte_banks import ByteGroups, Vectors
from mmsim.model.conflicts import Conflict, Groups
from tests.cudart.kernels.expected import CASES, Case


class Place(NamedTuple):
    """Accesses of a line: "shared", "global" or "local", "read", "write" or "atomic"."""

    file: str
    line: int
    memory: str
    kind: str

    @property
    def counted(self) -> tuple[str, ...]:
        """The names of its counts."""
        if self.memory == "shared":
            return ("requests", "wavefronts")
        if self.memory == "local" or self.kind == "atomic":
            return ("requests", "sectors")
        return ("requests", "groups", "sectors")


STRIDES = {"staged4": (1, 2, 3, 8), "staged8": (1, 3, 4, 8), "staged16": (1, 2, 4, 5, 8, 16),
           "strided": (2, 3, 32), "transposed": (1, 2, 8), "swapped": (1, 3, 8),
           "exchanged": (2, 4, 8)}  # fmt: skip
"""Further strides of the kernels whose last argument is one."""
SECTOR = 32
FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Sectors(ByteGroups):
    """Sectors of 32 bytes, each counted once for a request."""

    def of_access(self, size: int, kind: str) -> Conflict:
        return Groups(SECTOR // size)

    def of_vectors(self, size: int, kind: str, count: int) -> Conflict:
        return Vectors(SECTOR // size, Groups(SECTOR // size // count), count)


@dataclass(frozen=True)
class Sectored(mm.HMM):
    """The machine whose global memory counts sectors."""

    @cached_property
    def memory(self) -> mm.Unit:
        return replace(super().memory, conflict=Sectors(self.width, 4))


MACHINE = mm.HMM(1, 32, 50, 5, bank_bytes=4)
SECTORED = Sectored(1, 32, 50, 5, bank_bytes=4)


def launches() -> dict[str, Case]:
    """The launches by name: those with known results, and those with other strides."""
    found = dict(CASES)
    for name, case in CASES.items():
        for stride in STRIDES.get(case.function, ()):
            size = case.shared_mem // int(case.args[-1]) * stride
            args = (*case.args[:-1], np.int32(stride))
            found[f"{name}-{stride}"] = replace(case, args=args, shared_mem=size)
    return found | tiles()


TILES = {
    "matrix_a": (np.float16, (16, 24)), "matrix_b": (np.float16, (16, 24)),
    "float": (np.float32, (16, 24)), "half": (np.float16, (16, 24)),
    "bytes_a": (np.int8, (16, 48)), "bytes_b": (np.int8, (16, 48)),
    "singles_a": (np.float32, (16, 20)), "singles_b": (np.float32, (16, 20)),
    "doubles_a": (np.float64, (8, 10)), "doubles_b": (np.float64, (8, 10)),
    "double": (np.float64, (8, 10)),
}  # fmt: skip
"""The kernels of `tiles.cu` by the first word of their names: numbers, and distances of lines."""


def tiles() -> dict[str, Case]:
    """The launches of `tiles.cu` by name."""
    found = {}
    for kernel, (kind, strides) in TILES.items():
        for layout in ("row", "col"):
            for stride in strides:
                name = f"{kernel}_{layout}_major_{stride}"
                given = (np.arange(16 * stride) % 100).astype(kind)
                is_sum = kernel in ("float", "half", "double")
                out = given * 0 if is_sum else np.zeros(32, np.float32)
                found[name] = Case("tiles", name, 1, 32, (out, given), {}, folder=FOLDER)
    return found


_read = cache(read)


def of_model(case: Case) -> dict[Place, list[int]]:
    """The model's counts of a launch, without `__constant__` variables.

    Wavefronts are its stages in shared memory, groups those in global memory.
    """
    files = re.findall(r'^\s*\.file\s+\d+\s+"([^"]*)"', case.ptx, re.MULTILINE)
    text = dict.fromkeys(files, "\n" * 10_000)
    module = _read(case.ptx)
    constant = {name for name, one in module.variables.items() if one.space == "const"}
    program = PtxProgram(module, case.entry, text=text, ptx=case.ptx)
    special = program.with_shared(case.shared_mem).specialized(case.arguments())
    how: dict[str, Any] = {"grid": case.grid, "block": case.block, "schedule": "asynchronous"}
    counts: dict[Place, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for machine in (MACHINE, SECTORED):
        for row in machine.run(special.program, *special.args, **how).accesses:
            if row.array in constant:
                continue
            memory = "local" if row.array == "local_memory" else row.space
            own = counts[Place(row.file, row.line, memory, row.kind)]
            if machine is MACHINE:
                own["requests"] += row.requests
                own["wavefronts" if row.space == "shared" else "groups"] += row.stages
            else:
                own["sectors"] += row.stages
    return {place: [own[name] for name in place.counted] for place, own in counts.items()}


OPERATION = re.compile(r"(?:@(?!!PT)\S+\s+)?(\w+)")
"""The operation of an instruction, unless its predicate is always false."""
KINDS = {
    "LDS": [("shared", "read")], "LDSM": [("shared", "read")], "STS": [("shared", "write")],
    "STSM": [("shared", "write")], "ATOMS": [("shared", "atomic")], "LDG": [("global", "read")],
    "STG": [("global", "write")], "ATOMG": [("global", "atomic")], "ATOM": [("global", "atomic")],
    "RED": [("global", "atomic")], "REDG": [("global", "atomic")],
    "LDGSTS": [("global", "read"), ("shared", "write")],
    "LDL": [("local", "read")], "STL": [("local", "write")],
}  # fmt: skip
"""The memories and kinds of the instructions of the assembler."""


class Assembled(NamedTuple):
    """An instruction of the assembler, and where it comes from."""

    file: str
    line: int
    words: str

    @property
    def has_predicate(self) -> bool:
        """Return whether it may do nothing."""
        return self.words[0] == "@"

    def places(self) -> Iterator[Place]:
        """The accesses that it makes."""
        match = OPERATION.match(self.words)
        for memory, kind in KINDS.get(match[1], ()) if match else ():
            yield Place(self.file, self.line, memory, kind)


def disassembled(text: str) -> dict[str, list[Assembled]]:
    """The instructions of each kernel in what `nvdisasm -g` prints."""
    found: dict[str, list[Assembled]] = {}
    own: list[Assembled] = []
    at = ("", 0)
    for line in text.splitlines():
        if match := re.match(r"\.text\.([\w$]+):", line):
            own, at = found.setdefault(match[1], []), ("", 0)
        elif match := re.match(r'\s*//## File "([^"]*)", line (\d+)', line):
            at = match[1], int(match[2])
        elif match := re.match(r"\s+/\*[0-9a-f]+\*/\s+(.*?)\s*;", line):
            own.append(Assembled(*at, match[1]))
    return found
