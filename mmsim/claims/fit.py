"""Finding a formula: a sum of terms that gives the times of many runs.

The terms are products of powers of the parameters. A search goes from one term to a few. At each
size it keeps the sets of terms with the least remainder. The formula is the first set without a
remainder, with whole or simple coefficients, in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from mmsim.claims.claim import Claim, call_with, symbols_of
from mmsim.claims.terms import Term, terms_of
from mmsim.errors import MMSimError, shown
from mmsim.frontend.program import Program
from mmsim.host.arguments import is_whole
from mmsim.host.guesses import advised
from mmsim.results.run import Run
from mmsim.sweeps.cases import make_cases
from mmsim.tabular import Tabular

Floats = npt.NDArray[np.float64]
Case = Mapping[str, Any]

MOST_TERMS = 6
KEPT = 160
"""Sets of terms of each size that the search keeps."""
LOOKED_AT = 250
"""Cases that the search uses; its result is then checked in all cases."""
SIMPLE = 64
"""The largest denominator of a coefficient of a formula."""
MORE = 3
"""A formula must hold in this number of cases more than it has terms."""
ENOUGH = 0.9
"""A further term must reduce the remainder to less than this part of it."""
READABLE = 4
"""The complexity of the most complex term in an inexact formula."""
GIVEN_UP = ("b", "p", "n", "m", "k", "d")
"""Parameters that are left out first if one is a product of powers of others."""
MOST_RUNS = 120
"""The most cases of a claim that are run."""
Outcome = Literal["found", "one of several", "not found", "too few cases", "wrong"]


class FitError(MMSimError):
    """Too few runs for a formula, or runs without numbers."""


@dataclass(frozen=True, repr=False)
class Fit(Tabular):
    """The formula found for a quantity: a sum of terms with coefficients.

    `exact` says whether the sum equals the quantity in all `cases`, in exact arithmetic. Otherwise
    `left_over` is the largest difference, and `share` the largest difference relative to the
    quantity. `tied` are equations that hold in all cases, as p = w. The formula has only the other
    parameters; these cases can't show how it depends on the tied ones. `others` are formulas with
    the same number of terms that are exact in all cases too.
    """

    quantity: str
    terms: tuple[tuple[Fraction, Term], ...]
    exact: bool
    cases: int
    left_over: Fraction
    share: float
    tied: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def parameters(self) -> set[str]:
        """The names of the parameters in its terms."""
        names = {name for _, term in self.terms for name, _ in term.powers}
        return names | {term.log[0] for _, term in self.terms if term.log}

    @property
    def unique(self) -> bool:
        """Return whether it is exact, and no other sum with the same number of terms is."""
        return self.exact and not self.others

    def value(self, case: Case) -> Fraction:
        """The sum for a case."""
        return sum((factor * term.value(case) for factor, term in self.terms), Fraction(0))

    @cached_property
    def statement(self) -> Any:
        """The formula as a SymPy equation."""
        import sympy

        symbols = symbols_of((self.quantity, *self.parameters))
        total = sum(
            sympy.Rational(factor) * term.expression(symbols) for factor, term in self.terms
        )
        return sympy.Eq(symbols[self.quantity], sympy.factor_terms(total), evaluate=False)

    @property
    def formula(self) -> str:
        """The sum as text. Coefficients of an inexact sum have four digits."""
        parts = []
        for factor, term in self.terms:
            size = str(abs(factor)) if self.exact else f"{abs(float(factor)):.4g}"
            name = str(term)
            if name == "1" or name.startswith("1/"):
                text = size + name[1:]
            else:
                text = name if size == "1" else f"{size}*{name}"
            parts.append(f"{'-' if factor < 0 else '+'} {text}")
        return " ".join(parts).removeprefix("+ ") or "0"

    def __str__(self) -> str:
        sign = "=" if self.exact else "~"
        lines = [f"{self.quantity} {sign} {self.formula}"]
        if self.exact:
            lines.append(f"exact in all {self.cases} cases")
        else:
            lines.append(
                f"left over in {self.cases} cases: at most {float(self.left_over):.4g}, "
                f"{self.share:.1%} of {self.quantity}"
            )
        lines += [f"so is {self.quantity} = {other}" for other in self.others]
        if self.tied:
            lines.append(f"in all cases {', '.join(self.tied)}")
        return "\n".join(lines)

    __repr__ = __str__


@advised()
def fit(
    program: Program | Callable[..., Run],
    grid: Mapping[str, Iterable[Any]] | Iterable[Case],
    *,
    machine: Callable[..., Any] | None = None,
    arguments: Callable[..., tuple[Any, ...]] | None = None,
    measure: Callable[[Run], int] | None = None,
    quantity: str = "T",
) -> Fit:
    """Run a program over a grid and find the formula of its time.

    Parameters
    ----------
    program
        A program. Or, without `machine` and `arguments`, a function that takes the parameters of a
        case by name and returns a `Run`.
    machine, arguments
        For a program: functions that take a case's parameters by name, and return the machine and
        the arguments after T. The number of threads is the case's `p`.
    grid
        A dictionary with a list of values for each parameter; every combination is a case. Or the
        cases themselves. The formula uses parameters that are whole numbers. Give each at least
        four values, and combinations in which none follows from others.
    measure
        A function of a run that returns the measured quantity. Default: the time.
    quantity
        The name of the measured quantity.

    Returns
    -------
    The fit; print it. Raises `FitError` for fewer than five cases or a grid without numbers.

    Examples
    --------
    >>> import numpy as np, mmsim as mm
    >>> @mm.program
    ... def copy(T, a, b):
    ...     for i in range(T.id, len(a), T.count):
    ...         b[i] = a[i]
    >>> grid = {"n": [128, 256, 512], "p": [16, 32, 64], "w": [4, 8, 16], "l": [1, 5, 8]}
    >>> print(mm.fit(copy, grid, machine=lambda w, l: mm.UMM(w, l),
    ...              arguments=lambda n: (np.arange(n), np.zeros(n, int))))
    T = 2*l*n/p - 2*n/p + 2*n/w
    exact in all 81 cases
    """
    if not isinstance(quantity, str) or not quantity.isidentifier():
        name = shown(quantity)
        raise FitError(f"{name} can't be the name of a quantity; give letters, such as T")
    function = program
    if isinstance(program, Program):
        if machine is None or arguments is None:
            raise FitError(
                f"say on which machines {program.name!r} runs, and on what: "
                "machine=lambda w, l: mm.DMM(w, l), arguments=lambda n: (...)"
            )
        function = partial(_launched, program, machine, arguments)
    cases = [case.values for case in make_cases(function, grid)]
    runs = (function(**case) for case in cases)
    numbers = [run.time if measure is None else measure(run) for run in runs]
    return fit_numbers(cases, numbers, quantity)


def _launched(program: Program, machine: Any, arguments: Any, /, **case: Any) -> Run:
    """A program's run for a case."""
    if "p" not in case:
        raise FitError("the grid lacks p, the number of threads")
    run: Run = call_with(machine, case).run(program, *call_with(arguments, case), threads=case["p"])
    return run


