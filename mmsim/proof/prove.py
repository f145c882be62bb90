"""Proofs of exact claims: for all sizes of their domain, at one width after the other."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from mmsim.claims.claim import Claim, call_with, symbols_of
from mmsim.proof.domain import Case, domain, holds, of_sympy
from mmsim.proof.execution import Execution, Row, Rows, Sizes, rows_time
from mmsim.proof.facts import Facts, Split, Undecided
from mmsim.proof.launch import SymbolicLaunch
from mmsim.proof.terms import Term, summed

WIDEST = 64
MOST_CASES = 20_000
"""The most cases of a domain at one width."""


@dataclass(frozen=True)
class Round:
    """All rounds of an access together: their number, stages and time."""

    space: str
    kind: str
    array: str
    stages: Term
    time: Term
    count: Term


@dataclass(frozen=True)
class Cost:
    """The cost of launches: the time under the synchronous schedule, and rows of accesses."""

    time: Term
    accesses: tuple[Row, ...]
    rounds: tuple[Round, ...] = ()


def cost(launches: Iterable[SymbolicLaunch], case: Case, facts: Facts) -> Cost:
    """The cost of launches in a case."""
    times, rows, rounds = [], [], []
    for launch in launches:
        found, latencies = executed(launch, case, facts)
        times.append(rows_time(found, latencies))
        for row in found.values():
            rows.append(row)
            each = row.busy + row.rounds * (latencies[row.space] - 1)
            rounds.append(Round(row.space, row.kind, row.array, row.busy, each, row.rounds))
    return Cost(facts.reduced(summed(times)), tuple(rows), tuple(rounds))


def executed(launch: SymbolicLaunch, case: Case, facts: Facts) -> tuple[Rows, dict[str, Term]]:
    """The rows of one launch, and the latencies of its memories."""

    def of(value: Any) -> Term:
        return facts.reduced(of_sympy(value, case.values, facts))

    machine = launch.machine
    width = of(machine.width).number
    kind = type(machine).__name__
    threads = of(launch.threads)
    shapes, numbers = {}, {}
    for name, value in launch.arguments.items():
        if isinstance(value, tuple):
            shapes[name] = tuple(map(of, value))
        else:
            numbers[name] = of(value)
    dmms = of(machine.dmms) if kind == "HMM" else None  # type: ignore[attr-defined]
    sizes = Sizes(
        launch.program.code,
        shapes,
        numbers,
        threads,
        threads if launch.block_size is None else of(launch.block_size),
        int(width),  # type: ignore[arg-type]
        "banks" if kind == "DMM" else "groups",
        dmms,
        {name: _content(function, of, facts) for name, function in launch.contents.items()},
        {name: of(value) for name, value in launch.stages.items()},
    )
    if kind == "HMM":
        latencies = {"global": of(machine.global_latency), "shared": of(machine.shared_latency)}  # type: ignore[attr-defined]
    else:
        latencies = {"memory": of(machine.latency)}  # type: ignore[attr-defined]
    return Execution(sizes, facts).run(), latencies


class Number:
    """A term with the operators of whole numbers, for functions of an index."""

    def __init__(self, term: Term, of: Callable[[Any], Term], facts: Facts) -> None:
        self.term, self.of, self.facts = term, of, facts

    def _other(self, other: Any) -> Term:
        return other.term if isinstance(other, Number) else self.of(other)

    def _new(self, term: Term) -> Number:
        return Number(term, self.of, self.facts)

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

    def __floordiv__(self, other: Any) -> Number:
        return self._new(self.facts.divmod(self.term, self._other(other))[0])

    def __mod__(self, other: Any) -> Number:
        return self._new(self.facts.divmod(self.term, self._other(other))[1])


def _content(
    function: Callable[..., Any], of: Callable[[Any], Term], facts: Facts
) -> Callable[..., Term]:
    def found(*index: Term) -> Term:
        value = function(*(Number(term, of, facts) for term in index))
        return value.term if isinstance(value, Number) else of(value)

    return found


@dataclass
class Proof:
    """What was found about a claim.

    `widths` are those at which it is proved. `why` says why it isn't at another, `against` is a
    case that refutes it.
    """

    claim: str
    widths: list[int] = field(default_factory=list)
    cases: int = 0
    why: str = ""
    against: dict[str, Any] | None = None
    seconds: float = 0.0


def prove(claim: Claim, widths: Iterable[int] = range(1, WIDEST + 1), seconds: float = 60) -> Proof:
    """Try to prove an exact claim at each width."""
    proof = Proof(claim.id)
    begun = time.monotonic()
    if claim.launches is None:
        proof.why = "its launches are not given"
        return proof
    cases = claim.cases()
    names = dict.fromkeys(name for one in cases for name in one if name not in claim.derived)
    strings = {name for name in names if any(isinstance(one.get(name), str) for one in cases)}
    chosen = list({tuple((n, one.get(n)) for n in strings): {n: one.get(n) for n in strings} for one in cases}.values())
    numbers = [name for name in names if name not in strings]
    sentences = [one.text for one in claim.requires]
    allowed = None if all("w" in one for one in cases) else [None]
    for width in allowed or widths:
        base = {} if width is None else {"w": width}
        for fixed, texts in product(_fixed(claim, base), chosen):
            whole = domain(numbers, fixed, sentences)
            if whole is None:
                continue
            try:
                for _ in leaves(whole, lambda case: check(claim, case, texts, begun + seconds), begun + seconds):
                    proof.cases += 1
            except Undecided as error:
                place = getattr(error, "place", None)
                where = f" (line {place.line})" if place is not None else ""
                text = ", ".join(f"{k}={v}" for k, v in {**fixed, **texts}.items())
                proof.why = f"{text}: {error}{where}"
                break
        else:
            proof.widths.append(width or 0)
            continue
        break
    proof.seconds = time.monotonic() - begun
    return proof


def _fixed(claim: Claim, base: dict[str, int]) -> list[dict[str, int]]:
    """Numbers for the parameters that are small beside w: those of "rw and w/r are squares"."""
    for one in claim.requires:
        names = set(inspect.signature(one.holds).parameters) - {"w"}
        if "squares" in one.text and len(names) == 1 and "w" in base:
            (name,) = names
            found = [{**base, name: value} for value in range(1, base["w"] + 1)]
            return [one_ for one_ in found if one.holds(**one_)]
    return [base]


def leaves(whole: Case, action: Callable[[Case], Any], until: float) -> Iterator[tuple[Case, Any]]:
    """Perform an action for a domain, in as many cases as it asks for."""
    todo = [whole]
    count = 0
    while todo:
        case = todo.pop()
        count += 1
        if count > MOST_CASES or time.monotonic() > until:
            raise Undecided(f"too many cases: {case.steps[-6:]}")
        try:
            yield case, action(case)
        except Split as split:
            todo.extend(reversed(case.split(split)))


def cleared(term: Term) -> Term:
    """A term times the symbols of its denominators."""
    low: dict[str, int] = {}
    for powers, _ in term.parts:
        for name, power in powers:
            low[name] = min(low.get(name, 0), power)
    below = tuple(sorted((name, -power) for name, power in low.items() if power < 0))
    return term * Term({(below, ()): 1})


def check(
    claim: Claim, case: Case, texts: Mapping[str, Any], until: float = math.inf
) -> bool:
    """Check that a claim's formula is the measured quantity in a case; False outside its domain."""
    facts = case.facts()
    facts.until = until
    case = replace(case, values=dict(case.values))
    if not holds(case, facts):
        return False
    assert claim.launches is not None
    symbols = {**symbols_of(case.values), **texts}
    found = cost(call_with(claim.launches, symbols), case, facts)
    measured = claim.measure(found)
    formula = claim.formula(**{name: symbols[name] for name in claim.parameters})
    claimed = facts.reduced(of_sympy(formula, case.values, facts))
    difference = facts.reduced(cleared(Term.of(measured) - claimed))
    if difference.parts:
        raise Undecided(f"measured - claimed = {difference} where {'; '.join(case.steps)}")
    return True
