"""Programs that measure a GPU's second-level cache and its memory (`cache_points`).

`a` is a long array, and p holds numbers, so that one kernel's text does for all of them. p[0] is
how often a thread repeats its access: the difference of two times is that of accesses only.
"""

from __future__ import annotations

from typing import Any

from numpy import int32, uint32

from mmsim.api.program import program
from mmsim.frontend.program import Program
from mmsim.frontend.thread import atomic
from mmsim.frontend.thread.names import Array, Thread, registers, shared


@program
def scrambled(n: uint32) -> Any:
    """A number of 32 bits for each n, as if drawn: the last steps of MurmurHash3."""
    x = n
    x ^= x >> 16
    x *= 0x85EBCA6B
    x ^= x >> 13
    x *= 0xC2B2AE35
    x ^= x >> 16
    return x


@program
def read(T: Thread, a: Array, i: int, value: int) -> None:
    """Read a word."""
    a[i]


@program
def write(T: Thread, a: Array, i: int, value: int) -> None:
    """Write a word."""
    a[i] = value


@program
def count(T: Thread, a: Array, i: int, value: int) -> None:
    """Add 1 to a word by an atomic whose old value is discarded."""
    atomic.add(a, int(i), 1)


@program
def in_turn(n: int) -> int:
    """The number of the word of thread n: its own."""
    return n


@program
def across(n: int) -> int:
    """The number of the word of thread n, where a warp's adjacent threads have words 16 apart."""
    return n - n % 32 + n % 2 * 16 + n % 32 // 2


def _walk(access: Program, place: Program) -> Program:
    """Access every p[2]-th word, p[1] of them in turn, again from the first."""

    @program
    def walk(T: Thread, a: Array, p: Array) -> None:
        """Times, places, stride: each thread begins at its own place."""
        places = int32(p[1])
        stride = int32(p[2])
        step = int32(T.count % p[1])
        i = int32(place(T.id) % p[1])
        for _ in range(p[0]):
            access(T, a, i * stride, i)
            i += step
            if i >= places:
                i -= places

    return walk


walk, walk_writing = _walk(read, in_turn), _walk(write, in_turn)
interleaved, interleaved_writing = _walk(read, across), _walk(write, across)


def _scattered(access: Program) -> Program:
    """Access random places: so many adjacent threads access the first words of one unit."""

    @program
    def scattered(T: Thread, a: Array, p: Array) -> None:
        """Times, units, words from one unit to the next, words that are accessed."""
        units = p[1]
        unit = int32(p[2])
        own = int32(T.id % p[3])
        n = uint32(T.id // p[3])
        step = T.count // p[3]
        for _ in range(p[0]):
            access(T, a, int32((int(scrambled(n)) * units) >> 32) * unit + own, own)
            n += step

    return scattered


scattered, scattered_writing, scattered_adding = map(_scattered, (read, write, count))


@program
def pairs(T: Thread, a: Array, p: Array) -> None:
    """Read two words of random units: times, units, words of a unit, which two.

    They are p[3] and p[4] words from the beginning of the unit.
    """
    units = p[1]
    unit = int32(p[2])
    one = int32(p[3])
    two = int32(p[4])
    n = uint32(T.id)
    for _ in range(p[0]):
        place = int32((int(scrambled(n)) * units) >> 32) * unit
        a[place + one]
        a[place + two]
        n += T.count


@program
def spread(T: Thread, a: Array, p: Array) -> None:
    """Read random sectors of regions: times, sectors, words of one, regions, words to the next.

    Lane l of a warp reads one of the first p[1] sectors of region l mod p[3].
    """
    sectors = p[1]
    sector = int32(p[2])
    region = int32(T.id % 32 % p[3]) * int32(p[4])
    n = uint32(T.id)
    for _ in range(p[0]):
        a[region + int32((int(scrambled(n)) * sectors) >> 32) * sector]
        n += T.count


@program
def rounds(T: Thread, a: Array, b: Array, p: Array, k: int) -> None:
    """Rounds of k independent reads, each round after the last one's: times, stride.

    What was read is kept in shared memory, after all reads of the round. So a compiler can't wait
    for the first of them before it has made the last one, and the next round waits for all.
    """
    c = registers(k)
    kept = shared((k, T.block_size), dtype=a.dtype)
    stride = p[1]
    for _ in range(p[0]):
        for j in range(k):
            c[j] = a[(j * T.count + T.id) * stride]
        for j in range(k):
            kept[j, T.index] = c[j]
    b[T.id] = kept[k - 1, T.index]


@program
def follow(T: Thread, a: Array, b: Array, p: Array) -> None:
    """Each read at the place that the last one named: times, the first place."""
    x = p[1]
    for _ in range(p[0]):
        x = a[x]
    b[T.id] = x
