"""A claim of a paper, as an object that can be read, evaluated and checked."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from mmsim.errors import MMSimError, shown
from mmsim.host.guesses import Guessed, advised, instead, nearest
from mmsim.model.drawn import FIGURES
from mmsim.results.run import Run
from mmsim.results.sheets import write_csv
from mmsim.tabular import FORMS, Rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mmsim.claims.launch import Repeated, SymbolicLaunch

Case = dict[str, Any]
Relation = Literal["exact", "upper", "lower"]
AnyRun = TypeVar("AnyRun", bound=Run)


class Timed(Protocol):
    """The result of a claim's `run`: a `Run`, or any other measured thing."""

    @property
    def time(self) -> int:
        """Its time units; 0 if no machine ran."""
        ...


class ClaimError(MMSimError):
    """A wrong definition of a claim, or a run with a wrong result."""


@dataclass(frozen=True)
class Series:
    """One line of a figure: its name and its points."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True)
class Curve:
    """Some lines over one axis."""

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]


@dataclass(frozen=True)
class Precondition:
    """A condition on a case, in words and as a test on the case's parameters."""

    text: str
    holds: Callable[..., bool]


@dataclass(frozen=True, eq=False)
class Growth:
    """The reason why no constant satisfies an O(): along a parameter, the ratio has no bound.

    Parameters
    ----------
    along
        The name of the parameter that increases from case to case.
    ratio
        A function: the quotient of the measured quantity and the formula, in closed form and exact.
        It takes `along` and parameters that are the same in all cases, as numbers and as SymPy
        symbols.
    """

    along: str
    ratio: Callable[..., Any]

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of the ratio's parameters."""
        return tuple(inspect.signature(self.ratio).parameters)


@dataclass(frozen=True)
class CaseRow:
    """One case: the values measured under both schedules, and the exact claimed value.

    For a bound, `claimed` is the formula times its constant.
    """

    case: Case
    quantity: str
    measured: int
    asynchronous: int
    claimed: Fraction

    @property
    def columns(self) -> dict[str, Any]:
        """The parameters, then the measured and the claimed values, by name."""
        results = {"measured": self.measured, "asynchronous": self.asynchronous}
        return {**self.case, **results, "claimed": self.claimed}


class CaseRows(Rows[CaseRow]):
    """Cases of a claim; `print` them for a table."""

    __slots__ = ()

    @property
    def names(self) -> list[str]:
        """The names of the columns; a case may lack some of them."""
        return list(dict.fromkeys(name for row in self for name in row.columns))

    def to_latex(self) -> str:
        """Return the table as a `tabular` of LaTeX, with exact numbers; it needs no package."""
        return str(FORMS["latex"](self))

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write the table as comma-separated values; a fraction is written as 7/2."""
        rows = ([row.columns.get(name, "") for name in self.names] for row in self)
        exact = ([one if isinstance(one, int) else str(one) for one in row] for row in rows)
        write_csv(path, self.names, exact)


NEEDS = {"formula": " n, w", "grid": "", "measure": " run"}
"""The parameters of a claim's functions, as an example."""

INSTEAD = instead(
    {
        "verify check run_all test": "mmsim.claims.verify_claim(claim)",
        "latex to_latex": "sympy.latex(claim.statement), claim.table().to_latex()",
        "to_csv to_dataframe results": "claim.table(), which has to_csv(path) and to_latex()",
    }
)
"""Names that users look for in a claim, with the claim's name for each."""


def _time(run: Timed) -> int:
    return run.time


