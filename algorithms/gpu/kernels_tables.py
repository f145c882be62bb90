"""Kernels of several kinds on a GPU: their times.

No number of a machine is computed from these times. Some rules of the machine with a cache came
after a look at them; docs/metal.md names these rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache, partial

from mmsim.errors import MMSimError
from mmsim.gpu.experiment import Cell, Conditions, Experiment
from mmsim.gpu.record import Row
from mmsim_algorithms.gpu.cached_predictions import DIGEST, Machines
from mmsim_algorithms.gpu.kernel_sets import SETS
from mmsim_algorithms.gpu.launched import QUICK, SIDE, Case, Launched
from mmsim_algorithms.gpu.steps import check_arrays, digest_of, replay_steps, times


def cells(which: str, conditions: Conditions) -> Iterator[Cell]:
    """A cell for each case of a set, at a quick test's sizes unless all are wanted."""
    side = SIDE if conditions.most is None or conditions.most >= SIDE else QUICK
    if conditions.most is not None and conditions.most < QUICK:
        raise MMSimError(f"no side is {conditions.most} or less; the smallest is {QUICK}")
    for case in SETS[which].cases(side):
        yield Cell(
            {**case.about, "side": side},
            partial(measure, case),
            partial(predict, conditions, case),
        )


@lru_cache(maxsize=1)
def made(case: Case) -> Launched:
    """The launches of a case, kept until the next case."""
    return case.make()


def measure(case: Case) -> Row:
    """Measured milliseconds of all launches of a case, whose results are checked."""
    launched = made(case)
    found = replay_steps(
        launched.steps, launched.arrays, keep=list(launched.expected), sweeps=len(launched.steps)
    )
    check_arrays(f"{case.kernel} ({case.data})", found.arrays, launched.expected)
    return {
        "launches": len(launched.steps),
        **times(found, 6),
        DIGEST: digest_of(launched.steps, launched.arrays),
    }


def predict(conditions: Conditions, case: Case) -> Row:
    """Milliseconds of all launches of a case, predicted by the machine with a cache.

    None for a kind of card without kept microbenchmarks of the cache.
    """
    machines = Machines.kept()
    if conditions.calibration.device != machines.device:
        return {"predicted": None}
    launched = made(case)
    return {"predicted": machines.milliseconds(launched.steps, launched.arrays)}


def without_digests(rows: Iterable[Row]) -> list[Row]:
    """The rows as they are shown."""
    return [{name: value for name, value in row.items() if name != DIGEST} for row in rows]


EXPERIMENTS = [
    Experiment(one.experiment, one.title, "ms", partial(cells, which), without_digests)
    for which, one in SETS.items()
]
"""The field's kernels for a comparison with the machine with a cache."""
