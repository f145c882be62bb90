"""Remembering what claims prepare repeatedly, within bounds."""

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
    """Results by function and arguments, those used last at the end, and their arrays' bytes."""

    room: int
    results: OrderedDict[Hashable, Any] = field(default_factory=OrderedDict)
    size: int = 0

    def result(self, function: Callable[..., Any], arguments: tuple[Hashable, ...]) -> Any:
        """What the function returned for these arguments, or returns now."""
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
        """Forget the result with arrays that was used longest ago."""
        key = next(key for key, result in self.results.items() if size(result))
        self.size -= size(self.results.pop(key))


STORE = Store(room=5 * 2**28)
"""Room for what the papers' own sizes need at a time: a plan for 2^24 words takes 3/4 GiB."""


def remembered(function: F) -> F:
    """Remember what a function returned for its arguments, as long as there is room.

    All functions share the room of `STORE`; what was used longest ago is forgotten first.
    """
    signature = inspect.signature(function)

    @wraps(function)
    def remember(*positional: Hashable, **named: Hashable) -> Any:
        bound = signature.bind(*positional, **named)
        bound.apply_defaults()
        return STORE.result(function, tuple(bound.arguments.values()))

    return cast(F, remember)


def size(result: Any) -> int:
    """Bytes of the arrays that a result is made of."""
    if isinstance(result, np.ndarray):
        return result.nbytes
    if is_dataclass(result):
        result = tuple(getattr(result, one.name) for one in fields(result))
    if isinstance(result, Mapping):
        result = tuple(result.values())
    return sum(map(size, result)) if isinstance(result, tuple) else 0
