"""CFP's Table II and Figure 7 and RAP's Table III: permutations in the shared memory of a block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.errors import MMSimError
from mmsim.gpu import replay
from mmsim.gpu.copies import replay_copies
from mmsim.gpu.experiment import Conditions, Experiment
from mmsim.gpu.record import Row
from mmsim.gpu.shared import repetition
from mmsim_algorithms.access.programs import copy
from mmsim_algorithms.dmm_permutation.cases import named
from mmsim_algorithms.dmm_permutation.programs import ALGORITHMS, tables
from mmsim_algorithms.printed import table
from mmsim_algorithms.rap import programs as rap

N, W = 1024, 32
REPEAT = 2000
COPY_NS = "102.937"
"""What CFP Table II says of the copy, above its columns."""
TYPES = {"float": np.float32, "double": np.float64}


def cell(conditions: Conditions, program: mm.Program, *args: Any) -> Row:
    """One program, a thread for each of its 1024 words: measured and predicted cycles."""
    found = replay(
        program,
        *args,
        threads=N,
        space="shared",
        repeat=REPEAT,
        calibration=conditions.calibration,
    )
    for name, values in found.run.arrays.items():
        if not np.array_equal(found.arrays[name], values):
            raise MMSimError(f"{program.name} left the wrong array {name} on this GPU")
    predicted = found.predicted
    assert predicted is not None
    return {
        "measured": round(found.median, 3),
        "low": round(found.low, 3),
        "high": round(found.high, 3),
        "predicted": round(predicted, 3),
        "stages": repetition(program, *args, threads=N).stages,
    }


def cfp_table_2(conditions: Conditions) -> Iterator[Row]:
    for kind, dtype in TYPES.items():
        a = np.arange(N, dtype=dtype)
        for permutation in ("", *(row["permutation"] for row in table("cfp_table2"))):
            conditions.say(f"{kind}, {permutation or 'copy'}")
            if not permutation:
                row = cell(conditions, copy, a, np.zeros_like(a))
                yield _cfp_row(kind, "any", "copy", COPY_NS, row)
                continue
            P = named(permutation.replace("_", "-"), N, W)
            paper = next(row for row in table("cfp_table2") if row["permutation"] == permutation)
            for algorithm, program in ALGORITHMS.items():
                if algorithm == "copy":
                    continue
                given = [one.astype(np.int32) for one in tables(algorithm, P, W)]
                row = cell(conditions, program, a, np.zeros_like(a), *given)
                ns = paper[f"{algorithm.replace('-', '_').lower()}_ns"]
                yield _cfp_row(kind, permutation, algorithm, ns, row)


def _cfp_row(kind: str, permutation: str, algorithm: str, ns: str, row: Row) -> Row:
    """The paper measured float on a GTX 680."""
    paper = {"paper ns": float(ns) if kind == "float" else None}
    return {"type": kind, "permutation": permutation, "algorithm": algorithm, **paper, **row}


def rap_table_3(conditions: Conditions) -> Iterator[Row]:
    for kind, dtype in TYPES.items():
        for paper in table("rap_table3"):
            conditions.say(f"{kind}, {paper['transpose']} under {paper['layout']}")
            layout = rap.LAYOUTS[paper["layout"]]
            a = mm.place(np.arange(N, dtype=dtype).reshape(W, W), layout(W, 0))
            b = mm.place(np.zeros((W, W), dtype), layout(W, 1))
            row = cell(conditions, rap.OUT_OF_PLACE[paper["transpose"]], a, b)
            ns = float(paper["ns"]) if kind == "double" else None
            head = {"type": kind, "transpose": paper["transpose"], "layout": paper["layout"]}
            yield {**head, "paper ns": ns, **row}


def cfp_figure_7(conditions: Conditions) -> Iterator[Row]:
    """k arrays, a block for each; the multiprocessors take them in turn."""
    d = conditions.calibration.multiprocessors
    a = np.arange(N, dtype=np.float32)
    P = named("bit-reversal", N, W)
    some = {1, d // 4, d // 2, d - 1, d, d + 1, 3 * d // 2, 2 * d, 2 * d + 1, 3 * d, 4 * d}
    counts = sorted(some - {0})
    for algorithm in ("D-designated", "conflict-free"):
        given = [one.astype(np.int32) for one in tables(algorithm, P, W)]
        args = (a, np.zeros_like(a), *given)
        for k in counts:
            conditions.say(f"{algorithm}, {k} arrays")
            program = ALGORITHMS[algorithm]
            found = replay_copies(program, *args, threads=N, copies=k, repeat=REPEAT)
            busiest = -(-k // d)
            units = repetition(program, *args, threads=N).time(
                conditions.calibration.shared_latency, REPEAT, blocks=busiest
            )
            scale = conditions.calibration.cycles_per_stage * conditions.calibration.cycle_ps * 1e-9
            yield {
                "algorithm": algorithm,
                "arrays": k,
                "measured": found.median,
                "low": found.low,
                "high": found.high,
                "predicted": units * scale,
            }


EXPERIMENTS = [
    Experiment(
        "CFP-T2",
        "CFP Table II: a permutation of 1024 words in shared memory by 1024 threads, a repetition",
        "cycles",
        cfp_table_2,
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
    ),
]
