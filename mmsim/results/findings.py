"""The findings of a check: plain data that says what is wrong, where, when, and what to do.

A *data race* is two unordered accesses to one element by threads of different warps, at least one
of them a write. Their order depends on chance, and so does the result of the program. Two writes of
the same value are not a race.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from mmsim.errors import Position, thread_named
from mmsim.model.threads import Grid
from mmsim.printable import printable, printable_lines
from mmsim.tabular import Rows, Tabular

FindingKind = Literal[
    "race",
    "beside-atomic",
    "lost-update",
    "unwritten",
    "barrier",
    "exchange",
    "warp-sync",
    "winner",
    "out-of-range",
    "freed",
    "deadlock",
    "spin",
    "endless",
    "arithmetic",
    "unassigned",
    "type",
    "exception",
    "vector",
    "capacity",
    "placement",
    "conflict",
]
Scope = Literal["interval", "blocks", "round"]
Language = Literal["python", "numba", "ptx"]
Action = Literal[
    "read",
    "write",
    "atomic",
    "barrier",
    "elsewhere",
    "end",
    "waits",
    "statement",
    "declaration",
    "allocates",
    "frees",
]

DOES: dict[Action, str] = {
    "read": "reads it",
    "write": "writes it",
    "atomic": "changes it atomically",
    "barrier": "waits at a barrier",
    "elsewhere": "is elsewhere",
    "end": "has ended",
    "waits": "waits too",
    "statement": "is here",
    "declaration": "declared",
    "allocates": "allocated it",
    "frees": "freed it",
}

TITLES: dict[FindingKind, str] = {
    "race": "data race",
    "beside-atomic": "race between a plain and an atomic access",
    "lost-update": "lost update",
    "unwritten": "read of uninitialized memory",
    "barrier": "divergent barrier",
    "exchange": "exchange with a lane that takes no part",
    "warp-sync": "missing {sync}",
    "winner": "result that depends on which write wins",
    "out-of-range": "index out of range",
    "freed": "use of freed memory",
    "deadlock": "deadlock",
    "spin": "atomic loop that is never left",
    "endless": "no end",
    "arithmetic": "operation without a value",
    "unassigned": "variable without a value",
    "type": "value of a wrong type",
    "exception": "exception that a thread raises",
    "vector": "vector that cannot be accessed",
    "capacity": "too much shared memory",
    "placement": "array placed for another width",
    "conflict": "bank conflict",
}

ADVICE: dict[FindingKind, str] = {
    "beside-atomic": "access it by an atomic here too, or put {barrier} between the two",
    "lost-update": "both had read it before, so one of the two is lost: change it by an atomic, "
    "such as {add}, or let one thread alone do it",
    "unwritten": "write it first; where another warp does, put {barrier} between",
    "barrier": "move the barrier to a place that all threads of the block reach",
    "exchange": "let every lane that is asked come to the same call",
    "warp-sync": "put {sync} between the two: only in the models do lanes run together",
    "winner": "let one thread alone write it",
    "out-of-range": "guard the access with a test, or give the array more elements",
    "freed": "free it after its last use; where another warp uses it, put {barrier} between",
    "deadlock": "no order of the warps ends this wait: write before you wait, or wait at a barrier",
    "spin": "let the thread that gets the lock do its work and free it inside the loop",
    "endless": "correct the condition that ends the loop, or give a larger max_accesses",
    "arithmetic": "test the operands first",
    "unassigned": "assign the variable on every path to here",
    "type": "convert the value, or give the array a wider type",
    "exception": "give the kernel arguments with which it raises none",
    "vector": "an access of one element needs no alignment",
    "capacity": "take smaller blocks, fewer of them on a DMM, or smaller shared arrays",
    "placement": "give the layout the machine's width",
    "conflict": "pad the rows of the array, or swizzle its columns",
}

OF_THE_GRID = (
    "let the first thread of every block come to the barrier, and skip work by a test: a GPU waits "
    "for blocks that have ended, too"
)
"""The advice for a barrier of the grid that a block doesn't reach."""

