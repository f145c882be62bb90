"""Time a histogram with atomics against np.bincount: 2^24 values, 256 bins, private ones by block.

    python benchmarks/histogram.py [--log-size 24] [--repeat 7]

Both run in turn, in interleaved rounds, so that a noisy machine can't decide; printed are the
medians. The array engine should take at most 5 times as long. Exits with status 1 if it doesn't.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

import mmsim as mm
from mmsim.bench.repetitions import compiled_first

BINS = 256
MOST = 5
MACHINE = mm.HMM(dmms=16, width=32, global_latency=400)


@mm.program
def histogram(T: mm.Thread, x: mm.Array, h: mm.Array, rounds: int) -> None:
    """Each block counts in its shared memory, and adds its counts to those of all."""
    own = mm.shared(256, dtype=int)
    for k in range(T.index, 256, T.block_size):
        own[k] = 0
    T.barrier()
    for i in range(rounds):
        mm.atomic.add(own, x[i * T.count + T.id], 1)
    T.barrier()
    for k in range(T.index, 256, T.block_size):
        mm.atomic.add(h, k, own[k])


def seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Time a histogram against np.bincount.")
    parser.add_argument("--log-size", type=int, default=24, help="log2 of the values (24)")
    parser.add_argument("--repeat", type=int, default=7, help="rounds (7)")
    arguments = parser.parse_args(argv)
    n = 1 << arguments.log_size
    threads = min(n, 1 << 18)
    x = np.random.default_rng(0).integers(0, BINS, n)
    expected = np.bincount(x, minlength=BINS)
    slow = False
    for schedule in ("synchronous", "asynchronous"):

        def run(schedule: mm.Schedule = schedule) -> mm.Run:
            args = x, np.zeros(BINS, int), n // threads
            how = {"threads": threads, "block_size": min(256, threads), "schedule": schedule}
            return MACHINE.run(histogram, *args, **how)

        with compiled_first():
            first = run()
        assert (first.arrays["h"] == expected).all()
        assert first.engine == "array"
        rounds = [
            (seconds(run), seconds(lambda: np.bincount(x, minlength=BINS)))
            for _ in range(arguments.repeat)
        ]
        own, bare = (statistics.median(column) for column in zip(*rounds, strict=True))
        print(
            f"{schedule}: {first.time} time units, {own:.3f} s, np.bincount {bare:.3f} s: "
            f"{own / bare:.1f} times as long"
        )
        slow |= own > MOST * bare
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
