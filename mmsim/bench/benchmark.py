"""A benchmark, its options and its result, and the facts that a measurement needs."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from mmsim.bench.repetitions import Measured
from mmsim.host.cores import cores
from mmsim.host.version import VERSION

LEAST = 2**14  # the smallest n that every benchmark takes as its largest
PACKAGES = ("numpy", "numba", "simpy")

Value = str | int | float | Measured
Row = dict[str, Value]
"""A row of a benchmark's table, by column."""


@dataclass(frozen=True)
class Settings:
    """The user's options: the largest n, and the number of repetitions.

    With None the benchmark decides. `say` is called with progress messages.
    """

    most: int | None = None
    repeat: int | None = None
    say: Callable[[str], None] = lambda text: None

    def about(self, what: str) -> Callable[[str], None]:
        """`say`, with the benchmark's name in front."""
        return lambda text: self.say(f"{what}, {text}")

    def repetitions(self, usual: int) -> int:
        return usual if self.repeat is None else self.repeat

    def size(self, usual: int) -> int:
        """The usual n if it isn't too large, else the largest power of four that isn't.

        >>> Settings(most=2**15).size(2**20) == 2**14
        True
        """
        if self.most is None or usual <= self.most:
            return usual
        return int(4 ** ((self.most.bit_length() - 1) // 2))

    def sizes(self, first: int, last: int) -> list[int]:
        """first, 4 first, 16 first, ..., last, up to the largest size; at least one.

        >>> Settings(most=70).sizes(4, 256)
        [4, 16, 64]
        """
        last = self.size(last)
        found = [min(first, last)]
        while 4 * found[-1] <= last:
            found.append(4 * found[-1])
        return found


@dataclass(frozen=True)
class Benchmark:
    """A benchmark. `rows` measures and yields each row of its table as soon as it is known.

    `title` names the compared things, `method` describes the measurement.
    """

    name: str
    title: str
    method: str
    rows: Callable[[Settings], Iterator[Row]]


@dataclass
class Result:
    """The rows of a benchmark so far, and its error, if any."""

    benchmark: Benchmark
    rows: list[Row] = field(default_factory=list)
    failure: str = ""


def to_json(results: Iterable[Result], facts: dict[str, str | int | float]) -> str:
    """The machine's facts and all results as JSON text."""
    benchmarks = []
    for result in results:
        names = ("name", "title", "method")
        saved: dict[str, object] = {name: getattr(result.benchmark, name) for name in names}
        saved["rows"] = [{key: _plain(one) for key, one in row.items()} for row in result.rows]
        benchmarks.append(saved | ({"failure": result.failure} if result.failure else {}))
    return json.dumps({"facts": facts, "benchmarks": benchmarks}, indent=1) + "\n"


def _plain(value: Value) -> object:
    if not isinstance(value, Measured):
        return value
    found = {name: getattr(value, name) for name in ("median", "least", "most", "unit")}
    return {**found, "turns": list(value.values)}


def facts(command: str) -> dict[str, str | int | float]:
    """The machine's facts; the load counts processes that wanted a core in the last minute."""

    found: dict[str, str | int | float] = {
        "command": command,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": cpu_model(),
        "cores": cores(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "mmsim": VERSION,
    }
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        found["memory_gib"] = round(memory / 2**30, 1)
    if hasattr(os, "getloadavg"):
        found["load"] = round(os.getloadavg()[0], 2)
    return found


def cpu_model() -> str:
    """The maker's name of the processor, if the system gives one."""
    listed = Path("/proc/cpuinfo")
    if listed.exists():
        for line in listed.read_text().splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()
