"""Proofs of exact claims: for all sizes of their domain, at each width."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice, product
from typing import Any

from mmsim.claims.claim import Claim, call_with, show, symbols_of
from mmsim.claims.launch import each_launch
from mmsim.errors import MMSimError
from mmsim.printable import counted
from mmsim.proof.domain import MANY, Case, cleared, domain, holds, of_sympy
from mmsim.proof.facts import Facts, Split
from mmsim.proof.launched import Located, Measured, Number, measured
from mmsim.proof.terms import ONE, Term, Undecided
from mmsim.proof.written import Writer

WIDEST = 64
"""The widest machine of a proof, unless others are asked for."""
SECONDS = 60.0
"""The time for a claim. A single one of many widths may take a quarter of it."""
NOT_EXACT = ("it is a misprint", "it is a bound")
"""The reasons why a claim isn't looked at."""
FEW_WIDTHS = 8
"""So many widths are tried as long as there is time; of more it is foreseen."""
MOST_FAILURES = 3
"""The widths at which a proof fails before the others are left out."""
MOST_CASES = 20_000
"""The most cases of a domain at one width."""
MOST_RUNS = 5
"""The most runs in search of a case that refutes a claim."""
LARGEST_RUN = 5000
"""The largest size in such a run."""


@dataclass
class ClaimProof:
    """The outcome of the attempt to prove a claim.

    `widths` are those at which it is proved, without those that its conditions exclude; `asked` are
    those that were asked for. Both are empty if the claim has no width. `cases` counts the cases of
    the proofs, and `covered` is the number of runs that are the whole domain, if it is finite.
    `checked` is the number of cases of the grid. `why` says why the claim isn't proved at some
    width. `against` is a case that a run refutes, with the measured and the claimed value. `given`
    has the arrays whose requests take as many stages as the claim says; the proof assumes that.
    `digest` is that of the claim, and `shown` the beginning of the proof as text
    (`mmsim.proof.kept`).
    """

    claim: str
    checked: int = 0
    widths: list[int] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)
    cases: int = 0
    proved: bool = False
    covered: int = 0
    why: str = ""
    against: dict[str, Any] | None = None
    seconds: float = 0.0
    given: list[str] = field(default_factory=list)
    digest: str = ""
    shown: str = ""

    @property
    def known(self) -> str:
        """The widths or the cases for which it is proved, in words; "" if there are none."""
        if self.proved:
            return self.verdict
        return f"proved for w = {ranges(self.widths)}{self._given}" if self.widths else ""

    @property
    def _given(self) -> str:
        return f", given the stages of {' and '.join(self.given)}" if self.given else ""

    @property
    def verdict(self) -> str:
        """The outcome in words.

        >>> ClaimProof("X", widths=[1, 2, 3], asked=[1, 2, 3], proved=True).verdict
        'proved for each w up to 3'
        """
        if self.against is not None:
            values = dict(self.against)
            measured, claimed = values.pop("measured"), values.pop("claimed")
            return f"refuted: {show(values)}, measured {measured}, claimed {claimed}"
        if self.covered:
            count = "the one case" if self.covered == 1 else f"all {self.covered} cases"
            return f"proved: {count} of its domain"
        if not self.proved:
            checked = f"checked on {counted(self.checked, 'case')}"
            return "; ".join(filter(None, [self.known, checked]))
        if not self.asked:
            return f"proved for all sizes{self._given}"
        if self.asked == list(range(1, len(self.asked) + 1)):
            return f"proved for each w up to {self.asked[-1]}{self._given}"
        return f"proved for w = {ranges(self.asked)}{self._given}"


def ranges(numbers: Iterable[int]) -> str:
    """Whole numbers in order, as text.

    >>> ranges([1, 2, 3, 5, 8, 9])
    '1-3, 5, 8, 9'
    """
    found: list[list[int]] = []
    for one in numbers:
        if found and found[-1][-1] == one - 1:
            found[-1].append(one)
        else:
            found.append([one])
    parts = [f"{r[0]}-{r[-1]}" if len(r) > 2 else ", ".join(map(str, r)) for r in found]
    return ", ".join(parts)


class Differs(Undecided):
    """The measured quantity and the formula differ as terms."""

    def __init__(self, difference: Term) -> None:
        super().__init__("measured - claimed isn't seen to be 0: it is {}", difference)


