"""Proves properties of a program for all sizes, or runs a launch that contradicts them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mmsim.api.binding import bind
from mmsim.api.report import Report
from mmsim.engines.check import check
from mmsim.errors import MMSimError, ProgramError
from mmsim.host.arguments import several
from mmsim.meaning.launch import Launch
from mmsim.model.machines import Machine
from mmsim.model.threads import Shape
from mmsim.results.proved import AGAINST, Answer, Counterexample, Proof, Property, Verdict

if TYPE_CHECKING:
    from mmsim.proof.races import Example

Sizes = tuple[int, int | None, Shape | None]
Checked = Callable[[Machine, tuple[Any, ...], Sizes], tuple[Launch, Report]]
"""Launches and checks under the asynchronous schedule."""
FACTS = "given must be one fact or several, each as text"
MOST_TRIED = 6
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
        none = [Verdict(about, "undecided", error.message) for about in AGAINST]
        return Proof(facts, tuple(none))
    questions = Questions(launch, facts, sizes[2], sizes[1] is None)

    def checked(machine: Machine, args: tuple[Any, ...], sizes: Sizes) -> tuple[Launch, Report]:
        def bound() -> Launch:
            threads, block_size, shape = sizes
            return Launch(
                machine,
                launch.program,
                args,
                threads,
                block_size,
                "asynchronous",
                max_accesses,
                shape,
            )

        language = launch.code.arithmetic
        found = check(
            bound,
            machine,
            sizes,
            "asynchronous",
            language,
            shared_words=None,
            unset=(),
            trace=False,
        )
        return bound(), Report.of(found)

    if report.schedule != "asynchronous":
        _, report = checked(machine, launch.args, sizes)
    verdicts = []
    for about in AGAINST:
        found, opened = _against(about, launch, report), questions.open[about]
        if found is None and opened:
            found = _run(about, questions.examples(about), launch, checked)
        answer: Answer = "no" if found else "undecided" if opened else "yes"
        reason = opened[0].reason if answer == "undecided" else ""
        verdicts.append(Verdict(about, answer, reason, found))
    return Proof(facts, tuple(verdicts))


def _against(about: Property, launch: Launch, report: Report) -> Counterexample | None:
    """The counterexample that the check of a launch shows."""
    for finding in report.findings:
        if finding.kind in AGAINST[about]:
            launch.rewind()
            return Counterexample(
                launch.machine.width,
                report.threads,
                report.block_size,
                report.shape,
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
            own = [example.arguments[one.name] for one in launch.code.parameters]
            bound, report = checked(machine, tuple(own), example.sizes)
        except (MMSimError, KeyError, TypeError, ValueError):  # it can't be launched
            continue
        found = _against(about, bound, report)
        if found is not None:
            return found
    return None
