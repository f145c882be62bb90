"""A claim over one of its parameters: the measured and the claimed values."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from mmsim.claims.claim import Case, ClaimError
from mmsim.claims.claim import Claim as AnyClaim
from mmsim.errors import LaunchError, shown
from mmsim.host.guesses import advised
from mmsim.view.figures import paper
from mmsim.view.figures.terms import formula_of, short
from mmsim.view.figures.times import scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SET = 60
"""The most letters of a statement that is set as mathematics; there is no room for a longer one."""
WIDEST = 44
"""The most letters of a line below a column."""
MACHINE = ("w", "l", "L", "d")
"""The letters of a machine's numbers. Along a line the machine stays the same."""
BOUND: Any = {
    "linestyle": "none",
    "marker": "_",
    "markersize": 9,
    "markeredgewidth": 1.4,
    "color": paper.DARK_FIRST[2],
}
"""The style of a bound: points lie below or above it."""


@advised()
def claim(claim: AnyClaim, over: str, *, axes: Axes | None = None, **where: Any) -> Axes:
    """Draw the measured values of a claim, under both schedules, and its formula over a parameter.

    The cases of one line are run. Along a line the machine stays the same, except for `over`. Other
    parameters stay the same, or are a multiple of `over` (as p = n) or of its square. The legend
    has the statement. A ring marks a point that equals an exact claim. A dash marks a bound: the
    formula times its constant.

    Parameters
    ----------
    claim
        The claim; its cases are those of its grid.
    over
        The parameter of the horizontal axis, a number in each case.
    axes
        Where to draw.
    where
        Other parameters, by name. Default: the line with the most cases; of several such lines, the
        last one of the grid.

    Examples
    --------
    >>> import mmsim as mm
    >>> from mmsim.claims import choose, registered
    >>> claim, *_ = choose(registered(), "SMM-L5.1")
    >>> axes = mm.figures.claim(claim, "n", p=4, w=4, l=5)
    >>> axes.get_xlabel().splitlines()
    ['n', 'on=DMM, p=4, w=4, l=5']
    """
    if not isinstance(claim, AnyClaim):
        raise LaunchError(f"this figure is drawn of a Claim, not of {shown(claim)}")
    others, cases = _line(claim, over, where)
    rows = [claim.row(case) for case in cases]
    x = [float(case[over]) for case in cases]
    measured, asynchronous, claimed = (
        [float(getattr(row, name)) for row in rows]
        for name in ("measured", "asynchronous", "claimed")
    )
    constant = ", for c = 1" if claim.growth is not None else ""
    unit = " (time units)" if claim.quantity == "T" else ""
    with paper.drawing(axes, paper.COLUMN, 2.7) as drawn:
        drawn.plot(x, measured, **paper.marks(0), label="synchronous")
        drawn.plot(x, asynchronous, **paper.marks(1), label="asynchronous")
        how = paper.RING if claim.kind == "exact" else BOUND
        drawn.plot(x, claimed, **how, zorder=1, label=f"{statement(claim)}{constant}")
        scale(drawn, x, [*measured, *asynchronous, *claimed])
        below = "\n".join(map(paper.words, [over, *wrap(others, WIDEST)]))
        drawn.set(xlabel=below, ylabel=paper.words(f"{claim.quantity}{unit}"))
        paper.legend_above(drawn, columns=1)
        paper.describe(
            drawn,
            f"{claim.id}, {claim.title}: {formula_of(claim)}{constant}; {claim.quantity}{unit} "
            f"against {over}{f', with {others}' if others else ''}",
            (
                f"at {over}={row.case[over]} {row.measured} synchronous, {row.asynchronous} "
                f"asynchronous, {row.claimed} claimed"
                for row in rows
            ),
        )
    return drawn


def statement(claim: AnyClaim) -> str:
    """The statement of a claim, set as mathematics; shortened if it is too long for a legend."""
    import sympy

    if len(claim.text) > SET:
        return paper.words(short(formula_of(claim)))
    return f"${sympy.latex(claim.statement)}$"


def _line(claim: AnyClaim, over: str, where: Case) -> tuple[str, list[Case]]:
    """The other parameters along the longest line of cases, in words, and these cases, in order."""
    cases = claim.chosen(where)
    for case in cases:
        if not _is_number(case.get(over)):
            numbers = ", ".join(name for name, value in case.items() if _is_number(value))
            raise ClaimError(
                f"{claim.id}: over={shown(over)} is not a number in every case; there are {numbers}"
            )
    named = [
        [_courses(name, value, over, case[over]) for name, value in case.items() if name != over]
        for case in cases
    ]
    lines: dict[tuple[int, tuple[str, ...]], list[Case]] = {}
    for case, courses in zip(cases, named, strict=True):
        for line in product(*courses):
            key = sum(power for power, _ in line), tuple(text for _, text in line)
            lines.setdefault(key, []).append(case)

    def size(key: tuple[int, tuple[str, ...]]) -> tuple[int, int]:
        return len(lines[key]), -key[0]

    chosen = max(reversed(lines), key=size)  # of equal lines, the last one of the grid
    return ", ".join(chosen[1]), sorted(lines[chosen], key=lambda case: float(case[over]))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _courses(name: str, value: Any, over: str, at: Any) -> list[tuple[int, str]]:
    """The possible courses of a parameter: the same, or a multiple of `over` or of its square.

    >>> _courses("p", 16, "n", 32)
    [(0, 'p=16'), (1, 'p=n/2'), (2, 'p=n²/64')]
    """
    found = [(0, f"{name}={value}")]
    sizes = name not in MACHINE and isinstance(value, int) and isinstance(at, int)
    if sizes and value > 0 < at:
        for power, symbol in ((1, over), (2, f"{over}²")):
            factor = Fraction(value, at**power)
            one = "" if factor.numerator == 1 else str(factor.numerator)
            part = "" if factor.denominator == 1 else f"/{factor.denominator}"
            found.append((power, f"{name}={one}{symbol}{part}"))
    return found
