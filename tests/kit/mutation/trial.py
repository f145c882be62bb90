"""Tries a mutant: which tests find it?"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.kit.mutation.forge import Forge, Slow, limit, raise_slow
from tests.kit.mutation.in_place import Loaded, load_instead
from tests.kit.mutation.reach import Records, Test
from tests.kit.mutation.sample import ROOMS, Mutant, text_of

PATIENCE = 3
"""A test may take so many times as long as without a mutant, and two seconds more."""
MEMORY = 8 << 30
"""Bytes that a mutant may ask for."""
FILE = 0.3
"""Seconds of tests of a file that are tried, the quickest first; one test always."""
MORE = 40.0
"""Seconds of tests for a mutant that none of these has found."""
MOST_SECONDS = 240
"""Seconds of processor time of a process: code that is not Python's is deaf to other limits."""
FEW = 6
"""Files that are tried on a mutant for which mmsim is loaded again."""
UNLOADED = "it does not load"
TRACED = tuple(f"mmsim/{room}/" for room in ROOMS)
"""The folders whose lines are recorded. Rules elsewhere are tried by tests that reach an engine."""


@dataclass
class Trial:
    """A mutant and the tests to be tried on it, by file; which files found it, and which did not.

    `partly` has the files of which some tests were tried, but not all that reach the mutant.
    """

    mutant: Mutant
    tests: dict[str, list[Test]]
    first: bool
    more: bool = False
    done: list[str] = field(default_factory=list)
    killed: dict[str, tuple[str, str]] = field(default_factory=dict)
    passed: list[str] = field(default_factory=list)
    partly: list[str] = field(default_factory=list)

    @property
    def left(self) -> dict[str, list[Test]]:
        return {file: tests for file, tests in self.tests.items() if file not in self.done}


def plan(records: Records, mutant: Mutant) -> dict[str, list[Test]]:
    """The tests that reach a mutant, by file: the quickest tests first, the quickest file first.

    For a mutant at the top of a module they are those that reach the module, those first that reach
    most of its lines.
    """
    found: dict[str, list[Test]] = {}
    for file, tests in records.tests.items():
        reaching = [test for test in tests if test.good and _reaches(test, mutant)]
        if reaching:
            found[file] = sorted(reaching, key=lambda test: place_of(test, mutant))
    return dict(sorted(found.items(), key=lambda one: place_of(one[1][0], mutant)))


def place_of(test: Test, mutant: Mutant) -> tuple[int, float]:
    """The place of a test among those that are tried on a mutant."""
    lines = [test.lines.get(path, 0).bit_count() for path, _ in mutant.runs if mutant.at_import]
    return -sum(lines), test.seconds


def _reaches(test: Test, mutant: Mutant) -> bool:
    if not any(path.startswith(TRACED) for path, _ in mutant.runs):
        return any(path.startswith("mmsim/engines/") for path in test.lines)
    if mutant.at_import:
        return any(path in test.lines for path, _ in mutant.runs)
    return any(test.lines.get(path, 0) & run for path, run in mutant.runs)


def within(tests: Sequence[Test], seconds: float) -> list[Test]:
    """The first tests that take no longer together; at least one."""
    taken, total = [], 0.0
    for test in tests:
        total += test.seconds
        if taken and total > seconds:
            break
        taken.append(test)
    return taken


