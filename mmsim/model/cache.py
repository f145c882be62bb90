"""The global memory of `mm.Cached`: its sectors, its cache, its rates (docs/machines.md).

An address group is a *line* of the cache and consists of `sectors` sectors. Places are words, or
bytes where banks have bytes. `serve` is the whole rule: how a dispatched request changes the cache,
and when it completes. The functions below run unchanged on lists, for the event engine, and
compiled by Numba on arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

OWN_READ, READ, WRITE, ATOMIC, OF_FLOATS = range(-1, 4)
"""The kinds of requests: the first looks in its DMM's own cache first, the last is of floats."""
KIND = {"read": READ, "write": WRITE, "atomic": ATOMIC}

LOOKUPS, SECTORS, HITS, MISSES, READS, WRITES = range(6)
FILLS, CROSSINGS, ACTIVATIONS, TRANSLATIONS = range(6, 10)
"""The counters of an access, see `mmsim.results.cache.CacheRow`.

Counters of each slice and of each DMM's resources may follow, see `counters`.
"""
COUNTS = 10
ASKED, AT_PORT, EARLIER = range(COUNTS, COUNTS + 3)
"""The items after the counters: the request's lines, without a cache its stages; its items at its
DMM's port; when the last earlier read of one of its sectors in its DMM's own cache completes."""
ITEMS = COUNTS + 3
TAGS, DATA, CROSS, MEMORY, ROW, PAGE = range(6)
"""The resources that all DMMs share, each a pipeline; `free` gives the time when each is free."""
RESOURCES = 6
PORT, WIRE = range(2)
"""The resources of each DMM, for its tag requests and for its sectors."""
OF_A_DMM = 2
OF_TAGS = 4
"""The banks of the tags of a DMM's own cache."""
OTHER = 1 << 26
"""The first line of another array, for `write_other`; no array of a launch lies there."""
MOST_SECTORS = 1 << 12
"""The most sectors of a read of its own cache first."""
BITS = 8
"""The bits of the narrowest type."""
MASKED = 32
"""The most places of a sector of a cache."""


class Numbers(NamedTuple):
    """The numbers of one machine, see `mmsim.Cached`."""

    sectors: int
    sector: int
    word: int
    latency: int
    tag_time: int
    write_time: int
    sector_time: int
    cross_time: int
    memory_time: int
    fill_time: int
    row_time: int
    miss_latency: int
    spread_latency: int
    cross_latency: int
    port_time: int
    wire_time: int
    write_port_time: int
    write_wire_time: int
    atomic_time: int
    float_time: int
    line_time: int
    page_time: int
    dmms: int
    halves: int
    sets: int
    ways: int
    own_sets: int
    own_ways: int
    own_latency: int
    fetch: int
    channels: int
    banks: int
    row: int
    slices: int
    near: int
    page: int
    pages: int

    @property
    def plain(self) -> bool:
        """Return whether only tag requests take time, one unit each: the rule of address groups."""
        ways = ("_time", "_latency")
        times = {name: number for name, number in self._asdict().items() if name.endswith(ways)}
        taken = sum(times.values()) - self.own_latency
        return self.tag_time == self.write_time == 1 and taken == 2 and self.own_sets == 0


class State(NamedTuple):
    """The contents of the cache and the state of its resources: arrays (Numba), lists (Python).

    Slot w + ways (s + sets h) is way w of set s of half h.
    """

    tags: Any
    """The line in each slot, -1 for none."""
    valid: Any
    """For each slot a bit for each sector that is there as a whole."""
    written: Any
    """For each sector of each slot a bit for each place that memory hasn't got yet."""
    rows: Any
    """The open row of each bank of each channel, -1 for none."""
    own_tags: Any
    """The line in each slot of the DMMs' own caches, -1 for none."""
    own_done: Any
    """For each sector of each of these slots when its last read completes, 0 if it isn't there."""
    there: Any
    """For each sector of a read its place in its DMM's own cache, -1 less that place if that had it
    already; then the lines entered."""
    known: Any
    """For each DMM the pages that it knows, the one used last first; -1 for none."""
    clusters: Any
    """The cluster of each DMM."""
    half: Any
    """The half of each cluster."""
    free: Any
    """The time when each resource is free: those of all DMMs, those of each DMM, the slices."""
    entered: Any
    """The number of lines entered so far; the line that made room for the last one, or -1; the
    number of lines that requests have waited for."""
    items: Any
    """The costs so far of the request that is served, see `COUNTS` and `ASKED`."""
    latest: Any
    """For each slice the sector of its last atomic on floats, -1 for none."""
    words: Any
    """For each bank of a DMM's own cache the lines, then the words, of the last read there."""


