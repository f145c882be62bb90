"""The asynchronous schedule of a machine with sectors and a cache, for known requests.

The rules of docs/machines.md, *Sectors, a cache, and several requests*. `CachedUnit`, `Ahead` and
`Residency` play the same rules with SimPy. A heap holds the next events of warps, by time: a warp
goes on, or a shared memory dispatches. At one instant warps go on first. The
memory unit dispatches when no other event comes before.

The functions below run unchanged on lists, and compiled by Numba on arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from mmsim.engines.array.turns_compiled import BARRIER, REPORT, add, take
from mmsim.model.cache import (
    READ,
    TAGS,
    WRITE,
    Numbers,
    add_counts,
    home_of,
    quotient,
    serve,
    spread,
)
from mmsim.model.cache import State as Cache
from mmsim.model.rounds import all_done, completion, next_request, sent, trip

REQUEST = BARRIER + 1  # an operation: this number plus the number of a request


class Launch(NamedTuple):
    """The constants of a schedule: arrays for Numba, lists for Python, and numbers.

    Warps are in order of block, `size` of them in a block, with empty ones at the end.
    """

    dmms: int
    blocks: int
    size: int  # warps of a block
    places: int  # the most requests of a warp under way
    latency: int  # the latency of the shared memories
    firsts: Any  # the first DMM of each cluster, and the end of the last one
    operations: Any  # the operations of the warps: 1 is a barrier, 2 + r is request r
    taken: Any  # what each block takes of the room for blocks
    orders: Any  # for each access, whether the order of its requests matters: see `NOTED`
    needs: Any  # for each access, whether it waits for the requests of each other access
    loops: Any  # for each access, its loop whose trips are unrolled, see `Waits.loops`
    most: Any  # for each access, the trips that are unrolled together
    pauses: Any  # for each warp, the time that it computes before a request or a barrier
    kinds: Any  # the kind of each access, a number of `mmsim.model.cache`
    to_shared: Any  # for each access, whether it goes to shared memory
    site: Any  # the access of each request
    stages: Any  # the stages of each request
    ends: Any  # the end of the sectors of each request
    sectors: Any
    touched: Any


class State(NamedTuple):
    """The state of a schedule."""

    sequences: Any  # the place of each warp in its operations, and their end
    times: Any
    sites: Any  # the requests under way of each warp, see `mmsim.model.rounds`
    within: Any
    trips: Any  # for each warp the loop of its last request, and the trip
    ready: Any  # for each DMM the tree of its warps that are ready at the memory unit
    ready_shared: Any  # the same at its shared memory
    last: Any  # for each DMM the nodes of the warps that the two units dispatched last
    dmms: Any  # for each cluster the tree of its DMMs with a warp that is ready at the memory unit
    clusters: Any  # the tree of clusters with such a DMM
    last_of: Any  # for each cluster the node of the DMM whose warp was dispatched last
    free: Any  # for each DMM the time when its shared memory is free
    planned: Any  # for each DMM, whether the heap holds a dispatch of its shared memory
    room: Any  # for each DMM what is left of its room for blocks
    dmm: Any  # the DMM of each block that has begun
    ended: Any  # the tree of blocks that have ended and still occupy their room
    unfinished: Any  # for each block, the warps that have not ended
    arrived: Any  # for each block, the warps that wait at its barrier
    waiting: Any  # those warps, from the block's first place on
    todo: Any  # warps that go on now
    heap_times: Any
    heap: Any  # the heap of events: warps that go on; after these, shared memories that dispatch
    ordered: Any  # the requests of accesses whose order matters, as they were dispatched
    held: Any  # warps whose next operation is not known, and when their requests were dispatched
    numbers: Any  # see `IN_HEAP` and the others
    counts: Any  # the costs of each access's requests, see `mmsim.model.cache`


OF_BLOCKS = "dmm", "unfinished", "arrived"  # the fields with a number for each block
IN_HEAP, TO_DO, DONE, BEGUN, ORDERED, HELD, UNTIL, NOW, LAST = range(9)
"""The numbers of the state: the sizes of the heap and of `todo`, the last completion, the blocks
that have begun, the sizes of `ordered` and of `held`, the first time at which a held warp may go
on, the time, and the cluster's node that was dispatched last."""
NOTED, USED, USED_NEXT = 1, 2, 3
"""The order of an access's requests matters, and its warp goes on: with an operation that is known;
with one that depends on the word received; with such a one, which waits for the request."""
FOREVER = 1 << 62
STOPPED, ASKS = -1, -2
"""No time: the results of `play` if it was stopped, and if it needs operations of held warps."""
LINE = 16  # numbers of 4 bytes in a line of this computer's cache
LARGE = 1 << 14
"""A cache with more slots doesn't fit into the caches near this computer's processor."""


