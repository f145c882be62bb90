"""Pictures of claims: times of runs over a parameter with the claims' formulas, and their parts.

Every number in a picture comes from a run with the right result, and agrees with the claim. If it
doesn't, `ClaimError` is raised and nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from mmsim.claims import Case, Claim, ClaimError
from mmsim.claims.claim import call_with, show
from mmsim.view.figures.paper import DARK_FIRST, MARKERS, PAGE, STYLE, drawing, legend_above, words
from mmsim.view.figures.terms import areas, formula_of
from mmsim.view.figures.times import scale
from mmsim_algorithms import claims

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT, LINE = PAGE / 2, 2.3, 0.14
"""Inches: a panel without its legend, and a line of the legend."""
MANY = 20
"""From so many points of a program on they are small."""
DASHES: tuple[Any, ...] = ("--", ":", "-.", (0, (6, 2, 1, 2, 1, 2)))
"""Those of bounds: each bound of a panel has its own."""


@dataclass(frozen=True, eq=False)
class Way:
    """A program in a picture: its name, the id of the claim on it, and the cases to run.

    A bound without a name is a line only, for runs that another way shows.
    """

    name: str
    claim: str
    cases: tuple[Case, ...]


@dataclass(frozen=True, eq=False)
class Times:
    """The times of several programs over one parameter: points are runs, lines formulas."""

    ways: tuple[Way, ...]
    measured: str = "time units"

    @property
    def over(self) -> str:
        """The parameter of the horizontal axis."""
        return first_name(self.ways[0].cases)

    @property
    def lines(self) -> int:
        """Lines of its legend: two if a formula is a bound with points."""
        bounds = [way for way in self.ways if claim_of(way.claim).kind != "exact" and way.name]
        return len(self.ways) + len(bounds)

    def draw(self, axes: Axes) -> None:
        """Draw it, with the claims' ids as names of the formulas; a bound has its own line."""
        heights: list[float] = []
        dashes = iter(DASHES)
        with drawing(axes, WIDTH, HEIGHT) as drawn:
            for number, way in enumerate(self.ways):
                claim = claim_of(way.claim)
                x = [float(case[self.over]) for case in way.cases]
                found = confirmed(claim, way.cases)
                claimed = [float(claim.evaluate(case)) for case in way.cases]
                style: dict[str, Any] = {"color": DARK_FIRST[number]}
                points = style | {"marker": MARKERS[number], "zorder": 3}
                points["markersize"] = 3.5 if len(x) < MANY else 2
                if claim.kind == "exact":
                    drawn.plot(x, found, **points, label=f"{way.name} ({claim.id})")
                else:
                    named = f"{claim.kind} bound" if not way.name else words(formula_of(claim))
                    if way.name:
                        drawn.plot(x, found, **points, linestyle="none", label=way.name)
                    line = style | {"linestyle": next(dashes)}
                    drawn.plot(x, claimed, **line, label=f"{named} ({claim.id})")
                heights += [*found, *claimed]
            values = sorted({float(case[self.over]) for way in self.ways for case in way.cases})
            scale(drawn, values, heights)
            drawn.set_xlabel(self.over, style="italic")
            drawn.set_ylabel(self.measured)
            drawn.grid(alpha=0.3)
            legend_above(drawn, columns=1)


@dataclass(frozen=True, eq=False)
class Parts:
    """The share of each part of a formula in the time, over one parameter."""

    claim: str
    cases: tuple[Case, ...]
    parts: Mapping[str, Callable[..., Any]]
    lines = 2

    @property
    def over(self) -> str:
        """The parameter of the horizontal axis."""
        return first_name(self.cases)

    def draw(self, axes: Axes) -> None:
        """Draw it; the parts have to add up to the times of the runs."""
        times = confirmed(claim_of(self.claim), self.cases)
        for case, time in zip(self.cases, times, strict=True):
            total = sum(call_with(part, case) for part in self.parts.values())
            if total != time:
                raise ClaimError(f"{self.claim}: the parts are {total}, not {time}: {show(case)}")
        heights = {
            name: [float(call_with(part, case)) for case in self.cases]
            for name, part in self.parts.items()
        }
        areas(heights, self.over, [case[self.over] for case in self.cases], axes=axes)
        legend = axes.get_legend()
        assert legend is not None
        legend.set_title(self.claim)


@dataclass(frozen=True, eq=False)
class Picture:
    """The picture of a page or a section: panels side by side, their subject, their conclusion."""

    page: str
    panels: tuple[Times | Parts, ...]
    caption: str
    alt: str
    section: str = ""

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"{self.page}-{self.section}" if self.section else self.page

    @property
    def mark(self) -> str:
        """The line of the page in whose place it comes."""
        return f"<!-- picture: {self.section} -->" if self.section else "<!-- picture -->"

    def draw(self) -> Figure:
        """Run everything and draw it, as wide as a page."""
        import matplotlib

        from mmsim.view.figures.notebook import Figure as Shown

        with matplotlib.rc_context(STYLE):
            lines = max(panel.lines for panel in self.panels)
            size = (WIDTH * len(self.panels), HEIGHT + LINE * lines)
            figure = Shown(figsize=size, layout="constrained")
            every = figure.subplots(1, len(self.panels), squeeze=False)[0]
            for panel, axes in zip(self.panels, every, strict=True):
                panel.draw(axes)
        return figure


def cases(over: str, values: Sequence[int], /, **others: Any) -> tuple[Case, ...]:
    """A case for each value of a parameter; others may be functions of it.

    >>> cases("n", (8, 16), p=lambda n: n // 2, w=4)
    ({'n': 8, 'p': 4, 'w': 4}, {'n': 16, 'p': 8, 'w': 4})
    """
    return tuple(
        {
            over: value,
            **{name: one(value) if callable(one) else one for name, one in others.items()},
        }
        for value in values
    )


def first_name(chosen: Sequence[Case]) -> str:
    """The parameter that `cases` gives values to: it stands first."""
    return next(iter(chosen[0]))


def confirmed(claim: Claim, chosen: Sequence[Case]) -> list[int]:
    """Measure runs of these cases, each checked against the claim and its preconditions."""
    found = []
    for case in replace(claim, grid=lambda: chosen).cases():
        measured = _measured(claim.run, claim.measure, tuple(case.items()))
        if not claim.agrees(measured, claim.evaluate(case)):
            raise ClaimError(f"{claim.id}: {show(case)} took {measured}")
        found.append(measured)
    return found


@cache
def _measured(
    run: Callable[..., Any], measure: Callable[[Any], int], case: tuple[tuple[str, Any], ...]
) -> int:
    """Measure a run of a case; kept, since two panels of a picture may show the same runs."""
    return measure(run(schedule="synchronous", **dict(case)))


@cache
def every_claim() -> dict[str, Claim]:
    """All claims by their ids."""
    return {claim.id: claim for claim in claims()}


def claim_of(name: str) -> Claim:
    """The claim of this id."""
    return every_claim()[name]
