"""Reusable events of SimPy, with a delay and a priority.

SimPy has no such event: a `Timeout` has a delay but no own priority, and happens once. mmsim needs
both. At one instant completions come before dispatches (docs/machines.md), and a
new event for each of a million accesses costs more than the accesses do. So `Moment` sets the
private fields of SimPy's event, as `Timeout` does. Nothing else in mmsim sets them.
`tests/engines/test_moment.py` compares it with the `Timeout` of the installed SimPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from simpy import Environment, Event

COMPLETION, BEGIN, DISPATCH = 1, 2, 3
"""Priorities: the order at one instant."""


class Moment(Event):
    """An event that happens once; a process may wait for it."""

    def __init__(self, env: Environment) -> None:
        self.env = env
        self.callbacks = []
        self._ok = True
        self._value = None

    @property
    def now(self) -> int:
        """The time, a whole number like every delay."""
        return self.env.now  # type: ignore[return-value]

    def after(self, delay: int, priority: int) -> None:
        """Let it happen `delay` time units from now."""
        self.env.schedule(self, priority, delay)  # type: ignore[arg-type]  # any int is a priority


class Recurring(Moment):
    """An event that happens repeatedly, and calls `happen` each time."""

    calls: ClassVar[list[Callable[[Any], None]]]

    def __init_subclass__(cls) -> None:
        cls.calls = [cls.happen]  # SimPy calls it with the event

    def after(self, delay: int, priority: int) -> None:
        """Let it happen `delay` time units from now; not again before it has happened."""
        self.callbacks = self.calls
        self.env.schedule(self, priority, delay)  # type: ignore[arg-type]  # any int is a priority

    def happen(self) -> None:
        """React to the event."""
        raise NotImplementedError
