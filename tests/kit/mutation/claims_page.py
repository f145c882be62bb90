"""The claims under mutants of the rules: the table, and the page of a kept run.

`python -m tests.kit.mutation.claims_page benchmarks/results/claims-mutation.json` prints the page
docs/mutation-claims.md.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from mmsim.claims import Claim
from mmsim.claims.verify import Provenance, provenance
from mmsim_algorithms.papers import ABBREVIATIONS
from tests.kit.mutation.dependence import RULES
from tests.kit.mutation.fates import Fate, Reasons, explanations
from tests.kit.mutation.rules import RuleMutant, rule_mutants

HEAD = """\
# Claims under mutants of the rules

<!-- Made by `make mutate-claims` from benchmarks/results/claims-mutation.json; do not edit. -->

Each rule of the model was changed in a few ways. Every claim, of the five papers and of the field,
was run again under each change of a rule that its formula depends on, in some cases of its grid
([how](mutation.md)). A claim *falls* if a case no longer agrees with its formula. A claim that the
unchanged model refutes falls if a case no longer gives the same number. Each claim must fall under
a mutant of each rule that its formula depends on, or an explanation says why it can't.

Run of {made.date}, by mmsim {made.version} at commit
`{made.commit}`, on the claims whose formulas and cases have
the fingerprint `{made.claims}`.

{abbreviations}"""
LEMMAS = """\

The last column has the lemmas of [the proofs](explanation/proofs.md) that the mutant contradicts:
with such a rule nothing is proved.
"""
CLAIMS = """\
## Claim by claim

In a cell: how many of the rule's mutants the claim falls under, of how many; *explained* where it
falls under none, and nothing where its formula does not depend on the rule. The last column names
the mutants of those rules that let the claim hold all the same.
"""


def cell(fate: Fate, rule: str, mutants: Sequence[RuleMutant], reasons: Reasons) -> str:
    """Under how many of a rule's mutants a claim falls: "2/3"; "" if it doesn't depend on it."""
    if rule not in fate.depends:
        return ""
    count = sum(one.rule == rule for one in mutants)
    fell = count - len(fate.let_hold(mutants, rule))
    explained = not fell and (fate.claim, rule) in reasons
    return f"{fell}/{count}" + " explained" * explained


def table(
    fates: Sequence[Fate],
    mutants: Sequence[RuleMutant],
    reasons: Reasons,
) -> str:
    """For a terminal: a line for each claim, with the mutants that let it hold."""
    lines = [f"{'claim':28}" + "".join(f"{rule:>10}" for rule in RULES)]
    for fate in fates:
        cells = (cell(fate, rule, mutants, reasons).removesuffix("plained") for rule in RULES)
        lines.append(f"{fate.claim:28}" + "".join(f"{one:>10}" for one in cells))
        if names := fate.let_hold(mutants):
            lines.append(f"    holds under: {'; '.join(names)}")
    return "\n".join(lines)


def counts(
    fates: Sequence[Fate], mutants: Sequence[RuleMutant]
) -> list[tuple[RuleMutant, int, int]]:
    """Of each mutant, how many claims depend on its rule, and how many of those it let hold."""
    return [
        (
            one,
            sum(one.rule in fate.depends for fate in fates),
            sum(one.rule in fate.depends and one.name not in fate.fell for fate in fates),
        )
        for one in mutants
    ]


def counted(
    fates: Sequence[Fate],
    mutants: Sequence[RuleMutant],
    reasons: Reasons,
    lemmas: Mapping[str, Sequence[str]],
) -> str:
    """A line for each mutant, and one for all."""
    lines = [f"\n{'rule':10} {'mutant':62}{'claims':>8}{'hold':>6}  lemmas"]
    for one, claims, hold in counts(fates, mutants):
        said = ", ".join(lemmas.get(one.name, ()))
        lines.append(f"{one.rule:10} {one.name:62}{claims:8}{hold:6}  {said}")
    pairs = sum(len(fate.depends) for fate in fates)
    lines.append(f"{pairs} claims and rules, {len(reasons)} of them explained")
    return "\n".join(lines)


def tried(claims: Iterable[Claim]) -> list[Claim]:
    """The claims without their conditions: a run tries cases of the grids, not the domains."""
    return [replace(claim, requires=()) for claim in claims]


def kept(
    claims: Iterable[Claim], fates: Sequence[Fate], lemmas: Mapping[str, Sequence[str]]
) -> str:
    """The fates of a run as JSON, a line for each claim, and the lemmas that mutants contradict."""
    lines = ",\n".join(json.dumps(asdict(fate)) for fate in fates)
    made = json.dumps(asdict(provenance(tried(claims))))
    return f'{{"made": {made}, "lemmas": {json.dumps(lemmas)}, "fates": [\n{lines}\n]}}\n'


def read(text: str) -> tuple[Provenance, list[Fate], dict[str, list[str]]]:
    """What `kept` wrote."""
    found = json.loads(text)
    fates = [
        Fate(one["claim"], tuple(one["depends"]), tuple(one["fell"])) for one in found["fates"]
    ]
    return Provenance(**found["made"]), fates, found.get("lemmas", {})


def page(text: str) -> str:
    """The page in Markdown, from what `kept` wrote."""
    made, fates, lemmas = read(text)
    has = bool(lemmas)  # a run from before the proofs has none
    mutants, reasons = rule_mutants(), explanations()
    parts = [HEAD.format(made=made, abbreviations=ABBREVIATIONS)]
    parts.append(
        f"| rule | mutant | claims that depend on the rule | of which hold |{' lemmas |' * has}\n"
        f"| --- | --- | ---: | ---: |{' --- |' * has}"
    )
    for one, claims, hold in counts(fates, mutants):
        said = f" {', '.join(lemmas[one.name])} |" if has else ""
        parts.append(f"| {one.rule} | {one.name} | {claims} | {hold} |{said}")
    parts += [LEMMAS.rstrip()] * has
    parts.append(f"\n{CLAIMS}")
    parts.append(f"| claim | {' | '.join(RULES)} | holds under |")
    parts.append("| --- |" + " ---: |" * len(RULES) + " --- |")
    for fate in fates:
        cells = [cell(fate, rule, mutants, reasons) for rule in RULES]
        parts.append(f"| {' | '.join([fate.claim, *cells, '; '.join(fate.let_hold(mutants))])} |")
    parts.append("\n## Explained\n")
    for why in dict.fromkeys(reasons.values()):
        held = [f"{claim} ({rule})" for (claim, rule), one in reasons.items() if one == why]
        parts.append(f"- {', '.join(held)}: {why}")
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    print(page(Path(sys.argv[1]).read_text(encoding="utf-8")), end="")
