"""The global memory of `mm.Cached`: its sectors, its cache, its rates (docs/machines.md).

An address group is a *line* of the cache and consists of `sectors` sectors. Places are words, or
bytes where banks have bytes. `serve` is the whole rule: what a dispatched request does to the
cache, and when it completes. The functions below run as they stand, on lists, for the event
engine, or compiled by Numba, on arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mmsim.errors import MachineError

READ, WRITE, ATOMIC = range(3)
"""The kinds of requests."""
KIND = {"read": READ, "write": WRITE, "atomic": ATOMIC}

SECTORS, HITS, MISSES, READS, WRITES, FILLS, CROSSINGS, ACTIVATIONS = range(8)
"""What is counted of the requests of an access, see `mmsim.results.cache.CacheRow`."""
COUNTS = 8
TAGS, DATA, CROSS, MEMORY, FILL, ROW = range(6)
"""The resources, each a pipeline; `free` says from when on."""
RESOURCES = 6
BITS = 8
"""Those of the narrowest type."""
MASKED = 32
"""The places that a sector of a cache may have."""


class Numbers(NamedTuple):
    """What the rule says about one machine, see `mmsim.Cached`."""

    sectors: int
    sector: int
    latency: int
    tag_time: int
    sector_time: int
    cross_time: int
    memory_time: int
    fill_time: int
    row_time: int
    miss_latency: int
    halves: int
    sets: int
    ways: int
    fetch: int
    channels: int
    banks: int
    row: int

    @property
    def plain(self) -> bool:
        """Whether tag requests alone take time, a time unit each: the rule of address groups."""
        others = self.sector_time + self.cross_time + self.memory_time + self.fill_time
        return self.tag_time == 1 and others + self.row_time + self.miss_latency == 0


class State(NamedTuple):
    """What the cache holds and how far its resources are: arrays for Numba, lists for Python.

    Slot w + ways (s + sets h) is way w of set s of half h.
    """

    tags: Any
    """The line in each slot, -1 for none."""
    used: Any
    """When each slot was last used, by `clock`."""
    valid: Any
    """Of each slot a bit for each sector that is there as a whole."""
    written: Any
    """Of each sector of each slot a bit for each place that memory doesn't know."""
    rows: Any
    """The open row of each bank of each channel, -1 for none."""
    free: Any
    """From when on each resource is free."""
    clock: Any
    """One number: how often slots have been used."""
    items: Any
    """What the request that is served has taken so far, see `COUNTS`."""


def check_cache(line: int, sectors: int, capacity: int, ways: int, halves: int, fetch: int) -> None:
    """Refuse a line of so many places that can't be cut into sectors, and a cache without sets."""
    if line % sectors:
        raise MachineError(
            f"sectors={sectors}, but an address group of {line} words or bytes can't be cut into "
            "so many"
        )
    if sectors % fetch:
        raise MachineError(
            f"fetch={fetch}, but a miss fetches a part of the {sectors} sectors of a line"
        )
    if halves > 2:
        raise MachineError(f"halves={halves}, but a cache has 1 or 2 halves")
    if capacity == 0:
        return
    if capacity % (line * ways * halves):
        raise MachineError(
            f"capacity={capacity}, but a cache of {halves} halves, {ways} ways and lines of {line} "
            f"words or bytes holds a multiple of {halves * ways * line}"
        )
    if line // sectors > MASKED or sectors > MASKED:
        raise MachineError(
            f"sectors={sectors}, but a cache has at most {MASKED} sectors in a line of {line} "
            f"words or bytes, and at most {MASKED} of these in a sector"
        )


def new_state(numbers: Numbers, sectors: int = 1 << 62) -> State:
    """An empty cache at time 0, in arrays.

    If fewer `sectors` are there and are asked for, and they are small, narrow types hold them.
    """
    slots = numbers.halves * numbers.sets * numbers.ways
    narrow = sectors < 1 << 29 and numbers.sectors <= BITS and numbers.sector <= BITS
    return State(
        np.full(slots, -1, np.int32 if narrow else np.int64),
        np.zeros(slots, np.uint32 if narrow else np.int64),
        np.zeros(slots, np.uint8 if narrow else np.int64),
        np.zeros(slots * numbers.sectors, np.uint8 if narrow else np.uint32),
        np.full(numbers.channels * numbers.banks, -1, np.int64),
        np.zeros(RESOURCES, np.int64),
        np.zeros(1, np.int64),
        np.zeros(COUNTS, np.int64),
    )


