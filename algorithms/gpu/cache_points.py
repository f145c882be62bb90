"""The measurements of a GPU's second-level cache and memory: programs, numbers, repetitions.

A point is one program on one size, launched with few repetitions and with many. The time of an
access is the difference of the two times, divided by the difference of their accesses. Each
function here gives the points of one number, and describes how the number follows from them. Sizes
are parts of the card's cache, so that no number here belongs to one card.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from mmsim.cuda_c.kernels import MOST_THREADS as BLOCK
from mmsim.cuda_c.kernels import WARP
from mmsim.frontend.program import Program
from mmsim.gpu.record import Row
from mmsim_algorithms.gpu import cache_programs as programs
from mmsim_algorithms.gpu.cache_point import LINE, Before, Point

SECTOR = 8
"""Words of 4 bytes in a sector of the cache."""
RESIDENT = 2048
"""Threads that a multiprocessor holds at a time."""
SCRATCH = 2**29
"""Words of the long array that most points access."""
ZEROS = 64 * BLOCK * LINE
"""The most words that the rounds access."""
MEBI = 2**20
UNCOUNTED = ("under way", "launch", "multiprocessors", "hit latency", "miss latency", "pages")
"""Numbers that no counter explains."""
REGIONS = (4, 8, 12, 15, 16, 17, 18, 20, 24, 28, 31, WARP)
"""The numbers of regions that the lanes of a warp read."""

PASSES: tuple[Before, ...] = ("written", "read")
"""The run before a timed launch: the launch itself, so that the cache holds its data; or a pass
through another array, larger than the cache, which leaves written lines or read lines there."""


@dataclass(frozen=True)
class Card:
    """The numbers from the driver."""

    multiprocessors: int
    cache_bytes: int

    @property
    def threads(self) -> int:
        """The most threads that the card holds at a time."""
        return self.multiprocessors * RESIDENT

    def lines(self, part: float) -> int:
        """The lines of a part of the cache."""
        return int(self.cache_bytes * part) // (4 * LINE)


def points(card: Card) -> Iterator[Point]:
    """All points, the most important numbers first."""
    for of in (
        *(read_hits, write_hits, latencies, memory, runs, partial_writes, fetches),
        *(capacity, under_way, multiprocessors, atomics, reach, pages, launches),
    ):
        yield from of(card)


def counted(card: Card) -> list[Point]:
    """The points that a profiler counts."""
    return [point for point in points(card) if point.number not in UNCOUNTED]


def repetitions(threads: int, ps: float, least: int = 1) -> tuple[int, int]:
    """Few and many: about 30 and 150 microseconds, if an access takes `ps` picoseconds.

    Few are no fewer than `least`.

    >>> repetitions(1000, 1000)
    (30, 150)
    """
    few = max(least, 1, round(30e6 / (threads * ps)))
    return few, 5 * few


def _on_all(
    card: Card,
    number: str,
    about: Row,
    program: Program,
    numbers: tuple[int, ...],
    ps: float,
    least: int = 1,
    **more: Any,
) -> Point:
    """A point on all threads of the card, in which an access takes about `ps` picoseconds."""
    times = repetitions(card.threads, ps, least)
    return Point(number, about, program, numbers, times, card.threads, **more)


# ------------------------------------------------------------ the cache


def read_hits(card: Card) -> Iterator[Point]:
    """Reads of every `stride`-th word of a quarter of the cache, of which both halves have room.

    With a stride of 1 and words of 8 bytes two requests for tags serve 8 sectors: 4 times the time
    of an access is that of a data sector, if tags don't take longer. Larger strides have 2 sectors
    of a line or 1. Reads of one sector of random lines take the time of a tag request: few threads
    ask for one line at a time. Half-warps are served in turn. Interleaved words of 8 bytes show
    whether two half-warps ask once for the tag of a shared line.
    """
    yield from _strides(card, "read hits", programs.walk, 0.25)
    yield _interleaved(card, "interleaved read hits", programs.interleaved, 0.25)
    yield _of_lines(card, "random read hits", programs.scattered, 0.25)


def write_hits(card: Card) -> Iterator[Point]:
    """The same with writes, to an eighth of the cache: with a stride of 1 whole sectors."""
    yield from _strides(card, "write hits", programs.walk_writing, 0.125)
    yield _interleaved(card, "interleaved write hits", programs.interleaved_writing, 0.125)
    yield _of_lines(card, "random write hits", programs.scattered_writing, 0.125)


def _interleaved(card: Card, number: str, program: Program, part: float) -> Point:
    """Accesses to words of 8 bytes in turn; both half-warps share all lines."""
    words = card.lines(part) * LINE // 2
    about: Row = {"word bytes": 8, "MiB": _mebi(8 * words)}
    return _on_all(card, number, about, program, (words, 1), 2, wide=True)


def _of_lines(card: Card, number: str, program: Program, part: float) -> Point:
    """Accesses to one word of random lines."""
    numbers = (card.lines(part), LINE, 1)
    about: Row = {"MiB": _mebi(4 * LINE * card.lines(part))}
    return _on_all(card, number, about, program, numbers, 7)


def _strides(card: Card, number: str, program: Program, part: float) -> Iterator[Point]:
    for wide, stride in ((False, 32), (True, 1), (False, 1), (False, 8), (False, 16), (True, 4)):
        size = 8 if wide else 4
        places = card.lines(part) * 4 * LINE // (size * stride)
        about: Row = {"word bytes": size, "stride": stride, "MiB": _mebi(places * stride * size)}
        ps = 7 * min(1, size * stride / 32)
        yield _on_all(card, number, about, program, (places, stride), ps, wide=wide)


def latencies(card: Card) -> Iterator[Point]:
    """Reads of one thread that wait for each other, of random lines of an eighth of the cache.

    If the lines are in the cache, the time of an access is the latency of a hit. After another
    array has passed through the cache, it is that of a miss, without the time for a far page.
    """
    about: Row = {"MiB": _mebi(4 * LINE * chain_lines(card))}
    times = 2000, 10000
    hit = Point("hit latency", about, programs.follow, (0,), times, threads=1, array="chain")
    yield hit
    yield replace(hit, number="miss latency", before="read")


def chain_lines(card: Card) -> int:
    """The lines of the chain for latencies."""
    return card.lines(0.125)


def capacity(card: Card) -> Iterator[Point]:
    """Reads of one sector of random lines, and of all lines in turn, of arrays of several sizes.

    The effective capacity is where the time of an access begins to rise, and the counted hits begin
    to fall. The speed of both shows how lines are replaced.
    """
    for part in (1 / 8, 1 / 4, 3 / 8, 1 / 2, 5 / 8, 3 / 4, 7 / 8, 1, 5 / 4, 3 / 2, 2, 3, 4):
        lines = card.lines(part)
        about: Row = {"part of the cache": part, "MiB": _mebi(4 * LINE * lines)}
        least = 2 * lines // card.threads  # each line has been read several times before
        random, turn = "capacity, random", "capacity, in turn"
        yield _on_all(card, random, about, programs.scattered, (lines, LINE, 1), 7, least)
        yield _on_all(card, turn, about, programs.walk, (lines, LINE), 7, least)


# ------------------------------------------------------------ the memory


def memory(card: Card) -> Iterator[Point]:
    """Reads, then writes, of all words of half the long array in turn: the memory's bandwidth."""
    places = SCRATCH // 4
    about: Row = {"word bytes": 8, "MiB": _mebi(8 * places)}
    how: dict[str, Any] = {"before": "read", "wide": True}
    yield _on_all(card, "memory, reads", about, programs.walk, (places, 1), 2, **how)
    yield _on_all(card, "memory, writes", about, programs.walk_writing, (places, 1), 2, **how)