def cluster_of_each(sizes: Sequence[int]) -> npt.NDArray[np.int64]:
    """Return the cluster of each DMM, from the sizes of the clusters.

    >>> cluster_of_each([2, 1]).tolist()
    [0, 0, 1]
    """
    return np.repeat(np.arange(len(sizes)), sizes)


def new_state(
    numbers: Numbers,
    sizes: Sequence[int] = (),
    half_of: Sequence[int] = (),
    sectors: int = 1 << 62,
) -> State:
    """Return an empty cache at time 0, in arrays; without sizes, each DMM is a cluster.

    The default half of a cluster is that of its number. `sectors` bounds the number of
    requested sectors and their numbers. If it and the sectors are small, narrow types hold them.
    """
    sizes = sizes or (1,) * numbers.dmms
    slots = numbers.halves * numbers.sets * numbers.ways
    narrow = are_narrow(numbers, sectors)
    return State(
        np.full(slots, -1, np.int32 if narrow else np.int64),
        np.zeros(slots, np.uint8 if narrow else np.int64),
        np.zeros(slots * numbers.sectors, np.uint8 if narrow else np.uint32),
        np.full(numbers.channels * numbers.banks, -1, np.int64),
        np.full(own_slots(numbers), -1, np.int64),
        np.zeros(own_slots(numbers) * numbers.sectors, np.int64),
        np.zeros(MOST_SECTORS + 1 if own_slots(numbers) else 1, np.int64),
        np.full(numbers.dmms * known(numbers), -1, np.int64),
        cluster_of_each(sizes),
        np.array(_halves(numbers, sizes, half_of), np.int64),
        np.zeros(RESOURCES + OF_A_DMM * numbers.dmms + numbers.slices, np.int64),
        np.zeros(3, np.int64),
        np.zeros(ITEMS, np.int64),
        np.full(numbers.slices, -1, np.int64),
        np.zeros(banks_of_own(numbers), np.int64),
    )


def are_narrow(numbers: Numbers, sectors: int) -> bool:
    """Return whether narrow types hold a cache, for a bound as in `new_state`."""
    return sectors < 1 << 29 and numbers.sectors <= BITS and numbers.sector <= BITS


def narrowed(state: State) -> State:
    """A state in arrays of the narrow types, if all its lines have been written as a whole.

    A sector that is there as a whole stays so until its line leaves. Which places of it have been
    written doesn't matter then.
    """
    return state._replace(
        tags=state.tags.astype(np.int32),
        valid=state.valid.astype(np.uint8),
        written=np.minimum(state.written, (1 << BITS) - 1).astype(np.uint8),
    )


def widened(state: State) -> State:
    """A state in arrays of the wide types."""
    return state._replace(
        tags=state.tags.astype(np.int64),
        valid=state.valid.astype(np.int64),
        written=state.written.astype(np.uint32),
    )


def own_slots(numbers: Numbers) -> int:
    """The lines of all DMMs' own caches together."""
    return numbers.dmms * numbers.own_sets * numbers.own_ways


def _halves(numbers: Numbers, sizes: Sequence[int], half_of: Sequence[int]) -> list[int]:
    """Return the half of each cluster."""
    if half_of:
        return [*half_of[: len(sizes)]]
    return [home_of(one, numbers.halves) for one in range(len(sizes))]