@advised()
@dataclass(frozen=True, eq=False)
class Claim(Guessed):
    """A statement of a paper about the cost of a program.

    Parameters
    ----------
    id
        The name in the ledger, as "SMM-L5.1".
    source
        Paper and place, as "SMM, Lemma 5.1".
    title
        Its subject, in words.
    formula
        The claimed value as a function of the parameters it needs. It must work on both numbers and
        SymPy symbols: use `gcd`, `minimum`, `maximum`, `ceiling`, `root`, `log2`.
    kind
        "exact": the measured quantity equals the formula; "upper" (an O-claim): it is at most
        `constant` times the formula; "lower": at least `constant` times.
    grid
        A function that returns the cases: dictionaries of parameters. All must satisfy `requires`.
    run
        `run(schedule=..., **case)` runs the program and returns the `Run`. It raises an exception
        if the resulting arrays are wrong. Without a machine, it returns the counts.
    measure
        A function of the result of `run` that returns the measured quantity. Default: the time in
        time units.
    quantity
        The symbol of the measured quantity.
    requires
        The claim's preconditions.
    constant
        The constant c of an O-claim or a lower bound.
    printed
        True for a misprint of the paper. Verification must refute the claim.
    growth
        The growth that refutes a misprinted O() for every constant.
    note
        A note for the reader; for a misprint, the mistake.
    curve
        A function that returns the claim's curve, if it has one, for the page of verdicts.
    own
        A function that returns the cases of the paper's own size, if that is too large for the
        grid. They are run one claim at a time, and skipped if memory is short.
    derived
        The parameters of a case that follow from the others, by name: functions of these, as
        {"C": lambda permutation, n, w: ...}. Random points have them too.
    misprint
        The name of a misprint that several claims show. Default: the id.
    scan
        True for a misprint that hangs on one symbol, number or damaged sentence of a scanned text.
    only
        The part of the domain where a misprinted claim is right. Verification must confirm it in
        every case there, and refute it in a case elsewhere.
    launches
        A function of the parameters, which may be symbols, that returns the launches of `run`, in
        order: for a proof.
    """

    _instead = INSTEAD

    id: str
    source: str
    title: str
    formula: Callable[..., Any]
    kind: Relation
    grid: Callable[[], Iterable[Case]]
    run: Callable[..., Timed]
    measure: Callable[[Any], int] = _time
    quantity: str = "T"
    requires: tuple[Precondition, ...] = ()
    constant: int = 1
    printed: bool = False
    growth: Growth | None = None
    note: str = ""
    curve: Callable[[], Curve] | None = None
    own: Callable[[], Iterable[Case]] = tuple
    derived: Mapping[str, Callable[..., int]] = field(default_factory=dict)
    misprint: str = ""
    scan: bool = False
    only: Precondition | None = None
    launches: Callable[..., Iterable[SymbolicLaunch | Repeated]] | None = None

    def __post_init__(self) -> None:
        if self.kind not in get_args(Relation):
            raise ClaimError(
                f"{self.id}: kind={shown(self.kind)}, but kind must be 'exact' (it equals the "
                "formula), 'upper' (at most constant times the formula) or 'lower' (at least)"
            )
        for name in ("formula", "grid", "measure"):
            value = getattr(self, name)
            if not callable(value):
                raise ClaimError(
                    f"{self.id}: {name}={shown(value)}, but {name} must be a function; write "
                    f"{name}=lambda{NEEDS[name]}: ..."
                )
        bound = self.printed and self.kind == "upper" and self.constant == 1
        if self.growth is not None and not bound:
            raise ClaimError(f"{self.id}: growth refutes a printed O(), which names no constant")
        if (self.misprint or self.only) and not self.printed:
            raise ClaimError(f"{self.id}: misprint and only are for printed=True")

    @cached_property
    def paper(self) -> str:
        """The short name of the paper, the first word of the source."""
        return self.source.partition(",")[0]

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of the formula's parameters."""
        return _names(self.formula)

    @cached_property
    def statement(self) -> Any:
        """The claim as a SymPy relation: it prints as text and as LaTeX, and evaluates.

        >>> from mmsim.claims import Claim
        >>> claim = Claim("X", "a paper", "reading", lambda n, w, l: n / w + l - 1, "exact",
        ...               grid=list, run=None)
        >>> claim.statement
        Eq(T, l + n/w - 1)
        """
        import sympy

        symbols = symbols_of((self.quantity, *self.parameters))
        own = {name: symbols[name] for name in self.parameters}
        claimed = sympy.factor_terms(sympy.sympify(self.formula(**own)))
        constant = self.constant if self.growth is None else sympy.Symbol("c", positive=True)
        if constant != 1:
            claimed = sympy.Mul(constant, claimed, evaluate=False)  # c stays visible
        relation = {"exact": sympy.Eq, "upper": sympy.Le, "lower": sympy.Ge}[self.kind]
        return relation(symbols[self.quantity], claimed, evaluate=False)

    @cached_property
    def text(self) -> str:
        """The statement as plain text: T = n/w + l - 1."""
        sign = {"exact": "=", "upper": "<=", "lower": ">="}[self.kind]
        return f"{self.statement.lhs} {sign} {self.statement.rhs}"

    def evaluate(self, case: Case) -> Any:
        """The claimed value for a case as an exact SymPy number (times `constant`)."""
        import sympy

        numbers = {name: sympy.Integer(case[name]) for name in self.parameters}
        return sympy.sympify(self.formula(**numbers)) * self.constant

    def both(self, case: Case) -> tuple[Timed, Timed, Fraction]:
        """Run a case, synchronous first; return both schedules' runs and the claimed value."""
        synchronous = self.run(schedule="synchronous", **case)
        asynchronous = self.run(schedule="asynchronous", **case)
        claimed = self.evaluate(case)
        if not claimed.is_Rational or claimed <= 0:
            raise ClaimError(f"{self.id}: {show(case)} gives {claimed}, not a positive number")
        return synchronous, asynchronous, Fraction(str(claimed))

    def table(self, **where: Any) -> CaseRows:
        """Run the cases of the grid with these parameters, and return measured and claimed values.

        The values are exact, under both schedules. `print` shows a table, `to_latex()` returns it
        for a paper, `to_csv(path)` writes it. Without parameters, the whole grid runs. Raises
        `ClaimError` if no case has these parameters.

        >>> from mmsim.claims import choose, registered
        >>> claim, *_ = choose(registered(), "SMM-L5.1")
        >>> print(claim.table(on="DMM", w=4, l=5, n=16))
        2 cases, measured: T
        on    n   p  w  l  measured  asynchronous  claimed
        DMM  16   4  4  5        40            40       40
        DMM  16  16  4  5        16            13       16
        """
        return CaseRows(self.row(case) for case in self.chosen(where))

    def row(self, case: Case) -> CaseRow:
        """A case, run and measured."""
        synchronous, asynchronous, claimed = self.both(case)
        measured, later = self.measure(synchronous), self.measure(asynchronous)
        return CaseRow(case, self.quantity, measured, later, claimed)

    def chosen(self, where: Case) -> list[Case]:
        """The cases of the grid that have these parameters."""
        cases = self.cases()
        for name, value in where.items():
            known = dict.fromkeys(str(case[name]) for case in cases if name in case)
            if not known:
                names = dict.fromkeys(name for case in cases for name in case)
                raise ClaimError(
                    f"{self.id}: no case has a parameter {name!r}; {nearest(name, names)}"
                )
            cases = [case for case in cases if str(case.get(name)) == str(value)]
            if not cases:
                others = ", ".join(known)
                raise ClaimError(f"{self.id}: no such case has {name}={value}; there are {others}")
        return cases

    def plot(self, over: str, *, axes: Axes | None = None, **where: Any) -> Axes:
        """Draw the claim over a parameter: measured values under both schedules, and claimed ones.

        `mmsim.figures.claim` describes the parameters.

        >>> from mmsim.claims import choose, registered
        >>> claim, *_ = choose(registered(), "SMM-L5.1")
        >>> axes = claim.plot("n", w=4, l=5, p=4)
        >>> [[int(y) for y in line.get_ydata()] for line in axes.lines]
        [[40, 160], [40, 160], [40, 160]]
        """
        drawn: Axes = FIGURES["claim"](self, over, axes=axes, **where)
        return drawn

    def agrees(self, measured: int, claimed: Any) -> bool:
        """Return whether a measured quantity agrees with the claim."""
        if self.kind == "exact":
            return bool(claimed == measured)
        return bool(measured <= claimed if self.kind == "upper" else measured >= claimed)

    def cases(self) -> list[Case]:
        """The grid; each case must satisfy the preconditions and occur once."""
        cases = self._checked(self.grid())
        if not cases:
            raise ClaimError(f"{self.id}: its grid has no case")
        return cases

    def own_cases(self) -> list[Case]:
        """The cases of the paper's own size, checked in the same way; there may be none."""
        return self._checked(self.own())

    @property
    def has_own_size(self) -> bool:
        """Return whether there are cases of the paper's own size; does not make them."""
        return self.own is not tuple

    def _checked(self, cases: Iterable[Case]) -> list[Case]:
        checked = list(cases)
        seen: set[frozenset[tuple[str, str]]] = set()
        for case in checked:
            written = key_of(case)
            if written in seen:
                raise ClaimError(
                    f"{self.id}: the case {show(case)} occurs twice; give each case once"
                )
            seen.add(written)
            for condition in self.requires:
                if not call_with(condition.holds, case):
                    raise ClaimError(f"{self.id}: the case {show(case)} breaks {condition.text!r}")
        return checked


