"""The mistakes with which launches go on."""

from __future__ import annotations

from mmsim.cuda.machines import Chosen
from mmsim.host.arguments import yes_or_no
from mmsim.meaning.leniency import LenientWarning, chosen, everywhere

__all__ = ["LenientWarning", "lenient"]


def lenient(on: bool = True) -> Chosen[bool | None]:
    """Let the launches of a `with` block, or all later ones of this thread, go on as on a card.

    A `LenientWarning` names each mistake that is an error otherwise: a barrier that only some
    lanes of a warp reach, a variable that a thread has not set where it reaches memory or a branch.
    Lanes that have left a loop go on before those that wait in it.
    """
    return Chosen(chosen.set, chosen.get(), yes_or_no("on", on))


def set_lenient() -> None:
    """Let all launches of this process, in all of its threads, be lenient."""
    everywhere[:] = [True]
