"""The cache's rule against small examples by hand, and against the oracle's cache."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import mmsim as mm
from mmsim.engines.cached import new_state
from mmsim.model import cache
from mmsim.model.cache import ATOMIC, KIND, READ, WRITE
from mmsim.model.sectors import Asked
from tests.kit.oracle.cached_memory import Cache

NAMES = (
    "lookups",
    "sectors",
    "hits",
    "misses",
    "reads",
    "writes",
    "fills",
    "crossings",
    "activations",
    "translations",
)


def served(machine, *requests):
    """What requests took, each a kind, a DMM, sectors, and the places touched in each.

    Without a tag request for each line.
    """
    numbers = machine.cache
    state = cache.listed(new_state(numbers, machine))
    for kind, dmm, sectors, *places in requests:
        touched = (places or [[0] * len(sectors)])[0]
        cache.serve(numbers, state, 0, dmm, kind, 1, sectors, touched, 0, len(sectors))
        state.items[cache.LOOKUPS] -= len({sector // numbers.sectors for sector in sectors})
        yield {name: of for name, of in zip(NAMES, state.items[: cache.COUNTS], strict=True) if of}


def machine(**numbers):
    """Lines of 4 sectors of 2 words; rows are all one unless they matter."""
    own = {"dmms": 2, "sectors": 4, "row": 1 << 20, **numbers}
    return mm.Cached(width=8, global_latency=20, **own)


def test_a_miss_brings_what_is_around_and_the_next_one_hits():
    """What comes for one sector of a request is no hit for another one."""
    found = served(
        machine(capacity=16, ways=2, fetch=2),
        (READ, 0, [0]),
        (READ, 0, [1]),
        (READ, 0, [0, 2, 3]),
        (READ, 0, [2]),
    )
    assert list(found) == [
        {"sectors": 1, "misses": 2, "reads": 2, "activations": 1},
        {"sectors": 1, "hits": 1},
        {"sectors": 3, "hits": 1, "misses": 2, "reads": 2},
        {"sectors": 1, "hits": 1},
    ]


def test_a_line_takes_a_free_place_or_one_as_if_drawn():
    """Of three lines in two ways: the third one comes to way spread(3, 2) = 1, where line 1 is."""
    assert cache.spread(3, 2) == 1
    lines = [(READ, 0, [4 * line]) for line in (0, 1, 2, 0, 1)]
    found = list(served(machine(capacity=16, ways=2), *lines))
    assert [one.get("misses", 0) for one in found] == [1, 1, 1, 0, 1]


def test_the_lines_of_both_halves_count_those_with_room_too():
    """Line 5 is the fifth to come, and takes way 0 of half 0, where line 0 is; not way 1."""
    assert (cache.spread(3, 2), cache.spread(5, 2)) == (1, 0)
    reads = [(READ, dmm, [4 * line]) for dmm, line in ((0, 0), (0, 3), (1, 1), (1, 2), (0, 5))]
    found = served(machine(capacity=32, ways=2, halves=2), *reads, (READ, 0, [12]), (READ, 0, [0]))
    assert [one.get("hits", 0) for one in found] == [0, 0, 0, 0, 0, 1, 0]


def test_hits_and_misses_may_be_more_or_fewer_than_sectors():
    """A read doesn't look for the rest of a pair that it has missed; an atomic does."""
    found = served(
        machine(capacity=32, ways=4, fetch=2),
        (WRITE, 0, [1], [0b11]),
        (READ, 0, [0, 1]),
        (cache.ATOMIC, 0, [4, 5, 6, 7], [0b11] * 4),
    )
    hits_and_misses = [(one.get("hits", 0), one.get("misses", 0)) for one in found]
    assert hits_and_misses == [(0, 0), (0, 1), (2, 4)]


def test_a_sector_written_in_part_is_filled_when_it_leaves():
    """One way: line 1 sends line 0 away, of which a sector is whole and another isn't."""
    found = served(
        machine(capacity=8),
        (WRITE, 0, [0, 1], [0b01, 0b11]),
        (READ, 0, [4]),
        (WRITE, 0, [5], [0b01]),
        (WRITE, 0, [5], [0b10]),
        (READ, 0, [5]),
        (WRITE, 0, [6], [0b10]),
        (READ, 0, [6]),
        (READ, 0, [0]),
    )
    filled = {"lookups": 1, "reads": 2, "writes": 2, "fills": 1}
    assert list(found) == [
        {"sectors": 2},
        {"sectors": 1, "misses": 1, "activations": 1, **filled},
        {"sectors": 1},
        {"sectors": 1},
        {"sectors": 1, "hits": 1},
        {"sectors": 1},
        {"sectors": 1, "misses": 1, "reads": 1},
        {"sectors": 1, "misses": 1, "reads": 1, "writes": 2},
    ]


