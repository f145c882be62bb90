"""Tuples with named values: named tuples, and the vectors of CUDA."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Named(tuple[Any, ...]):
    """A tuple with a name for each of its values.

    >>> Named((1, 2), ("x", "y")).item("y")
    2
    """

    names: tuple[str, ...]

    def __new__(cls, items: Iterable[Any], names: Iterable[str]) -> Named:
        """A tuple of these items, under these names."""
        made = super().__new__(cls, items)
        made.names = tuple(names)
        return made

    def item(self, name: str) -> Any:
        """The value of a name."""
        return self[self.names.index(name)]


def like(model: tuple[Any, ...], items: Iterable[Any]) -> tuple[Any, ...]:
    """A tuple with the names of another tuple's items, if these have any."""
    return Named(items, model.names) if isinstance(model, Named) else tuple(items)


def field_names(thing: Any) -> tuple[str, ...] | None:
    """The names of the values of a named tuple, or of the tuples of such a class; else None."""
    kind = thing if isinstance(thing, type) else type(thing)
    names = vars(kind).get("_fields")
    return names if kind.__bases__ == (tuple,) and isinstance(names, tuple) else None
