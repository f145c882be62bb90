"""Mutation testing: is there a test for each rule that the code holds?

A mutant is a module with one small change. One that no test notices has *survived*: either a test
is missing, or the change makes no difference to any result, which `explained.toml` must then say.

    python -m tests.kit.mutation.mutate                  # of every room; goes on after a break
    python -m tests.kit.mutation.mutate ir frontend      # these rooms
    python -m tests.kit.mutation.mutate --matrix         # all files of tests for each mutant
    python -m tests.kit.mutation.mutate --each 200       # more mutants of each room
    python -m tests.kit.mutation.mutate --fresh          # forget earlier results

First each file of tests runs once, and the lines are recorded that each test reaches. Then each
mutant gets a process, forked from one that has loaded mmsim and the tests, in which it replaces
functions; no file is ever changed. Only tests that reach the mutant are tried, the quickest first.
The result is kept in a file, by the text of the changed function: code that moves keeps its
results. A test that would have failed without a mutant counts for nothing.

Exits with status 1 if a survivor isn't explained.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from tests.kit import ROOT
from tests.kit.mutation.forge import Forge, file_of
from tests.kit.mutation.in_place import Loaded
from tests.kit.mutation.kept import Kept, Result
from tests.kit.mutation.reach import Records, Test
from tests.kit.mutation.sample import (
    EACH,
    ROOMS,
    Mutant,
    Room,
    chosen,
    explanations,
    judged,
    modules,
)
from tests.kit.mutation.trial import FILE, MORE, Trial, Trier, loads, place_of, plan, within

HERE = Path(__file__).resolve().parent
ELSEWHERE = (
    "claims", "cli", "docs", "host", "house", "kernels", "papers", "results", "sweeps", "view",
    "gpu/test_gpu_", "gpu/test_metal", "gpu/test_counters_page",
)  # fmt: skip
"""Beginnings of files of tests that try no mutant: they are of other rooms, start processes and
browsers, read pages, or run algorithms."""
COLUMNS = ("mutants", "killed", "timed out", "explained", "untested", "survived")


def test_files(root: Path) -> list[str]:
    """The files of tests that try mutants, and the modules of the rooms that have doctests."""
    tests = [
        path
        for path in (root / "tests").glob("*/test_*.py")
        if not str(path.relative_to(root / "tests")).startswith(ELSEWHERE)
    ]
    documented = [
        path
        for room in ROOMS
        for path in modules(root, room)
        if ">>> " in path.read_text(encoding="utf-8")
    ]
    return sorted(str(path.relative_to(root)) for path in [*tests, *documented])


class Run:
    """One run of this command."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.root: Path = options.root.resolve()
        self.files = test_files(self.root)
        self.records = Records(self.root, ROOMS)
        self.reasons = explanations(self.root / "tests/kit/mutation/explained.toml")
        self.kept = Kept(self.root / options.save, self.root, options.fresh)

    def work(self, forge: Forge) -> int:
        """All but the loading of the tests, within the session that has loaded them."""
        begin = time.monotonic()
        self._record(forge)
        rooms = chosen(self.root, self.records, self.options.rooms or ROOMS, self.options.each)
        mutants = [mutant for room in rooms for mutant in room.chosen]
        stale = self.kept.stale(mutants)
        if stale:
            print(f"stale: {stale} mutants are of code that has changed", flush=True)
        todo = [mutant for mutant in mutants if not self._known(mutant)]
        print(f"{len(mutants)} mutants, {len(todo)} to try", flush=True)
        trier = Trier(forge, Loaded(self.root), self.records.folder)
        while todo:
            self._try(forge, trier, todo)
            todo = self._in_vain(forge, mutants)
        costs = {file: sum(one.seconds for one in self.records.tests[file]) for file in self.files}
        self.kept.save(rooms, costs, self.options, time.monotonic() - begin)
        return report(rooms, self.kept, self.reasons)

    def _record(self, forge: Forge) -> None:
        missing = self.records.missing(self.files)
        if missing:
            print(f"{len(missing)} files of tests to record", flush=True)
        tasks = forge.all_of(
            missing[::-1], lambda file: forge.fork(lambda: self.records.record(forge, file)),
            self.options.jobs,
        )  # fmt: skip
        for file, status in tasks:
            if status:
                print(f"{file} can't be recorded", flush=True)
        self.records.load(self.files)

    def _known(self, mutant: Mutant) -> bool:
        """Return whether an earlier result holds: of the same code, found by the same tests."""
        result = self.kept.of(mutant)
        if result is None or (self.options.matrix and not result.matrix):
            return False
        return result.verdict != "survived" or mutant.name in self.reasons

    def _try(self, forge: Forge, trier: Trier, todo: Sequence[Mutant]) -> None:
        tasks = []
        for mutant in by_turns(todo):
            every = plan(self.records, mutant)
            tests = {file: within(tests, FILE) for file, tests in every.items()}
            known = self.kept.known.get(mutant.key)
            if known is not None and known.by and file_of(known.by) in tests:  # it may do again
                file = file_of(known.by)
                tests = {file: tests[file], **tests}
            trial = Trial(mutant, tests, first=not self.options.matrix)
            trial.partly = [file for file in tests if len(tests[file]) < len(every[file])]
            tasks.append(trial)
        begin, count = time.monotonic(), 0
        tasks.reverse()
        for trial, status in forge.all_of(tasks, trier.start, self.options.jobs):
            if trier.ended(trial, status):
                tasks.append(trial)
                continue
            if not trial.killed and (more := self._more(trial)):
                tasks.append(more)
                continue
            count += 1
            result = Result.of(trial, self.options.matrix)
            self.kept.add(trial.mutant, result)
            if result.verdict == "survived" and trial.mutant.name not in self.reasons:
                tell(trial.mutant)
            if count % 20 == 0:
                print(f"{count} of {len(todo)}, {time.monotonic() - begin:.0f} s", flush=True)

    def _more(self, trial: Trial) -> Trial | None:
        """The further tests for a mutant that has survived so far."""
        mutant = trial.mutant
        every = plan(self.records, mutant)
        if not trial.more and trial.partly:
            by_time = sorted(
                (test for file in trial.partly for test in every[file]),
                key=lambda test: place_of(test, mutant),
            )
            tests: dict[str, list[Test]] = {}
            for test in within(by_time, MORE):
                tests.setdefault(file_of(test.name), []).append(test)
            return Trial(mutant, tests, True, more=True, passed=trial.passed, partly=trial.partly)
        return None

    def _in_vain(self, forge: Forge, mutants: Sequence[Mutant]) -> list[Mutant]:
        """Mutants found by a test that fails without a mutant as well; it is not used again."""
        results = {mutant.key: self.kept.known[mutant.key] for mutant in mutants}
        used: dict[str, set[str]] = {}
        for result in results.values():
            for test, _ in result.tests.values():
                used.setdefault(file_of(test), set()).add(test)
        wrong = set()
        place = self.records.folder / "checked"

        def check(file: str) -> int:
            items = [item for item in forge.items[file] if item.nodeid in used[file]]
            failed = [
                item.nodeid
                for item, after in zip(items, [*items[1:], None], strict=True)
                if forge.fails(item, after)
            ]
            if file in used[file] and not loads(forge, file):  # last: it forgets what is loaded
                failed.append(file)
            (place / file.replace("/", "-")).write_text("\n".join(failed))
            return 0

        place.mkdir(exist_ok=True)
        for file, _ in forge.all_of(
            [file for file in used if file in forge.items],
            lambda file: forge.fork(lambda: check(file)),
            self.options.jobs,
        ):
            note = place / file.replace("/", "-")
            if note.exists():
                wrong.update(note.read_text().split("\n"))
                note.unlink()
        for tests in self.records.tests.values():
            for test in tests:
                test.good &= wrong.isdisjoint((test.name, file_of(test.name)))
        for test in sorted(filter(None, wrong)):
            print(f"{test} fails without a mutant", flush=True)
        return [
            mutant
            for mutant in mutants
            if any(test in wrong for test, _ in results[mutant.key].tests.values())
        ]