WORDS: dict[Language, dict[str, str]] = {
    "python": {"barrier": "T.barrier()", "add": "mm.atomic.add", "sync": "mm.warp.sync()"},
    "numba": {"barrier": "cuda.syncthreads()", "add": "cuda.atomic.add", "sync": "cuda.syncwarp()"},
    "ptx": {"barrier": "__syncthreads()", "add": "atomicAdd", "sync": "__syncwarp()"},
}
"""The words of the program's language for the words in braces."""


RACES: tuple[FindingKind, ...] = ("race", "beside-atomic")
"""Kinds of findings of two unordered accesses."""
PAIRS: tuple[FindingKind, ...] = (*RACES, "lost-update", "winner")
"""Kinds of findings of two accesses."""


@dataclass(frozen=True)
class FoundAccess:
    """An access or a wait of a thread: its kind, line and time unit.

    `kind` is "read" or "write" (the dispatch of its request), "barrier" (it waits there), "waits"
    (it too goes on reading in a deadlock), "statement" (local work), "declaration" (of an array),
    "allocates" or "frees" (memory of the heap).
    "elsewhere" and "end" stand for its last access or wait, at the program's head if there is none.
    `time` is None if the engine doesn't know it; equality ignores it. `position` is threadIdx and
    blockIdx, None in a launch without extents along y and z.
    """

    thread: int
    block: int
    kind: Action
    function: str
    file: str
    line: int
    time: int | None = field(default=None, compare=False)
    position: Position | None = None

    @property
    def where(self) -> tuple[str, str, int, Action]:
        """Its line and its kind, whichever thread it is of."""
        return self.function, self.file, self.line, self.kind

    def __str__(self) -> str:
        after = "since" if self.kind in ("elsewhere", "end") else "at"
        when = "" if self.time is None else f" {after} time {self.time}"
        where = f"({printable(self.function)}, line {self.line})"
        if self.kind == "declaration":
            return f"{DOES[self.kind]} {where}"
        return f"{thread_named(self.thread, self.position)} {DOES[self.kind]}{when} {where}"