def fit_numbers(cases: Sequence[Case], numbers: Sequence[int], quantity: str = "T") -> Fit:
    """Find the formula of a quantity measured in some cases.

    >>> cases = [{"w": w, "l": l} for w in (2, 4, 8, 16) for l in (1, 2, 3, 5)]
    >>> print(fit_numbers(cases, [case["w"] ** 2 + 2 * case["l"] - 2 for case in cases]))
    T = w^2 + 2*l - 2
    exact in all 16 cases
    """
    if len(cases) < 2 + MORE:
        raise FitError(
            f"{len(cases)} cases are too few for a formula; give a grid of at least {2 + MORE}"
        )
    columns = _numbers_of(cases)
    if not columns:
        raise FitError("no parameter takes two whole numbers from 1 on; vary one")
    names, tied = _untied(columns)
    terms = terms_of({name: columns[name] for name in names})
    chosen = _spread(len(cases), LOOKED_AT)
    looked_at = {name: np.array(columns[name], np.float64)[chosen] for name in names}
    table = np.column_stack([np.ones(len(chosen)) * term.values(looked_at) for term in terms])
    wanted = np.array([float(numbers[at]) for at in chosen])
    for found in _search(table, wanted):
        whole = []
        for left, kept in found:
            own = [terms[at] for at in kept]
            factors = _exact(cases, numbers, own) if left < 1e-7 else None
            if factors is not None:
                made = _made(cases, numbers, quantity, own, factors, tied)
                whole.append((sum(term.complexity for term in own), kept, made))
        if whole:
            first, *rest = (made for *_, made in sorted(whole, key=lambda one: one[:2]))
            return replace(first, others=tuple(other.formula for other in rest))
    simple = [at for at, term in enumerate(terms) if term.complexity <= READABLE]
    near, rough = _near(table, wanted, simple)
    factors = [Fraction(float(factor)).limit_denominator(10**6) for factor in rough]
    return _made(cases, numbers, quantity, [terms[at] for at in near], factors, tied)


