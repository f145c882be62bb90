"""The player's page: one file without a server, a network or a kernel."""

from __future__ import annotations

import html
import json
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mmsim.errors import MMSimError
from mmsim.player.data import player_data

if TYPE_CHECKING:
    from mmsim.player.widget import PlayerWidget
    from mmsim.results.trace import Trace

SCRIPTS = (
    "state",
    "words",
    "elements",
    "follow",
    "program",
    "thread",
    "pipeline",
    "memory",
    "timeline",
    "controls",
    "player",
)
"""The files of the script, in the order in which they are joined."""

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
            "SCRIPT": script(),
            "DATA": as_json(self.data),
        }
        text, *rest = part("page.html").split("{{")
        for piece in rest:
            name, _, after = piece.partition("}}")
            text += parts[name] + after
        return text

    def widget(self) -> PlayerWidget:
        """The player as a widget of a notebook; its `time` is the time unit it shows, and settable.

        It lives as long as the kernel. A notebook that is read without one shows the player itself,
        so let that stand last in its cell. Raises `MMSimError` where anywidget isn't installed.
        """
        try:
            import anywidget  # noqa: F401
        except ImportError:
            raise MMSimError(
                "the widget needs anywidget, which isn't installed; install "
                "memory-machine-simulator[notebook], or show the player without widget()"
            ) from None
        from mmsim.player.widget import PlayerWidget

        return PlayerWidget(self)

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


def script() -> str:
    """The player's script: what the page and the widget have in common."""
    texts = {"SKELETON": part("player.html"), "STYLE": part("player.css")}
    constants = [f"const {name} = {as_json(text)};\n" for name, text in texts.items()]
    return "".join(constants) + "\n".join(part(f"{name}.js") for name in SCRIPTS)


def as_json(data: dict[str, Any] | str) -> str:
    """Data as JSON that may stand in a script element: nothing in it ends or opens one.

    >>> as_json({"name": "</script>"})
    '{"name":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.translate(ESCAPED)


def part(name: str) -> str:
    """The text of a file of the player."""
    return resources.files("mmsim.player").joinpath(name).read_text(encoding="utf-8")
