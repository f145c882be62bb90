"""Verifies claims with wrong rules of conflicts, to see which of them notice.

    python -m tests.kit.tools.wrong_rules array

prints a JSON object: under each rule, what some small cases of the claims gave on that engine. All
claims are tried with the capped rule on the array engine; otherwise, to save time, those that
`counts_conflicts` chooses, and on the event engine those of them that are not large. The rules are

- `right`: that of banks or of address groups, as it stands;
- `capped`: a request takes two stages at most;
- `serial`: a request takes a stage for each lane that asks.

The compiled counters have the right rule written out once more, so they are turned off: every stage
of every run comes from the rule that is patched here. Grids are made under the wrong rule as well,
so that what a case holds would be wrong with it if that rule had counted it. `planted` is a claim
that is held to such a number. All this takes a process of its own, which this file is to be.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import wraps

import numpy as np
import sympy

import mmsim as mm
import mmsim_algorithms
from mmsim.claims import Case, Claim, verify_claim
from mmsim.claims.formulas import GCD
from mmsim.model.conflicts import Banks, Conflict, Groups
from mmsim_algorithms import permutations, remembered
from mmsim_algorithms.dmm_permutation.cases import permuted

FEW = {True: 7, False: 2}
"""Cases of a claim for each combination of names, if it is one that `counts_conflicts` chooses."""
SMALL = 150
"""Words or threads that a case may have; twice the least, where that is more."""
LARGE = 20_000
"""Words or threads of its cases from which on a claim is left out on the event engine."""
WRONG = {
    "right": lambda stages, lanes: stages,
    "capped": lambda stages, lanes: np.minimum(stages, 2),
    "serial": lambda stages, lanes: lanes,
}


class Wrong:
    """Patches the rules; `rule` is the one in force, `changed` the requests that it changed."""

    def __init__(self) -> None:
        self.rule = "right"
        self.changed = 0
        for kind in (Banks, Groups):
            self.patch(kind)

    def patch(self, kind: type[Conflict]) -> None:
        stages, stage_counts, stage_of = kind.stages, kind.stage_counts, kind.stage_of

        def wrong(right, lanes):
            found = WRONG[self.rule](right, lanes)
            self.changed += int(np.count_nonzero(found != right))
            return found

        def wrong_stages(rule, addresses, lanes=None):
            return int(wrong(stages(rule, addresses, lanes), len(addresses)))

        def wrong_counts(rule, addresses, warps, count, lanes=None):
            right = stage_counts(rule, addresses, warps, count, lanes)
            return wrong(right, np.bincount(warps, minlength=count))

        def wrong_stage_of(rule, addresses, lanes=None):
            if self.rule == "serial":
                return list(range(len(addresses)))
            right = stage_of(rule, addresses, lanes)
            return [min(stage, 1) for stage in right] if self.rule == "capped" else right

        kind.compiled = None
        kind.stages, kind.stage_counts, kind.stage_of = wrong_stages, wrong_counts, wrong_stage_of


def size(case: Case) -> int:
    """About how many words or threads a case has."""
    w = case.get("w", 0)
    words = max(case.get("n", 0), case.get("p", 0), w * case.get("m", w))
    return words * case.get("count", 1) * case.get("k", 1)


def chosen(cases: list[Case], few: int) -> list[Case]:
    """For each combination of names a few of the small cases, drawn at random.

    They have three banks or more, where the claim has such cases.
    """
    wide = [case for case in cases if case.get("w", 3) >= 3] or cases
    most = max(SMALL, 2 * min(map(size, wide)))
    named = defaultdict(list)
    for case in wide:
        if size(case) <= most:
            names = tuple(value for value in case.values() if isinstance(value, str))
            named[names].append(case)
    random = np.random.RandomState(0)
    return [
        equal[number] for equal in named.values() for number in random.permutation(len(equal))[:few]
    ]


def counts_conflicts(claim: Claim) -> bool:
    """Return whether a claim is about the cost of conflicts, by its formula or what it measures.

    That is a congestion C, a distribution D, a greatest common divisor or the smaller of two
    numbers; stages, a distribution, what it lacks of n, a congestion.
    """
    formula = claim.statement.rhs
    return (
        bool({"C", "D"} & set(claim.parameters))
        or formula.has(GCD, sympy.Min)
        or claim.quantity in ("S", "D", "deficit", "congestion")
    )


def planted() -> Claim:
    """CFP-A.D, with C counted by the rule that charges the run: no evidence."""

    def cases() -> Iterator[Case]:
        for w in (3, 4, 5):
            warps = np.arange(w * w) // w
            C = Banks(w).stage_counts(permutations.transpose(w * w), warps, w).sum()
            yield {"permutation": "transpose", "n": w * w, "w": w, "l": 5, "C": int(C)}

    return Claim(
        id="planted",
        source="none",
        title="D-designated",
        formula=lambda n, w, l, C: 2 * (n / w + l - 1) + C + l - 1,
        kind="exact",
        grid=cases,
        run=lambda schedule, **case: permuted("D-designated", schedule, **case),
    )


def tried(claim: Claim, wrong: Wrong) -> dict[str, object]:
    """The verdict, what the cases measured, on which engines, and how many requests changed.

    Each case stands alone: of those that refute an O() by their growth only a few are tried.
    """
    measured, engines = [], set()

    @wraps(claim.measure)
    def measure(run: mm.Run) -> int:
        found = claim.measure(run)
        if isinstance(run, mm.Run):
            engines.add(run.engine)
        if not isinstance(run, mm.Run) or run.schedule == "synchronous":
            measured.append(found)
        return found

    remembered.STORE = remembered.Store(remembered.STORE.room)
    cases = chosen(claim.cases(), FEW[counts_conflicts(claim)])
    wrong.changed = 0
    alone = replace(claim, grid=lambda: cases, measure=measure, curve=None, growth=None)
    verdict = verify_claim(alone, own_size=False)
    return {
        "result": verdict.result,
        "measured": [int(one) for one in measured],
        "changed": wrong.changed,
        "engines": sorted(engines),
    }


def on(engine: str) -> Callable[..., mm.Run]:
    """`Machine.run` on that engine, where no trace is asked for, which only one engine has."""
    run = mm.Machine.run

    @wraps(run)
    def chosen_engine(machine, *args, trace=False, **more):
        return run(machine, *args, trace=trace, **({} if trace else {"engine": engine}), **more)

    return chosen_engine


def main(engine: str) -> None:
    wrong = Wrong()
    mm.Machine.run = on(engine)
    claims = [*mmsim_algorithms.claims(), planted()]
    few = [claim for claim in claims if counts_conflicts(claim)]
    plan = {"right": few, "capped": claims, "serial": few}
    if engine == "events":
        plan = {"capped": [one for one in few if min(map(size, one.cases())) <= LARGE]}
    found = {}
    for wrong.rule, of in plan.items():
        found[wrong.rule] = {claim.id: tried(claim, wrong) for claim in of}
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
