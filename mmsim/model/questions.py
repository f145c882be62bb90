"""Is a tile free of conflicts? What the accesses of one warp to a tile cost, phase by phase.

A tile lies in shared memory by a layout; each thread of a warp reads or writes some values of it.
`ask` says which threads meet in which bank, for one instruction after the other, without a program
and without a GPU; `padding` and `swizzles` look for layouts under which they don't.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mmsim.errors import LayoutError, shown
from mmsim.model.byte_banks import BANK_BYTES, SIZES, ByteBanks
from mmsim.model.conflicts import InParts
from mmsim.model.layout import Layout
from mmsim.model.tiles import Padded, Shape, Strided, Swizzle, whole

THREADS = 32
MOST_VALUES = 1 << 16
Access = Callable[[int, int], int | tuple[int, ...]]
Kind = Literal["read", "write"]


@dataclass(frozen=True)
class Phase:
    """The threads that are served at once, and the words that they want of each bank.

    `words` has for each bank the words in it, counted from the tile's beginning, and for each of
    these the threads that want it.
    """

    threads: tuple[int, ...]
    words: dict[int, dict[int, tuple[int, ...]]]

    @property
    def stages(self) -> int:
        """The most words of one bank."""
        return max(len(words) for words in self.words.values())

    @property
    def worst(self) -> dict[int, dict[int, tuple[int, ...]]]:
        """The banks of which several words are wanted."""
        return {bank: words for bank, words in self.words.items() if len(words) > 1}


@dataclass(frozen=True)
class Request:
    """One instruction: the `value` number of each thread."""

    value: int
    phases: tuple[Phase, ...]

    @property
    def stages(self) -> int:
        return sum(phase.stages for phase in self.phases)


@dataclass(frozen=True)
class Conflicts:
    """What the accesses of a warp to a tile cost; `print` it for a table.

    >>> print(ask(Padded(0), lambda t, v: (t, v), (32, 32), size=4, values=1))
    read of 4 bytes a thread: 1 request, 1 phase, 32 stages, 31 beyond the least
    value  phase  threads  stages  bank  words
        0      0  0-31         32     0     32
    >>> ask(Padded(1), lambda t, v: (t, v), (32, 32), size=4).free
    True
    """

    kind: Kind
    bytes: int
    requests: tuple[Request, ...]

    @property
    def phases(self) -> int:
        """The phases of all requests together, which are the fewest stages possible."""
        return sum(len(request.phases) for request in self.requests)

    @property
    def stages(self) -> int:
        """The stages of all requests together."""
        return sum(request.stages for request in self.requests)

    @property
    def least(self) -> int:
        """The fewest stages that these phases can take."""
        return self.phases

    @property
    def free(self) -> bool:
        """Whether there is no conflict: whether it takes the fewest stages possible."""
        return self.stages == self.least

    def collisions(self) -> Iterator[tuple[int, int, int, dict[int, tuple[int, ...]]]]:
        """Value, phase, bank, and the threads that want each of the bank's words, if several."""
        for request in self.requests:
            for number, phase in enumerate(request.phases):
                for bank, words in sorted(phase.worst.items()):
                    yield request.value, number, bank, words

    def __str__(self) -> str:
        wasted = self.stages - self.least
        lines = [
            f"{self.kind} of {self.bytes} bytes a thread: {_many(len(self.requests), 'request')}, "
            f"{_many(self.phases, 'phase')}, {_many(self.stages, 'stage')}, "
            + ("free of conflicts" if self.free else f"{wasted} beyond the least")
        ]
        if not self.free:
            lines.append("value  phase  threads  stages  bank  words")
        for request in self.requests:
            for number, phase in enumerate(request.phases):
                if phase.stages == 1:
                    continue
                bank = max(phase.words, key=lambda one: (len(phase.words[one]), -one))
                lines.append(
                    f"{request.value:>5}  {number:>5}  {_span(phase.threads):<7}  "
                    f"{phase.stages:>6}  {bank:>4}  {len(phase.words[bank]):>5}"
                )
        return "\n".join(lines)


def ask(
    layout: Layout,
    access: Access | Strided,
    shape: Shape,
    *,
    size: int = BANK_BYTES,
    vector: int = 1,
    kind: Kind = "read",
    threads: int = THREADS,
    values: int = 1,
    banks: int = 32,
) -> Conflicts:
    """What accesses to a tile of such a shape under a layout cost: `mmsim.conflicts`."""
    if kind not in ("read", "write"):
        raise LayoutError(f"an access is a 'read' or a 'write', not {shown(kind)}")
    size, vector = whole(size, "the bytes of an element", 1), whole(vector, "a vector", 1)
    if size * vector not in SIZES:
        raise LayoutError(
            f"a thread accesses 1, 2, 4, 8 or 16 bytes at once, not {vector} times {size}"
        )
    if isinstance(access, Strided):
        access, threads, values = _of_threads_and_values(access, shape, vector)
    threads = whole(threads, "the number of threads", 1, THREADS)
    values = whole(values, "the number of values of a thread", 1, MOST_VALUES)
    offsets = layout.offsets(shape).reshape(-1)
    rule = ByteBanks(banks).of_access(size * vector, kind)
    requests = []
    for value in range(values):
        firsts = [_first(access(thread, value), shape) for thread in range(threads)]
        words = [
            _address(offsets, first, vector, thread, value) for thread, first in enumerate(firsts)
        ]
        requests.append(Request(value, tuple(_phases(rule, words, size * vector, banks))))
    return Conflicts(kind, size * vector, tuple(requests))


