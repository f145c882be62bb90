"""What `check=True` found: plain data that says what is wrong, where, and what to do.

A *data race* is two accesses to one element by threads of different warps, at least one of them a
write, that nothing orders: their order, and with it what the program computes, is up to chance.
Two writes of the same value are none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from mmsim.results.rows import Kind

FindingKind = Literal["race"]
Scope = Literal["interval", "blocks", "round"]


@dataclass(frozen=True)
class FoundAccess:
    """One access of a finding: what a thread did, and in which line."""

    thread: int
    block: int
    kind: Kind
    function: str
    file: str
    line: int

    def __str__(self) -> str:
        does = "reads" if self.kind == "read" else "writes"
        return f"thread {self.thread} {does} it ({self.function}, line {self.line})"


@dataclass(frozen=True)
class Finding:
    """Something wrong with a run: of one pair of lines and one array, the first element concerned.

    Attributes
    ----------
    kind
        "race", a data race.
    array, index, copy
        The element, by its logical index; `copy` is the block whose `mm.shared` array it is, None
        for a parameter.
    accesses
        The two accesses that race, in the order of the program's text.
    scope
        Why nothing orders them: both lie in one barrier "interval" of their block, they are of
        different "blocks", or in one "round" of the synchronous schedule.
    elements
        How many elements the same two lines race for.
    """

    kind: FindingKind
    array: str
    index: tuple[int, ...]
    copy: int | None
    accesses: tuple[FoundAccess, ...]
    scope: Scope
    elements: int = 1

    def __post_init__(self) -> None:
        if len(self.accesses) != 2:
            raise ValueError(f"a race has two accesses, not {len(self.accesses)}")

    @property
    def threads(self) -> tuple[int, ...]:
        """The threads of the accesses."""
        return tuple(access.thread for access in self.accesses)

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines of the accesses."""
        return tuple(access.line for access in self.accesses)

    @property
    def element(self) -> str:
        """The element as one would write it."""
        written = f"{self.array}[{', '.join(map(str, self.index))}]"
        return written if self.copy is None else f"{written} of block {self.copy}"

    @property
    def advice(self) -> str:
        """What to do about it."""
        first, second = self.accesses
        both_write = first.kind == second.kind == "write"
        if self.scope == "round":
            return "let one thread alone write it, or each warp an element of its own"
        if self.scope == "blocks":
            apart = "let one block alone write it" if both_write else "access it in two launches"
            return f"no barrier orders threads of different blocks: {apart}"
        if (first.file, first.line) != (second.file, second.line):
            return "put T.barrier() between the two, in a loop also between two iterations"
        if both_write:
            return "let one thread alone write it, in a loop put T.barrier() between two iterations"
        return "read into a variable, put T.barrier() after that, and write in a line of its own"

    def __str__(self) -> str:
        first, second = self.accesses
        more = self.elements - 1
        further = f" ({more} more {'element' if more == 1 else 'elements'} alike)" if more else ""
        where = {
            "interval": "in one barrier interval",
            "blocks": "in another block",
            "round": "in the same round",
        }[self.scope]
        return (
            f"data race on {self.element}: {first} and {second} {where}, "
            f"in no order{further}; {self.advice}"
        )


def merge(launches: Iterable[tuple[Finding, ...] | None]) -> tuple[Finding, ...] | None:
    """The findings of several launches, those of the same lines as one.

    None, which means not checked, if nothing was found but not every launch was checked.
    """
    merged: dict[object, Finding] = {}
    checked = True
    for findings in launches:
        checked = checked and findings is not None
        for finding in findings or ():
            lines = [(one.kind, one.function, one.file, one.line) for one in finding.accesses]
            key = (finding.kind, finding.array, *lines)
            if key in merged:
                elements = merged[key].elements + finding.elements
                merged[key] = replace(merged[key], elements=elements)
            else:
                merged[key] = finding
    return tuple(merged.values()) if merged or checked else None
