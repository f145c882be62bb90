"""Vectors: the cost of accesses to several adjacent elements by each lane of a warp.

Banks of bytes serve a vector as one element of its size: four floats as one of 16 bytes, by
quarter-warps. In the papers' memories all words of a request count as usual, so n words of
each of w lanes take at least n stages.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mmsim.model.conflicts import Conflict, Integers, OfAnother, distinct_of


@dataclass(frozen=True)
class Vectors(OfAnother):
    """Another rule, for vectors as elements: the `count` words of a lane are one element.

    The addresses are those of all words, of each lane's vector in ascending order. `width` is the
    number of words that a stage can serve.

    >>> from mmsim.model.conflicts import Banks
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

    def stage_of(self, addresses: list[int], lanes: Integers | None = None) -> list[int]:
        stages = self.rule.stage_of(*self._vectors(addresses, lanes))
        return [stage for stage in stages for _ in range(self.count)]

    def stage_counts(
        self, addresses: Integers, warps: Integers, count: int, lanes: Integers | None = None
    ) -> Integers:
        every = slice(None, None, self.count)
        vectors = addresses[every] // self.count
        own = None if lanes is None else lanes[every]
        return self.rule.stage_counts(vectors, warps[every], count, own)

    def parts(self, firsts: Integers, lanes: Integers | None = None) -> Integers:
        own = None if lanes is None else lanes[:: self.count]
        return self.rule.parts(firsts // self.count, own) * self.count

    def phases(
        self, addresses: Integers, firsts: Integers, lanes: Integers | None = None
    ) -> Integers:
        own = None if lanes is None else lanes[:: self.count]
        vectors = addresses[:: self.count] // self.count
        return self.rule.phases(vectors, firsts // self.count, own) * self.count

    def _vectors(
        self, addresses: list[int], lanes: Integers | None
    ) -> tuple[list[int], Integers | None]:
        """The numbers of the vectors, and the lane of each."""
        vectors = [address // self.count for address in addresses[:: self.count]]
        return vectors, None if lanes is None else lanes[:: self.count]


def served(unit: Conflict, size: int, kind: str, count: int) -> Conflict:
    """The rule of a unit for accesses of each lane to `count` adjacent elements of `size` bytes.

    The kinds are those of `Conflict.of_access`.
    """
    return unit.of_access(size, kind) if count == 1 else unit.of_vectors(size, kind, count)


def fewest_of_vectors(
    rule: Conflict,
    addresses: Integers,
    firsts: Integers,
    lanes: Integers | None,
    stages: Integers,
) -> Integers:
    """Return the fewest stages that each request of vectors can take.

    That is one for each phase, and enough for its distinct words. The requests begin at `firsts`
    and take `stages`, an upper bound.

    >>> from mmsim.model.conflicts import Banks
    >>> addresses, firsts = np.array([0, 1, 2, 3, 4, 5, 8, 9]), np.array([0, 4])
    >>> fewest_of_vectors(Banks(2), addresses, firsts, None, np.array([2, 2]))
    array([2, 2])
    >>> fewest_of_vectors(Banks(4), addresses, firsts, None, np.array([1, 2]))
    array([1, 1])
    """
    count = len(firsts)
    phases = rule.phases(addresses, firsts, lanes)
    phases_of = np.bincount(np.searchsorted(firsts, phases, side="right") - 1, minlength=count)
    requests = np.repeat(np.arange(count), np.diff(firsts, append=len(addresses)))
    owner, _ = distinct_of(addresses, requests)
    filled = -(-np.bincount(owner, minlength=count) // rule.width)
    return np.minimum(np.maximum(phases_of, filled), stages)
