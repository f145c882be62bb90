"""The asynchronous schedule of a machine with sectors and a cache, for known requests.

The rules of docs/machines.md, *Sectors, a cache, and several requests*, as `CachedUnit`, `Ahead`
and `Residency` play them with SimPy. What warps will do next stands in a heap, by time: that they
go on, and that a shared memory dispatches. Of what happens at one instant warps go on first. The
memory unit dispatches when nothing else happens before.

The functions below run as they stand, on lists, or compiled by Numba, on arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from mmsim.engines.array.turns_compiled import BARRIER, REPORT, add, take
from mmsim.model.cache import READ, TAGS, Numbers, add_counts, home_of, quotient, serve, spread
from mmsim.model.cache import State as Cache
from mmsim.model.rounds import completion
from mmsim.model.under_way import all_done, next_request, sent

REQUEST = BARRIER + 1
"""An operation: this, plus the number of a request."""


class Launch(NamedTuple):
    """What doesn't change: arrays for Numba, lists for Python, and numbers.

    Warps stand block by block, `size` of them in a block, with empty ones at the end.
    """

    dmms: int
    blocks: int
    size: int
    """Warps of a block."""
    places: int
    """Requests of a warp that may be under way."""
    latency: int
    """Of the shared memories."""
    firsts: Any
    """The first DMM of each cluster, and the end of the last one."""
    operations: Any
    """What the warps do: 1 is a barrier, 2 + r is request r."""
    threads: Any
    """Threads of each block."""
    needs: Any
    """For each access, whether it waits for requests of each."""
    kinds: Any
    """The kind of each access, as `mmsim.model.cache` numbers them."""
    to_shared: Any
    """For each access, whether it goes to shared memory."""
    site: Any
    """The access of each request."""
    stages: Any
    """The stages of each request."""
    ends: Any
    """Where the sectors of each request end."""
    sectors: Any
    touched: Any


class State(NamedTuple):
    """Where a schedule stands."""

    sequences: Any
    """Of each warp, where its operations go on and where they end."""
    times: Any
    sites: Any
    """Of each warp its requests under way, see `mmsim.model.under_way`."""
    ready: Any
    """Of each DMM the tree of its warps that are ready at the memory unit."""
    ready_shared: Any
    """The same at its shared memory."""
    last: Any
    """Of each DMM the nodes of the warps that the two units dispatched last."""
    dmms: Any
    """Of each cluster the tree of its DMMs with a warp that is ready at the memory unit."""
    clusters: Any
    """The tree of clusters with such a DMM."""
    last_of: Any
    """Of each cluster the node of the DMM of which a warp was dispatched last."""
    free: Any
    """Of each DMM, from when on its shared memory is free."""
    planned: Any
    """Of each DMM, whether a dispatch of its shared memory stands in the heap."""
    room: Any
    """Of each DMM, for how many threads there is room."""
    dmm: Any
    """Of each block that has begun its DMM."""
    ended: Any
    """Blocks that have ended and not made room yet, in ascending order."""
    making_room: Any
    """Those that do now."""
    unfinished: Any
    """Of each block, the warps that have not ended."""
    arrived: Any
    """Of each block, the warps that wait at its barrier."""
    waiting: Any
    """Those warps, from the block's first place on."""
    todo: Any
    """Warps that go on now."""
    heap_times: Any
    heap: Any
    """What happens when: a warp goes on, or, after all warps, a shared memory dispatches."""
    numbers: Any
    """The things in the heap, the warps in `todo`, the last completion, what was seen."""
    counts: Any
    """Of each access what its requests took, see `mmsim.model.cache`."""


IN_HEAP, TO_DO, DONE, SEEN, BEGUN, ENDED = range(6)
LINE = 16
"""Numbers of 4 bytes in a line of this computer's cache."""
LARGE = 1 << 14
"""Slots above which a cache isn't near this computer's processor."""


def bring(numbers: Numbers, cache: Cache, sectors: Any, first: int, last: int) -> int:
    """Look at all that a read may need of the cache; a number without a meaning.

    The simulation of a large cache waits for this computer's memory. What one look needs doesn't
    depend on another here, as it does in `serve`, so this computer fetches many at a time. For
    writes that took longer than it saved: they touch both halves.
    """
    seen = 0
    before = -1
    for at in range(first, last):
        line = quotient(sectors[at], numbers.sectors)
        if line != before:
            before = line
            place = spread(line, numbers.sets)
            home = home_of(line, numbers.halves)
            for half in range(numbers.halves):
                slot = (half * numbers.sets + place) * numbers.ways
                for one in range(slot, slot + min(numbers.ways, len(cache.tags) + 1), LINE):
                    seen += cache.tags[one]
                    if half == home:
                        seen += cache.valid[one]
                        seen += cache.written[one * numbers.sectors]
    return seen


