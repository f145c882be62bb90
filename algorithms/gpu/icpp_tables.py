"""ICPP's Tables II and III: permutations of long arrays in global memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache, partial
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.errors import MMSimError
from mmsim.gpu.calibrated import Calibration
from mmsim.gpu.experiment import Cell, Conditions, Experiment
from mmsim.gpu.record import Record, Row
from mmsim_algorithms import permutations
from mmsim_algorithms.gpu import permuting
from mmsim_algorithms.gpu.checked_predictions import checked_predictions
from mmsim_algorithms.gpu.permuting import PAPER, SHAPES, Arrays, Shape
from mmsim_algorithms.gpu.planned import RandomTasks, Task
from mmsim_algorithms.gpu.steps import Step, check_arrays, predicted, replay_steps, times
from mmsim_algorithms.hmm_permutation.programs import Plan
from mmsim_algorithms.printed import table

SIDES = (256, 512, 1024, 2048, 4096, 8192)
PRINTED_SIDES = tuple({int(row["sqrt_n"]): None for row in table("icpp_table2")})
"""The paper's sizes; its launch shape is measured at these."""
TYPES = {"float": np.float32, "double": np.float64}
COALESCED = ("identical", "shuffle")
"""Permutations along which D- and S-designated stay close to whole address groups."""
ALGORITHMS = tuple(SHAPES)
PERMUTATIONS = 1000
"""Random permutations of Table III, as in the paper."""
PREDICTED = 20
"""So many of them are also predicted: the model's time is nearly the same for all."""


# ------------------------------------------------------------ Table II


def icpp_table_2(conditions: Conditions) -> Iterator[Cell]:
    names = list(dict.fromkeys(row["permutation"] for row in table("icpp_table2")))
    for side in sides(conditions.most):
        for name in names:
            for kind in TYPES:
                for algorithm, shapes in SHAPES.items():
                    for shape in shapes:
                        if shape is not PAPER or side in PRINTED_SIDES:
                            yield _cell(conditions, kind, name, side, algorithm, shape)


def sides(most: int | None) -> list[int]:
    """The sizes up to `most`."""
    found = [side for side in SIDES if most is None or side <= most]
    if not found:
        raise MMSimError(f"no sqrt n is {most} or less; the smallest is {SIDES[0]}")
    return found


def _cell(
    conditions: Conditions, kind: str, name: str, side: int, algorithm: str, shape: Shape
) -> Cell:
    about: Row = {
        "type": kind,
        "permutation": name,
        "sqrt n": side,
        "algorithm": algorithm,
        "launch": shape.name,
        "coalesced": algorithm == "scheduled" or name in COALESCED,
        "paper ms": printed(kind, name, side, algorithm),
    }
    task = partial(named_task, name, side)
    return Cell(
        about,
        lambda: measure(kind, algorithm, shape, task()),
        lambda: predict(conditions.calibration, kind, algorithm, shape, side * side, task),
    )


@lru_cache(maxsize=1)
def named_task(name: str, side: int) -> Task:
    """The task of one of the papers' permutations of side^2 words."""
    return Task(permutations.NAMED[name.replace("_", "-")](side * side, 0))


def printed(kind: str, name: str, side: int, algorithm: str) -> float | None:
    """The paper's milliseconds on a GTX 680, if it has the cell."""
    column = f"{algorithm.replace('-', '_').lower()}_ms"
    for row in table("icpp_table2"):
        if (row["type"], row["permutation"], row["sqrt_n"]) == (kind, name, str(side)):
            return float(row[column])
    return None


# ------------------------------------------------------------ one permutation


def launches(
    algorithm: str, task: Task, a: npt.NDArray[Any], shape: Shape
) -> tuple[list[Step], Arrays]:
    """The launches that permute `a` along the task's permutation; the result is in `b`."""
    if algorithm == "scheduled":
        return permuting.scheduled(task.plan, a, shape)
    moved = task.P if algorithm == "D-designated" else task.inverse
    return permuting.conventional(algorithm, moved, a, shape)


def measure(kind: str, algorithm: str, shape: Shape, task: Task) -> Row:
    """Measured milliseconds of one permutation, whose result is checked."""
    dtype = TYPES[kind]
    a = np.arange(task.P.size, dtype=dtype)
    found = replay_steps(*launches(algorithm, task, a, shape), keep=["b"])
    b, expected = found.arrays["b"].reshape(-1), task.inverse.astype(dtype)
    check_arrays(f"{algorithm} of {a.size} words", {"b": b}, {"b": expected})
    return times(found, 6)  # CUDA's clock: 0.5 us


