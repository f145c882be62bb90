"""Turns: the next warp that a free memory unit dispatches (docs/machines.md, *The pipeline*)."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol


class Turns(Protocol):
    """The warps that are ready at one unit."""

    def push(self, warp: int) -> None:
        """Note that a warp has become ready."""

    def pop(self) -> int | None:
        """Take the next warp in turn, None if none is ready."""


class WarpsInTurn:
    """The first ready warp after the one dispatched last, in circular order, starting with warp 0.

    >>> turns = WarpsInTurn()
    >>> for warp in (3, 1): turns.push(warp)
    >>> turns.pop()
    1
    >>> turns.push(0)
    >>> turns.pop(), turns.pop(), turns.pop()
    (3, 0, None)
    """

    def __init__(self) -> None:
        self._ready: list[int] = []
        self._last = -1

    def __len__(self) -> int:
        return len(self._ready)

    def push(self, warp: int) -> None:
        insort(self._ready, warp)

    def pop(self) -> int | None:
        ready = self._ready
        if not ready:
            return None
        position = bisect_right(ready, self._last)
        self._last = ready.pop(position if position < len(ready) else 0)
        return self._last


class DMMsInTurn:
    """The DMMs in turn, and within each DMM its warps in turn: an HMM's global unit.

    >>> turns = DMMsInTurn(lambda warp: warp % 2)  # warps 0, 2 on DMM 0; 1, 3 on DMM 1
    >>> for warp in range(4): turns.push(warp)
    >>> [turns.pop() for _ in range(4)]
    [0, 1, 2, 3]
    """

    def __init__(self, dmm_of_warp: Callable[[int], int]) -> None:
        self._dmm_of_warp = dmm_of_warp
        self._dmms = WarpsInTurn()  # the same rule, one floor up
        self._warps: dict[int, WarpsInTurn] = {}

    def __len__(self) -> int:
        return len(self._dmms)

    def push(self, warp: int) -> None:
        dmm = self._dmm_of_warp(warp)
        warps = self._warps.setdefault(dmm, WarpsInTurn())
        if not len(warps):
            self._dmms.push(dmm)
        warps.push(warp)

    def pop(self) -> int | None:
        dmm = self._dmms.pop()
        if dmm is None:
            return None
        warp = self._warps[dmm].pop()
        if len(self._warps[dmm]):
            self._dmms.push(dmm)
        return warp


class ClustersInTurn:
    """Clusters of DMMs in turn, in each its DMMs in turn, and in each of these its warps.

    >>> turns = ClustersInTurn(lambda warp: warp % 3, [0, 0, 1])  # warps 2 and 5 are in cluster 1
    >>> for warp in range(6): turns.push(warp)
    >>> [turns.pop() for _ in range(7)]
    [0, 2, 1, 5, 3, 4, None]
    """

    def __init__(self, dmm_of_warp: Callable[[int], int], cluster_of_dmm: Sequence[int]) -> None:
        self._dmm_of_warp = dmm_of_warp
        self._cluster_of_dmm = cluster_of_dmm
        self._clusters = WarpsInTurn()  # the same rule, two floors up
        self._dmms: dict[int, DMMsInTurn] = {}

    def push(self, warp: int) -> None:
        cluster = self._cluster_of_dmm[self._dmm_of_warp(warp)]
        dmms = self._dmms.setdefault(cluster, DMMsInTurn(self._dmm_of_warp))
        if not len(dmms):
            self._clusters.push(cluster)
        dmms.push(warp)

    def pop(self) -> int | None:
        cluster = self._clusters.pop()
        if cluster is None:
            return None
        warp = self._dmms[cluster].pop()
        if len(self._dmms[cluster]):
            self._clusters.push(cluster)
        return warp


class WarpsInOrder:
    """In order of arrival: a round's warps come in order of warp id."""

    def __init__(self) -> None:
        self._ready: deque[int] = deque()

    def push(self, warp: int) -> None:
        self._ready.append(warp)

    def pop(self) -> int | None:
        return self._ready.popleft() if self._ready else None
