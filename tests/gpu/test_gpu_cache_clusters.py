"""Which multiprocessors delay each other, and the clusters that they make up."""

import ctypes
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.laboratory.cached_machine import section as cached
from mmsim_algorithms.gpu import cache_multiprocessors
from mmsim_algorithms.gpu.cache_calibrated import (
    CHOSEN,
    cached_machine,
    cached_numbers,
    half_of,
    members,
    sizes,
)
from mmsim_algorithms.gpu.cache_multiprocessors import ASKS, clusters, grouped, kernel
from mmsim_algorithms.gpu.kept import Results
from tests.kit.cards.played import stage
from tests.kit.oracle.emulated_gpu import Emulated, needs_compiler

KEPT = Results.read()


def with_clusters(of_sizes):
    """The kept results with clusters of such sizes; None: without such a row."""
    rows = [row for row in KEPT["cache"].rows if row["number"] != "clusters"]
    if of_sizes is not None:
        numbers = iter(range(1000))
        shown = "; ".join(" ".join(str(next(numbers)) for _ in range(size)) for size in of_sizes)
        rows.append({"number": "clusters", "multiprocessors": shown})
    return Results({**KEPT.records, "cache": replace(KEPT["cache"], rows=tuple(rows))})


@needs_compiler
def test_two_blocks_read_and_the_others_end_before(tmp_path):
    """Emulated, where the multiprocessor is the block; only what is read is looked at."""
    text = ASKS
    (asked,) = [line for line in text.splitlines() if "asm" in line]
    text = text.replace(asked, "own = blockIdx.x;").replace("clock64()", "(counted += 7)")
    text = text.replace("unsigned int own;", "unsigned int own; long long counted = 0;")
    one = replace(kernel(ASKS, 6), source=text)
    far, span, words = 64, 5, 8
    a = np.zeros(cache_multiprocessors.PAGES * far, np.int32)
    p = np.array([3, 4, 2, far, span, words], np.int32)
    cycles = np.full(3, -1, np.int32)
    pointers = [ctypes.pointer(ctypes.c_void_p(array.ctypes.data)) for array in (a, p, cycles)]
    table = (ctypes.c_void_p * 3)(*(ctypes.cast(one, ctypes.c_void_p) for one in pointers))
    Emulated([one], tmp_path).library.run_0(table, 0)
    assert cycles.tolist() == [7, 7, -1]


def test_all_that_delay_the_first_one_are_its_cluster():
    """The clusters are {0 2 5}, {1 4}, {3}; the first blocks run on 4, 0, 3."""
    known = [{0, 2, 5}, {1, 4}, {3}]
    launched = []

    def ready(written, passed):
        def launch():
            if len(passed) == 1:
                passed[0][:] = [4, 0, 4, 3, 4, 0]
                return
            _, p, cycles = passed
            launched.append((written.grid[0], *p.tolist()))
            one, other = p[1:3].tolist()
            delayed = one != other and any({one, other} <= own for own in known)
            cycles[0] = (1600 if delayed else 1000) + 50 * (len(launched) % 2)
            cycles[1] = one != other and len(launched) % 3 > 0
            cycles[0] *= one == other or cycles[1]

        return launch

    (row,) = clusters(stage(6, 32 * 100, ready))
    assert row == {"number": "clusters", "multiprocessors": "1 4; 0 2 5; 3"}
    assert len(launched) > 2 * (1 + 5 + 1 + 3 + 1)
    assert launched[0] == (6, cache_multiprocessors.TIMES, 4, 4, 100, cache_multiprocessors.SPAN, 8)
    assert members([row, {"number": "shares"}]) == [[1, 4], [0, 2, 5], [3]]
    assert sizes([row], 6) == (2, 3, 1)


def test_a_multiprocessor_without_a_block_is_reported():
    (row,) = clusters(stage(2, 64, lambda written, passed: lambda: None))
    assert row["not measured"] == "multiprocessors 0 and 0 had no block in 20 launches"
    assert members([row]) == []
    assert sizes([row], 2) is None


def test_a_cluster_is_in_the_half_of_most_of_it():
    rows = [
        {"number": "clusters", "multiprocessors": "0 1 2; 3 4 5"},
        {"number": "halves of multiprocessors", "halves": "011001"},
    ]
    assert half_of(rows) == (1, 0)
    assert half_of(rows[:1]) is None
    assert half_of(rows[1:]) is None
    assert half_of([rows[0], {**rows[1], "halves": "01100"}]) is None


def test_little_longer_is_not_delayed():
    longer = {0: 100, 1: 125, 2: 126}
    assert grouped([0, 1, 2], lambda one, other: longer[other - one]) == [[0, 2], [1]]


@pytest.mark.parametrize(
    ("of_sizes", "found"),
    [
        (22 * (6,), 22 * (6,)),
        ((*20 * (6,), *3 * (4,)), (*20 * (6,), *3 * (4,))),
        (21 * (6,), 8),
        (132 * (1,), 8),
        (None, 8),
    ],
)
def test_the_machine_has_the_clusters_or_equal_ones(of_sizes, found):
    """Equal ones where they don't make up the card, or where no two delay each other."""
    results = with_clusters(of_sizes)
    assert cached_numbers(results["cache"], KEPT.card)["clusters"] == found
    assert cached_machine(results["cache"], KEPT.card).clusters == found
    text = " ".join(cached(results).split())
    assert (f"`clusters` = {CHOSEN['clusters']}" in text) == (found == 8)