@dataclass(frozen=True)
class Domain:
    """One of the domains of which a claim's domain consists: sizes as terms, and texts as given."""

    whole: Case
    fixed: dict[str, int]
    texts: dict[str, Any]


def domains(claim: Claim, width: int | None) -> Iterator[Domain]:
    """The domains of a claim at one width that aren't empty.

    Texts that neither the launches nor the formula name, nor a sentence, make no difference.
    """
    named = set(claim.parameters)
    if claim.launches is not None:
        named |= inspect.signature(claim.launches).parameters.keys()
    seen: list[tuple[Case, dict[str, int], dict[str, Any]]] = []
    for whole, fixed, texts in choices(claim, width):
        if whole is None:
            continue
        one = whole, fixed, {name: text for name, text in texts.items() if name in named}
        if one not in seen:
            seen.append(one)
            yield Domain(whole, fixed, texts)


def choices(
    claim: Claim, width: int | None
) -> Iterator[tuple[Case | None, dict[str, int], dict[str, Any]]]:
    """The domains of a claim at one width: one for each of the texts that its cases have.

    None stands for an empty one.
    """
    cases = claim.cases()
    names = dict.fromkeys(name for one in cases for name in one)
    strings = [name for name in names if any(isinstance(one.get(name), str) for one in cases)]
    chosen = {tuple(one.get(n) for n in strings): None for one in cases}
    numbers = [name for name in names if name not in strings]
    zeros = [name for name in numbers if any(one.get(name) == 0 for one in cases)]
    sentences = [one.text for one in claim.requires]
    base = {} if width is None else {"w": width}
    for fixed, values in product(_fixed(claim, base), chosen):
        texts = dict(zip(strings, values, strict=True))
        yield domain(numbers, fixed, sentences, texts, zeros), fixed, texts


def has_width(claim: Claim) -> bool:
    """Return whether the cases of a claim have a width w."""
    return all("w" in one for one in claim.cases())


class TimeUp(BaseException):
    """The time for a claim is up, in the middle of a step."""


def prove(
    claim: Claim, widths: Iterable[int] = range(1, WIDEST + 1), seconds: float = SECONDS
) -> ClaimProof:
    """Try to prove an exact claim at each width.

    It stops after a few widths at which that fails, and when the time is up, or will surely be.
    """
    proof = ClaimProof(claim.id, checked=len(claim.cases()))
    begun = time.monotonic()
    try:
        _prove(claim, list(widths), proof, begun, seconds)
    except TimeUp:
        proof.why = proof.why or f"it takes longer than {seconds:g} s"
    if proof.known and not proof.covered:
        proof.given = given_stages(claim)
    proof.seconds = round(time.monotonic() - begun, 2)
    return proof


def _prove(
    claim: Claim, widths: list[int], proof: ClaimProof, begun: float, seconds: float
) -> None:
    if claim.kind != "exact" or claim.printed:
        proof.why = NOT_EXACT[not claim.printed]
        return
    finite = finite_cases(claim)
    if finite and all(agrees for _, agrees, *_ in finite):
        proof.covered, proof.proved = len(finite), True
        return
    if claim.launches is None:
        proof.why = "its launches are not given with symbols"
        return
    by_width = has_width(claim)
    if by_width:
        proof.asked = widths
    failed = 0
    for at, width in enumerate(widths if by_width else (None,)):
        cases, why = 0, ""
        spent, until = time.monotonic() - begun, begun + seconds
        if by_width and len(widths) > FEW_WIDTHS:
            until = min(until, begun + spent + seconds / (4 if at else 2))
            # The time of all grows faster than their number, and slower than its square.
            if at and spent > seconds / 5 and spent * (len(widths) / at) ** 1.5 > seconds:
                proof.why = (
                    proof.why or f"w={width}: all widths would take longer than {seconds:g} s"
                )
                return
        for one in domains(claim, width):
            try:
                cases += len(proved_cases(claim, one, until))
            except Exception as error:  # claims' own functions may fail on terms in any way
                why = _why(error, one)
                if proof.against is None:
                    proof.against = counterexample(claim, error, one.texts)
                if proof.against is None and not failed:
                    proof.against = refuted_on_grid(claim, one)
                break
        if not why and not cases and _occurs(claim, width):
            why = f"w={width}: no sizes seem to satisfy the conditions, but the grid has some"
        if not why:
            proof.cases += cases
            if width is not None and cases:
                proof.widths.append(width)
            continue
        proof.why = proof.why or why
        failed += 1
        if failed == MOST_FAILURES or time.monotonic() > until:
            return
    if by_width and not proof.widths:
        proof.why = proof.why or "no sizes satisfy its conditions at these widths"
    proof.proved = not proof.why