def _near(table: Floats, wanted: Floats, simple: Sequence[int]) -> tuple[list[int], Floats]:
    """Terms whose sum comes near, each the best addition to the previous ones, and coefficients.

    The coefficients are positive, like parts of a time. A further term must reduce the remainder to
    less than the part `ENOUGH` of it.
    """
    weights = 1 / np.maximum(np.abs(wanted), 1)
    table, goal = table * weights[:, None], wanted * weights
    chosen: list[int] = []
    factors = np.zeros(0)
    left = float(np.linalg.norm(goal))
    while len(chosen) < MOST_TERMS:
        best: tuple[float, int, Floats] | None = None
        for at in simple:
            columns = table[:, [*chosen, at]]
            found: Floats = np.linalg.lstsq(columns, goal, rcond=None)[0].astype(np.float64)
            rest = float(np.linalg.norm(goal - columns @ found))
            if at not in chosen and (found > 0).all() and (best is None or rest < best[0]):
                best = rest, at, found
        if best is None or (chosen and best[0] >= ENOUGH * left):
            break
        left, chosen, factors = best[0], [*chosen, best[1]], best[2]
    return chosen, factors


def _made(
    cases: Sequence[Case],
    numbers: Sequence[int],
    quantity: str,
    terms: Sequence[Term],
    factors: Sequence[Fraction],
    tied: tuple[str, ...],
) -> Fit:
    """The fit of these terms, the largest powers first."""
    both = [(factor, term) for factor, term in zip(factors, terms, strict=True) if factor]
    both.sort(key=lambda one: (-one[1].complexity, str(one[1])))
    both.sort(key=lambda one: one[0] < 0 and one[1].complexity == 0)
    made = Fit(quantity, tuple(both), False, len(cases), Fraction(0), 0.0, tied)
    apart = [abs(made.value(case) - n) for case, n in zip(cases, numbers, strict=True)]
    worst, shares = max(apart), zip(apart, numbers, strict=True)
    share = max(float(far / abs(n)) if n else float(far > 0) for far, n in shares)
    return replace(made, exact=worst == 0, left_over=worst, share=share)


def _numbers_of(cases: Sequence[Case]) -> dict[str, list[int]]:
    """The parameters that are whole numbers from 1 on in all cases, and not all the same."""
    found = {}
    for name in cases[0]:
        given: list[Any] = [case.get(name) for case in cases]
        if all(map(is_whole, given)) and min(given) >= 1 and len(set(given)) > 1:
            found[name] = list(map(int, given))
    return found


def _untied(columns: Mapping[str, list[int]]) -> tuple[list[str], tuple[str, ...]]:
    """The parameters that don't follow from others, and equations for the others."""
    names = [*(name for name in GIVEN_UP if name in columns), *sorted({*columns} - {*GIVEN_UP})]
    tied = []
    left = list(names)
    for name in names:
        how = _follows(name, columns, [other for other in left if other != name])
        if how:
            left.remove(name)
            tied.append(how)
    return sorted(left), tuple(tied)


def _follows(name: str, columns: Mapping[str, list[int]], others: Sequence[str]) -> str:
    """The equation by which a parameter follows from one or two others, "" if there is none."""
    for count in (1, 2):
        for chosen in combinations(others, count):
            for term in terms_of({other: columns[other] for other in chosen}):
                if term.log or len(term.powers) != count:
                    continue
                rows = zip(*(columns[other] for other in chosen), strict=True)
                values = [term.value(dict(zip(chosen, row, strict=True))) for row in rows]
                factors = {n / value for n, value in zip(columns[name], values, strict=True)}
                if len(factors) == 1:
                    factor = factors.pop()
                    return f"{name} = {'' if factor == 1 else f'{factor}*'}{term}"
    return ""


