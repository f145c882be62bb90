"""The asynchronous schedule of many warps: from their operations to the finishing time.

These are the rules of docs/machines.md, for warps with known operations. `Asynchronous` plays the
same rules with SimPy. Both give the same time; this file is some hundred times
faster.

A DMM meets the others only at the machine's memory unit. So each DMM is played by itself, and no
further than the memory unit needs. When the unit is free at time t, the DMM whose turn it may be is
played up to t, or on to the time when it has a ready warp. A DMM has two *ports*, one to the memory
unit and one to its own shared memory. A port holds the ready warps, the requests in flight and the
times of its next events. A unit completes requests in the order of their dispatches, because the
next dispatch is k time units later or more. So the requests in flight form a ring, and only the
first one can be the next to complete. A DMM or a UMM is one DMM whose warps never use the
second port.

The functions below run unchanged on lists, and compiled by Numba on arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mmsim.model.rounds import completion

NEVER = 2**63 - 1
BARRIER = 1
"""An operation; the others are 0 for nothing and, from 2 on, requests (`operations`)."""
TO_MEMORY, TO_SHARED, TO_BARRIER, TO_END = range(4)  # a warp's next step; the ports come first

# A port's fields.
PORT = np.dtype(
    [(name, np.int64) for name in ("latency", "others", "free", "start", "due", "done", "origin")]
    + [(name, np.uint32) for name in ("last", "ring", "mask", "head", "tail", "padding")]
)
# latency         of the unit
# others          time units after each dispatch, for DMMs that are not played
# free            when the unit is free, as far as this DMM occupied it
# start           since when the unit could dispatch a ready warp; NEVER if none is ready
# due, done       the next completion, NEVER if nothing is in flight; the last one so far
# origin          node of a warp in `ready` minus its index
# last            node of the warp dispatched last, 0 if none
# ring, mask      the ring's first place in `flying`, its size - 1
# head, tail      completions and dispatches so far; they count places in the ring

REPORT = 1 << 15  # dispatches between two looks at `control`


class State(NamedTuple):
    """The state of a schedule: arrays for Numba, lists for Python.

    The port to the memory unit of DMM x has number 2 x, that to its shared memory number 2 x + 1.
    """

    operations: Any  # the operations of the warps
    sequences: Any  # the place of each warp in its operations, and their end
    size: int  # the warps of a block
    ports: Any  # the fields of each port
    ready: Any  # the tree of ready warps of each port
    flying: Any
    """The rings: when a request completes, and 4 times its warp plus the warp's next step."""
    unfinished: Any  # for each block, the warps that have not ended
    arrived: Any  # for each block, the warps that wait at its barrier
    waiting: Any  # those warps, from the block's first place on
    times: Any  # the tree of times of the DMMs


# Ready warps: a tree of 64-bit words. Bit b of word v stands for node 64 v + 1 + b, which is a
# word again or, past the last word, a warp; it is set if a warp below is ready.


def trailing_zeros(word: int) -> int:
    """The number of the lowest bit that is set."""
    return (word & -word).bit_length() - 1


def add(words: Any, node: int) -> None:
    """Note that a warp has become ready."""
    while node > 0:
        bit = 1 << (node - 1 & 63)
        node = node - 1 >> 6
        before = words[node]
        words[node] = before | bit
        if before != 0:
            return


def take(words: Any, node: int) -> int:
    """Take the first ready warp after `node` in circular order; 0 comes before the first."""
    later = 0
    while node > 0 and later == 0:
        later = -2 << (node - 1 & 63)
        node = node - 1 >> 6
        later &= words[node]
    if later == 0:  # none after it
        later = words[0]
    node = 64 * node + 1 + trailing_zeros(later)
    while node < len(words):
        node = 64 * node + 1 + trailing_zeros(words[node])
    taken = node
    while node > 0:
        bit = 1 << (node - 1 & 63)
        node = node - 1 >> 6
        words[node] ^= bit
        if words[node] != 0:
            break
    return taken


# The DMMs at the memory unit: a tree of times. Leaf D + x is a time before which DMM x has no
# ready warp there, an inner node the least of its two children.


def first_after(times: Any, last: int, t: int) -> int:
    """The first DMM after `last` in circular order whose time has come; one exists."""
    leaves = len(times) >> 1
    node = leaves + last
    while True:
        while node & 1:  # a right child, or the root
            node >>= 1
        node += 1  # the next subtree to the right; after the last one the root, which is 1
        if times[node] <= t:
            break
    while node < leaves:
        node *= 2
        if times[node] > t:
            node += 1
    return node - leaves


def set_time(times: Any, x: int, time: int) -> None:
    """Note that DMM x has no ready warp before `time`."""
    node = (len(times) >> 1) + x
    times[node] = time
    while node > 1:
        node >>= 1
        times[node] = min(times[2 * node], times[2 * node + 1])