def given_stages(claim: Claim) -> list[str]:
    """The arrays whose requests take a number of stages that the claim's launches give.

    A symbol isn't such a number, but the name of a sum.
    """
    import sympy

    assert claim.launches is not None
    strings = {
        tuple(v for v in case.values() if isinstance(v, str)): case for case in claim.cases()
    }
    return sorted(
        {
            name
            for case in strings.values()
            for launch in each_launch(call_with(claim.launches, case))
            for name, stages in launch.stages.items()
            if not isinstance(stages, sympy.Symbol)
        }
    )


def proved_cases(
    claim: Claim, one: Domain, until: float, by: type[Located] = Located, most: int | None = None
) -> list[Checked]:
    """The cases in which a domain is proved, or the first ones."""

    def proved(together: bool) -> list[Checked]:
        def action(case: Case) -> Checked | None:
            return check(claim, case, one.texts, until, by, together)

        found = (done for _, done in leaves(one.whole, action, until) if done is not None)
        return list(islice(found, most))

    try:
        return proved(True)
    except Undecided as error:
        # It may be open for warps together, and not for those of each residue.
        if isinstance(error, Differs) or time.monotonic() > until:
            raise
        return proved(False)


def _occurs(claim: Claim, width: int | None) -> bool:
    """Return whether the grid has a case of a width."""
    return width is None or any(case["w"] == width for case in claim.cases())


def _why(error: Exception, one: Domain) -> str:
    """The reason in words why a domain is not proved."""
    text = f"no rule applies ({type(error).__name__}: {error})"
    if isinstance(error, Undecided):
        case, facts = getattr(error, "reached", (one.whole, one.whole.facts()))
        numbers = {name: term.number for name, term in case.values.items()}
        symbols = symbols_of(case.values)
        known = {name: symbols[name] if n is None else n for name, n in numbers.items()}
        text = Writer(known, facts).reason(error)
    elif isinstance(error, AttributeError) and isinstance(error.obj, Measured):
        text = f"the claim reads {error.name} of a run, which a proof doesn't have"
    place = getattr(error, "place", None)
    where = f" (line {place.line})" if place is not None else ""
    about = show({**one.fixed, **one.texts})
    return f"{about}: {text}{where}" if about else f"{text}{where}"


def _whole_domain(claim: Claim) -> list[dict[str, Any]]:
    """The cases of a claim if they are its whole domain: no number is free in it; else none."""
    cases = claim.cases()
    names = {name for one in cases for name, value in one.items() if not isinstance(value, str)}
    names -= claim.derived.keys()
    if names:
        whole = domain(names, {}, [one.text for one in claim.requires])
        if whole is None or any(whole.values[name].number is None for name in names):
            return []
    return cases


def finite_cases(claim: Claim) -> list[tuple[dict[str, Any], bool, int, Any]]:
    """The runs of all cases of a finite domain: whether each agrees, its value, the claimed one."""
    return [(case, *_agrees(claim, case)) for case in _whole_domain(claim)]


def _agrees(claim: Claim, case: dict[str, Any]) -> tuple[bool, int, Any]:
    """Compare a run with the claim; return the measured and the claimed value, too."""
    found, claimed = claim.measure(claim.run(schedule="synchronous", **case)), claim.evaluate(case)
    return claim.agrees(found, claimed), int(found), claimed


def counterexample(claim: Claim, error: Exception, texts: Mapping[str, Any]) -> Any:
    """A small case of the domain where a run contradicts the formula; None if none is found.

    The `measured` of the error, or of what caused it, is what was measured when the proof failed,
    if that is known.
    """
    seen = error if hasattr(error, "measured") else error.__cause__
    quantity = getattr(seen, "measured", None)
    if quantity is None:
        return None
    reached, facts = seen.reached  # type: ignore[union-attr]  # `check` sets it
    tried = 0
    for numbers in points(reached, facts):
        try:
            sizes = {name: valued(term, numbers, facts) for name, term in reached.values.items()}
            found = valued(quantity, numbers, facts)
        except (KeyError, ZeroDivisionError):
            return None
        if any(size.denominator != 1 or not 0 <= size <= LARGEST_RUN for size in sizes.values()):
            continue
        case = {**{name: int(size) for name, size in sizes.items()}, **texts}
        case |= {name: call_with(one, case) for name, one in claim.derived.items()}
        if not all(call_with(one.holds, case) for one in claim.requires):
            continue
        claimed = claim.evaluate(case)
        if claimed == found or not (claimed.is_real or claimed.is_infinite):
            continue
        tried += 1
        if tried > MOST_RUNS:
            return None
        try:
            agrees, measured, claimed = _agrees(claim, case)
        except MMSimError:  # no such launch
            continue
        if not agrees:
            return {**case, "measured": measured, "claimed": str(claimed)}
    return None


