"""The cases of a sweep: parameters, their written form, and the key that distinguishes them."""

from __future__ import annotations

import hashlib
import inspect
import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mmsim.errors import LONGEST_SHOWN, shown
from mmsim.frontend.program import Program
from mmsim.model.card import Card, to_json
from mmsim.model.layout import Layout
from mmsim.model.machines import Machine
from mmsim.sweeps.file import SweepError
from mmsim.sweeps.fingerprint import Texts, fingerprint
from mmsim.sweeps.rows import RESULTS, SweepRow

Grid = Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Any]]


@dataclass(frozen=True)
class Case:
    """One call of the function: its parameters (`values`), and their form in the row (`written`).

    `key` depends on the function's name, `written`, and the numbers of cards; `source` on the
    functions' text.
    """

    key: str
    source: str
    values: dict[str, Any]
    written: SweepRow


def make_cases(function: Callable[..., Any], grid: Grid) -> list[Case]:
    """The cases of a grid, in its order, the last parameter changing fastest.

    Raises `SweepError` for a case that occurs twice, or whose parameters the function can't take.
    """
    if not callable(function):
        raise SweepError(f"a sweep needs a function that returns a Run, not {shown(function)}")
    cases: dict[str, Case] = {}
    programs: dict[tuple[int, ...], str] = {}  # a fingerprint for each choice of programs
    texts: Texts = {}
    for values in _combinations(grid):
        written = {name: _written(name, value) for name, value in values.items()}
        key = _key(function, written, [values[name] for name in sorted(values)])
        if key in cases:
            raise SweepError(f"the case {described(written)} occurs twice; give each case once")
        chosen = list(_called(tuple(values.values())))
        names = tuple(map(id, chosen))
        if names not in programs:
            programs[names] = fingerprint((function, *chosen), texts)
        cases[key] = Case(key, programs[names], values, written)
    if not cases:
        raise SweepError("the grid has no case; give each of its parameters a value")
    for case in cases.values():
        _try_to_call(function, case)
    return list(cases.values())


def described(written: SweepRow) -> str:
    """The parameters of a case as text: n=64, schedule=synchronous."""
    return ", ".join(f"{name}={value}" for name, value in written.items()) or "without parameters"


def _combinations(grid: Grid) -> list[dict[str, Any]]:
    if not _lists(grid):
        raise SweepError(f"a grid has a list of values for each parameter; this is {shown(grid)}")
    if not isinstance(grid, Mapping):
        cases = list(grid)
        for case in cases:
            if not isinstance(case, Mapping):
                raise SweepError(f"a case is a dictionary of parameters, not {shown(case)}")
        return [dict(case) for case in cases]
    values: list[list[Any]] = []
    for name, several in grid.items():
        if isinstance(several, str) or not _lists(several):
            raise SweepError(
                f"{name}={shown(several)}, but a grid has a list of values for each name"
            )
        values.append(list(several))
    return [dict(zip(grid, chosen, strict=True)) for chosen in itertools.product(*values)]


def _lists(value: object) -> bool:
    """Return whether a value has items to go through; an array without a dimension has none."""
    return isinstance(value, Iterable) and not (isinstance(value, np.ndarray) and value.ndim == 0)


def _called(value: Any) -> Iterator[Any]:
    """The programs and functions among values."""
    if isinstance(value, tuple):
        for one in value:
            yield from _called(one)
    elif callable(value):
        yield value


def _written(name: str, value: Any) -> Any:
    """A parameter in a row: a number as itself, any other value as text."""
    if not isinstance(name, str) or name in RESULTS:
        raise SweepError(f"a parameter can't be called {name!r}, which is a column of every row")
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int) and value.bit_length() > LONGEST_SHOWN:
        raise SweepError(f"{name}={shown(value)} has too many digits to be written into a row")
    number = isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value))
    if value is None or isinstance(value, str) or number:
        return value
    if isinstance(value, complex):
        return str(value)
    if isinstance(value, tuple):
        return str(tuple(_written(name, one) for one in value))
    if isinstance(value, Program):
        return value.name
    if callable(value) and hasattr(value, "__name__"):
        return value.__name__
    if isinstance(value, Machine | Layout) and " at 0x" not in (text := str(value)):
        return text
    raise SweepError(
        f"{name}={shown(value)} has no name to write into a row; parameters are numbers, texts, "
        "machines, layouts, programs and functions, so give a name and let the function make it"
    )


def _numbers(values: Iterable[Any]) -> Iterator[str]:
    """The numbers of the cards among values: what is written of a card is its name."""
    for value in values:
        if isinstance(value, tuple):
            yield from _numbers(value)
        elif isinstance(value, Card):
            yield to_json(value)


def _key(function: Callable[..., Any], written: SweepRow, values: Iterable[Any]) -> str:
    inner = function
    while not hasattr(inner, "__name__") and hasattr(inner, "func"):
        inner = inner.func  # of a functools.partial
    name = getattr(inner, "__name__", type(inner).__name__)
    text = json.dumps([name, sorted(written.items()), *_numbers(values)])
    return f"k{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _try_to_call(function: Callable[..., Any], case: Case) -> None:
    try:
        inspect.signature(function).bind(**case.values)
    except TypeError as error:
        name = getattr(function, "__name__", repr(function))
        raise SweepError(
            f"{name} can't be called with the case {described(case.written)}: {error}"
        ) from None
    except ValueError:  # a function whose parameters can't be inspected
        return
