"""The words of a check's findings as data that JSON can hold, for the engine of the page."""

from __future__ import annotations

from typing import Any

from mmsim.results.findings import ADVICE, DOES, OF_THE_GRID, TITLES, WORDS

OWN = WORDS["python"]


def words() -> dict[str, Any]:
    """The title and the advice of each kind of finding, and what a thread does in an access.

    >>> words()["titles"]["warp-sync"]
    'missing mm.warp.sync()'
    """
    return {
        "titles": {kind: text.format(**OWN) for kind, text in TITLES.items()},
        "advice": {kind: text.format(**OWN) for kind, text in ADVICE.items()} | {"race": ""},
        "of the grid": OF_THE_GRID,
        "does": DOES,
    }
