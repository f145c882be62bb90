"""Experiments: a paper's measurements, made again on the GPU at hand beside the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from mmsim.errors import MMSimError
from mmsim.gpu.calibrated import Calibration
from mmsim.gpu.record import Row

GROUP = "mmsim.experiments"


def nothing(text: str) -> None:
    """Report to no one."""


@dataclass(frozen=True)
class Conditions:
    """The machine to predict with, the largest size if less than all is wanted, the reporter."""

    calibration: Calibration
    most: int | None = None
    say: Callable[[str], None] = field(default=nothing)


@dataclass(frozen=True)
class Experiment:
    """One of a paper's tables or figures; `rows` measures it, row by row.

    A row has what was `measured` and what the model `predicted`, in one unit, both None where only
    one is known; what else it has is the table's own.
    """

    name: str
    title: str
    unit: str
    rows: Callable[[Conditions], Iterator[Row]]


def registered_experiments() -> dict[str, Experiment]:
    """The experiments of installed packages by name.

    A package names a function that returns its experiments in the entry point group
    `mmsim.experiments`.
    """
    from mmsim.host.plugins import registered_in

    return {one.name: one for one in registered_in(GROUP)}


def choose_experiment(name: str) -> Experiment:
    """The experiment of that name."""
    known = registered_experiments()
    if name not in known:
        listed = ", ".join(known) or "none: no installed package registers any"
        raise MMSimError(f"there is no experiment {name!r}; there are {listed}")
    return known[name]
