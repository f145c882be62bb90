"""Ask for the memory of an object before it is made."""

from __future__ import annotations

from mmsim.errors import RoomError
from mmsim.host import free_memory

GIB = 2**30
SMALL = 2**26  # bytes that need no check


def require_memory(what: str, needed: int, detail: str = "", advice: str = "take less") -> None:
    """Raise a `RoomError` for an object that needs more bytes than there are."""
    if needed < SMALL:
        return
    free = free_memory.available()
    if free is None or needed <= free:
        return
    raise RoomError(
        f"{what} needs about {needed / GIB:,.1f} GiB{detail}, but only {free / GIB:,.1f} GiB are "
        f"free; {advice}"
    )
