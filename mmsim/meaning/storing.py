"""Values stored in an array: of the array's type, or integers that are refused if too large."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.errors import Place, TypeFault
from mmsim.ir import nodes as ir
from mmsim.ir.operators import Mask, Value, both
from mmsim.ir.promotion import INT, UNSIGNED, limits
from mmsim.meaning.evaluation import Evaluator
from mmsim.meaning.frame import Frame

Integers = npt.NDArray[np.int64]


def fitting(
    meaning: Evaluator, array: str, value: ir.Expr, place: Place
) -> Callable[[Value, npt.NDArray[np.int64], Frame, Mask], None] | None:
    """A check that stored integers fit the array's type; None if they have it."""
    dtype, stored = meaning.typing.arrays[array], meaning.typing.of(value)
    if dtype == stored:
        return None
    low, high = limits(dtype)
    wide_type: Any = stored if stored == UNSIGNED else INT

    def check(value: Value, elements: npt.NDArray[np.int64], frame: Frame, mask: Mask) -> None:
        wide_value = np.broadcast_to(np.asarray(value, dtype=wide_type), frame.lanes)
        bad = both(mask, (wide_value < low) | (wide_value > high))
        if np.count_nonzero(bad):
            lane = int(np.argmax(bad))
            before = np.count_nonzero(np.broadcast_to(mask, frame.lanes)[:lane])
            element = elements[before]  # it holds active lanes only
            at = tuple(map(int, np.unravel_index(element, meaning.shapes[array])))
            shown = ", ".join(map(str, at))
            meaning._fault(
                TypeFault,
                f"{wide_value[lane]} doesn't fit {array}[{shown}]: {array!r} holds {dtype}, "
                f"from {low} to {high}",
                place,
                frame,
                lane,
                array=array,
                index=at,
            )

    return check


def stored_words(
    meaning: Evaluator, array: str, value: ir.Expr, place: Place
) -> Callable[[Frame, Mask, Integers | None, Integers], npt.NDArray[Any]]:
    """The values that the active lanes store in elements of an array, of the array's type."""
    found, fit = meaning._evaluate(value), fitting(meaning, array, value, place)
    dtype = meaning.typing.arrays[array]

    def stored(
        frame: Frame, mask: Mask, lanes: Integers | None, elements: Integers
    ) -> npt.NDArray[Any]:
        brought = found(frame, mask)
        if fit is not None:
            fit(brought, elements, frame, mask)
        if not isinstance(brought, np.ndarray):
            return np.full(len(elements), brought, dtype)
        here: npt.NDArray[Any] = brought if lanes is None else brought[lanes]
        return here if here.dtype == dtype else here.astype(dtype)

    return stored
