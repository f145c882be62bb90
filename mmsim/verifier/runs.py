"""The requests of the data at numbers, compared with those of a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mmsim.claims.claim import Claim
from mmsim.engines import selection
from mmsim.verifier.polynomials import P, read, symbol
from mmsim.verifier.sizes import Sizes, valued


def lanes(words: Any, count: int) -> list[P]:
    """The words of a class of requests, lane by lane."""
    return [read(word, lane) for lane in range(count) for word in words]


def inside(case: Sizes, ranges: Any, point: dict[str, int]) -> Iterator[dict[str, int]]:
    """The points of ranges."""
    if not ranges:
        yield point
        return
    (name, *ends), *rest = ranges
    low, high = (int(valued(case, read(end), point)) for end in ends)
    for number in range(low, high):
        yield from inside(case, rest, {**point, name: number})


def requests(case: Sizes, made: Any, point: dict[str, int]) -> Iterator[tuple[Any, Any]]:
    """The words and the stages of all requests at numbers."""
    for one in made:
        outer = inside(case, [one["over"]], point) if "over" in one else [point]
        for inner in outer if "made" in one else ():
            yield from requests(case, one["made"], inner)
        for own in one.get("classes", ()):
            known: dict[Any, list[P]] = {}
            for inner in inside(case, own["ranges"], point):
                words, which = own["words"], []
                while isinstance(words, dict):
                    parts, quotient = words["parts"], valued(case, symbol(words["quotient"]), inner)
                    which.append(quotient % len(parts))
                    words = parts[which[-1]][1]
                every = known.setdefault(tuple(which), lanes(words, own["lanes"]))
                found = tuple(int(valued(case, word, inner)) for word in every)
                yield (found, int(read(own["stages"]).number or 0)) if found else (None, None)


def place(row: Any) -> tuple[Any, ...]:
    """The access of a row."""
    return row["function"], row["line"], row["array"], row["kind"]


def sure(made: Any) -> bool:
    """Return whether the words of all requests are known."""
    return all(
        sure(one["made"]) if "made" in one else all(own["words"] for own in one["classes"])
        for one in made
    )


def traced(claim: Claim, numbers: dict[str, Any]) -> tuple[Any, list[Any]]:
    """A claim's run on the engine of events, and the traces of its launches."""
    found = []
    launch = selection.launch

    def recorded(bound: Any, engine: Any, trace: Any, check: bool) -> Any:
        result = launch(bound, "events", True, check)
        found.append(result.trace)
        return result

    selection.launch = recorded
    try:
        return claim.run(schedule="synchronous", **numbers), found
    finally:
        selection.launch = launch
