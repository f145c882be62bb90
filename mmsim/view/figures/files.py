"""Figures as files, the same bytes for the same figure."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAVING: dict[str, dict[str, Any]] = {
    ".svg": {"metadata": {"Date": None}},
    ".pdf": {"metadata": {"CreationDate": None}},
    ".png": {},
}


def as_svg(
    figure: Figure,
    letters: Literal["none", "path"] = "path",
    salt: str = "mmsim",
    title: str | None = None,
) -> str:
    """A figure as SVG, the same text for the same figure.

    Text is drawn as curves ("path"), which look the same everywhere, or stays text ("none").
    Figures of one page need different salts, which make their names differ. The title is not
    visible; it describes the figure.
    """
    import matplotlib

    target = io.StringIO()
    about = {} if title is None else {"Title": title}
    with matplotlib.rc_context({"svg.fonttype": letters, "svg.hashsalt": salt}):
        figure.savefig(target, format="svg", metadata={"Date": None, **about})
    return target.getvalue()