def refuted_on_grid(claim: Claim, one: Domain) -> dict[str, Any] | None:
    """One of the smallest cases of the grid that a run contradicts, if there is one."""
    own = {**one.fixed, **one.texts}.items()
    cases = [case for case in claim.cases() if case.items() >= own]
    small = sorted(cases, key=lambda case: sum(n for n in case.values() if isinstance(n, int)))
    for case in small[:MOST_RUNS]:
        try:
            agrees, measured, claimed = _agrees(claim, case)
        except (ArithmeticError, MMSimError):  # such as a formula that divides by 0
            continue
        if not agrees:
            return {**case, "measured": measured, "claimed": str(claimed)}
    return None


def points(case: Case, facts: Facts, most: int = 4000) -> Iterator[dict[str, int]]:
    """Numbers for the free symbols of a case that satisfy what it assumes, small ones first."""
    terms = [*case.values.values(), *case.assumed, *(t for one in case.shares for t in one)]
    names = sorted({name for term in terms for name in term.symbols} & case.lows.keys())
    done = 0
    for size in range(8):
        for steps in product(range(size + 1), repeat=len(names)):
            if sum(steps) != size:
                continue
            done += 1
            if done > most:
                return
            numbers = {
                name: case.lows[name] + step for name, step in zip(names, steps, strict=True)
            }
            fit = all(
                valued(above - below * by, numbers, facts) == 0 for above, below, by in case.shares
            )
            if fit and all(valued(term, numbers, facts) >= 0 for term in case.assumed):
                yield numbers