def push(state: State, time: int, what: int) -> None:
    """Something will happen at a time."""
    times, heap = state.heap_times, state.heap
    at = state.numbers[IN_HEAP]
    state.numbers[IN_HEAP] = at + 1
    while at > 0:
        above = (at - 1) >> 1
        if times[above] < time or (times[above] == time and heap[above] < what):
            break
        times[at], heap[at] = times[above], heap[above]
        at = above
    times[at], heap[at] = time, what


def pop(state: State) -> int:
    """Take out what happens first."""
    times, heap = state.heap_times, state.heap
    first = heap[0]
    count = state.numbers[IN_HEAP] - 1
    state.numbers[IN_HEAP] = count
    time, what = times[count], heap[count]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= count:
            break
        other = below + 1
        if other < count and (
            times[other] < times[below]
            or (times[other] == times[below] and heap[other] < heap[below])
        ):
            below = other
        if time < times[below] or (time == times[below] and what < heap[below]):
            break
        times[at], heap[at] = times[below], heap[below]
        at = below
    times[at], heap[at] = time, what
    return first  # type: ignore[no-any-return]


def begin_block(launch: Launch, state: State, x: int) -> bool:
    """The next block begins on DMM x, if there is one and room for it; whether it does."""
    block = state.numbers[BEGUN]
    if block == launch.blocks or launch.threads[block] > state.room[x]:
        return False
    state.numbers[BEGUN] += 1
    state.dmm[block] = x
    state.room[x] -= launch.threads[block]
    state.unfinished[block] = launch.size
    for warp in range(block * launch.size, (block + 1) * launch.size):
        state.todo[state.numbers[TO_DO]] = warp
        state.numbers[TO_DO] += 1
    return True


def end_block(state: State, block: int) -> None:
    """The last warp of a block has ended."""
    place = state.numbers[ENDED]
    state.numbers[ENDED] = place + 1
    while place > 0 and state.ended[place - 1] > block:
        state.ended[place] = state.ended[place - 1]
        place -= 1
    state.ended[place] = block


def make_room(launch: Launch, state: State) -> None:
    """The blocks that have ended make room, in order, and the next ones begin there."""
    count = state.numbers[ENDED]
    state.numbers[ENDED] = 0
    for place in range(count):
        state.making_room[place] = state.ended[place]
    for place in range(count):
        block = state.making_room[place]
        x = state.dmm[block]
        state.room[x] += launch.threads[block]
        while begin_block(launch, state, x):
            pass


def open_barrier(launch: Launch, state: State, block: int) -> None:
    """Let the warps at a block's barrier go on, if all unfinished ones are there."""
    arrived = state.arrived[block]
    if arrived == 0 or arrived != state.unfinished[block]:
        return
    state.arrived[block] = 0
    for place in range(block * launch.size, block * launch.size + arrived):
        state.todo[state.numbers[TO_DO]] = state.waiting[place]
        state.numbers[TO_DO] += 1


def go_on(launch: Launch, state: State, clusters: Any, now: int) -> None:
    """The warps that go on now do what comes next; so do those for which they make way.

    `clusters` are those of the DMMs.
    """
    size = launch.size
    while state.numbers[TO_DO] > 0:
        state.numbers[TO_DO] -= 1
        warp = state.todo[state.numbers[TO_DO]]
        block = warp // size
        x = state.dmm[block]
        sequence = state.sequences[warp]
        if sequence[0] == sequence[1]:
            state.unfinished[block] -= 1
            open_barrier(launch, state, block)
            if state.unfinished[block] == 0:
                end_block(state, block)
            continue
        operation = launch.operations[sequence[0]]
        if operation == BARRIER:
            sequence[0] += 1
            state.waiting[block * size + state.arrived[block]] = warp
            state.arrived[block] += 1
            open_barrier(launch, state, block)
            continue
        if launch.to_shared[launch.site[operation - REQUEST]]:
            words = state.ready_shared[x]
            add(words, len(words) + warp)
            if not state.planned[x]:
                state.planned[x] = True
                push(state, max(now, state.free[x]), len(state.sequences) + x)
        else:
            words = state.ready[x]
            add(words, len(words) + warp)
            cluster = clusters[x]
            dmms = state.dmms[cluster]
            add(dmms, len(dmms) + x - launch.firsts[cluster])
            add(state.clusters, len(state.clusters) + cluster)


def under_way(launch: Launch, state: State, warp: int, site: int, now: int, done: int) -> None:
    """A warp's request was dispatched now and will be done then: it goes on when it may."""
    state.numbers[DONE] = max(state.numbers[DONE], done)
    first = warp * launch.places
    sent(state.times, state.sites, first, launch.places, site, done)
    sequence = state.sequences[warp]
    sequence[0] += 1
    operation = BARRIER
    if sequence[0] < sequence[1]:
        operation = launch.operations[sequence[0]]
    if operation == BARRIER:
        time = all_done(state.times, first, launch.places)
    else:
        needed = launch.needs[launch.site[operation - REQUEST]]
        time = next_request(state.times, state.sites, first, launch.places, needed, now)
    push(state, time, warp)


