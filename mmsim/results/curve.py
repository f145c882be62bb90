"""The curve of a claim, as data: measured and claimed values."""

from __future__ import annotations

from dataclasses import dataclass


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
