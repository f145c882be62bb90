"""Launches with symbols, executed: the rows of their accesses, and what claims read of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mmsim.claims.launch import SymbolicLaunch
from mmsim.ir import nodes as ir
from mmsim.proof.domain import Case, of_sympy
from mmsim.proof.execution import Execution, rows_time
from mmsim.proof.facts import Facts, Undecided
from mmsim.proof.terms import ONE, Term, inverse, summed
from mmsim.proof.warps import Row, Rows, Sizes, Value, Warps


class Number:
    """A term with the operators of numbers, which compares by what is known of its symbols.

    For functions that are written for numbers: contents by index, a claim's `measure`.
    """

    __hash__ = None  # type: ignore[assignment]  # equal numbers may have different terms

    def __init__(self, term: Term, of: Callable[[Any], Term], facts: Facts) -> None:
        self.term, self.of, self.facts = term, of, facts

    def _other(self, other: Any) -> Term:
        return other.term if isinstance(other, Number) else self.of(other)

    def _new(self, term: Term) -> Number:
        return type(self)(self.facts.reduced(term), self.of, self.facts)

    def __add__(self, other: Any) -> Number:
        return self._new(self.term + self._other(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Number:
        return self._new(self.term - self._other(other))

    def __rsub__(self, other: Any) -> Number:
        return self._new(self._other(other) - self.term)

    def __mul__(self, other: Any) -> Number:
        return self._new(self.term * self._other(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Number:
        below = self._other(other)
        exact = self.facts.exact(self.term, below)
        return self._new(self.term * inverse(below) if exact is None else exact)

    def __floordiv__(self, other: Any) -> Number:
        return self._new(self.facts.divmod(self.term, self._other(other))[0])

    def __mod__(self, other: Any) -> Number:
        return self._new(self.facts.divmod(self.term, self._other(other))[1])

    def __ge__(self, other: Any) -> bool:
        return bool(np.all(self.facts.holds(self.term - self._other(other))))

    def __gt__(self, other: Any) -> bool:
        return bool(np.all(self.facts.holds(self.term - self._other(other) - 1)))

    def __le__(self, other: Any) -> bool:
        return not self > other

    def __lt__(self, other: Any) -> bool:
        return not self >= other

    def __eq__(self, other: object) -> bool:
        return self >= other and not self > other


@dataclass(frozen=True)
class Request:
    """A request of a warp to an array, as a reader sees it.

    `index` is the index of each lane, `address` the word counted from the array's first one.
    `where` names the warps, blocks and trips that send it.
    """

    index: tuple[Term, ...]
    address: Term
    lanes: int
    stages: Term
    where: str


class Located(Execution):
    """Executes a program; what it gives up at names its array. `requests` stays empty here."""

    def __init__(self, sizes: Sizes, facts: Facts) -> None:
        super().__init__(sizes, facts)
        self.requests: dict[int, dict[str, Request]] = {}

    def access(self, one: ir.Access, classes: list[Warps]) -> list[Warps]:
        try:
            return super().access(one, classes)
        except Undecided as error:
            if not hasattr(error, "array"):
                error.array = one.array  # type: ignore[attr-defined]
            raise


class Explained(Located):
    """Executes a program, and keeps the requests of each access, to explain their stages."""

    def request(self, one: ir.Access, w: Warps) -> tuple[Term | None, Value, Term]:
        found = super().request(one, w)
        index = [self.value(part, w) for part in one.index]
        if all(isinstance(part, Term) for part in index):
            shape = self.shape(one.array)
            if len(shape) != len(index):
                shape = (Term.of(1),)
            address = Term({})
            for part, extent in zip(index, shape, strict=True):
                address = address * extent + part
            active = w.active
            ranges = ", ".join(f"{r.name} {r.low} .. {r.high - 1}" for r in self.facts.ranges)
            request = Request(
                tuple(part.of_lanes(active) for part in index),
                self.facts.reduced(address).of_lanes(active),
                int(active.sum()),
                found[0] if found[0] is not None else self.sizes.stages[one.array],
                ranges,
            )
            key = f"{request.address} {request.lanes} {request.stages}"
            self.requests.setdefault(one.site, {}).setdefault(key, request)
        return found


@dataclass(frozen=True)
class Executed:
    """The rows of a launch, the latencies of its memories by space, and requests to explain."""

    rows: Rows
    latencies: dict[str, Term]
    requests: dict[int, dict[str, Request]]
    machine: str

    def unit(self, row: Row) -> str:
        """The unit that serves an access: "banks" or "groups"."""
        return "banks" if row.space == "shared" or self.machine == "DMM" else "groups"

    @property
    def time(self) -> Term:
        """The time under the synchronous schedule."""
        return rows_time(self.rows, self.latencies)

    def time_of(self, row: Row) -> Term:
        """The time of all rounds of an access."""
        return row.busy + row.rounds * (self.latencies[row.space] - 1)


def executed(
    launch: SymbolicLaunch, case: Case, facts: Facts, by: type[Located] = Located
) -> Executed:
    """Execute one launch in a case."""

    def of(value: Any) -> Term:
        return facts.reduced(of_sympy(value, case.values, facts))

    def whole(what: str, value: Any) -> Term:
        term = of(value)
        if any(facts.share(product, v, ONE, 1) is None for product, v in term.parts.items()):
            raise Undecided(f"whether {what} = {value} is a whole number")
        return term

    machine: Any = launch.machine
    width = of(machine.width).number
    kind = type(machine).__name__
    threads = whole("threads", launch.threads)
    shapes, numbers = {}, {}
    for name, value in launch.arguments.items():
        if isinstance(value, tuple):
            shapes[name] = tuple(whole(f"an extent of {name}", extent) for extent in value)
        else:
            numbers[name] = whole(name, value)
    size = launch.block_size
    sizes = Sizes(
        launch.program.code,
        shapes,
        numbers,
        threads,
        threads if size is None else whole("block_size", size),
        int(width),  # type: ignore[arg-type]
        "banks" if kind == "DMM" else "groups",
        of(machine.dmms) if kind == "HMM" else None,
        {name: _content(function, of, facts) for name, function in launch.contents.items()},
        {name: of(value) for name, value in launch.stages.items()},
        {name for name, value in launch.stages.items() if getattr(value, "free_symbols", ())},
    )
    if kind == "HMM":
        latencies = {"global": of(machine.global_latency), "shared": of(machine.shared_latency)}
    else:
        latencies = {"memory": of(machine.latency)}
    execution = by(sizes, facts)
    return Executed(execution.run(), latencies, execution.requests, kind)


def _content(
    function: Callable[..., Any], of: Callable[[Any], Term], facts: Facts
) -> Callable[..., Term]:
    def found(*index: Term) -> Term:
        value = function(*(Number(term, of, facts) for term in index))
        return value.term if isinstance(value, Number) else of(value)

    return found


class Sum(Number):
    """A sum over rounds: it adds up, but it says nothing of a single round."""

    def __ge__(self, other: Any) -> bool:
        raise Undecided("the claim compares single rounds")

    __gt__ = __ge__


class Together(tuple[Any, ...]):
    """Rows of which each stands for all rounds of an access; their number isn't known."""

    def __len__(self) -> int:
        raise Undecided("the claim counts rounds")