class Sparse(dict[int, int]):
    """Numbers that keep only the items that were set; all others have the same value.

    >>> numbers = Sparse(-1)
    >>> numbers[10**9] += 3
    >>> numbers[10**9], numbers[5], len(numbers)
    (2, -1, 1)
    """

    def __init__(self, usual: int) -> None:
        self.usual = usual

    def __missing__(self, _: int) -> int:
        return self.usual


def sparse_state(numbers: Numbers, sizes: Sequence[int], half_of: Sequence[int] = ()) -> State:
    """As `new_state`, for a cache of any size: memory grows only with use."""
    return State(
        tags=Sparse(-1),
        valid=Sparse(0),
        written=Sparse(0),
        rows=Sparse(-1),
        own_tags=Sparse(-1),
        own_done=Sparse(0),
        there=Sparse(0),
        known=Sparse(-1),
        clusters=cluster_of_each(sizes).tolist(),
        half=_halves(numbers, sizes, half_of),
        free=Sparse(0),
        entered=[0, 0, 0],
        items=[0] * ITEMS,
        latest=Sparse(-1),
        words=Sparse(0),
    )


def listed(state: State) -> State:
    """Return a state as lists, which are faster in Python."""
    return State._make(part.tolist() for part in state)


def banks_of_own(numbers: Numbers) -> int:
    """The banks of a DMM's own cache, each with one word of a line, or at least those of its tags.

    Without such a cache there are none.
    """
    if numbers.own_sets == 0:
        return 0
    return max(OF_TAGS, quotient(numbers.sectors * numbers.sector, numbers.word))


def known(numbers: Numbers) -> int:
    """The number of pages that a DMM remembers."""
    return numbers.pages if numbers.page else 0


def numbers_bytes(numbers: Numbers) -> int:
    """The bytes of the state."""
    slots = numbers.halves * numbers.sets * numbers.ways
    of_slots = slots * (2 * 8 + 4 * numbers.sectors)
    of_slots += (1 + numbers.sectors) * 8 * own_slots(numbers)
    resources = RESOURCES + (OF_A_DMM + 2 + known(numbers)) * numbers.dmms + 2 * numbers.slices
    resources += banks_of_own(numbers)
    return of_slots + 8 * (numbers.channels * numbers.banks + resources)


def quotient(number: int, by: int) -> int:
    """The quotient of a number from 0 on; `cached_time` compiles it to fast code."""
    return number // by


def spread(number: int, places: int) -> int:
    """A number's place among `places`: multiplied by 2^32 / golden ratio, the high bits.

    >>> [spread(line, 8) for line in range(8)]
    [0, 4, 1, 6, 3, 0, 5, 2]
    """
    return ((number * 0x9E3779B1 & 0xFFFFFFFF) * places) >> 32


def slice_of(numbers: Numbers, line: int) -> int:
    """The slice of a line. The bits that don't count are taken out, so that lines spread evenly."""
    near = numbers.near
    while near > 0:
        low = (near & -near) - 1
        line = (line & low) | (line >> 1 & ~low)
        near = (near & ~(low + 1)) >> 1
    return spread(line, numbers.slices)


def home_of(number: int, halves: int) -> int:
    """The home half of a line, or the half of a cluster: 1 if its number of ones is odd.

    >>> [home_of(line, 2) for line in range(8)]
    [0, 1, 1, 0, 1, 0, 0, 1]
    """
    if halves == 1:
        return 0
    number ^= number >> 32
    number ^= number >> 16
    number ^= number >> 8
    number ^= number >> 4
    number ^= number >> 2
    return (number ^ number >> 1) & 1


def slot_of(tags: Any, first: int, ways: int, line: int) -> int:
    """The first slot of a set that holds a line, or -1; `cached_time` compiles it to fast code.

    >>> slot_of([7, 9, 5, 9], 1, 3, 9), slot_of([7, 9, 5, 9], 1, 3, 7)
    (1, -1)
    """
    for slot in range(first, first + min(ways, len(tags) + 1)):  # a sparse set is short
        if tags[slot] == line:
            return slot
    return -1


