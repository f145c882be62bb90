"""Kernels whose addresses come from data: gathers, scatters, searches, links, structures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms.gpu.drawn_numbers import (
    ODD,
    Integers,
    by_octaves,
    cycle,
    different_keys,
    spread,
)
from mmsim_algorithms.gpu.launched import SOME, Launched
from mmsim_algorithms.gpu.steps import Step

EMPTY = 0
"""The content of a free slot of a hash table, which is no key."""
HASH_BITS = 32
DIGIT = 8
"""Bits of the sort's digit."""
STEPS = 64
"""The links of a thread."""
STRIDE = 3
TIME = 3


@mm.program
def gather(T: mm.Thread, a: mm.Array, b: mm.Array, q: mm.Array) -> None:
    """b[i] = a[q[i]], a thread for each word."""
    b[T.id] = a[q[T.id]]


@mm.program
def scatter(T: mm.Thread, a: mm.Array, b: mm.Array, q: mm.Array) -> None:
    """b[q[i]] = a[i], a thread for each word of a."""
    b[q[T.id]] = a[T.id]


@mm.program
def mark(T: mm.Thread, flags: mm.Array, q: mm.Array) -> None:
    """flags[q[i]] = 1, a thread for each i; several may write the same one."""
    flags[q[T.id]] = 1


@mm.program
def scatter_pairs(
    T: mm.Thread,
    keys: mm.Array,
    values: mm.Array,
    places: mm.Array,
    new_keys: mm.Array,
    new_values: mm.Array,
) -> None:
    """Each key and its value go to their place, a thread for each pair."""
    q = places[T.id]
    new_keys[q] = keys[T.id]
    new_values[q] = values[T.id]


@mm.program
def compact(T: mm.Thread, a: mm.Array, places: mm.Array, b: mm.Array) -> None:
    """The positive words of a, in order: places[i] of them are before a[i]."""
    x = a[T.id]
    if x > 0:
        b[places[T.id]] = x


@mm.program
def look_up(
    T: mm.Thread, slots: mm.Array, values: mm.Array, keys: mm.Array, found: mm.Array, shift: int
) -> None:
    """The value of each key in a hash table with linear probing, or -1.

    A key's first slot is its product with an odd number, modulo 2^32, without the last `shift`
    bits.
    """
    key = keys[T.id]
    i = (key * ODD & 0xFFFFFFFF) >> shift
    slot = slots[i]
    while slot != key and slot != EMPTY:
        i += 1
        slot = slots[i]
    value = -1
    if slot == key:
        value = values[i]
    found[T.id] = value


@mm.program
def binary_search(T: mm.Thread, a: mm.Array, keys: mm.Array, found: mm.Array) -> None:
    """For each key, count the words of a, in ascending order, that are not larger."""
    key = keys[T.id]
    low, high = 0, a.size
    while low < high:
        q = (low + high) // 2
        if a[q] <= key:
            low = q + 1
        else:
            high = q
    found[T.id] = low


@mm.program
def chase(T: mm.Thread, links: mm.Array, end: mm.Array, steps: int) -> None:
    """Each thread follows the links from its own word, so many steps."""
    v = T.id
    for _ in range(steps):
        v = links[v]
    end[T.id] = v


@mm.program
def axpy(T: mm.Thread, x: mm.Array, y: mm.Array, z: mm.Array, factor: int, stride: int) -> None:
    """z = factor x + y, of every stride-th word: a thread for each."""
    i = T.id * stride
    z[i] = factor * x[i] + y[i]


@mm.program
def move(T: mm.Thread, particles: mm.Array, places: mm.Array, time: int) -> None:
    """The places of particles after some time: each has two coordinates and two speeds in a row."""
    i = T.id
    places[i, 0] = particles[i, 0] + time * particles[i, 2]
    places[i, 1] = particles[i, 1] + time * particles[i, 3]


# ------------------------------------------------------------ gathers and scatters


def gathered(q: Integers, dtype: npt.DTypeLike) -> Launched:
    """b[i] = a[q[i]]."""
    a = np.arange(q.size, dtype=dtype)
    step = Step(gather, ("a", "b", "q"), q.size, SOME)
    arrays = {"a": a, "b": np.zeros_like(a), "q": q.astype(np.int32)}
    return Launched([step], arrays, {"b": a[q]})


def often_gathered(n: int) -> Launched:
    """Some floats are read much more often than others."""
    return gathered(spread(by_octaves(n, n, 5), n), np.float32)


def gathered_in_order(n: int) -> Launched:
    """Ascending q: neighbours read the same double, or close ones."""
    q = np.random.RandomState(16).randint(n, size=n, dtype=np.int64)
    return gathered(np.sort(q), np.float64)


