"""The figures of docs/metal.md and of the notebook about it: predicted against measured times."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from mmsim.gpu.record import Row
from mmsim_algorithms.gpu.icpp_tables import extremes
from mmsim_algorithms.gpu.kept import Results, launched, pick, values
from mmsim_algorithms.gpu.permuting import SEVERAL

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

_PLACES = {"T2": "Table II", "T3": "Table III", "F7": "Figure 7"}


def draw(results: Results, experiment: str, figure: Figure | SubFigure) -> None:
    """Draw one experiment into a figure: a plot for each type if there are many cells."""
    from mmsim_algorithms.gpu.plots import predicted_against_measured, time_of_arrays

    rows = _rows(results, experiment)
    unit = str(results[experiment].facts["unit"])
    paper, _, place = experiment.partition("-")
    title = f"{paper} {_PLACES[place]}"

    if experiment == "CFP-F7":
        d = results.calibration(experiment).multiprocessors
        time_of_arrays(rows, d, figure.subplots(), unit=unit, title=title)
    elif paper == "ICPP":
        kinds = _kinds(rows)
        for kind, ax in zip(kinds, figure.subplots(1, len(kinds), squeeze=False)[0], strict=True):
            predicted_against_measured(
                rows if kind is None else pick(rows, type=kind),
                ax,
                hollow=_is_casual,
                classes=("coalesced", "casual"),
                unit=unit,
                title=title if kind is None else f"{title}, {kind}, all sizes",
            )
    else:
        predicted_against_measured(
            rows,
            figure.subplots(),
            by="algorithm" if "algorithm" in rows[0] else "transpose",
            hollow=lambda row: row["type"] == "double",
            classes=("float", "double"),
            unit=unit,
            title=title,
        )


def svg_of(results: Results, experiment: str) -> str:
    """One experiment's figure as the text of an SVG file."""
    from mmsim_algorithms.gpu.plots import svg

    plots = len(_kinds(_rows(results, experiment))) if experiment.startswith("ICPP") else 1
    return svg(partial(draw, results, experiment), plots, salt=experiment)


def _rows(results: Results, experiment: str) -> Sequence[Row]:
    """The rows of the page's tables."""
    rows = results[experiment].rows
    if experiment == "ICPP-T2":
        return launched(rows, SEVERAL)
    return extremes(rows) if experiment == "ICPP-T3" else rows


def _kinds(rows: Sequence[Row]) -> list[str | None]:
    """The types that have a plot each; None stands for all cells."""
    return values(rows, "type") if "type" in rows[0] else [None]


def _is_casual(row: Row) -> bool:
    return not row.get("coalesced", row["algorithm"] == "scheduled")
