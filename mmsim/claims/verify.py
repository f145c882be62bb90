"""Verifying: every case of a claim's grid, under both schedules, and the verdict.

The claim is about the synchronous schedule, as the papers' formulas are. Each case also runs under
the asynchronous schedule. Its time never exceeds the synchronous time for the papers' programs; the
verdict includes this check. A lower bound must hold under both schedules. Random points of the
claim's domain follow the cases of the grid, and then cases of a paper's own size.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from mmsim.claims.claim import Case, Claim, ClaimError, Curve, Series, call_with, show
from mmsim.claims.growth import curve, refutation, steepest
from mmsim.claims.points import points as random_points
from mmsim.errors import FormatError, RoomError
from mmsim.host.checkout import commit_of
from mmsim.host.guesses import Guessed, instead
from mmsim.host.version import VERSION
from mmsim.printable import counted, printable_lines

LONG = 40
"""From this length in characters on, a claimed fraction is shown rounded."""
FORMAT = "mmsim verdicts 3"
OF_CLAIM = ("id", "paper", "source", "title", "kind", "constant", "printed", "scan", "note")
"""The facts of a verdict that are those of its claim."""
Result = Literal["holds", "fails", "refuted", "holds in part", "not refuted"]


@dataclass(frozen=True)
class CaseResult:
    """One case: the measured and the claimed value (exact, as text), both schedules' times.

    `measured` is the claim's quantity in the synchronous run. `asynchronous_measured` is the same
    quantity in the asynchronous run of a lower bound, which must hold there too; else None. The
    worst case of a lower bound may have it as `measured`.
    """

    case: Case
    measured: int
    claimed: str
    time: int
    asynchronous_time: int
    asynchronous_measured: int | None = None

    @property
    def ratio(self) -> Fraction:
        """Measured/claimed."""
        return Fraction(self.measured) / Fraction(self.claimed)

    @property
    def gain(self) -> Fraction:
        """The asynchronous time divided by the synchronous one."""
        return Fraction(self.asynchronous_time, self.time) if self.time else Fraction(1)

    @property
    def early(self) -> bool:
        """Return whether `measured` is the value of the asynchronous run, in less time."""
        earlier = self.asynchronous_time < self.time
        return earlier and self.measured == self.asynchronous_measured

    def __str__(self) -> str:
        where = f"{show(self.case)}: " if self.case else ""
        claimed = self.claimed
        if len(claimed) > LONG:
            claimed = f"about {float(Fraction(claimed)):.6g}"
        return f"{where}{self.measured}{' asynchronously' * self.early}, claimed {claimed}"


@dataclass(frozen=True, repr=False)
class Verdict(Guessed):
    """The verdict on a claim; printed, it has three lines.

    `result` is "holds" or "fails"; for a misprint (`printed`), "refuted" (with the counterexample),
    "holds in part" (`only` says where) or "not refuted". `outcome` says more in words. `worst` is
    the case that comes nearest to breaking the claim, or breaks it most. `earliest` and `latest`
    are the cases with the largest and the smallest gain by the asynchronous schedule. `growth` says
    how the ratio of an upper bound changes with the size. `reason` says why a claim fails. `points`
    is the number of random points. `own` are the cases of the paper's own size. `cases` counts all
    of them. `left_out` says why a case of the paper's own size was not run. `proof` says for which
    widths the claim is proved for all sizes, if `mmsim verify` knows that.
    """

    _instead = instead(
        {
            "holds ok passed valid": "verdict.good; verdict.result says it in a word",
            "table to_csv to_latex to_dataframe": "claim.table(), which has to_csv and to_latex",
            "plot": 'claim.plot(over="n")',
            "formula": "verdict.statement, or verdict.latex",
        }
    )

    id: str
    paper: str
    source: str
    title: str
    statement: str
    latex: str
    mathml: str
    kind: str
    constant: int
    requires: tuple[str, ...]
    printed: bool
    misprint: str
    scan: bool
    only: str
    note: str
    cases: int
    points: int
    result: Result
    reason: str
    growth: str
    worst: CaseResult
    earliest: CaseResult
    latest: CaseResult
    curve: Curve | None
    own: tuple[CaseResult, ...]
    left_out: str
    proof: str = ""

    @property
    def largest_own(self) -> CaseResult | None:
        """The case of the paper's own size with the largest measured quantity."""
        return max(self.own, key=lambda one: one.measured, default=None)

    @property
    def good(self) -> bool:
        """Return whether the verdict is as it must be: claims hold, misprints are refuted."""
        return self.result in ("holds", "refuted", "holds in part")

    @property
    def slack(self) -> Fraction | None:
        """The factor between a bound and the measured value nearest to it; else None.

        For an upper bound it is bound/measured, for a lower bound measured/bound, at least 1.
        """
        if self.kind == "exact" or self.result != "holds" or not self.worst.measured:
            return None
        return 1 / self.worst.ratio if self.kind == "upper" else self.worst.ratio

    @property
    def outcome(self) -> str:
        """The result in words: "bound, slack 1.3" for a bound that holds."""
        if self.result == "holds in part":
            return f"holds for {self.only}"
        if self.scan:
            return f"{self.result}, as read in a scan"
        return self.result if self.slack is None else f"bound, slack {float(self.slack):.3g}"

    @property
    def extent(self) -> str:
        """The basis of the verdict: "proved for each w up to 64; checked on 224 cases"."""
        checked = f"checked on {counted(self.cases, 'case')}"
        return f"{self.proof}; {checked}" if self.proof else checked

    def __str__(self) -> str:
        extreme = "largest case" if self.kind == "exact" else "nearest to the bound"
        lines = [
            f"{self.id}, {self.title} ({self.source}): {self.outcome} "
            f"in {counted(self.cases, 'case')}",
            f"claimed: {self.statement}",
            self.reason or f"{extreme}: {self.worst}",
        ]
        if self.left_out:
            lines.append(f"left out: {self.left_out}")
        return printable_lines("\n".join(lines))

    __repr__ = __str__


