"""The facts that are kept with a GPU's result: the device, its driver, the date, the command."""

from __future__ import annotations

from datetime import UTC, datetime

from mmsim.gpu.replay import cupy, device
from mmsim.host.version import VERSION


def facts(command: str) -> dict[str, str]:
    """The GPU at hand, the date, the command and the versions; or `NoGPU`."""
    at_hand = device()
    return {
        "device": at_hand.name,
        "driver": at_hand.driver,
        "cuda": at_hand.cuda,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
        "mmsim": VERSION,
        "cupy": cupy().__version__,
    }