def correct(run: AnyRun, **expected: npt.ArrayLike) -> AnyRun:
    """Return the run. Raises `ClaimError` unless its arrays have the expected contents."""
    for name, wanted in expected.items():
        if not np.array_equal(run.arrays[name], wanted):
            raise ClaimError(
                f"{run.program} on {run.machine} ({run.schedule}) left a wrong result in {name!r}"
            )
    return run


def within(run: AnyRun, registers: int) -> AnyRun:
    """Return the run. Raises `ClaimError` if a thread needs more registers for data than claimed.

    As in `Run.registers`, these are the most words of a thread, read and still to be written.
    """
    needed = run.registers
    if needed is None or needed.data > registers:
        raise ClaimError(
            f"{run.program} on {run.machine} ({run.schedule}) needs "
            f"{'an unknown number of' if needed is None else needed.data} registers for data, the "
            f"claim names {registers}"
        )
    return run


def symbols_of(names: Iterable[str]) -> dict[str, Any]:
    """SymPy's symbols of these names, for positive integers."""
    import sympy

    return {name: sympy.Symbol(name, positive=True, integer=True) for name in names}


def call_with(function: Callable[..., Any], case: Case) -> Any:
    """Call a function with the parameters of a case that it names."""
    return function(**{name: case[name] for name in _names(function)})


