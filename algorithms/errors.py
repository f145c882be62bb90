"""The preconditions of an algorithm's input, and the error for other input."""

from __future__ import annotations

from mmsim.errors import MMSimError


class PreconditionError(MMSimError, ValueError):
    """Input that breaks an algorithm's precondition; it names the precondition and its place."""


def require(condition: bool, text: str, source: str) -> None:
    """Refuse input that breaks a precondition, as `require(n % w == 0, "w divides n", "CFP IV")`.

    `text` names the precondition and the given value, `source` the paper and the section.
    """
    if not condition:
        raise PreconditionError(f"{text} ({source})")
