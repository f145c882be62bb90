"""The player's script, common to the page and the widget."""

from __future__ import annotations

import json
import re
from importlib import resources
from typing import Any

from mmsim.view.look import host_style
from mmsim.view.palette import WARPS, ink

SCRIPTS = (
    "state",
    "words",
    "elements",
    "moments",
    "stops",
    "show",
    "follow",
    "program",
    "thread",
    "pipeline",
    "dense",
    "memory",
    "findings",
    "timeline",
    "paint",
    "run",
    "controls",
    "link",
    "player",
)
"""The files of the script, in the order in which they are joined."""

SHEETS = ("player.css", "compact.css", "lecture.css")
"""The style sheets: a later one overrides those before."""

HEIGHT = "clamp(600px, 85vh, 820px)"
"""The height of a player in a notebook, as CSS: in sight as a whole where the window allows it."""

UNNEEDED = re.compile(r"^ *//.*\n|^ */\*(?s:.*?)\*/\n+|^\n|^ +", re.MULTILINE)
"""Comments, empty lines and the indentation of others: a page doesn't need them."""
ESCAPED = {ord(character): f"\\u{ord(character):04x}" for character in "<>&"}


def script() -> str:
    """Return the player's script."""
    values: dict[str, str | list[str]] = {
        "SKELETON": part("player.html"),
        "PANELS": part("panels.html"),
        "STYLE": UNNEEDED.sub("", host_style() + "".join(map(part, SHEETS)) + _warp_rules()),
        "COLOURS": list(WARPS),
    }
    text = "".join(f"const {name} = {as_json(value)};\n" for name, value in values.items())
    text += UNNEEDED.sub("", "\n".join(part(f"{name}.js") for name in SCRIPTS))
    # A browser decodes a large page almost three times as fast if all of it is ASCII.
    return "".join(letter if letter.isascii() else f"\\u{ord(letter):04x}" for letter in text)


def _warp_rules() -> str:
    """The CSS classes for the colours of warps: w0 for warp 0 and so on."""
    colours = enumerate(WARPS)
    return f":host {{ --warp: {WARPS[0]} }}\n" + "".join(
        f".w{number} {{ background: {colour}; color: {ink(colour)} }}\n"
        for number, colour in colours
    )


def as_json(data: dict[str, Any] | list[str] | str) -> str:
    """Return data as JSON for a script element: nothing in it ends or opens one.

    >>> as_json({"name": "</script>"})
    '{"name":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.translate(ESCAPED)


def part(name: str) -> str:
    """The text of a file of the player."""
    return resources.files("mmsim.view.player").joinpath(name).read_text(encoding="utf-8")
