"""A simulated congestion: a mean over samples, with its standard error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from mmsim.claims.printed import STANDARD_ERRORS

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Cell:
    """One cell of a table: the congestion of an access under a layout.

    Attributes
    ----------
    mean, standard_error
        Of the simulation; the error is 0 if all samples agree.
    printed
        The paper's figure as it stands in its table: a number, or a function of w.
    expected
        The exact expectation, where it can be computed (`max_load`).
    least
        Elsewhere, a lower limit of the expectation, if known.
    note
        The name of a malicious access.
    """

    access: str
    layout: str
    w: int
    mean: float
    standard_error: float
    printed: str = ""
    expected: float | None = None
    note: str = ""
    least: float | None = None

    @property
    def difference(self) -> float | None:
        """The estimate minus the paper's number, where it prints one."""
        try:
            return self.mean - float(self.printed)
        except ValueError:
            return None

    @property
    def same_digits(self) -> bool | None:
        """Return whether the mean, rounded as in the paper, is the paper's number."""
        try:
            return round(self.mean, 2) == float(self.printed)
        except ValueError:
            return None

    @property
    def agrees(self) -> bool | None:
        """Return whether the paper's number differs by at most its rounding and three errors."""
        gap = self.difference
        return None if gap is None else abs(gap) <= 0.005 + STANDARD_ERRORS * self.standard_error


def permutations(count: int, w: int, random: np.random.RandomState) -> Integers:
    """`count` random permutations of 0..w-1, one in each row."""
    return random.random_sample((count, w)).argsort(axis=1)


def chunks(
    samples: int, w: int, name: str, seed: int
) -> Iterator[tuple[int, np.random.RandomState]]:
    """The samples in pieces that fit the cache, with a random stream for each cell of a table."""
    random = np.random.RandomState([seed, w, *name.encode()])
    chunk = max(2**17 // w, 1)
    for start in range(0, samples, chunk):
        yield min(chunk, samples - start), random


def mean_and_error(parts: Iterable[Integers]) -> tuple[float, float]:
    """The mean of all samples and its standard error."""
    count = total = squares = 0
    for part in parts:
        count += len(part)
        total += int(part.sum())
        squares += int((part * part).sum())
    variance = (squares - total * total / count) / max(count - 1, 1)
    return total / count, sqrt(max(variance, 0.0) / count)