def predict(
    calibration: Calibration,
    kind: str,
    algorithm: str,
    shape: Shape,
    n: int,
    task: Callable[[], Task],
) -> Row:
    """Predicted milliseconds of one permutation of n words."""
    if algorithm == "scheduled":
        return {"predicted": scheduled_time(calibration, kind, isqrt(n), shape)}
    a = np.zeros(n, dtype=TYPES[kind])
    return {"predicted": predicted(*launches(algorithm, task(), a, shape), calibration)}


@cache
def scheduled_time(calibration: Calibration, kind: str, side: int, shape: Shape) -> float:
    """Predicted milliseconds of the scheduled permutation.

    Words of 4 bytes take the same time units for every permutation, so the identity stands for all.
    For words of 8 bytes the plan's requests in shared memory may meet conflicts, since the plan is
    for 32 banks and a half-warp has 16. The prediction leaves these conflicts out.
    """
    row = np.broadcast_to(np.arange(side), (side, side))
    identity = (row, row)
    data = np.zeros(side * side, TYPES[kind])
    steps, arrays = permuting.scheduled(Plan(identity, identity, identity), data, shape)
    return predicted(steps, arrays, calibration)


# ------------------------------------------------------------ Table III


def icpp_table_3(conditions: Conditions) -> Iterator[Cell]:
    """Each algorithm along each of many random permutations of 4M floats, launched as in the paper.

    The paper says double; its times are Table II's of float.
    """
    side = min(2048, sides(conditions.most)[-1])
    tasks = RandomTasks(side * side, PERMUTATIONS)
    for seed in range(PERMUTATIONS):
        for algorithm in ALGORITHMS:
            yield _random_cell(conditions.calibration, tasks, side, seed, algorithm)


def _random_cell(
    calibration: Calibration, tasks: RandomTasks, side: int, seed: int, algorithm: str
) -> Cell:
    n = side * side
    task = partial(random_task, n, seed)
    return Cell(
        {"seed": seed, "sqrt n": side, "algorithm": algorithm},
        lambda: measure("float", algorithm, PAPER, tasks[seed]),
        lambda: (
            predict(calibration, "float", algorithm, PAPER, n, task) if seed < PREDICTED else {}
        ),
    )


@lru_cache(maxsize=1)
def random_task(n: int, seed: int) -> Task:
    """The task of a random permutation of n words."""
    return Task(permutations.random(n, seed))


def extremes(rows: Iterable[Row]) -> list[Row]:
    """Table III's rows: minimum, average and maximum of the times of each algorithm.

    >>> cell = {"sqrt n": 64, "algorithm": "scheduled"}
    >>> rows = [{**cell, "measured": 1.0, "predicted": 2.0}, {**cell, "measured": 1.5}]
    >>> [(row["row"], row["measured"], row["predicted"]) for row in extremes(rows)]
    [('minimum', 1.0, 2.0), ('average', 1.25, 2.0), ('maximum', 1.5, 2.0)]
    """
    found = list(rows)
    algorithms = dict.fromkeys(str(row["algorithm"]) for row in found)
    return [
        {
            "row": paper["row"],
            "algorithm": algorithm,
            "sqrt n": own[0]["sqrt n"],
            "permutations": len(own),
            "paper ms": float(paper[f"{algorithm.replace('-', '_').lower()}_ms"]),
            "measured": _taken(paper["row"], own, "measured"),
            "predicted": _taken(paper["row"], own, "predicted"),
        }
        for paper in table("icpp_table3")
        for algorithm in algorithms
        for own in ([row for row in found if row["algorithm"] == algorithm],)
    ]


def _taken(name: str, rows: Sequence[Row], field: str) -> float | None:
    """The minimum, average or maximum of a field, if known."""
    known = [value for row in rows if isinstance(value := row.get(field), int | float)]
    if not known:
        return None
    return {"minimum": min(known), "average": sum(known) / len(known), "maximum": max(known)}[name]


# ------------------------------------------------------------ the results that are kept


def kept_table_2() -> Record:
    """Table II at the paper's sizes, launched as in the paper."""

    def papers(row: Row) -> bool:
        return row["launch"] == PAPER.name and row["paper ms"] is not None

    return checked_predictions("ICPP-T2", icpp_table_2, papers)


def kept_table_3() -> Record:
    """Table III; the first permutation is predicted now, and stands for all."""

    def first(row: Row) -> bool:
        return row["seed"] == 0

    return checked_predictions("ICPP-T3", icpp_table_3, predicts=first, shown=extremes)


EXPERIMENTS = [
    Experiment(
        "ICPP-T2",
        "ICPP Table II: three algorithms permute sqrt n x sqrt n words in global memory",
        "ms",
        icpp_table_2,
        kept=kept_table_2,
    ),
    Experiment(
        "ICPP-T3",
        f"ICPP Table III: {PERMUTATIONS} random permutations of 4M floats",
        "ms",
        icpp_table_3,
        extremes,
        kept_table_3,
    ),
]
