"""A proof as text: each case, its accesses, their sum, and the formula."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mmsim.claims.claim import Claim, show, symbols_of
from mmsim.printable import counted
from mmsim.proof.cost import reason
from mmsim.proof.launched import Executed, Explained
from mmsim.proof.prove import Checked, domains, finite_cases, has_width, proved_cases
from mmsim.proof.terms import Term, Undecided
from mmsim.proof.written import Writer, short

BEGIN_AT = (4, 3)
"""The widths at which a proof is begun, if it has a case there."""


def proof_text(claim: Claim, width: int, until: float) -> Iterator[str]:
    """The lines of a claim's proof at a width. Raises `Undecided` where it has none."""
    yield from _said(claim)
    finite = finite_cases(claim)
    if finite and all(agrees for _, agrees, *_ in finite):
        yield "The domain is finite, and each of its cases was run:"
        for case, _, measured, claimed in finite:
            about = f"{show(case)}: " if case else ""
            yield f"  {about}{claim.quantity} = {measured}, claimed {claimed}"
        return
    if claim.launches is None:
        raise Undecided("its launches are not given with symbols")
    whole = [*_domains(claim, width, until)] or [(f"w={width}", [])]
    for about, found in whole:
        yield ""
        count = counted(len(found), "case") if found else "no sizes satisfy the conditions"
        yield f"For {about}: {count}"
        for number, done in enumerate(found, 1):
            yield ""
            yield from _case(claim, number, done)


def opening(claim: Claim, widths: Sequence[int], until: float) -> str:
    """The first case of a claim's proof at a small width, of those where it is proved."""
    for width in [*(one for one in BEGIN_AT if one in widths), *widths] or [1]:
        for about, found in _domains(claim, width, until, 1):
            if found:
                lines = _case(claim, 1, found[0])
                return "\n".join([*_said(claim), "", f"For {about}, the first case:", *lines])
    return ""


def _said(claim: Claim) -> Iterator[str]:
    yield f"{claim.id}, {claim.title}: {claim.text}"
    if claim.requires:
        yield f"where {'; '.join(one.text for one in claim.requires)}"


def _domains(
    claim: Claim, width: int, until: float, most: int | None = None
) -> Iterator[tuple[str, list[Checked]]]:
    """The domains of a claim at a width, in words, with the cases of their proofs, or the first."""
    for one in domains(claim, width if has_width(claim) else None):
        about = show({**one.fixed, **one.texts}) or "all sizes"
        yield about, proved_cases(claim, one, until, Explained, most)


def _case(claim: Claim, number: int, done: Checked) -> Iterator[str]:
    case, facts = done.case, done.facts
    numbers = {name: term.number for name, term in case.values.items()}
    fixed = {name: value for name, value in numbers.items() if value is not None}
    writer = Writer({**symbols_of(case.values), **fixed}, facts)

    def formula(term: Term) -> Any:
        return short(writer.term(facts.whole(facts.reduced(term))))

    steps = f" {', '.join(case.steps)}." if case.steps else ""
    yield f"Case {number}.{steps}"
    terms = [*case.values.values(), *(term for share in case.shares for term in share)]
    used = sorted({name for term in terms for name in term.symbols} & case.lows.keys())
    lows: dict[int, list[str]] = {}
    for name in used:
        lows.setdefault(case.lows[name], []).append(str(writer.symbol(name)))
    for low, names in sorted(lows.items()):
        yield f"  Whole numbers from {low} on: {', '.join(dict.fromkeys(names))}"
    for term in case.assumed:
        yield f"  {formula(term)} >= 0"
    many = len(done.measured.done) > 1
    for at, launch in enumerate(done.measured.done, 1):
        if many:
            yield f"  Launch {at}: {formula(launch.time)} time units"
        yield from _accesses(launch, writer, formula)
    yield f"  Together, {claim.quantity} = {formula(done.quantity)}"
    yield f"  The formula is {formula(done.claimed)}"
    yield f"  The difference is {formula(done.difference)}"


def _accesses(launch: Executed, writer: Writer, formula: Any) -> Iterator[str]:
    before = ""
    for site, row in launch.rows.items():
        requests = list(launch.requests.get(site, {}).values())
        place = row.place
        line = f"  {place}: {place.text.strip()}" if place.text else f"  {place}"
        if line != before:
            yield line
        before = line
        yield f"    {row.kind} of {row.array}: {reason(requests, row, launch.unit(row), writer)}"
        latency = formula(launch.latencies[row.space])
        terms = {"request": row.requests, "stage": row.stages, "round": row.rounds}
        counts = [f"{formula(term)} {name}{'s' * (term != 1)}" for name, term in terms.items()]
        if row.busy != row.stages:
            counts[1] += f", {formula(row.busy)} of them in turn"
        yield f"      {', '.join(counts)}"
        rounds = formula(row.rounds)
        rounds = f"({rounds})" if " " in str(rounds) else rounds
        whole = f"{formula(row.busy)} + ({latency} - 1) * {rounds} = " if latency != 1 else ""
        yield f"      {whole}{formula(launch.time_of(row))} time units"
