"""The stages of many warps' requests, compiled: the rule of `mmsim.model.conflicts` at full speed.

`stage_counts` there is the rule. This file states it again in a form that compiles well, warp by
warp with the common cases first. Importing this file loads Numba. The compiled code is kept on disk
for the next time, and runs without Python's global lock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from mmsim.host import compiler
from mmsim.ir.dtypes import Integers

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Numba's compiler; mypy sees the types of the plain function."""
    return compiler.compiled(function, error_model="numpy")


def inlined(function: F) -> F:
    """The same for a function that the compiler inlines."""
    return compiler.compiled(function, error_model="numpy", forceinline=True)


def scratch(lanes: int) -> Integers:
    """Scratch memory of the counters below, for one warp's request of up to `lanes` lanes.

    Two hash tables, of addresses (or groups) and of banks, each consist of a row of cells and a row
    of marks. A mark is the number of the request that put the cell there, so no table is ever
    cleared. The tables are far larger than a request: a collision costs more than a cache miss. A
    row holds the load of each bank and, as its last word, the request's number. The next row holds
    the requests for each address. The last row holds the words of elements that share words.
    """
    slots = 64
    while slots < 16 * lanes:
        slots *= 2
    return np.zeros((7, slots + 1), dtype=np.int64)


@compiled
def enter(cell: int, cells: Integers, marks: Integers, request: int) -> int:
    """The slot of a cell in a hash table, or -1 - slot if this request has put it there already."""
    slots = len(cells) - 1
    # The multiplier spreads neighbours, and multiples of a power of two, over all slots.
    slot = ((cell * 0x9E3779B1) >> 12) & (slots - 1)
    while marks[slot] == request:
        if cells[slot] == cell:
            return -1 - slot
        slot = (slot + 1) & (slots - 1)
    marks[slot] = request
    cells[slot] = cell
    return slot


@inlined
def loaded(cell: int, cells: Integers, marks: Integers, loads: Integers, request: int) -> int:
    """The slot of a cell in a hash table; its load is 0 if this request has just put it there."""
    slot = enter(cell, cells, marks, request)
    if slot < 0:
        return -1 - slot
    loads[slot] = 0
    return slot


