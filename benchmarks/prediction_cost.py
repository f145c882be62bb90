"""Time predictions on a card's machine against NumPy's moves of as many elements.

    python benchmarks/prediction_cost.py [--sizes 20 21 22] [--repeat 5] [--card h200]

A prediction is `mm.H200().predict(...)`, one thread for each element, in blocks of 256 threads. It
is compared with one statement of NumPy on the same arrays, of which b is new, as in `MOVES` of
`mmsim_algorithms.gpu.cached_predictions`:

- moves: `b[p[i]] = a[i]` for a random permutation p and floats, with NumPy's `b[p] = a`;
- words: `rank[i] = atomic.add(count, key[i], 1)`, whose words are used, for 256 random keys and for
  one, with the same `b[p] = a`, and with NumPy's `np.add.at(count, key, 1)`.

Seconds are those of the process, on one core, with compiled code at hand. All take turns, in
interleaved rounds; printed are the medians, and the prediction's seconds by NumPy's. Predicting
moves should take at most 25 times as long as `b[p] = a`, predicting atomics at most 200 times.
Exits with status 1 if one doesn't.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

import mmsim as mm

KEYS = 256
MOST = {"moves": 25, "words": 200, "one word": 200}


@mm.program
def moves(T: mm.Thread, a: mm.Array, p: mm.Array, b: mm.Array) -> None:
    """The D-designated permutation."""
    b[p[T.id]] = a[T.id]


@mm.program
def words(T: mm.Thread, key: mm.Array, count: mm.Array, rank: mm.Array) -> None:
    """The rank of each element among those of its key."""
    own = mm.atomic.add(count, key[T.id], 1)
    rank[T.id] = own


def seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def contestants(card: mm.Machine, n: int) -> dict[str, Callable[[], object]]:
    """The contestants by name, which take turns: NumPy's two statements, then the predictions."""
    rng = np.random.default_rng(0)
    a, p = rng.random(n, np.float32), rng.permutation(n).astype(np.int32)
    key, one = rng.integers(0, KEYS, n).astype(np.int32), np.zeros(n, np.int32)

    def predict(program: mm.Program, *args: object) -> object:
        return card.predict(program, *args, threads=n, block_size=256)  # type: ignore[attr-defined]  # a card

    def moved() -> None:
        b = np.zeros(n, np.float32)
        b[p] = a

    def added() -> None:
        count = np.zeros(KEYS, np.int32)
        np.add.at(count, key, 1)

    count, rank = np.zeros(KEYS, np.int32), np.zeros(n, np.int32)
    return {
        "b[p] = a": moved,
        "np.add.at": added,
        "moves": lambda: predict(moves, a, p, np.zeros_like(a)),
        "words": lambda: predict(words, key, count, rank),
        "one word": lambda: predict(words, one, count, rank),
    }


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Time predictions against NumPy's moves.")
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 21, 22], help="log2 of n")
    parser.add_argument("--repeat", type=int, default=5, help="rounds (5)")
    parser.add_argument("--card", default="h200", help="the card (h200)")
    arguments = parser.parse_args(argv)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    card = mm.card(arguments.card)
    slow = False
    print("seconds of the process, one core; in brackets: by b[p] = a, by np.add.at")
    for size in arguments.sizes:
        tasks = contestants(card, 1 << size)
        for task in tasks.values():
            task()
        found: dict[str, list[float]] = {name: [] for name in tasks}
        for _ in range(arguments.repeat):
            for name, task in tasks.items():
                found[name].append(seconds(task))
        taken = {name: statistics.median(times) for name, times in found.items()}
        for name, took in taken.items():
            ratio = took / taken["b[p] = a"]
            slow = slow or ratio > MOST.get(name, ratio)
            beside = f"({ratio:.1f}, {took / taken['np.add.at']:.1f})" if name in MOST else ""
            print(f"2^{size}  {name:<10} {took:.4f}  {beside}")
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
