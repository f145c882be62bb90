"""A few runs that show any rule of the model: what they cost must change when a rule does."""

from __future__ import annotations

from typing import Any

import numpy as np

import mmsim as mm
from mmsim_algorithms.dmm_permutation.wide_banks import WideBankDMM


@mm.program
def read(T, a, q):
    a[q[T.id]]
    a[T.id]
    a[T.id // 3 * 4]
    if T.id < 5:
        a[q[T.id] + 1]


@mm.program
def through_shared(T, a, q, b):
    s = mm.shared(T.block_size)
    s[T.index] = a[q[T.id]]
    T.barrier()
    s[(T.index * 2) % T.block_size]
    b[T.id] = s[T.block_size - 1 - T.index]


def costs(engine: Any) -> list[list[Any]]:
    """Of each run: its time, and its rows as text."""
    found = []
    a = np.arange(64)
    q = a * 4 % 60 + a // 20
    machines = mm.DMM(4, 5), mm.UMM(4, 5), mm.HMM(2, 4, 7, 3), WideBankDMM(4, 5)
    for machine in machines:
        for schedule in ("synchronous", "asynchronous"):
            for program, arrays in (
                (read, (a, q)),
                (through_shared, (a, q, np.zeros_like(a))),
            ):
                run = machine.run(
                    program, *arrays, threads=22, block_size=8, schedule=schedule, engine=engine
                )
                rows = [
                    f"{row.line} {row.array} {row.requests} {row.stages} {row.access_class}"
                    for row in run.accesses
                ]
                found.append([run.time, rows])
    return found
