"""The planted bugs and their twins on the GPU at hand, under the tools of compute-sanitizer.

    python -m tests.kit.cards.planted_on_gpu [--json FILE] [--jobs 8] [--seconds 400] [--dry-run]

Each program that a GPU can be given runs once under each tool, in a process of its own, since an
error takes the GPU from the process that makes it. Those come first for which a tool looks for the
same kind of mistake; when the seconds are over no further one is begun. What isn't done after
`--timeout` seconds hangs, and is ended.

A program on the DMM has all its arrays in the shared memory of a block, as on the model; on the UMM
and HMM its parameters are in global memory. The kernels check no index: memcheck has to. Shared
arrays aren't cleared, and parameters named in `unset` are allocated and left as they are. The
threads of a warp go as the GPU lets them, not in lock step.

Exits with status 0, or 2 if a GPU, CuPy or compute-sanitizer is missing.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mmsim import DMM
from mmsim.errors import MMSimError
from mmsim.gpu import Kernel, NoGPU, Space, kernel
from mmsim.gpu.record import Record
from mmsim.gpu.replay import compiled, cupy
from mmsim.gpu.signed import facts
from tests.kit import ROOT
from tests.kit.cards import OPTIONS, TOOLS
from tests.kit.planted import PAIRS, Launched, Pair

VARIANTS = ("bug", "twin")
GAP = 4096
"""Bytes between the arrays: an index just out of range must not meet another array."""
CUDA = Path("/usr/local/cuda/bin")
SUMMARY = r"^=+ (?:ERROR SUMMARY: (?=\d+ errors?\s*$)|RACECHECK SUMMARY: (?=\d+ hazard))(\d+)"
MESSAGE = r"^=+ (?!COMPUTE-SANITIZER|.*SUMMARY: )(\S.*?)\s*$"
"""A message stands after the rule and one space; what belongs to it is indented further."""
LONGEST = 200
"""Characters kept of a tool's first message."""


# ------------------------------------------------------------ which tool looks for what


def tool_for(pair: Pair) -> str | None:
    """The tool that looks for this kind of mistake where this one is, if there is one."""
    match pair.kind:
        case "out-of-range":
            return "memcheck"
        case "barrier" if not of_the_grid(pair):
            return "synccheck"
        case "race" | "beside-atomic" | "lost-update" | "warp-sync" if in_shared_memory(pair):
            return "racecheck"
        case "unwritten" if not in_shared_memory(pair):
            return "initcheck"
    return None


def of_the_grid(pair: Pair) -> bool:
    """Return whether threads wait for others at a barrier of the grid."""
    return any("grid_barrier" in did[2] for did in pair.finds[0].actions)


def may_hang(pair: Pair) -> bool:
    """Return whether the bug waits for what never comes."""
    return pair.kind in ("deadlock", "spin", "endless") or of_the_grid(pair)


def in_shared_memory(pair: Pair) -> bool:
    """Return whether the array of a bug's first finding lies in shared memory on the GPU."""
    return space_of(pair.bug) == "shared" or pair.finds[0].array not in pair.bug.parameters


def space_of(launched: Launched) -> Space:
    """The space of a GPU's parameters: as on the model, if they fit into one block's memory."""
    one_block = launched.block_size in (None, launched.threads)
    return "shared" if isinstance(launched.machine, DMM) and one_block else "global"


def kernel_of(launched: Launched) -> Kernel:
    """The kernel of a launch. Raises an `MMSimError` if a GPU can't have it."""
    return kernel(
        launched.program,
        *launched.arguments,
        threads=launched.threads,
        block_size=launched.block_size,
        space=space_of(launched),
        clear_shared=False,
    )


# ------------------------------------------------------------ what is to be run