def look_ahead(state: State, warp: int) -> int:
    """The next step of a warp."""
    operations = state.operations
    sequence = state.sequences[warp]
    c = sequence[0]
    end = sequence[1]
    while c < end and operations[c] == 0:
        c += 1
    sequence[0] = c
    if c == end:
        return TO_END
    if operations[c] == BARRIER:
        sequence[0] = c + 1
        return TO_BARRIER
    return operations[c] & 1  # type: ignore[no-any-return]


def dispatch(state: State, number: int, now: int) -> None:
    """Dispatch the next warp in turn at the unit of a port."""
    port = state.ports[number]
    words = state.ready[number]
    node = take(words, port.last)
    warp = node - port.origin
    sequence = state.sequences[warp]
    c = sequence[0]
    sequence[0] = c + 1
    stages = state.operations[c] >> 1
    done = completion(now, stages, port.latency)
    free = now + stages + port.others
    place = state.flying[port.ring + (port.tail & port.mask)]
    place[0] = done
    place[1] = 4 * warp + look_ahead(state, warp)
    port.tail += 1
    port.last = node
    port.free = free
    port.done = done
    if port.due == NEVER:
        port.due = done
    port.start = free if words[0] != 0 else NEVER


def complete(port: Any, flying: Any) -> int:
    """Remove the request that is due: 4 times the warp, plus the warp's next step."""
    code = flying[port.ring + (port.head & port.mask)][1]
    port.head += 1
    port.due = NEVER
    if port.head != port.tail:
        port.due = flying[port.ring + (port.head & port.mask)][0]
    return code  # type: ignore[no-any-return]


def proceed(state: State, x: int, warp: int, doing: int, now: int) -> None:
    """Do the next step of a warp of DMM x, and of the warps whose barrier it opens.

    Released warps of a block may come to the next barrier, but no more of them than have left their
    places in `waiting`.
    """
    size, unfinished, arrived = state.size, state.unfinished, state.arrived
    place = stop = 0
    while True:
        if doing < TO_BARRIER:
            port = state.ports[2 * x + doing]
            add(state.ready[2 * x + doing], warp + port.origin)
            if port.start == NEVER:
                port.start = max(now, port.free)
        else:
            block = warp // size
            if doing == TO_BARRIER:
                state.waiting[block * size + arrived[block]] = warp
                arrived[block] += 1
            else:
                unfinished[block] -= 1
            if arrived[block] == unfinished[block]:
                place = block * size
                stop = place + arrived[block]
                arrived[block] = 0
        if place == stop:
            return
        warp = state.waiting[place]
        place += 1
        doing = look_ahead(state, warp)


def play(state: State, control: Any, turns: Any) -> int:
    """Return the last completion of all; -1 if stopped.

    `turns` has the DMM that went last to the memory unit, then each port's `last`: both are
    updated.
    """
    ports, times = state.ports, state.times
    dmms = len(ports) >> 1
    for q in range(2 * dmms):
        ports[q].last = turns[1 + q]
    warps = len(state.sequences)
    of_a_dmm = warps // dmms
    for warp in range(warps):
        proceed(state, warp // of_a_dmm, warp, look_ahead(state, warp), 0)
    free = 0
    last = turns[0]
    count = 0
    while True:
        t = max(free, times[1])
        if t == NEVER:
            break
        x = last + 1 if last + 1 < dmms else 0
        if times[(len(times) >> 1) + x] > t:
            x = first_after(times, last, t)
        memory = ports[2 * x]
        shared = ports[2 * x + 1]
        while count < REPORT:
            due = min(memory.due, shared.due)
            event = min(due, shared.start)
            if event > t and (memory.start != NEVER or event == NEVER):
                break
            if shared.start < due:  # at one instant completions come first
                dispatch(state, 2 * x + 1, event)
                count += 1
            else:
                if memory.due == due:  # a branch is faster than a choice of ports
                    code = complete(memory, state.flying)
                else:
                    code = complete(shared, state.flying)
                proceed(state, x, code >> 2, code & 3, event)
        else:
            control[1] += count
            count = 0
            if control[0] != 0:
                return -1
            continue
        if memory.start > t:  # the next DMM, then
            set_time(times, x, memory.start)
        else:
            dispatch(state, 2 * x, t)
            free = memory.free
            last = x
            count += 1
    control[1] += count
    finish = 0
    turns[0] = last
    for q in range(2 * dmms):
        finish = max(finish, ports[q].done)
        turns[1 + q] = ports[q].last
    return finish


PARTS = (add, take, first_after, set_time, look_ahead, completion, dispatch, complete, proceed)
"""The functions that `play` calls, except for `trailing_zeros`."""
