"""Jumps: lanes that leave a loop, a trip of it, a call or the program, and where they meet again.

Variables keep the lanes that have left something. No variable of a program can have their names.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from mmsim.ir.operators import Mask, union, without
from mmsim.meaning.frame import Frame, Request, Waiting

Steps = Generator[Request | Waiting, Any, Mask]


def broken(loop: int) -> str:
    """The name for the lanes that have left a loop."""
    return f"loop {loop}"


def continued(loop: int) -> str:
    """The name for the lanes that have left a trip of a loop."""
    return f"trip of loop {loop}"


def left(scope: str) -> str:
    """The name for the lanes that have left a scope."""
    return f"scope {scope}"


def return_lanes(frame: Frame, mask: Mask) -> Mask:
    """End lanes."""
    frame.live = without(frame.live, mask)
    return False


def forget_lanes(slots: list[int], registers: tuple[str, ...], frame: Frame, mask: Mask) -> Mask:
    """Let lanes begin a call: its variables are unassigned, its registers hold 0."""
    for slot in slots:
        frame.forget(slot, mask)
    for name in registers:
        frame.registers[name][:, slice(None) if mask is True else mask] = 0
    return mask


def scope_lanes(
    leavers: int, body: Callable[[Frame, Mask], Steps], frame: Frame, mask: Mask
) -> Steps:
    """Run the body of a call; lanes that leave it go on behind it."""
    frame.variables[leavers] = False
    through = yield from body(frame, mask)
    return union(through, frame.variables[leavers])


def leave_lanes(leavers: int, frame: Frame, mask: Mask) -> Mask:
    """Let lanes leave a loop, a trip or a call; the variable keeps them."""
    frame.variables[leavers] = union(frame.variables[leavers], mask)
    return False
