"""A puzzle: a program to change, and the gates that it then has to pass."""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

import mmsim as mm
from mmsim.api.report import Report
from mmsim.javascript.representation import number
from mmsim.results.findings import Finding
from puzzles.exported import TextError, program_of, whole

GATE = re.compile(r"(\w+)(?: (of|in) (\w+))? (<=|==) (\d+)")
UNITS = {
    "time": "time units",
    "stages": "stages",
    "wasted": "wasted stages",
    "requests": "requests",
    "rounds": "rounds",
    "barriers": "barriers",
    "shared_words": "words of shared memory",
    "findings": "findings",
}
"""The counts of a gate, in words."""
BY_ACCESS = ("stages", "wasted", "requests")
"""The counts of each access, and so of one array or one memory."""
SHOWN, GRADED = 2, 3
"""So many inputs the page has, and so many are tried when a program is graded."""


class Gate(NamedTuple):
    """A limit of a counter, of one array or one memory if `of` or `within` names it."""

    text: str
    counter: str
    of: str | None
    within: str | None
    relation: Literal["<=", "=="]
    bound: int

    @classmethod
    def read(cls, text: str) -> Gate:
        """A gate from its text: "time <= 40", "stages of a == 8", "requests in global <= 4".

        >>> Gate.read("barriers <= 2").words, Gate.read("no findings").words
        ('at most 2 barriers', 'no findings')
        """
        text = " ".join(text.split())
        written = re.sub(r"^no (.*)$", r"\1 == 0", text)
        found = GATE.fullmatch(written)
        if found is None or found[1] not in UNITS or (found[2] and found[1] not in BY_ACCESS):
            raise ValueError(
                f"{text!r} is not a gate: write a counter ({', '.join(UNITS)}), <= or ==, and a "
                f"number, as 'time <= 40'; {', '.join(BY_ACCESS)} may be 'of' an array or 'in' a "
                "memory; 'no findings' is 'findings == 0'"
            )
        counter, which, name, relation, bound = found.groups()
        of, within = (name if which == one else None for one in ("of", "in"))
        return cls(text, counter, of, within, relation, int(bound))  # type: ignore[arg-type]

    @property
    def words(self) -> str:
        """The gate as a reader sees it."""
        unit = UNITS[self.counter]
        if self.bound == 1:
            unit = unit.removesuffix("s").replace("words", "word")
        if self.bound == 0:
            limit = "no"
        else:
            limit = f"{'at most' if self.relation == '<=' else 'exactly'} {self.bound}"
        where = f" of {self.of}" if self.of else f" in {self.within} memory" if self.within else ""
        return f"{limit} {unit}{where}"

    def count(self, report: Report) -> int:
        """The counter's value in a run without an error."""
        run, trace = report.run, report.trace
        assert run is not None
        match self.counter:
            case "time":
                return run.time
            case "rounds":
                return len(run.rounds)
            case "barriers":
                return max(Counter(one.block for one in trace.releases).values(), default=0)
            case "shared_words":
                return sum(math.prod(one.shape) for one in trace.arrays if one.shared)
            case "findings":
                return len(report.findings)
        return sum(
            getattr(row, self.counter)
            for row in run.accesses
            if self.of in (None, row.array) and self.within in (None, row.space)
        )

    def passes(self, count: int) -> bool:
        """Return whether a count is within the limit."""
        return count <= self.bound if self.relation == "<=" else count == self.bound


class Judged(NamedTuple):
    """A gate, or the right results, and how a program does there."""

    what: str
    passed: bool
    found: str


