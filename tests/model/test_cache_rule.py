"""The cache's rule against the oracle's cache, and what is fixed by number."""

from collections import defaultdict
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mmsim as mm
from mmsim.engines.cached_launch import new_state
from mmsim.model import cache
from mmsim.model.cache import ATOMIC, OF_FLOATS, OWN_READ, READ, WRITE
from mmsim.model.sectors import Asked
from tests.kit.generators.cached_machines import cached_machines
from tests.kit.generators.draws import draws
from tests.kit.oracle.cached_memory import Cache

NAMES = (
    "lookups", "sectors", "hits", "misses", "reads", "writes", "fills", "crossings", "activations",
    "translations",
)  # fmt: skip


def served(machine, *requests):
    """The counts of requests, each a kind, a DMM, sectors, and the places touched in each.

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


def test_a_line_takes_a_free_place_or_one_as_if_drawn():
    """Of three lines in two ways: the third one comes to way spread(3, 2) = 1, where line 1 is."""
    assert cache.spread(3, 2) == 1
    lines = [(READ, 0, [4 * line]) for line in (0, 1, 2, 0, 1)]
    found = list(served(machine(capacity=16, ways=2), *lines))
    assert [one.get("misses", 0) for one in found] == [1, 1, 1, 0, 1]


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


def test_every_bit_of_a_line_moves_it_to_the_other_half():
    for bit in range(62):
        assert [cache.home_of(1 << bit, halves) for halves in (1, 2)] == [0, 1]
        assert cache.home_of(3 << bit, 2) == 0


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


KINDS = {OWN_READ: "read", READ: "read", WRITE: "write", ATOMIC: "atomic", OF_FLOATS: "atomic"}
OF_ORACLE = {"lookups": "tags", "reads": "memory_reads", "writes": "memory_writes"}


def request(rng, size, kinds):
    """A request of one of some kinds: the kind, DMM, stages, sectors, places of `size` a sector."""
    kind, dmm, stages = int(rng.choice(kinds)), int(rng.randint(4)), int(rng.randint(1, 4))
    sectors = np.unique(rng.randint(0, 48, rng.randint(1, 6))).tolist()
    places = [np.flatnonzero(np.append(rng.rand(size - 1) < 0.7, 1)).tolist() for _ in sectors]
    return kind, dmm, stages, sectors, places


def compare(machine, seed, requests):
    """Serve requests, some sooner than the one before is done; the oracle must say the same."""
    rng, now = np.random.RandomState(seed), 0
    size = machine.width * (machine.bank_bytes or 1) // machine.sectors
    numbers, oracle = machine.cache, Cache(machine)
    kinds = [kind for kind in KINDS if kind != OWN_READ or (numbers.own_sets and numbers.sets)]
    state = cache.listed(new_state(numbers, machine))
    for _ in range(requests):
        kind, dmm, stages, sectors, places = request(rng, size, kinds)
        times = [int(rng.randint(1, 4)) if kind >= ATOMIC else 1 for _ in sectors]
        now += int(rng.randint(12))
        asked, listed, touched = [], [], []
        for sector, own, often in zip(sectors, places, times, strict=True):
            asked += [[sector * size + place] for place in [*own, *own[:1] * (often - 1)]]
            listed += [sector] * often
            touched += [sum(1 << place for place in own)] * often
        done = cache.serve(numbers, state, now, dmm, kind, stages, listed, touched, 0, len(listed))
        cache.add_counts(numbers, state, defaultdict(int), dmm, kind, listed, 0, len(listed))
        how = {"floats": kind == OF_FLOATS, "own": kind == OWN_READ}
        expected, counts = oracle.serve(now, dmm, KINDS[kind], stages, asked, **how)
        found = dict(zip(NAMES, state.items, strict=False))
        assert done == expected
        assert found == {name: counts[OF_ORACLE.get(name, name)] for name in NAMES}


@settings(max_examples=draws(50))
@given(machine=cached_machines(4, 8, 20, 1), seed=st.integers(0, 2**32 - 1))
def test_requests_are_counted_and_take_as_long_as_the_oracle_says(machine, seed):
    """Of machines of all kinds."""
    compare(machine, seed, 60)


@pytest.mark.parametrize("seed", range(12))
def test_many_requests_are_counted_as_the_oracle_says(seed):
    halves, ways, sets = 1 + seed % 2, 1 + seed // 2 % 3, 1 + seed % 3
    sizes = {"capacity": 8 * halves * ways * sets, "ways": ways, "halves": halves}
    memory = {"fetch": 1 << seed % 3, "channels": 1 + seed % 2, "banks": 2, "row": 2}
    compare(machine(dmms=4, **sizes, **memory), seed, 300)


@pytest.mark.parametrize("sets", [0, 1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_a_cache_asks_which_places_of_a_sector_are_written(sets, kind):
    numbers = SimpleNamespace(sets=sets, sector=4)
    asked = Asked.by(mm.UMM(4, 1), numbers, 1, kind, 4, False)
    assert asked.masked == (kind == OWN_READ or (sets > 0 and KINDS[kind] != "read"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("merged", [False, True])
def test_lanes_take_turns_at_a_sector_by_atomics_that_are_not_merged(kind, merged):
    asked = Asked.by(mm.UMM(4, 1), SimpleNamespace(sets=1, sector=4), 1, kind, 4, merged)
    assert asked.turns == (kind in (ATOMIC, OF_FLOATS) and not merged)
    assert len(asked.sectors([9, 4, 1, 4])[0]) == 3 + asked.turns


def test_each_dmm_has_a_port_of_its_own():
    """The second request of DMM 0 waits for the first one at the port, that of DMM 1 does not."""
    one = machine(port_time=10, row=16, row_time=7)
    state = cache.listed(new_state(one.cache, one))
    done = [
        cache.serve(one.cache, state, 0, dmm, READ, 1, [sector], [0], 0, 1)
        for dmm, sector in ((0, 0), (1, 1), (0, 2))
    ]
    assert done == [done[0], done[0], done[0] + 10]


def completions(machine, *requests):
    """When requests complete that DMM 0 dispatches at time 0, each a kind and sectors."""
    state = cache.listed(new_state(machine.cache, machine))
    for kind, sectors in requests:
        many = [1] * len(sectors)
        yield cache.serve(machine.cache, state, 0, 0, kind, 1, sectors, many, 0, len(sectors))
        cache.add_counts(machine.cache, state, defaultdict(int), 0, kind, sectors, 0, len(sectors))


def test_a_read_of_an_own_cache_waits_for_sectors_on_their_way_and_comes_back_line_by_line():
    """The sectors come with the first read, whose second line takes the port's 10 once more.

    The second read waits for them, and the third one for it; the last one is later, at 80 + 4.
    """
    own = {"own_capacity": 64, "own_latency": 5, "port_time": 10}
    reads = [[0, 4], [0, 4], [4], [1], [0, 4]]
    found = completions(machine(capacity=64, **own), *((OWN_READ, sectors) for sectors in reads))
    assert [*found] == [20 + 19 + 10, 49 + 10, 59, 60 + 19, 80 + 4 + 10]


def test_a_line_that_leaves_an_own_cache_takes_its_sectors_along():
    """The cache holds one line, so line 1 takes the place of line 0, in one read and after it."""
    one = machine(capacity=64, own_capacity=8, own_latency=5)
    reads = [[0, 4], [4], [0], [4]]
    found = completions(one, *((OWN_READ, sectors) for sectors in reads))
    assert [*found] == [2 + 19, 2 + 19, 4 + 19, 5 + 19]


def test_reads_of_a_line_wait_for_each_other_at_its_slice():
    """Sectors 0 to 3 are line 0: one item, also with sector 4 of line 1, in another slice."""
    one = machine(slices=8, line_time=30)
    assert cache.spread(0, 8) != cache.spread(1, 8)
    found = completions(one, (READ, [0, 1, 2, 3]), (READ, [3, 4]), (READ, [4]), (WRITE, [0]))
    assert [*found] == [30 + 19, 60 + 19, 60 + 19, 4 + 19]


def test_atomics_on_floats_take_a_time_of_their_own():
    """It is longer on the sector of the one before, but the sectors of a line take turns."""
    one = machine(slices=8, atomic_time=30, float_time=70)
    found = completions(one, (OF_FLOATS, [0, 1]), (ATOMIC, [0]), (READ, [0]))
    assert [*found] == [60 + 19, 90 + 19, 3 + 19]
    found = completions(one, (OF_FLOATS, [0, 0]), (OF_FLOATS, [0, 1]), (OF_FLOATS, [0]))
    assert [*found] == [100 + 19, 170 + 19, 200 + 19]
    found = completions(one, (OF_FLOATS, [0, 0, 0, 1]), (OF_FLOATS, [0, 0, 1, 1, 2, 2]))
    assert [*found] == [170 + 19, 350 + 19]
    default = machine(slices=8, atomic_time=30)
    assert [*completions(default, (OF_FLOATS, [0]))] == [30 + 19]


def test_the_last_of_several_lines_decides_when_a_request_completes():
    """Five lines come 0, 2, 0, 1 and 3 times 1000 later; a request waits for all of its lines."""
    one = machine(miss_latency=100, spread_latency=1000, sectors=1)
    found = completions(one, (READ, [0]), (READ, [1]), (READ, [2, 3]), (ATOMIC, [4]), (WRITE, [5]))
    assert [*found] == [119 + 1, 2119 + 2, 1119 + 3, 3119 + 4, 19 + 5]


def test_the_banks_of_words_and_of_tags_decide_what_a_hit_takes():
    """8 lines: all missing; then their words in one bank; 6 missing; then words in 8 banks.

    In the last read the tags of three lines are in bank 0.
    """
    one = machine(own_capacity=1 << 10, own_ways=16)
    assert [cache.spread(line, 4) for line in range(8)] == [0, 2, 0, 3, 1, 0, 2, 1]
    state = cache.listed(new_state(one.cache, one))
    in_one = [4 * line for line in range(8)], [1] * 8
    apart = [4 * line + line // 2 for line in range(8)], [1 + line % 2 for line in range(8)]
    found = []
    for sectors, places in (in_one, in_one, apart, apart):
        cache.serve(one.cache, state, 0, 0, OWN_READ, 1, sectors, places, 0, 8)
        found.append(state.items[cache.AT_PORT])
    assert found == [8, 8, 6, 3]


def test_near_lines_share_a_slice():
    """Without bits 0 and 2, lines 0, 1, 4 and 5 are in one slice."""
    one = machine(slices=64, near=5).cache
    slices = [cache.slice_of(one, line) for line in range(12)]
    own = [cache.spread(number, 64) for number in range(4)]
    assert slices == [own[0], own[0], own[1], own[1]] * 2 + [own[2], own[2], own[3], own[3]]
    assert len({*own}) == 4


def test_the_lines_of_an_array_spread_evenly_over_the_slices():
    one = machine(slices=78, near=37).cache
    counts = np.bincount([cache.slice_of(one, line) for line in range(3072)])
    assert len(counts) == 78
    assert counts.max() <= 1.25 * counts.mean()


def test_no_page_is_known_at_first():
    assert list(served(machine(page=8), (READ, 0, [0]), (READ, 0, [1]))) == [
        {"sectors": 1, "misses": 1, "reads": 1, "activations": 1, "translations": 1},
        {"sectors": 1, "misses": 1, "reads": 1},
    ]
