"""Random cases of a claim: points of its stated domain.

The domain is what `requires` admits. A case of the grid gives the names, the words such as "DMM",
and the sizes that can be run; its numbers are replaced by others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random

from mmsim.claims.claim import Case, Claim, call_with, key_of

POINTS = 20
"""Random points of a claim in `mmsim verify`."""
NARROW = 3
"""Of these, the points with the width 1, if the domain has it."""
LARGE = 128
"""No number of a point is larger, so that points are cheap, unless all of the grid are."""
ATTEMPTS = 400
"""Drawings for each point wanted, before fewer points are taken."""


def points(claim: Claim, count: int = POINTS, seed: int = 0) -> list[Case]:
    """Return random cases that satisfy `requires`, all different and none of the grid.

    There are fewer than `count` if the domain is small, and none for a misprint. The first have
    w = 1, where the domain has it. No number is larger than the grid's largest of its name. The
    parameters in `claim.derived` follow from the others.

    >>> from mmsim.claims import choose, registered
    >>> claim, *_ = choose(registered(), "SMM-L5.1")
    >>> [case["w"] for case in points(claim, 3)]
    [1, 1, 1]
    """
    cases = claim.cases()
    if claim.printed or not cases[0]:
        return []
    random = Random(f"{claim.id} {seed}")
    known = _known(claim, cases)
    seen = set(map(key_of, cases))
    found: list[Case] = []
    for narrow, wanted in ((True, min(NARROW, count)), (False, count)):
        if narrow and "w" not in known:
            continue
        for _ in range(ATTEMPTS * count):
            if len(found) == wanted:
                break
            case = _drawn(random, claim, random.choice(cases), known, narrow)
            if case is not None and key_of(case) not in seen:
                seen.add(key_of(case))
                found.append(case)
    return found


def _known(claim: Claim, cases: Iterable[Case]) -> dict[str, list[int]]:
    """The grid's values of each number that can be another, in ascending order."""
    known: dict[str, set[int]] = {}
    for case in cases:
        for name, value in case.items():
            if type(value) is int and name not in claim.derived:
                known.setdefault(name, set()).add(value)
    return {name: sorted(values) for name, values in known.items()}


def _drawn(
    random: Random, claim: Claim, like: Case, known: Mapping[str, list[int]], narrow: bool
) -> Case | None:
    """One drawing: some numbers of a case of the grid replaced, or None outside the domain."""
    case = dict(like)
    numbers = [name for name in known if type(case.get(name)) is int]
    if narrow:
        case["w"] = 1
        numbers.remove("w")
    for name in random.sample(numbers, random.randint(0, len(numbers))):
        value = _proposal(random, [case[one] for one in numbers if one != name], known[name])
        if not min(known[name][0], 1) <= value <= known[name][-1]:
            return None
        case[name] = value
    if any(case[name] > max(LARGE, known[name][0]) for name in numbers):
        return None
    if not all(call_with(condition.holds, case) for condition in claim.requires):
        return None
    for name, follows in claim.derived.items():
        case[name] = call_with(follows, case)
    return case


def _proposal(random: Random, others: Sequence[int], known: Sequence[int]) -> int:
    """A value for a number: one of the grid, a small one, or one made of other numbers."""
    way = random.randrange(6)
    if way == 0 or not others:
        return random.choice(known)
    if way == 1:
        return random.randint(1, random.choice((4, 12, 40)))
    one, other, factor = random.choice(others), random.choice(others), random.randint(1, 8)
    return (one * factor, one * other, one * other * factor, one // factor)[way - 2]