def padding(
    accesses: Iterable[Callable[[Layout], Conflicts]], most: int = 32, step: int = 1
) -> int | None:
    """The smallest padding of rows under which all accesses are free of conflicts, if there is one.

    Each of `accesses` asks about a layout; `step` is what a padding is a multiple of, so that
    vectors stay aligned.

    >>> rows = lambda layout: ask(layout, lambda t, v: (0, t), (32, 32))
    >>> columns = lambda layout: ask(layout, lambda t, v: (t, 0), (32, 32))
    >>> padding([rows, columns])
    1
    """
    every = list(accesses)
    for by in range(0, most + 1, step):
        if all(one(Padded(by)).free for one in every):
            return by
    return None


def swizzles(
    accesses: Iterable[Callable[[Layout], Conflicts]], layout: Strided | None = None
) -> Iterator[Swizzle]:
    """All swizzles of at most 5 bits under which all accesses are free of conflicts.

    Those that split a vector are left out. The fewest bits come first.

    >>> rows = lambda layout: ask(layout, lambda t, v: (0, t), (32, 32))
    >>> columns = lambda layout: ask(layout, lambda t, v: (t, 0), (32, 32))
    >>> [str(one) for one in swizzles([rows, columns])]
    ['Swizzle<5,0,5>']
    """
    every = list(accesses)
    for bits in range(1, 6):
        for base in range(0, 8):
            for shift in range(bits, 11):
                swizzle = Swizzle(bits, base, shift, layout)
                try:
                    free = all(one(swizzle).free for one in every)
                except LayoutError:  # it splits a vector
                    continue
                if free:
                    yield swizzle


def _of_threads_and_values(layout: Strided, shape: Shape, vector: int) -> tuple[Access, int, int]:
    """What a thread-value layout of CuTe says: the element of each thread's values.

    It has two axes, threads and values, and gives numbers of elements, the first axis fastest, as
    CuTe counts the elements of a tile.
    """
    if len(layout.extents) != 2:
        raise LayoutError(
            f"a layout of threads and values has two axes, but {layout} has "
            f"{len(layout.extents)}; write it as ((threads),(values)):(...)"
        )
    threads, values = layout.extents
    table = layout.offsets()
    size = math.prod(shape)
    if table.size and int(table.max()) >= size:
        raise LayoutError(f"{layout} names element {int(table.max())} of a tile of {size} elements")
    places = np.unravel_index(table, shape, order="F")

    def access(thread: int, value: int) -> tuple[int, ...]:
        return tuple(int(axis[thread, value * vector]) for axis in places)

    return access, threads, -(-values // vector)


def _first(given: int | tuple[int, ...], shape: Shape) -> int:
    """The number of the element, in row-major order."""
    index = given if isinstance(given, tuple) else (given,)
    if isinstance(given, int) and len(shape) != 1:
        flat = whole(given, "an element's number", 0, math.prod(shape) - 1)
        return flat
    if len(index) != len(shape):
        raise LayoutError(f"the access gives {len(index)} indices for a tile of shape {shape}")
    for one, extent in zip(index, shape, strict=True):
        whole(one, "an index of the access", 0, extent - 1)
    number = 0
    for one, extent in zip(index, shape, strict=True):
        number = number * extent + int(one)
    return number


def _address(offsets: np.ndarray, first: int, vector: int, thread: int, value: int) -> int:  # type: ignore[type-arg]
    """The address of a vector, in vectors; refused where it isn't aligned or not in one piece."""
    own = offsets[first : first + vector].tolist()
    if len(own) < vector or own != list(range(own[0], own[0] + vector)) or own[0] % vector:
        raise LayoutError(
            f"value {value} of thread {thread} is no aligned vector: its {vector} elements lie at "
            f"{', '.join(map(str, own))}; let vectors be neighbours that begin at multiples of "
            f"{vector}"
        )
    first_one: int = own[0] // vector
    return first_one


def _phases(rule: object, addresses: list[int], size: int, banks: int) -> Iterator[Phase]:
    """The parts that a request is served in, each with the words of its banks."""
    lanes = np.arange(len(addresses))
    if isinstance(rule, InParts):
        per = rule.parted(addresses, lanes)
    else:
        per = len(addresses)
    for start in range(0, len(addresses), per):
        threads = tuple(range(start, min(start + per, len(addresses))))
        words: dict[int, dict[int, tuple[int, ...]]] = defaultdict(dict)
        for thread in threads:
            first = addresses[thread] * size // BANK_BYTES
            for word in range(first, first + max(size // BANK_BYTES, 1)):
                of_bank = words[word % banks]
                of_bank[word] = (*of_bank.get(word, ()), thread)
        yield Phase(threads, dict(words))


def _span(threads: tuple[int, ...]) -> str:
    return f"{threads[0]}-{threads[-1]}" if len(threads) > 1 else str(threads[0])


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
