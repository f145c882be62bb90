"""A planted bug and its clean twin: two programs, how they are launched, and what must be found."""

from __future__ import annotations

import inspect
import linecache
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

import mmsim as mm
from mmsim import Machine, Schedule
from mmsim.api.report import Report
from mmsim.frontend.program import Program
from mmsim.results import Finding, FoundAccess
from mmsim.results.findings import Action, FindingKind, Scope

BOTH: tuple[Schedule, ...] = ("synchronous", "asynchronous")
WAITS = 2000
"""Accesses after which a program that waits is taken to wait forever."""

DMM = mm.DMM(width=32, latency=5)
UMM = mm.UMM(width=32, latency=5)
HMM = mm.HMM(dmms=2, width=32, global_latency=10)
TWO = {"threads": 128, "block_size": 64}
"""Two blocks of two warps."""

Did = tuple[int, Action, str] | tuple[int, Action, str, int]
"""What a thread did: its number, the action, text that only this line has, and perhaps the time."""


@dataclass(frozen=True, eq=False)
class Launched:
    """A program and the arguments of `Machine.check`."""

    program: Program
    machine: Machine
    arguments: tuple[Any, ...]
    threads: int
    block_size: int | None = None
    unset: tuple[str, ...] = ()
    shared_words: int | None = None
    max_accesses: int = 100_000

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the program's parameters after T."""
        return tuple(parameter.name for parameter in self.program.code.parameters)

    def check(self, schedule: Schedule) -> Report:
        return self.machine.check(
            self.program,
            *self.arguments,
            **self.how(schedule),
            shared_words=self.shared_words,
            unset=self.unset,
        )

    def how(self, schedule: Schedule) -> dict[str, Any]:
        """The arguments of both `Machine.check` and `Machine.run`."""
        return {
            "threads": self.threads,
            "block_size": self.block_size,
            "schedule": schedule,
            "max_accesses": self.max_accesses,
        }


@dataclass(frozen=True)
class Expected:
    """A finding, with lines given by their text; `note` is a part of its note.

    As a decorator it says that it must be found in the bug of a pair, before those below it.
    """

    kind: FindingKind
    element: str
    actions: tuple[Did, ...]
    elements: int = 1
    scope: Scope | None = None
    note: str = ""

    def __call__(self, pair: Pair) -> Pair:
        return replace(pair, finds=(self, *pair.finds))

    def finding(self, launched: Launched, note: str) -> Finding:
        """The finding of a launch, which said `note`."""
        array, index, copy = parts(self.element)
        accesses = tuple(_access(launched, *did) for did in self.actions)
        return Finding(self.kind, array, index, copy, accesses, self.scope, self.elements, note)

    @property
    def array(self) -> str:
        """The name of the array, empty if none is concerned."""
        return parts(self.element)[0] or ""

    @property
    def times(self) -> tuple[int | None, ...]:
        """The times of the actions, None where none is given."""
        return tuple(did[3] if len(did) == 4 else None for did in self.actions)


@dataclass(frozen=True, eq=False)
class Pair:
    """A bug, which shows under `schedule`, and a twin, which is right under those of `clean`."""

    bug: Launched
    twin: Launched
    schedule: Schedule
    clean: tuple[Schedule, ...]
    finds: tuple[Expected, ...] = ()

    @property
    def name(self) -> str:
        return self.bug.program.name

    @property
    def story(self) -> str:
        """What is wrong, in a line."""
        return (self.bug.program.function.__doc__ or "").strip()

    @property
    def kind(self) -> FindingKind:
        return self.finds[0].kind


def planted(
    *arguments: Any,
    machine: Machine = DMM,
    threads: int = 64,
    schedule: Schedule = "asynchronous",
    clean: tuple[Schedule, ...] = BOTH,
    twin: Program | None = None,
    fixed: Mapping[str, Any] | None = None,
    **options: Any,
) -> Callable[[FunctionType], Pair]:
    """Make a function the `Pair` of its two variants, or of itself and `twin`.

    `# bug` or `# twin` ends a line that only this one has; the twin has b for `a  # twin: b`.
    `fixed` are what of its launch the twin has otherwise.
    """

    def made(function: FunctionType) -> Pair:
        launched = Launched(variant(function, "bug"), machine, arguments, threads, **options)
        right = twin or variant(function, "twin")
        other = replace(launched, program=right, **(fixed or {}))
        return Pair(launched, other, schedule, clean)

    return made


MARK = re.compile(r"(?P<indent> *)(?P<bug>.*)  # (?:(?P<only>bug|twin)|twin: (?P<twin>.*))\n")


def variant(function: FunctionType, name: str) -> Program:
    """One of the two programs in a function. Each of its lines keeps its number in the file."""
    lines, first = inspect.getsourcelines(function)
    start = next(number for number, line in enumerate(lines) if line.startswith("def "))
    kept = "".join(_line_of_variant(line, name) for line in lines[start:])
    text = "\n" * (first + start - 1) + kept
    file = f"<{function.__name__}, {name}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    defined: dict[str, Any] = {}
    exec(compile(text, file, "exec", dont_inherit=True), function.__globals__, defined)
    return mm.program(defined[function.__name__])


