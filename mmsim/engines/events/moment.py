"""Reusable events of SimPy, with a delay and a priority.

SimPy has no such event: a `Timeout` has a delay but no priority of its own, and happens once.
Both are needed here. At one instant completions come before dispatches (docs/machines.md), and a
new event for each of a million accesses costs more than the accesses do. So `Moment` sets the
fields of an event that SimPy keeps to itself, as `Timeout` does, and nothing else in mmsim does.
`tests/engines/test_moment.py` holds it against the `Timeout` of the SimPy that is installed.
"""

from __future__ import annotations

from simpy import Environment, Event

COMPLETION, BEGIN, DISPATCH = 1, 2, 3
"""Priorities: what comes first at one instant."""


class Moment(Event):
    """An event that happens once; a process may wait for it."""

    def __init__(self, env: Environment) -> None:
        self.env = env
        self.callbacks = []
        self._ok = True
        self._value = None

    def after(self, delay: int, priority: int) -> None:
        """Let it happen `delay` time units from now."""
        self.env.schedule(self, priority, delay)  # type: ignore[arg-type]  # any int is a priority


class Recurring(Moment):
    """An event that happens again and again, and each time does what `happen` does."""

    def after(self, delay: int, priority: int) -> None:
        """Let it happen `delay` time units from now; not again before it has happened."""
        self.callbacks = [self.happen]
        self.env.schedule(self, priority, delay)  # type: ignore[arg-type]  # any int is a priority

    def happen(self, _: Event) -> None:
        """It happens."""
        raise NotImplementedError