def listed(state: State) -> State:
    """A state as lists, which Python is faster with."""
    return State._make(part.tolist() for part in state)


def numbers_bytes(numbers: Numbers) -> int:
    """Bytes that the state takes."""
    slots = numbers.halves * numbers.sets * numbers.ways
    return slots * (3 * 8 + 4 * numbers.sectors) + 8 * numbers.channels * numbers.banks


def quotient(number: int, by: int) -> int:
    """The quotient of a number from 0 on; compiled it is quick, see `cached_time`."""
    return number // by


def spread(number: int, places: int) -> int:
    """The place of a number among so many: multiplied by 2^32 / golden ratio, the high bits.

    >>> [spread(line, 8) for line in range(8)]
    [0, 4, 1, 6, 3, 0, 5, 2]
    """
    return ((number * 0x9E3779B1 & 0xFFFFFFFF) * places) >> 32


def home_of(line: int, halves: int) -> int:
    """The home half of a line: whether its number has an odd number of ones.

    >>> [home_of(line, 2) for line in range(8)]
    [0, 1, 1, 0, 1, 0, 0, 1]
    """
    if halves == 1:
        return 0
    line ^= line >> 32
    line ^= line >> 16
    line ^= line >> 8
    line ^= line >> 4
    line ^= line >> 2
    return (line ^ line >> 1) & 1


def slot_of(tags: Any, first: int, ways: int, line: int) -> int:
    """The first slot of a set that has a line, or -1; compiled it is quick, see `cached_time`.

    >>> slot_of([7, 9, 5, 9], 1, 3, 9), slot_of([7, 9, 5, 9], 1, 3, 7)
    (1, -1)
    """
    for slot in range(first, first + ways):
        if tags[slot] == line:
            return slot
    return -1


def find(numbers: Numbers, state: State, half: int, line: int) -> int:
    """The slot of a half in which a line is, which thereby is used; -1 if it isn't there."""
    first = (half * numbers.sets + spread(line, numbers.sets)) * numbers.ways
    slot = slot_of(state.tags, first, numbers.ways, line)
    if slot >= 0:
        state.clock[0] += 1
        state.used[slot] = state.clock[0]
    return slot


def to_memory(numbers: Numbers, state: State, sector: int) -> None:
    """A sector is moved from or to memory: its row is opened, unless it is open."""
    line = quotient(sector, numbers.sectors)
    of_channel = quotient(line, numbers.channels)
    channel = line - of_channel * numbers.channels
    row = quotient(of_channel, numbers.row)
    bank = channel * numbers.banks + spread(row, numbers.banks)
    if state.rows[bank] != row:
        state.rows[bank] = row
        state.items[ACTIVATIONS] += 1


def evict(numbers: Numbers, state: State, slot: int) -> None:
    """Write to memory what it doesn't know of a line; sectors written in part are filled first."""
    sectors = numbers.sectors
    full = (1 << numbers.sector) - 1
    for sector in range(sectors):
        written = state.written[slot * sectors + sector]
        if written == 0:
            continue
        number = state.tags[slot] * sectors + sector
        if written != full and state.valid[slot] >> sector & 1 == 0:
            state.items[FILLS] += 1
            state.items[READS] += 1
            to_memory(numbers, state, number)
        state.items[WRITES] += 1
        to_memory(numbers, state, number)
        state.written[slot * sectors + sector] = 0


def enter(numbers: Numbers, state: State, half: int, line: int) -> int:
    """The slot of a line that wasn't there: the first free one of its set, or the oldest."""
    first = (half * numbers.sets + spread(line, numbers.sets)) * numbers.ways
    oldest = first
    for slot in range(first, first + numbers.ways):
        if state.used[slot] < state.used[oldest]:
            oldest = slot
    if state.tags[oldest] >= 0:
        evict(numbers, state, oldest)
    state.tags[oldest] = line
    state.valid[oldest] = 0
    state.clock[0] += 1
    state.used[oldest] = state.clock[0]
    return oldest


def fetch(numbers: Numbers, state: State, slot: int, sector: int) -> None:
    """Fill the sectors around one that aren't there as a whole: `fetch` of them, aligned."""
    first = sector - sector % numbers.fetch
    for one in range(first, first + numbers.fetch):
        if state.valid[slot] >> one & 1 == 0:
            state.items[READS] += 1
            to_memory(numbers, state, state.tags[slot] * numbers.sectors + one)
            state.valid[slot] |= 1 << one


