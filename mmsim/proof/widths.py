"""The costs at all widths up to 64 as one formula, in which the width is a symbol.

The formula is guessed from the costs, and then compared with each of them. So it is proved for each
of these widths, and for no other one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from mmsim.claims.formulas import Log2
from mmsim.proof.joined import COUNTS
from mmsim.proof.written import short
from mmsim.results.costs import CostCase, CostRow

WIDTHS = range(1, 65)
"""The widths at which a formula is proved."""
SPECIAL = 3
"""The most widths, the smallest ones, at which the formula may be another one."""
EXAMPLE = 4
"""The width at which a row gives its reason, if the reason differs between widths."""


class NoFormula(Exception):
    """The costs don't agree with one formula."""


def cases_of(costs: Mapping[int, tuple[CostCase, ...]], width: Any) -> tuple[CostCase, ...]:
    """The cases with a symbol for the width. Raises `NoFormula` if there are none."""
    if len({len(cases) for cases in costs.values()}) > 1:
        raise NoFormula
    return tuple(
        _case(dict(zip(costs, cases, strict=True)), width)
        for cases in zip(*costs.values(), strict=True)
    )


def _case(at: Mapping[int, CostCase], width: Any) -> CostCase:
    import sympy

    conditions = {w: sympy.And.make_args(one.condition) for w, one in at.items()}
    if len({len(parts) for parts in conditions.values()}) > 1:
        raise NoFormula
    parts = [
        formula(dict(zip(at, part, strict=True)), width)
        for part in zip(*conditions.values(), strict=True)
    ]
    steps = {one.steps for one in at.values()}
    words = steps.pop() if len(steps) == 1 else tuple(map(str, parts))

    def rows() -> tuple[CostRow, ...]:
        tables = {w: {_place(row): row for row in one.accesses} for w, one in at.items()}
        places = dict.fromkeys(place for rows in tables.values() for place in rows)
        return tuple(_row(place, tables, width) for place in places)

    time = formula({w: one.time for w, one in at.items()}, width)
    return CostCase(sympy.And(*parts), words, _shortest(time), rows)


def _place(row: CostRow) -> tuple[Any, ...]:
    return row.function, row.line, row.array, row.kind, row.space


def _row(
    place: tuple[Any, ...], tables: Mapping[int, Mapping[Any, CostRow]], width: Any
) -> CostRow:
    """An access; where it doesn't occur at a width, its counts are 0 there."""
    found = {w: rows[place] for w, rows in tables.items() if place in rows}
    counts: dict[str, Any] = {}
    for name in COUNTS:
        values = {w: getattr(found[w], name) if w in found else 0 for w in tables}
        try:
            counts[name] = _shortest(formula(values, width))
        except NoFormula:
            counts[name] = "differs"
    reasons = {row.why for row in found.values()}
    at = EXAMPLE if EXAMPLE in found else max(found)
    why = reasons.pop() if len(reasons) == 1 else f"at {width} = {at}: {found[at].why}"
    return replace(next(iter(found.values())), **counts, why=why)


def _shortest(expression: Any) -> Any:
    """The shortest form of an expression: 2 n (l + p/w - 1)/p, with one of two denominators."""
    symbols = sorted(expression.free_symbols, key=str)
    forms = [short(expression), *(short(expression * one) / one for one in symbols)]
    return min(forms, key=lambda one: (len(str(one)), str(one)))


def formula(at: Mapping[int, Any], width: Any) -> Any:
    """An expression that is the one given at each width. Raises `NoFormula` if none is found."""
    import sympy

    exact = {w: sympy.sympify(one) for w, one in at.items()}
    found = sympy.sympify(_joined(exact, width))
    if not all(_same(found, one, {width: w}) for w, one in exact.items()):
        raise NoFormula
    return found


