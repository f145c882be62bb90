"""Turns: the next warp that a free memory unit dispatches (docs/machines.md, *The pipeline*)."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict, deque
from collections.abc import Callable
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


class GroupsInTurn:
    """Groups of warps in turn, and within each group its warps, by default in turn.

    The groups are the DMMs at an HMM's global unit:

    >>> turns = GroupsInTurn(lambda warp: warp % 2)  # warps 0, 2 on DMM 0; 1, 3 on DMM 1
    >>> for warp in range(4): turns.push(warp)
    >>> [turns.pop() for _ in range(4)]
    [0, 1, 2, 3]

    Clusters of DMMs are groups too, and within each its DMMs are in turn:

    >>> from functools import partial
    >>> dmms = partial(GroupsInTurn, lambda warp: warp % 3)
    >>> turns = GroupsInTurn(lambda warp: [0, 0, 1][warp % 3], dmms)  # 2 and 5 are in cluster 1
    >>> for warp in range(6): turns.push(warp)
    >>> [turns.pop() for _ in range(7)]
    [0, 2, 1, 5, 3, 4, None]
    """

    def __init__(
        self,
        group_of_warp: Callable[[int], int],
        within: Callable[[], WarpsInTurn | GroupsInTurn] = WarpsInTurn,
    ) -> None:
        self._group_of_warp = group_of_warp
        self._groups = WarpsInTurn()  # the same rule, one floor up
        self._within = defaultdict[int, WarpsInTurn | GroupsInTurn](within)

    def __len__(self) -> int:
        return len(self._groups)

    def push(self, warp: int) -> None:
        group = self._group_of_warp(warp)
        warps = self._within[group]
        if not len(warps):
            self._groups.push(group)
        warps.push(warp)

    def pop(self) -> int | None:
        group = self._groups.pop()
        if group is None:
            return None
        warp = self._within[group].pop()
        if len(self._within[group]):
            self._groups.push(group)
        return warp


class WarpsInOrder:
    """In order of arrival: a round's warps come in order of warp id."""

    def __init__(self) -> None:
        self._ready: deque[int] = deque()

    def push(self, warp: int) -> None:
        self._ready.append(warp)

    def pop(self) -> int | None:
        return self._ready.popleft() if self._ready else None
