"""What an algorithm requires of its input, and the error where the input doesn't meet it."""

from __future__ import annotations

from mmsim.errors import MMSimError


class PreconditionError(MMSimError, ValueError):
    """Input that an algorithm of a paper doesn't take; it names the precondition and its place."""


def require(condition: bool, text: str, source: str) -> None:
    """Refuse input that breaks a precondition, as `require(n % w == 0, "w divides n", "CFP IV")`.

    `text` says what must hold and what was given instead, `source` the paper and the section.
    """
    if not condition:
        raise PreconditionError(f"{text} ({source})")