def scattered(n: int) -> Launched:
    """Doubles for half of the places, each to its own place."""
    q = np.random.RandomState(24).permutation(n)[: n // 2].astype(np.int32)
    a = np.arange(1, q.size + 1, dtype=np.float64)
    b = np.zeros(n)
    expected = b.copy()
    expected[q] = a
    step = Step(scatter, ("a", "b", "q"), q.size, SOME)
    return Launched([step], {"a": a, "b": b, "q": q}, {"b": expected})


def marked(n: int) -> Launched:
    """A mark for each place; some places are marked very often."""
    q = spread(by_octaves(n, n, 25), n).astype(np.int32)
    flags = np.zeros(n, np.int32)
    expected = flags.copy()
    expected[q] = 1
    step = Step(mark, ("flags", "q"), n, SOME)
    return Launched([step], {"flags": flags, "q": q}, {"flags": expected})


def sorted_by_digit(n: int) -> Launched:
    """Random keys with values, by the second digit; those with the same one keep their order."""
    keys = np.random.RandomState(26).randint(2**31, size=n, dtype=np.int64).astype(np.int32)
    values = np.arange(n, dtype=np.int32)
    order = np.argsort((keys >> DIGIT).astype(np.uint8), kind="stable")
    places = np.empty_like(values)
    places[order] = values
    arrays = {"keys": keys, "values": values, "places": places}
    arrays |= {"new keys": np.zeros_like(keys), "new values": np.zeros_like(values)}
    step = Step(scatter_pairs, tuple(arrays), n, SOME)
    return Launched([step], arrays, {"new keys": keys[order], "new values": values[order]})


def compacted(n: int) -> Launched:
    """Three words of eight stay, on average."""
    a = np.random.RandomState(27).randint(-4, 4, size=n, dtype=np.int64).astype(np.int32)
    kept = a[a > 0]
    ones = (a > 0).astype(np.int32)
    places = np.cumsum(ones, dtype=np.int32) - ones
    step = Step(compact, ("a", "places", "b"), n, SOME)
    return Launched([step], {"a": a, "places": places, "b": np.zeros_like(kept)}, {"b": kept})


# ------------------------------------------------------------ searches and links


@dataclass(frozen=True)
class HashTable:
    """Keys in the slots of linear probing, and a value in each slot with a key.

    Keys whose first slots are near the end continue behind it; the last slot there is empty.
    """

    slots: npt.NDArray[np.int32]
    values: npt.NDArray[np.int32]
    shift: int

    @staticmethod
    def of(keys: Integers, bits: int) -> HashTable:
        """A table of 2^bits slots, and some behind them, for keys that are different and positive.

        Keys are put in by their first slots, in order. No search passes an empty slot.

        >>> table = HashTable.of(np.array([1, 2, 3, 5, 6, 8]), 3)
        >>> table.first(np.array([1, 2, 3, 5, 6, 8])).tolist()
        [4, 1, 6, 0, 5, 7]
        >>> table.slots.tolist()
        [5, 2, 0, 0, 1, 6, 3, 8, 0]
        """
        table = HashTable(np.empty(0, np.int32), np.empty(0, np.int32), HASH_BITS - bits)
        first = table.first(keys)
        order = np.argsort(first, kind="stable")
        count = np.arange(keys.size)
        places = np.maximum.accumulate(first[order] - count) + count
        slots = np.full(max(1 << bits, int(places[-1]) + 1) + 1, EMPTY, np.int32)
        values = np.full_like(slots, -1)
        slots[places], values[places] = keys[order], order
        return HashTable(slots, values, table.shift)

    def first(self, keys: Integers) -> Integers:
        """The place at which the search for each key begins."""
        return (keys * ODD & 0xFFFFFFFF) >> self.shift


def looked_up(n: int, count: int) -> Launched:
    """So many keys, half of them in a table of n slots; three of four slots have a key."""
    known = different_keys(n * 3 // 4, 28)
    table = HashTable.of(known, n.bit_length() - 1)
    draw = np.random.RandomState(29)
    keys = draw.randint(1, 2**31, size=count, dtype=np.int64)
    inside = draw.randint(2, size=count, dtype=np.int64) == 1
    keys[inside] = known[draw.randint(known.size, size=int(inside.sum()), dtype=np.int64)]
    place = np.minimum(np.searchsorted(known, keys), known.size - 1)
    expected = np.where(known[place] == keys, place, -1).astype(np.int32)
    arrays = {"slots": table.slots, "values": table.values, "keys": keys.astype(np.int32)}
    arrays["found"] = np.zeros_like(expected)
    step = Step(look_up, (*arrays, table.shift), count, SOME)
    return Launched([step], arrays, {"found": expected})


def searched(n: int, count: int) -> Launched:
    """Search for so many keys among n words, a thread for each."""
    draw = np.random.RandomState(17)
    a = np.sort(draw.randint(4 * n, size=n, dtype=np.int64)).astype(np.int32)
    keys = draw.randint(4 * n, size=count, dtype=np.int64).astype(np.int32)
    arrays = {"a": a, "keys": keys, "found": np.zeros_like(keys)}
    step = Step(binary_search, ("a", "keys", "found"), count, SOME)
    expected = np.searchsorted(a, keys, side="right").astype(np.int32)
    return Launched([step], arrays, {"found": expected})


def chased(n: int, count: int) -> Launched:
    """So many threads follow n links."""
    links, end = cycle(n, 18), np.arange(count)
    for _ in range(STEPS):
        end = links[end]
    arrays = {"links": links.astype(np.int32), "end": np.zeros(count, np.int32)}
    step = Step(chase, ("links", "end", STEPS), count, SOME)
    return Launched([step], arrays, {"end": end.astype(np.int32)})


# ------------------------------------------------------------ strides and structures


def every_third(n: int) -> Launched:
    """n of every `STRIDE` n words; the others stay."""
    x = (np.arange(n * STRIDE) % 1009).astype(np.float32)
    y = (np.arange(n * STRIDE) % 31).astype(np.float32)
    z = np.zeros_like(x)
    expected = z.copy()
    expected[::STRIDE] = 5 * x[::STRIDE] + y[::STRIDE]
    step = Step(axpy, ("x", "y", "z", 5, STRIDE), n, SOME)
    return Launched([step], {"x": x, "y": y, "z": z}, {"z": expected})


def moved(n: int) -> Launched:
    """A thread for each particle; it reads four words in a row, in turn."""
    particles = (np.arange(4 * n) * 7919 % 1009).astype(np.float32).reshape(n, 4)
    expected = particles[:, :2] + TIME * particles[:, 2:]
    arrays = {"particles": particles, "places": np.zeros((n, 2), np.float32)}
    step = Step(move, ("particles", "places", TIME), n, SOME)
    return Launched([step], arrays, {"places": expected})
