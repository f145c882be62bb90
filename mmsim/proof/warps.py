"""Warps that do the same, and the costs of accesses: the data of an execution with symbols."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.claims.launch import Rotated
from mmsim.errors import Place
from mmsim.ir import nodes as ir
from mmsim.proof.facts import Range
from mmsim.proof.terms import Term, simple, total

Lanes = npt.NDArray[np.bool_]


class Unknown:
    """A value that depends on memory."""

    def __repr__(self) -> str:
        return "unknown"


@dataclass(frozen=True, eq=False)
class Modulo(Unknown):
    """A whole number that depends on memory, of which each lane's rest by a number is known."""

    by: int
    rest: Any


UNKNOWN = Unknown()
Value = Any
"""A `Term`, an array of bool for the lanes, or `UNKNOWN`."""


@dataclass(frozen=True)
class InTurn:
    """The value of a variable in trips of even and of odd numbers; after the loop, of `count`."""

    even: Term
    odd: Term
    count: Term | None = None

    def map(self, changed: Callable[[Value], Value]) -> InTurn:
        """The same with other terms."""
        count = None if self.count is None else changed(self.count)
        return InTurn(changed(self.even), changed(self.odd), count)


@dataclass(frozen=True)
class Warps:
    """Warps that do the same: their ranges, variables, and lanes.

    `gone` are lanes that have left: "" the program, a loop's number or a scope's name that.
    `outer` has, for each branch around, the mask before it and its test. `place` has terms for the
    numbers of the block and the warp.
    """

    ranges: tuple[Range, ...]
    env: dict[str, Value]
    mask: np.ndarray
    gone: dict[str, np.ndarray] = field(default_factory=dict)
    outer: tuple[tuple[np.ndarray, np.ndarray], ...] = ()
    place: dict[str, Term] = field(default_factory=lambda: {"block": Term({}), "warp": Term({})})

    @property
    def active(self) -> np.ndarray:
        """The lanes that execute a statement."""
        found = self.mask
        for lanes in self.gone.values():
            found = found & ~lanes
        return found


SUMMED = ("requests", "stages", "busy", "rounds")
"""The numbers of a row."""


@dataclass
class Row:
    """An access of the program: requests, stages and rounds of all its executions.

    `busy` is the sum over rounds of the stages of the unit that has most of them. `made` says how
    the row came about, if that is recorded: the rounds, and the ranges over which they are summed.
    """

    place: Place
    array: str
    kind: str
    space: str
    requests: Term = field(default_factory=lambda: Term({}))
    stages: Term = field(default_factory=lambda: Term({}))
    busy: Term = field(default_factory=lambda: Term({}))
    rounds: Term = field(default_factory=lambda: Term({}))
    made: tuple[Any, ...] = ()

    @property
    def terms(self) -> dict[str, Term]:
        """The numbers, by name."""
        return {name: getattr(self, name) for name in SUMMED}

    def summed(self, over: str, low: Term, high: Term) -> Row:
        """The sums over a loop's trips."""
        made = ((Range(over, low, high), self.made),) if self.made else ()
        return replace(self.map(lambda term: total(term, over, low, high)), made=made)

    def map(self, changed: Callable[[Term], Term]) -> Row:
        """The row with other terms."""
        every: dict[str, Any] = {name: changed(term) for name, term in self.terms.items()}
        return replace(self, **every)


Rows = dict[int, Row]


def spread(w: Warps, changed: Callable[[np.ndarray], np.ndarray]) -> Warps:
    """Warps with other arrays for their lanes: in masks, values and numbers."""

    def value_of(value: Value) -> Value:
        if isinstance(value, Term):
            return value if value.is_uniform else value.map(coefficient)
        if isinstance(value, tuple):
            return tuple(map(value_of, value))
        if isinstance(value, InTurn):
            return InTurn(value_of(value.even), value_of(value.odd))
        if isinstance(value, Modulo):
            return Modulo(value.by, coefficient(value.rest))
        return coefficient(value)

    def coefficient(value: Any) -> Any:
        return changed(value) if isinstance(value, np.ndarray) else value

    return replace(
        w,
        env={name: value_of(value) for name, value in w.env.items()},
        mask=changed(w.mask),
        gone={name: changed(lanes) for name, lanes in w.gone.items()},
        outer=tuple((changed(mask), changed(lanes)) for mask, lanes in w.outer),
        place={name: value_of(value) for name, value in w.place.items()},
    )


def copied(term: Term, times: int) -> Term:
    """A term with all its lanes several times."""
    return term.map(lambda v: np.tile(v, times) if isinstance(v, np.ndarray) else v)


def repeated(term: Term, times: int) -> Term:
    """A term with each of its lanes several times."""
    return term.map(lambda v: np.repeat(v, times) if isinstance(v, np.ndarray) else v)


def added(rows: Rows, more: Rows) -> None:
    """Add the costs of more executions."""
    for site, row in more.items():
        if site not in rows:
            rows[site] = row
        else:
            old, more_of = rows[site], row.terms
            both: dict[str, Any] = {name: term + more_of[name] for name, term in old.terms.items()}
            rows[site] = replace(old, **both, made=old.made + row.made)


@dataclass(frozen=True)
class Rule:
    """A memory's rule of conflicts: "banks" or "groups", and how many words a row has.

    Some words may meet as others do on banks: then `words` gives these.
    """

    space: str
    unit: str
    width: int
    words: Callable[..., Term] | None = None


@dataclass(frozen=True)
class Sizes:
    """A launch of which the sizes are terms, and the width a number."""

    code: ir.Code
    shapes: dict[str, tuple[Term, ...]]
    numbers: dict[str, Term]
    threads: Term
    block_size: Term
    width: int
    memory: Rule
    shared: Rule | None = None
    dmms: Term | None = None
    contents: dict[str, Callable[..., Term]] = field(default_factory=dict)
    stages: dict[str, Term] = field(default_factory=dict)
    in_all: Collection[str] = ()
    """The arrays whose `stages` are those of all requests together, not of each."""
    layouts: dict[str, Rotated | Callable[..., Term]] = field(default_factory=dict)


def with_symbols(w: Warps, values: dict[str, Term]) -> Warps:
    """Warps with terms for a symbol in their values."""

    def changed(value: Value) -> Value:
        if isinstance(value, Term):
            return value.with_values(values)
        if isinstance(value, InTurn):
            return value.map(changed)
        if isinstance(value, tuple) and value and isinstance(value[0], Term):
            return tuple(changed(one) for one in value)
        return value

    return replace(w, env={name: changed(value) for name, value in w.env.items()})


def merged(lanes: np.ndarray, value: Value, other: Value) -> Value:
    """One value for some lanes and another one for the others."""
    if isinstance(value, np.ndarray | bool) or isinstance(other, np.ndarray | bool):
        return UNKNOWN
    if not isinstance(value, Term) or not isinstance(other, Term):
        return UNKNOWN
    chosen = Term.of(lanes.astype(np.int64))
    return value * chosen + other * (1 - chosen) if (value - other).parts else value


def only(term: Term, lanes: np.ndarray) -> Term:
    """A term whose idle lanes have the value of an active one, so that only these are judged."""
    if term.is_uniform or lanes.all():
        return term
    first = int(np.argmax(lanes))
    return term.map(
        lambda v: simple(np.where(lanes, v, v[first])) if isinstance(v, np.ndarray) else v
    )
