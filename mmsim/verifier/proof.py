"""Verify a proof that is written as data. It shares no code with the prover.

It applies these lemmas and no others; `lemmas` compares L1 to L4 with the machines.

L1. On banks, the stages of a request are the largest number of different words in one bank. A
    number that all lanes add to their words changes nothing.
L2. On address groups, they are the number of different groups.
L3. Atomics to one word don't merge. On banks each of them counts as a word of its own; a group
    takes as many stages as the most atomics to one of its words.
L4. A round takes the stages of the unit that has most of them, plus latency - 1. Rounds follow one
    another, and a barrier takes no time. Blocks are dealt to DMMs in turn: of b blocks in a row,
    some DMM has ceil(b/d), and none more.
L5. If S(x + 1) - S(x) = f(x), the sum of f from a to b - 1 is S(b) - S(a).
L6. Words are different if their difference is at least 1, or at most -1, for all sizes.

The data is trusted to list the requests of the program; runs are compared with it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from inspect import signature
from itertools import islice, product
from random import Random
from types import SimpleNamespace
from typing import Any

from sympy import sympify

from mmsim.claims.claim import Claim, call_with, show, symbols_of
from mmsim.errors import EndlessError
from mmsim.verifier.cases import Case, true
from mmsim.verifier.polynomials import P, Refused, comparing, of, read, symbol
from mmsim.verifier.requests import COUNTS, Rounds
from mmsim.verifier.runs import place, requests, sure, traced
from mmsim.verifier.sizes import points, valued

FORMAT = "mmsim proof 2"
POINTS = 60
"""The most points at which the conditions are compared with the claim's own tests."""
LARGEST = 2000, 500
"""The largest size in the run of the least sizes, and in the one of larger sizes."""


