"""Bank conflicts of a tile: the cost of one warp's accesses to it, phase by phase.

A tile lies in shared memory by a layout; each thread of a warp reads or writes some values of it.
A `Question` holds the accesses of the threads. For a layout it gives the threads that conflict in
each bank, for each instruction, without a program and without a GPU.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from mmsim.errors import LayoutError, shown
from mmsim.host.guesses import Guessed, instead
from mmsim.ir.dtypes import Integers
from mmsim.model.byte_banks import BANK_BYTES, SIZES, ByteBanks
from mmsim.model.conflicts import Conflict
from mmsim.model.drawn import DrawnConflicts
from mmsim.model.layout import Layout, offsets_of
from mmsim.model.tiles import Shape, Strided, whole
from mmsim.printable import counted
from mmsim.tabular import Tabular
from mmsim.tracebacks import said

THREADS = 32
BANKS = 32
MOST_VALUES = 1 << 16
MOST_ELEMENTS = 1 << 24
"""The most elements of a tile: more bytes than any shared memory has."""
MATRIX_BYTES = 16
"""The bytes of a row of the matrices that `ldmatrix` and `stmatrix` move."""
Index = int | tuple[int, ...]
Access = Callable[[int, int], Index | None]
"""A function of thread and value: an element's index, or None if the thread takes no part."""
Kind = Literal["read", "write", "atomic", "cas", "ldmatrix", "stmatrix"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MATRICES = ("ldmatrix", "stmatrix")
ATOMICS = ("atomic", "cas")
Words = dict[int, dict[int, tuple[int, ...]]]


class Unaligned(LayoutError):
    """A vector isn't contiguous, or isn't aligned."""


@dataclass(frozen=True)
class Phase:
    """The threads that are served together, and the words that they access in each bank.

    `words` has an entry for each bank: the accessed words, counted from the tile's beginning, and
    the threads of each word. `least` is the fewest stages that the phase could take under any
    layout.
    """

    threads: tuple[int, ...]
    words: Words
    stages: int
    least: int

    @property
    def worst(self) -> Words:
        """The banks with several accessed words."""
        return {bank: words for bank, words in self.words.items() if len(words) > 1}


@dataclass(frozen=True)
class Request:
    """One instruction: the value of number `value` of each thread."""

    value: int
    phases: tuple[Phase, ...]

    @property
    def stages(self) -> int:
        """The sum of the stages of its phases."""
        return sum(phase.stages for phase in self.phases)


@dataclass(frozen=True, repr=False)
class Conflicts(Tabular, DrawnConflicts, Guessed):
    """The cost of a warp's accesses to a tile; `print` it for a table.

    `bytes` is the size of a thread's access in one instruction. `addresses` has a row for each
    value: the address of each thread in units of `bytes` bytes, -1 if the thread takes no part.
    `least` is the fewest stages that these threads could take under any layout: one for each
    phase; for atomic operations, the most requests for one element of each phase.

    >>> from mmsim.model.tiles import Padded
    >>> print(ask(Padded(0), lambda t, v: (t, v), (32, 32), values=2))
    read of 4 bytes a thread: 2 requests, 2 phases, 64 stages, 62 beyond the least
    values  phase  threads  stages  least  banks
    0-1         0  0-31         32      1      1
    >>> ask(Padded(1), lambda t, v: (t, v), (32, 32)).free
    True
    """

    _instead = instead(
        {
            "ways degree conflicts": "found.stages, and found.least at best",
            "ok conflict_free": "found.free",
            "wasted": "found.stages - found.least",
        }
    )

    kind: Kind
    bytes: int
    addresses: tuple[tuple[int, ...], ...]
    least: int

    @cached_property
    def requests(self) -> tuple[Request, ...]:
        """The requests, one for each value with at least one thread."""
        rule = _rule(self.bytes, self.kind)
        found = []
        for value, addresses in enumerate(self.addresses):
            phases = tuple(_phase(rule, own, self.bytes) for own in _parts(rule, addresses))
            if phases:
                found.append(Request(value, phases))
        return tuple(found)

    @cached_property
    def phases(self) -> int:
        """The phases of all requests together."""
        return sum(len(request.phases) for request in self.requests)

    @cached_property
    def stages(self) -> int:
        """The stages of all requests together."""
        every = np.array(self.addresses, dtype=np.int64)
        warps, lanes = np.nonzero(every >= 0)
        rule = _rule(self.bytes, self.kind)
        return int(rule.stage_counts(every[warps, lanes], warps, len(every), lanes).sum())

    @property
    def free(self) -> bool:
        """Return whether there is no conflict: the stages are the fewest possible."""
        return self.stages == self.least

    def collisions(self) -> Iterator[tuple[int, int, int, dict[int, tuple[int, ...]]]]:
        """Value, phase, bank, and the threads of each of the bank's words, if several.

        >>> from mmsim.model.tiles import Padded
        >>> found = ask(Padded(0), lambda t, v: (t % 2, 0), (2, 32), threads=4)
        >>> list(found.collisions())
        [(0, 0, 0, {0: (0, 2), 32: (1, 3)})]
        """
        for request in self.requests:
            for number, phase in enumerate(request.phases):
                for bank, words in sorted(phase.worst.items()):
                    yield request.value, number, bank, words

    @property
    def summary(self) -> str:
        """A line that sums up all requests."""
        requests = sum(max(addresses) >= 0 for addresses in self.addresses)
        more = self.stages - self.least
        return (
            f"{self.kind} of {self.bytes} bytes a thread: {counted(requests, 'request')}, "
            f"{counted(self.phases, 'phase')}, {counted(self.stages, 'stage')}, "
            + ("free of conflicts" if self.free else f"{more} beyond the least")
        )

    def in_conflict(self) -> Iterator[tuple[str, int, str, int, int, int]]:
        """Phases in conflict: values, number, threads, stages, least stages, worst banks.

        Values with equal phases share an entry.

        >>> from mmsim.model.tiles import Padded
        >>> list(ask(Padded(0), lambda t, v: (t, v), (32, 32), values=2).in_conflict())
        [('0-1', 0, '0-31', 32, 1, 1)]
        """
        merged: dict[tuple[int, str, int, int, int], list[int]] = defaultdict(list)
        for request in () if self.free else self.requests:
            for number, phase in enumerate(request.phases):
                if phase.stages > phase.least:
                    counts = (phase.stages, phase.least, len(phase.worst))
                    merged[number, _spans(phase.threads), *counts].append(request.value)
        for row, values in merged.items():
            yield _spans(values), *row


@dataclass(frozen=True, eq=False)
class Question:
    """The accesses of a warp's threads, to be tried with any number of layouts.

    `ways` are the elements of each value of each thread, numbered in row-major order, -1 if the
    thread takes no part. A vector has several elements. If these may be adjacent along either of
    two axes, there are two ways.

    >>> from mmsim.model.tiles import Padded
    >>> columns = question(lambda t, v: (t, v), (32, 32))
    >>> [columns(Padded(by)).stages for by in (0, 1, 2)]
    [32, 1, 2]
    """

    kind: Kind
    size: int
    shape: Shape
    ways: tuple[Integers, ...]

    def __call__(self, layout: Layout) -> Conflicts:
        """Return the cost under a layout. Raises `Unaligned` if a vector isn't aligned there."""
        vector = self.ways[0].shape[2]
        addresses = _addresses(offsets_of(layout, self.shape).ravel(), self.ways)
        rows = tuple(map(tuple, addresses.tolist()))
        return Conflicts(self.kind, self.size * vector, rows, self.least)

    @cached_property
    def least(self) -> int:
        """The fewest stages under any layout, each phase by itself."""
        rule = _rule(self.size * self.ways[0].shape[2], self.kind)
        firsts = self.ways[0][:, :, 0].tolist()
        return sum(_least(rule, own) for first in firsts for own in _parts(rule, first))


def ask(layout: Layout, access: Access | Strided, shape: Shape, **options: Any) -> Conflicts:
    """Return the cost of accesses to a tile under a layout; `options` as for `question`."""
    return question(access, shape, **options)(layout)


def question(
    access: Access | Strided,
    shape: Shape,
    *,
    size: int = BANK_BYTES,
    vector: int = 1,
    kind: Kind = "read",
    threads: int = THREADS,
    values: int = 1,
) -> Question:
    """Return the question of `mmsim.conflicts`, which explains the parameters."""
    _check_shape(shape)
    vector = _vector(kind, whole(size, "the bytes of an element", 1), whole(vector, "a vector", 1))
    if isinstance(access, Strided):
        ways: tuple[Integers, ...] = (_of_threads_and_values(access, shape, vector),)
        threads = ways[0].shape[1]
    else:
        threads = whole(threads, "the number of threads", 1, THREADS)
        values = whole(values, "the number of values of a thread", 1, MOST_VALUES)
        ways = _neighbours(_of_function(access, shape, threads, values), shape, vector)
    if kind in MATRICES:
        _check_rows(kind, threads, ways[0])
    return Question(kind, size, shape, ways)


# ------------------------------------------------------------ what is asked


def _vector(kind: str, size: int, vector: int) -> int:
    """The elements that a thread accesses in one instruction, if the instruction exists."""
    if kind not in KINDS:
        raise LayoutError(f"an access is one of {', '.join(KINDS)}, not {shown(kind)}")
    if kind in MATRICES:
        row = MATRIX_BYTES // size if size in SIZES else 0
        if row == 0 or vector not in (1, row):
            raise LayoutError(
                f"{kind} moves rows of {MATRIX_BYTES} bytes, so leave out the vector, and give an "
                f"element 1, 2, 4, 8 or 16 bytes; not {vector} times {size}"
            )
        return row
    if kind in ATOMICS and (vector != 1 or size not in (4, 8)):
        raise LayoutError(
            f"an atomic operation on shared memory has one element of 4 or 8 bytes, not {vector} "
            f"times {size}"
        )
    if size * vector not in SIZES:
        raise LayoutError(
            f"one access of a thread has 1, 2, 4, 8 or 16 bytes, not {vector} times {size}"
        )
    return vector


def _check_shape(shape: Shape) -> None:
    """Refuse a shape that is not a tile's."""
    for extent in shape:
        whole(extent, f"an extent of the tile's shape {shown(shape)}", 1, MOST_ELEMENTS)
    if math.prod(shape) > MOST_ELEMENTS:
        raise LayoutError(
            f"a tile of shape {shown(shape)} is larger than any shared memory; ask about a tile of "
            f"at most {MOST_ELEMENTS} elements"
        )


def _check_rows(kind: str, threads: int, elements: Integers) -> None:
    """Refuse wrong instructions for matrices: they move whole matrices of 8 rows."""
    if threads not in (8, 16, 32):
        raise LayoutError(f"{kind} takes the rows of 8, 16 or 32 threads, not of {threads}")
    if (elements < 0).any():
        value, thread, _ = np.argwhere(elements < 0)[0].tolist()
        raise LayoutError(
            f"{kind} needs a row from each of its {threads} threads, but the access gives none for "
            f"value {value} of thread {thread}"
        )


def _of_function(access: Access, shape: Shape, threads: int, values: int) -> Integers:
    """The element's number for each value of each thread; -1 if the thread takes no part."""
    found = np.empty((values, threads), dtype=np.int64)
    for value in range(values):
        for thread in range(threads):
            where = f"value {value} of thread {thread}"
            try:
                given = access(thread, value)
            except Exception as error:  # whatever the user's own code raises
                raise LayoutError(
                    f"the access failed for {where}: {said(error)}; it is a function of a thread "
                    "and a value that gives an index, as lambda thread, value: (thread, value)"
                ) from error
            found[value, thread] = -1 if given is None else _number(given, shape, where)
    return found


def _number(given: Index, shape: Shape, where: str) -> int:
    """The number of the element with an index, in row-major order."""
    if not isinstance(given, tuple):
        return whole(given, f"the element for {where}", 0, math.prod(shape) - 1)
    if len(given) != len(shape):
        raise LayoutError(
            f"the access gives {len(given)} indices for {where}, {shown(given)}; the tile's shape "
            f"is {shape}"
        )
    number = 0
    for axis, (one, extent) in enumerate(zip(given, shape, strict=True)):
        if type(one) is not int or not 0 <= one < extent:  # the text of an error takes longest
            about = f"index {axis} of the element {shown(given)} for {where}"
            one = whole(one, about, 0, extent - 1)
        number = number * extent + one
    return number


def _neighbours(firsts: Integers, shape: Shape, vector: int) -> tuple[Integers, ...]:
    """The vectors with given first elements, along the last axis or along the first one."""
    if vector == 1:
        return (firsts[:, :, None],)
    count = math.prod(shape)
    by_rows = np.arange(count)
    by_columns = by_rows.reshape(shape).ravel(order="F")
    ways = []
    for order in (by_rows, by_columns):
        place = np.empty(count, dtype=np.int64)
        place[order] = by_rows
        wanted = place[firsts][:, :, None] + np.arange(vector)
        way = np.where(wanted < count, order[np.minimum(wanted, count - 1)], -1)
        way[:, :, 0] = firsts  # -1 where a thread takes no part
        ways.append(way)
    return tuple(ways)


def _of_threads_and_values(layout: Strided, shape: Shape, vector: int) -> Integers:
    """The elements of each thread's values, by a thread-value layout of CuTe.

    The layout has two axes, threads and values. It numbers the elements as CuTe does, the first
    axis fastest.
    """
    if len(layout.extents) != 2:
        raise LayoutError(
            f"a layout of threads and values has two axes, but {layout} has "
            f"{len(layout.extents)}; write it as ((threads),(values)):(...)"
        )
    threads, values = layout.extents
    whole(threads, f"the number of threads of {layout}", 1, THREADS)
    if values % vector:
        raise LayoutError(
            f"the {values} values of a thread in {layout} are not a whole number of vectors of "
            f"{vector}"
        )
    table = layout.offsets()
    size = math.prod(shape)
    if int(table.max()) >= size:
        thread, value = np.argwhere(table >= size)[0].tolist()
        raise LayoutError(
            f"{layout} gives value {value} of thread {thread} element {int(table[thread, value])} "
            f"of a tile of {size} elements"
        )
    by_columns = np.arange(size).reshape(shape).ravel(order="F")
    elements: Integers = by_columns[table].reshape(threads, values // vector, vector)
    return elements.transpose(1, 0, 2)


# ------------------------------------------------------------ the accesses


def _rule(size: int, kind: str) -> Conflict:
    return ByteBanks(BANKS).of_access(size, kind)


def _addresses(offsets: Integers, ways: tuple[Integers, ...]) -> Integers:
    """The address of each vector, in vectors; -1 if the thread takes no part.

    Raises `Unaligned` for a vector that isn't aligned or not contiguous.
    """
    values, threads, vector = ways[0].shape
    found = np.full((values, threads), -1, dtype=np.int64)
    absent = ways[0][:, :, 0] < 0
    for way in ways:  # all begin with the same element
        words = offsets[way]
        aligned = (words == words[:, :, :1] + np.arange(vector)).all(axis=2)
        aligned &= (words[:, :, 0] % vector == 0) & (way >= 0).all(axis=2)
        found = np.where(aligned, words[:, :, 0] // vector, found)
    wrong = np.argwhere((found < 0) & ~absent)
    if wrong.size:
        value, thread = wrong[0].tolist()
        elements = ways[0][value, thread]
        raise Unaligned(
            f"value {value} of thread {thread} is not an aligned vector: its {vector} elements lie "
            f"at {', '.join(map(str, offsets[elements[elements >= 0]].tolist()))}; let vectors be "
            f"adjacent elements that begin at a multiple of {vector}"
        )
    return found


Part = dict[int, int]
"""The addresses of the threads that are served together."""


def _parts(rule: Conflict, addresses: list[int] | tuple[int, ...]) -> list[Part]:
    """The phases of a request; an address of -1 means that the thread takes no part."""
    asked = {thread: address for thread, address in enumerate(addresses) if address >= 0}
    if not asked:
        return []
    phase_of = rule.phase_of(list(asked.values()), np.array(list(asked))) or [0] * len(asked)
    parts: list[Part] = [{} for _ in range(max(phase_of) + 1)]
    for phase, (thread, address) in zip(phase_of, asked.items(), strict=True):
        parts[phase][thread] = address
    return parts


def _least(rule: Conflict, part: Part) -> int:
    """The stages of a phase whose elements are adjacent."""
    places = {address: place for place, address in enumerate(dict.fromkeys(part.values()))}
    return rule.stages([places[address] for address in part.values()], np.array(list(part)))


def _phase(rule: Conflict, part: Part, size: int) -> Phase:
    """Return a phase with the words that its threads access in each bank."""
    words: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for thread, address in part.items():
        first = address * size // BANK_BYTES
        for word in range(first, first + max(size // BANK_BYTES, 1)):
            words[word % BANKS][word].append(thread)
    plain = {
        bank: {word: tuple(threads) for word, threads in sorted(own.items())}
        for bank, own in sorted(words.items())
    }
    stages = rule.stages(list(part.values()), np.array(list(part)))
    return Phase(tuple(part), plain, stages, _least(rule, part))


# ------------------------------------------------------------ in words

MOST_SPANS = 4


def _spans(numbers: list[int] | tuple[int, ...]) -> str:
    """A short text of ascending numbers.

    >>> _spans([0, 1, 2, 5]), _spans(list(range(0, 20, 2)))
    ('0-2, 5', '0, 2, 4, 6, ... 18')
    """
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    words = [f"{first}-{last}" if last > first else str(first) for first, last in spans]
    if len(words) > MOST_SPANS + 1:
        words = [*words[:MOST_SPANS], f"... {words[-1]}"]
    return ", ".join(words)
