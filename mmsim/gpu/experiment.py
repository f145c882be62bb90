"""Experiments: a paper's measurements, repeated on the GPU at hand and predicted by the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from mmsim.errors import MMSimError
from mmsim.gpu.calibrated import Calibration
from mmsim.gpu.record import Record, Row
from mmsim.host.plugins import registered_in
from mmsim.model.card import Card

GROUP = "mmsim.experiments"
T = TypeVar("T")


@dataclass(frozen=True)
class Conditions:
    """The machine for predictions, the largest size if not all are wanted, the reporter."""

    calibration: Calibration
    most: int | None = None
    say: Callable[[str], None] = field(default=lambda text: None)


@dataclass(frozen=True, eq=False)
class Cell:
    """One cell of a table.

    `about` names it, with the value that the paper prints there. `measure()` needs a GPU and
    returns what was `measured`. `predict()` needs none and returns the numbers that the model
    `predicted`, in the same unit. Either may return more about the cell, or an empty dict.
    """

    about: Row
    measure: Callable[[], Row]
    predict: Callable[[], Row]

    @property
    def label(self) -> str:
        """The words and whole numbers of `about`, in a line.

        >>> Cell({"type": "float", "sqrt n": 256, "paper ms": 0.86}, dict, dict).label
        'float, sqrt n = 256'
        """
        parts = (
            value if isinstance(value, str) else f"{name} = {value}"
            for name, value in self.about.items()
            if isinstance(value, str | int) and not isinstance(value, bool)
        )
        return ", ".join(parts)


@dataclass(frozen=True)
class Experiment:
    """One of a paper's tables or figures, cell by cell.

    `shown` makes the reader's rows from the measured ones. `kept` gives the kept results, if any,
    with the model's present predictions.
    """

    name: str
    title: str
    unit: str
    cells: Callable[[Conditions], Iterator[Cell]]
    shown: Callable[[Iterable[Row]], list[Row]] = list
    kept: Callable[[], Record] | None = None

    def rows(self, conditions: Conditions, predict: bool = True) -> Iterator[Row]:
        """Each cell measured on the GPU at hand, and predicted unless that is left for later.

        A row has the data of `about`, the `measured` values and the values that the model
        `predicted`, None for unknown ones.
        """
        for cell in self.cells(conditions):
            conditions.say(cell.label)
            measured = cell.measure()
            yield {
                **cell.about,
                **measured,
                "predicted": None,
                **(cell.predict() if predict else {}),
            }


@dataclass(frozen=True)
class Campaign:
    """Many small measurements, which a command of `mmsim gpu` makes.

    `measured(command, say)` gives the record so far, again and again; `shown` what the terminal
    shows of the last one. `differs` says whether the card and the model differ.
    """

    name: str
    measured: Callable[[str, Callable[[str], None]], Iterator[Record]]
    shown: Callable[[Record], Iterable[Any]]
    differs: Callable[[Record], bool] = field(default=lambda record: False)


@dataclass(frozen=True)
class Cards:
    """The way from records to cards.

    `make(name, records)` makes a card from the records that `mmsim gpu calibrate` measures, by
    the names of their experiments.
    """

    name: ClassVar[str] = "cards"

    make: Callable[[str, Mapping[str, Record]], Card]


def registered_experiments() -> dict[str, Experiment]:
    """The experiments of installed packages by name.

    A package names a function that returns its experiments, and campaigns, in the entry point group
    `mmsim.experiments`.
    """
    return {one.name: one for one in registered_in(GROUP) if isinstance(one, Experiment)}


def choose_experiment(name: str) -> Experiment:
    """The experiment of that name."""
    return _chosen("experiment", name, registered_experiments())


def choose_cards() -> Cards:
    """The way to make cards, of the first package that registers one."""
    for one in registered_in(GROUP):
        if isinstance(one, Cards):
            return one
    raise MMSimError("no installed package makes cards; install mmsim with its mmsim_algorithms")


def choose_campaign(name: str) -> Campaign:
    """The campaign of that name."""
    found = (one for one in registered_in(GROUP) if isinstance(one, Campaign))
    return _chosen("campaign", name, {one.name: one for one in found})


def _chosen(kind: str, name: str, known: dict[str, T]) -> T:
    if name not in known:
        listed = ", ".join(known) or "none: no installed package registers any"
        raise MMSimError(f"there is no {kind} {name!r}; there are {listed}")
    return known[name]