def verify(
    claims: Iterable[Claim],
    progress: Callable[[Claim, int, int], None] | None = None,
    points: int = 0,
) -> list[Verdict]:
    """Verify claims in order, with so many random points each.

    It calls `progress(claim, done, cases)` before the first case of a claim and after each.
    """
    if isinstance(claims, Claim):
        raise ClaimError("verify takes several claims; write verify_claim(claim)")
    return [verify_claim(claim, progress, points=points) for claim in claims]


def verify_claim(
    claim: Claim,
    progress: Callable[[Claim, int, int], None] | None = None,
    own_size: bool = True,
    points: int = 0,
) -> Verdict:
    """Run every case of a claim under both schedules, and return the verdict.

    `points` is the number of random points; `mmsim verify` takes 20. Without `own_size`, the cases
    of the paper's own size don't run.
    """
    import sympy
    from sympy.printing.mathml import mathml

    cases = claim.cases()
    drawn = random_points(claim, points)
    own_cases = claim.own_cases() if own_size else []
    chosen = [*cases, *drawn]
    count = len(chosen) + len(own_cases)
    results: list[CaseResult] = []
    left_out = ""
    for number, case in enumerate([*chosen, *own_cases]):
        if progress is not None:
            progress(claim, number, count)
        try:
            results.append(_run_case(claim, case))
        except RoomError as error:
            if number < len(chosen):
                raise
            left_out = f"{show(case)}: {error}"
        except Exception as error:
            if case not in drawn:
                raise
            raise ClaimError(
                f"{claim.id}: the random point {show(case)} satisfies `requires`, but it can't "
                f"run ({error}); add the missing condition to requires"
            ) from error
    if progress is not None:
        progress(claim, count, count)
    late = [one for one in results if one.asynchronous_time > one.time]
    asynchronous = [
        replace(one, measured=one.asynchronous_measured)
        for one in results
        if one.asynchronous_measured is not None
    ]
    wrong, early = (
        [one for one in some if not claim.agrees(one.measured, Fraction(one.claimed))]
        for some in (results, asynchronous)
    )
    worst = max(wrong or early or [*results, *asynchronous], key=lambda one: _strain(claim, one))
    known = [*results[: len(cases)], *results[len(chosen) :]]  # a trend needs families of cases
    ratios = [(one.case, one.ratio * claim.constant) for one in known]
    growing = steepest(ratios) if claim.kind == "upper" and not claim.printed else None
    growth = str(growing or "")
    reason = ""
    if claim.growth is not None:
        refuted, growth = refutation(claim, ratios)
        result: Result = "refuted" if refuted else "not refuted"
        reason = growth
    elif claim.only is not None and any(call_with(claim.only.holds, one.case) for one in wrong):
        result, reason = "not refuted", f"it does not hold for {claim.only.text} either: {worst}"
    elif claim.only is not None and wrong:
        result, reason = "holds in part", str(worst)
    elif claim.printed:
        result = "refuted" if wrong else "not refuted"
        reason = str(worst) if wrong else "no case of the grid contradicts it"
    elif wrong or early:
        result, reason = "fails", str(worst)
    elif late:
        result = "fails"
        reason = (
            f"{show(late[0].case)}: asynchronously {late[0].asynchronous_time}, more than the "
            f"{late[0].time} of lock step"
        )
    elif growing is not None and growing.grows:
        result, reason = "fails", f"the ratio grows: {growth}"
    else:
        result = "holds"
    return Verdict(
        **{name: getattr(claim, name) for name in OF_CLAIM},
        statement=claim.text,
        latex=sympy.latex(claim.statement),
        mathml=mathml(claim.statement, printer="presentation"),
        requires=tuple(condition.text for condition in claim.requires),
        misprint=(claim.misprint or claim.id) if claim.printed else "",
        only=claim.only.text if claim.only else "",
        cases=len(results),
        points=len(drawn),
        result=result,
        reason=reason,
        growth=growth,
        worst=worst,
        earliest=min(results, key=lambda one: one.gain),
        latest=max(results, key=lambda one: one.gain),
        curve=curve(claim, ratios) if claim.curve is None else claim.curve(),
        own=tuple(results[len(chosen) :]),
        left_out=left_out,
    )


