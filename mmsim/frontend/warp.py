"""The names of warp exchange, `mm.warp`: exchange between the lanes of one warp.

Only the lanes that are active take part, and exchange takes no time. As in `names`, nothing here
ever runs: a program is parsed, and calling one of these outside a program says so.
"""

from __future__ import annotations

from typing import Any

from mmsim.frontend.intrinsics import outside


def shuffle(value: Any, lane: int) -> Any:
    """The value that a lane of the warp holds; `lane` counts modulo the width of the machine."""
    outside("mm.warp.shuffle")


def shuffle_up(value: Any, distance: int) -> Any:
    """The value of the lane so far below; the own value where the warp begins before."""
    outside("mm.warp.shuffle_up")


def shuffle_down(value: Any, distance: int) -> Any:
    """The value of the lane so far above; the own value where the warp ends before."""
    outside("mm.warp.shuffle_down")


def shuffle_xor(value: Any, mask: int) -> Any:
    """The value of the lane whose number is the own one xor `mask`; the own one past the warp."""
    outside("mm.warp.shuffle_xor")


def ballot(test: Any) -> int:
    """The active lanes whose test is true: lane k as bit k."""
    outside("mm.warp.ballot")


def any(test: Any) -> bool:
    """Whether the test of any active lane is true."""
    outside("mm.warp.any")


def all(test: Any) -> bool:
    """Whether the tests of all active lanes are true."""
    outside("mm.warp.all")


def match_any(value: Any) -> int:
    """The active lanes that hold the same value, bit for bit: lane k as bit k."""
    outside("mm.warp.match_any")


def match_all(value: Any) -> int:
    """The active lanes if all hold the same value, bit for bit, else 0."""
    outside("mm.warp.match_all")


def active_mask() -> int:
    """The active lanes: lane k as bit k."""
    outside("mm.warp.active_mask")


def sync() -> None:
    """The active lanes wait for each other and see what each of them wrote before.

    Lanes of a warp run together in the models, so that it costs and changes nothing there; a GPU
    needs it between a write and the read by another lane.
    """
    outside("mm.warp.sync")