def _line_of_variant(line: str, name: str) -> str:
    mark = MARK.fullmatch(line)
    if mark is None:
        return line
    if mark["only"]:
        return line if mark["only"] == name else "\n"
    return f"{mark['indent']}{mark[name]}\n"


def pairs_in(file: ModuleType) -> list[Pair]:
    """The pairs of a file, in its order."""
    return [one for one in vars(file).values() if isinstance(one, Pair)]


def race(
    element: str, first: Did, second: Did, elements: int = 1, scope: Scope = "interval"
) -> Expected:
    """Two accesses that nothing orders."""
    return Expected("race", element, (first, second), elements, scope)


def plain_and_atomic(
    element: str, first: Did, second: Did, elements: int = 1, scope: Scope = "interval"
) -> Expected:
    """A plain access and an atomic that nothing orders."""
    return Expected("beside-atomic", element, (first, second), elements, scope)


def spins(element: str, waiting: int, holding: int, line: str) -> Expected:
    """A thread that waits for a lock which another one got in the same line, and can't free."""
    together = "the lanes of a warp leave a loop together"
    return found(
        "spin", element, (waiting, "atomic", line), (holding, "atomic", line), note=together
    )


def found(
    kind: FindingKind, element: str, *actions: Did, elements: int = 1, note: str = ""
) -> Expected:
    """A finding of another kind; an element is "", "a[1]", "s[1] of 0" (a block's), or "a"."""
    return Expected(kind, element, actions, elements, None, note)


def unwritten(element: str, thread: int, line: str, *time: int, elements: int = 1) -> Expected:
    """A read of uninitialized memory."""
    return found("unwritten", element, (thread, "read", line, *time), elements=elements)


def winner(
    element: str, threads: tuple[int, int], line: str, *time: int, elements: int = 1, note: str
) -> Expected:
    """Two threads of a warp that write one element in one line."""
    actions: list[Did] = [(thread, "write", line, *time) for thread in threads]
    return found("winner", element, *actions, elements=elements, note=note)


def lost(
    element: str, threads: tuple[int, int], line: str, *time: int, elements: int = 1
) -> Expected:
    """Two threads that both had read an element before they write it in one line."""
    actions: list[Did] = [(thread, "write", line, *time) for thread in threads]
    return found("lost-update", element, *actions, elements=elements)


def asks(threads: tuple[int, int], line: str, elsewhere: str) -> Expected:
    """A thread of the first block that asks one of its warp, which did its last elsewhere."""
    one, other = threads
    note = f"lane {one % 32}, thread {one}, asks lane {other % 32}, thread {other}, "
    note += "which is not active here"
    return found(
        "exchange", "", (one, "statement", line), (other, "elsewhere", elsewhere), note=note
    )


def unsynced(element: str, first: Did, second: Did, elements: int = 1) -> Expected:
    """Two lanes of a warp that a GPU doesn't order."""
    return found("warp-sync", element, first, second, elements=elements)


def ends(element: str, value: float, otherwise: float) -> str:
    """The note of an element that depends on which write stays."""
    return f"{element} ends as {value}, but as {otherwise} if the other's stays"


def apart(*actions: Did, elements: int = 1) -> Expected:
    """A barrier that one thread reaches while another is elsewhere."""
    return found("barrier", "", *actions, elements=elements)


def stuck(element: str, *actions: Did) -> Expected:
    """A thread that waits for what no thread writes."""
    note = "it reads this again and again, and no thread changes anything"
    return found("deadlock", element, *actions, note=note)


def fault(
    kind: FindingKind, element: str, thread: int, line: str, *time: int, note: str
) -> Expected:
    """A statement that can't be executed, or has no end."""
    return found(kind, element, (thread, "statement", line, *time), note=note)


def no_room(element: str, thread: int, need: int, there: int, unit: str = "shared[0]") -> Expected:
    """A shared array that has no room where the blocks of a unit need so many words."""
    note = f"the blocks on {unit} need {need} words of it, and there are {there}"
    line = f"{parts(element)[0]} = mm.shared("
    return found("capacity", element, (thread, "declaration", line), note=note)


def misplaced(array: str, line: str, width: int, layout: str = "") -> Expected:
    """A parameter whose layout is for rows of another width than the machine's."""
    note = f"{layout} has rows of {width} words, but the machine is 32 wide"
    return found("placement", array, (0, "declaration", line), note=note)


def zeros(*shape: int) -> Any:
    return np.zeros(shape, int)


def line_of(program: Program, text: str) -> tuple[str, str, int]:
    """Function, file and number of the one line of a program that has this text."""
    lines = [
        (source.function, source.file, source.first + number)
        for source in program.code.sources
        for number, line in enumerate(source.lines)
        if text in line
    ]
    assert len(lines) == 1, (program.name, text, lines)
    return lines[0]


def _access(
    launched: Launched, thread: int, action: Action, text: str, time: int | None = None
) -> FoundAccess:
    block = thread // (launched.block_size or launched.threads)
    return FoundAccess(thread, block, action, *line_of(launched.program, text), time)


def parts(element: str) -> tuple[str | None, tuple[int, ...] | None, int | None]:
    """Array, index and copy of an element as it is written."""
    written, _, copy = element.partition(" of ")
    array, bracket, index = written.removesuffix("]").partition("[")
    numbers = tuple(map(int, index.split(","))) if bracket else None
    return array or None, numbers, int(copy) if copy else None
