"""CFP's Table II and Figure 7 and RAP's Table III: permutations in the shared memory of a block."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.gpu import replay
from mmsim.gpu.calibrated import Calibration
from mmsim.gpu.calibration import replay_copies
from mmsim.gpu.experiment import Cell, Conditions, Experiment
from mmsim.gpu.record import Row
from mmsim.gpu.shared import repetition
from mmsim_algorithms.access.programs import copy
from mmsim_algorithms.dmm_permutation.cases import named
from mmsim_algorithms.dmm_permutation.programs import ALGORITHMS, tables
from mmsim_algorithms.gpu.checked_predictions import checked_predictions
from mmsim_algorithms.gpu.steps import check_arrays, times
from mmsim_algorithms.printed import table
from mmsim_algorithms.rap import programs as rap

N, W = 1024, 32
REPEAT = 2000
COPY_NS = "102.937"
"""CFP Table II's time of the copy, above its columns."""
TYPES = {"float": np.float32, "double": np.float64}


def cell(conditions: Conditions, about: Row, program: mm.Program, *args: Any) -> Cell:
    """One program, a thread for each of its 1024 words: measured and predicted cycles."""
    return Cell(
        about,
        lambda: measure(program, *args),
        lambda: predict(conditions.calibration, program, *args),
    )


def measure(program: mm.Program, *args: Any) -> Row:
    """Measured cycles of one repetition, whose arrays are checked."""
    found = replay(program, *args, threads=N, space="shared", repeat=REPEAT)
    check_arrays(program.name, found.arrays, found.run.arrays)
    return times(found, 3)


def predict(calibration: Calibration, program: mm.Program, *args: Any) -> Row:
    """Predicted cycles of one repetition, and its stages."""
    one = repetition(program, *args, threads=N)
    return {"predicted": round(one.cycles(calibration, REPEAT), 3), "stages": one.stages}


def cfp_table_2(conditions: Conditions) -> Iterator[Cell]:
    for kind, dtype in TYPES.items():
        a = np.arange(N, dtype=dtype)
        yield cell(conditions, _about(kind, "any", "copy", COPY_NS), copy, a, np.zeros_like(a))
        for paper in table("cfp_table2"):
            permutation = paper["permutation"]
            P = named(permutation.replace("_", "-"), N, W)
            for algorithm, program in ALGORITHMS.items():
                if algorithm == "copy":
                    continue
                given = [one.astype(np.int32) for one in tables(algorithm, P, W)]
                ns = paper[f"{algorithm.replace('-', '_').lower()}_ns"]
                about = _about(kind, permutation, algorithm, ns)
                yield cell(conditions, about, program, a, np.zeros_like(a), *given)


def _about(kind: str, permutation: str, algorithm: str, ns: str) -> Row:
    """The paper measured float on a GTX 680."""
    paper = {"paper ns": float(ns) if kind == "float" else None}
    return {"type": kind, "permutation": permutation, "algorithm": algorithm, **paper}


def rap_table_3(conditions: Conditions) -> Iterator[Cell]:
    for kind, dtype in TYPES.items():
        for paper in table("rap_table3"):
            layout = rap.LAYOUTS[paper["layout"]]
            a = mm.place(np.arange(N, dtype=dtype).reshape(W, W), layout(W, 0))
            b = mm.place(np.zeros((W, W), dtype), layout(W, 1))
            ns = float(paper["ns"]) if kind == "double" else None
            about = {"type": kind, "transpose": paper["transpose"], "layout": paper["layout"]}
            program = rap.OUT_OF_PLACE[paper["transpose"]]
            yield cell(conditions, {**about, "paper ns": ns}, program, a, b)


def cfp_figure_7(conditions: Conditions) -> Iterator[Cell]:
    """k arrays, a block for each; the multiprocessors take them in turn."""
    d = conditions.calibration.multiprocessors
    some = {1, d // 4, d // 2, d - 1, d, d + 1, 3 * d // 2, 2 * d, 2 * d + 1, 3 * d, 4 * d}
    counts = sorted(some - {0})
    for algorithm in ("D-designated", "conflict-free"):
        for k in counts:
            yield Cell(
                {"algorithm": algorithm, "arrays": k},
                partial(_copies_measured, algorithm, k),
                partial(_copies_predicted, conditions.calibration, algorithm, k),
            )


def _copies_measured(algorithm: str, copies: int) -> Row:
    args = _bit_reversal(algorithm)
    found = replay_copies(ALGORITHMS[algorithm], *args, threads=N, copies=copies, repeat=REPEAT)
    return {"measured": found.median, "low": found.low, "high": found.high}


def _copies_predicted(calibration: Calibration, algorithm: str, copies: int) -> Row:
    one = repetition(ALGORITHMS[algorithm], *_bit_reversal(algorithm), threads=N)
    busiest = -(-copies // calibration.multiprocessors)
    units = one.time(calibration.shared_latency, REPEAT, blocks=busiest)
    return {"predicted": units * (calibration.cycles_per_stage * calibration.cycle_ps * 1e-9)}


def _bit_reversal(algorithm: str) -> list[Any]:
    """The arguments of an algorithm of Figure 7."""
    a = np.arange(N, dtype=np.float32)
    given = tables(algorithm, named("bit-reversal", N, W), W)
    return [a, np.zeros_like(a), *(one.astype(np.int32) for one in given)]


EXPERIMENTS = [
    Experiment(
        "CFP-T2",
        "CFP Table II: a permutation of 1024 words in shared memory by 1024 threads, a repetition",
        "cycles",
        cfp_table_2,
        kept=lambda: checked_predictions("CFP-T2", cfp_table_2),
    ),
    Experiment(
        "CFP-F7",
        f"CFP Figure 7: many arrays of 1024 floats, a block for each, {REPEAT} repetitions, "
        "bit-reversal",
        "ms",
        cfp_figure_7,
    ),
    Experiment(
        "RAP-T3",
        "RAP Table III: the transpose of 32 x 32 words in shared memory by 1024 threads, "
        "a repetition",
        "cycles",
        rap_table_3,
        kept=lambda: checked_predictions("RAP-T3", rap_table_3),
    ),
]
