"""Proves properties of a program for all sizes, or runs a launch that contradicts them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from mmsim.api.binding import as_program, bind
from mmsim.api.report import Report
from mmsim.engines.check import bank_conflicts, check
from mmsim.errors import MMSimError, ProgramError
from mmsim.host.arguments import several
from mmsim.meaning.launch import Launch
from mmsim.model.machines import Machine
from mmsim.model.threads import Shape
from mmsim.results.findings import Finding
from mmsim.results.proved import (
    AGAINST,
    MISTAKES,
    Answer,
    Counterexample,
    Proof,
    Property,
    Verdict,
)

if TYPE_CHECKING:
    from mmsim.proof.races import Example, Questions
    from mmsim.proof.two_threads import Open

Sizes = tuple[int, int | None, Shape | None]
Found = tuple[Launch, Sequence[Finding]]
"""A launch under the asynchronous schedule, and what a run of it shows."""
Checked = Callable[[Machine, tuple[Any, ...], Sizes], Found]
"""Launches and runs."""
FACTS = "given must be one fact or several, each as text"
MOST_TRIED = 12
"""So many launches are run to contradict one property."""


def proved(
    machine: Machine,
    program: Any,
    args: tuple[Any, ...],
    sizes: Sizes,
    max_accesses: int,
    given: str | Sequence[str],
    report: Report,
) -> Proof:
    """Prove what `Machine.check` documents; `report` is its report.

    Raises a `LaunchError` for a fact that doesn't hold of the launch.
    """
    try:
        from mmsim.proof.races import Questions
    except ImportError as error:
        if error.name != "z3":
            raise
        raise MMSimError(
            'a proof needs Z3: pip install "memory-machine-simulator[proof]"'
        ) from None
    facts = (given,) if isinstance(given, str) else tuple(several(FACTS, given))
    try:
        launch = bind(machine, program, args, sizes, "asynchronous", max_accesses)
    except ProgramError as error:  # found from types and shapes alone
        none = [Verdict(about, "undecided", error.message) for about in MISTAKES]
        return Proof(facts, tuple(none))
    local = [one.name for one in launch.code.locals if one.kind == "local"]
    if local and not any(_may_conflict(launch, name) for name in local):
        other = as_program(program).for_proof()
        launch = bind(machine, other, args, sizes, "asynchronous", max_accesses)
    facts = (*facts, *_fixed(launch))

    def questions(*more: str) -> Questions:
        return Questions(launch, (*more, *facts), sizes[2], sizes[1] is None)

    def bound(machine: Machine, args: tuple[Any, ...], sizes: Sizes) -> Launch:
        threads, block_size, shape = sizes
        program, how = launch.program, launch.schedule
        return Launch(machine, program, args, threads, block_size, how, max_accesses, shape)

    def checked(*of: Any) -> Found:
        found = check(
            lambda: bound(*of),
            of[0],
            of[2],
            "asynchronous",
            launch.code.arithmetic,
            shared_words=None,
            unset=(),
            trace=False,
        )
        return bound(*of), found.findings

    def conflicting(*of: Any) -> Found:
        found = bank_conflicts(bound(*of))
        return bound(*of), found

    asked = questions()
    own: Found = launch, report.findings
    if report.schedule != "asynchronous":
        own = checked(machine, launch.args, sizes)
    verdicts = [
        _verdict(about, own, partial(asked.open, about), asked, checked)
        for about in MISTAKES
        if about != "exception" or asked.walk.raised
    ]
    if any(_may_conflict(launch, name) for name in launch.arrays):
        own = conflicting(machine, launch.args, sizes)
        if not own[1]:
            asked = questions(f"width == {machine.width}")
        verdicts.append(_verdict("conflict", own, asked.conflicts, asked, conflicting))
    return Proof(facts, tuple(verdicts))


def _fixed(launch: Launch) -> Iterator[str]:
    """The facts that variables of a module have the sizes that its text gives."""
    if launch.code.arithmetic != "ptx":
        return
    for one in launch.code.parameters:
        if one.use == "array" and one.shape is None:  # no argument of the caller
            yield f"{one.name}.size == {launch.arrays[one.name].contents().size}"


def _may_conflict(launch: Launch, array: str) -> bool:
    """Return whether an array lies in banks."""
    rule = launch.conflict(array, "read")
    return rule is None or rule.place == "bank"


def _verdict(
    about: Property,
    own: Found,
    ask: Callable[[], list[Open]],
    asked: Questions,
    checked: Checked,
) -> Verdict:
    """The answer about a property: what contradicts it in the launch, or what may elsewhere."""
    found = _against(about, *own)
    opened = [] if found else ask()
    if opened:
        found = _run(about, asked.examples(opened), own[0], checked)
    answer: Answer = "no" if found else "undecided" if opened else "yes"
    return Verdict(about, answer, opened[0].reason if answer == "undecided" else "", found)


def _against(about: Property, launch: Launch, findings: Sequence[Finding]) -> Counterexample | None:
    """The counterexample that the findings of a launch show."""
    for finding in findings:
        if finding.kind in AGAINST[about]:
            launch.rewind()
            return Counterexample(
                launch.machine.width,
                launch.grid.threads,
                launch.grid.block_size,
                launch.grid.shape,
                dict(launch.meaning.numbers),
                launch.results(),
                finding,
            )
    return None


def _run(
    about: Property, examples: Iterator[Example], launch: Launch, checked: Checked
) -> Counterexample | None:
    """The first launch that shows the mistake, of those that the proof can't exclude."""
    for _, example in zip(range(MOST_TRIED), examples, strict=False):
        try:
            machine = replace(launch.machine, width=example.width)  # type: ignore[type-var]  # each kind is a dataclass
            args = [example.arguments[one.name] for one in launch.code.parameters]
            found = _against(about, *checked(machine, tuple(args), example.sizes))
        except (MMSimError, KeyError, TypeError, ValueError):  # it can't be launched
            continue
        if found is not None:
            return found
    return None
