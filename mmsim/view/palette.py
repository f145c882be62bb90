"""The colours and fonts of all that mmsim shows: figures, the player, other pages, the site.

`mmsim.view.look` has them as CSS.
"""

from __future__ import annotations

WARPS = (
    "#0064d0",
    "#eda039",
    "#9b3172",
    "#00e3f9",
    "#ca6437",
    "#b4c695",
    "#6a7868",
    "#24a2ff",
    "#edd8d9",
    "#958aa8",
)
"""The colours of warps: warps whose numbers end in the same digit share one.

A search found ten colours that differ with full colour vision, without one of the three kinds of
cones, and in grey print. In grey, neighbours in this order differ the most.
"""

LIGHT = {
    "paper": "#ffffff",
    "panel": "#f6f7f9",
    "ink": "#16191d",
    "faint": "#59616b",
    "line": "#c9ced6",
    "accent": "#0b57d0",
    "mark": "#fff3c4",
    "found": "#d55e00",
    "good": "#1a7f37",
    "known": "#0969da",
    "bad": "#cf222e",
}
"""The colours of a page: behind and of its text, of lines, links, what is marked, and verdicts."""

DARK = {
    "paper": "#14171b",
    "panel": "#1d2126",
    "ink": "#e9ecf0",
    "faint": "#a4adb8",
    "line": "#3b424b",
    "accent": "#8ab4f8",
    "mark": "#4a3f12",
    "found": "#d55e00",
    "good": "#3fb950",
    "known": "#58a6ff",
    "bad": "#ff7b72",
}
"""The same, for readers who prefer the dark."""

EDGE, GRID, GREY = "#333333", "#777777", "#555555"
"""The lines around what a figure shows, those between cells, and letters on white."""

SANS, MONO = "system-ui, sans-serif", "ui-monospace, monospace"
"""The fonts of text and of code."""

TEXT, DENSE = "16px", "14px"
"""The sizes of the text of a page, and where much is on one screen."""


def luminance(colour: str) -> float:
    """The relative luminance of a colour #rrggbb, from 0 (black) to 1 (white), as WCAG defines it.

    >>> luminance("#000000"), luminance("#ffffff")
    (0.0, 1.0)
    """
    red, green, blue = (linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def linear(part: float) -> float:
    """A part of an sRGB colour as light: from 0 to 1."""
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


def ink(colour: str) -> str:
    """Black or white, the more readable one on a colour #rrggbb.

    >>> ink("#0064d0"), ink("#eda039")
    ('white', 'black')
    """
    light = luminance(colour)
    return "black" if (light + 0.05) / 0.05 >= 1.05 / (light + 0.05) else "white"
