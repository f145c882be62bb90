"""Lenient mode: a kernel of numba.cuda goes on as a card does, with a warning for each mistake.

- A barrier that only some lanes of a warp reach counts the warp as one that has come.
- A variable that a lane has not set is 0 where it reaches memory or a branch.
- Lanes that have left a loop go on first if the others wait in it for them.
"""

from __future__ import annotations

import warnings
from contextvars import ContextVar
from typing import Any, Protocol

from mmsim.errors import Place, ProgramError

chosen: ContextVar[bool | None] = ContextVar("lenient", default=None)
everywhere: list[bool] = []
"""The choice of all threads that have made none, if there is one."""


class LenientWarning(UserWarning):
    """A mistake of a kernel with which a run in lenient mode has gone on."""


def is_lenient() -> bool:
    """Return whether launches of kernels are lenient now."""
    own = chosen.get()
    return bool(everywhere and everywhere[-1]) if own is None else own


class Lanes(Protocol):
    """The lanes of a sequencer."""

    def thread(self, lane: int) -> int:
        """The thread id of a lane."""


class Lenient:
    """The warnings of a launch: one for each kind of mistake and each place."""

    def __init__(self) -> None:
        self.said: set[tuple[type[ProgramError], Place]] = set()

    def warn(
        self,
        kind: type[ProgramError],
        message: str,
        place: Place,
        lanes: Lanes,
        lane: int,
        **facts: Any,
    ) -> None:
        """Warn of what is an error without this mode."""
        if (kind, place) in self.said:
            return
        self.said.add((kind, place))
        text = f"thread {lanes.thread(lane)}: {message} (lenient: the run goes on)"
        warnings.warn_explicit(text, LenientWarning, place.file, place.line)
