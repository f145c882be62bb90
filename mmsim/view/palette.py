"""The colours of warps, the same in all figures and in the player, and the ink on them."""

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
