"""How long launches took on a GPU, several times over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt


@dataclass(frozen=True)
class Timing:
    """Milliseconds of all launches together, and the arrays as the last repetition left them."""

    median: float
    low: float
    high: float
    samples: int
    arrays: dict[str, npt.NDArray[Any]]
