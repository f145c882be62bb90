"""A figure that a notebook shows where it is the last value of a cell."""

from __future__ import annotations

import io

import matplotlib
from matplotlib import figure


class Figure(figure.Figure):
    """A figure that doesn't need pyplot, which else tells notebooks how to show one."""

    def _repr_svg_(self) -> str:
        """The figure as SVG, the same text for the same figure."""
        target = io.StringIO()
        with matplotlib.rc_context({"svg.hashsalt": "mmsim"}):
            self.savefig(target, format="svg", metadata={"Date": None})
        return target.getvalue()
