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

    Text is drawn as curves ("path"), so that it looks the same everywhere, or stays
    text ("none"). Figures of one page differ in their salt, for it makes the names in them. A title
    is not seen: it says what is.
    """
    import matplotlib

    target = io.StringIO()
    about = {} if title is None else {"Title": title}
    with matplotlib.rc_context({"svg.fonttype": letters, "svg.hashsalt": salt}):
        figure.savefig(target, format="svg", metadata={"Date": None, **about})
    return target.getvalue()
