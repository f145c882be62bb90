"""The cost of rounds of the synchronous schedule, counted from their addresses.

These are the rules of the papers, written a second time, without mmsim's. An address is a whole
number. A warp is the list of the addresses of its active lanes. Sources: Nakano, "Simple Memory
Machine Models for GPUs" (banks and address groups) and "The Hierarchical Memory Machine Model for
GPUs" (the largest of the units' times); the rule of atomics is mmsim's own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

Warp = Sequence[int]
Rule = Callable[[Warp, int], int]
Model = Callable[..., Any]


def log(x: int) -> int:
    """The logarithm to the base 2, rounded up.

    >>> log(1), log(8), log(9)
    (0, 3, 4)
    """
    return (x - 1).bit_length()


def place(w: int, *sizes: int) -> list[int]:
    """The first addresses of arrays of these sizes: each begins at the next multiple of w.

    >>> place(4, 6, 3, 1)
    [0, 8, 12]
    """
    starts, free = [], 0
    for size in sizes:
        starts.append(free)
        free += -(-size // w) * w
    return starts


def warps(addresses: Iterable[int | None], w: int, block: int | None = None) -> list[list[int]]:
    """The warps of threads 0, 1, 2, ..., given the address of each, or None for an idle thread.

    A warp is w consecutive threads of a block; without `block` all threads are one block.

    >>> warps([0, 1, None, 3, 4], w=2)
    [[0, 1], [3], [4]]
    >>> warps([0, 1, 2, 3, 4, 5], w=2, block=3)
    [[0, 1], [2], [3, 4], [5]]
    """
    all_threads = list(addresses)
    block = block or max(1, len(all_threads))
    found = []
    for first in range(0, len(all_threads), block):
        for lane in range(first, min(first + block, len(all_threads)), w):
            last = min(lane + w, first + block)
            found.append([a for a in all_threads[lane:last] if a is not None])
    return found


def banks(warp: Warp, w: int) -> int:
    """The stages of a request on banks: the most different addresses in one bank.

    >>> banks([0, 1, 10, 6], w=4), banks([8, 9, 14, 15], w=4), banks([5, 5, 5, 5], w=4)
    (2, 1, 1)
    """
    return max(Counter(address % w for address in set(warp)).values(), default=0)


def groups(warp: Warp, w: int) -> int:
    """The stages of a request on address groups: the number of different groups.

    >>> groups([0, 1, 10, 6], w=4), groups([8, 9, 14, 15], w=4)
    (3, 2)
    """
    return len({address // w for address in warp})


def atomic_banks(warp: Warp, w: int) -> int:
    """The stages of an atomic request on banks: the most requests in one bank.

    >>> atomic_banks([5, 5, 1, 2], w=4)
    3
    """
    return max(Counter(address % w for address in warp).values(), default=0)


def atomic_groups(warp: Warp, w: int) -> int:
    """The stages of an atomic request on groups: in each the most requests for one address, added.

    >>> atomic_groups([5, 5, 6, 2], w=4)
    3
    """
    most: dict[int, int] = defaultdict(int)
    for address, requests in Counter(warp).items():
        most[address // w] = max(most[address // w], requests)
    return sum(most.values())


RULES: dict[str, Rule] = {"DMM": banks, "UMM": groups}


class Rounds:
    """A run: rounds in sequence. Add the rounds; `time` has the time units.

    `stages` and `requests` count, for each label given to `add`, the stages and the warps that
    sent a request; `times` has the time of its rounds. Several launches may be added to one: their
    times add up.

    >>> rounds = Rounds(w=4)
    >>> rounds.add(banks, 3, [[0, 1, 10, 6], [8, 9, 14, 15]])
    >>> rounds.time
    5
    """

    def __init__(self, w: int) -> None:
        self.w = w
        self.time = 0
        self.stages: Counter[str] = Counter()
        self.requests: Counter[str] = Counter()
        self.times: Counter[str] = Counter()

    def add(self, rule: Rule, latency: int, warps: Iterable[Warp], label: str = "") -> None:
        """Add a round that one unit serves: (the stages of all warps) + latency - 1."""
        self.together([(rule, latency, warps)], label)

    def shared(self, latency: int, dmms: Iterable[Iterable[Warp]], label: str = "") -> None:
        """Add a round of the shared memories of an HMM, given the warps of each DMM."""
        self.together([(banks, latency, warps) for warps in dmms], label)

    def together(self, units: Iterable[tuple[Rule, int, Iterable[Warp]]], label: str = "") -> None:
        """Add a round that several units serve at once: the largest of their times.

        A round in which no thread accesses anything takes no time.

        >>> rounds = Rounds(w=2)
        >>> rounds.together([(banks, 1, [[0, 1], [2, 3]]), (groups, 5, [[0, 2]]), (banks, 9, [[]])])
        >>> rounds.time
        6
        """
        longest = 0
        for rule, latency, warps in units:
            active = [warp for warp in warps if len(warp)]
            stages = sum(rule(warp, self.w) for warp in active)
            self.stages[label] += stages
            self.requests[label] += len(active)
            if active:
                longest = max(longest, stages + latency - 1)
        self.time += longest
        self.times[label] += longest


def time(modelled: Rounds | int) -> int:
    """The quantity that a model returns: of rounds it is their time."""
    return modelled.time if isinstance(modelled, Rounds) else modelled


def stages(rounds: Model, *labels: str) -> Model:
    """The model of the stages of some rounds, or of all."""
    return lambda **case: _sum(rounds(**case).stages, labels)


def requests(rounds: Model, *labels: str) -> Model:
    """The model of the requests of warps in some rounds, or in all."""
    return lambda **case: _sum(rounds(**case).requests, labels)


def _sum(counts: Counter[str], labels: tuple[str, ...]) -> int:
    return sum(counts[label] for label in labels or counts)


def one_of(parameter: str, models: Mapping[str, Model]) -> Model:
    """The model that a parameter of the case names.

    >>> one_of("way", {"there": lambda n: n, "back": lambda n: -n})(way="back", n=3)
    -3
    """
    return lambda **case: models[case.pop(parameter)](**case)