def find(numbers: Numbers, state: State, half: int, line: int) -> int:
    """The slot of a half that holds a line; -1 if there is none."""
    first = (half * numbers.sets + spread(line, numbers.sets)) * numbers.ways
    return slot_of(state.tags, first, numbers.ways, line)


def to_memory(numbers: Numbers, state: State, sector: int) -> None:
    """Open the row of a sector that is moved from or to memory, unless it is open."""
    line = quotient(sector, numbers.sectors)
    of_channel = quotient(line, numbers.channels)
    channel = line - of_channel * numbers.channels
    row = quotient(of_channel, numbers.row)
    bank = channel * numbers.banks + spread(row, numbers.banks)
    if state.rows[bank] != row:
        state.rows[bank] = row
        state.items[ACTIVATIONS] += 1


def evict(numbers: Numbers, state: State, slot: int) -> None:
    """Write a line's new places to memory; partly written sectors are filled first."""
    sectors = numbers.sectors
    full = (1 << numbers.sector) - 1
    for sector in range(sectors):
        written = state.written[slot * sectors + sector]
        if written == 0:
            continue
        number = state.tags[slot] * sectors + sector
        if written != full and state.valid[slot] >> sector & 1 == 0:
            state.items[FILLS] += 1
            state.items[LOOKUPS] += 1
            state.items[READS] += 1
            to_memory(numbers, state, number)
        state.items[WRITES] += 1
        to_memory(numbers, state, number)
        state.written[slot * sectors + sector] = 0


def enter(numbers: Numbers, state: State, half: int, line: int) -> int:
    """Enter a new line and return its slot: the first free one of its set, or one as if drawn."""
    first = (half * numbers.sets + spread(line, numbers.sets)) * numbers.ways
    state.entered[0] += 1
    chosen = slot_of(state.tags, first, numbers.ways, -1)
    if chosen < 0:
        chosen = first + spread(state.entered[0], numbers.ways)
    state.entered[1] = state.tags[chosen]
    if state.tags[chosen] >= 0:
        evict(numbers, state, chosen)
    state.tags[chosen] = line
    state.valid[chosen] = 0
    return chosen


def fetch(numbers: Numbers, state: State, slot: int, sector: int) -> None:
    """Bring the missing sectors of the aligned group of `fetch` sectors around one sector."""
    first = sector - sector % numbers.fetch
    for one in range(first, first + numbers.fetch):
        if state.valid[slot] >> one & 1 == 0:
            state.items[MISSES] += 1
            state.items[READS] += 1
            to_memory(numbers, state, state.tags[slot] * numbers.sectors + one)
            state.valid[slot] |= 1 << one


def look_up(numbers: Numbers, state: State, home: int, line: int, sector: int) -> bool:
    """Look for a sector in its home, and bring it there; return whether it was there."""
    slot = find(numbers, state, home, line)
    if slot >= 0 and state.valid[slot] >> sector & 1:
        state.items[HITS] += 1
        return True
    if slot < 0:
        slot = enter(numbers, state, home, line)
    fetch(numbers, state, slot, sector)
    return False


def enter_copy(numbers: Numbers, state: State, half: int, line: int) -> int:
    """Enter a new line in the half that isn't its home; making room takes a tag request."""
    slot = enter(numbers, state, half, line)
    if state.entered[1] >= 0:
        state.items[LOOKUPS] += 1
    return slot


