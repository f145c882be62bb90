"""The names of warp exchange, `mm.warp`: exchange between the lanes of one warp.

Only the active lanes take part, and an exchange takes no time. As in `names`, nothing here
runs. A program is parsed; a call outside a program raises an error.
"""

from __future__ import annotations

from typing import Any

from mmsim.frontend.thread.intrinsics import outside


def shuffle(value: Any, lane: int) -> Any:
    """Return the value of lane `lane` of the warp, counted modulo the machine's width."""
    outside("mm.warp.shuffle")


def shuffle_up(value: Any, distance: int) -> Any:
    """Return the value of the lane `distance` below, or the own value if there is none."""
    outside("mm.warp.shuffle_up")


def shuffle_down(value: Any, distance: int) -> Any:
    """Return the value of the lane `distance` above, or the own value if there is none."""
    outside("mm.warp.shuffle_down")


def shuffle_xor(value: Any, mask: int) -> Any:
    """Return the value of lane (own number xor `mask`), or the own value past the warp."""
    outside("mm.warp.shuffle_xor")


def ballot(test: Any) -> int:
    """Return the active lanes whose test is true: lane k as bit k."""
    outside("mm.warp.ballot")


def any(test: Any) -> bool:
    """Return whether the test of any active lane is true."""
    outside("mm.warp.any")


def all(test: Any) -> bool:
    """Return whether the tests of all active lanes are true."""
    outside("mm.warp.all")


def match_any(value: Any) -> int:
    """Return the active lanes that hold the same value, bit for bit: lane k as bit k."""
    outside("mm.warp.match_any")


def match_all(value: Any) -> int:
    """Return the active lanes if all hold the same value, bit for bit, else 0."""
    outside("mm.warp.match_all")


def active_mask() -> int:
    """Return the active lanes: lane k as bit k."""
    outside("mm.warp.active_mask")


def sync() -> None:
    """Let the active lanes wait for each other; each then sees the earlier writes of all.

    Lanes of a warp run together in the models, so a sync costs and changes nothing there. A GPU
    needs it between a write and the read by another lane.
    """
    outside("mm.warp.sync")
