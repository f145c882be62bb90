"""The player's script: what the page and the widget have in common."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

SCRIPTS = (
    "state",
    "words",
    "elements",
    "follow",
    "program",
    "thread",
    "pipeline",
    "memory",
    "findings",
    "timeline",
    "controls",
    "player",
)
"""The files of the script, in the order in which they are joined."""

ESCAPED = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


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
    return resources.files("mmsim.view.player").joinpath(name).read_text(encoding="utf-8")
