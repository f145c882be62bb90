"""The proof of a program's properties for all sizes, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy.typing as npt

from mmsim.ir.nodes import Scalar
from mmsim.model.threads import Shape, launched
from mmsim.printable import printable
from mmsim.results.findings import Finding, FindingKind

Property = Literal["race", "index", "barrier", "exception", "conflict"]
Answer = Literal["yes", "no", "undecided"]

PROPERTIES: dict[Property, str] = {
    "race": "no data race",
    "index": "no index out of range",
    "barrier": "no divergent barrier",
    "exception": "no exception",
    "conflict": "no bank conflict at this width",
}
"""The properties of a program that are proved, in words."""
MISTAKES: tuple[Property, ...] = ("race", "index", "barrier", "exception")
"""The properties without which a program is wrong; a conflict only costs time."""
AGAINST: dict[Property, tuple[FindingKind, ...]] = {
    "race": ("race", "beside-atomic"),
    "index": ("out-of-range",),
    "barrier": ("barrier",),
    "exception": ("exception",),
    "conflict": ("conflict",),
}
"""The kinds of findings that contradict each property."""


@dataclass(frozen=True)
class Counterexample:
    """A launch that has a mistake or a conflict, and the finding of its check, each warp by itself.

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

    `race`, `index`, `barrier` and `exception` are the verdicts on its mistakes. `answer` is "yes"
    if it is proved to have none, "no" if there is a counterexample to one, else "undecided".
    `exception` is None if nothing in the program raises one. `conflict` is the verdict on bank
    conflicts, which cost time and are no mistakes; None if the machine has no banks.
    """

    given: tuple[str, ...]
    verdicts: tuple[Verdict, ...] = field(default=())

    def __post_init__(self) -> None:
        about = [one.property for one in self.verdicts]
        known = [one for one in get_args(Property) if one in about or one in MISTAKES[:3]]
        if about != known:
            raise ValueError("a proof has a verdict on each property")
        if any((one.answer == "no") != (one.counterexample is not None) for one in self.verdicts):
            raise ValueError("a verdict has a counterexample exactly if it is no")

    @property
    def answer(self) -> Answer:
        """The answer for all mistakes."""
        answers = [one.answer for one in self.verdicts if one.property in MISTAKES]
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

    @property
    def exception(self) -> Verdict | None:
        """The verdict: no exception."""
        return self._about("exception")

    @property
    def conflict(self) -> Verdict | None:
        """The verdict: no bank conflict at the machine's width."""
        return self._about("conflict")

    def _about(self, what: Property) -> Verdict | None:
        return next((one for one in self.verdicts if one.property == what), None)

    def __str__(self) -> str:
        facts = ", ".join(map(printable, self.given))
        head = f"Proved for all sizes and inputs{f' with {facts}' if facts else ''}: {self.answer}"
        return "\n".join([head, *(f"- {one}" for one in self.verdicts)])
