"""Kept results, whose predictions the present model has to repeat. This needs no GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from math import isclose

from mmsim.claims import ClaimError
from mmsim.gpu.calibrated import Calibration
from mmsim.gpu.experiment import Cell, Conditions
from mmsim.gpu.record import Record, Row
from mmsim_algorithms.gpu.kept import FOLDER

LEFT_OUT = ("low", "high", "launch", "coalesced", "stages")
"""Fields that aren't in the paper's tables."""


def always(row: Row) -> bool:
    """For every row."""
    return True


def checked_predictions(
    name: str,
    cells: Callable[[Conditions], Iterator[Cell]],
    shows: Callable[[Row], bool] = always,
    predicts: Callable[[Row], bool] = always,
    shown: Callable[[Iterable[Row]], list[Row]] = list,
) -> Record:
    """The kept rows of an experiment, with the model's present predictions.

    Parameters
    ----------
    cells
        The cells of the experiment.
    shows
        The wanted rows.
    predicts
        Of these, the rows to predict; the others' prediction is None.
    shown
        Makes the table's rows of them.

    Raises
    ------
    ClaimError
        The model predicts something other than the kept values.
    """
    record = Record.read(FOLDER / f"{name}.json")
    known = Conditions(Calibration.from_dict(dict(record.facts["calibration"])))
    wanted = [row for row in record.rows if shows(row)]
    found: list[Row] = [{**row, "predicted": None} for row in wanted]
    for cell in cells(known):
        if shows(cell.about) and predicts(cell.about):
            for place, row in enumerate(wanted):
                if cell.about.items() <= row.items():
                    found[place] = {**row, **_checked(cell, row)}
    rows = tuple(_without_extras(row) for row in shown(found))
    return replace(record, rows=rows)


def _checked(cell: Cell, row: Row) -> Row:
    today = cell.predict()
    new, kept = today["predicted"], row["predicted"]
    assert isinstance(new, int | float)
    if not isinstance(kept, int | float) or not isclose(new, kept, rel_tol=1e-9):
        raise ClaimError(
            f"{cell.label}: the model predicts {new} now, but {kept} is kept; predict all again: "
            "python -m benchmarks.laboratory.predict_again FILE"
        )
    return today


def _without_extras(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in LEFT_OUT}
