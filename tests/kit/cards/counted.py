"""Launches of kernels of CUDA C++ whose accesses a card's profiler counts, and the model's counts.

A row of counts belongs to the accesses of one kind to one memory in one line of the source, also of
a header. The assembler may make other instructions of a line than PTX has; a row sums them up.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.frontend.ptx.kernel import PtxProgram
from mmsim.frontend.ptx.text import read
from mmsim.model.byte_banks import ByteGroups, Vectors
from mmsim.model.conflicts import Conflict, Groups
from tests.cudart.kernels.expected import CASES, HERE, Case

Place = tuple[str, int, str, str]
"""A file, a line, "shared" or "global", "read", "write" or "atomic"."""
SECTOR = 32
STRIDES = {"staged4": (1, 2, 3, 8), "staged8": (1, 3, 4, 8), "staged16": (1, 2, 4, 5, 8, 16),
           "transposed": (1, 2, 8), "swapped": (1, 3, 8), "exchanged": (2, 4, 8)}  # fmt: skip
"""Further strides of the kernels whose last argument is one."""


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


REASONS = {
    "line": "the compiler gives a moved load no line, the assembler that of a neighbour",
    "merged": "the assembler makes one access of several: of neighbours, or of the same one twice",
    "popc": "lanes that add 1 to a word of shared memory and don't use its old value are merged",
    "order": "the kernel tries again until it succeeds, how often depends on the order of warps",
    "parts": "the model serves elements of 8 and 16 bytes in parts and counts the address groups "
    "of each; the card counts a group once for the request",
    "matrix": "the model has one request for each matrix",
    "bypass": "cp.async of 16 bytes bypasses the cache: each lane whose neighbour's target isn't "
    "next to its own takes a sector and a wavefront",
}
WHY: dict[tuple[str, int, str, str], str] = {
    **dict.fromkeys((("scan.cu", line, "shared", "read") for line in (0, 8, 16)), "line"),
    ("histogram.cu", 9, "shared", "atomic"): "popc",
    ("product.cu", 17, "shared", "read"): "merged",
    **dict.fromkeys((("votes.cu", line, "global", "read") for line in (7, 8, 9, 22, 23)), "merged"),
    ("cub/block/specializations/block_reduce_warp_reductions.cuh", 166, "shared", "read"): "merged",
    ("cub/block/specializations/block_scan_raking.cuh", 165, "shared", "read"): "merged",
    ("stencil.cu", 32, "global", "read"): "parts",
    ("stencil.cu", 33, "global", "read"): "parts",
    ("stencil.cu", 33, "global", "write"): "parts",
    ("mathematics.cu", 13, "global", "read"): "parts",
    ("locks.cu", 19, "global", "read"): "parts",
    ("locks.cu", 22, "global", "read"): "order",
    ("locks.cu", 22, "global", "atomic"): "order",
    **dict.fromkeys((("matrices.cu", line, "shared", "read") for line in (31, 47)), "matrix"),
    **dict.fromkeys((("matrices.cu", line, "shared", "write") for line in (33, 49)), "matrix"),
    ("cuda_pipeline_helpers.h", 201, "global", "read"): "bypass",
    ("cuda_pipeline_helpers.h", 201, "shared", "write"): "bypass",
}
"""The reasons of the lines whose counts differ."""


def differing(row: Mapping[str, Any]) -> list[str]:
    """The names of the counts of a line in which the card differs from the model.

    Atomics in global memory meet in the second-level cache; the model's groups are of their turns.
    Of instructions with a predicate the profiler also counts requests of warps without a thread
    that takes part.
    """
    card, model = row["card"], row["model"]
    names = ["sectors"] if row["kind"] == "atomic" else ["groups", "sectors"]
    names = ["wavefronts"] if row["memory"] == "shared" else names
    names += [] if card.get("conditional") else ["requests"]
    return [name for name in names if card.get(name, 0) != model.get(name, 0)]


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
    return found


def of_model(case: Case) -> dict[Place, Counter[str]]:
    """The model's counts of a launch by line, without the reads of `__constant__` variables.

    "wavefronts" are the stages in shared memory, "groups" those in global memory.
    """
    files = re.findall(r'^\s*\.file\s+\d+\s+"([^"]*)"', case.ptx, re.MULTILINE)
    text = dict.fromkeys(files, "\n" * 10_000)
    module = read(case.ptx)
    constant = {name for name, one in module.variables.items() if one.space == "const"}
    program = PtxProgram(module, case.entry, text=text, ptx=case.ptx)
    special = program.with_shared(case.shared_mem).specialized(case.arguments())
    how: dict[str, Any] = {"grid": case.grid, "block": case.block, "schedule": "asynchronous"}
    found: dict[Place, Counter[str]] = {}
    for machine in (MACHINE, SECTORED):
        for row in machine.run(special.program, *special.args, **how).accesses:
            if row.array in constant:
                continue
            kind = "atomic" if row.kind == "cas" else row.kind
            own = found.setdefault((row.file, row.line, row.space, kind), Counter())
            if machine is MACHINE:
                own["requests"] += row.requests
                own["wavefronts" if row.space == "shared" else "groups"] += row.stages
            elif row.space == "global":
                own["sectors"] += row.stages
    return found


OPERATION = re.compile(r"(?:@(?!!PT)\S+\s+)?(\w+)")
"""The operation of an instruction, unless its predicate is always false."""
KINDS = {
    "LDS": [("shared", "read")], "LDSM": [("shared", "read")], "STS": [("shared", "write")],
    "STSM": [("shared", "write")], "ATOMS": [("shared", "atomic")], "LDG": [("global", "read")],
    "STG": [("global", "write")], "ATOMG": [("global", "atomic")], "ATOM": [("global", "atomic")],
    "RED": [("global", "atomic")], "REDG": [("global", "atomic")],
    "LDGSTS": [("global", "read"), ("shared", "write")],
}  # fmt: skip
"""The memories and kinds of the instructions of the assembler."""


def disassembled(text: str) -> dict[str, list[tuple[str, int, str]]]:
    """The instructions of each kernel in what `nvdisasm -g` prints: a file, a line, the words."""
    found: dict[str, list[tuple[str, int, str]]] = {}
    own: list[tuple[str, int, str]] = []
    place = ("", 0)
    for line in text.splitlines():
        if match := re.match(r"\.text\.([\w$]+):", line):
            own, place = found.setdefault(match[1], []), ("", 0)
        elif match := re.match(r'\s*//## File "([^"]*)", line (\d+)', line):
            place = match[1], int(match[2])
        elif match := re.match(r"\s+/\*([0-9a-f]+)\*/\s+(.*?)\s*;", line):
            own.append((*place, match[2]))
    return found


def kinds_of(words: str) -> Iterator[tuple[str, str]]:
    """The memories that an instruction of the assembler accesses, with the kinds of access."""
    match = OPERATION.match(words)
    yield from KINDS.get(match[1], ()) if match else ()


def source(file: str) -> Path:
    """The CUDA C++ of a launch."""
    return Path(__file__).with_name("tiles.cu") if file == "tiles" else HERE / f"{file}.cu"


def tiles() -> dict[str, Case]:
    """The launches of `tiles.cu` by name, of whose instructions the model knows none."""
    found = {}
    for kernel in ("matrix_a", "matrix_b", "float", "half"):
        for layout in ("row", "col"):
            for stride in (16, 24):
                name = f"{kernel}_{layout}_major_{stride}"
                kind = np.float32 if kernel == "float" else np.float16
                given = np.arange(16 * stride).astype(kind)
                out = np.zeros(32, np.float32) if kernel.startswith("matrix") else given * 0
                found[name] = Case("tiles", name, 1, 32, (out, given), {})
    return found
