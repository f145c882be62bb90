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
        What it shows, in words.
    draw
        Makes the figure; it raises `ClaimError` where a run contradicts the paper's
        figure.
    made
        From what: "simulated" (a run of the programs), "counted" (a colouring or a layout),
        "measured" (kept results of a real GPU), "drawn" (a definition: there is no result).
    note
        Where it differs from the paper's, and why.
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
