"""A profile that prints itself."""

from __future__ import annotations

from dataclasses import dataclass

from mmsim.results import profile
from mmsim.view import html, rich, text


@dataclass(frozen=True, repr=False)
class Profile(profile.Profile):
    """The lines of a program and of the functions that it calls, shown as a table."""

    def __repr__(self) -> str:

        return text(self)

    def _repr_html_(self) -> str:

        return html(self)

    def __rich__(self) -> object:

        return rich(self)
