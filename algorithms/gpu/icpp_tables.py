"""ICPP's Tables II and III: permutations of long arrays in global memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.errors import MMSimError
from mmsim.gpu.calibrated import Calibration
from mmsim.gpu.experiment import Conditions, Experiment
from mmsim.gpu.pipeline import predicted, replay_steps
from mmsim.gpu.record import Row
from mmsim_algorithms import permutations
from mmsim_algorithms.gpu import permuting
from mmsim_algorithms.gpu.permuting import WARP
from mmsim_algorithms.hmm_permutation.programs import Plan, plan
from mmsim_algorithms.printed import table

SIDES = (256, 512, 1024, 2048, 4096, 8192)
TYPES = {"float": np.float32, "double": np.float64}
COALESCED = ("identical", "shuffle")
"""Permutations along which D- and S-designated stay close to whole address groups."""
ALGORITHMS = ("D-designated", "S-designated", "scheduled")
PERMUTATIONS = 20
"""Random permutations of Table III here; the paper takes 1000."""


def icpp_table_2(conditions: Conditions) -> Iterator[Row]:
    names = list(dict.fromkeys(row["permutation"] for row in table("icpp_table2")))
    for side in sides(conditions.most):
        for name in names:
            conditions.say(f"sqrt n = {side}, {name}: colouring the plan")
            P = permutation(name, side)
            steps = plan(P, WARP)
            for kind in TYPES:
                for algorithm in ALGORITHMS:
                    conditions.say(f"sqrt n = {side}, {name}, {kind}, {algorithm}")
                    yield _row(conditions, kind, name, side, algorithm, P, steps)


def sides(most: int | None) -> list[int]:
    """The sizes up to `most`."""
    found = [side for side in SIDES if most is None or side <= most]
    if not found:
        raise MMSimError(f"no sqrt n is {most} or less; the smallest is {SIDES[0]}")
    return found


def _row(
    conditions: Conditions,
    kind: str,
    name: str,
    side: int,
    algorithm: str,
    P: npt.NDArray[Any],
    steps: Plan,
) -> Row:
    measured = measure(conditions.calibration, kind, algorithm, P, steps)
    coalesced = algorithm == "scheduled" or name in COALESCED
    head: Row = {"type": kind, "permutation": name, "sqrt n": side, "algorithm": algorithm}
    return {
        **head,
        "paper ms": printed(kind, name, side, algorithm),
        **measured,
        "coalesced": coalesced,
    }


def measure(
    calibration: Calibration, kind: str, algorithm: str, P: npt.NDArray[Any], steps: Plan
) -> Row:
    """Measured and predicted milliseconds of one permutation, which is checked."""
    a = np.arange(P.size, dtype=TYPES[kind])
    if algorithm == "scheduled":
        launches, arrays = permuting.scheduled(steps, a)
    else:
        launches, arrays = permuting.conventional(algorithm, P, a)
    found = replay_steps(launches, arrays, keep=["b"])
    if not np.array_equal(found.arrays["b"].reshape(-1)[P], a):
        raise MMSimError(f"{algorithm} of {P.size} words left the wrong array on this GPU")
    return {
        "measured": found.median,
        "low": found.low,
        "high": found.high,
        "predicted": predicted_time(calibration, kind, algorithm, P),
    }


def predicted_time(
    calibration: Calibration, kind: str, algorithm: str, P: npt.NDArray[Any]
) -> float:
    """Predicted milliseconds of one permutation."""
    if algorithm == "scheduled":
        return scheduled_time(calibration, kind, isqrt(P.size))
    a = np.zeros(P.size, dtype=TYPES[kind])
    launches, arrays = permuting.conventional(algorithm, P, a)
    return predicted(launches, arrays, calibration)


@cache
def scheduled_time(calibration: Calibration, kind: str, side: int) -> float:
    """Predicted milliseconds of the scheduled permutation.

    Words of 4 bytes take the same time units for every permutation, so the identity stands for all.
    For words of 8 bytes the plan's requests in shared memory may meet conflicts, since it is made
    for 32 banks and a half-warp has 16; they are left out here.
    """
    row = np.broadcast_to(np.arange(side), (side, side))
    identity = (row, row)
    data = np.zeros(side * side, TYPES[kind])
    launches, arrays = permuting.scheduled(Plan(identity, identity, identity), data)
    return predicted(launches, arrays, calibration)


def permutation(name: str, side: int) -> npt.NDArray[Any]:
    """One of the papers' permutations of side^2 words."""
    return permutations.NAMED[name.replace("_", "-")](side * side, 0)


def printed(kind: str, name: str, side: int, algorithm: str) -> float | None:
    """The paper's milliseconds on a GTX 680, where it has the cell."""
    column = f"{algorithm.replace('-', '_').lower()}_ms"
    for row in table("icpp_table2"):
        if (row["type"], row["permutation"], row["sqrt_n"]) == (kind, name, str(side)):
            return float(row[column])
    return None


def icpp_table_3(conditions: Conditions) -> Iterator[Row]:
    """Random permutations of 4M floats, each algorithm on each."""
    side = min(2048, sides(conditions.most)[-1])
    times: dict[str, list[float]] = {algorithm: [] for algorithm in ALGORITHMS}
    models: dict[str, list[float]] = {algorithm: [] for algorithm in ALGORITHMS}
    distributions = []
    for seed in range(PERMUTATIONS):
        conditions.say(f"permutation {seed + 1} of {PERMUTATIONS}")
        P = permutations.random(side * side, seed)
        distributions.append(permutations.distribution(P, WARP) / P.size)
        steps = plan(P, WARP)
        for algorithm in ALGORITHMS:
            found = measure(conditions.calibration, "float", algorithm, P, steps)
            times[algorithm].append(float(found["measured"] or 0))
            models[algorithm].append(float(found["predicted"] or 0))
    for row, take in (("minimum", min), ("average", mean), ("maximum", max)):
        paper = next(one for one in table("icpp_table3") if one["row"] == row)
        for algorithm in ALGORITHMS:
            yield {
                "row": row,
                "algorithm": algorithm,
                "sqrt n": side,
                "permutations": PERMUTATIONS,
                "paper ms": float(paper[f"{algorithm.replace('-', '_').lower()}_ms"]),
                "measured": take(times[algorithm]),
                "predicted": take(models[algorithm]),
                "D_w(P)/n": round(take(distributions), 5),
            }


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


EXPERIMENTS = [
    Experiment(
        "ICPP-T2",
        "ICPP Table II: three algorithms permute sqrt n x sqrt n words in global memory",
        "ms",
        icpp_table_2,
    ),
    Experiment(
        "ICPP-T3",
        f"ICPP Table III: {PERMUTATIONS} random permutations of 4M floats",
        "ms",
        icpp_table_3,
    ),
]