def dispatch_shared(launch: Launch, state: State, x: int, now: int) -> None:
    """The shared memory of DMM x dispatches its next warp in turn."""
    words = state.ready_shared[x]
    node = take(words, state.last[x][1])
    state.last[x][1] = node
    warp = node - len(words)
    request = launch.operations[state.sequences[warp][0]] - REQUEST
    stages = launch.stages[request]
    done = completion(now, stages, launch.latency)
    state.free[x] = now + stages
    state.planned[x] = words[0] != 0
    if words[0] != 0:
        push(state, now + stages, len(state.sequences) + x)
    under_way(launch, state, warp, launch.site[request], now, done)


def dispatch(
    launch: Launch, state: State, numbers: Numbers, cache: Cache, last: int, now: int
) -> int:
    """The memory unit dispatches a warp of the next cluster in turn after node `last`; its node.

    In the cluster it is the next DMM's turn, and of the DMM the next warp's.
    """
    taken = take(state.clusters, last)
    cluster = taken - len(state.clusters)
    dmms = state.dmms[cluster]
    at = take(dmms, state.last_of[cluster])
    state.last_of[cluster] = at
    x = at - len(dmms) + launch.firsts[cluster]
    words = state.ready[x]
    node = take(words, state.last[x][0])
    state.last[x][0] = node
    if words[0] != 0:
        add(dmms, at)
    if dmms[0] != 0:
        add(state.clusters, taken)
    warp = node - len(words)
    request = launch.operations[state.sequences[warp][0]] - REQUEST
    site = launch.site[request]
    first = launch.ends[request]
    end = launch.ends[request + 1]
    kind = launch.kinds[site]
    if kind == READ and numbers.sets * numbers.ways > LARGE:
        state.numbers[SEEN] = bring(numbers, cache, launch.sectors, first, end)
    done = serve(
        numbers,
        cache,
        now,
        x,
        kind,
        launch.stages[request],
        launch.sectors,
        launch.touched,
        first,
        end,
    )
    add_counts(numbers, cache, state.counts[site], x, kind, launch.sectors, first, end)
    under_way(launch, state, warp, site, now, done)
    return taken


def play(launch: Launch, state: State, numbers: Numbers, cache: Cache, control: Any) -> int:
    """The last completion of all; -1 if stopped."""
    while begin_block(launch, state, state.numbers[BEGUN] % launch.dmms):
        pass
    go_on(launch, state, cache.clusters, 0)
    now = free = last = count = 0
    warps = len(state.sequences)
    while True:
        ready = state.clusters[0] != 0
        if state.numbers[ENDED] > 0 and (
            state.numbers[IN_HEAP] == 0 or state.heap_times[0] > now or state.heap[0] >= warps
        ):
            make_room(launch, state)
            go_on(launch, state, cache.clusters, now)
            continue
        if state.numbers[IN_HEAP] > 0:
            time = state.heap_times[0]
            if not ready or time <= max(now, free):
                now = time
                what = pop(state)
                if what >= warps:
                    dispatch_shared(launch, state, what - warps, now)
                else:
                    state.todo[0] = what
                    state.numbers[TO_DO] = 1
                    go_on(launch, state, cache.clusters, now)
                continue
        elif not ready:
            break
        now = max(now, free)
        last = dispatch(launch, state, numbers, cache, last, now)
        free = cache.free[TAGS]
        count += 1
        if count == REPORT:
            control[1] += count
            count = 0
            if control[0] != 0:
                return -1
    control[1] += count
    return state.numbers[DONE]  # type: ignore[no-any-return]


def serve_round(
    numbers: Numbers,
    cache: Cache,
    start: int,
    kind: int,
    dmms: Any,
    stages: Any,
    ends: Any,
    sectors: Any,
    touched: Any,
    counts: Any,
) -> int:
    """When the last request of a round completes, of warps of such DMMs."""
    now = done = start
    for request in range(len(stages)):
        who = dmms[request], kind
        first, end = ends[request], ends[request + 1]
        time = serve(numbers, cache, now, *who, stages[request], sectors, touched, first, end)
        add_counts(numbers, cache, counts, *who, sectors, first, end)
        done = max(done, time)
        now = cache.free[TAGS]
    return done


PARTS = (
    bring,
    push,
    pop,
    begin_block,
    end_block,
    make_room,
    open_barrier,
    go_on,
    under_way,
    dispatch_shared,
    dispatch,
)
"""What `play` calls, besides what it imports; each comes after those that it calls."""
