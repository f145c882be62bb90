"""A proof as data: what `mmsim.verifier` needs to verify it, as JSON.

A term is a list of products: a number or one for each lane, then the powers of symbols, then those
of an exponent of 2.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

import numpy as np

from mmsim.claims.claim import Claim, call_with, symbols_of
from mmsim.claims.launch import SymbolicLaunch
from mmsim.ir import nodes as ir
from mmsim.proof.accesses import Sent
from mmsim.proof.domain import of_sympy
from mmsim.proof.facts import Range
from mmsim.proof.launched import Executed, Located
from mmsim.proof.prove import Checked, check, choices, has_width, integers, leaves
from mmsim.proof.sentences import Fact, Reader
from mmsim.proof.terms import Term, Undecided, antidifference, total
from mmsim.proof.warps import Row, Warps

FORMAT = "mmsim proof 2"
ROUNDED = ("Min", "Max", "ceiling", "floor", "GCD", "Log2")
"""The functions of formulas whose values are given as terms."""
MACHINES = ("DMM", "UMM", "HMM")
Request = tuple[Warps, Sent]


class Recorded(Located):
    """Executes a program, and keeps how each row came about."""

    def __init__(self, *sizes: Any) -> None:
        super().__init__(*sizes)
        self.noted: list[tuple[Warps, Any]] = []
        self.residues: list[tuple[str, Any]] = []
        self.widest = 0

    def any_residue(self, one: ir.Access, w: Warps, within: int = 1) -> Sent:
        outer, self.residues, self.asked = self.residues, [], []
        found = super().any_residue(one, w, within)
        inner, self.residues = self.residues, outer
        words: Any = plain(self.asked)
        if inner:
            words = {"quotient": inner[0][0], "parts": [part for _, part in inner]}
        if self.facts.replaced:
            name, term = list(self.facts.replaced.items())[-1]
            (new,) = term.symbols
            outer.append((name, [new, words]))
        if not words and w.active.sum() > 1 and one.array not in self.sizes.stages:
            raise Undecided(f"words of {one.array} that memory names have no form as data")
        self.noted.append((w, words))
        return found

    def request(self, one: ir.Access, w: Warps) -> Sent:
        rule = self.rule(one.array)
        if one.array in self.sizes.layouts or rule.words is not None:
            raise Undecided(f"words of {one.array}, which has a layout, have no form as data")
        return super().request(one, w)

    def noted_of(self, w: Warps) -> Any:
        """The words that were noted last for a class."""
        return next(words for one, words in reversed(self.noted) if one is w)

    def round(self, one: ir.Access, sent: list[Request]) -> Row:
        row = super().round(one, sent)
        share = self.share if self.is_shared(one.array) else None
        classes = [
            (w.ranges, int(w.active.sum()), w.place["block"], self.noted_of(w), found[0])
            for w, found in sent
        ]
        self.noted.clear()
        return replace(row, made=((row.rounds, row.busy, share, classes),))


def certificate(claim: Claim, width: int | None, seconds: float) -> dict[str, Any]:
    """The proof of a claim at a width as data. Raises `Undecided` where there is none."""
    if claim.launches is None:
        raise Undecided("its launches are not given with symbols")
    until = time.monotonic() + seconds
    width = width if has_width(claim) else None
    found = []
    for whole, fixed, texts in choices(claim, width):
        names = [name for one in claim.cases() for name in one if name not in {*fixed, *texts}]
        reader = Reader([*names, *fixed], texts.values())
        facts = [_fact(fact) for one in claim.requires for fact in reader.facts(one.text)]

        def action(case: Any, texts: Mapping[str, Any] = texts) -> Checked | None:
            return check(claim, case, texts, until, Recorded, together=False)

        done = [] if whole is None else list(leaves(whole, action, until))
        entries = [(case.moves, checked) for case, checked in done if checked is not None]
        tree = _tree(claim, texts, entries, 0) if entries else None
        found.append({"fixed": fixed, "texts": texts, "facts": facts, "tree": tree})
    return {"claim": claim.id, "width": width, "domains": found}


def to_json(proofs: Iterable[dict[str, Any]]) -> str:
    """Proofs as text, one on one line each."""
    lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in proofs)
    return f'{{"format": "{FORMAT}", "proofs": [\n{lines}\n]}}\n'


def _fact(fact: Fact) -> Any:
    if fact.kind == "either":
        return [fact.kind, [[_fact(one) for one in facts] for facts in fact.parts]]
    return [fact.kind, *map(str, fact.parts)]


def _tree(claim: Claim, texts: Mapping[str, Any], entries: list[Any], depth: int) -> dict[str, Any]:
    """The case distinctions from a depth on. A part without an entry is empty."""
    moves, checked = entries[-1]
    if len(moves) == depth:
        return {"leaf": Leaf(claim, texts, checked).data()}
    rule = moves[depth][0]
    # Cases before a new beginning have another rule, and count no more.
    entries = [one for one in entries if len(one[0]) > depth and one[0][depth][0] == rule]
    parts: dict[int, list[Any]] = {}
    for one in entries:
        parts.setdefault(one[0][depth][1], []).append(one)
    nodes = {str(at): _tree(claim, texts, own, depth + 1) for at, own in sorted(parts.items())}
    return {"rule": plain(rule), "parts": nodes}


def plain(value: Any) -> Any:
    """A value of terms, tuples and mappings in lists and numbers."""
    if isinstance(value, Term):
        products = sorted(value.parts.items(), key=lambda one: one[0])
        return [
            [plain(number), dict(powers) | {f"2^{name}": factor for name, factor in twos}]
            for (powers, twos), number in products
        ]
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, np.ndarray | tuple | list):
        return [plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return value if value is None or isinstance(value, int | str) else str(value)


class Leaf:
    """A case in which the formula is the measured quantity."""

    def __init__(self, claim: Claim, texts: Mapping[str, Any], done: Checked) -> None:
        self.claim, self.texts, self.done = claim, texts, done
        self.sums: dict[tuple[str, str], Any] = {}
        self.values: dict[str, Any] = {}

    def data(self) -> dict[str, Any]:
        """The case as data."""
        done, values = self.done, self.done.case.values
        numbers = {k: v.number for k, v in values.items() if isinstance(v.number, int)}
        symbols = {**symbols_of(values), **integers(numbers), **self.texts}
        assert self.claim.launches is not None
        given = call_with(self.claim.launches, symbols)
        if any(not isinstance(one, SymbolicLaunch) for one in given):
            raise Undecided("launches whose number is a size have no form as data")
        if any(type(one.machine).__name__ not in MACHINES for one in given):
            raise Undecided("there are lemmas for a DMM, an UMM and an HMM only")
        launches = [
            self._launch(executed, launch)
            for executed, launch in zip(done.measured.done, given, strict=True)
        ]
        self._note(self.claim.formula(**{name: symbols[name] for name in self.claim.parameters}))
        for fact in done.case.conditions:
            if fact.kind == "equal" and str(fact.parts[0]) in values:
                self._note(fact.parts[1])
        quotients = {}
        for name, of in done.facts.quotients.items():
            quotients[name] = plain((of.above, of.below))
        return {
            "values": plain(values),
            "quotients": quotients,
            "expressions": self.values,
            "sums": list(self.sums.values()),
            "launches": launches,
            "measured": plain(done.quantity),
            "claimed": plain(done.claimed),
        }

    def _launch(self, executed: Executed, launch: Any) -> list[Any]:
        machine = launch.machine
        sizes = [launch.threads, launch.block_size, *launch.stages.values()]
        sizes += [getattr(machine, name, None) for name in machine.__dataclass_fields__]
        for one in sizes:
            self._note(one)
        rows = []
        for row in executed.rows.values():
            self._summed(row.made)
            rows.append(
                {
                    "function": row.place.function,
                    "file": PurePath(row.place.file).name,
                    "line": row.place.line,
                    "array": row.array,
                    "kind": row.kind,
                    "requests": plain(row.requests),
                    "stages": plain(row.stages),
                    "busy": plain(row.busy),
                    "rounds": plain(row.rounds),
                    "made": [_made(one) for one in row.made],
                }
            )
        return rows

    def _note(self, expression: Any) -> None:
        """Keep the values of the parts of an expression that aren't sums or products."""
        if not hasattr(expression, "args") or not expression.free_symbols:
            return
        for part in expression.args:
            self._note(part)
        values, facts = self.done.case.values, self.done.facts
        below = [one.base for one in expression.args if one.is_Pow and one.exp.is_negative]
        if (
            type(expression).__name__ in ROUNDED
            or (expression.is_Pow and not expression.exp.is_Integer)
            or (
                expression.is_Mul
                and any(len(of_sympy(one, values, facts).parts) > 1 for one in below)
            )
        ):
            term = facts.reduced(of_sympy(expression, values, facts))
            self.values[str(expression)] = plain(term)

    def _summed(self, made: tuple[Any, ...]) -> tuple[Term, ...]:
        """The requests, stages, busy time and rounds of parts of a row, for their sums."""
        found = [self._part(one) for one in made]
        return tuple(sum(column, Term({})) for column in zip(*found, strict=True))

    def _part(self, one: Any) -> Iterator[Term]:
        if len(one) == 2:
            return iter([self._total(term, one[0]) for term in self._summed(one[1])])
        if len(one) == 3:
            *terms, rounds = self._summed(one[2])
            return iter([*terms, rounds * one[0]])
        rounds, busy, _, classes = one
        requests, stages = Term({}), Term({})
        for ranges, _, _, _, found in classes:
            size, stage = Term.of(1), Term.of(found if found is not None else 0)
            for over in reversed(ranges):
                size, stage = self._total(size, over), self._total(stage, over)
            requests, stages = requests + size, stages + stage
        return iter([requests, stages, busy, rounds])

    def _total(self, term: Term, over: Range) -> Term:
        if over.name in term.symbols:
            key = over.name, str(term)
            self.sums[key] = plain((over.name, term, antidifference(term, over.name)))
        return total(term, over.name, over.low, over.high)


def _made(one: Any) -> dict[str, Any]:
    if len(one) < 4:
        *over, made = one
        parts = [_made(part) for part in made]
        if len(over) == 1:
            return {"over": [over[0].name, plain(over[0].low), plain(over[0].high)], "made": parts}
        return {"trips": plain(over[0]), "warps": plain(over[1]), "made": parts}
    rounds, _, share, classes = one
    found = [
        {
            "ranges": [[r.name, plain(r.low), plain(r.high)] for r in ranges],
            "lanes": lanes,
            "block": plain(block),
            "words": words,
            "stages": plain(stages),
        }
        for ranges, lanes, block, words, stages in classes
    ]
    return {"rounds": plain(rounds), "share": plain(share), "classes": found}
