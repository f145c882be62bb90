"""Mutation testing of the claims: does each notice when a rule that it depends on is another?

`rule_mutants.toml` has changes of the model's rules. Each is made in a process of its own, where
some cases of the claims that depend on its rule are run again, until one falls: of a bound the
tightest case first, else the quickest. A claim *falls* under a mutant if a case no longer agrees
with the formula; of a claim as misprinted, which the unchanged model refutes, if a case no longer
gives the same (of an O() that grows, every case has exactly the ratio that is derived, so that one
case that differs takes the refutation away). `dependence.py` says which rules a claim depends on:
under a mutant of each it must fall, or `explained_claims.toml` says why it can't.

    python -m tests.kit.mutation.mutate_claims                 # all
    python -m tests.kit.mutation.mutate_claims CFP-A SMM-ST    # some claims
    python -m tests.kit.mutation.mutate_claims --save FILE     # and keep the results

The proofs rest on lemmas about the machines (`mmsim.verifier.lemmas`), which are compared with
them before anything is proved. So each mutant of a rule that proofs use has to contradict one.

A claim that falls in none of these cases under any mutant of a rule is tried again in all the cases
of its grid. Nothing that holds a rule is compiled: cases run interpreted, or on the event engine
where a claim wants a trace. A mutant must be the same in both, and make a difference, which a
sample of runs shows first. Exits with status 1 if a claim falls under no mutant of a rule without
an explanation, if one explains nothing, or if a mutant contradicts no lemma.
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
from fractions import Fraction
from pathlib import Path
from time import process_time
from typing import Any

from tests.kit.mutation.fates import Fate, explanations, judged
from tests.kit.mutation.rules import ROOT, RuleMutant, rule_mutants

FEW = 6
"""Cases of a claim that are tried first."""
UNPROVED = {
    "wide banks": "it is a rule of the algorithms, and proofs ask their conflicts themselves",
    "turns": "a rule of the asynchronous schedule, of which nothing is proved",
    "casual and free change places": "no measure of a proof distinguishes them",
}
"""The rules and mutants of which the lemmas say nothing, and why."""


# In the process of a mutant.


def change(mutant: RuleMutant | None) -> None:
    """Load mmsim with the mutant's texts in the place of the files', and nothing compiled of it."""
    from tests.kit.mutation.in_place import load_instead

    if mutant is not None:
        load_instead(mutant.texts(), ROOT)
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


def slack(claim: Any, found: Iterable[tuple[int, str]]) -> Fraction:
    """The distance of a case from refuting a bound: a quotient of measured and claimed; else 1."""
    if claim.printed or claim.kind == "exact":
        return Fraction(1)
    pairs = [(Fraction(measured), Fraction(claimed)) for measured, claimed in found]
    return min(c / max(m, 1) if claim.kind == "upper" else m / c for m, c in pairs)


def usual(claim: Any, whole: bool) -> dict[str, Any]:
    """The outcomes of some cases, or all, on the unchanged model, and the rules of the claim.

    The cases stand in the order in which a mutant tries them: the tightest first, then the
    quickest.
    """
    from tests.kit.mutation.dependence import depends, met

    found, ranks, seen = {}, {}, []
    cases = claim.cases()
    for number in range(len(cases)) if whole else spread(len(cases)):
        start = process_time()
        found[str(number)] = list(outcomes(claim, cases[number], seen))
        ranks[str(number)] = slack(claim, found[str(number)]), process_time() - start
    in_order = {number: found[number] for number in sorted(found, key=ranks.__getitem__)}
    return {"outcomes": in_order, "depends": sorted(depends(claim, met(seen)))}


def falls(claim: Any, before: dict[str, Any]) -> bool:
    """Return whether a case of those that are `usual`, in their order, makes the claim fall."""
    from mmsim.errors import MMSimError

    try:
        cases = claim.cases()
        for number, known in before["outcomes"].items():
            now = [[*one] for one in outcomes(claim, cases[int(number)], [])]
            agrees = all(claim.agrees(m, Fraction(c)) for m, c in now)
            if not (now == known if claim.printed else agrees):
                return True
    except MMSimError:  # such as wrong arrays, or a program that leaves its arrays
        return True
    return False


def contradicted() -> list[str]:
    """The lemmas of the proofs that the machines contradict."""
    from mmsim.errors import MMSimError
    from mmsim.verifier.lemmas import disagreements

    found: dict[str, None] = {}
    try:
        for one in disagreements():
            found[one.partition(":")[0]] = None
    except MMSimError as error:  # such as a launch that is refused
        found[type(error).__name__] = None
    return sorted(found)


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
    found: dict[str, Any] = {"": costs("array"), "lemmas": contradicted()}
    if costs("events") != found[""]:
        raise SystemExit(f"{name!r}: the engines differ\n{found['']}\n{costs('events')}")
    if before and found[""] == known[""]:
        raise SystemExit(f"{name!r} makes no difference")
    wanted = set(ids)
    for claim in claims():
        if claim.id in wanted:
            found[claim.id] = falls(claim, known[claim.id]) if before else usual(claim, whole)
    out.write_text(json.dumps(found))


# In the process that waits.


class Trials:
    """Starts the processes, `jobs` in parallel; what they write goes into a folder."""

    def __init__(self, folder: Path, jobs: int) -> None:
        self.folder = folder
        self.jobs = jobs
        self.lemmas: dict[str, list[str]] = {}
        """By mutant that was tried, the lemmas of the proofs that it contradicts."""

    def without(self, ids: Iterable[str], whole: bool) -> dict[str, Any]:
        """Outcomes and rules of claims on the unchanged model; each process has a part of them."""
        several = list(ids)
        parts = [several[first :: self.jobs] for first in range(min(self.jobs, len(several)))]
        with ThreadPoolExecutor(self.jobs) as pool:
            found = pool.map(lambda part: self._try("", part, whole=whole), parts)
        return {id_: one for part in found for id_, one in part.items()}

    def under(
        self, mutants: Mapping[str, Iterable[str]], before: dict[str, Any]
    ) -> dict[str, dict[str, Any]]:
        """Try whether claims (values) fall under mutants (keys), so many at a time.

        They are tried in the cases of `before`, which `without` gave.
        """
        file = self.folder / "before.json"
        file.write_text(json.dumps(before))
        with ThreadPoolExecutor(self.jobs) as pool:
            waiting = {
                name: pool.submit(self._try, name, ids, before=file)
                for name, ids in mutants.items()
            }
            found = {name: future.result() for name, future in waiting.items()}
        self.lemmas |= {name: one["lemmas"] for name, one in found.items()}
        return found

    def _try(
        self, name: str, ids: Iterable[str], whole: bool = False, before: Path | None = None
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


def untouched(
    mutants: Sequence[RuleMutant],
    rules: Mapping[str, Sequence[str]],
    fell: Mapping[str, set[str]],
) -> dict[str, list[str]]:
    """Of each mutant, the claims that depend on its rule and fell under no mutant of this rule.

    A mutant without such a claim is left out.

    >>> mutants = [RuleMutant(*one, ()) for one in (("turns", "1"), ("turns", "2"), ("banks", "3"))]
    >>> untouched(mutants, {"X": ["turns"], "Y": ["turns"]}, {"X": set(), "Y": {"2"}})
    {'1': ['X'], '2': ['X']}
    """
    names: dict[str, set[str]] = {}
    for one in mutants:
        names.setdefault(one.rule, set()).add(one.name)
    wanted = {
        one.name: [
            id_ for id_, of in rules.items() if one.rule in of and not fell[id_] & names[one.rule]
        ]
        for one in mutants
    }
    return {name: several for name, several in wanted.items() if several}


def try_all(ids: Sequence[str], mutants: Sequence[RuleMutant], trials: Trials) -> list[Fate]:
    """Try claims under the mutants of the rules that they depend on.

    First in some cases, then in all those that fell under no mutant of a rule.
    """
    before = trials.without(ids, whole=False)
    rules = {id_: tuple(before[id_]["depends"]) for id_ in ids}
    fell: dict[str, set[str]] = {id_: set() for id_ in ids}
    for whole in (False, True):
        wanted = untouched(mutants, rules, fell)
        if whole:
            doubtful = sorted({id_ for several in wanted.values() for id_ in several})
            print(f"in all their cases: {', '.join(doubtful) or 'none'}", flush=True)
            before = trials.without(doubtful, whole=True) if doubtful else {}
        found = trials.under(wanted, before)
        for name, several in wanted.items():
            for id_ in several:
                if found[name][id_]:
                    fell[id_].add(name)
    names = [one.name for one in mutants]
    return [Fate(id_, rules[id_], tuple(sorted(fell[id_], key=names.index))) for id_ in ids]


def unnoticed(mutants: Sequence[RuleMutant], lemmas: Mapping[str, Sequence[str]]) -> list[str]:
    """The mutants that were tried, and contradict no lemma though proofs use their rule.

    >>> mutants = [RuleMutant(*one, ()) for one in (("turns", "1"), ("banks", "2"), ("banks", "3"))]
    >>> unnoticed(mutants, {"1": [], "2": [], "3": ["L1"]})
    ['2']
    """
    own = [one.name for one in mutants if not UNPROVED.keys() & {one.rule, one.name}]
    return [name for name in own if name in lemmas and not lemmas[name]]


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

    chosen = choose(claims(), options.claims) if options.claims else claims()
    mutants, ids = rule_mutants(), [claim.id for claim in chosen]
    print(f"{len(ids)} claims, {len(mutants)} mutants of {len({m.rule for m in mutants})} rules")
    with tempfile.TemporaryDirectory() as folder:
        trials = Trials(Path(folder), options.jobs)
        found = try_all(ids, mutants, trials)
        others = [one.name for one in mutants if one.name not in trials.lemmas]
        trials.under({name: () for name in others}, trials.without(ids[:1], whole=False))
    reasons = {one: why for one, why in explanations().items() if one[0] in ids}
    print(table(found, mutants, reasons))
    print(counted(found, mutants, reasons, trials.lemmas))
    if options.save:
        options.save.write_text(kept(chosen, found, trials.lemmas), encoding="utf-8")
    left, idle = judged(found, mutants, reasons)
    for claim, rule in left:
        print(f"{claim} holds under every mutant of the rule {rule!r}, without an explanation")
    for claim, rule in idle:
        print(f"{claim} is explained for the rule {rule!r}, and needn't be")
    silent = unnoticed(mutants, trials.lemmas)
    for name in silent:
        print(f"the mutant {name!r} contradicts no lemma of the proofs")
    return 1 if left or idle or silent else 0


if __name__ == "__main__":
    sys.exit(main())