def look_up(numbers: Numbers, state: State, home: int, line: int, sector: int) -> int:
    """Count a hit or a miss of a sector in its home; after it, it is there, in this slot."""
    slot = find(numbers, state, home, line)
    if slot >= 0 and state.valid[slot] >> sector & 1:
        state.items[HITS] += 1
        return slot
    state.items[MISSES] += 1
    if slot < 0:
        slot = enter(numbers, state, home, line)
    fetch(numbers, state, slot, sector)
    return slot


def read(numbers: Numbers, state: State, half: int, line: int, sector: int) -> None:
    """A DMM of a half reads a sector: from its own half, from the home half, or from memory."""
    home = home_of(line, numbers.halves)
    if half == home:
        look_up(numbers, state, home, line, sector)
        return
    slot = find(numbers, state, half, line)
    if slot >= 0 and state.valid[slot] >> sector & 1:
        state.items[HITS] += 1
        return
    state.items[CROSSINGS] += 1
    look_up(numbers, state, home, line, sector)
    if slot < 0:
        slot = enter(numbers, state, half, line)
    state.valid[slot] |= 1 << sector


def write(
    numbers: Numbers, state: State, half: int, line: int, sector: int, places: int, atomic: bool
) -> None:
    """A DMM of a half writes places of a sector, in its home half; an atomic reads it first."""
    home = home_of(line, numbers.halves)
    if half != home:
        state.items[CROSSINGS] += 1
    if numbers.halves > 1:
        copy = find(numbers, state, 1 - home, line)
        if copy >= 0:
            state.valid[copy] &= ~(1 << sector)
    if atomic:
        slot = look_up(numbers, state, home, line, sector)
    else:
        slot = find(numbers, state, home, line)
        if slot < 0:
            slot = enter(numbers, state, home, line)
    written = places | (state.written[slot * numbers.sectors + sector] + 0)  # 64 bits, compiled
    state.written[slot * numbers.sectors + sector] = written
    if written == (1 << numbers.sector) - 1:
        state.valid[slot] |= 1 << sector


def uncached(numbers: Numbers, state: State, kind: int, sector: int) -> None:
    """Without a cache each sector comes from memory, or goes there."""
    if kind != WRITE:
        state.items[MISSES] += 1
        state.items[READS] += 1
        to_memory(numbers, state, sector)
    if kind != READ:
        state.items[WRITES] += 1
        to_memory(numbers, state, sector)


def passed(state: State, resource: int, now: int, items: int, each: int) -> int:
    """When items of a request that was dispatched now have passed a resource."""
    if items == 0:
        return now
    done = max(now, state.free[resource]) + items * each
    state.free[resource] = done
    return done  # type: ignore[no-any-return]


def serve(
    numbers: Numbers,
    state: State,
    now: int,
    half: int,
    kind: int,
    stages: int,
    sectors: Any,
    places: Any,
    first: int,
    last: int,
) -> int:
    """A request is dispatched now; when it completes. `state.items` say what it took.

    It has so many tag requests, its `stages`, and asks for ``sectors[first:last]``; a write or an
    atomic touches ``places[first:last]`` of them, a bit for each place of a sector.
    """
    items = state.items
    for one in range(COUNTS):
        items[one] = 0
    items[SECTORS] = last - first
    for at in range(first, last):
        number = sectors[at]
        if numbers.sets == 0:
            uncached(numbers, state, kind, number)
            continue
        line = quotient(number, numbers.sectors)
        sector = number - line * numbers.sectors
        if kind == READ:
            read(numbers, state, half, line, sector)
        else:
            write(numbers, state, half, line, sector, places[at] + 0, kind == ATOMIC)
    moved = items[READS] + items[WRITES]
    done = passed(state, TAGS, now, stages, numbers.tag_time)
    done = max(done, passed(state, DATA, now, items[SECTORS], numbers.sector_time))
    done = max(done, passed(state, CROSS, now, items[CROSSINGS], numbers.cross_time))
    done = max(done, passed(state, MEMORY, now, moved, numbers.memory_time))
    done = max(done, passed(state, FILL, now, items[FILLS], numbers.fill_time))
    done = max(done, passed(state, ROW, now, items[ACTIVATIONS], numbers.row_time))
    if items[MISSES] > 0:
        done += numbers.miss_latency
    return done + numbers.latency - 1


PARTS = (
    spread,
    home_of,
    find,
    to_memory,
    evict,
    enter,
    fetch,
    look_up,
    read,
    write,
    uncached,
    passed,
    serve,
)
"""All functions of the rule but `quotient` and `slot_of`; each comes after those that it calls."""