class Trier:
    """Tries mutants in processes forked from a session."""

    def __init__(self, forge: Forge, loaded: Loaded, folder: Path) -> None:
        self.forge = forge
        self.loaded = loaded
        self.folder = folder
        self.byname = {item.nodeid: item for items in forge.items.values() for item in items}

    def notes(self, trial: Trial) -> Path:
        return self.folder / f"{trial.mutant.key}.notes"

    def start(self, trial: Trial) -> int:
        """Begin a trial in a process of its own."""
        self.notes(trial).write_text("")
        return self.forge.fork(lambda: self._try(trial), self.notes(trial).with_suffix(".output"))

    def _try(self, trial: Trial) -> int:
        signal.signal(signal.SIGPROF, raise_slow)
        signal.signal(signal.SIGALRM, raise_slow)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
        os.environ["MMSIM_CACHE_DIR"] = f"{self.notes(trial)}.cache"
        mutant = trial.mutant
        texts = mutant.texts(self.forge.root)
        if all(
            self.loaded.put_in_place(path, text_of(path).source, text)
            for path, text in texts.items()
        ):
            for file, tests in trial.left.items():
                items = [self.byname[test.name] for test in tests if test.name in self.byname]
                usual = {test.name: test.seconds for test in tests}
                if self._file(self.forge, trial, file, items, usual) and trial.first:
                    break
            return 0
        load_instead(texts, self.forge.root)
        for file, tests in list(trial.left.items())[:FEW]:
            if self._loaded_again(trial, file, tests) and trial.first:
                break
        return 0

    def _loaded_again(self, trial: Trial, file: str, tests: Sequence[Test]) -> bool:
        usual = {test.name: test.seconds for test in tests}
        found = False
        self._note(trial, begin=file, test="loading")

        def work(forge: Forge) -> int:
            nonlocal found
            items = [item for item in forge.items[file] if item.nodeid in usual]
            items.sort(key=lambda item: usual[item.nodeid])
            found = self._file(forge, trial, file, items, usual)
            return 0

        inner = Inner(self.forge.root, work)
        limit(60, 300)
        try:
            inner.main([file], inner)
        except Slow:
            inner.loads = False
        finally:
            limit(0)
        if not inner.loads and not found:
            self._note(trial, file=file, result="killed", test=file, why=UNLOADED)
            found = True
        return found

    def _file(
        self,
        forge: Forge,
        trial: Trial,
        file: str,
        items: Sequence[pytest.Item],
        usual: dict[str, float],
    ) -> bool:
        """Try the tests of a file until one fails: whether one does."""
        for item, after in zip(items, [*items[1:], None], strict=True):
            self._note(trial, begin=file, test=item.nodeid)
            seconds = 2 + PATIENCE * usual[item.nodeid]
            Slow.raised = False
            try:
                limit(seconds, 20 + 10 * seconds)
                try:
                    failed = forge.fails(item, after)
                finally:
                    limit(0)
                why = "timed out" if Slow.raised else "failed"
            except (Slow, MemoryError, KeyboardInterrupt, pytest.exit.Exception):
                failed, why = True, "timed out"
            if failed:
                self._note(trial, file=file, result="killed", test=item.nodeid, why=why)
                return True
        self._note(trial, file=file, result="passed")
        return False

    def _note(self, trial: Trial, **what: str) -> None:
        with self.notes(trial).open("a", encoding="utf-8") as out:
            print(json.dumps(what), file=out)

    def ended(self, trial: Trial, status: int) -> bool:
        """Take down what came of a trial: whether it must go on, because its process broke off."""
        last: dict[str, str] = {}
        for line in self.notes(trial).read_text(encoding="utf-8").splitlines():
            last = json.loads(line)
            if "result" in last:
                self._take(trial, last["file"], last)
        output = self.notes(trial).with_suffix(".output")
        if status and "begin" not in last:
            text = output.read_text(errors="replace")
            raise SystemExit(f"{trial.mutant.name}: the driver failed\n{text}")
        for path in self.folder.glob(f"{trial.mutant.key}.*"):
            path.unlink() if path.is_file() else shutil.rmtree(path, ignore_errors=True)
        if status == 0:
            return False
        why = (
            "timed out"
            if status in (signal.SIGPROF, signal.SIGALRM, signal.SIGKILL, signal.SIGXCPU)
            else "crashed"
        )
        self._take(trial, last["begin"], {"result": "killed", "test": last["test"], "why": why})
        return not trial.first and bool(trial.left)

    def _take(self, trial: Trial, file: str, note: dict[str, str]) -> None:
        trial.done.append(file)
        if note["result"] == "killed":
            trial.killed[file] = note["test"], note["why"]
        elif file not in trial.passed:
            trial.passed.append(file)


class Inner(Forge):
    """A session within a process, which notes whether its tests could be loaded."""

    loads = False

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.loads = not session.testsfailed


def loads(forge: Forge, file: str) -> bool:
    """Return whether a file of tests loads when all is loaded again; in a process of its own."""
    load_instead({}, forge.root)
    inner = Inner(forge.root, lambda forge: 0)
    inner.main([file], inner)
    return inner.loads
