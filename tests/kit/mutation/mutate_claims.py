"""Mutation testing of the claims: does each notice when a rule that it depends on is another?

`rule_mutants.toml` has changes of the model's rules. Each is made in a process of its own, where
some cases of every claim are run again. A claim *falls* under a mutant if a case no longer agrees
with the formula; of a claim as misprinted, which the unchanged model refutes, if a case no longer
gives the same (of an O() that grows, every case has exactly the ratio that is derived, so that one
case that differs takes the refutation away). `dependence.py` says which rules a claim depends on:
under a mutant of each it must fall, or `explained_claims.toml` says why it can't.

    python -m tests.kit.mutation.mutate_claims                 # all of the five papers
    python -m tests.kit.mutation.mutate_claims CFP-A SMM-ST    # some claims
    python -m tests.kit.mutation.mutate_claims --save FILE     # and keep the results

A claim that falls in none of these cases is tried again in all the cases of its grid. Nothing that
holds a rule is compiled: cases run interpreted, or on the event engine where a claim wants a trace.
A mutant must be the same in both, and make a difference, which a sample of runs shows first. Exits
with status 1 if a claim falls under no mutant of a rule without an explanation, or if one
explains nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.kit.mutation.fates import Fate, explanations, judged
from tests.kit.mutation.rules import ROOT, RuleMutant, rule_mutants

FEW = 6
"""Cases of a claim that are tried first."""
HELD, FELL = "holds", "fell"


# In the process of a mutant.


def change(mutant: RuleMutant | None) -> None:
    """Load mmsim with the mutant's texts in the place of the files', and nothing compiled of it."""
    from tests.kit.mutation.mutate import put_in_place

    for path, text in mutant.texts().items() if mutant else ():
        put_in_place(path, text, ROOT, fresh=True)
    from mmsim.engines.array import asynchronous_time, engine, interpreted

    engine.FEW = interpreted.MANY = sys.maxsize
    asynchronous_time._numba_compiles = lambda: False


def spread(count: int, most: int = FEW) -> list[int]:
    """So many numbers of cases, spread over the grid with the first and the last.

    >>> spread(11, 3), spread(2, 3)
    ([0, 5, 10], [0, 1])
    """
    if count <= most:
        return list(range(count))
    return [round(number * (count - 1) / (most - 1)) for number in range(most)]


def outcomes(claim: Any, case: dict[str, Any], seen: list[Any]) -> Iterator[tuple[int, str]]:
    """What a case measures and claims, of a lower bound under both schedules; adds to `seen`."""
    for schedule in ("synchronous", "asynchronous")[: 1 + (claim.kind == "lower")]:
        run = claim.run(schedule=schedule, **case)
        if schedule == "synchronous":
            seen.append(run)
        yield claim.measure(run), str(claim.evaluate(case))


def try_claim(claim: Any, whole: bool, before: dict[str, Any] | None) -> dict[str, Any]:
    """The outcomes of some cases, or all; with those `before` the mutant, only whether it fell."""
    from fractions import Fraction

    from mmsim.errors import MMSimError
    from tests.kit.mutation.dependence import depends, met

    found, seen = {}, []
    try:
        cases = claim.cases()
        for number in range(len(cases)) if whole else spread(len(cases)):
            found[str(number)] = [[*one] for one in outcomes(claim, cases[number], seen)]
            if before is None:
                continue
            agrees = all(claim.agrees(m, Fraction(c)) for m, c in found[str(number)])
            same = found[str(number)] == before["outcomes"][str(number)]
            if not (same if claim.printed else agrees):
                return {"result": FELL, "case": number}
    except MMSimError as error:  # such as wrong arrays, or a program that leaves its arrays
        if before is None:
            raise
        return {"result": FELL, "case": str(error)}
    if before is not None:
        return {"result": HELD}
    return {"outcomes": found, "depends": sorted(depends(claim, met(seen)))}


def child(name: str, ids: Sequence[str], whole: bool, before: Path | None, out: Path) -> None:
    """Try claims under a mutant ("" for none), and write down the result.

    Exits with an error if the mutant is not the same in both engines, or makes no difference to
    the sample of runs.
    """
    mutant = next((one for one in rule_mutants() if one.name == name), None)
    change(mutant)
    from mmsim_algorithms import claims
    from tests.kit.mutation.sample_runs import costs

    known = json.loads(before.read_text()) if before else {}
    found: dict[str, Any] = {"": costs("array")}
    if costs("events") != found[""]:
        raise SystemExit(f"{name!r}: the engines differ\n{found['']}\n{costs('events')}")
    if before and found[""] == known[""]:
        raise SystemExit(f"{name!r} makes no difference")
    wanted = set(ids)
    for claim in claims():
        if claim.id in wanted:
            found[claim.id] = try_claim(claim, whole, known.get(claim.id))
    out.write_text(json.dumps(found))


# In the process that waits.


class Trials:
    """Starts the processes, `jobs` in parallel; what they write goes into a folder."""

    def __init__(self, folder: Path, jobs: int) -> None:
        self.folder = folder
        self.jobs = jobs

    def without(self, ids: Iterable[str], whole: bool) -> dict[str, Any]:
        """Outcomes and rules of claims on the unchanged model."""
        return self._try("", ids, whole, None)

    def under(
        self, mutants: Mapping[str, Iterable[str]], whole: bool, before: dict[str, Any]
    ) -> dict[str, dict[str, Any]]:
        """What came of claims (values) under mutants (keys), so many at a time."""
        file = self.folder / f"before-{whole}.json"
        file.write_text(json.dumps(before))
        with ThreadPoolExecutor(self.jobs) as pool:
            waiting = {
                name: pool.submit(self._try, name, ids, whole, file)
                for name, ids in mutants.items()
            }
            return {name: future.result() for name, future in waiting.items()}

    def _try(
        self, name: str, ids: Iterable[str], whole: bool, before: Path | None
    ) -> dict[str, Any]:
        handle, out = tempfile.mkstemp(dir=self.folder)
        os.close(handle)
        options = [*(["--whole"] if whole else []), *(["--before", str(before)] if before else [])]
        environment = {
            "MMSIM_CACHE_DIR": str(ROOT / "build" / "mutation-cache"),  # no mutant is compiled
            "OPENBLAS_NUM_THREADS": "1",  # as many processes as cores
        }
        subprocess.run(
            [sys.executable, "-m", __spec__.name, *ids, "--child", name, "--out", out, *options],
            env=os.environ | environment,
            check=True,
            cwd=ROOT,
        )
        found: dict[str, Any] = json.loads(Path(out).read_text())
        return found


def try_all(ids: Sequence[str], mutants: Sequence[RuleMutant], trials: Trials) -> list[Fate]:
    """Try claims under mutants, first in some cases, then in all where that shows nothing."""
    before = trials.without(ids, whole=False)
    found = trials.under({one.name: ids for one in mutants}, False, before)
    fell = {
        id_: {one.name for one in mutants if found[one.name][id_]["result"] == FELL} for id_ in ids
    }
    again: dict[str, list[str]] = {}
    for id_ in ids:
        for rule in before[id_]["depends"]:
            of_rule = [one.name for one in mutants if one.rule == rule]
            if not fell[id_] & set(of_rule):
                for name in of_rule:
                    again.setdefault(name, []).append(id_)
    if again:
        doubtful = sorted({id_ for several in again.values() for id_ in several})
        print(f"in all their cases: {', '.join(doubtful)}", flush=True)
        found = trials.under(again, True, trials.without(doubtful, whole=True))
        for name, several in again.items():
            for id_ in several:
                if found[name][id_]["result"] == FELL:
                    fell[id_].add(name)
    names = [one.name for one in mutants]
    return [
        Fate(id_, tuple(before[id_]["depends"]), tuple(sorted(fell[id_], key=names.index)))
        for id_ in ids
    ]


def of_papers(every: Iterable[Any]) -> list[Any]:
    """The claims of the five papers; those of the field's families aren't tried yet."""
    from mmsim_algorithms import PAPERS

    return [one for one in every if one.paper in PAPERS[:5]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("claims", nargs="*", help="as of `mmsim verify`; default: all")
    parser.add_argument("--jobs", type=int, default=1, help="mutants tried in parallel")
    parser.add_argument("--save", type=Path, metavar="FILE", help="keep the results, as JSON")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    for name in ("--out", "--before"):
        parser.add_argument(name, type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--whole", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child is not None:
        child(options.child, options.claims, options.whole, options.before, options.out)
        return 0
    from mmsim.claims import choose
    from mmsim_algorithms import claims
    from tests.kit.mutation.claims_page import counted, kept, table

    chosen = choose(claims(), options.claims) if options.claims else of_papers(claims())
    mutants, ids = rule_mutants(), [claim.id for claim in chosen]
    print(f"{len(ids)} claims, {len(mutants)} mutants of {len({m.rule for m in mutants})} rules")
    with tempfile.TemporaryDirectory() as folder:
        found = try_all(ids, mutants, Trials(Path(folder), options.jobs))
    reasons = {one: why for one, why in explanations().items() if one[0] in ids}
    print(table(found, mutants, reasons))
    print(counted(found, mutants, reasons))
    if options.save:
        options.save.write_text(kept(chosen, found), encoding="utf-8")
    left, idle = judged(found, mutants, reasons)
    for claim, rule in left:
        print(f"{claim} holds under every mutant of the rule {rule!r}, without an explanation")
    for claim, rule in idle:
        print(f"{claim} is explained for the rule {rule!r}, and needn't be")
    return 1 if left or idle else 0


if __name__ == "__main__":
    sys.exit(main())
