"""The terms of a time's formula, over one of the parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mmsim.claims.fit import Fit
from mmsim.errors import LaunchError, MMSimError, shown
from mmsim.host.arguments import several
from mmsim.host.guesses import advised
from mmsim.view.figures import paper
from mmsim.view.figures.times import few_ticks, scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mmsim.claims.claim import Claim

LONGEST = 44
"""The most letters of a formula in a legend."""
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "+++", "ooo")


@advised()
def terms(
    fit: Fit, over: str, values: Sequence[int], *, axes: Axes | None = None, **case: int
) -> Axes:
    """Draw the share of the time that each term of a formula has, over a parameter.

    It shows which term dominates where. A term with a negative coefficient is not a part of the
    time. The shares are then those of the other terms' sum, and the vertical axis names the omitted
    term.

    Parameters
    ----------
    fit
        The result of `mmsim.fit`.
    over, values
        The parameter of the horizontal axis, and its values.
    axes
        Where to draw.
    case
        The other parameters of the formula.

    Examples
    --------
    >>> import mmsim as mm
    >>> from mmsim.claims.fit import fit_numbers
    >>> cases = [{"n": n, "l": l} for n in (4, 8, 16, 32) for l in (1, 2, 3, 5)]
    >>> found = fit_numbers(cases, [case["n"] + 2 * case["l"] for case in cases])
    >>> axes = mm.figures.terms(found, "n", (4, 8, 16), l=2)
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['2*l', 'n']
    """
    cases = _cases([fit], over, values, case)
    added = [(factor, term) for factor, term in fit.terms if factor > 0]
    if not added:
        raise MMSimError("no term of this formula has a positive coefficient")
    heights = {
        _named(factor, term): [float(factor * term.value(one)) for one in cases]
        for factor, term in added
    }
    left = [f"-{_named(-factor, term)}" for factor, term in fit.terms if factor < 0]
    whole = short(f"the time without {', '.join(left)}") if left else "the time"
    return areas(heights, over, values, axes=axes, whole=whole)


def areas(
    heights: Mapping[str, Sequence[float]],
    over: str,
    values: Sequence[int],
    *,
    axes: Axes | None = None,
    whole: str = "the time",
) -> Axes:
    """Draw the share that each of several parts has of their sum, over a parameter.

    `heights` are the parts by name, each with a number for each value; `whole` names their sum.

    >>> axes = areas({"n/w": [1, 3], "l": [1, 1]}, "n", (8, 16))
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['n/w', 'l']
    """
    if len(heights) > len(paper.COLOURS):
        raise MMSimError(f"{len(heights)} terms, and {len(paper.COLOURS)} can be distinguished")
    sums = [sum(column) for column in zip(*heights.values(), strict=True)]
    shares = [
        [100 * part / total for part, total in zip(row, sums, strict=True)]
        for row in heights.values()
    ]
    with paper.drawing(axes, paper.COLUMN, 2.2) as drawn:
        stacked = drawn.stackplot(
            [float(value) for value in values],
            shares,
            labels=[paper.words(name) for name in heights],
            colors=paper.COLOURS[: len(heights)],
            edgecolor="black",
            linewidth=0.4,
        )
        for area, hatch in zip(stacked, HATCHES, strict=False):
            area.set_hatch(hatch)
        if min(values) > 0 and max(values) >= 8 * min(values):
            drawn.set_xscale("log", base=2)
        few_ticks(drawn, [float(value) for value in values])
        drawn.set(xlim=(min(values), max(values)), ylim=(0, 100))
        drawn.set_xlabel(paper.words(over), style="italic")
        drawn.set_ylabel(paper.words(f"share of {whole} (%)"))
        paper.legend_above(drawn, columns=3)
        paper.describe(
            drawn,
            f"share of {whole} against {over}, from {values[0]} to {values[-1]}",
            (
                f"{name} from {row[0]:.0f}% to {row[-1]:.0f}%"
                for name, row in zip(heights, shares, strict=True)
            ),
        )
    return drawn


@advised()
def formulas(
    fits: Mapping[str, Fit],
    over: str,
    values: Sequence[int],
    *,
    axes: Axes | None = None,
    **case: int,
) -> Axes:
    """Draw the times by several formulas over a parameter, such as a naive and a good program's.

    Parameters
    ----------
    fits
        The results of `mmsim.fit`, by name.
    over, values
        The parameter of the horizontal axis, and its values.
    axes
        Where to draw.
    case
        The other parameters of the formulas.

    Examples
    --------
    >>> import mmsim as mm
    >>> from mmsim.claims.fit import fit_numbers
    >>> cases = [{"n": n} for n in (4, 8, 16, 32, 64)]
    >>> fits = {
    ...     "naive": fit_numbers(cases, [case["n"] ** 2 for case in cases]),
    ...     "good": fit_numbers(cases, [3 * case["n"] for case in cases]),
    ... }
    >>> axes = mm.figures.formulas(fits, "n", (4, 8, 16))
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['naive: T = n^2', 'good: T = 3*n']
    """
    if not isinstance(fits, Mapping) or not fits:
        raise LaunchError(f"fits is a dictionary of names and fits, not {shown(fits)}")
    if len(fits) > len(paper.MARKERS):
        raise MMSimError(f"{len(fits)} formulas, and {len(paper.MARKERS)} can be distinguished")
    cases = _cases(list(fits.values()), over, values, case)
    heights: list[float] = []
    with paper.drawing(axes, paper.COLUMN, 2.2) as drawn:
        for number, (name, fit) in enumerate(fits.items()):
            times = [float(fit.value(one)) for one in cases]
            heights += times
            drawn.plot(
                [float(value) for value in values],
                times,
                marker=paper.MARKERS[number],
                markersize=3,
                color=paper.DARK_FIRST[number % len(paper.DARK_FIRST)],
                label=paper.words(short(f"{name}: {str(fit).splitlines()[0]}")),
            )
        scale(drawn, [float(value) for value in values], heights)
        drawn.set_xlabel(paper.words(over), style="italic")
        drawn.set_ylabel("time units")
        paper.legend_above(drawn, columns=1)
    return drawn


def _named(factor: Any, term: Any) -> str:
    return Fit("T", ((factor, term),), True, 0, factor, 0.0).formula


def formula_of(claim: Claim) -> str:
    """The statement of a claim for a legend.

    >>> from mmsim.claims import Claim
    >>> formula_of(Claim("X", "a paper", "reading", lambda n, w: n**2 / w, "upper", grid=list,
    ...                  run=None))
    'T ≤ n^2/w'
    """
    text = claim.text.replace("**", "^")
    return text.replace("<=", "≤").replace(">=", "≥")


def short(text: str) -> str:
    """A formula, shortened if a legend has no room for it."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _cases(
    fits: Sequence[object], over: str, values: Sequence[int], case: Mapping[str, int]
) -> list[dict[str, int]]:
    """Return a case for each value. All parameters of the formulas must be given."""
    chosen = several("values are those of a parameter", values)
    if len(chosen) < 2:
        raise MMSimError(f"give at least two values of {over}")
    for fit in fits:
        if not isinstance(fit, Fit):
            raise LaunchError(f"this figure is drawn of what mmsim.fit found, not of {shown(fit)}")
        lacking = sorted(fit.parameters - {over, *case})
        if lacking:
            raise MMSimError(
                f"the formula has the parameters {', '.join(lacking)}, too; give them, as "
                f"{lacking[0]}=32"
            )
    return [{**case, over: value} for value in chosen]
