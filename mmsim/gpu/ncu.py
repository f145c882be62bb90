"""NVIDIA's profiler `ncu`: run a Python module under it, read its counts.

It prints messages (`==PROF== ...`) and a table as CSV. The table has either a line for each metric
of each kernel, or (its page "raw") a line for each kernel with a column for each metric.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from mmsim.errors import MMSimError


class NoCounters(MMSimError):
    """The GPU's counters can't be read here."""


@dataclass(frozen=True)
class Profiled:
    """One launch of a kernel, with the metrics that have a value."""

    kernel: str
    metrics: dict[str, int] = field(default_factory=dict)

    def counts(self, names: Iterable[str]) -> dict[str, int | None]:
        """The counts of some metrics, None for a metric without a value."""
        return {name: self.metrics.get(name) for name in names}


def find() -> str:
    """The profiler's path, or `NoCounters` with a remedy."""
    found = shutil.which("ncu")
    if found is None:
        raise NoCounters(
            "ncu is not on the PATH; install NVIDIA Nsight Compute, which comes with the CUDA "
            "toolkit, and put its folder on the PATH"
        )
    return found


def version(ncu: str) -> str:
    """The profiler's version, "unknown" if it prints none."""
    try:
        done = subprocess.run([ncu, "--version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    number = re.search(r"Version (\S+)", done.stdout)
    return number.group(1) if number else "unknown"


def profile(
    ncu: str,
    names: str,
    metrics: Sequence[str],
    folder: Path,
    module: str,
    *arguments: str,
    cache: Literal["none", "all"] = "none",
) -> list[Profiled]:
    """Run a Python module and profile the kernels whose names begin with `names`, in their order.

    `folder` is for the profiler's files. `cache` names the caches to empty before each launch.
    Raises `NoCounters` if nothing was counted.
    """
    log = folder / "ncu.csv"
    command = [ncu, "--csv", "--log-file", str(log), "--print-units", "base"]
    command += ["--clock-control", "none", "--cache-control", cache, "--target-processes", "all"]
    command += ["--kernel-name-base", "function", "--kernel-name", f"regex:^{names}"]
    command += ["--metrics", ",".join(metrics), sys.executable, "-m", module, *arguments]
    # The module must be found as it was found here; numbers must not follow the locale.
    paths = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    found = os.pathsep.join(path for path in paths if path)
    environment = {**os.environ, "PYTHONPATH": found, "LC_ALL": "C"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    except OSError as error:
        raise NoCounters(f"{ncu} can't be run: {error.strerror}") from None
    logged = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    text = f"{logged}\n{done.stdout}"
    launches = read(text)
    if done.returncode or not launches:
        raise NoCounters(failure(text, done.stderr))
    return launches


def read(text: str) -> list[Profiled]:
    """The launches in the profiler's output, in the order of its IDs."""
    found: dict[tuple[str, str], Profiled] = {}
    for row in _rows(text):
        number = row.get("ID", "")
        if not number.isdecimal():
            continue  # the units under the header
        kernel = row.get("Kernel Name", "").split("(")[0].strip()
        launch = found.setdefault((row.get("Process ID", ""), number), Profiled(kernel))
        named = {row["Metric Name"]: row["Metric Value"]} if "Metric Name" in row else row
        for name, value in named.items():
            counted = _number(value) if "__" in name else None
            if counted is not None:
                launch.metrics[name] = counted
    return [found[key] for key in sorted(found, key=lambda key: int(key[1]))]


def _rows(text: str) -> Iterator[dict[str, str]]:
    """The lines of the tables in a text, by column."""
    header: list[str] | None = None
    lines = (line for line in text.splitlines() if line.startswith('"'))
    for cells in csv.reader(lines):
        if cells[0] == "ID":
            header = cells
        elif header is not None and len(cells) == len(header):
            yield dict(zip(header, cells, strict=True))


def _number(text: str) -> int | None:
    """A count, with or without separators between its thousands; None for "n/a"."""
    try:
        value = float(text.replace(",", "").replace("'", ""))
        return round(value)
    except (ValueError, OverflowError):
        return None


def failure(text: str, errors: str) -> str:
    """A sentence on the reason for missing counts, and the remedy, from the profiler's output."""
    own = [line for line in f"{text}\n{errors}".splitlines() if line.startswith("==")]
    wrong = [line.split("== ", 1)[-1].strip() for line in own if line.startswith("==ERROR==")]
    whole = "\n".join(own)
    if "ERR_NVGPUCTRPERM" in whole:
        return (
            "the driver lets only administrators read the GPU's counters (ERR_NVGPUCTRPERM); run "
            "this as root, or load the driver with NVreg_RestrictProfilingToAdminUsers=0"
        )
    if "Failed to initialize the profiler" in whole or "LibraryNotLoaded" in whole:
        return (
            "ncu can't reach the GPU's counters (it failed to initialize the profiler), as in some "
            "containers and sandboxes; run this where the driver allows it"
        )
    if "Failed to find metric" in whole:
        lacking = next(line for line in own if "Failed to find metric" in line)
        about = lacking.split("== ", 1)[-1].strip()
        return f"this ncu lacks the metrics for this GPU ({about}); install a newer ncu"
    said = [line for line in errors.splitlines() if line.strip() and not line.startswith("==")]
    if said:
        return f"the kernels couldn't be launched under ncu: {said[-1].strip()}"
    if wrong:
        return f"ncu failed: {wrong[0]}"
    return "ncu saw none of the kernels; see whether it profiles anything else on this machine"
