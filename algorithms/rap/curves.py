"""The congestions that RAP gives as Õ(log w / log log w), measured."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mmsim_algorithms.rap.bounds import log_ratio
from mmsim_algorithms.rap.estimates import chunks, mean_and_error
from mmsim_algorithms.rap.higher_simulation import higher_congestions, lines, malicious
from mmsim_algorithms.rap.simulation import matrix_cell


@dataclass(frozen=True)
class Point:
    """One point of a curve: a congestion that the paper gives as Õ(log w / log log w).

    `log_ratio` is ln w / ln ln w, or the argument of the Õ for w/6 times 6 (Table IV, R1P).
    """

    access: str
    layout: str
    w: int
    mean: float
    standard_error: float
    log_ratio: float


# Curves.


def curves(
    widths: Iterable[int] = (4, 8, 16, 32, 64, 128, 256), samples: int = 2000, seed: int = 0
) -> list[Point]:
    """Measure what the paper gives as Õ(log w / log log w): one `Point` for each curve and width.

    These are matrices under RAS (stride) and RAP (diagonal), random access, and from Table IV the
    strides other than 1 and w and the malicious accesses, the worst of `patterns` without a search.
    """
    points = []
    for w in widths:
        ratio = log_ratio(w)
        for access, layout in (("stride", "RAS"), ("diagonal", "RAP"), ("random", "RAP")):
            cell = matrix_cell(access, layout, w, samples, seed, "")
            points.append(Point(access, layout, w, cell.mean, cell.standard_error, ratio))
        for layout in ("RAS", "w2P", "1Pw2R"):
            mean, error = mean_and_error(
                higher_congestions(layout, w, *lines("stride2", w, count, random), random)
                for count, random in chunks(samples, w, f"stride2 {layout}", seed)
            )
            points.append(Point("stride2", layout, w, mean, error, ratio))
        for layout in ("RAS", "R1P", "3P", "w2P", "1Pw2R"):
            cell = malicious(layout, w, samples, seed, steps=0)
            inside = 6 * log_ratio(w / 6) if layout == "R1P" and w > 6 * np.e else ratio
            points.append(Point("malicious", layout, w, cell.mean, cell.standard_error, inside))
    return points
