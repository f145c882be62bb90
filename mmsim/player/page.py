"""The player's page: one file without a server, a network or a kernel."""

from __future__ import annotations

import html
import json
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mmsim.player.data import player_data

if TYPE_CHECKING:
    from mmsim.results.trace import Trace

HEIGHT = 820
"""Of the frame in a notebook, in pixels."""

ESCAPED = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


class Player:
    """A run to step through. A notebook shows it, `save` writes it to a file."""

    def __init__(self, trace: Trace, start: int = 0, end: int | None = None) -> None:
        self.data = player_data(trace, start, end)

    def __repr__(self) -> str:
        data = self.data
        return f"<player of {data['program']}, time units {data['start']} to {data['end']}>"

    def html(self) -> str:
        """The page as text."""
        parts = {
            "TITLE": html.escape(f"{self.data['program']} on {self.data['machine']}"),
            "STYLE": _part("player.css"),
            "SCRIPT": _part("player.js"),
            "DATA": as_json(self.data),
        }
        text, *rest = _part("player.html").split("{{")
        for piece in rest:
            name, _, after = piece.partition("}}")
            text += parts[name] + after
        return text

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file."""
        Path(path).write_text(self.html(), encoding="utf-8")

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that it and the notebook leave each other alone."""
        return (
            f'<iframe title="{html.escape(repr(self)[1:-1])}" sandbox="allow-scripts" '
            f'style="width: 100%; height: {HEIGHT}px; border: 0" '
            f'srcdoc="{html.escape(self.html())}"></iframe>'
        )


def as_json(data: dict[str, Any]) -> str:
    """Data as JSON that may stand in a script element: nothing in it ends or opens one.

    >>> as_json({"name": "</script>"})
    '{"name":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.translate(ESCAPED)


def _part(name: str) -> str:
    return resources.files("mmsim.player").joinpath(name).read_text(encoding="utf-8")
