"""The total time of all launches of this process, in the model's time."""

from __future__ import annotations

_milliseconds = 0.0


def milliseconds() -> float:
    """Milliseconds of all launches so far."""
    return _milliseconds


def advance(by: float) -> None:
    """Add the time of a launch."""
    global _milliseconds
    _milliseconds += by