def read(numbers: Numbers, state: State, half: int, line: int, sector: int, crossed: bool) -> bool:
    """Read a sector for a DMM of a half: from its own half, the home half, or memory.

    `crossed` says whether the request has already crossed for the line. Returns whether the sectors
    around this one have been brought.
    """
    home = home_of(line, numbers.halves)
    if half == home:
        return not look_up(numbers, state, home, line, sector)
    slot = find(numbers, state, half, line)
    if slot >= 0 and state.valid[slot] >> sector & 1:
        state.items[HITS] += 1
        return False
    if not crossed:
        state.items[LOOKUPS] += 1
    if slot < 0:
        slot = enter_copy(numbers, state, half, line)
    first = sector - sector % numbers.fetch
    brought = False
    for one in range(first, first + numbers.fetch):
        if state.valid[slot] >> one & 1 == 0:
            state.valid[slot] |= 1 << one
            state.items[CROSSINGS] += 1
            state.items[MISSES] += 1
            if not brought:
                brought = not look_up(numbers, state, home, line, one)
    return True


def store(numbers: Numbers, state: State, home: int, line: int, sector: int, places: int) -> None:
    """Write places of a sector in its home; memory doesn't get them yet."""
    slot = find(numbers, state, home, line)
    if slot < 0:
        slot = enter(numbers, state, home, line)
    written = places | (state.written[slot * numbers.sectors + sector] + 0)  # 64 bits, compiled
    state.written[slot * numbers.sectors + sector] = written
    if written == (1 << numbers.sector) - 1:
        state.valid[slot] |= 1 << sector


def write(
    numbers: Numbers,
    state: State,
    half: int,
    line: int,
    sector: int,
    places: int,
    crossed: bool,
) -> None:
    """Write places of a sector for a DMM of a half: they pass its half, and stay in the home.

    The DMM's half notes the line, and drops it when a DMM of the home half writes to the line.
    """
    home = home_of(line, numbers.halves)
    if half != home:
        state.items[CROSSINGS] += 1
        copy = find(numbers, state, half, line)
        if not crossed:
            state.items[LOOKUPS] += 1
        if copy < 0:
            copy = enter_copy(numbers, state, half, line)
        state.valid[copy] &= ~(1 << sector)
    elif numbers.halves > 1:
        copy = find(numbers, state, 1 - home, line)
        if copy >= 0:
            state.items[CROSSINGS] += 1
            state.items[LOOKUPS] += 1
            state.tags[copy] = -1
    store(numbers, state, home, line, sector, places)


def update(
    numbers: Numbers,
    state: State,
    half: int,
    line: int,
    sector: int,
    places: int,
    crossed: bool,
) -> None:
    """Update places of a sector by an atomic of a DMM of a half; the home brings the sector."""
    home = home_of(line, numbers.halves)
    if half != home:
        state.items[CROSSINGS] += 1
        if not crossed:
            state.items[LOOKUPS] += 1
    if numbers.halves > 1:
        copy = find(numbers, state, 1 - home, line)
        if copy >= 0:
            state.valid[copy] &= ~(1 << sector)
    look_up(numbers, state, home, line, sector)
    store(numbers, state, home, line, sector, places)


def uncached(numbers: Numbers, state: State, kind: int, sector: int) -> None:
    """Move a sector from or to memory, for a machine without a cache."""
    if kind != WRITE:
        state.items[MISSES] += 1
        state.items[READS] += 1
        to_memory(numbers, state, sector)
    if kind != READ:
        state.items[WRITES] += 1
        to_memory(numbers, state, sector)


def translate(numbers: Numbers, state: State, dmm: int, page: int) -> None:
    """Look up a page for a DMM, unless known; the DMM forgets the page used longest ago."""
    first = dmm * numbers.pages
    end = first + numbers.pages
    at = first
    while at < end and state.known[at] != page and state.known[at] >= 0:
        at += 1
    if at == end or state.known[at] < 0:
        if at == end:
            at -= 1
        state.items[TRANSLATIONS] += 1
    while at > first:
        state.known[at] = state.known[at - 1]
        at -= 1
    state.known[first] = page


def lateness(state: State) -> int:
    """The lateness of the next line from memory, as if drawn: half of the lines are late at all.

    >>> state = sparse_state(Numbers(*[1] * len(Numbers._fields)), [1])
    >>> [lateness(state) for line in range(10)]
    [0, 2, 0, 1, 3, 0, 1, 0, 0, 2]
    """
    state.entered[2] += 1
    last = 1 << 31
    number = state.entered[2] * 0x9E3779B1 & 0xFFFFFFFF
    late = 0
    while number < last:
        last >>= 1
        late += 1
    return late


