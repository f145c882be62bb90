"""Launches with symbols, executed: the rows of their accesses, and what claims read of a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mmsim.claims.claim import symbols_of
from mmsim.claims.launch import Repeated, Rotated, SymbolicLaunch
from mmsim.ir import nodes as ir
from mmsim.model.conflicts import Banks, Groups
from mmsim.model.machines import Unit, Units
from mmsim.proof.accesses import Accesses, Sent
from mmsim.proof.domain import Case, of_sympy
from mmsim.proof.execution import Execution, rows_time
from mmsim.proof.facts import Facts, Range, Split
from mmsim.proof.terms import ONE, Term, Undecided, inverse, symbol, total
from mmsim.proof.warps import SUMMED, Row, Rows, Rule, Sizes, Warps


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

    def applied(
        self, function: Callable[..., Any], limit: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> Number:
        """A value of a function: a number for numbers, else any whole number below its limit."""
        terms = [self._other(one) for one in arguments]
        numbers = [term.number for term in terms]
        if not any(one is None for one in numbers):
            return self._new(Term.of(function(*numbers)))
        if not all(term.is_uniform for term in terms):
            raise Undecided(f"{function.__name__} of {', '.join(map(str, terms))}")
        high = self._other(limit(*(self._new(term) for term in terms)))
        return self._new(self.facts.any_number(high))

    def __ge__(self, other: Any) -> bool:
        return self._holds(self.term - self._other(other))

    def __gt__(self, other: Any) -> bool:
        return self._holds(self.term - self._other(other) - 1)

    def _holds(self, term: Term) -> bool:
        found = self.facts.holds(term)
        if np.all(found) != np.any(found):
            raise Undecided(f"whether {term} is negative, which differs among lanes")
        return bool(np.all(found))

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
        except (Undecided, Split) as error:
            if not hasattr(error, "array"):
                error.array = one.array  # type: ignore[union-attr]
            raise


class Explained(Located):
    """Executes a program, and keeps the requests of each access, to explain their stages."""

    widest = 0

    def request(self, one: ir.Access, w: Warps) -> Sent:
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
            ranges = ", ".join(
                f"{r.name} {r.low} .. {r.high - 1}"
                for r in self.facts.ranges
                if not r.name.startswith("any")
            )
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
    """The rows of a launch, the latencies of its memories by space, and requests to explain.

    `units` are "banks" or "groups", by space.
    """

    rows: Rows
    latencies: dict[str, Term]
    requests: dict[int, dict[str, Request]]
    units: dict[str, str]

    def unit(self, row: Row) -> str:
        """The unit that serves an access: "banks" or "groups"."""
        return self.units[row.space]

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
    """Execute one launch in a case; `by` an `Explained` keeps the requests, and takes longer."""

    def of(value: Any) -> Term:
        return facts.reduced(of_sympy(value, case.values, facts))

    def whole(what: str, value: Any) -> Term:
        term = of(value)
        if any(facts.share(product, v, ONE, 1) is None for product, v in term.parts.items()):
            raise Undecided("whether {} = {} is a whole number", what, str(value))
        return term

    machine: Any = launch.machine
    width = of(machine.width).number
    threads = whole("threads", launch.threads)
    shapes, numbers = {}, {}
    for name, value in launch.arguments.items():
        if isinstance(value, tuple):
            shapes[name] = tuple(whole(f"an extent of {name}", extent) for extent in value)
        else:
            numbers[name] = whole(name, value)
    size = launch.block_size
    shared, count = shared_of(machine)
    dmms = of(count) if shared else None
    units = [machine.memory, *shared]
    plain = machine.bank_bytes is machine.cache is machine.resident is None
    different = len({(unit.conflict, unit.latency) for unit in shared}) > 1
    slow = machine.under_way != 1 or any(unit.stage_time != 1 for unit in units)
    if not plain or slow or different:
        raise Undecided(f"a machine such as {machine}")
    rules = [_rule(unit, of, facts) for unit in units]
    if rules[0].words is not None:
        pair = Term.of(2 * rules[0].width)
        if launch.program.code.locals or any(
            facts.exact(math.prod(shape, start=Term.of(1)), pair) is None
            for shape in shapes.values()
        ):
            raise Undecided("arrays that end within a row of two words for each bank")
    sizes = Sizes(
        launch.program.code,
        shapes,
        numbers,
        threads,
        threads if size is None else whole("block_size", size),
        int(width),  # type: ignore[arg-type]
        rules[0],
        rules[-1] if dmms is not None else None,
        dmms,
        {name: _content(function, of, facts) for name, function in launch.contents.items()},
        {name: of(value) for name, value in launch.stages.items()},
        {name for name, value in launch.stages.items() if getattr(value, "is_Symbol", False)},
        {
            name: one if isinstance(one, Rotated) else _content(one, of, facts)
            for name, one in launch.layouts.items()
        },
    )
    latencies = {unit.space: of(unit.latency) for unit in units}
    execution = by(sizes, facts)
    try:
        rows = execution.run()
    except Undecided:
        if not execution.spread:
            raise
        execution = by(sizes, facts)
        execution.widest = 0
        rows = execution.run()
    kinds = {rule.space: rule.unit for rule in rules}
    for row in rows.values():
        facts.check_known(row.requests, row.stages, row.busy, row.rounds)
    return Executed(rows, latencies, execution.requests, kinds)


def shared_of(machine: Any) -> tuple[Sequence[Unit], Any]:
    """The shared memories, one for all where their number is a symbol, and their number."""
    shared = machine.shared
    if isinstance(shared, Units):
        one = Unit("", shared.conflict, shared.latency, 0, "shared", shared.stage_time)
        return [one], shared.dmms
    return shared, len(shared)


def _rule(unit: Unit, of: Callable[[Any], Term], facts: Facts) -> Rule:
    """The rule of conflicts of a unit: of banks, of groups, or of pairs of words on banks."""
    conflict: Any = unit.conflict
    kind = {Banks: "banks", Groups: "groups"}.get(type(conflict))
    if kind is None and not hasattr(conflict, "pairs"):
        raise Undecided(f"a memory of {conflict.title}")
    width: Any = of(conflict.width).number
    words = None if kind else _content(conflict.pairs, of, facts)
    return Rule(unit.space, kind or "banks", int(width), words)


def _content(
    function: Callable[..., Any], of: Callable[[Any], Term], facts: Facts
) -> Callable[..., Term]:
    def found(*index: Term) -> Term:
        try:
            value = function(*(Number(term, of, facts) for term in index))
        except (Undecided, Split):
            raise
        except Exception as error:  # of a function that the user gives
            text = "the function that is given in contents= can't take a symbol ({}: {})"
            raise Undecided(text, type(error).__name__, error) from error
        return value.term if isinstance(value, Number) else of(value)

    return found


class Launches(Accesses):
    """Executes launches whose number is a term: as warps, they are divided where they differ."""

    def __init__(self, case: Case, facts: Facts, by: type[Located]) -> None:
        self.case, self.facts, self.by = case, facts, by

    def number(self, one: Repeated) -> Term:
        """The number of the launches."""
        return self.of(one.high) - self.of(one.low)

    def of(self, value: Any) -> Term:
        return self.facts.reduced(of_sympy(value, self.case.values, self.facts))

    def repeated(self, one: Repeated, name: str) -> list[tuple[Executed, Term]]:
        """The sums over launches that agree, and how many these are."""
        number = self.number(one)
        if not self.facts.holds(number - 1):
            return []
        everyone = np.ones(1, dtype=bool)
        place = {name: self.of(one.low) + symbol(name)}
        start = Warps((Range(name, Term({}), number),), {}, everyone, place=place)
        found = []
        for w, done in self.each([start], lambda w: self.executed(one, name, w)):
            env = {
                f"{at} {field}": term
                for at, row in done.rows.items()
                for field, term in row.terms.items()
            }
            terms = replace(w, env={**env, "": Term.of(1)})
            for _, sums in self.each([terms], self.summed):
                rows = {
                    at: replace(row, **{field: sums[f"{at} {field}"] for field in SUMMED})
                    for at, row in done.rows.items()
                }
                found.append((replace(done, rows=rows), sums[""]))
        return found

    def executed(self, one: Repeated, name: str, w: Warps) -> Executed:
        """A launch of a class, whose number is a term."""
        case = replace(self.case, values={**self.case.values, name: w.place[name]})
        done = executed(one.launch(symbols_of([name])[name]), case, self.facts, self.by)
        if any(r.name in t.symbols for r in w.ranges for t in done.latencies.values()):
            raise Undecided("latencies that differ among launches")
        return done

    def summed(self, w: Warps) -> dict[str, Term]:
        """The sums of terms over the numbers of a class."""
        # Quotients are found again, as there may be more facts in a part of the numbers.
        values = {r.name: r.low if r.high - r.low == 1 else symbol(r.name) for r in w.ranges}
        found = {key: self.with_quotients(term, values) for key, term in w.env.items()}
        for r in reversed(w.ranges):
            for key, term in found.items():
                self.check_launches(term, r)
                found[key] = total(term, r.name, r.low, r.high)
        return found

    def check_launches(self, term: Term, over: Range) -> None:
        """Make sure that no quotient hides the number of a launch."""
        for name in sorted(term.symbols & self.facts.quotients.keys()):
            if over.name in self.facts.hidden(name):
                above, below = self.facts.quotients[name].above, self.facts.quotients[name].below
                if isinstance(below.number, int):
                    raise Split(over.name, modulus=below.number)
                if len(below.parts) == 1:
                    _, left = self.facts.parted(above, below)
                    for rest in (left, left + below, left + below * 2):
                        if (
                            self.facts.bound(rest + below) >= 0
                            and self.facts.bound(below - rest) > 0
                        ):
                            self.facts.holds(rest)  # splits the range where it becomes negative
                raise Split(over.name, divisor=below)


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
    launches: Number
    threads: Number
    done: tuple[Executed, ...] = field(repr=False, default=())


def measured(
    launches: Iterable[SymbolicLaunch | Repeated],
    case: Case,
    facts: Facts,
    by: type[Located] = Located,
) -> Measured:
    """Execute launches in a case."""

    def of(value: Any) -> Term:
        return facts.reduced(of_sympy(value, case.values, facts))

    done, times, width, threads = [], [], 1, Term({})
    counts: dict[tuple[Any, ...], list[Term]] = {}
    count = Term({})
    every = Launches(case, facts, by)
    launches = list(launches)
    for launch in launches:
        if isinstance(launch, Repeated):
            facts.holds(every.number(launch) - 1)  # a split comes before all executions
    for at, launch in enumerate(launches):
        if isinstance(launch, Repeated):
            found = every.repeated(launch, f"launch {at}")
        else:
            found = [(executed(launch, case, facts, by), Term.of(1))]
            width, threads = int(of(launch.machine.width).number), of(launch.threads)  # type: ignore[arg-type]
        for one, number_ in found:
            done.append(one)
            times.append(one.time)
            count = count + number_
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
        number(sum(times, Term({}))),
        number(sum((terms[1] for terms in counts.values()), Term({}))),
        tuple(rows(Number)),
        Together(rows(Sum)),
        MeasuredMachine(width),
        number(count),
        number(threads),
        tuple(done),
    )
