"""The page around a player or a laboratory: one file that fetches nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import resources

from mmsim.host.checkout import repository
from mmsim.host.version import VERSION

ORIGIN = f"Made with mmsim {VERSION}, the simulator of the memory machine models (DMM, UMM, HMM)."
"""The origin of a page, in words."""


def origin() -> dict[str, str]:
    """The origin of a page: in words, and the address of the repository if there is one."""
    address = repository()
    return {"origin": ORIGIN, **({"repository": address} if address else {})}


def page(values: Mapping[str, str]) -> str:
    """Return a page as text: `page.html`, with values for the names in braces."""
    own = resources.files("mmsim.view").joinpath("page.html").read_text(encoding="utf-8")
    return filled(own, values)


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a text with values for the names in braces.

    >>> filled("{{ONE}} and {{OTHER}}", {"ONE": "{{OTHER}}", "OTHER": "2"})
    '{{OTHER}} and 2'
    """
    return re.sub("{{([A-Z]+)}}", lambda found: values[found[1]], text)
