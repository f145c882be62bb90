"""Vector accesses: a lane reads or writes n adjacent elements of an array in one SIMD access.

Vector i of an array's last axis holds the elements n*i .. n*i + n-1. The request has an entry for
each of them, so memory, monitors and traces see ordinary words. The unit's `Conflict.of_vectors`
gives its cost. A vector is aligned: its words are adjacent, and the
first one lies at a multiple of n words from the beginning of its array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.errors import VectorError
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import Integers
from mmsim.ir.operators import Mask
from mmsim.ir.walk import stored, targets
from mmsim.meaning.evaluation import Evaluator, active_lanes, uneven
from mmsim.meaning.frame import Frame, Request, Site
from mmsim.model.machines import LONGEST, Machine
from mmsim.model.memory import ArrayInMemory

Begin = Callable[[Frame, Mask], Request]
Finish = Callable[[Frame, Request, Any, Mask], None]


def vector_access(
    meaning: Evaluator, site: Site, access: ir.VectorLoad | ir.VectorStore
) -> tuple[Begin, Finish | None]:
    """The request of a vector access, and the way in which its variables take the words read.

    The request has an entry for each element of each lane's vector.
    """
    count, array, place = site.vector, access.array, access.place
    firsts = _first_elements(meaning, access, count)
    given = [meaning.stored_words(array, value, place) for value in stored(access)]
    slots = list(map(meaning._slot, targets(access)))
    dtype = meaning.typing.arrays[array]

    def begin(frame: Frame, mask: Mask) -> Request:
        meaning._step(frame, mask, place)
        lanes = active_lanes(mask)
        first = firsts(frame, mask, lanes)
        columns = [word(frame, mask, lanes, first + at) for at, word in enumerate(given)]
        own = np.arange(frame.lanes) if lanes is None else lanes
        elements = (first[:, None] + np.arange(count)).reshape(-1)
        values = np.stack(columns, axis=1).reshape(-1) if columns else None
        return Request(site, elements, own.repeat(count), values)

    def finish(frame: Frame, request: Request, values: Any, mask: Mask) -> None:
        assert request.lanes is not None
        for column, slot in zip(values.reshape(-1, count).T, slots, strict=True):
            words: npt.NDArray[Any] = column.astype(dtype)
            if mask is not True:
                words = np.zeros(frame.lanes, dtype)
                words[request.lanes[::count]] = column
            frame.assign(slot, words, mask)

    return begin, finish if slots else None


def _first_elements(
    meaning: Evaluator, access: ir.VectorLoad | ir.VectorStore, count: int
) -> Callable[[Frame, Mask, Integers | None], Integers]:
    """A function that gives the first element of each active lane's vector, all aligned."""
    array, number = access.array, meaning._elements(access, count)

    def firsts(frame: Frame, mask: Mask, lanes: Integers | None) -> Integers:
        first = number(frame, mask, lanes) * count
        offsets = frame.offsets.get(array)
        if offsets is not None:
            bad = unaligned(offsets[first[:, None] + np.arange(count)])
            if bad.any():
                at = int(np.argmax(bad))
                lane = at if lanes is None else int(lanes[at])
                axes = np.unravel_index(first[at], meaning.shapes[array])
                where = (*map(int, axes[:-1]), int(axes[-1]) // count)
                shown = ", ".join(map(str, where))
                meaning._fault(
                    VectorError,
                    f"vector [{shown}] of {array!r} is not aligned: {misplaced(array, count)}",
                    access.place,
                    frame,
                    lane,
                    array=array,
                    index=where,
                )
        return first

    return firsts


def fault_of_vectors(array: ArrayInMemory, count: int) -> str | None:
    """The fault of an array's vectors in all accesses, None without one."""
    if array.shape[-1] % count:
        return uneven(array.shape, count)
    if array.offsets is None or not unaligned(array.offsets.reshape(-1, count)).any():
        return None
    return misplaced(array.name, count)


def misplaced(array: str, count: int) -> str:
    """The fault of a layout that splits vectors, and the remedy."""
    return (
        f"the layout of {array!r} does not put the {count} elements of a vector side by side at a "
        f"multiple of {count} words; take a layout that moves groups of {count} elements as a "
        "whole, or access the elements one by one"
    )


def unaligned(words: Integers) -> npt.NDArray[np.bool_]:
    """Mark the vectors, one a row, that are not adjacent words or do not begin at a multiple.

    >>> unaligned(np.array([[4, 5], [5, 6], [6, 8]]))
    array([False,  True,  True])
    """
    count = words.shape[1]
    apart = words != words[:, :1] + np.arange(count)
    result: npt.NDArray[np.bool_] = (words[:, 0] % count != 0) | apart.any(axis=1)
    return result


def check_lengths(machine: Machine, meaning: Evaluator, sites: Iterable[Site]) -> None:
    """Refuse vectors that are too long for banks of bytes to serve as one element."""
    if machine.bank_bytes is None:
        return
    for site in sites:
        size = meaning.typing.arrays[site.array].itemsize
        if site.vector > 1 and site.vector * size > LONGEST:
            most = LONGEST // size
            advice = f"take vectors of {most}" if most > 1 else "access the elements one by one"
            meaning._fault(
                VectorError,
                f"a vector of {site.vector} elements of {site.array!r} has "
                f"{site.vector * size} bytes, but an access takes at most {LONGEST} bytes of a "
                f"lane where banks have bytes; {advice}",
                site.place,
                array=site.array,
            )
