"""The proof of a program's properties for all sizes, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy.typing as npt

from mmsim.ir.nodes import Scalar
from mmsim.model.threads import Shape, launched
from mmsim.printable import printable
from mmsim.results.findings import Finding, FindingKind

Property = Literal["race", "index", "barrier"]
Answer = Literal["yes", "no", "undecided"]

PROPERTIES: dict[Property, str] = {
    "race": "no data race",
    "index": "no index out of range",
    "barrier": "no divergent barrier",
}
"""The properties of a program that are proved, in words."""
AGAINST: dict[Property, tuple[FindingKind, ...]] = {
    "race": ("race", "beside-atomic"),
    "index": ("out-of-range",),
    "barrier": ("barrier",),
}
"""The kinds of findings that contradict each property."""


@dataclass(frozen=True)
class Counterexample:
    """A launch that has a mistake, and the finding of its check under the asynchronous schedule.

    `numbers` and `arrays` are its arguments by name.
    """

    width: int
    threads: int
    block_size: int
    shape: Shape | None
    numbers: dict[str, Scalar]
    arrays: dict[str, npt.NDArray[Any]]
    finding: Finding

    def __str__(self) -> str:
        sizes = [f"{name}={value}" for name, value in self.numbers.items()]
        for name, array in self.arrays.items():
            sizes.append(f"{name}.shape={array.shape}")
        what = ", ".join(map(printable, sizes))
        threads = launched(self.threads, self.block_size, self.shape)
        return f"{threads}, width {self.width}, {what}: {self.finding}"


@dataclass(frozen=True)
class Verdict:
    """The answer to one question: is it proved that a program has this property?

    `reason` says why it isn't; an answer "no" has a counterexample.
    """

    property: Property
    answer: Answer
    reason: str = ""
    counterexample: Counterexample | None = None

    def __str__(self) -> str:
        said = f"{PROPERTIES[self.property]}: {self.answer}"
        return f"{said}: {self.counterexample or self.reason}" if self.answer != "yes" else said


@dataclass(frozen=True)
class Proof:
    """The verdicts on a program for all sizes and inputs for which the `given` facts hold.

    `race`, `index` and `barrier` are the verdicts on its properties. `answer` is "yes" if all are
    proved, "no" if there is a counterexample to one, else "undecided".
    """

    given: tuple[str, ...]
    verdicts: tuple[Verdict, ...] = field(default=())

    def __post_init__(self) -> None:
        if tuple(one.property for one in self.verdicts) != get_args(Property):
            raise ValueError("a proof has a verdict on each property")
        if any((one.answer == "no") != (one.counterexample is not None) for one in self.verdicts):
            raise ValueError("a verdict has a counterexample exactly if it is no")

    @property
    def answer(self) -> Answer:
        """The answer for all properties."""
        answers = [one.answer for one in self.verdicts]
        return "no" if "no" in answers else "undecided" if "undecided" in answers else "yes"

    @property
    def race(self) -> Verdict:
        """The verdict: no data race."""
        return self.verdicts[0]

    @property
    def index(self) -> Verdict:
        """The verdict: no index out of range."""
        return self.verdicts[1]

    @property
    def barrier(self) -> Verdict:
        """The verdict: no divergent barrier."""
        return self.verdicts[2]

    def __str__(self) -> str:
        facts = ", ".join(map(printable, self.given))
        head = f"Proved for all sizes and inputs{f' with {facts}' if facts else ''}: {self.answer}"
        return "\n".join([head, *(f"- {one}" for one in self.verdicts)])
