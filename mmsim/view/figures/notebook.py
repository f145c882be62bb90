"""Figures and axes that a notebook shows as the last value of a cell.

A notebook shows them as SVG, and as HTML with the same picture. A converter of notebooks
(nbconvert) finds the alternative text in HTML only.
"""

from __future__ import annotations

import base64
import html
from typing import TYPE_CHECKING, Any

from matplotlib import axes, figure

from mmsim.errors import UnknownNameError
from mmsim.view.figures.files import alt_text, as_svg


class Figure(figure.Figure):
    """A figure that a notebook shows without pyplot."""

    def add_subplot(self, *place: Any, **options: Any) -> Any:
        """As Matplotlib's, with axes that a notebook shows."""
        return super().add_subplot(*place, **{"axes_class": Axes, **options})

    def _repr_svg_(self) -> str:
        """The figure as SVG, the same text for the same figure, with its description as title."""
        return as_svg(self, title=alt_text(self))

    def _repr_html_(self) -> str:
        """The same as an image, with the description as alternative text."""
        data = base64.b64encode(self._repr_svg_().encode()).decode()
        text = html.escape(alt_text(self))
        return f'<img alt="{text}" src="data:image/svg+xml;base64,{data}">'


SAVED = ("save", "savefig", "to_file")


class Axes(axes.Axes):
    """Axes that show their figure."""

    if not TYPE_CHECKING:  # else every attribute would pass the type checker

        def __getattr__(self, name: str) -> Any:
            if name in SAVED:  # Matplotlib asks for others, often
                raise UnknownNameError(f"axes have no {name!r}; write mm.figures.save(axes, path)")
            return object.__getattribute__(self, name)

    def _repr_svg_(self) -> str:
        return self._whole()._repr_svg_()

    def _repr_html_(self) -> str:
        return self._whole()._repr_html_()

    def _whole(self) -> Figure:
        whole: Any = self.figure.figure
        assert isinstance(whole, Figure)
        return whole
