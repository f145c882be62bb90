"""The tables and figures that papers print, made again or left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from mmsim.host.plugins import registered_in

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn

Source = Literal["simulated", "counted", "measured", "drawn"]
STANDARD_ERRORS = 3


@dataclass(frozen=True)
class Figure:
    """One figure of a table: the paper's and the computed one.

    `printed` is the paper's text, digit by digit. `computed` is a number, or text if the paper has
    text. `error` is the standard error of `computed` if it is the mean of random samples, else 0.

    If the paper prints a bound or a term instead of a figure, `condition` states a condition on the
    computed figure, and `satisfied` says whether it holds. `satisfied` is None if every outcome
    satisfies the condition; then the figure doesn't count.
    """

    row: str
    column: str
    printed: str
    computed: float | str
    error: float = 0.0
    condition: str = ""
    satisfied: bool | None = None

    @property
    def counts(self) -> bool:
        """Return whether another outcome could have disagreed."""
        return not self.condition or self.satisfied is not None

    @property
    def digits(self) -> int:
        """Digits after the decimal point that the paper prints."""
        return len(self.printed.partition(".")[2])

    @property
    def difference(self) -> float | None:
        """The computed figure minus the paper's, None between texts."""
        if isinstance(self.computed, str):
            return None
        try:
            return self.computed - float(self.printed)
        except ValueError:
            return None

    @property
    def agrees(self) -> bool:
        """Return whether the computed figure, rounded as in the paper, has the paper's digits.

        With `condition`, return whether the computed figure satisfies this condition.
        """
        if self.condition:
            return self.satisfied is not False
        if self.difference is None or isinstance(self.computed, str):
            return self.printed == self.computed
        return f"{self.computed:.{self.digits}f}" == f"{float(self.printed):.{self.digits}f}"

    @property
    def explained(self) -> bool:
        """Return whether rounding and chance explain the difference.

        The printed figure stands for any number that rounds to it. The computed figure lies within
        three standard errors of its expectation.
        """
        if self.agrees or self.difference is None:
            return self.agrees
        return abs(self.difference) <= 0.5 * 10.0**-self.digits + STANDARD_ERRORS * self.error


@dataclass(frozen=True, eq=False)
class PaperTable:
    """A table of a paper. `figures()` computes it again; `made` is the source (see `Drawing`)."""

    id: str
    source: str
    title: str
    figures: Callable[[], Iterable[Figure]]
    note: str = ""
    made: Source = "simulated"


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure of a paper: `draw()` makes it again, at the paper's own size.

    Parameters
    ----------
    id
        As "SMM-F5".
    source
        Paper and place, as "SMM, Figure 5".
    title
        Its subject, in words.
    draw
        A function that makes the figure. It raises `ClaimError` if a run contradicts the paper's
        figure.
    made
        The source: "simulated" (a run of the programs), "counted" (a colouring or a layout),
        "measured" (kept results of a real GPU), "drawn" (a definition, without a result).
    note
        The differences from the paper's figure, with the reasons.
    """

    id: str
    source: str
    title: str
    draw: Callable[[], Drawn]
    made: Source = "simulated"
    note: str = ""


@dataclass(frozen=True)
class PrintedItem:
    """A table or a figure of a paper.

    Parameters
    ----------
    id
        As "SMM-F5"; a `PaperTable`, a `Drawing` or an experiment of the same id reproduces it.
    title
        Its caption.
    claims
        The ids of the claims that reproduce it, if any.
    omitted
        The reason if nothing reproduces it.
    """

    id: str
    title: str
    claims: tuple[str, ...] = ()
    omitted: str = ""


registered_tables: Callable[[], list[PaperTable]] = partial(registered_in, "mmsim.tables")
registered_drawings: Callable[[], list[Drawing]] = partial(registered_in, "mmsim.drawings")
registered_contents: Callable[[], list[PrintedItem]] = partial(registered_in, "mmsim.contents")
"""All tables, all drawings, and the contents of all papers, of all installed packages."""
