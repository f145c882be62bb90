"""Stages: what one warp's request costs at a memory unit (docs/machines.md, *One warp's access*).

A memory of width w is w banks. Bank b holds the addresses congruent to b modulo w; address group g
holds the w addresses g*w .. g*w + w - 1. Requests of one warp for one address count once. The
papers (SMM section 2, RAP section II) charge a warp

- on banks, the *congestion*: the largest number of distinct addresses in one bank;
- on address groups, the number of distinct groups.

Each of the two is a rule, a `Conflict`. A unit has a rule, and a machine may have another one. The
rule decides the cost of a request and names its reason.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from mmsim.ir.dtypes import Integers

Lanes = Integers | None
"""The lanes of a warp that ask, in order; None for all, from lane 0 on."""
MANY_BANKS = 64
"""With more banks than this for each address, only the requested banks are counted."""


@dataclass(frozen=True)
class Conflict(ABC):
    """A rule by which the words of one warp's request conflict, for a unit of width `width`.

    Your own rule gives the cell of each word and the stage of each lane's request. A rule gets the
    requesting `lanes` of the warp only if it is `by_lane`; None stands for all, from lane 0 on.

    >>> @dataclass(frozen=True)
    ... class Sectors(Conflict):
    ...     name = "sector"
    ...     place = "sector"
    ...     free = "coalesced"
    ...     def cells(self, addresses):
    ...         return addresses // 8
    ...     def stage_of(self, addresses, lanes=None):
    ...         order = sorted({address // 8 for address in addresses})
    ...         return [order.index(address // 8) for address in addresses]
    >>> Sectors(32).stages([0, 7, 8, 100]), Sectors(32).width
    (3, 32)
    """

    width: int

    by_lane: ClassVar[bool] = False
    """Return whether the stages depend on the lanes that ask, or on the bytes of their words."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The rule's name in traces and files."""

    @property
    @abstractmethod
    def place(self) -> str:
        """The name of a cell: "bank", "address group"."""

    @property
    @abstractmethod
    def free(self) -> str:
        """The class of accesses with the fewest stages: "conflict-free", "coalesced"."""

    @property
    def compiled(self) -> str | None:
        """The prefix of the compiled counters (`mmsim.engines.array.counting`), None without."""
        return None

    @property
    def lone(self) -> int | None:
        """The stages of every request of a single lane, None if they differ.

        A rule that gives them counts as many stages for the same words in other lines.

        >>> Banks(4).lone, Groups(4).lone
        (1, 1)
        """
        return None

    @property
    def title(self) -> str:
        """The parts of the memory, in words."""
        return f"{self.place}s"

    @property
    def met(self) -> str:
        """The name of a conflict of several stages; {} stands for their number.

        >>> Banks(4).met.format(2), Groups(4).met.format(2)
        ('bank conflict of 2 stages', '2 address groups')
        """
        return f"{{}} {self.place}s"

    def of_words(self, size: int) -> Conflict:
        """The rule for an array with words of `size` bytes, which the papers' rules ignore."""
        return self

    def of_access(self, size: int, kind: str) -> Conflict:
        """The rule for accesses of kind `kind` to words of `size` bytes.

        The kinds are "read", "write", "atomic", for an atomic compare and swap "cas", and for a
        read of rows of matrices "ldmatrix".
        """
        rule = self.of_words(size)
        return rule.of_atomics() if kind in ("atomic", "cas") else rule

    def of_vectors(self, size: int, kind: str, count: int) -> Conflict:
        """The rule if each lane accesses `count` adjacent words of `size` bytes.

        It gets the addresses of all words. The papers' memories treat each as any other word.
        """
        return self.of_access(size, kind)

    def of_atomics(self) -> Conflict:
        """The rule for atomic accesses, whose requests for one address don't merge.

        By default an atomic access has the stages of a read. A stage of it lasts for as many time
        units as the most requests for one of its addresses.

        >>> Groups(4).stages([0, 1, 10, 10]), Groups(4).of_atomics().stages([0, 1, 10, 10])
        (2, 3)
        """
        return InTurn(self.width, self)

    @abstractmethod
    def cells(self, addresses: Integers) -> Integers:
        """The number of each address's cell: its bank, or another unit that the rule counts."""

    def table(self, width: int) -> tuple[list[int] | None, bool]:
        """The rule as a drawing of the memory in rows of `width` words shows it.

        Returns the cell of each column, if all words of a column lie in one cell, and whether each
        row is the address group of its number.

        >>> Banks(2).table(4), Groups(4).table(4), Groups(2).table(4)
        (([0, 1, 0, 1], False), (None, True), (None, False))
        """
        cells = self.cells(np.arange(3 * width)).reshape(3, width)
        by_column = bool((cells == cells[0]).all())
        by_row = bool((cells == np.arange(3)[:, None]).all())
        return cells[0].tolist() if by_column else None, by_row

    @abstractmethod
    def stage_of(self, addresses: list[int], lanes: Lanes = None) -> list[int]:
        """The stage, counted from 0, in which each lane's request travels."""

    def stages(self, addresses: list[int], lanes: Lanes = None) -> int:
        """Stages of one warp's request, given the addresses of its active lanes (at least one)."""
        return max(self.stage_of(addresses, lanes)) + 1

    def stage_counts(
        self, addresses: Integers, warps: Integers, count: int, lanes: Lanes = None
    ) -> Integers:
        """Stages of each of `count` warp requests.

        `addresses` holds one address for each requesting lane and `warps`, of the same length, the
        number (0 .. count-1) of the warp that the lane belongs to. Returns `count` whole numbers; a
        warp without a request gets 0.
        """
        found = np.zeros(count, dtype=np.int64)
        if len(addresses) == 0:
            return found
        order = np.argsort(warps, kind="stable")
        numbers, firsts = np.unique(warps[order], return_index=True)
        requests = np.split(addresses[order], firsts[1:])
        of_requests = (
            [None] * len(requests) if lanes is None else np.split(lanes[order], firsts[1:])
        )
        for number, request, own in zip(numbers.tolist(), requests, of_requests, strict=True):
            found[number] = self.stages(request.tolist(), own)
        return found

    def parts(self, firsts: Integers, lanes: Lanes = None) -> Integers:
        """Return the first lanes of the parts that are served in turn, each in a stage at least.

        The requests begin at `firsts` in a list of lanes. Most rules serve a request as one part.
        """
        return firsts

    def phases(self, addresses: Integers, firsts: Integers, lanes: Lanes = None) -> Integers:
        """As `parts`, for a rule that depends on the addresses."""
        return self.parts(firsts, lanes)

    def phase_of(self, addresses: list[int], lanes: Lanes = None) -> list[int]:
        """The number of the phase that serves each lane; empty if all are served together."""
        return []

    def classify(self, least: int, stages: int) -> str:
        """The class of accesses with `stages` stages, at best `least` (ICPP section III)."""
        return "casual" if stages > least else self.free


@dataclass(frozen=True)
class Banks(Conflict):
    """By bank: the congestion, as in the DMM.

    >>> Banks(4).stages([0, 1, 10, 6]), Banks(4).stage_of([0, 1, 10, 6])  # SMM Figure 4
    (2, [0, 0, 1, 0])
    >>> Banks(4).stages([5, 5, 5, 5])  # RAP Figure 2 (3): merged
    1
    >>> addresses = np.array([7, 5, 15, 0, 10, 11, 12, 9])  # ICPP Figure 3, w = 4
    >>> Banks(4).stage_counts(addresses, np.array([0, 0, 0, 0, 1, 1, 1, 1]), 2)
    array([2, 1])
    """

    name = "bank"
    place = "bank"
    free = "conflict-free"
    compiled = "bank"
    lone = 1

    met = "bank conflict of {} stages"

    @property
    def title(self) -> str:
        return f"{self.width} banks"

    def cells(self, addresses: Integers) -> Integers:
        width = self.width
        if width & (width - 1) == 0:  # a power of 2, as most are: several times faster
            return addresses & (width - 1)
        return addresses % width

    def stage_of(self, addresses: list[int], lanes: Lanes = None) -> list[int]:
        """Within a bank, stages are filled in ascending order of address."""
        filled: dict[int, int] = {}
        stage: dict[int, int] = {}
        for address in sorted(set(addresses)):
            bank = address % self.width
            stage[address] = filled.get(bank, 0)
            filled[bank] = stage[address] + 1
        return [stage[address] for address in addresses]

    def stages(self, addresses: list[int], lanes: Lanes = None) -> int:
        width = self.width
        if len({address % width for address in addresses}) == len(addresses):
            return 1  # conflict-free, the common case
        return max(Counter([address % width for address in set(addresses)]).values())

    def stage_counts(
        self, addresses: Integers, warps: Integers, count: int, lanes: Lanes = None
    ) -> Integers:
        if len(addresses) == 0:
            return np.zeros(count, dtype=np.int64)
        loads = self._loads(addresses, warps, count)
        if int(loads.max()) == 1:
            return loads  # conflict-free, the common case: equal addresses would be two loads
        owner, distinct = distinct_of(addresses, warps)
        return loads if len(distinct) == len(addresses) else self._loads(distinct, owner, count)

    def _loads(self, addresses: Integers, warps: Integers, count: int) -> Integers:
        """The most addresses of each warp in one bank."""
        width = self.width
        banks = warps * width + self.cells(addresses)
        if count * width > MANY_BANKS * len(addresses):
            asked, of_asked = np.unique(banks, return_counts=True)
            found = np.zeros(count, dtype=np.int64)
            np.maximum.at(found, asked // width, of_asked)
            return found
        loads = np.bincount(banks, minlength=count * width)
        most: Integers = loads.reshape(count, width).max(axis=1)
        return most

    def of_atomics(self) -> Conflict:
        return BanksInTurn(self.width)


@dataclass(frozen=True)
class BanksInTurn(Banks):
    """By bank, for atomics: the most requests in one bank, for the same or different addresses.

    >>> BanksInTurn(4).stages([5, 5, 5, 5]), BanksInTurn(4).stage_of([5, 1, 2, 5])
    (4, [1, 0, 0, 2])
    """

    name = "bank in turn"
    compiled = "bank_atomic"

    def stage_of(self, addresses: list[int], lanes: Lanes = None) -> list[int]:
        """Within a bank in ascending order of address; requests for one address by lane."""
        filled: dict[int, int] = {}
        stages = [0] * len(addresses)
        for address, at in sorted((address, at) for at, address in enumerate(addresses)):
            bank = address % self.width
            stages[at] = filled.get(bank, 0)
            filled[bank] = stages[at] + 1
        return stages

    def stages(self, addresses: list[int], lanes: Lanes = None) -> int:
        return max(Counter([address % self.width for address in addresses]).values())

    def stage_counts(
        self, addresses: Integers, warps: Integers, count: int, lanes: Lanes = None
    ) -> Integers:
        return self._loads(addresses, warps, count)

    def of_atomics(self) -> Conflict:
        return self


@dataclass(frozen=True)
class Groups(Conflict):
    """By address group: the number of groups of a request, as in the UMM.

    >>> Groups(4).stages([0, 1, 10, 6]), Groups(4).stage_of([0, 1, 10, 6])  # SMM Figure 4
    (3, [0, 0, 2, 1])
    >>> addresses = np.array([7, 5, 15, 0, 10, 11, 12, 9])  # ICPP Figure 3, w = 4
    >>> Groups(4).stage_counts(addresses, np.array([0, 0, 0, 0, 1, 1, 1, 1]), 2)
    array([3, 2])
    """

    name = "group"
    place = "address group"
    free = "coalesced"
    compiled = "group"
    lone = 1

    @property
    def title(self) -> str:
        return f"address groups of {self.width}"

    def cells(self, addresses: Integers) -> Integers:
        return addresses // self.width

    def stage_of(self, addresses: list[int], lanes: Lanes = None) -> list[int]:
        """The groups come in ascending order."""
        order = sorted({address // self.width for address in addresses})
        return [order.index(address // self.width) for address in addresses]

    def stages(self, addresses: list[int], lanes: Lanes = None) -> int:
        return len({address // self.width for address in addresses})

    def stage_counts(
        self, addresses: Integers, warps: Integers, count: int, lanes: Lanes = None
    ) -> Integers:
        owner, _ = distinct_of(addresses // self.width, warps)
        return np.bincount(owner, minlength=count)


def _of_rule(name: str) -> Any:
    """A property that is the other rule's."""
    return property(attrgetter(f"rule.{name}"))


@dataclass(frozen=True)
class OfAnother(Conflict):
    """A rule based on another one, `rule`: the same cells, with the same names.

    `named` and `titled` are its name and its title; words in braces stand for its fields.
    """

    rule: Conflict

    named: ClassVar[str]
    titled: ClassVar[str] = "{rule.title}"

    by_lane, lone, place, free, met = map(_of_rule, ("by_lane", "lone", "place", "free", "met"))

    @property
    def name(self) -> str:
        return self.named.format(**vars(self))

    @property
    def title(self) -> str:
        return self.titled.format(**vars(self))

    def cells(self, addresses: Integers) -> Integers:
        return self.rule.cells(addresses)

    def parts(self, firsts: Integers, lanes: Lanes = None) -> Integers:
        return self.rule.parts(firsts, lanes)

    def phase_of(self, addresses: list[int], lanes: Lanes = None) -> list[int]:
        return self.rule.phase_of(addresses, lanes)


@dataclass(frozen=True)
class InTurn(OfAnother):
    """Another rule, for atomics: each stage lasts for the most requests for one of its words.

    For one address group this is the most requests for one address; for a request it is the sum
    over its groups.

    >>> InTurn(4, Groups(4)).stages([0, 0, 1, 9]), InTurn(4, Groups(4)).stage_of([9, 0, 1, 0])
    (3, [2, 0, 0, 1])
    """

    named = "{rule.name} in turn"

    @property
    def compiled(self) -> str | None:
        return f"{self.rule.compiled}_atomic" if isinstance(self.rule, Groups) else None

    def stage_of(self, addresses: list[int], lanes: Lanes = None) -> list[int]:
        merged = self.rule.stage_of(addresses, lanes)
        asked: Counter[tuple[int, int]] = Counter()
        turns = []
        for of in zip(merged, addresses, strict=True):
            turns.append(asked[of])
            asked[of] += 1
        lasts = [0] * (max(merged) + 1)
        for stage, turn in zip(merged, turns, strict=True):
            lasts[stage] = max(lasts[stage], turn + 1)
        before = np.cumsum([0, *lasts]).tolist()
        return [before[stage] + turn for stage, turn in zip(merged, turns, strict=True)]

    def stage_counts(
        self, addresses: Integers, warps: Integers, count: int, lanes: Lanes = None
    ) -> Integers:
        if not isinstance(self.rule, Groups) or len(addresses) == 0:
            return super().stage_counts(addresses, warps, count, lanes)
        least = addresses.min()
        span = int(addresses.max() - least) + 1
        if span * count < 1 << 62:  # one number for both, which NumPy sorts faster
            warps, addresses = np.divmod(np.sort(warps * span + (addresses - least)), span)
            addresses += least
        else:
            order = np.lexsort((addresses, warps))
            addresses, warps = addresses[order], warps[order]
        groups = self.cells(addresses)
        new_warp = np.append(True, warps[1:] != warps[:-1])
        firsts = np.flatnonzero(new_warp | np.append(True, addresses[1:] != addresses[:-1]))
        asked = np.diff(firsts, append=len(addresses))
        of_group = groups[firsts]
        new = np.append(True, of_group[1:] != of_group[:-1]) | new_warp[firsts]
        starts = np.flatnonzero(new)
        most = np.maximum.reduceat(asked, starts)
        counts = np.bincount(warps[firsts][starts], weights=most, minlength=count)
        result: Integers = counts.astype(np.int64)
        return result

    def of_atomics(self) -> Conflict:
        return self


@dataclass(frozen=True)
class InParts(OfAnother):
    """Another rule, for `width` lanes at a time: the parts of a warp are served in turn.

    A GPU serves words longer than a bank in this way: words of 8 bytes by half-warps. Each part
    takes the same number of stages as alone.

    >>> halves = InParts(2, Banks(2))
    >>> halves.stages([0, 1, 2, 3]), halves.stages([0, 2, 4, 6]), halves.stages([5, 5, 5, 5])
    (2, 4, 2)
    >>> halves.stage_of([0, 2, 9, 9])
    [0, 1, 2, 2]
    """

    by_lane = True
    named = "{rule.name} in parts"
    titled = "{rule.title} for {width} lanes at a time"

    @property
    def longest(self) -> int:
        """The most lanes of a part."""
        return self.width

    @property
    def compiled(self) -> str | None:
        return self.rule.compiled

    def of_atomics(self) -> Conflict:
        return InParts(self.width, self.rule.of_atomics())

    def stage_of(self, addresses: list[int], lanes: Lanes = None) -> list[int]:
        phase_of = self.phase_of(addresses, lanes)
        stage_of = [0] * len(addresses)
        before = 0
        for phase in range(max(phase_of) + 1):
            here = [at for at, own in enumerate(phase_of) if own == phase]
            stages = self.rule.stage_of([addresses[at] for at in here])
            for at, stage in zip(here, stages, strict=True):
                stage_of[at] = before + stage
            before += max(stages) + 1
        return stage_of

    def stage_counts(
        self, addresses: Integers, warps: Integers, count: int, lanes: Lanes = None
    ) -> Integers:
        assert lanes is not None
        if len(addresses) == 0:
            return np.zeros(count, dtype=np.int64)
        part_of = lanes // self.width
        parts = int(part_of.max()) + 1
        stages = self.rule.stage_counts(addresses, warps * parts + part_of, count * parts)
        result: Integers = stages.reshape(count, parts).sum(axis=1)
        return result

    def parts(self, firsts: Integers, lanes: Lanes = None) -> Integers:
        assert lanes is not None
        new = np.diff(lanes // self.width, prepend=-1) != 0
        new[firsts] = True
        return np.flatnonzero(new)

    def phase_of(self, addresses: list[int], lanes: Lanes = None) -> list[int]:
        """Phases are the parts with a request, counted from 0."""
        own = np.arange(len(addresses)) if lanes is None else lanes
        part_of = (own // self.parted(addresses, own)).tolist()
        asking = sorted(set(part_of))
        return [asking.index(part) for part in part_of]

    def parted(self, addresses: list[int], lanes: Integers) -> int:
        """The number of lanes that are served together in one request."""
        return self.width


def distinct_of(numbers: Integers, warps: Integers) -> tuple[Integers, Integers]:
    """The distinct numbers of each warp, all in one list, and the warp of each."""
    if len(numbers) == 0:
        return warps, numbers
    span = int(numbers.max()) + 1
    keys = np.sort(warps * span + numbers)
    distinct = keys[np.append(True, keys[1:] != keys[:-1])]
    owner = distinct // span
    return owner, distinct - owner * span