def soon(array: Any, at: int) -> None:
    """Ask this computer to bring an array's entry; `cached_time` compiles it to an instruction."""


def bring(
    numbers: Numbers, cache: Cache, half: int, kind: int, sectors: Any, first: int, last: int
) -> None:
    """Ask for the entries of the cache that a request of a half may need.

    The simulation of a large cache waits for this computer's memory, which can bring many entries
    at the same time, but not all: a read that is at home needs no other half, and a write no facts
    about whole sectors at home.
    """
    before = -1
    for at in range(first, last):
        line = quotient(sectors[at], numbers.sectors)
        if line != before:
            before = line
            place = spread(line, numbers.sets)
            home = home_of(line, numbers.halves)
            for one in range(numbers.halves):
                if one != home and one != half and kind <= READ:
                    continue
                slot = (one * numbers.sets + place) * numbers.ways
                end = slot + min(numbers.ways, len(cache.tags) + 1)  # a sparse set is short
                for at_slot in range(slot, end, LINE):
                    soon(cache.tags, at_slot)
                    if one != home or kind != WRITE:
                        soon(cache.valid, at_slot)
                    if one == home:
                        soon(cache.written, at_slot * numbers.sectors)


def push(state: State, time: int, what: int) -> None:
    """Add an event to the heap."""
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
    """Remove the first event from the heap."""
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
    """Begin the next block on DMM x if there is one and room for it; return whether it began."""
    block = state.numbers[BEGUN]
    if block == launch.blocks or launch.taken[block] > state.room[x]:
        return False
    state.numbers[BEGUN] += 1
    state.dmm[block] = x
    state.room[x] -= launch.taken[block]
    state.unfinished[block] = launch.size
    for warp in range(block * launch.size, (block + 1) * launch.size):
        state.todo[state.numbers[TO_DO]] = warp
        state.numbers[TO_DO] += 1
    return True


def make_room(launch: Launch, state: State) -> None:
    """Let the ended blocks make room, in order, and begin the next ones there."""
    while state.ended[0] != 0:
        block = take(state.ended, 0) - len(state.ended)
        x = state.dmm[block]
        state.room[x] += launch.taken[block]
        while begin_block(launch, state, x):
            pass


def open_barrier(launch: Launch, state: State, block: int) -> None:
    """Let the warps at a block's barrier go on if all unfinished warps of the block are there."""
    arrived = state.arrived[block]
    if arrived == 0 or arrived != state.unfinished[block]:
        return
    state.arrived[block] = 0
    for place in range(block * launch.size, block * launch.size + arrived):
        state.todo[state.numbers[TO_DO]] = state.waiting[place]
        state.numbers[TO_DO] += 1


def go_on(launch: Launch, state: State, clusters: Any, now: int) -> None:
    """Let the warps in `todo` do their next operations, and the warps that follow from these."""
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
                add(state.ended, len(state.ended) + block)
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
    """Note a request dispatched now and done later, and the time when its warp goes on."""
    state.numbers[DONE] = max(state.numbers[DONE], done)
    first = warp * launch.places
    sent(state.times, state.sites, first, launch.places, site, done)
    state.trips[warp] = next_trip(launch, state, warp, site)
    state.within[warp] = launch.loops[site]
    sequence = state.sequences[warp]
    order = launch.orders[site]
    if order > 0:
        state.ordered[state.numbers[ORDERED]] = launch.operations[sequence[0]] - REQUEST
        state.numbers[ORDERED] += 1
    sequence[0] += 1
    if order < USED:
        follow(launch, state, warp, now)
        return
    held = state.held[state.numbers[HELD]]
    held[0], held[1] = warp, now
    state.numbers[HELD] += 1
    soonest = done if order == USED_NEXT else now + 1
    state.numbers[UNTIL] = min(state.numbers[UNTIL], soonest)