def valued(term: Term, numbers: Mapping[str, int], facts: Facts) -> Fraction:
    """The value of a term for numbers, quotients rounded down."""
    known = dict(numbers)
    for name in term.symbols & facts.quotients.keys():
        of = facts.quotients[name]
        known[name] = int(valued(of.above, numbers, facts) // valued(of.below, numbers, facts))
    return term.at(known)


def integers(numbers: Mapping[str, int]) -> dict[str, Any]:
    """Numbers as SymPy's, of which it finds exact roots."""
    import sympy

    return {name: sympy.Integer(number) for name, number in numbers.items()}


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
    restart = True
    seen = None
    while todo:
        case = equated(todo.pop())
        count += 1
        if count > MOST_CASES or time.monotonic() > until:
            raise Undecided("there are too many cases, or it takes too long") from seen
        few = case.finer(few=True)
        if few is not None:
            todo.extend(few)
            continue
        try:
            try:
                yield case, action(case)
            except Split as split:
                todo.extend(reversed(case.split(split)))
        except Undecided as error:
            finer, seen = case.finer(), error if hasattr(error, "measured") else seen
            if finer is None and restart:
                # A split may have made sums of an equation's products: begin without equations.
                todo, finer, restart = [], whole.finer(), False
            if finer is None:
                raise
            todo.extend(finer)


def tidied(case: Case) -> Case:
    """The case with assumptions divided by what all their products have, and with larger lows."""
    lows, kept = dict(case.lows), []
    for term in case.assumed:
        term = _without_common(term, case)
        rest = {p: v for p, v in term.parts.items() if p != ONE}
        ((powers, deep), value) = next(iter(rest.items()), (ONE, 0))
        if len(rest) == 1 and value > 0 and not deep and len(powers) == 1 and powers[0][1] == 1:
            (name, _), *_ = powers
            if name in lows:
                least = math.ceil(Fraction(-term.parts.get(ONE, 0)) / value)
                lows[name] = max(lows[name], least)
                continue
        kept.append(term)
    return replace(case, lows=lows, assumed=tuple(kept))


def equated(case: Case) -> Case:
    """The case with a symbol's term for it, where x <= y and x >= y are assumed.

    What bounds one symbol from below is among its `lows`.
    """
    case = tidied(case)
    for at, term in enumerate(case.assumed):
        if any(term + other == 0 for other in case.assumed[:at]):
            for product, value in term.parts.items():
                if value in (1, -1) and len(product[0]) == 1 and not product[1]:
                    name, power = product[0][0]
                    rest = (term - Term({product: value})) * -value
                    if power == 1 and name in case.lows and name not in rest.symbols:
                        kept = tuple(k for k in case.assumed if k not in (term, -term))
                        new = replace(case.moved("equal", name, rest), assumed=kept)
                        return equated(new.with_values({name: rest}, {}, f"{name} = {rest}"))
    return case


def _without_common(term: Term, case: Case) -> Term:
    """A term without the symbols that all its products have, which are from 1 on."""
    products = [dict(powers) for powers, _ in term.parts]
    for name in sorted(term.symbols):
        least = min((one.get(name, 0) for one in products), default=0)
        if least > 0 and case.lows.get(name, 0) > 0:
            term = term * Term({(((name, -least),), ()): 1})
    return term


def possible(case: Case, facts: Facts) -> bool:
    """Return whether the assumptions of a case agree, as far as each alone says so."""
    for term in case.assumed:
        before, facts.assumed = facts.assumed, []
        never = facts.bound(-term) > 0
        facts.assumed = before
        if never:
            return False
        term = _without_common(term, case)
        number = term.parts.get(ONE, 0)
        others = {p: -v for p, v in term.parts.items() if p != ONE}
        whole = all(power > 0 for (powers, deep) in others for _, power in powers) and not any(
            deep for _, deep in others
        )
        if whole and others and all(v > 0 for v in others.values()):
            # c >= a x + b x y: x has few values.
            least = {p: v * facts.least_product(p) for p, v in others.items()}
            if sum(least.values()) > number:
                return False
            product, value = min(others.items(), key=lambda one: str(one[0]))
            (name, power), *more = product[0]
            by = value * facts.least_product((tuple(more), ()))
            rest = number - sum(v for p, v in least.items() if p != product)
            most = low = case.lows.get(name, 0)
            while by > 0 and most < low + MANY and by * (most + 1) ** power <= rest:
                most += 1
            if by > 0 and most < low + MANY:
                raise Split(name, at=Term.of(most + 1))
    return True


@dataclass(frozen=True)
class Checked:
    """A case in which the formula is the measured quantity, and what was executed there."""

    case: Case
    facts: Facts
    measured: Measured
    quantity: Term
    claimed: Term
    difference: Term


def check(
    claim: Claim,
    case: Case,
    texts: Mapping[str, Any],
    until: float = math.inf,
    by: type[Located] = Located,
    together: bool = True,
) -> Checked | None:
    """Check that a claim's formula is the measured quantity in a case; None outside its domain.

    Warps and trips of several residues are executed `together`, unless that says otherwise.
    """
    facts = case.facts()
    facts.together = together
    facts.until = until
    case = replace(case, values=dict(case.values))
    try:
        return _checked(claim, case, facts, texts, by)
    except Exception as error:
        error.reached = case, facts  # type: ignore[attr-defined]
        raise


def _checked(
    claim: Claim, case: Case, facts: Facts, texts: Mapping[str, Any], by: type[Located]
) -> Checked | None:
    if not possible(case, facts):
        return None
    if not holds(case, facts):
        return None
    assert claim.launches is not None
    numbers = {k: v.number for k, v in case.values.items() if isinstance(v.number, int)}
    symbols = {**symbols_of(case.values), **integers(numbers), **texts}
    found = measured(call_with(claim.launches, symbols), case, facts, by)
    quantity: Any = claim.measure(found)
    quantity = quantity.term if isinstance(quantity, Number) else Term.of(quantity)
    try:
        formula = claim.formula(**{name: symbols[name] for name in claim.parameters})
        claimed = facts.reduced(of_sympy(formula, case.values, facts))
        difference = facts.whole(facts.reduced(cleared(quantity - claimed)))
        if difference.parts:
            for name in sorted(difference.symbols & facts.quotients.keys()):
                of = facts.quotients[name]
                if isinstance(of.below.number, int):
                    raise facts.residue(of.above, of.below.number)
            raise Differs(difference)
    except Exception as error:
        error.measured = quantity  # type: ignore[attr-defined]
        raise
    return Checked(case, facts, found, quantity, claimed, quantity - claimed)