def _joined(at: Mapping[int, Any], width: Any) -> Any:
    """An expression that may be the one given at each width."""
    import sympy

    kinds = {(one.func, len(one.args)) for one in at.values()}
    first = next(iter(at.values()))
    if len(set(at.values())) == 1:
        return first
    if all(one.is_Rational for one in at.values()):
        return _number(at, width)
    if len(kinds) == 1 and first.args and not (first.is_Add or first.is_Mul):
        parts = zip(*(one.args for one in at.values()), strict=True)
        return first.func(*(_joined(dict(zip(at, part, strict=True)), width) for part in parts))
    if any(not isinstance(one, sympy.Expr) for one in at.values()):
        raise NoFormula
    terms: dict[Any, dict[int, tuple[Any, Any]]] = {}
    for w, one in at.items():
        for product, number in one.expand().as_coefficients_dict().items():
            own = terms.setdefault(_form(product), {})
            if w in own:
                raise NoFormula
            own[w] = number, product
    found = 0
    for own in terms.values():
        numbers = {w: own[w][0] if w in own else sympy.Integer(0) for w in at}
        products = {w: product for w, (_, product) in own.items()}
        found += _number(numbers, width) * _product(products, width)
    return found


def _product(at: Mapping[int, Any], width: Any) -> Any:
    """A product of which factors differ between widths, as those of ceilings do."""
    if len(set(at.values())) == 1:
        return next(iter(at.values()))
    factors: dict[Any, dict[int, Any]] = {}
    for w, one in at.items():
        for factor in one.as_ordered_factors():
            own = factors.setdefault(_form(factor), {})
            if w in own:
                raise NoFormula
            own[w] = factor
    found = 1
    for own in factors.values():
        if own.keys() != at.keys():
            raise NoFormula
        found *= _joined(own, width)
    return found


def _form(product: Any) -> Any:
    """A product with a symbol for each function in it: the same at all widths."""
    import sympy

    def is_function(one: Any) -> bool:
        return isinstance(one, sympy.Function)

    def name(one: Any) -> Any:
        names = sorted(symbol.name for symbol in one.free_symbols)
        return sympy.Symbol(f"{type(one).__name__}({', '.join(names)})")

    return product.replace(is_function, name)


def _number(at: Mapping[int, Any], width: Any) -> Any:
    """A sum of powers of the width that has these values, times its logarithm or w mod 2."""
    import sympy

    powers: list[Any] = [sympy.Integer(1), width, 1 / width]
    odd = [one * sympy.Mod(width, 2) for one in powers]
    logs = [one * Log2(width) for one in powers]
    doubling = all(w & (w - 1) == 0 for w in at)
    bases = [powers[:1], powers, [*powers, width**2, width**-2]]
    bases.append([*powers, *(logs if doubling else odd)])
    for base in bases:
        if len(base) >= len(at) and len(at) > 1:
            continue
        rows = [[one.xreplace({width: sympy.Integer(w)}) for one in base] for w in at]
        system = sympy.Matrix(rows[: len(base)])
        right = sympy.Matrix(list(at.values())[: len(base)])
        try:
            factors = system.LUsolve(right)
        except ValueError:  # the sums aren't independent, as w mod 2 of even widths alone
            continue
        if all(
            sum(a * b for a, b in zip(row, factors, strict=True)) == value
            for row, value in zip(rows, at.values(), strict=True)
        ):
            return sum(a * b for a, b in zip(base, factors, strict=True))
    raise NoFormula


def over_widths(
    at: Callable[[int], tuple[CostCase, ...]], width: Any
) -> tuple[tuple[CostCase, ...], tuple[int, ...]]:
    """The cases with a symbol for the width, and the widths at which they are proved.

    `at` gives the cases at a width, none if no sizes satisfy the facts there. Raises `NoFormula`.
    """
    costs = {w: cases for w in WIDTHS if (cases := at(w))}
    if not costs:
        return (), ()
    for special in range(min(SPECIAL, len(costs) - 1) + 1):
        try:
            found = cases_of(dict(list(costs.items())[special:]), width)
        except NoFormula:
            continue
        return found, tuple(w for w, cases in costs.items() if _are(found, cases, {width: w}))
    raise NoFormula


def _are(found: tuple[CostCase, ...], cases: tuple[CostCase, ...], at: Mapping[Any, int]) -> bool:
    """Return whether cases are those of the formula at a width."""
    return len(found) == len(cases) and all(
        _same(mine.condition, its.condition, at) and _same(mine.time, its.time, at)
        for mine, its in zip(found, cases, strict=True)
    )


def _same(one: Any, other: Any, at: Mapping[Any, int]) -> bool:
    """Return whether an expression is another at a width."""
    import sympy

    its = one.xreplace({width: sympy.Integer(w) for width, w in at.items()})
    return bool(its == other or (isinstance(other, sympy.Expr) and sympy.expand(its - other) == 0))