@dataclass(frozen=True)
class Task:
    """One program under one tool."""

    pair: Pair
    variant: str
    tool: str

    @property
    def of_its_kind(self) -> bool:
        """Return whether the tool looks for the kind of mistake that is planted."""
        return self.tool == tool_for(self.pair)

    @property
    def launched(self) -> Launched:
        return self.pair.bug if self.variant == "bug" else self.pair.twin

    def __str__(self) -> str:
        return f"{self.tool:<10} {self.variant:<4} {self.pair.name}"


def tasks(pairs: Iterable[Pair] = PAIRS) -> list[Task]:
    """All that can be run, the most telling first and what may hang last."""
    fitting = [
        Task(pair, variant, tool)
        for pair in pairs
        for variant in VARIANTS
        if not refused(pair.bug if variant == "bug" else pair.twin)
        for tool in TOOLS
    ]
    return sorted(
        fitting, key=lambda task: (not task.of_its_kind, may_hang(task.pair), task.variant)
    )


def refused(launched: Launched) -> str:
    """The reason why a GPU can't have a program; empty if it can."""
    try:
        kernel_of(launched)
    except MMSimError as error:
        return str(error).split("\n")[0]
    return ""


# ------------------------------------------------------------ one launch


def launch(name: str, variant: str) -> None:
    """Launch a program once and wait for its end; nothing is copied back."""
    (pair,) = [pair for pair in PAIRS if pair.name == name]
    launched = pair.bug if variant == "bug" else pair.twin
    written, cp = kernel_of(launched), cupy()
    with cp.cuda.using_allocator(None):  # each array an allocation of its own: its end is known
        passed: list[Any] = []
        gaps = [cp.empty(GAP, dtype="u1")]
        for argument in written.arguments:
            if argument.role == "repeat":
                passed.append(argument.dtype.type(1))
            elif argument.role == "cycles" or argument.name in launched.unset:
                passed.append(cp.empty(argument.size, dtype=argument.dtype))
            else:
                passed.append(cp.asarray(argument.words()))
            gaps.append(cp.empty(GAP, dtype="u1"))
        gaps.clear()  # so that next to each array lies what belongs to none
        function = compiled(cp, written)
        function(written.grid, written.block, tuple(passed), shared_mem=written.shared_bytes)
        cp.cuda.Device().synchronize()
    print("launched and ended")


# ------------------------------------------------------------ what the tools say


@dataclass(frozen=True)
class Said:
    """The words of a tool on one launch: how many mistakes, and the first message.

    `mistakes` is None if there is no summary; `hangs` if the launch had to be ended.
    """

    mistakes: int | None
    message: str
    status: int | None
    hangs: bool = False

    @property
    def verdict(self) -> str:
        """ "silent", "found", "hangs", or "failed" where the tool came to no summary."""
        if self.mistakes:
            return "found"
        if self.hangs:
            return "hangs"
        return "failed" if self.mistakes is None or self.status else "silent"


def said(text: str, status: int | None, hangs: bool = False) -> Said:
    """Read the output of compute-sanitizer."""
    counts = [int(count) for count in re.findall(SUMMARY, text, re.MULTILINE)]
    messages = re.findall(MESSAGE, text, re.MULTILINE)
    if not messages and status:  # the program's own last words
        messages = [line.strip() for line in text.splitlines() if line.strip()][-1:]
    message = messages[0] if messages else ""
    return Said(sum(counts) if counts else None, message[:LONGEST], status, hangs)


def watched(sanitizer: str, task: Task, timeout: float) -> Said:
    """One launch under a tool, in a process group of its own, which is ended if it hangs."""
    script = [sys.executable, "-m", __spec__.name, "--one", task.pair.name, task.variant]
    running = subprocess.Popen(
        [sanitizer, "--tool", task.tool, *OPTIONS, *script],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        cwd=ROOT,
    )
    try:
        text, _ = running.communicate(timeout=timeout)
        return said(text, running.returncode)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        text, _ = running.communicate()
        return said(text, None, hangs=True)