class Verifier:
    """Verifies the proof of a claim at one width, and counts what it verified."""

    def __init__(self, claim: Claim, proof: Any) -> None:
        self.claim, self.width = claim, proof["width"]
        self.domains = proof["domains"]
        self.done: Counter[str] = Counter({"cases": 0, "runs": 0})
        self.where = ""

    def verify(self) -> Counter[str]:
        """Verify all cases. Raises `Refused` at the first false one."""
        try:
            self.complete()
            for domain in self.domains:
                fixed, texts = domain["fixed"], domain["texts"]
                self.where = show({**fixed, **texts})
                self.read_well(domain)
                values = {name: of(number) for name, number in fixed.items()}
                lows = self.lows(fixed, texts)
                case = Case(values | {name: symbol(name) for name in lows}, lows, domain["facts"])
                self.tree(case, domain["tree"], texts, ())
        except Refused as error:
            raise Refused(f"{self.about}: {error}") from None
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            kind = type(error).__name__
            raise Refused(f"{self.about}: this is no proof ({kind}: {error})") from error
        return self.done

    @property
    def about(self) -> str:
        """The place in the proof, in words."""
        width = [] if self.width is None else [f"w = {self.width}"]
        return ", ".join(filter(None, (self.claim.id, *width, self.where)))

    def lows(self, fixed: Any, texts: Any) -> dict[str, int]:
        """The least value of each parameter that is free."""
        cases = self.claim.cases()
        names = {name for one in cases for name in one} - fixed.keys() - texts.keys()
        return {name: int(all(one.get(name) != 0 for one in cases)) for name in sorted(names)}

    def complete(self) -> None:
        """Check that no text and no fixed number is left out."""
        cases = self.claim.cases()
        strings = {name for one in cases for name, value in one.items() if isinstance(value, str)}
        texts = [{name: one.get(name) for name in strings} for one in cases]
        wide = self.width is not None
        for fixed in {frozenset(one["fixed"].items()) for one in self.domains}:
            own = [one["texts"] for one in self.domains if one["fixed"] == dict(fixed)]
            other = wide and dict(fixed).get("w") != self.width
            if other or any(one not in own for one in texts):
                raise Refused("a part of the domain is missing")
        for one in self.domains:
            for name in one["fixed"].keys() - {"w"}:
                given = {other["fixed"][name] for other in self.domains}
                for number in range(1, 4 * self.width + 1):
                    numbers = {"w": self.width, name: number}
                    tests = [r for r in self.claim.requires if parameters(r) <= numbers.keys()]
                    if number not in given and all(call_with(r.holds, numbers) for r in tests):
                        raise Refused(f"{name} = {number} is missing")

    def read_well(self, domain: Any) -> None:
        """Compare the conditions of the data with the claim's own tests, at numbers."""
        fixed, texts, width = domain["fixed"], domain["texts"], self.width or 4
        lows = self.lows(fixed, texts)
        names = list(lows)
        few = sorted({0, 1, 2, 3, 4, 6, 8, width, 2 * width, width**2, 4 * width**2})
        points = [
            dict(zip(names, one, strict=True))
            for one in islice(product(few, repeat=len(names)), 0, 20_000, 7)
        ]
        Random(0).shuffle(points)
        points = [one for one in self.claim.cases() if {**one, **fixed, **texts} == one] + points
        tested = 0
        for point in points:
            numbers = {**point, **fixed, **texts}
            if any(point[name] < low for name, low in lows.items()) or not self.holds(numbers):
                continue
            exact = {name: value for name, value in numbers.items() if isinstance(value, int)}
            for fact in domain["facts"]:
                if not true(fact, exact):
                    raise Refused(f"the condition {fact} is false where {show(numbers)}")
            tested += 1
            if tested == POINTS:
                break
        self.done["points of the domain"] += tested

    def holds(self, numbers: dict[str, Any]) -> bool:
        """Return whether the claim's conditions hold of a case."""
        try:
            derived = {name: call_with(f, numbers) for name, f in self.claim.derived.items()}
            if any(numbers.get(name, value) != value for name, value in derived.items()):
                return False
            return all(call_with(one.holds, numbers | derived) for one in self.claim.requires)
        except (ArithmeticError, ValueError):
            return False

    def tree(self, case: Case, node: Any, texts: Any, path: tuple[str, ...]) -> None:
        """Verify the parts of a case."""
        self.where = f"case {self.done['cases'] + 1} ({', '.join(path)})"
        if node is None:
            if not case.empty:
                raise Refused("this part of the domain isn't covered")
            self.done["empty cases"] += 1
        elif "leaf" in node:
            self.done["cases"] += 1
            self.leaf(case, node["leaf"], texts)
        else:
            kind, name, *_ = node["rule"]
            parts = case.parts(node["rule"])
            if {*node["parts"]} - {str(at) for at in range(len(parts))}:
                raise Refused(f"more parts than {kind} has")
            for at, part in enumerate(parts):
                step = f"{kind} {name if isinstance(name, str) else ''} {at}".replace("  ", " ")
                self.tree(part, node["parts"].get(str(at)), texts, (*path, step))

    def leaf(self, case: Case, data: Any, texts: Any) -> None:
        """Verify a case: sums, requests, the measured and the claimed term, and runs."""
        where = self.where
        case.known |= {name: read(term) for name, term in data["expressions"].items()}
        for name, terms in data["quotients"].items():
            case.quotients[name] = read(terms[0]), read(terms[1])
        for name, term in data["values"].items():
            self.define(case, name, read(term))
        sums = {}
        for name, *terms in data["sums"]:
            term, closed = map(read, terms)
            if closed.put({name: symbol(name) + 1}) - closed != term:
                raise Refused(f"{closed} is not the sum of {term} over {name}")
            sums[name, term] = closed
            self.done["sums"] += 1
        numbers = {name: one.number for name, one in case.values.items()}
        exact = {name: sympify(int(n)) for name, n in numbers.items() if n is not None}
        symbols = {**symbols_of(case.values), **exact, **texts}
        launches: Any = call_with(self.claim.launches, symbols) if self.claim.launches else ()
        launches = list(launches)
        rows, times = [], []
        for launch, accesses in zip(launches, data["launches"], strict=True):
            for row in accesses:
                self.where = f"{where}, line {row['line']} of {row['function']}, {row['array']}"
                one = Rounds(case, launch, row, sums)
                requests, total, busy, rounds = one.counts(row["made"])
                if one.together:
                    total = busy = case.value(launch.stages[one.array])
                self.done["requests"] += one.requests
                given = [read(row[name]) for name in ("requests", "stages", "busy", "rounds")]
                for name, mine, its in zip(
                    COUNTS, (requests, total, busy, rounds), given, strict=True
                ):
                    if not case.same(mine, its):
                        raise Refused(f"{name} are {mine}, not {its}")
                latency = "latency" if one.space == "memory" else f"{one.space}_latency"
                time = busy + rounds * (case.value(getattr(launch.machine, latency)) - 1)
                times.append(time)
                rows.append(
                    SimpleNamespace(
                        **{key: row[key] for key in ("function", "file", "line", "array", "kind")},
                        space=one.space,
                        requests=requests,
                        stages=total,
                        time=time,
                    )
                )
        self.where = where
        run: Any = SimpleNamespace(
            time=sum(times, start=of(0)),
            stages=sum((row.stages for row in rows), start=of(0)),
            accesses=rows,
            rounds=rows,
            machine=SimpleNamespace(width=self.width),
            launches=len(launches),
        )
        with comparing(lambda one: case.negative(-one)):
            measured = of(self.claim.measure(run))
        formula = self.claim.formula(**{name: symbols[name] for name in self.claim.parameters})
        claimed = case.value(formula)
        for name, mine in (("measured", measured), ("claimed", claimed)):
            if not case.same(mine, read(data[name])):
                raise Refused(f"the {name} term is {mine}, not {read(data[name])}")
        if not case.same(measured, claimed):
            raise Refused(f"measured - claimed is {measured - claimed}, not 0")
        self.runs(case, data, measured, texts)

    def define(self, case: Case, name: str, term: P) -> None:
        """Give a parameter that follows from others its term."""
        old = case.values[name]
        if old == term:
            return
        others = [one for other, one in case.values.items() if other != name]
        used = {n for one in (*others, *case.least, *case.equal) for n in one.names}
        reasons = [fact[2] for fact in case.facts if fact[:2] == ["equal", name]]
        if (
            old != symbol(name)
            or name in used
            or not any(case.same(case.value(one), term) for one in reasons)
        ):
            raise Refused(f"{name} is {old}, not {term}")
        case.values[name] = term

    # Runs.

    def runs(self, case: Case, data: Any, measured: P, texts: Any) -> None:
        """Compare the data with a run of the least sizes, and with one of larger sizes."""
        larger = ({name: low + more for name, low in case.lows.items()} for more in (2, 1, 3, 4))

        def fits(point: Mapping[str, int], most: int) -> bool:
            return all(valued(case, one, point) <= most for one in case.values.values())

        for few, most in zip((points(case), filter(case.has, larger)), LARGEST, strict=True):
            any(self.run(case, data, measured, texts, point) for point in few if fits(point, most))

    def run(self, case: Case, data: Any, measured: P, texts: Any, point: Mapping[str, int]) -> bool:
        """Compare the requests of the data with those of a run; False: try another one."""
        values = {name: valued(case, one, point) for name, one in case.values.items()}
        numbers = {**{name: int(value) for name, value in values.items()}, **texts}
        whole = all(value.denominator == 1 for value in values.values())
        if not whole or not self.holds(numbers):
            return False
        try:
            run, traces = traced(self.claim, numbers)
        except EndlessError:  # more accesses than a run may have: larger sizes need no less
            return True
        if not traces:  # a run that the claim remembers
            return False
        if len(traces) != len(data["launches"]):
            raise Refused(f"{len(traces)} launches in the run where {show(numbers)}")
        for accesses, trace in zip(data["launches"], traces, strict=True):
            unknown = {place(row) for row in accesses if not sure(row["made"])}
            mine: Counter[Any] = Counter()
            for row in accesses:
                known = place(row) not in unknown
                for words in requests(case, row["made"], dict(point)):
                    mine[*place(row), *(words if known else (None, None))] += 1
            its: Counter[Any] = Counter()
            for one in trace.dispatches:
                key = one.function, one.line, one.array, one.kind
                words = one.elements, one.stage_count
                its[*key, *((None, None) if key in unknown else words)] += 1
            if mine != its:
                wrong = next(iter((mine - its) + (its - mine)))
                raise Refused(
                    f"where {show(numbers)}, the run has {its[wrong]} requests of line "
                    f"{wrong[1]} for {wrong[2]}{wrong[4]}, not {mine[wrong]}"
                )
            self.done["requests of runs"] += its.total()
        if self.claim.measure(run) != valued(case, measured, point):
            raise Refused(f"a run measures {self.claim.measure(run)} where {show(numbers)}")
        self.done["runs"] += 1
        return True


def parameters(one: Any) -> set[str]:
    return set(signature(one.holds).parameters)


def read_proofs(text: str) -> list[dict[str, Any]]:
    """The proofs of a file. Raises `Refused` for any other text."""
    try:
        found = json.loads(text)
        if found["format"] != FORMAT:
            raise Refused(f"this is {found['format']!r}, not {FORMAT!r}")
        return [dict(one) for one in found["proofs"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Refused(f"this is no file of proofs: {error}") from error


def verify(claims: list[Claim], proof: dict[str, Any]) -> Counter[str]:
    """Verify a proof, and count what was verified.

    Raises `Refused`, which names the claim, the width, the case and the line of what is false.
    """
    claim = next((one for one in claims if one.id == proof.get("claim")), None)
    if claim is None or claim.launches is None:
        raise Refused(f"{proof.get('claim')!r} is no claim with launches in symbols")
    return Verifier(claim, proof).verify()
