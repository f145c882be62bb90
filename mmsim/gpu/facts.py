"""The facts that are kept with a GPU's result: device, driver, date, command and sources."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from mmsim.gpu.replay import cupy, device
from mmsim.gpu.signed import RULES, rules
from mmsim.host.checkout import commit_of
from mmsim.host.version import VERSION


def facts(command: str) -> dict[str, str]:
    """The GPU at hand, the date, the command, the versions and the sources; or `NoGPU`."""
    at_hand = device()
    return {
        "device": at_hand.name,
        "driver": at_hand.driver,
        "cuda": at_hand.cuda,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
        "mmsim": VERSION,
        "cupy": cupy().__version__,
        "commit": commit_of(Path(__file__)),
        RULES: rules(),
    }