def test_halves_keep_copies_until_the_other_writes():
    """Line 0 is at home in half 0, of which DMM 0 is; DMM 1 is of half 1."""
    found = served(
        machine(capacity=32, halves=2),
        (READ, 1, [0]),
        (READ, 1, [0]),
        (READ, 0, [0]),
        (WRITE, 0, [0], [0b01]),
        (WRITE, 0, [0], [0b01]),
        (READ, 1, [0]),
        (WRITE, 1, [0], [0b01]),
        (READ, 1, [0]),
        (ATOMIC, 1, [0, 0, 1], [1, 1, 1]),
    )
    crosses = {"lookups": 1, "crossings": 1}
    assert list(found) == [
        {"sectors": 1, "misses": 2, "reads": 1, "activations": 1, **crosses},
        {"sectors": 1, "hits": 1},
        {"sectors": 1, "hits": 1},
        {"sectors": 1, **crosses},
        {"sectors": 1},
        {"sectors": 1, "hits": 1, "misses": 1, **crosses},
        {"sectors": 1, **crosses},
        {"sectors": 1, "hits": 1, "misses": 1, **crosses},
        {"lookups": 1, "sectors": 3, "hits": 2, "misses": 1, "reads": 1, "crossings": 3},
    ]


def test_a_request_asks_for_the_tag_of_each_line_once():
    """Also where it has more stages: it was served in parts. Without a cache its stages count."""
    for capacity, tags in ((64, 2), (0, 4)):
        numbers = machine(capacity=capacity, tag_time=5, port_time=7).cache
        state = cache.new_state(numbers)
        cache.serve(numbers, state, 0, 0, READ, 4, [0, 1, 2, 4, 5], [0] * 5, 0, 5)
        assert state.items[cache.LOOKUPS] == tags
        assert state.free[cache.TAGS] == 5 * tags
        assert state.free[cache.RESOURCES + cache.PORT] == 7 * tags


def test_a_cluster_belongs_to_one_half():
    """Of 7 DMMs in 3 clusters; line 1 is at home in half 1, of which cluster 1 and 2 are."""
    one = machine(dmms=7, clusters=3, capacity=32, halves=2)
    found = [next(served(one, (READ, dmm, [4]))).get("crossings", 0) for dmm in range(7)]
    assert found == [1, 1, 1, 0, 0, 0, 0]
    sizes = machine(dmms=7, clusters=(1, 4, 2), capacity=32, halves=2)
    found = [next(served(sizes, (READ, dmm, [4]))).get("crossings", 0) for dmm in range(7)]
    assert found == [1, 0, 0, 0, 0, 0, 0]
    of_halves = machine(dmms=7, clusters=(1, 4, 2), half_of=(1, 0, 1), capacity=32, halves=2)
    found = [next(served(of_halves, (READ, dmm, [4]))).get("crossings", 0) for dmm in range(7)]
    assert found == [0, 1, 1, 1, 1, 0, 0]


