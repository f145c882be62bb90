"""The figures' data from a run's trace: the thread that accesses each element at each step."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim.claims import ClaimError
from mmsim.results.rows import Kind


def accesses(run: mm.Run, array: str, kind: Kind) -> list[dict[int, list[int]]]:
    """For each round of this access to the array: the threads of each element, by its number.

    The run is one with a trace, of the synchronous schedule.

    >>> from mmsim_algorithms.access.programs import stride
    >>> run = mm.DMM(2, 1).run(stride, np.arange(4), threads=2, trace=True)
    >>> accesses(run, "m", "read")
    [{0: [0], 2: [1]}, {1: [0], 3: [1]}]
    """
    starts = run.trace.rounds
    found: dict[int, dict[int, list[int]]] = {}
    for one in run.trace.dispatches:
        if (one.array, one.kind) == (array, kind):
            own = found.setdefault(bisect_right(starts, one.time) - 1, {})
            for thread, element in zip(one.threads, one.elements, strict=True):
                own.setdefault(element, []).append(thread)
    return [found[number] for number in sorted(found)]


def threads_of(
    run: mm.Run, array: str, kind: Kind, shape: tuple[int, int]
) -> npt.NDArray[np.int64]:
    """The thread of this access to each element of a matrix; raises unless there is one.

    >>> from mmsim_algorithms.transpose import diagonal
    >>> matrix = diagonal.prepare(width=2)
    >>> run = mm.DMM(2, 1).run(diagonal, *matrix.arguments, threads=4, trace=True)
    >>> threads_of(run, "a", "read", (2, 2))
    array([[0, 2],
           [3, 1]])
    """
    found: dict[int, list[int]] = {}
    for step in accesses(run, array, kind):
        for element, threads in step.items():
            found.setdefault(element, []).extend(threads)
    expect(
        f"the elements of {array} with one {kind} each",
        sorted(element for element, threads in found.items() if len(threads) == 1),
        list(range(shape[0] * shape[1])),
    )
    return np.array([found[element][0] for element in sorted(found)]).reshape(shape)


def contents(run: mm.Run, array: str, steps: Sequence[str]) -> list[npt.NDArray[Any]]:
    """An array after each step of a run; a step is one function of the program.

    `steps` are the names of these functions; other functions in the run raise an error.

    >>> from mmsim_algorithms.umm_permutation import column_wise
    >>> case = column_wise.prepare(width=2)
    >>> run = mm.UMM(2, 1).run(column_wise, *case.arguments, threads=2, trace=True)
    >>> [matrix.shape for matrix in contents(run, "b", ["rotating", "row_wise", "rotating"])]
    [(2, 2), (2, 2), (2, 2)]
    """
    ends = [
        (function, max(one.completion for one in group))
        for function, group in groupby(run.trace.dispatches, lambda one: one.function)
    ]
    expect("the steps", [function for function, _ in ends], list(steps))
    memory = [cycle.memory[array] for cycle in run.trace.cycles()]
    return [memory[end] for _, end in ends]


def expect(what: str, computed: Any, papers: Any) -> None:
    """Raise `ClaimError` if a run's result differs from the paper's figure.

    >>> expect("time units on the DMM", 6, 5)
    Traceback (most recent call last):
    mmsim.claims.claim.ClaimError: time units on the DMM: the run gives 6, the paper's figure 5
    """
    same = (
        np.array_equal(computed, papers) if isinstance(computed, np.ndarray) else computed == papers
    )
    if not same:
        raise ClaimError(f"{what}: the run gives {computed}, the paper's figure {papers}")