def passed(state: State, resource: int, now: int, items: int, each: int) -> int:
    """The time when the items of a request dispatched now have passed a resource."""
    if items == 0:
        return now
    done = max(now, state.free[resource]) + items * each
    state.free[resource] = done
    return done  # type: ignore[no-any-return]


def most_of_a_bank(
    numbers: Numbers, state: State, sectors: Any, places: Any, first: int, last: int
) -> int:
    """The most words of a read in one bank of its DMM's own cache."""
    banks = quotient(numbers.sectors * numbers.sector, numbers.word)
    each = (1 << numbers.word) - 1
    most = 0
    for step in range(1, -2, -2):  # counts the words, then takes them out again
        before = -1
        for at in range(first, last):
            touched = places[at] + 0  # 64 bits, compiled
            word = quotient(sectors[at] * numbers.sector, numbers.word)
            while touched > 0:
                if touched & each and word != before:
                    before = word
                    bank = word - quotient(word, banks) * banks
                    state.words[bank] += step
                    most = max(most, state.words[bank])
                touched >>= numbers.word
                word += 1
    return most


def look_own(
    numbers: Numbers,
    state: State,
    now: int,
    dmm: int,
    sectors: Any,
    places: Any,
    first: int,
    last: int,
) -> int:
    """Look for the sectors of a read in its DMM's own cache, which keeps those that aren't there.

    `state.there` says where. Returns the number of those that aren't there, and in `state.items`
    the items at the port, and when the last earlier read of the others completes.
    """
    missing = lines = asked = most = 0
    before = lacked = -1
    slot = -1
    state.items[EARLIER] = 0
    for at in range(first, last):
        number = sectors[at]
        line = quotient(number, numbers.sectors)
        if line != before:
            before = line
            lines += 1
            bank = spread(line, OF_TAGS)
            state.words[bank] += 1
            most = max(most, state.words[bank])
            begin = (dmm * numbers.own_sets + spread(line, numbers.own_sets)) * numbers.own_ways
            slot = slot_of(state.own_tags, begin, numbers.own_ways, line)
            if slot < 0:
                entered = state.there[MOST_SECTORS] + 1
                state.there[MOST_SECTORS] = entered
                slot = slot_of(state.own_tags, begin, numbers.own_ways, -1)
                if slot < 0:
                    slot = begin + spread(entered, numbers.own_ways)
                state.own_tags[slot] = line
                for one in range(numbers.sectors):
                    state.own_done[slot * numbers.sectors + one] = 0
        place = (slot - line) * numbers.sectors + number
        if state.own_done[place] > 0:
            state.items[EARLIER] = max(state.items[EARLIER], state.own_done[place])
            state.there[at - first] = -1 - place
        else:
            state.own_done[place] = now + 1
            state.there[at - first] = place
            missing += 1
            asked += line != lacked
            lacked = line
    for bank in range(OF_TAGS):
        state.words[bank] = 0
    if lines > 1:
        most = max(most, most_of_a_bank(numbers, state, sectors, places, first, last))
    state.items[AT_PORT] = max(most, asked)
    return missing


def complete(state: State, count: int, time: int) -> None:
    """Note the time when a read of `count` sectors completes, for each in its DMM's own cache."""
    for at in range(count):
        place = max(state.there[at], -1 - state.there[at])
        if state.own_done[place] > 0:  # its line hasn't left
            state.own_done[place] = time


def time_of_slice(numbers: Numbers, kind: int) -> int:
    """The time for which a line of a read, or a sector of an atomic, occupies its slice."""
    if kind == READ:
        return numbers.line_time
    if kind == ATOMIC:
        return numbers.atomic_time
    return numbers.float_time if kind == OF_FLOATS else 0


