"""Remembering the repeated preparations of claims, within bounds."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])


@dataclass
class Store:
    """Results by function and arguments, the last used one at the end, and their arrays' bytes."""

    room: int
    results: OrderedDict[Hashable, Any] = field(default_factory=OrderedDict)
    size: int = 0

    def result(self, function: Callable[..., Any], arguments: tuple[Hashable, ...]) -> Any:
        """Return the function's remembered or new result for these arguments."""
        key = (function, arguments)
        if key not in self.results:
            result = function(*arguments)
            self.results[key] = result
            self.size += size(result)
            while self.size > self.room:
                self.forget()
            return result
        self.results.move_to_end(key)
        return self.results[key]

    def forget(self) -> None:
        """Forget the least recently used result with arrays."""
        key = next(key for key, result in self.results.items() if size(result))
        self.size -= size(self.results.pop(key))


STORE = Store(room=5 * 2**28)
"""Room for the papers' own sizes: a plan for 2^24 words takes 3/4 GiB."""


def remembered(function: F) -> F:
    """Remember a function's results by its arguments, as long as there is room.

    All functions share the room of `STORE`; it forgets the least recently used result first.
    """
    signature = inspect.signature(function)

    @wraps(function)
    def remember(*positional: Hashable, **named: Hashable) -> Any:
        bound = signature.bind(*positional, **named)
        bound.apply_defaults()
        return STORE.result(function, tuple(bound.arguments.values()))

    return cast(F, remember)


def size(result: Any) -> int:
    """Bytes of the arrays in a result."""
    if isinstance(result, np.ndarray):
        return result.nbytes
    if is_dataclass(result):
        result = tuple(getattr(result, one.name) for one in fields(result))
    if isinstance(result, Mapping):
        result = tuple(result.values())
    return sum(map(size, result)) if isinstance(result, tuple) else 0
