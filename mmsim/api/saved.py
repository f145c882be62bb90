"""Results of lower floors with methods for users: made without a copy, saved as JSON."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self


class Saved:
    """A result that `to_json` writes; two of them are equal if their texts are."""

    __hash__ = None  # type: ignore[assignment]  # it holds arrays

    @classmethod
    def _as(cls, plain: object) -> Self:
        """The content of `plain`, of a class from which this one is derived; nothing is copied."""
        made = object.__new__(cls)
        made.__dict__.update(plain.__dict__)
        return made

    @abstractmethod
    def to_json(self) -> str:
        """Return the result as JSON text; `from_json` returns an equal one."""

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the result that `to_json` wrote. Raises `FormatError` for any other text."""
        from mmsim.results.codec import load

        return load(text, cls)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self.to_json() == other.to_json()