def by_turns(mutants: Sequence[Mutant]) -> list[Mutant]:
    """One of each room in turn, so that a run that is interrupted has some of all."""
    rooms: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        rooms.setdefault(mutant.room, []).append(mutant)
    return [one for turn in zip_longest(*rooms.values()) for one in turn if one is not None]


def tell(mutant: Mutant) -> None:
    """Print a survivor."""
    print(f"{mutant.path}:{mutant.number}: {mutant.where}", flush=True)
    print(f"  - {mutant.line}\n  + {mutant.mutant}", flush=True)


def report(rooms: Sequence[Room], kept: Kept, reasons: dict[tuple[str, str, str, str], str]) -> int:
    """Print the table and the survivors without an explanation; 1 if there are such."""
    print(f"\n{'room':12}" + "".join(f"{column:>11}" for column in COLUMNS))
    total: Counter[str] = Counter()
    left = []
    for room in rooms:
        row = Counter({"mutants": len(room.chosen)})
        for mutant in room.chosen:
            verdict = judged(kept.known[mutant.key].verdict, mutant.name, reasons)
            if verdict == "survived":
                left.append(mutant)
            row[verdict] += 1
        total += row
        print(f"{room.name:12}" + "".join(f"{row[column]:11}" for column in COLUMNS))
    print(f"{'all':12}" + "".join(f"{total[column]:11}" for column in COLUMNS))
    if left:
        print("\nSurvived, without an explanation:")
        for mutant in left:
            tell(mutant)
    return 1 if left else 0


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rooms", nargs="*", help=f"default: {' '.join(ROOMS)}")
    parser.add_argument("--each", type=int, default=EACH, help="mutants of each room")
    parser.add_argument("--matrix", action="store_true", help="try all files on each mutant")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    parser.add_argument("--jobs", type=int, default=1, help="mutants tried in parallel")
    parser.add_argument("--save", default="benchmarks/results/mutation.json", help="the results")
    parser.add_argument("--root", type=Path, default=ROOT, help="of the tree")
    options = parser.parse_args()
    run = Run(options)
    return Forge(run.root, run.work).session(run.files)


if __name__ == "__main__":
    sys.exit(main())