@dataclass(frozen=True)
class MeasuredRow:
    """An access, all its requests together, as a row of a run has it."""

    function: str
    file: str
    line: int
    array: str
    kind: str
    space: str
    requests: Number
    stages: Number
    time: Number


@dataclass(frozen=True)
class MeasuredMachine:
    """The machine of launches in a case: numbers in the place of its symbols."""

    width: int


@dataclass(frozen=True)
class Measured:
    """The numbers that a claim's `measure` may read of launches, as of a `Run`.

    A row of `rounds` stands for all rounds of an access, whose stages and times can be added up.
    There are no arrays, no trace and no findings.
    """

    time: Number
    stages: Number
    accesses: tuple[MeasuredRow, ...]
    rounds: Together
    machine: MeasuredMachine
    launches: int
    threads: Number
    done: tuple[Executed, ...] = field(repr=False, default=())


def measured(
    launches: Iterable[SymbolicLaunch], case: Case, facts: Facts, by: type[Located] = Located
) -> Measured:
    """Execute launches in a case."""

    def of(value: Any) -> Term:
        return facts.reduced(of_sympy(value, case.values, facts))

    done, times, width, threads = [], [], 1, Term({})
    counts: dict[tuple[Any, ...], list[Term]] = {}
    for launch in launches:
        one = executed(launch, case, facts, by)
        done.append(one)
        times.append(one.time)
        width, threads = int(of(launch.machine.width).number), of(launch.threads)  # type: ignore[arg-type]
        for row in one.rows.values():
            place = row.place.function, row.place.file, row.place.line
            before = counts.setdefault((*place, row.array, row.kind, row.space), [Term({})] * 3)
            more = row.requests, row.stages, one.time_of(row)
            before[:] = [old + new for old, new in zip(before, more, strict=True)]

    def rows(kind: type[Number]) -> list[MeasuredRow]:
        return [
            MeasuredRow(*key, *(kind(facts.reduced(term), of, facts) for term in terms))
            for key, terms in counts.items()
        ]

    def number(term: Term) -> Number:
        return Number(facts.reduced(term), of, facts)

    return Measured(
        number(summed(times)),
        number(summed(terms[1] for terms in counts.values())),
        tuple(rows(Number)),
        Together(rows(Sum)),
        MeasuredMachine(width),
        len(done),
        number(threads),
        tuple(done),
    )