@compiled
def group_stages(addresses: Integers, count: int, width: int, tables: Integers) -> int:
    """Distinct address groups among the first `count` addresses (at least one)."""
    before = addresses[0] // width
    changes, falls = 1, 0
    for lane in range(1, count):
        group = addresses[lane] // width
        changes += group != before
        falls += group < before
        before = group
    if changes == 1 or falls == 0:
        return changes
    tables[4, -1] += 1
    request = tables[4, -1]
    distinct = 0
    for lane in range(count):
        distinct += enter(addresses[lane] // width, tables[0], tables[1], request) >= 0
    return distinct


@compiled
def bank_stages(addresses: Integers, count: int, width: int, tables: Integers) -> int:
    """The largest number of distinct addresses in one bank, among the first `count` (at least one).

    Nothing is hashed if all banks differ, or if the request is for one address.
    """
    steps, others = 0, 0
    for lane in range(1, count):
        steps += addresses[lane] - addresses[lane - 1] != 1
        others += addresses[lane] != addresses[0]
    if others == 0 or (steps == 0 and count <= width):
        return 1
    if width <= 64:
        seen, twice = np.uint64(0), np.uint64(0)
        for lane in range(count):
            bank = np.uint64(1) << np.uint64(addresses[lane] % width)
            twice |= seen & bank
            seen |= bank
        if twice == 0:
            return 1
    tables[4, -1] += 1
    request = tables[4, -1]
    most = 0
    for lane in range(count):
        if enter(addresses[lane], tables[0], tables[1], request) >= 0:
            slot = loaded(addresses[lane] % width, tables[2], tables[3], tables[4], request)
            tables[4, slot] += 1
            most = max(most, tables[4, slot])
    return most


@inlined
def group_request(addresses: Integers, count: int, width: int, tables: Integers) -> int:
    """As `group_stages`; a fast path for the most common request, for one group."""
    group = addresses[0] // width
    odd = 0
    for lane in range(np.uint64(count)):
        odd |= addresses[lane] // width - group
    if odd == 0:
        return 1
    return group_stages(addresses, count, width, tables)


@inlined
def bank_request(addresses: Integers, count: int, width: int, tables: Integers) -> int:
    """As `bank_stages`; a fast path for the most common requests.

    They have as many lanes as there are banks, and access each bank once, or consecutive addresses.
    An unsigned index needs no test for negative values, unsigned division is faster, and more
    narrow numbers fit into one instruction.
    """
    banks = np.uint64(width)
    if width <= 32 and count <= width:
        few, one = np.uint32(0), np.uint32(1)
        for lane in range(np.uint64(count)):
            few |= np.uint32(one << np.uint32(np.uint64(addresses[lane]) % banks))
        if few == np.uint32((1 << width) - 1):
            return 1
    elif width <= 64 and count <= width:
        seen = np.uint64(0)
        for lane in range(np.uint64(count)):
            seen |= np.uint64(1) << np.uint64(addresses[lane]) % banks
        if seen == (np.uint64(1) << np.uint64(width - 1)) * np.uint64(2) - np.uint64(1):
            return 1
    odd = 0
    for lane in range(1, count):
        odd |= addresses[lane] - addresses[lane - 1] - 1
    if odd == 0 and count <= width:
        return 1
    return bank_stages(addresses, count, width, tables)


@compiled
def packed_bank_request(
    addresses: Integers, count: int, width: int, elements: int, tables: Integers
) -> int:
    """As `bank_request`, for elements that share a word: the elements of one word count as one.

    Consecutive lanes mostly access the same word, or consecutive words.
    """
    words, shared, before = tables[6], np.uint64(elements), np.int64(-1)
    distinct = 0
    for lane in range(np.uint64(count)):
        word = np.int64(np.uint64(addresses[lane]) // shared)
        if word != before:
            words[distinct] = before = word
            distinct += 1
    return bank_request(words, distinct, width, tables)


@inlined
def bank_atomic_request(addresses: Integers, count: int, width: int, tables: Integers) -> int:
    """The most of the first `count` addresses in one bank: atomics don't merge."""
    loads = tables[4]
    if width >= len(loads):
        return bank_atomic_stages(addresses, count, width, tables)
    banks = np.uint64(width)
    for bank in range(banks):
        loads[bank] = 0
    for lane in range(np.uint64(count)):
        loads[np.uint64(addresses[lane]) % banks] += 1
    most = 0
    for bank in range(banks):
        most = max(most, loads[bank])
    return most


@compiled
def bank_atomic_stages(addresses: Integers, count: int, width: int, tables: Integers) -> int:
    """The same for more banks than the scratch memory has room for."""
    tables[4, -1] += 1
    request = tables[4, -1]
    most = 0
    for lane in range(count):
        slot = loaded(addresses[lane] % width, tables[2], tables[3], tables[4], request)
        tables[4, slot] += 1
        most = max(most, tables[4, slot])
    return most


@compiled
def group_atomic_request(addresses: Integers, count: int, width: int, tables: Integers) -> int:
    """The sum over the groups of the most equal addresses among the first `count`."""
    tables[4, -1] += 1
    request = tables[4, -1]
    total = 0
    for lane in range(count):
        slot = loaded(addresses[lane], tables[0], tables[1], tables[5], request)
        tables[5, slot] += 1
        group = loaded(addresses[lane] // width, tables[2], tables[3], tables[4], request)
        if tables[5, slot] > tables[4, group]:
            tables[4, group] += 1
            total += 1
    return total


@compiled
def fewest_of_vectors(
    stages: int,
    phases: int,
    vectors: Integers,
    count: int,
    length: int,
    width: int,
    tables: Integers,
) -> int:
    """The fewest stages of the first `count` vectors, as `mmsim.model.byte_banks` says."""
    if stages == phases:
        return stages
    rises = 0
    for lane in range(1, np.uint64(count)):
        rises += vectors[lane] > vectors[lane - 1]
    distinct = count if rises == count - 1 else group_stages(vectors, count, 1, tables)
    return min(max(phases, -(-length * distinct // width)), stages)


@inlined
def row_of_groups(first: int, count: int, width: int) -> int:
    """The stages of a request for `count` consecutive addresses from `first` on, by group."""
    return (first + count - 1) // width - first // width + 1


@inlined
def row_of_banks(first: int, count: int, width: int) -> int:
    """The same by bank, for at most one address of each bank."""
    return 1


@compiled
def parts_asking(lanes: Integers, count: int, width: int) -> int:
    """The number of parts of `width` lanes to which the first `count` of these lanes belong."""
    parts, before = 0, -1
    for slot in range(count):
        part = lanes[slot] // width
        parts += part != before
        before = part
    return parts


@compiled
def shared_by(apart: int, addresses: Integers, lanes: Integers, count: int) -> bool:
    """Return whether all lanes t share addresses with t xor `apart`, if both ask."""
    for slot in range(count):
        for other in range(slot + 1, min(slot + 3, count)):
            if lanes[other] == lanes[slot] ^ apart and addresses[other] != addresses[slot]:
                return False
    return True


@inlined
def lanes_at_once(addresses: Integers, lanes: Integers, count: int, width: int) -> int:
    """The lanes of a part: `width`, or twice as many if lanes share addresses in pairs.

    Then all lanes t share addresses with t xor 1, or all with t xor 2, if both ask.
    """
    for apart in range(1, 3):
        if shared_by(apart, addresses, lanes, count):
            return 2 * width
    return width


BANK, GROUP, BANK_ATOMIC, GROUP_ATOMIC = range(4)
"""The rules of parts; each is the name of a counter in capital letters."""


@compiled
def stages_of_parts(
    addresses: Integers,
    lanes: Integers,
    count: int,
    at_once: int,
    width: int,
    rule: int,
    tables: Integers,
) -> int:
    """The stages of a request in parts of `at_once` lanes, for the requesting lanes `lanes`."""
    stages = first = 0
    while first < count:
        part = lanes[first] // at_once
        last = first + 1
        while last < count and lanes[last] // at_once == part:
            last += 1
        asked = addresses[first:last]
        if rule == BANK:
            stages += bank_request(asked, last - first, width, tables)
        elif rule == GROUP:
            stages += group_request(asked, last - first, width, tables)
        elif rule == BANK_ATOMIC:
            stages += bank_atomic_request(asked, last - first, width, tables)
        else:
            stages += group_atomic_request(asked, last - first, width, tables)
        first = last
    return stages


@inlined
def row_of_group_parts(first: int, count: int, width: int) -> int:
    """The stages of parts for consecutive addresses, by group."""
    stages = 0
    for begin in range(0, count, width):
        stages += row_of_groups(first + begin, min(width, count - begin), width)
    return stages


@compiled
def count_stages(
    addresses: Integers,
    ends: Integers,
    first: int,
    last: int,
    width: int,
    by_group: bool,
    tables: Integers,
    stages: Integers,
) -> None:
    """Stages of the requests first .. last-1; request r ends before address number ends[r]."""
    for request in range(first, last):
        begin = ends[request - 1] if request else 0
        part = addresses[begin : ends[request]]
        if by_group:
            stages[request] = group_stages(part, len(part), width, tables)
        else:
            stages[request] = bank_stages(part, len(part), width, tables)