@lru_cache(maxsize=4096)
def _names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a function's parameters, kept: grids have many cases, and asking takes long."""
    return tuple(inspect.signature(function).parameters)


def key_of(case: Case) -> frozenset[tuple[str, str]]:
    """The case as a key: equal ones for equal cases."""
    return frozenset((name, repr(value)) for name, value in case.items())


def show(case: Case) -> str:
    """A case as text: w=4, l=5."""
    return ", ".join(f"{name}={value}" for name, value in case.items())


# Functions for formulas: exact on numbers, unevaluated on symbols. SymPy loads when one is called.


def gcd(a: Any, b: Any) -> Any:
    """The greatest common divisor."""
    from mmsim.claims.formulas import GCD

    return GCD(a, b)


def _of_sympy(name: str, about: str) -> Callable[..., Any]:
    """A function of SymPy, with our documentation."""

    def function(*values: Any) -> Any:
        import sympy

        return getattr(sympy, name)(*values)

    function.__doc__ = about
    return function


minimum = _of_sympy("Min", "The smallest.")
maximum = _of_sympy("Max", "The largest.")
ceiling = _of_sympy("ceiling", "The smallest integer not below.")
floor = _of_sympy("floor", "The largest integer not above.")
root = _of_sympy("sqrt", "The square root, exact.")
cube_root = _of_sympy("cbrt", "The cube root, exact.")


def log2(value: Any) -> Any:
    """The logarithm to the base 2: exact for powers of two, and within `ceiling` and `floor`.

    >>> log2(8), ceiling(log2(9)), floor(log2(9))
    (3, 4, 3)
    """
    import sympy

    from mmsim.claims.formulas import Log2

    return Log2(sympy.sympify(value))


def named(name: str, exact: Callable[..., Fraction]) -> Callable[..., Any]:
    """A function of integers with its own name, such as E(n, w), which formulas show."""

    def function(*arguments: Any) -> Any:
        from mmsim.claims import formulas

        return formulas.named(name, exact)(*arguments)

    return function