def run_all(
    sanitizer: str, todo: list[Task], jobs: int, seconds: float, timeout: float
) -> Iterator[tuple[Task, Said, float]]:
    """Each task with what was said and how long it took, until the seconds are over."""
    begin = time.monotonic()

    def run(task: Task) -> tuple[Task, Said, float] | None:
        started = time.monotonic()
        if started - begin > seconds:
            return None
        return task, watched(sanitizer, task, timeout), time.monotonic() - started

    with ThreadPoolExecutor(jobs) as pool:
        yield from (done for done in pool.map(run, todo) if done is not None)


def row(task: Task, shown: Said, took: float) -> dict[str, Any]:
    """A row of the record."""
    return {
        **{"program": task.pair.name, "variant": task.variant, "tool": task.tool},
        "kind": task.pair.kind,
        "space": space_of(task.launched),
        "of its kind": task.of_its_kind,
        "verdict": shown.verdict,
        "mistakes": shown.mistakes,
        "message": shown.message,
        "status": shown.status,
        "seconds": round(took, 1),
    }


# ------------------------------------------------------------ the command


def version_of(sanitizer: str) -> str:
    """The version that compute-sanitizer prints."""
    shown = subprocess.run([sanitizer, "--version"], capture_output=True, text=True, timeout=60)
    found = re.search(r"[Vv]ersion:? *([\d.]+)", shown.stdout)
    return found[1] if found else "unknown"


def arguments_of(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Run the planted bugs on the GPU at hand, under compute-sanitizer's tools."
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="save a row for each run")
    parser.add_argument("--jobs", type=int, default=8, help="runs at a time (8)")
    parser.add_argument("--seconds", type=float, default=400, help="begin none after these (400)")
    parser.add_argument("--timeout", type=float, default=40, help="seconds until one hangs (40)")
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=TOOLS, metavar="TOOL")
    parser.add_argument("--dry-run", action="store_true", help="list the runs, and run none")
    parser.add_argument("--one", nargs=2, metavar=("NAME", "VARIANT"), help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Do what the arguments ask for; the exit status."""
    asked = arguments_of(argv)
    if asked.one is not None:
        launch(*asked.one)
        return 0
    todo = [task for task in tasks() if task.tool in asked.tools]
    if asked.dry_run:
        for task in todo:
            print(f"{task}{'  (of its kind)' if task.of_its_kind else ''}")
        print(f"{len(todo)} runs")
        return 0
    try:
        cupy()
    except NoGPU as missing:
        print(missing)
        return 2
    sanitizer = shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path=CUDA)
    if sanitizer is None:
        print("compute-sanitizer is not on the path; it comes with the CUDA toolkit")
        return 2
    given = f"--jobs {asked.jobs} --seconds {asked.seconds:g} --timeout {asked.timeout:g}"
    head = {
        **facts(f"python -m tests.kit.cards.planted_on_gpu {given}"),
        "sanitizer": version_of(sanitizer),
        "options": " ".join(OPTIONS),
        "left out": left_out(),
    }
    rows: list[dict[str, Any]] = []
    for task, shown, took in run_all(sanitizer, todo, asked.jobs, asked.seconds, asked.timeout):
        rows.append(row(task, shown, took))
        print(f"{task}  {shown.verdict} {shown.message}", flush=True)
        if asked.json is not None:  # what there is, should the rest be cut off
            record = Record("planted", head, tuple(rows))
            asked.json.write_text(record.to_json(), encoding="utf-8")
    print(f"{len(rows)} of {len(todo)} runs")
    return 0


def left_out() -> dict[str, str]:
    """The programs that a GPU can't have, and why."""
    return {
        f"{pair.name}, {variant}": why
        for pair in PAIRS
        for variant, launched in zip(VARIANTS, (pair.bug, pair.twin), strict=True)
        if (why := refused(launched))
    }


if __name__ == "__main__":
    sys.exit(main())
