"""A figure that a notebook shows where it is the last value of a cell."""

from __future__ import annotations

from matplotlib import figure

from mmsim.view.figures.files import as_svg


class Figure(figure.Figure):
    """A figure that doesn't need pyplot, which otherwise makes notebooks show one."""

    def _repr_svg_(self) -> str:
        """The figure as SVG, the same text for the same figure."""
        return as_svg(self)
