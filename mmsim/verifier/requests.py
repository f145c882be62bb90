"""The stages of requests, and the time of rounds: L1 to L6."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import combinations
from typing import Any

from mmsim.verifier.polynomials import P, Refused, of, read, symbol
from mmsim.verifier.runs import lanes
from mmsim.verifier.sizes import Sizes, valued


def stages(case: Sizes, unit: str, width: int, words: list[P], atomic: bool = False) -> int:
    """The stages of a request for words, each a sum in the symbols of a case: L1 to L3, and L6."""
    if unit == "banks":
        words = [word - words[0] for word in words]
    known: dict[Any, bool] = {}
    cells, rests = [], []
    for word in words:
        row: dict[Any, Any] = {}
        rest: dict[Any, Any] = {}
        for part in (word / width).parts.items():
            if part not in known:
                known[part] = bool(part[0]) and case.whole(P(dict([part])))
            (row if known[part] else rest)[part[0]] = part[1]
        number = rest.pop((), 0) * width
        if number % 1:
            raise Refused(f"the word {word} may be no whole number")
        cells.append((P(row) + number // width, int(number % width)))
        rests.append(P(rest))
    # What is the same for all lanes moves all groups, if all words have one place in a group.
    if any(rest.parts for rest in rests) and (
        unit == "banks" or len(set(rests)) > 1 or len({place for _, place in cells}) > 1
    ):
        apart = [a - b for a, b in combinations(words, 2)]
        far = (any(case.least_zero(d * sign - width) for sign in (1, -1)) for d in set(apart))
        if unit == "banks" or not all(far):
            raise Refused(f"the bank or group of the word {words[0]} depends on sizes")
        return len(words)
    places = {place for _, place in cells} if unit == "banks" else {None}
    for place in places:
        rows = {row for row, own in cells if place in (None, own)}
        for one in {one - other for one, other in combinations(rows, 2)}:
            if not case.negative(one) and not case.negative(-one):
                raise Refused(f"words that may be the same: {one} may be 0")
    return counted(unit, cells, atomic)


def counted(unit: str, cells: Sequence[tuple[Any, int]], atomic: bool = False) -> int:
    """The stages of a request by the rows and places of its words: L1 to L3."""
    if unit == "banks":
        return max(Counter(place for _, place in (cells if atomic else set(cells))).values())
    if not atomic:
        return len({row for row, _ in cells})
    most: Counter[Any] = Counter()
    for (line, _), count in Counter(cells).items():
        most[line] = max(most[line], count)
    return sum(most.values())


Counts = tuple[P, P, P, P]
"""Requests, stages, stages in turn, and rounds."""


COUNTS = ("requests", "stages", "stages in turn", "rounds")


class Rounds:
    """The rounds of an access in a launch."""

    def __init__(self, case: Sizes, launch: Any, row: Any, sums: Mapping[Any, P]) -> None:
        self.case, self.launch, self.sums = case, launch, sums
        self.kind, self.array = row["kind"], row["array"]
        self.width = int(case.value(launch.machine.width).number or 0)
        machine = type(launch.machine).__name__
        if machine not in ("DMM", "UMM", "HMM") or self.array in launch.layouts:
            raise Refused("a machine or a layout for which there is no lemma")
        self.shared = machine == "HMM" and self.array not in launch.arguments
        self.space = "memory" if machine != "HMM" else "shared" if self.shared else "global"
        self.unit = "banks" if self.shared or machine == "DMM" else "groups"
        self.requests = 0
        if self.shared and self.together:
            raise Refused("stages of shared memories that are given together")

    def total(self, term: P, name: str, low: P, high: P) -> P:
        """The sum of a term over a range: L5."""
        hidden = term.names
        for quotient in reversed(self.case.quotients):
            if quotient in hidden:
                hidden = hidden.union(*(one.names for one in self.case.quotients[quotient]))
        if name not in hidden:
            return term * (high - low)
        closed = self.sums.get((name, term))
        if closed is None or name not in term.names:
            raise Refused(f"the sum of {term} over {name} is missing")
        return closed.put({name: high}) - closed.put({name: low})

    @contextmanager
    def over(self, ranges: Any) -> Iterator[list[tuple[str, P, P]]]:
        """Ranges, outermost first; none ends before it begins."""
        case, found = self.case, []
        before = list(case.ranges), case.memory, case.samples
        for name, *ends in ranges:
            low, high = map(read, ends)
            if not self.case.least_zero(low) or not self.case.least_zero(high - low):
                raise Refused(f"the range of {name}, {low} to {high} - 1, may end before it begins")
            if name in self.case.lows or name in (one[0] for one in self.case.ranges):
                raise Refused(f"{name} stands for two things")
            found.append((name, low, high))
            case.ranges.append(found[-1])
            case.memory = {}
            inner = []
            for point in case.sampled():
                every = range(*(int(valued(case, end, point)) for end in (low, high)))
                inner += [{**point, name: number} for number in every[:: len(every) // 12 + 1]]
            case.samples = inner[:: len(inner) // 12 + 1]
        yield found
        case.ranges, case.memory, case.samples = before

    def counts(self, made: Any) -> Counts:
        """The counts of parts, in turn: L4."""
        found = [of(0)] * 4
        for one in made:
            if "over" in one:
                with self.over([one["over"]]) as ((name, low, high),):
                    inner = self.counts(one["made"])
                more: Any = [self.total(term, name, low, high) for term in inner]
            elif "trips" in one:
                more = self.turns(one)
            else:
                more = self.round(one)
            found = [a + b for a, b in zip(found, more, strict=True)]
        return tuple(found)  # type: ignore[return-value]

    def turns(self, one: Any) -> Counts:
        """Warps of several trips, numbered through: each trip has one, and no more than `warps`."""
        trips, warps = read(one["trips"]), read(one["warps"])
        requests, stages, busy, rounds = self.counts(one["made"])
        number = requests / (rounds.number or 1)
        before, rest = number - warps * (trips - 1), warps * trips - number
        sure = rounds.number and not self.shared and self.case.least_zero(rest)
        if not sure or not self.case.negative(-before):
            raise Refused("trips that may have no request")
        return requests, stages, busy, rounds * trips

    def round(self, one: Any) -> Counts:
        """The counts of one round."""
        requests, total, there = of(0), of(0), False
        groups: dict[Any, Any] = {}
        for own in one["classes"]:
            block = read(own["block"])
            with self.over(own["ranges"]) as ranges:
                stage = self.stages(own)
                there = there or all(self.case.least_zero(b - a - 1) for _, a, b in ranges)
            outer = [over for over in ranges if over[0] in block.names and self.shared]
            size = count = of(1)
            for over in reversed(ranges):
                size = self.total(size, *over)
                count = self.total(count, *over) if over in outer else count
                stage = stage if over in outer else self.total(stage, *over)
            if ranges[: len(outer)] != outer or stage.names & {name for name, _, _ in outer}:
                raise Refused("stages of a shared memory that depend on the block")
            requests, total = requests + size, total + stage * count
            each, _, warps = groups.get((block, *outer), (of(0), count, []))
            groups[block, *outer] = (
                each + stage,
                count,
                [*warps, (ranges[len(outer) :], own["lanes"])],
            )
        rounds = read(one["rounds"])
        if not (rounds == 1 and there) and not (rounds == 0 and requests == 0):
            raise Refused("a round that may have no request")
        return requests, total, self.busy(one, groups) if self.shared else total, rounds

    def stages(self, own: Any) -> P:
        """The stages of a class of requests, verified."""
        given = self.launch.stages.get(self.array)
        if not own["words"]:
            if own["lanes"] == 1:
                return of(1)
            if given is None:
                raise Refused(f"requests to {self.array} without words")
            return of(0) if self.together else self.case.value(given)
        self.requests += 1
        given = read(own["stages"])
        meant = {*self.case.lows, *(name for name, _, _ in self.case.ranges)}
        for words in self.alternatives(own["words"], own["lanes"]):
            names = {name for word in words for name in word.names}
            if strange := names - meant - self.case.quotients.keys():
                raise Refused(f"{min(strange)} stands for nothing")
            found = stages(self.case, self.unit, self.width, words, self.kind == "atomic")
            if given != found:
                raise Refused(f"a request has {given} stages in the data, but {found}")
        return given

    def alternatives(self, words: Any, count: int) -> Iterator[list[P]]:
        """The words of the lanes, for each residue of a quotient if they depend on it."""
        if isinstance(words, list):
            yield lanes(words, count)
            return
        above, below = self.case.quotients[words["quotient"]]
        for new, inner in words["parts"]:
            self.case.quotients[new] = above, below * len(words["parts"])
            yield from self.alternatives(inner, count)

    @property
    def together(self) -> bool:
        """Return whether the claim gives the stages of all requests together."""
        return bool(getattr(self.launch.stages.get(self.array), "free_symbols", ()))

    def busy(self, one: Any, groups: Any) -> P:
        """The stages of the DMM that has most of them: L4, where blocks have equal stages."""
        case, machine = self.case, self.launch.machine
        dmms, share = case.value(machine.dmms), read(one["share"])
        each: P
        (each, count, warps), *others = groups.values()
        block, *outer = next(iter(groups))
        in_turn = not outer or (len(outer) == 1 and block == symbol(outer[0][0]))
        if others or not in_turn:
            count = sum((own for _, own, _ in groups.values()), start=of(0))
            size = self.launch.block_size or self.launch.threads
            every = case.same(count * case.value(size), case.value(self.launch.threads))
            if not every or any(other[0] != each or other[2] != warps for other in others):
                raise Refused("blocks that access their shared memories differently")
        rest = share * dmms - count
        if not case.whole(share) or not case.least_zero(rest) or not case.negative(rest - dmms):
            raise Refused(f"{share} is not the largest number of blocks on a DMM")
        return share * each
