"""All printed tables and figures of the papers, reproduced or left out."""

from __future__ import annotations

from dataclasses import dataclass

from mmsim.host.plugins import registered_in

GROUP = "mmsim.contents"


@dataclass(frozen=True)
class PrintedItem:
    """A table or a figure of a paper.

    Parameters
    ----------
    id
        As "SMM-F5"; a `PaperTable`, a `Drawing` or an experiment of the same id reproduces it.
    title
        Its caption.
    claims
        The ids of the claims that reproduce it, if any.
    omitted
        The reason if nothing reproduces it.
    """

    id: str
    title: str
    claims: tuple[str, ...] = ()
    omitted: str = ""


def registered_contents() -> list[PrintedItem]:
    """The contents of all papers (entry point group `mmsim.contents`)."""
    return registered_in(GROUP)
