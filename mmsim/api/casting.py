"""One object as another class of the same fields."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def as_class(kind: type[T], plain: object) -> T:
    """Return the content of `plain` as a class derived from its own; nothing is copied."""
    made = object.__new__(kind)
    made.__dict__.update(plain.__dict__)
    return made
