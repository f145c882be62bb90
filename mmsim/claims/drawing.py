"""A paper's figure, drawn again from a run of the programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mmsim.host.plugins import registered_in

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GROUP = "mmsim.drawings"
Source = Literal["simulated", "counted", "measured", "drawn"]


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure of a paper: `draw()` makes it again, at the paper's own size.

    Parameters
    ----------
    id
        As "SMM-F5".
    source
        Paper and place, as "SMM, Figure 5".
    title
        Its subject, in words.
    draw
        A function that makes the figure. It raises `ClaimError` if a run contradicts the paper's
        figure.
    made
        The source: "simulated" (a run of the programs), "counted" (a colouring or a layout),
        "measured" (kept results of a real GPU), "drawn" (a definition, without a result).
    note
        The differences from the paper's figure, with the reasons.
    """

    id: str
    source: str
    title: str
    draw: Callable[[], Figure]
    made: Source = "simulated"
    note: str = ""


def registered_drawings() -> list[Drawing]:
    """All drawings of all installed packages (entry point group `mmsim.drawings`)."""
    return registered_in(GROUP)
