"""Matrices side by side with arrows between them: how data moves from step to step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from mmsim_algorithms.drawings.cells import Labels, arrow, cells, sheet, whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAP, WITH_WORDS = 1.0, 1.35
"""The room between two panels, in cells: for an arrow, and for one with words such as "Step 1"."""


@dataclass(frozen=True, eq=False)
class Panel:
    """A matrix of cells, drawn as `cells` draws it."""

    name: str
    labels: Labels
    kinds: Labels
    caption: str
    title: str = ""
    rows: Sequence[str] = ()
    columns: Sequence[str] = ()


def side_by_side(panels: Sequence[Panel], arrows: Sequence[str] = ()) -> Figure:
    """Draw panels from left to right, with an arrow between two neighbours for each of `arrows`.

    >>> one = Panel("a", [["0", "1"]], [[0, 1]], "(a) before")
    >>> other = Panel("b", [["1", "0"]], [[1, 0]], "(b) after")
    >>> figure = side_by_side([one, other], ["swap"])
    >>> [text.get_text() for text in figure.axes[0].texts if text.get_text()]
    ['0', '1', '(a) before', 'swap', '1', '0', '(b) after']
    """
    gap = WITH_WORDS if any(arrows) else GAP
    names = [1.0 if panel.rows else 0.0 for panel in panels]
    above = 0.15 + 0.6 * any(p.title for p in panels) + 0.5 * any(p.columns for p in panels)
    height = max(len(panel.labels) for panel in panels)
    width = sum(names) + sum(len(panel.labels[0]) for panel in panels) + gap * (len(panels) - 1)
    left = 0.1
    with sheet(
        width + 0.2, above + height + (0.8 if any(p.caption for p in panels) else 0.15)
    ) as axes:
        for number, panel in enumerate(panels):
            left += names[number]
            cells(
                axes,
                panel.name,
                left,
                above,
                panel.labels,
                kinds=panel.kinds,
                title=panel.title,
                caption=panel.caption,
                rows=panel.rows,
                columns=panel.columns,
            )
            left += len(panel.labels[0])
            if number < len(arrows):
                middle = above + height / 2
                arrow(axes, (left + 0.15, middle), (left + gap - 0.15, middle), arrows[number])
            left += gap
    return whole(axes)


def pairs(values: npt.NDArray[Any], side: int) -> list[list[str]]:
    """The value i side + j as "(i,j)", the papers' form of a word's origin or destination.

    >>> import numpy as np
    >>> pairs(np.array([[0, 5]]), 4)
    [['(0,0)', '(1,1)']]
    """
    return [[f"({value // side},{value % side})" for value in row] for row in values.tolist()]
