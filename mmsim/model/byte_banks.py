"""The banks of a card: of 4 bytes each, for elements of 1 to 16 bytes.

The papers' banks hold a word each, and a word holds an element. A card's 32 banks are 4 bytes wide,
and an element takes only its own bytes. Four elements of 1 byte lie in one word; the card reads
this word once for all lanes that access parts of it. An element of 16 bytes takes four banks. The
card serves a request for long elements in consecutive *phases*: elements of 8 bytes by half-warps,
elements of 16 bytes by quarter-warps. Reads take half the phases if lanes share addresses in pairs.
A vector is served as one element of its size: four floats as one of 16 bytes, by quarter-warps.
A matrix of 8 rows of 16 bytes (`ldmatrix`, `stmatrix`) is one phase. A compare and swap takes each
stage twice. The measurements: benchmarks/results/gpu/banks.json. In global memory a read or a write
takes each address group of 128 bytes once, also one of long elements. The measurements:
benchmarks/results/cuda-c/counters.json and unseen.json.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mmsim.ir.dtypes import Integers
from mmsim.model.conflicts import (
    Banks,
    Conflict,
    Groups,
    InParts,
    Lanes,
    OfAnother,
    distinct_of,
)

BANK_BYTES = 4
SIZES = (1, 2, 4, 8, 16)
"""The sizes of an element in bytes."""
PAIRS = (1, 2)
"""Reads take half the phases if lanes t and t xor one of these share an address."""


@dataclass(frozen=True)
class ByteBanks(Banks):
    """Banks of `bank_bytes` bytes, in which an element takes only its own bytes.

    >>> banks = ByteBanks(32)
    >>> banks.of_words(4), banks.of_words(8)
    (Banks(width=32), InParts(width=16, rule=Banks(width=16)))
    >>> banks.of_words(2).stages([0, 1, 64, 66])  # 0 and 1 lie in one word of 4 bytes
    2
    >>> reads = banks.of_access(8, "read")
    >>> reads.stages([lane // 2 for lane in range(32)]), reads.stages(list(range(32)))
    (1, 2)
    """

    bank_bytes: int = BANK_BYTES
    by_lane = True

    @property
    def title(self) -> str:
        return f"{self.width} banks of {self.bank_bytes} bytes"

    def of_words(self, size: int) -> Conflict:
        if size < self.bank_bytes:
            return Packed(self.width, Banks(self.width), self.bank_bytes // size)
        banks = max(self.width * self.bank_bytes // size, 1)
        return Banks(self.width) if size == self.bank_bytes else InParts(banks, Banks(banks))

    def of_access(self, size: int, kind: str) -> Conflict:
        rule = super().of_access(size, kind)
        if kind == "read" and isinstance(rule, InParts):
            return InPairs(rule.width, rule.rule)
        return Twice(rule.width, rule) if kind == "cas" else rule

    def of_vectors(self, size: int, kind: str, count: int) -> Conflict:
        return _as_elements(self, size, kind, count, self.bank_bytes)


@dataclass(frozen=True)
class ByteGroups(Groups):
    """Address groups of the same number of bytes as `width` banks.

    A request takes each group once, also one for long elements.

    >>> groups = ByteGroups(32)
    >>> groups.of_words(1), groups.of_words(8)
    (Groups(width=128), Long(width=16, rule=Groups(width=16), count=1))
    """

    bank_bytes: int = BANK_BYTES
    by_lane = True

    @property
    def title(self) -> str:
        return f"address groups of {self.width * self.bank_bytes} bytes"

    def of_words(self, size: int) -> Conflict:
        words = max(self.width * self.bank_bytes // size, 1)
        return Long(words, Groups(words)) if size > self.bank_bytes else Groups(words)

    def of_vectors(self, size: int, kind: str, count: int) -> Conflict:
        return _as_elements(self, size, kind, count, self.bank_bytes)


def _as_elements(unit: Conflict, size: int, kind: str, count: int, bank_bytes: int) -> Conflict:
    """The rule of banks of bytes for vectors: a vector is served as one element of its bytes.

    >>> _as_elements(ByteBanks(32), 4, "write", 4, bank_bytes=4)
    Vectors(width=32, rule=InParts(width=8, rule=Banks(width=8)), count=4)
    """
    words = max(unit.width * bank_bytes // size, 1)
    rule = unit.of_access(size * count, kind)
    return Vectors(words, rule.rule if isinstance(rule, Long) else rule, count)


@dataclass(frozen=True)
class Packed(OfAnother):
    """Another rule for small elements: the elements of one word count as one.

    >>> Packed(4, Banks(4), 2).stages([0, 1, 8, 9]), Packed(4, Banks(4), 2).stage_of([0, 8, 1])
    (2, [0, 1, 0])
    """

    elements: int = 1
    named = "{rule.name}, {elements} elements to a word"
    titled = "{rule.title}, {elements} elements to a word"

    @property
    def compiled(self) -> str | None:
        return "packed_bank" if type(self.rule) is Banks else None

    def of_atomics(self) -> Conflict:
        return Packed(self.width, self.rule.of_atomics(), self.elements)

    def cells(self, addresses: Integers) -> Integers:
        return self.rule.cells(addresses // self.elements)

    def stage_of(self, addresses: list[int], lanes: Lanes = None) -> list[int]:
        return self.rule.stage_of([address // self.elements for address in addresses], lanes)

    def stage_counts(
        self, addresses: Integers, warps: Integers, count: int, lanes: Lanes = None
    ) -> Integers:
        return self.rule.stage_counts(addresses // self.elements, warps, count, lanes)


@dataclass(frozen=True)
class Twice(OfAnother):
    """Another rule with each stage taken twice: a compare and swap reads, then writes.

    >>> Twice(4, Banks(4)).stages([0, 1, 4]), Twice(4, Banks(4)).stage_of([0, 1, 4])
    (4, [1, 1, 3])
    """

    by_lane = True  # the least number of stages is two, see `parts`
    named = "{rule.name} twice"
    titled = "{rule.title}, each stage twice"

    @property
    def lone(self) -> int | None:
        return self.rule.lone and 2 * self.rule.lone

    def stage_of(self, addresses: list[int], lanes: Lanes = None) -> list[int]:
        return [2 * stage + 1 for stage in self.rule.stage_of(addresses, lanes)]

    def stage_counts(
        self, addresses: Integers, warps: Integers, count: int, lanes: Lanes = None
    ) -> Integers:
        return 2 * self.rule.stage_counts(addresses, warps, count, lanes)

    def parts(self, firsts: Integers, lanes: Lanes = None) -> Integers:
        return np.repeat(self.rule.parts(firsts, lanes), 2)  # a part is two stages at least


@dataclass(frozen=True)
class InPairs(InParts):
    """Parts twice as long if lanes share addresses in pairs.

    That is, each lane t accesses the address of lane t xor 1, or each lane t accesses that of lane
    t xor 2. An inactive lane shares with any other.

    >>> rule = InPairs(2, Banks(2))
    >>> rule.stages([0, 0, 1, 1]), rule.stages([0, 1, 0, 1]), rule.stages([0, 1, 1, 0])
    (1, 1, 2)
    >>> rule.stages([0, 1], np.array([0, 2])), rule.stages([0, 1, 1], np.array([0, 1, 2]))
    (1, 2)
    """

    @property
    def longest(self) -> int:
        return 2 * self.width

    @property
    def compiled(self) -> str | None:
        return f"paired_{self.rule.compiled}"

    def phases(self, addresses: Integers, firsts: Integers, lanes: Lanes = None) -> Integers:
        assert lanes is not None
        request = np.zeros(len(lanes), dtype=np.int64)
        request[firsts[1:]] = 1
        request = np.cumsum(request)
        width = np.where(self._paired(addresses, request, len(firsts), lanes), 2, 1) * self.width
        part_of = lanes // width[request]
        new = np.diff(part_of, prepend=-1) != 0
        new[firsts] = True
        return np.flatnonzero(new)

    def parted(self, addresses: list[int], lanes: Integers) -> int:
        warp = np.zeros(len(addresses), dtype=np.int64)
        paired = self._paired(np.array(addresses), warp, 1, lanes)[0]
        return self.width * 2 if paired else self.width

    def stage_counts(
        self, addresses: Integers, warps: Integers, count: int, lanes: Lanes = None
    ) -> Integers:
        assert lanes is not None
        if len(addresses) == 0:
            return np.zeros(count, dtype=np.int64)
        paired = self._paired(addresses, warps, count, lanes)
        found = np.zeros(count, dtype=np.int64)
        for shared in (False, True):
            own = paired[warps] == shared
            if own.any():
                rule = InParts(self.width * (2 if shared else 1), self.rule)
                found += rule.stage_counts(addresses[own], warps[own], count, lanes[own])
        return found

    def _paired(
        self, addresses: Integers, warps: Integers, count: int, lanes: Integers
    ) -> Integers:
        """For each request, whether its lanes share their addresses in pairs."""
        asked = np.full((count, int(lanes.max()) // 4 * 4 + 4), -1, dtype=np.int64)
        asked[warps, lanes] = addresses
        lane = np.arange(asked.shape[1])
        ways = []
        for apart in PAIRS:
            other = asked[:, lane ^ apart]
            ways.append(((asked == other) | (asked < 0) | (other < 0)).all(axis=1))
        result: Integers = np.logical_or(*ways)
        return result


@dataclass(frozen=True)
class Vectors(OfAnother):
    """Another rule, for vectors as elements: the `count` words of a lane are one element.

    The addresses are those of all words, of each lane's vector in ascending order. `width` is the
    number of words that a stage can serve.

    >>> pairs = Vectors(4, Banks(2), 2)
    >>> pairs.stages([0, 1, 2, 3]), pairs.stage_of([0, 1, 4, 5])
    (1, [0, 0, 1, 1])
    """

    count: int = 2
    by_lane = True
    named = "{rule.name}, vectors of {count}"
    titled = "{rule.title}, vectors of {count} elements"

    def cells(self, addresses: Integers) -> Integers:
        return self.rule.cells(addresses // self.count)

    def stage_of(self, addresses: list[int], lanes: Lanes = None) -> list[int]:
        vectors = [address // self.count for address in addresses[:: self.count]]
        stages = self.rule.stage_of(vectors, self._lanes(lanes))
        return [stage for stage in stages for _ in range(self.count)]

    def stage_counts(
        self, addresses: Integers, warps: Integers, count: int, lanes: Lanes = None
    ) -> Integers:
        every = slice(None, None, self.count)
        vectors = addresses[every] // self.count
        return self.rule.stage_counts(vectors, warps[every], count, self._lanes(lanes))

    def parts(self, firsts: Integers, lanes: Lanes = None) -> Integers:
        return self.rule.parts(firsts // self.count, self._lanes(lanes)) * self.count

    def phases(self, addresses: Integers, firsts: Integers, lanes: Lanes = None) -> Integers:
        vectors = addresses[:: self.count] // self.count
        return self.rule.phases(vectors, firsts // self.count, self._lanes(lanes)) * self.count

    def _lanes(self, lanes: Lanes) -> Lanes:
        """The lane of each vector."""
        return None if lanes is None else lanes[:: self.count]


@dataclass(frozen=True)
class Long(Vectors):
    """Another rule, for elements longer than a bank, of which a stage can serve `width`.

    An element is a vector of one: so the fewest stages are enough for the distinct elements. Parts
    of `width` lanes are served in turn in atomics only.

    >>> pairs = Long(2, Groups(2))
    >>> pairs.stages([1, 2, 3, 4]), pairs.of_atomics().stages([1, 2, 3, 4])
    (3, 4)
    """

    count: int = 1
    named = "{rule.name}"
    titled = "{rule.title}"

    @property
    def compiled(self) -> str | None:
        return self.rule.compiled

    def of_atomics(self) -> Conflict:
        return InParts(self.width, self.rule).of_atomics()


def served(unit: Conflict, size: int, kind: str, count: int) -> Conflict:
    """The rule of a unit for accesses of each lane to `count` adjacent elements of `size` bytes.

    The kinds are those of `Conflict.of_access`.
    """
    return unit.of_access(size, kind) if count == 1 else unit.of_vectors(size, kind, count)


def fewest_stages(
    rule: Conflict,
    vector: int,
    addresses: Integers,
    firsts: Integers,
    lanes: Lanes,
    stages: Integers,
) -> int:
    """The fewest stages of requests together, whose lanes access `vector` adjacent elements each.

    The requests begin at `firsts` and take `stages`.
    """
    if vector == 1 and not isinstance(rule, Long):
        return len(rule.phases(addresses, firsts, lanes))
    return int(fewest_of_vectors(rule, addresses, firsts, lanes, stages).sum())


def fewest_of_vectors(
    rule: Conflict,
    addresses: Integers,
    firsts: Integers,
    lanes: Lanes,
    stages: Integers,
) -> Integers:
    """Return the fewest stages that each request of vectors can take.

    That is one for each phase, and enough for its distinct words. The requests begin at `firsts`
    and take `stages`, an upper bound.

    >>> addresses, firsts = np.array([0, 1, 2, 3, 4, 5, 8, 9]), np.array([0, 4])
    >>> fewest_of_vectors(Banks(2), addresses, firsts, None, np.array([2, 2]))
    array([2, 2])
    >>> fewest_of_vectors(Banks(4), addresses, firsts, None, np.array([1, 2]))
    array([1, 1])
    """
    count = len(firsts)
    phases = rule.phases(addresses, firsts, lanes)
    phases_of = np.bincount(np.searchsorted(firsts, phases, side="right") - 1, minlength=count)
    if (phases_of == stages).all():
        return stages
    requests = np.repeat(np.arange(count), np.diff(firsts, append=len(addresses)))
    owner, _ = distinct_of(addresses, requests)
    distinct = np.bincount(owner, minlength=count)
    return fewest_of_distinct(rule, distinct, phases_of, stages)


def fewest_of_distinct(
    rule: Conflict, distinct: Integers, phases: Integers | int, stages: Integers
) -> Integers:
    """Return the fewest stages of requests for so many distinct words each, in so many phases."""
    return np.minimum(np.maximum(phases, -(-distinct // rule.width)), stages)
