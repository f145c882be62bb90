"""The results of mutation testing, kept in a file from one run to the next.

A result is that of a function's text, wherever the function stands, and of the file of tests that
found the mutant. When one of them changes, the mutant is tried again.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.kit.mutation.forge import file_of
from tests.kit.mutation.reach import digest
from tests.kit.mutation.sample import SEED, Mutant, Room
from tests.kit.mutation.trial import Trial

VERDICTS = ("killed", "timed out", "survived")


@dataclass
class Result:
    """The fate of a mutant: the test that found it, "" for none, and the same by file.

    `tests` has for each file that found it the test and the way; `passed` those of which no test
    that reaches it found it, `partly` those of which not all of these were tried.
    """

    verdict: str
    by: str
    matrix: bool
    tests: dict[str, tuple[str, str]] = field(default_factory=dict)
    passed: list[str] = field(default_factory=list)
    partly: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, trial: Trial, matrix: bool) -> Result:
        """The result of a trial that has ended."""
        killed = dict(sorted(trial.killed.items()))
        passed = sorted(
            file for file in {*trial.passed} if file not in killed and file not in trial.partly
        )
        partly = sorted(file for file in {*trial.partly} & {*trial.passed} if file not in killed)
        if not killed:
            return cls("survived", "", matrix, {}, passed, partly)
        by, _ = next(iter(trial.killed.values()))
        late = all(way == "timed out" for _, way in killed.values())
        return cls("timed out" if late else "killed", by, matrix, killed, passed, partly)


class Kept:
    """The file."""

    def __init__(self, file: Path, root: Path, fresh: bool) -> None:
        self.file = file
        self.root = root
        self.known: dict[str, Result] = {}
        self.digests: dict[str, str] = {}
        self.entries: dict[str, dict[str, Any]] = {}
        self._log = root / "build" / "mutation" / "found.jsonl"
        if fresh:
            self._log.unlink(missing_ok=True)
            return
        if file.exists():
            document = read(file)
            self.digests = document["files"]
            for entry in document["mutants"]:
                self._take(entry)
        if self._log.exists():
            for line in self._log.read_text(encoding="utf-8").splitlines():
                self._take(json.loads(line))

    def _take(self, entry: dict[str, Any]) -> None:
        key = entry["key"]
        self.entries[key] = entry
        tests = {file_of(test): (test, way) for test, way in entry["killed"]}
        same = {name: entry[name] for name in ("verdict", "by", "matrix", "passed", "partly")}
        self.known[key] = Result(tests=tests, **same)
        self.digests |= entry.get("files", {})

    def of(self, mutant: Mutant) -> Result | None:
        """The result of a mutant, if its function and the test that found it are as they were."""
        result = self.known.get(mutant.key)
        if result is None or self.entries[mutant.key]["code"] != mutant.code:
            return None
        if result.by:
            file = file_of(result.by)
            if self.digests.get(file) != self._digest(file):
                return None
        return result

    def _digest(self, file: str) -> str:
        path = self.root / file
        return digest(path.read_bytes())[:12] if path.exists() else ""

    def stale(self, mutants: Sequence[Mutant]) -> int:
        """The number of kept results that are not of the present code."""
        codes = {mutant.key: mutant.code for mutant in mutants}
        return sum(codes.get(key) != entry["code"] for key, entry in self.entries.items())

    def add(self, mutant: Mutant, result: Result) -> None:
        """Note a result, so that a run that is interrupted loses nothing."""
        files = {file: self._digest(file) for file in result.tests}
        entry = entry_of(mutant, result) | {"files": files}
        self._take(entry)
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("a", encoding="utf-8") as out:
            print(json.dumps(entry), file=out)

    def save(
        self,
        rooms: Sequence[Room],
        costs: Mapping[str, float],
        options: argparse.Namespace,
        took: float,
    ) -> None:
        """Write the file anew: the mutants of this run, and the seconds of each file of tests."""
        made = {
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "command": " ".join(["python -m tests.kit.mutation.mutate", *sys.argv[1:]]),
            "seed": SEED,
            "each": options.each,
            "seconds": round(took),
        }
        sizes = {
            room.name: {"modules": room.modules, "mutants": room.mutants, "reached": room.reached}
            for room in rooms
        }
        mutants = [entry_of(one, self.known[one.key]) for room in rooms for one in room.chosen]
        write(
            self.file,
            {
                "made": made,
                "rooms": sizes,
                "files": {file: self._digest(file) for file in costs},
                "costs": {file: round(seconds, 1) for file, seconds in costs.items()},
                "mutants": mutants,
            },
        )


def entry_of(mutant: Mutant, result: Result) -> dict[str, Any]:
    """A mutant and its result as data."""
    return {
        "key": mutant.key,
        "room": mutant.room,
        "module": mutant.path,
        "where": mutant.where,
        "line": mutant.line,
        "mutant": mutant.mutant,
        "kind": mutant.kind,
        "code": mutant.code,
        "verdict": result.verdict,
        "by": result.by,
        "matrix": result.matrix,
        "killed": [[test, way] for test, way in result.tests.values()],
        "passed": result.passed,
        "partly": result.partly,
    }


def read(file: Path) -> dict[str, Any]:
    """The document that is kept."""
    document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return document


def write(file: Path, document: Mapping[str, Any]) -> None:
    """Write a document, each mutant on a line."""
    *parts, last = document.items()
    lines = ["{"]
    lines += [f"{json.dumps(name)}: {json.dumps(part)}," for name, part in parts]
    rows = ",\n".join(json.dumps(row) for row in last[1])
    file.write_text("\n".join([*lines, f"{json.dumps(last[0])}: [", rows, "]}"]) + "\n", "utf-8")