def time_of_floats(numbers: Numbers, latest: int, sectors: Any, first: int, last: int) -> int:
    """The time for which an atomic on floats occupies the slice of the line of ``sectors[first]``.

    The sectors of the line take turns. Each waits longer for its own last atomic: of this request,
    or of the one before if that was the `latest` sector of the slice.
    """
    line = quotient(sectors[first], numbers.sectors)
    number = own = longest = 0
    at = first
    while at < last and quotient(sectors[at], numbers.sectors) == line:
        if at > first and sectors[at] == sectors[at - 1]:
            own += numbers.float_time
        else:
            own = numbers.float_time if sectors[at] == latest else numbers.atomic_time
        longest = max(longest, own)
        number += 1
        at += 1
    return max(longest, number * numbers.atomic_time)


def time_of_atomics(numbers: Numbers) -> int:
    """The time by which slices count atomics: that of those on floats if others take none."""
    return numbers.atomic_time or numbers.float_time


def serve(
    numbers: Numbers,
    state: State,
    now: int,
    dmm: int,
    kind: int,
    stages: int,
    sectors: Any,
    places: Any,
    first: int,
    last: int,
) -> int:
    """Serve a request that a DMM dispatches now; return its completion. `state.items` has costs.

    `add_counts` has to follow.

    The request has `stages` stages and asks for ``sectors[first:last]``. A write or an atomic
    touches ``places[first:last]`` of them, a bit for each place of a sector.
    """
    items = state.items
    for one in range(COUNTS):
        items[one] = 0
    items[SECTORS] = last - first
    is_own = kind == OWN_READ
    if is_own:
        kind = READ
        items[SECTORS] = look_own(numbers, state, now, dmm, sectors, places, first, last)
    half = state.half[state.clusters[dmm]]
    items[ASKED] = stages if numbers.sets == 0 else 0
    before = brought = crossed = within = awaited = -1
    late = 0
    for at in range(first, last):
        number = sectors[at]
        if is_own and state.there[at - first] < 0:
            continue
        if numbers.page > 0 and quotient(number, numbers.page) != within:
            within = quotient(number, numbers.page)
            translate(numbers, state, dmm, within)
        line = quotient(number, numbers.sectors)
        brought_before = items[READS] - items[FILLS]
        if numbers.sets == 0:
            uncached(numbers, state, kind, number)
        else:
            sector = number - line * numbers.sectors
            items[ASKED] += line != before
            before = line
            crossings = items[CROSSINGS]
            if kind == WRITE:
                write(numbers, state, half, line, sector, places[at] + 0, crossed == line)
            elif kind >= ATOMIC:
                update(numbers, state, half, line, sector, places[at] + 0, crossed == line)
            else:
                around = quotient(number, numbers.fetch)
                if around != brought and read(numbers, state, half, line, sector, crossed == line):
                    brought = around
            if items[CROSSINGS] != crossings:
                crossed = line
        if items[READS] - items[FILLS] > brought_before and line != awaited:
            awaited = line
            late = max(late, lateness(state))
    items[LOOKUPS] += items[ASKED]
    if not is_own:
        items[AT_PORT] = items[ASKED]
    moved = items[READS] + items[WRITES]
    own = RESOURCES + OF_A_DMM * dmm
    each, port, wire = numbers.write_time, numbers.write_port_time, numbers.write_wire_time
    if kind == READ:
        each, port, wire = numbers.tag_time, numbers.port_time, numbers.wire_time
    busy = items[LOOKUPS] * each + items[FILLS] * numbers.fill_time
    done = passed(state, TAGS, now, max(busy, 1), 1)
    done = max(done, passed(state, DATA, now, items[SECTORS], numbers.sector_time))
    done = max(done, passed(state, CROSS, now, items[CROSSINGS], numbers.cross_time))
    done = max(done, passed(state, MEMORY, now, moved, numbers.memory_time))
    done = max(done, passed(state, ROW, now, items[ACTIVATIONS], numbers.row_time))
    done = max(done, passed(state, PAGE, now, items[TRANSLATIONS], numbers.page_time))
    done = max(done, passed(state, own + PORT, now, items[AT_PORT], port))
    done = max(done, passed(state, own + WIRE, now, items[SECTORS], wire))
    each = time_of_slice(numbers, kind)
    if each > 0:
        slices = RESOURCES + OF_A_DMM * numbers.dmms
        before = -1
        for at in range(first, last):
            if is_own and state.there[at - first] < 0:
                continue
            line = quotient(sectors[at], numbers.sectors)
            if kind == ATOMIC or line != before:
                own = slice_of(numbers, line)
                if kind == OF_FLOATS:
                    each = time_of_floats(numbers, state.latest[own], sectors, at, last)
                if each > 0:
                    done = max(done, passed(state, slices + own, now, 1, each))
            before = line
    if kind != WRITE:
        if items[READS] > items[FILLS]:
            done += numbers.miss_latency + late * numbers.spread_latency
        elif items[CROSSINGS] > 0:
            done += numbers.cross_latency
    done += numbers.latency if items[SECTORS] or not is_own else numbers.own_latency
    if is_own:
        done = max(done, items[EARLIER] + 1) + (items[AT_PORT] - 1) * port
        complete(state, last - first, done - 1)
    return done - 1