def _spread(count: int, most: int) -> list[int]:
    """The numbers of at most so many cases, spread over all."""
    if count <= most:
        return list(range(count))
    chosen = np.random.default_rng(0).choice(count, most, replace=False)
    return sorted(chosen.tolist())


def _search(table: Floats, wanted: Floats) -> Iterator[list[tuple[float, list[int]]]]:
    """For 1, 2, ... terms: the sets with the least remainders, and the remainders.

    The remainder is the root mean square of the parts of the wanted values.
    """
    rows, columns = table.shape
    weights = 1 / np.maximum(np.abs(wanted), 1)
    table, wanted = table * weights[:, None], wanted * weights
    table = table / np.linalg.norm(table, axis=0)
    kept: list[tuple[float, list[int]]] = [(1.0, [])]
    for _ in range(min(MOST_TERMS, rows - MORE, columns)):
        found: dict[tuple[int, ...], float] = {}
        for _, chosen in kept:
            basis = np.linalg.qr(table[:, chosen])[0] if chosen else np.zeros((rows, 0))
            rest = wanted - basis @ (basis.T @ wanted)
            others = table - basis @ (basis.T @ table)
            norms = np.linalg.norm(others, axis=0)
            usable = norms > 1e-6
            usable[chosen] = False
            gains = np.zeros(columns)
            gains[usable] = (others[:, usable].T @ rest / norms[usable]) ** 2
            left = np.sqrt(np.maximum(rest @ rest - gains, 0) / rows)
            for at in np.argsort(left, kind="stable")[:KEPT].tolist():
                if usable[at]:
                    found.setdefault(tuple(sorted((*chosen, at))), float(left[at]))
        if not found:
            return
        order = sorted((left, list(chosen)) for chosen, left in found.items())
        kept = order[:KEPT]
        yield kept


def _exact(
    cases: Sequence[Case], numbers: Sequence[int], terms: Sequence[Term]
) -> list[Fraction] | None:
    """The coefficients with which the sum of terms equals the quantity in all cases, if simple.

    They are those of least squares, rounded to simple fractions. Exact arithmetic then decides.
    """
    values = [[term.value(case) for term in terms] for case in cases]
    wanted = np.array(numbers, np.float64)
    weights = 1 / np.maximum(np.abs(wanted), 1)
    table = np.array(values, np.float64) * weights[:, None]
    sizes = np.linalg.norm(table, axis=0)
    rough = np.linalg.lstsq(table / sizes, wanted * weights, rcond=None)[0] / sizes
    factors = [Fraction(float(factor)).limit_denominator(SIMPLE) for factor in rough]
    for row, number in zip(values, numbers, strict=True):
        if sum(factor * value for factor, value in zip(factors, row, strict=True)) != number:
            return None
    return factors


@dataclass(frozen=True)
class Fitted:
    """The formula found for an exact claim.

    `outcome` is "found" if exactly one formula is exact in all cases that were run, and agrees with
    the claim's in all other cases; "wrong" if it disagrees there. "one of several": these cases
    can't decide between formulas. "too few cases": fewer than a formula needs.
    """

    claim: Claim
    fit: Fit | None
    outcome: Outcome


def fitted(claims: Iterable[Claim]) -> Iterator[Fitted]:
    """Run cases of each exact claim and find its formula; misprints are left out."""
    for claim in claims:
        if claim.kind == "exact" and not claim.printed:
            yield fit_claim(claim)


def fit_claim(claim: Claim, most: int = MOST_RUNS) -> Fitted:
    """Run at most so many cases of a claim and find its formula.

    >>> from mmsim.claims import registered
    >>> (claim,) = (one for one in registered() if one.id == "SMM-L5.1")
    >>> print(fit_claim(claim, 60).fit)
    T = 2*l*n/p - 2*n/p + 2*n/w
    exact in all 60 cases
    """
    cases = claim.cases()
    some = [cases[at] for at in _spread(len(cases), most)]
    numbers = [claim.measure(claim.run(schedule="synchronous", **case)) for case in some]
    try:
        found = fit_numbers(some, numbers, claim.quantity)
    except FitError:
        return Fitted(claim, None, "too few cases")
    if not found.exact:
        return Fitted(claim, found, "not found")
    if found.others:
        return Fitted(claim, found, "one of several")
    right = all(found.value(case) == claim.evaluate(case) for case in (*cases, *claim.own_cases()))
    return Fitted(claim, found, "found" if right else "wrong")
