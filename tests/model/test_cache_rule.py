"""The cache's rule against small examples by hand, and a plain cache of dictionaries."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

import mmsim as mm
from mmsim.model import cache
from mmsim.model.cache import ATOMIC, READ, WRITE

NAMES = ("sectors", "hits", "misses", "reads", "writes", "fills", "crossings", "activations")


def served(machine, *requests):
    """What requests took, each a kind, a half, sectors, and the places touched in each."""
    numbers = machine.cache
    state = cache.listed(cache.new_state(numbers))
    for kind, half, sectors, *places in requests:
        touched = (places or [[0] * len(sectors)])[0]
        cache.serve(numbers, state, 0, half, kind, 1, sectors, touched, 0, len(sectors))
        yield {name: of for name, of in zip(NAMES, state.items, strict=True) if of}


def machine(**numbers):
    """Lines of 4 sectors of 2 words; rows are all one unless they matter."""
    return mm.Cached(2, 8, 20, **{"sectors": 4, "row": 1 << 20, **numbers})


def test_a_miss_fetches_and_the_next_one_hits():
    found = served(
        machine(capacity=16, ways=2, fetch=2), (READ, 0, [0]), (READ, 0, [1]), (READ, 0, [0, 2, 3])
    )
    assert list(found) == [
        {"sectors": 1, "misses": 1, "reads": 2, "activations": 1},
        {"sectors": 1, "hits": 1},
        {"sectors": 3, "hits": 2, "misses": 1, "reads": 2},
    ]


def test_the_line_used_least_recently_leaves():
    lines = [(READ, 0, [4 * line]) for line in (0, 1, 0, 2, 0, 1)]
    found = list(served(machine(capacity=16, ways=2), *lines))
    assert [one.get("misses", 0) for one in found] == [1, 1, 0, 1, 0, 1]


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
    assert list(found) == [
        {"sectors": 2},
        {"sectors": 1, "misses": 1, "reads": 2, "writes": 2, "fills": 1, "activations": 1},
        {"sectors": 1},
        {"sectors": 1},
        {"sectors": 1, "hits": 1},
        {"sectors": 1},
        {"sectors": 1, "misses": 1, "reads": 1},
        {"sectors": 1, "misses": 1, "reads": 1, "writes": 2},
    ]


def test_halves_keep_copies_until_the_other_writes():
    """Line 0 is at home in half 0."""
    found = served(
        machine(capacity=32, halves=2),
        (READ, 1, [0]),
        (READ, 1, [0]),
        (READ, 0, [0]),
        (WRITE, 0, [0], [0b01]),
        (READ, 1, [0]),
        (WRITE, 1, [0], [0b01]),
        (ATOMIC, 1, [0, 0, 1], [1, 1, 1]),
    )
    assert list(found) == [
        {"sectors": 1, "misses": 1, "reads": 1, "crossings": 1, "activations": 1},
        {"sectors": 1, "hits": 1},
        {"sectors": 1, "hits": 1},
        {"sectors": 1},
        {"sectors": 1, "hits": 1, "crossings": 1},
        {"sectors": 1, "crossings": 1},
        {"sectors": 3, "hits": 2, "misses": 1, "reads": 1, "crossings": 3},
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
    assert state.free.tolist() == [9, 18, 0, 30, 0, 0]


@dataclass
class Plain:
    """The same cache, of dictionaries: of each half and set the lines, in order of their use."""

    numbers: cache.Numbers
    sets: dict = field(default_factory=dict)
    rows: dict = field(default_factory=dict)

    def of(self, half, line):
        return self.sets.setdefault((half, cache.spread(line, self.numbers.sets)), {})

    def move(self, sector):
        line = sector // self.numbers.sectors
        row = line // self.numbers.channels // self.numbers.row
        bank = line % self.numbers.channels, cache.spread(row, self.numbers.banks)
        self.count("activations", self.rows.get(bank) != row)
        self.rows[bank] = row

    def count(self, name, by=1):
        self.items[name] = self.items.get(name, 0) + by

    def use(self, half, line):
        here = self.of(half, line)
        if line in here:
            here[line] = here.pop(line)
        return here.get(line)

    def entered(self, half, line):
        """Sectors of a line: of each whether it is whole, and the places written."""
        here = self.of(half, line)
        if line not in here:
            if len(here) == self.numbers.ways:
                oldest = next(iter(here))
                for number, (whole, written) in sorted(here.pop(oldest).items()):
                    sector = oldest * self.numbers.sectors + number
                    if written and not whole:
                        self.count("fills")
                        self.count("reads")
                        self.move(sector)
                    if written:
                        self.count("writes")
                        self.move(sector)
            here[line] = {}
        return here[line]

    def looked_up(self, home, line, number):
        sectors = self.use(home, line)
        if sectors and sectors.get(number, (False, 0))[0]:
            self.count("hits")
            return sectors
        self.count("misses")
        sectors = self.entered(home, line)
        first = number // self.numbers.fetch * self.numbers.fetch
        for one in range(first, first + self.numbers.fetch):
            whole, written = sectors.get(one, (False, 0))
            if not whole:
                self.count("reads")
                self.move(line * self.numbers.sectors + one)
            sectors[one] = True, written
        return sectors

    def serve(self, kind, half, sector, places):
        line, number = divmod(sector, self.numbers.sectors)
        home = line.bit_count() % 2 if self.numbers.halves == 2 else 0
        self.count("sectors")
        if kind == READ:
            if half == home:
                self.looked_up(home, line, number)
                return
            own = self.use(half, line)
            if own and own.get(number, (False, 0))[0]:
                self.count("hits")
                return
            self.count("crossings")
            self.looked_up(home, line, number)
            self.entered(half, line)[number] = True, 0
            return
        self.count("crossings", half != home)
        if self.numbers.halves == 2 and (copy := self.use(1 - home, line)) is not None:
            copy.pop(number, None)
        if kind == ATOMIC:
            sectors = self.looked_up(home, line, number)
        else:
            self.use(home, line)
            sectors = self.entered(home, line)
        whole, written = sectors.get(number, (False, 0))
        written |= places
        sectors[number] = whole or written == (1 << self.numbers.sector) - 1, written


@pytest.mark.parametrize("seed", range(12))
def test_a_plain_cache_counts_the_same(seed):
    rng = np.random.RandomState(seed)
    halves, ways, sets = 1 + seed % 2, 1 + seed // 2 % 3, 1 + seed % 3
    one = machine(
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
        requests.append((rng.randint(3), rng.randint(halves), sectors, touched))
    plain = Plain(one.cache)
    for (kind, half, sectors, touched), found in zip(requests, served(one, *requests), strict=True):
        plain.items = {}
        for sector, places in zip(sectors, touched, strict=True):
            plain.serve(kind, half, sector, places)
        assert {name: by for name, by in plain.items.items() if by} == found