def apart(numbers: Numbers) -> bool:
    """Return whether items on each slice, and on each DMM's port and wire, are counted.

    They are if any of these takes time, because it may then be the bottleneck.
    """
    times = numbers.port_time + numbers.wire_time + numbers.write_port_time
    slices = numbers.atomic_time + numbers.float_time + numbers.line_time
    return times + numbers.write_wire_time + slices > 0


def counters(numbers: Numbers, dmms: int) -> int:
    """The number of counters of an access by `dmms` DMMs."""
    if not apart(numbers):
        return COUNTS
    return COUNTS + numbers.slices + OF_A_DMM * dmms


def add_counts(
    numbers: Numbers,
    state: State,
    counts: Any,
    dmm: int,
    kind: int,
    sectors: Any,
    first: int,
    last: int,
) -> None:
    """Add the costs of the request served last to the counters of its access.

    Of an atomic on floats a slice counts the time.
    """
    for one in range(COUNTS):
        counts[one] += state.items[one]
    if not apart(numbers):
        return
    own = COUNTS + numbers.slices + OF_A_DMM * dmm
    counts[own + PORT] += state.items[AT_PORT]
    counts[own + WIRE] += state.items[SECTORS]
    is_own = kind == OWN_READ
    if time_of_slice(numbers, max(kind, READ)) > 0:
        before = -1
        for at in range(first, last):
            if is_own and state.there[at - first] < 0:
                continue
            line = quotient(sectors[at], numbers.sectors)
            if kind == ATOMIC or line != before:
                own, number = slice_of(numbers, line), 1
                if kind == OF_FLOATS:
                    number = time_of_floats(numbers, state.latest[own], sectors, at, last)
                counts[COUNTS + own] += number
            before = line
        for at in range(first, last if kind == OF_FLOATS else first):
            own = slice_of(numbers, quotient(sectors[at], numbers.sectors))
            state.latest[own] = sectors[at]


def write_other(numbers: Numbers, state: State, lines: int) -> None:
    """Write `lines` lines of another array, by DMMs of both halves in turn."""
    full = (1 << numbers.sector) - 1
    for line in range(OTHER, OTHER + lines):
        for sector in range(numbers.sectors):
            write(numbers, state, line & (numbers.halves - 1), line, sector, full, False)


PARTS = (
    spread,
    slice_of,
    home_of,
    find,
    to_memory,
    evict,
    enter,
    enter_copy,
    fetch,
    look_up,
    read,
    store,
    write,
    update,
    uncached,
    translate,
    lateness,
    passed,
    most_of_a_bank,
    look_own,
    complete,
    time_of_slice,
    time_of_floats,
    serve,
    apart,
    add_counts,
)
"""All functions of the rule except for `quotient` and `slot_of`, each after those that it calls."""