def _run_case(claim: Claim, case: Case) -> CaseResult:
    first, second, claimed = claim.both(case)
    later = claim.measure(second) if claim.kind == "lower" else None
    return CaseResult(case, claim.measure(first), str(claimed), first.time, second.time, later)


def _strain(claim: Claim, one: CaseResult) -> tuple[Fraction, int]:
    """Rate how near a case comes to breaking a claim; of two equal cases the larger is nearer."""
    if claim.kind == "exact":
        return abs(one.measured - Fraction(one.claimed)), one.measured
    return one.ratio if claim.kind == "upper" else -one.ratio, one.measured


@dataclass(frozen=True)
class Provenance:
    """The provenance of a run of `mmsim verify`.

    `date` is the day and the time of its start, in UTC. `commit` is that of the checked out sources
    (see `mmsim.host.checkout.commit_of`), `version` is mmsim's, and `claims` is the fingerprint of
    the verified claims.
    """

    date: str
    commit: str
    version: str
    claims: str


def provenance(claims: Iterable[Claim]) -> Provenance:
    """The provenance of verdicts on these claims, made now."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Provenance(now, commit_of(Path(__file__)), VERSION, fingerprint(claims))


def fingerprint(claims: Iterable[Claim]) -> str:
    """Return a hash of the claims' statements and of every case of their grids.

    It changes with a formula, a condition or a case. It does not depend on the programs and the
    engines.

    >>> from mmsim.claims import Claim
    >>> claim = Claim("X", "a paper", "reading", lambda n: n, "exact", lambda: [{"n": 4}], run=None)
    >>> fingerprint([claim])[:8]
    '6e703371'
    """
    digest = hashlib.sha256()
    for claim in claims:
        requires = [condition.text for condition in claim.requires]
        said = [claim.id, claim.text, claim.printed, requires, [*map(show, claim.cases())]]
        digest.update(json.dumps(said).encode())
    return digest.hexdigest()


def provenance_from_json(text: str) -> Provenance:
    """The provenance of saved verdicts (`mmsim.claims.verify.to_json`)."""
    try:
        return Provenance(**json.loads(text)["made"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FormatError(f"these verdicts lack their provenance: {error}") from error


def to_json(verdicts: Iterable[Verdict], made: Provenance | None = None) -> str:
    """Return verdicts as JSON for other tools, one object on one line each.

    With `made`, the file has their time, sources and claims.
    """
    head = {"format": FORMAT} | ({"made": asdict(made)} if made else {})
    lines = ",\n".join(json.dumps(asdict(verdict)) for verdict in verdicts)
    return f'{json.dumps(head)[:-1]}, "verdicts": [\n{lines}\n]}}\n'


def from_json(text: str) -> list[Verdict]:
    """Return the verdicts that `to_json` wrote. Raises `FormatError` for any other text."""
    try:
        read = json.loads(text)
        if read["format"] != FORMAT:
            raise FormatError(f"this is {read['format']!r}, not {FORMAT!r}")
        return [_verdict(one) for one in read["verdicts"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FormatError(f"these are not verdicts: {error}") from error


def _verdict(read: dict[str, Any]) -> Verdict:
    if (curve := read["curve"]) is not None:
        series = (Series(one["name"], tuple(one["x"]), tuple(one["y"])) for one in curve["series"])
        curve = Curve(**{**curve, "series": tuple(series)})
    results = {name: CaseResult(**read[name]) for name in ("worst", "earliest", "latest")}
    own = tuple(CaseResult(**one) for one in read["own"])
    made = {**read, **results, "curve": curve, "own": own, "requires": tuple(read["requires"])}
    return Verdict(**made)
