"""The effect of a request on memory, for all engines: they decide its time and its cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.meaning.frame import Request
from mmsim.model.memory import ArrayInMemory

Words = npt.NDArray[Any] | None


def effect(
    request: Request, array: ArrayInMemory, blocks: npt.NDArray[np.int64] | int
) -> tuple[Words, Words]:
    """The words that the lanes of a request receive and those that they leave.

    Memory stays unchanged. A read leaves nothing, and a write receives nothing.
    """
    if request.values is None:
        return array.read(request.elements, blocks), None
    op = request.site.op
    if op is None:
        return None, request.values
    return array.in_turn(op, request.elements, blocks, request.values, request.compare)
