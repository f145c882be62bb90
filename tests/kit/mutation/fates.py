"""The fates of claims under mutants of the rules, and why some can't fall."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.kit.mutation.rules import HERE, RuleMutant

Reasons = Mapping[tuple[str, str], str]
"""Why a claim can't fall under the mutants of a rule: (claim, rule) to the reason."""


@dataclass(frozen=True)
class Fate:
    """One claim: the rules that it depends on, and the mutants of these under which it fell."""

    claim: str
    depends: tuple[str, ...]
    fell: tuple[str, ...]

    def let_hold(self, mutants: Sequence[RuleMutant], rule: str | None = None) -> list[str]:
        """The mutants of the rules that it depends on, or of one, under which it did not fall."""
        return [
            one.name
            for one in mutants
            if one.rule in self.depends and rule in (None, one.rule) and one.name not in self.fell
        ]

    def untouched(self, mutants: Sequence[RuleMutant]) -> list[str]:
        """The rules that it depends on of which it fell under no mutant."""
        fallen = {one.rule for one in mutants if one.name in self.fell}
        return [rule for rule in self.depends if rule not in fallen]


def explanations(file: Path = HERE / "explained_claims.toml") -> dict[tuple[str, str], str]:
    """What `explained_claims.toml` says."""
    return {
        (claim, entry["rule"]): entry["why"]
        for entry in tomllib.loads(file.read_text(encoding="utf-8")).get("untouched", [])
        for claim in entry["claims"]
    }


def judged(
    fates: Iterable[Fate], mutants: Sequence[RuleMutant], reasons: Reasons
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Claims with an untouched rule that nothing explains, and explanations that explain nothing.

    >>> one = RuleMutant("latency", "no latency", ())
    >>> judged([Fate("X", ("latency",), ())], [one], {})
    ([('X', 'latency')], [])
    >>> judged([Fate("X", ("latency",), ("no latency",))], [one], {("X", "latency"): "..."})
    ([], [('X', 'latency')])
    """
    held = [(fate.claim, rule) for fate in fates for rule in fate.untouched(mutants)]
    return [one for one in held if one not in reasons], [one for one in reasons if one not in held]
