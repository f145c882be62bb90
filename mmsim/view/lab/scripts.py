"""The laboratory's script, which is joined to the player's, and the text of its worker."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any

from mmsim.javascript.bundle import bundle, plain
from mmsim.javascript.table import table
from mmsim.view.player.scripts import UNNEEDED, as_json
from mmsim.view.player.scripts import script as player_script

SCRIPTS = (
    "expressions",
    "inputs",
    "highlight",
    "editor",
    "tune",
    "curve",
    "tile",
    "share",
    "runner",
    "lab",
)
"""The files of the page's script, in the order in which they are joined."""
WORK = ("expressions", "inputs", "work")
"""The files of the worker's script, after the engine."""
ENGINE = (
    *("programsOf", "simulation", "FrozenRandom", "tileAnswer", "bytesOfType", "tileLayoutOf"),
    *("tileQuestionOf", "offsetsOf"),
)
"""The names of the engine that the worker uses."""


def script() -> str:
    """Return the page's script."""
    texts = {
        "LABORATORY": part("lab.html"),
        "LABORATORY_STYLE": part("lab.css"),
        "PLAYER_STYLE": part("player.css"),
    }
    text = "".join(f"const {name} = {as_json(value)};\n" for name, value in texts.items())
    random = resources.files("mmsim.javascript").joinpath("random.js").read_text(encoding="utf-8")
    return player_script() + in_ascii(text + plain(random) + joined(SCRIPTS))


def work(own: Mapping[str, Any]) -> str:
    """Return the worker's script: the engine in a scope of its own, and what asks it.

    `own` is what `mmsim` calls by which name.
    """
    names = ", ".join(ENGINE)
    inside = f"{bundle()}\nuseTable({as_json(table(own))});\nreturn {{ {names} }};"
    engine = f"const ENGINE = (() => {{\n{inside}\n}})();\n"
    return in_ascii(f"{engine}const {{ FrozenRandom }} = ENGINE;\n{joined(WORK)}")


def joined(names: tuple[str, ...]) -> str:
    """Return the texts of files, without what a page doesn't need."""
    return UNNEEDED.sub("", "\n".join(part(f"{name}.js") for name in names))


def in_ascii(text: str) -> str:
    """Return a script with escapes for other letters; no tag in it ends the element around it."""
    ascii_text = "".join(one if one.isascii() else f"\\u{ord(one):04x}" for one in text)
    return ascii_text.replace("</", "<\\/").replace("<!--", "<\\!--")


def part(name: str) -> str:
    """The text of a file of the laboratory."""
    return resources.files("mmsim.view.lab").joinpath(name).read_text(encoding="utf-8")
