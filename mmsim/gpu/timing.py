"""The times of launches on a GPU, over several repetitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt


@dataclass(frozen=True)
class Timing:
    """Milliseconds of all launches together, and the arrays after the last repetition."""

    median: float
    low: float
    high: float
    samples: int
    arrays: dict[str, npt.NDArray[Any]]