@dataclass(frozen=True)
class Finding(Tabular):
    """A mistake in a run. It names the first element concerned of one kind, array and lines.

    Attributes
    ----------
    kind
        "race": a data race. "beside-atomic": a data race of a plain access and an atomic.
        "lost-update": several threads of one request or round change an element that all had read
        before. "unwritten": a read of uninitialized memory. "barrier": only part of a warp's or a
        block's threads reach a barrier. "exchange": a lane asks an inactive lane. "warp-sync": two
        lanes of a warp access an element, at least one writes it, and a GPU does not synchronize
        them. "winner": several threads of one request write different values to one element, and
        the results depend on the value that stays. "capacity": too little shared memory.
        "placement": a layout of another width than the machine's. "conflict": two lanes of a warp
        want different words of one bank, which only a proof reports. "freed": an access of memory
        that a kernel allocated and freed. "deadlock": a wait that no
        thread ends. "spin": a wait for a lock that a thread of the same warp holds. The others are
        errors of the program: "out-of-range", "endless", "arithmetic", "unassigned", "type",
        "exception".
    array, index, copy
        The element, by its logical index. `copy` is the block of an `mm.shared` array, None for a
        parameter. All are None if no array or element is concerned.
    accesses
        The one or two accesses concerned. For a race and a winner: the two accesses. For a barrier:
        a thread that waits and a thread elsewhere.
    scope
        The reason why two accesses of a race have no order: they are in one barrier "interval" of
        their block, in different "blocks", or in one "round" of the synchronous schedule.
    elements
        The number of elements that the same lines concern; for "barrier", how many times.
    note
        Further information.
    language
        The language of the program: mmsim's own, or numba.cuda's.
    """

    kind: FindingKind
    array: str | None
    index: tuple[int, ...] | None
    copy: int | None
    accesses: tuple[FoundAccess, ...]
    scope: Scope | None = None
    elements: int = 1
    note: str = ""
    language: Language = "python"

    def __post_init__(self) -> None:
        if self.kind in PAIRS and len(self.accesses) != 2:
            raise ValueError(f"a {self.kind} has two accesses, not {len(self.accesses)}")
        if self.kind in RACES and self.scope is None:
            raise ValueError(f"a {self.kind} has a scope")
        if not 1 <= len(self.accesses) <= 2:
            raise ValueError(f"a finding has one or two accesses, not {len(self.accesses)}")

    @property
    def threads(self) -> tuple[int, ...]:
        """The threads of the accesses."""
        return tuple(access.thread for access in self.accesses)

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines of the accesses."""
        return tuple(access.line for access in self.accesses)

    @property
    def times(self) -> tuple[int | None, ...]:
        """The time units of the accesses."""
        return tuple(access.time for access in self.accesses)

    @property
    def element(self) -> str:
        """The element, or the array, in the notation of the program; empty if there is none."""
        if self.array is None:
            return ""
        written = printable(self.array)
        if self.index is not None:
            written += f"[{', '.join(map(str, self.index))}]"
        return written if self.copy is None else f"{written} of block {self.copy}"

    @property
    def title(self) -> str:
        """The kind of the finding, in words."""
        return self._worded(TITLES[self.kind])

    @property
    def advice(self) -> str:
        """The advice: how to correct the program."""
        if self.kind == "barrier" and len({access.block for access in self.accesses}) > 1:
            return OF_THE_GRID
        return self._worded(ADVICE[self.kind] if self.kind != "race" else self._order())

    def _worded(self, text: str) -> str:
        return text.format(**WORDS[self.language])

    def _order(self) -> str:
        """The advice for a data race."""
        first, second = self.accesses
        both_write = first.kind == second.kind == "write"
        if self.scope == "round":
            return "let one thread alone write it, or each warp an element of its own"
        if self.scope == "blocks":
            apart = "let one block alone write it" if both_write else "access it in two launches"
            return f"{{barrier}} does not order threads of different blocks: {apart}"
        if (first.file, first.line) != (second.file, second.line):
            return "put {barrier} between the two, in a loop also between two iterations"
        if both_write:
            return "let one thread alone write it, in a loop put {barrier} between two iterations"
        return (
            "in a loop put {barrier} between two iterations; else change it by an atomic, or read "
            "into a variable, put {barrier} after that, and write in a line of its own"
        )

    def __str__(self) -> str:
        more = self.elements - 1
        thing = "barrier" if self.kind == "barrier" else "element"
        further = f" (and {more} more {thing if more == 1 else thing + 's'})" if more else ""
        where = {
            "interval": " in one barrier interval, in no order",
            "blocks": " in another block, in no order",
            "round": " in the same round, in no order",
            None: "",
        }[self.scope]
        on = f" on {self.element}" if self.kind in RACES else f", {self.element}"
        note = f": {printable_lines(self.note)}" if self.note else ""
        actions = " and ".join(map(str, self.accesses))
        what = f"{self.title}{on if self.array else ''}"
        return f"{what}: {actions}{where}{further}{note}; {self.advice}"


class Findings(Rows[Finding]):
    """The findings of a check."""

    __slots__ = ()


def of_launch(findings: Iterable[Finding], grid: Grid, language: Language) -> tuple[Finding, ...]:
    """Add to findings the launch's language and, if it has a shape, the positions of threads.

    A launch of Numba's kernel always has a shape.
    """
    if grid.shape is None and language == "python":
        return tuple(findings)
    shape = grid.extents
    return tuple(
        replace(
            one,
            language=language,
            accesses=tuple(
                replace(access, position=shape.position(access.thread)) for access in one.accesses
            ),
        )
        for one in findings
    )


def merge(launches: Iterable[tuple[Finding, ...] | None]) -> tuple[Finding, ...] | None:
    """Merge the findings of several launches; findings of the same lines become one.

    None (not checked) if there are no findings and not every launch was checked.
    """
    merged: dict[object, Finding] = {}
    checked = True
    for findings in launches:
        checked = checked and findings is not None
        for finding in findings or ():
            key = (finding.kind, finding.array, *(one.where for one in finding.accesses))
            if key in merged:
                elements = merged[key].elements + finding.elements
                merged[key] = replace(merged[key], elements=elements)
            else:
                merged[key] = finding
    return tuple(merged.values()) if merged or checked else None
