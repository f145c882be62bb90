"""The facts that a measurement needs: the machine, the versions, the date."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from mmsim.host.cores import cores
from mmsim.host.version import VERSION

PACKAGES = ("numpy", "numba", "simpy")


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
