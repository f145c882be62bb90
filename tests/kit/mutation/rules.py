"""The mutants of the model's rules, as `rule_mutants.toml` has them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from tests.kit import ROOT

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Edit:
    """A piece of a module's text that becomes another one."""

    module: str
    old: str
    new: str


@dataclass(frozen=True)
class RuleMutant:
    """One entry of `rule_mutants.toml`: the rule of `dependence.RULES` that it changes, and how."""

    rule: str
    name: str
    edits: tuple[Edit, ...]

    def texts(self, root: Path = ROOT) -> dict[Path, str]:
        """The changed modules. Raises `ValueError` where an old text isn't there."""
        found: dict[Path, str] = {}
        for edit in self.edits:
            path = root / edit.module
            text = found.get(path) or path.read_text(encoding="utf-8")
            if edit.old not in text:
                raise ValueError(f"{self.name}: {edit.module} has no {edit.old!r}")
            found[path] = text.replace(edit.old, edit.new)
        return found


def rule_mutants(file: Path = HERE / "rule_mutants.toml") -> list[RuleMutant]:
    """All mutants, in the order of the file."""
    return [
        RuleMutant(one["rule"], one["name"], tuple(Edit(**edit) for edit in one["edits"]))
        for one in tomllib.loads(file.read_text(encoding="utf-8"))["mutant"]
    ]