@dataclass(frozen=True)
class Grade:
    """The grade of a program: a point for right results, and one for each gate.

    With wrong results a program gets no point: one that does nothing passes most gates. Nor does it
    if it passes nothing of what the starter fails, which `asked` names.
    """

    judged: tuple[Judged, ...]
    asked: frozenset[str]

    @property
    def points(self) -> int:
        """The points of the program."""
        passed = [one.what for one in self.judged if one.passed]
        return len(passed) if self.judged[0].passed and self.asked & set(passed) else 0

    @property
    def most(self) -> int:
        """The most points that there are."""
        return len(self.judged)

    @property
    def solved(self) -> bool:
        """Return whether the program passes everything."""
        return self.points == self.most

    @property
    def failed(self) -> list[str]:
        """The gates that the program doesn't pass."""
        return [one.what for one in self.judged if not one.passed]

    def __str__(self) -> str:
        lines = [f"{self.points} of {self.most} points"]
        for one in self.judged:
            found = f": {one.found}" if one.found else ""
            lines.append(f"{'passed' if one.passed else 'not yet'}: {one.what}{found}")
        return "\n".join(lines)


RESULTS = "right results"


@dataclass(frozen=True)
class Puzzle:
    """A task: change a program until it passes gates on its results and on what it costs.

    Attributes
    ----------
    name, title, task
        The name in exported files, the heading, and what to do, in plain sentences.
    starter
        The text of the program to change. `import mmsim as mm` needn't stand in it.
    machine, threads, block_size, schedule
        The launch. It is the same for every program.
    inputs
        A function of a random generator that gives the program's arguments, in their order. It
        stands for several inputs, so that a program that has the answers in its text fails.
    expected
        A function of these arguments that gives the right contents of arrays, by their names.
    gates
        The texts of the gates (`Gate.read`).
    hints
        Each says more than the one before; none is the solution.
    lesson
        The number of the class.
    """

    name: str
    title: str
    task: str
    starter: str
    machine: Any
    threads: int
    inputs: Callable[[np.random.Generator], Sequence[Any]]
    expected: Callable[..., Mapping[str, Any]]
    gates: Sequence[str]
    hints: Sequence[str]
    block_size: int | None = None
    schedule: Literal["synchronous", "asynchronous"] = "asynchronous"
    lesson: int = 0

    def __post_init__(self) -> None:
        missing = {"synchronous": "barriers", "asynchronous": "rounds"}[self.schedule]
        if any(gate.counter == missing for gate in self.read_gates):
            raise ValueError(f"{self.name}: a {self.schedule} run has no {missing}")

    @cached_property
    def read_gates(self) -> tuple[Gate, ...]:
        """The gates."""
        return tuple(map(Gate.read, self.gates))

    @property
    def plain_task(self) -> str:
        """The task on one line."""
        return " ".join(self.task.split())

    @cached_property
    def program(self) -> str:
        """The name of the program: that of the starter's last function."""
        tree = ast.parse(whole(self.starter))
        return [one.name for one in tree.body if isinstance(one, ast.FunctionDef)][-1]

    def arguments(self, case: int) -> Sequence[Any]:
        """The arguments of a case, counted from 0."""
        return self.inputs(np.random.default_rng(case))

    @cached_property
    def asked(self) -> frozenset[str]:
        """The gates that the starter doesn't pass."""
        return frozenset(one.what for one in self._judged(self.starter, [0]) if not one.passed)

    def grade(self, answer: str, cases: Sequence[int] = range(GRADED)) -> Grade:
        """Grade the text of a program on several inputs."""
        return Grade(self._judged(answer, cases), self.asked)

    def _judged(self, answer: str, cases: Sequence[int]) -> tuple[Judged, ...]:
        try:
            program = program_of(answer, self.program)
            reports = [self._report(program, case) for case in cases]
        except (TextError, mm.MMSimError) as error:
            return self._without_results(str(error))
        for report in reports:
            if report.run is None:
                return self._without_results(_finding(report.findings[0]))
        judged = [self._results(reports, cases)]
        for gate in self.read_gates:
            counts = [gate.count(report) for report in reports]
            failing = [one for one in counts if not gate.passes(one)]
            found = str((failing or counts)[0])
            if failing and gate.counter == "findings":
                found = _finding(next(one.findings[0] for one in reports if one.findings))
            judged.append(Judged(gate.words, not failing, found))
        return tuple(judged)

    def _report(self, program: mm.Program, case: int) -> Report:
        return self.machine.check(
            program,
            *self.arguments(case),
            threads=self.threads,
            block_size=self.block_size,
            schedule=self.schedule,
            max_accesses=20_000,
            trace=True,
        )

    def _without_results(self, why: str) -> tuple[Judged, ...]:
        gates = (Judged(gate.words, False, "") for gate in self.read_gates)
        return Judged(RESULTS, False, why), *gates

    def _results(self, reports: Sequence[Report], cases: Sequence[int]) -> Judged:
        """Return whether the arrays hold what they have to."""
        for report, case in zip(reports, cases, strict=True):
            assert report.run is not None
            for name, right in self.expected_of(case).items():
                found = report.run.arrays[name]
                differing = np.argwhere(found != right)
                if len(differing):
                    index = tuple(map(int, differing[0]))
                    element = f"{name}[{', '.join(map(str, index))}]"
                    words = f"{element} is {found[index]}, and should be {right[index]}"
                    return Judged(RESULTS, False, words)
        return Judged(RESULTS, True, "")

    def expected_of(self, case: int) -> dict[str, np.ndarray]:
        """The right contents of arrays, by their names."""
        arguments = self.arguments(case)
        plain = [getattr(one, "data", one) if _placed(one) else one for one in arguments]
        shapes = dict(zip(self.parameters, plain, strict=True))
        return {
            name: np.broadcast_to(np.asarray(right, shapes[name].dtype), shapes[name].shape)
            for name, right in self.expected(*plain).items()
        }

    @cached_property
    def parameters(self) -> list[str]:
        """The names of the arguments."""
        tree = ast.parse(whole(self.starter))
        (function,) = (
            one
            for one in tree.body
            if isinstance(one, ast.FunctionDef) and one.name == self.program
        )
        return [one.arg for one in function.args.args[1:]]

    def setting(self) -> dict[str, Any]:
        """The puzzle as data that JSON can hold, without the solution: what a page needs of it."""
        return {
            "name": self.name,
            "class": self.lesson,
            "title": self.title,
            "task": self.plain_task,
            "hints": list(self.hints),
            "gates": [gate._asdict() | {"words": gate.words} for gate in self.read_gates],
            "points": 1 + len(self.read_gates),
            "asked": sorted(self.asked),
            "cases": [self._launch(case) for case in range(SHOWN)],
            "expected": [
                {name: _array(one) for name, one in self.expected_of(case).items()}
                for case in range(SHOWN)
            ],
        }

    def _launch(self, case: int) -> dict[str, Any]:
        """A launch of the starter, as data."""
        sizes = {one.name: getattr(self.machine, one.name) for one in fields(self.machine)}
        given = zip(self.parameters, self.arguments(case), strict=True)
        return {
            "text": whole(self.starter),
            "name": self.program,
            "machine": {"kind": type(self.machine).__name__, **sizes},
            "threads": self.threads,
            "block_size": self.block_size,
            "shape": None,
            "schedule": self.schedule,
            "arguments": [_argument(name, value) for name, value in given],
            "max_accesses": 20_000,
        }


def _finding(finding: Finding) -> str:
    """A finding in words, as the page has them."""
    element = f", {finding.element}" if finding.element else ""
    note = f"{finding.note}; " if finding.note else ""
    where = " and ".join(map(str, finding.accesses))
    return f"{finding.title}{element}: {note}{where}; {finding.advice}"


def _placed(value: Any) -> bool:
    return hasattr(value, "layout")


def _argument(name: str, value: Any) -> dict[str, Any]:
    """An argument as data."""
    if _placed(value):
        rule = {one.name: getattr(value.layout, one.name) for one in fields(value.layout)}
        layout = {"kind": type(value.layout).__name__, **rule}
        return {"name": name, **_array(value.data), "layout": layout}
    if isinstance(value, np.ndarray):
        return {"name": name, **_array(value), "layout": None}
    return {"name": name, "value": number(value)}


def _array(data: np.ndarray) -> dict[str, Any]:
    """An array as data."""
    words = [number(one) for one in data.ravel().tolist()]
    return {"dtype": data.dtype.name, "shape": list(data.shape), "data": words}