def test_how_many_clusters_have_which_sizes():
    """DMM x of d is in cluster ⌊x · clusters / d⌋; without a number each is one."""
    for clusters, dmms, sizes in (
        (3, 7, (3, 2, 2)),
        (8, 132, (17, 16, 17, 16, 17, 16, 17, 16)),
        (None, 3, (1, 1, 1)),
        ((2, 1), 3, (2, 1)),
    ):
        one = machine(dmms=dmms, clusters=clusters)
        assert one.clusters_of(one.dmms) == sizes
        of_each = cache.cluster_of_each(sizes).tolist()
        if isinstance(clusters, int):
            assert of_each == [x * clusters // dmms for x in range(dmms)]


def test_a_dmm_asks_for_pages_that_it_does_not_know():
    """Pages of 2 lines; each DMM knows 2. The one used longest ago is forgotten."""
    found = served(
        machine(page=16, pages=2),
        (READ, 0, [0, 1, 4, 7]),
        (WRITE, 0, [8, 16], [1, 1]),
        (READ, 0, [8]),
        (ATOMIC, 0, [0], [1]),
        (READ, 0, [8]),
        (READ, 0, [16]),
        (READ, 1, [16]),
        (READ, 0, [8, 16, 24]),
        (READ, 0, [8, 16, 24]),
    )
    assert [one.get("translations", 0) for one in found] == [1, 2, 0, 1, 0, 1, 1, 1, 3]


def test_pages_that_are_asked_for_take_time():
    """Each takes 30, for all DMMs; l = 20."""
    numbers = machine(page=8, pages=1, page_time=30).cache
    state = cache.new_state(numbers)
    how = READ, 1, [0, 4], [0] * 2, 0, 2
    times = [cache.serve(numbers, state, now, dmm, *how) - 19 for now, dmm in ((0, 0), (5, 1))]
    assert times == [60, 120]
    assert cache.serve(numbers, state, 200, 0, READ, 1, [4], [0], 0, 1) - 19 == 201


def test_every_bit_of_a_line_moves_it_to_the_other_half():
    for bit in range(62):
        assert [cache.home_of(1 << bit, halves) for halves in (1, 2)] == [0, 1]
        assert cache.home_of(3 << bit, 2) == 0


def test_a_crossing_brings_what_is_around_once_for_a_line():
    """Both halves have one way. A line that makes room for a copy takes one look more."""
    found = served(
        machine(capacity=16, halves=2, fetch=2),
        (READ, 1, [0, 1, 2]),
        (READ, 0, [0]),
        (READ, 1, [12]),
    )
    assert [cache.home_of(line, 2) for line in (0, 3)] == [0, 0]
    assert list(found) == [
        {
            "lookups": 1,
            "sectors": 3,
            "misses": 8,
            "reads": 4,
            "crossings": 4,
            "activations": 1,
        },
        {"sectors": 1, "hits": 1},
        {"lookups": 2, "sectors": 1, "misses": 4, "reads": 2, "crossings": 2},
    ]


def test_each_bank_keeps_a_row_open():
    """Two channels, rows of two lines, one bank each: lines 0 2, 1 3, then 4 6, 5 7."""
    lines = [(READ, 0, [4 * line]) for line in (0, 1, 2, 3, 4, 5, 0, 6)]
    found = served(machine(channels=2, row=2), *lines)
    assert [one.get("activations", 0) for one in found] == [1, 1, 0, 0, 1, 1, 1, 1]


def test_without_a_cache_all_comes_from_memory_and_goes_there():
    found = served(machine(), (READ, 0, [0]), (READ, 0, [0]), (WRITE, 0, [0]), (ATOMIC, 0, [0]))
    assert list(found) == [
        {"sectors": 1, "misses": 1, "reads": 1, "activations": 1},
        {"sectors": 1, "misses": 1, "reads": 1},
        {"sectors": 1, "writes": 1},
        {"sectors": 1, "misses": 1, "reads": 1, "writes": 1},
    ]


def test_each_resource_serves_one_item_after_another():
    """Two requests of 2 tag requests and 3 sectors at 0 and 5; l = 20."""
    numbers = machine(capacity=64, tag_time=2, sector_time=3, memory_time=10, miss_latency=7).cache
    state = cache.new_state(numbers)
    first = cache.serve(numbers, state, 0, 0, READ, 2, [0, 1, 4], [0] * 3, 0, 3)
    again = cache.serve(numbers, state, 5, 0, READ, 2, [0, 1, 4], [0] * 3, 0, 3)
    assert (first, again) == (30 + 7 + 19, 9 + 9 + 19)
    assert state.free.tolist()[: cache.RESOURCES] == [9, 18, 0, 30, 0, 0]


def test_writes_have_their_own_time_and_fills_take_the_tags():
    """One way: each line sends the one before away. A write takes 3, a fill 50, a read 2."""
    numbers = machine(capacity=8, tag_time=2, write_time=3, fill_time=50).cache
    state = cache.new_state(numbers)
    free = []
    for kind, sector in ((WRITE, 0), (READ, 4), (WRITE, 8), (WRITE, 12)):
        cache.serve(numbers, state, state.free[cache.TAGS], 0, kind, 1, [sector], [1], 0, 1)
        free.append(int(state.free[cache.TAGS]))
    assert free == [3, 3 + 2 * 2 + 50, 57 + 3, 60 + 2 * 3 + 50]


def test_each_dmm_has_its_own_way_to_the_cache():
    """Two requests of DMM 0 and one of DMM 1, each of 2 tag requests and 3 sectors; l = 20."""
    numbers = machine(capacity=64, tag_time=1, port_time=10, wire_time=7).cache
    state = cache.new_state(numbers)
    how = READ, 2, [0, 1, 4], [0] * 3, 0, 3
    times = [cache.serve(numbers, state, 0, dmm, *how) for dmm in (0, 0, 1)]
    assert times == [21 + 19, 42 + 19, 21 + 19]
    assert state.free.tolist()[cache.RESOURCES :] == [40, 42, 20, 21, 0]


@pytest.mark.parametrize("kind", [WRITE, ATOMIC])
@pytest.mark.parametrize(
    ("own", "done"),
    [
        ({"write_port_time": 15}, [30, 60]),
        ({"write_wire_time": 11}, [33, 66]),
        ({"write_port_time": 0}, [21, 42]),
        ({"write_wire_time": 0}, [20, 40]),
        ({}, [21, 42]),
    ],
)
def test_a_write_takes_its_own_times_on_a_dmms_way(kind, own, done):
    """Each of 2 tag requests and 3 sectors, l = 20; where nothing is said, reads' times."""
    numbers = machine(capacity=64, tag_time=1, port_time=10, wire_time=7, **own).cache
    state = cache.new_state(numbers)
    how = kind, 2, [0, 1, 4], [1] * 3, 0, 3
    assert [cache.serve(numbers, state, 0, 0, *how) - 19 for _ in done] == done
    assert cache.serve(numbers, state, 0, 1, READ, *how[1:]) == 21 + 19


def test_atomics_on_lines_of_one_slice_wait_for_each_other():
    """Of 3 slices, lines 0 and 1 lie in 0 and 1, line 5 in 0: ⌊3 · 0.09⌋. l = 20."""
    slices = [cache.spread(line, 3) for line in (0, 1, 5)]
    assert slices == [0, 1, 0]
    for sets in (64, 0):
        numbers = machine(capacity=sets, slices=3, atomic_time=10).cache
        state = cache.new_state(numbers)

        def completes(kind, *sectors, numbers=numbers, state=state):
            how = kind, 1, list(sectors), [1] * len(sectors), 0, len(sectors)
            return cache.serve(numbers, state, 0, 0, *how) - 19

        # The same sector twice, another one of its line, and one of line 5 wait; line 1 doesn't.
        times = [completes(ATOMIC, *sectors) for sectors in ((0, 0), (1,), (20,), (4,), (4, 20))]
        assert times == [20, 30, 40, 10, 50]
        assert completes(READ, 0) < 10
        assert completes(WRITE, 0) < 10


def test_a_read_that_crosses_takes_longer_and_one_from_memory_longer_still():
    """A write waits for neither."""
    numbers = machine(capacity=64, halves=2, miss_latency=100, cross_latency=30).cache
    state = cache.new_state(numbers)
    requests = ((1, READ), (0, READ), (0, WRITE), (1, READ), (1, WRITE))
    times = [
        cache.serve(numbers, state, 10 * at, dmm, kind, 1, [0], [1], 0, 1) - 10 * at
        for at, (dmm, kind) in enumerate(requests)
    ]
    assert times == [2 + 100 + 19, 1 + 19, 2 + 19, 2 + 30 + 19, 2 + 19]


def test_another_array_that_was_written_fills_the_cache():
    """Of a cache of 8 lines in two halves at most half have to go to memory: the others are
    copies."""
    numbers = machine(capacity=64, ways=4, halves=2).cache
    state = cache.new_state(numbers)
    cache.write_other(numbers, state, 100)
    assert state.tags.min() >= cache.OTHER
    homes = [cache.home_of(int(line), 2) == slot // 4 for slot, line in enumerate(state.tags)]
    written = state.written.reshape(8, 4).all(axis=1)
    assert written.tolist() == homes
    assert 0 < sum(homes) < 8


KINDS = {READ: "read", WRITE: "write", ATOMIC: "atomic"}
OTHER_NAMES = {"tags": "lookups", "memory_reads": "reads", "memory_writes": "writes"}
BITS = {0b01: [0], 0b10: [1], 0b11: [0, 1]}
"""The places of a sector of 2 that a request touches."""


@pytest.mark.parametrize("seed", range(12))
def test_the_oracle_counts_the_same(seed):
    rng = np.random.RandomState(seed)
    halves, ways, sets = 1 + seed % 2, 1 + seed // 2 % 3, 1 + seed % 3
    one = machine(
        dmms=4,
        capacity=8 * halves * ways * sets,
        ways=ways,
        halves=halves,
        fetch=1 << seed % 3,
        channels=1 + seed % 2,
        banks=2,
        row=2,
    )
    requests = []
    for _ in range(300):
        sectors = np.unique(rng.randint(0, 4 * 12, rng.randint(1, 5))).tolist()
        touched = rng.randint(1, 4, len(sectors)).tolist()
        requests.append((rng.randint(3), int(rng.randint(4)), sectors, touched))
    oracle = Cache(one)
    for request, found in zip(requests, served(one, *requests), strict=True):
        kind, dmm, sectors, touched = request
        places = [2 * s + k for s, bits in zip(sectors, touched, strict=True) for k in BITS[bits]]
        _, counts = oracle.serve(0, dmm, KINDS[kind], 1, [[place] for place in places])
        counts["tags"] -= len({sector // 4 for sector in sectors})
        assert {OTHER_NAMES.get(name, name): by for name, by in counts.items() if by} == found


@pytest.mark.parametrize("sets", [0, 1, 2])
@pytest.mark.parametrize("kind", KIND)
def test_a_cache_asks_which_places_of_a_sector_are_written(sets, kind):
    numbers = SimpleNamespace(sets=sets, sector=4)
    asked = Asked.by(mm.UMM(4, 1), numbers, 1, kind, 4)
    assert asked.masked == (sets > 0 and kind != "read")
