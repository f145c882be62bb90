"""Results that binding derives from programs, memoized for their later launches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from mmsim.frontend.program import Program
from mmsim.host.garbage import unsearched

T = TypeVar("T")
MOST = 100
"""The most results memoized for a program."""


class Memoized:
    """The results for one program by key; those used last stay longest.

    A key names everything but the program on which its result depends. No result is None.
    """

    def __init__(self) -> None:
        self._results: dict[Any, Any] = {}
        self._latest: tuple[Any, Any] = (None, None)  # comparing is faster than hashing

    def get(self, key: Any) -> Any:
        """The result for a key, None without one."""
        latest, found = self._latest
        if latest == key:
            return found
        found = self._results.pop(key, None)
        return None if found is None else self.put(key, found)

    def put(self, key: Any, result: T) -> T:
        """Memoize a result, and return it."""
        self._results[key] = result
        self._latest = key, result
        if len(self._results) > MOST:
            self._results.pop(next(iter(self._results)), None)
        return result

    def once(self, key: Any, make: Callable[[], T]) -> T:
        """The result of `make()`, made once for each key."""
        found: T | None = self.get(key)
        if found is None:
            with unsearched():
                return self.put(key, make())
        return found


_of_programs: WeakKeyDictionary[Program, Memoized] = WeakKeyDictionary()


def memoized(program: Program) -> Memoized:
    """The memoized values of a program. They are dropped with the program."""
    found = _of_programs.get(program)
    return _of_programs.setdefault(program, Memoized()) if found is None else found