def next_trip(launch: Launch, state: State, warp: int, site: int) -> int:
    """The trip of a warp's next request in its loop, of those that are unrolled together."""
    last = state.within[warp], state.trips[warp]
    return trip(*last, launch.loops[site], site, launch.most[site])


def follow(launch: Launch, state: State, warp: int, now: int) -> None:
    """Note the time when a warp goes on whose last request was dispatched at `now`."""
    first = warp * launch.places
    sequence = state.sequences[warp]
    operation = BARRIER
    pause = 0
    if sequence[0] < sequence[1]:
        operation = launch.operations[sequence[0]]
        pause = launch.pauses[warp]
    if operation == BARRIER:
        time = all_done(state.times, first, launch.places)
        state.numbers[DONE] = max(state.numbers[DONE], time + pause)  # a barrier ends no earlier
    else:
        after = launch.site[operation - REQUEST]
        begins = next_trip(launch, state, warp, after) == 0
        own = state.times, state.sites, first, launch.places
        time = next_request(*own, launch.needs[after], begins, now)
    push(state, time + pause, warp)


def dispatch_shared(launch: Launch, state: State, x: int, now: int) -> None:
    """Dispatch the next warp in turn at the shared memory of DMM x."""
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
    """Dispatch a warp of the next cluster in turn after node `last`; return the cluster's node.

    In the cluster the next DMM has its turn, and in the DMM the next warp.
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
    if numbers.sets * numbers.ways > LARGE:
        half = cache.half[cache.clusters[x]]
        bring(numbers, cache, half, kind, launch.sectors, first, end)
    who, asked = (x, kind), (launch.sectors, launch.touched, first, end)
    done = serve(numbers, cache, now, *who, launch.stages[request], *asked)
    add_counts(numbers, cache, state.counts[site], *who, launch.sectors, first, end)
    under_way(launch, state, warp, site, now, done)
    return taken


def play(launch: Launch, state: State, numbers: Numbers, cache: Cache, control: Any) -> int:
    """Return the last completion of all.

    It is `STOPPED` if it was, and `ASKS` if held warps need operations: when they have these, it
    goes on.
    """
    if state.numbers[BEGUN] == 0:
        while begin_block(launch, state, state.numbers[BEGUN] % launch.dmms):
            pass
        go_on(launch, state, cache.clusters, 0)
    for one in range(state.numbers[HELD]):
        follow(launch, state, state.held[one][0], state.held[one][1])
    state.numbers[HELD] = state.numbers[ORDERED] = count = 0
    state.numbers[UNTIL] = FOREVER
    now, last, free = state.numbers[NOW], state.numbers[LAST], cache.free[TAGS]
    warps = len(state.sequences)
    while True:
        ready = state.clusters[0] != 0
        if state.ended[0] != 0 and (
            state.numbers[IN_HEAP] == 0 or state.heap_times[0] > now or state.heap[0] >= warps
        ):
            make_room(launch, state)
            go_on(launch, state, cache.clusters, now)
            continue
        time = FOREVER
        if state.numbers[IN_HEAP] > 0:
            time = state.heap_times[0]
        later = max(now, free)
        happens = not ready or time <= later
        if happens:
            later = time
        if later == FOREVER and state.numbers[HELD] == 0:
            break
        if later >= state.numbers[UNTIL] or state.numbers[ORDERED] == len(state.ordered):
            state.numbers[NOW], state.numbers[LAST] = now, last
            control[1] += count
            return ASKS
        now = later
        if happens:
            what = pop(state)
            if what >= warps:
                dispatch_shared(launch, state, what - warps, now)
            else:
                state.todo[0] = what
                state.numbers[TO_DO] = 1
                go_on(launch, state, cache.clusters, now)
            continue
        last = dispatch(launch, state, numbers, cache, last, now)
        free = cache.free[TAGS]
        count += 1
        if count == REPORT:
            control[1] += count
            count = 0
            if control[0] != 0:
                return STOPPED
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
    """Return the last completion of a round, for warps of DMMs `dmms`."""
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
    make_room,
    open_barrier,
    go_on,
    next_trip,
    follow,
    under_way,
    dispatch_shared,
    dispatch,
)
"""The functions of this file that `play` calls; each comes after those that it calls."""