def runs(card: Card) -> Iterator[Point]:
    """Reads and writes of runs of words at random places of half the long array.

    A run of 8 words is a sector, of 32 a line. From some length on a byte takes no longer than
    in turn: a row of the memory then is long enough to hide the opening of another one. The time
    of shorter runs beyond the memory's bandwidth is that of opening rows.
    """
    size = SCRATCH // 2
    for words in (8, 16, 32, 64, 128, 256, 512, 1024):
        ps = 10 * 8 / words + 1
        yield _random(card, "runs, read", programs.scattered, size, words, words, ps)
        yield _random(card, "runs, written", programs.scattered_writing, size, words, words, ps)


def partial_writes(card: Card) -> Iterator[Point]:
    """Writes of some words of random sectors: beyond whole sectors, each is filled from memory."""
    number, program, size = "partial writes", programs.scattered_writing, SCRATCH // 2
    for words in (1, 2, 4, 8):
        yield _random(card, number, program, size, SECTOR, words, 60 / words)


def reach(card: Card) -> Iterator[Point]:
    """Random sectors, read, and written in part, of arrays of several sizes: do far pages cost?"""
    for times in (2, 4, 8, 16, 32):
        size = min(times * card.cache_bytes // 4, SCRATCH)
        yield _random(card, "reach, read", programs.scattered, size, SECTOR, 1, 20)
        yield _random(card, "reach, written", programs.scattered_writing, size, SECTOR, 1, 60)


def pages(card: Card) -> Iterator[Point]:
    """Reads that hit, of random sectors of some regions, by the lanes of a warp in turn.

    A multiprocessor knows where few pages are. Reads of more regions than that, each in its own
    page, take longer. Regions so near that several share a page don't. All regions together have
    the sectors of those of `read_hits`, or fewer if they would overlap. At the largest distance,
    the long array just has a region for each lane.
    """
    sectors = card.lines(0.25) * LINE // SECTOR
    spacing = 1 << (SCRATCH // WARP).bit_length() - 1
    while True:
        for regions in REGIONS:
            of_each = max(1, min(sectors // regions, spacing // SECTOR))
            about: Row = {"spacing MiB": _mebi(4 * spacing), "pages": regions}
            numbers = (of_each, SECTOR, regions, spacing)
            yield _on_all(card, "pages", about, programs.spread, numbers, 10)
        spacing //= 2
        if 4 * spacing < MEBI:
            return


def _random(
    card: Card, number: str, program: Program, size: int, unit: int, words: int, ps: float
) -> Point:
    units = size // unit
    # Twice as many sectors as the cache has, so that few writes fill it, too.
    bytes_of_a_time = 4 * card.threads * max(1, SECTOR // words)
    full = -(-2 * card.cache_bytes // bytes_of_a_time)
    about: Row = {"unit words": unit, "words": words, "MiB": _mebi(4 * units * unit)}
    return _on_all(card, number, about, program, (units, unit, words), ps, full, before="read")


def fetches(card: Card) -> Iterator[Point]:
    """Reads of two sectors of random lines: which sectors the memory sends together.

    The sectors that the memory sends, divided by the pairs, are 2 if both came together, and twice
    that if not. For one sector twice they are the size of a fetch.
    """
    for one, two in ((0, 0), (0, 1), (0, 2), (0, 3), (1, 2), (2, 3), (3, 3)):
        about: Row = {"sectors": f"{one} and {two}"}
        numbers = (SCRATCH // 2 // LINE, LINE, one * SECTOR, two * SECTOR)
        how: dict[str, Any] = {"before": "read", "accesses": 2}
        yield _on_all(card, "fetches", about, programs.pairs, numbers, 40, **how)


# ------------------------------------------------------------ what is on the way


def under_way(card: Card) -> Iterator[Point]:
    """Rounds of k independent reads that hit, by some warps of one block.

    The time of a round of one warp grows little while all its reads are under way together. From
    some k on it grows as k does: then k requests of a warp, or of the multiprocessor, are under
    way. A point gives the time of one read of a thread: times k and the threads it is a round's.
    """
    for stride in (1, LINE):
        for warps, most in ((1, 64), (4, 16), (16, 8), (32, 8)):
            for k in (1, 2, 4, 8, 16, 32, 64):
                if k <= most:
                    yield Point(
                        "under way",
                        {"warps": warps, "stride": stride, "k": k},
                        programs.rounds,
                        (stride,),
                        times=(50, 250),
                        threads=32 * warps,
                        array="zeros",
                        constants=(k,),
                        accesses=k,
                    )


def multiprocessors(card: Card) -> Iterator[Point]:
    """Accesses that hit by few multiprocessors: the rate of each, and the shared rate."""
    every = card.multiprocessors
    for number, program, lines in (
        ("multiprocessors", programs.walk, card.lines(0.25)),
        ("multiprocessors, written", programs.walk_writing, card.lines(0.125)),
    ):
        sizes = {1, 2, 4, 8, 16, every // 4, every // 2, every}
        for blocks in sorted(sizes & {*range(1, every + 1)}):
            for wide, stride in ((False, LINE), (True, 1)):
                places = lines * LINE // 2 if wide else lines
                yield Point(
                    number,
                    {"blocks": blocks, "word bytes": 8 if wide else 4, "stride": stride},
                    program,
                    (places, stride),
                    threads=BLOCK * blocks,
                    wide=wide,
                    times=repetitions(BLOCK * blocks, (60 if wide else 500) / blocks),
                )


def atomics(card: Card) -> Iterator[Point]:
    """Atomic additions to one word of each of some lines, and to all words of them."""
    for words in (1, LINE):
        for lines in (1, 32, 1024, card.lines(0.125)):
            about: Row = {"words of a line": words, "lines": lines}
            numbers, ps = (lines, LINE, words), 500 / min(lines, 64)
            yield _on_all(card, "atomics", about, programs.scattered_adding, numbers, ps)


def launches(card: Card) -> Iterator[Point]:
    """Launches that access only their numbers, or a part of the cache once.

    Here the times themselves are the result. After another array was written, the cache is full of
    lines that have to go to memory first; after one was read it isn't.
    """
    for threads in (32, card.threads):
        about: Row = {"threads": threads}
        yield Point("launch", about, programs.walk, (LINE, 1), (0, 1), threads, before="read")
    part = card.cache_bytes // 2 // 8
    times = -(-part // card.threads)
    for number, program in (
        ("first reads", programs.walk),
        ("first writes", programs.walk_writing),
    ):
        for before in PASSES:
            yield Point(
                number,
                {"after an array was": before, "MiB": _mebi(8 * part)},
                program,
                (4 * part, 1),
                times=(times, 3 * times),
                threads=card.threads,
                before=before,
                wide=True,
            )


def _mebi(size: int) -> float:
    return round(size / MEBI, 3)
