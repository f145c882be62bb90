"""Casual writes on a machine with a cache, compared with NumPy's and with the machine without."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.bench.benchmark import LEAST, Benchmark, Row, Settings
from mmsim.bench.repetitions import Measured, alternately, compiled_first, timed
from mmsim.bench.start import permute

DMMS, WIDTH, LATENCY, BLOCK = 132, 32, 3240, 256
CAPACITY = 60 * 2**20
CACHED: dict[str, int] = {
    "sectors": 4,
    "tag_time": 71,
    "sector_time": 32,
    "cross_time": 20,
    "memory_time": 70,
    "fill_time": 100,
    "row_time": 200,
    "miss_latency": 2000,
    "capacity": CAPACITY,
    "ways": 16,
    "halves": 2,
    "fetch": 2,
    "channels": 32,
    "banks": 64,
    "row": 16,
    "under_way": 4,
    "resident": 2048,
}
"""As large as an H200's; the times of its parts don't matter here."""


def rows(settings: Settings) -> Iterator[Row]:
    for number, n in enumerate((LEAST, *settings.sizes(LEAST, 2**24))):
        if number:
            found = _measured(n, settings)
            bare, plain, cached = (measured.median for measured in found.values())
            yield {"n": n, **found, "HMM/NumPy": plain / bare, "Cached/NumPy": cached / bare}
        else:
            with compiled_first():
                _measured(n, Settings(repeat=1))


def _measured(n: int, settings: Settings) -> dict[str, Measured]:
    """Time NumPy and both machines alternately; each must compute b[d] = a."""
    rng = np.random.default_rng(0)
    a, d = rng.random(n, np.float32), rng.permutation(n).astype(np.int32)
    b, expected = np.zeros_like(a), np.empty_like(a)
    expected[d] = a

    def move() -> Any:
        b[d] = a
        return b

    def same(found: Any) -> None:
        assert np.array_equal(found, expected)

    def on(machine: mm.Machine) -> Callable[[], float]:
        def run() -> mm.Run:
            return machine.run(
                permute, a, d, b, threads=n, block_size=BLOCK, schedule="asynchronous"
            )

        return timed(run, lambda run: same(run.arrays["b"]))

    size = {"dmms": DMMS, "width": WIDTH, "global_latency": LATENCY, "bank_bytes": 4}
    cached: dict[str, Any] = {**size, **CACHED}
    tasks = {
        "NumPy": timed(move, same),
        "HMM": on(mm.HMM(**size)),
        "Cached": on(mm.Cached(**cached)),
    }
    return alternately(tasks, settings.repetitions(5), "s", settings.about(f"n = {n:,}"))


BENCHMARK = Benchmark(
    "cached",
    f"b[d[i]] = a[i], random d, float32, on Cached with {DMMS} DMMs and a cache of "
    f"{CAPACITY >> 20} MiB, compared with NumPy's b[d] = a and with the HMM",
    "Wall time of Machine.run, asynchronous, and of NumPy's one statement, alternately; medians, "
    "below them the ranges. Every result is compared with b[d] = a.",
    rows,
)
