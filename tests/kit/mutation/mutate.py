"""Mutation testing of the timing rules: is there a test for each of them?

A mutant is a module with one small change. One that no test notices has *survived*: either a test
is missing, or the change makes no difference to any result, which `explained.toml` must then say.
`timing_rules.toml` says which modules are mutated, and which tests try them, in which order.

    python -m tests.kit.mutation.mutate                  # all; goes on where it was interrupted
    python -m tests.kit.mutation.mutate play.py          # modules whose path contains this
    python -m tests.kit.mutation.mutate --fresh          # forget earlier verdicts

Each mutant gets a process, forked from one that has loaded NumPy, SimPy, Numba and pytest but
nothing of mmsim; the mutated text is put there in place of the file's, so no file is ever changed.
Hypothesis draws the same examples each time. A mutant on which a test takes much longer than
without it has timed out. Survivors without an explanation are tried again each time, the verdict on
others is kept in `build/mutation.jsonl` for as long as the module stays as it is.

Exits with status 1 if a survivor isn't explained or an explanation explains nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shlex
import shutil
import signal
import sys
import tempfile
import tomllib
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import hypothesis
import pytest

from tests.kit import ROOT
from tests.kit.mutation.in_place import forget, put_in_place
from tests.kit.mutation.mutants import Mutant, mutants

EXAMPLES = "25"  # of Hypothesis, where a test lets us choose
PATIENCE = 5  # a test may take so many times as long as without a mutant
SECONDS = {False: 2, True: 60}  # and so much longer, being Python or compiled: the first compiles
AT_MOST = 900  # seconds for all tests of one mutant, however busy the machine is
OWN_FAULT = 70
COLUMNS = ("mutants", "killed", "timed out", "explained", "survived")


@dataclass(frozen=True)
class Module:
    """One entry of `timing_rules.toml`."""

    path: str
    tests: tuple[str, ...]
    compiled: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class Task:
    """Tests to be tried on a mutant (None: on the files as they are), compiled by Numba or not."""

    mutant: Mutant | None
    tests: tuple[str, ...]
    compiled: bool


class Watcher:
    """A pytest plugin: quick tests first, each with its limit; writes down what failed."""

    def __init__(self, notes: Path, usual: dict[str, float], compiled: bool) -> None:
        self.notes = notes
        self.usual = usual
        self.more = SECONDS[compiled]
        self.took: dict[str, float] = {}

    def pytest_collection_modifyitems(self, items):
        items.sort(key=lambda item: self.usual.get(item.nodeid, 0))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        before = _cpu()
        if self.usual:
            self.notes.write_text(json.dumps({"test": item.nodeid}))
            most = PATIENCE * self.usual.get(item.nodeid, 60) + self.more
            signal.setitimer(signal.ITIMER_PROF, most)
        result = yield
        signal.setitimer(signal.ITIMER_PROF, 0)
        self.took[item.nodeid] = _cpu() - before
        return result


def _cpu() -> float:
    times = os.times()
    return times.user + times.system


class Forge:
    """Tries mutants of the tree at `root`, each in a process of its own."""

    def __init__(self, root: Path, plugins: list[str]) -> None:
        self.root = root
        self.plugins = plugins
        self.folder = tempfile.TemporaryDirectory()
        self.usual: dict[bool, dict[str, float]] = {False: {}, True: {}}  # compiled: test: seconds
        for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
            os.environ[name] = "1"  # threads don't survive a fork
        for name in ("numpy", "simpy", "numba"):
            import_module(name)
        hypothesis.settings.register_profile(
            "mutation",
            derandomize=True,
            database=None,
            deadline=None,
            phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
        )
        hypothesis.settings.load_profile("mutation")
        os.environ["MMSIM_EXAMPLES"] = EXAMPLES

    def load(self, tests: Iterable[str]) -> None:
        """Load tests and what they test, once for all."""
        os.chdir(self.root)
        for name in [name for name in sys.modules if name.split(".")[0] == "tests"]:
            del sys.modules[name]  # the tree has its own
        sys.path.insert(0, str(self.root))
        with _silence():
            self._pytest([], False, "--collect-only", *(f"tests/{test}" for test in tests))

    def _pytest(self, watchers: list[object], compiled: bool, *arguments: str) -> int:
        plugins = [] if compiled else [f"-p{plugin}" for plugin in self.plugins]
        return pytest.main(
            ["-q", "-x", "--tb=short", "--assert=plain", "--hypothesis-seed=0",
             "-pno:xdist", "-pno:cacheprovider", "-pno:unraisableexception", *plugins, *arguments],
            watchers,
        )  # fmt: skip

    def measured(self, task: Task, status: int, notes: Path) -> None:
        """Learn how long tests usually take; they must pass on the files as they are."""
        if status != 0:
            output = Path(f"{notes}.output").read_text(errors="replace")
            raise SystemExit(f"{task.tests} fail without a mutant\n{output}")
        self.usual[task.compiled] |= json.loads(notes.read_text())

    def start(self, task: Task) -> tuple[int, Path]:
        """Try a task in a new process: its id, and the file where it reports."""
        handle, name = tempfile.mkstemp(dir=self.folder.name)
        os.close(handle)
        notes = Path(name)
        pid = os.fork()
        if pid == 0:
            code = OWN_FAULT
            try:
                code = self._try(task, notes)
            except BaseException as error:
                traceback.print_exc()
                if task.mutant is not None and self._raised_by(task.mutant, error):
                    code = 1  # it doesn't even load: noticed
            finally:
                sys.stderr.flush()
                os._exit(code)
        return pid, notes

    def _raised_by(self, mutant: Mutant, error: BaseException) -> bool:
        """Whether an error comes from a mutant's own text."""
        path = str(self.root / mutant.module)
        return any(frame.filename == path for frame in traceback.extract_tb(error.__traceback__))

    def _try(self, task: Task, notes: Path) -> int:
        output = os.open(f"{notes}.output", os.O_WRONLY | os.O_CREAT)
        os.dup2(output, 1)
        os.dup2(output, 2)
        signal.alarm(AT_MOST)
        if task.mutant is not None:
            path = self.root / task.mutant.module
            put_in_place(path, task.mutant.text, self.root, task.compiled)
        elif task.compiled:
            forget(self.root)
        if task.compiled:  # keep no machine code for the next mutant
            import_module("numba").config.DISABLE_JIT = 0
            os.environ["MMSIM_CACHE_DIR"] = f"{notes}.cache"
        usual = self.usual[task.compiled] if task.mutant else {}
        watcher = Watcher(notes, usual, task.compiled)
        for test in task.tests:
            code = self._pytest([watcher], task.compiled, *shlex.split(f"tests/{test}"))
            if code != 0:
                return int(code)
        if task.mutant is None:
            notes.write_text(json.dumps(watcher.took))
        return 0

    def all_of(self, tasks: list[Task], jobs: int) -> Iterator[tuple[Task, Path, int]]:
        """Try tasks, the last first, so many in parallel; each with its notes and its exit status.

        More may be added to the list meanwhile.
        """
        running: dict[int, tuple[Task, Path]] = {}
        try:
            while tasks or running:
                while tasks and len(running) < jobs:
                    task = tasks.pop()
                    pid, notes = self.start(task)
                    running[pid] = task, notes
                pid, status = os.wait()
                yield (*running.pop(pid), status)
        finally:
            for pid in running:
                os.kill(pid, signal.SIGKILL)

    def verdict(self, status: int, notes: Path) -> tuple[str, str]:
        """What became of a mutant, and the test that found it."""
        text = notes.read_text()
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == OWN_FAULT:
            output = Path(f"{notes}.output").read_text(errors="replace")
            raise SystemExit(f"the driver failed\n{output}")
        test = json.loads(text)["test"] if text else ""
        for file in notes.parent.glob(f"{notes.name}*"):
            if file.is_dir():
                shutil.rmtree(file)
            else:
                file.unlink()
        if status == 0:
            return "survived", ""
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGPROF, signal.SIGALRM):
            return "timed out", test
        return "killed", test


class _silence:
    """Nothing is printed meanwhile, by whatever way."""

    def __enter__(self):
        sys.stdout.flush()
        self.kept = os.dup(1)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.close(null)

    def __exit__(self, *_):
        sys.stdout.flush()
        os.dup2(self.kept, 1)
        os.close(self.kept)


class Verdicts:
    """What became of each mutant, kept in a file from one run to the next."""

    def __init__(self, file: Path, fresh: bool) -> None:
        self.file = file
        self.known: dict[str, dict[str, str]] = {}
        file.parent.mkdir(exist_ok=True)
        if fresh:
            file.unlink(missing_ok=True)
        if file.exists():
            for line in file.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                self.known[entry.pop("key")] = entry

    @staticmethod
    def key(mutant: Mutant) -> str:
        return hashlib.sha256(f"{mutant.module}\n{mutant.text}".encode()).hexdigest()

    def of(self, mutant: Mutant) -> str | None:
        entry = self.known.get(self.key(mutant))
        return None if entry is None else entry["verdict"]

    def add(self, mutant: Mutant, verdict: str, test: str) -> None:
        entry = {"verdict": verdict, "test": test}
        self.known[self.key(mutant)] = entry
        place = {"module": mutant.module, "number": mutant.number, "line": mutant.line}
        with self.file.open("a", encoding="utf-8") as out:
            line = {"key": self.key(mutant), **entry, **place, "mutant": mutant.mutant}
            print(json.dumps(line), file=out)


def explanations(file: Path) -> dict[tuple[str, str, str, str], str]:
    """Why a survivor is right: (module, where, line, mutant) to the reason."""
    reasons = {}
    for entry in tomllib.loads(file.read_text(encoding="utf-8")).get("survivor", []):
        for mutant in entry["mutants"]:
            reasons[entry["module"], entry["where"], entry["line"], mutant] = entry["why"]
    return reasons


def identity(mutant: Mutant) -> tuple[str, str, str, str]:
    return mutant.module, mutant.where, mutant.line, mutant.mutant


def try_all(forge: Forge, todo: list[tuple[Module, Mutant]], verdicts: Verdicts, jobs: int) -> None:
    """Try mutants, so many at a time, and write down what became of each."""
    modules = dict.fromkeys(module for module, _ in todo)
    forge.load({shlex.split(test)[0] for module in modules for test in module.tests})
    usual = [Task(None, (test,), False) for module in modules for test in module.tests]
    usual += [Task(None, (test,), True) for module in modules for test in module.compiled]
    for task, notes, status in forge.all_of(list(dict.fromkeys(usual)), jobs):
        forge.measured(task, status, notes)

    compiled = {module.path: module.compiled for module in modules}
    tasks = [Task(mutant, module.tests, False) for module, mutant in reversed(todo)]
    for task, notes, status in forge.all_of(tasks, jobs):
        verdict, test = forge.verdict(status, notes)
        if verdict == "survived" and compiled[task.mutant.module] and not task.compiled:
            tasks.append(Task(task.mutant, compiled[task.mutant.module], True))
            continue
        verdicts.add(task.mutant, verdict, test)
        if verdict == "survived":
            _tell(task.mutant)


def _tell(mutant: Mutant) -> None:
    print(f"{mutant.module}:{mutant.number}: {mutant.where}", flush=True)
    print(f"  - {mutant.line}\n  + {mutant.mutant}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", help="parts of modules' paths; default: all")
    parser.add_argument("--fresh", action="store_true", help="forget earlier verdicts")
    parser.add_argument("--jobs", type=int, default=1, help="mutants tried in parallel")
    parser.add_argument("--root", type=Path, default=ROOT, help="of the tree")
    options = parser.parse_args()
    root = options.root.resolve()
    rules = tomllib.loads(
        (root / "tests/kit/mutation/timing_rules.toml").read_text(encoding="utf-8")
    )
    reasons = explanations(root / "tests/kit/mutation/explained.toml")
    verdicts = Verdicts(root / "build/mutation.jsonl", options.fresh)
    forge = Forge(root, rules.get("plugins", []))

    found: dict[Module, list[Mutant]] = {}
    for entry in rules["module"]:
        module = Module(**{k: v if k == "path" else tuple(v) for k, v in entry.items()})
        if not options.modules or any(part in module.path for part in options.modules):
            source = (root / module.path).read_text(encoding="utf-8")
            found[module] = list(mutants(module.path, source, module.only, module.without))
    todo = [
        (module, mutant)
        for module, several in found.items()
        for mutant in several
        if (verdict := verdicts.of(mutant)) is None
        or (verdict == "survived" and identity(mutant) not in reasons)
    ]
    print(f"{sum(map(len, found.values()))} mutants, {len(todo)} to try", flush=True)
    try_all(forge, todo, verdicts, options.jobs)
    return report(found, verdicts, reasons)


def report(
    found: dict[Module, list[Mutant]],
    verdicts: Verdicts,
    reasons: dict[tuple[str, str, str, str], str],
) -> int:
    """Print the table, unexplained survivors and idle explanations; 1 if there are such."""
    print(f"\n{'module':32}" + "".join(f"{column:>11}" for column in COLUMNS))
    total: Counter[str] = Counter()
    left, used = [], set()
    for module, several in found.items():
        row = Counter({"mutants": len(several)})
        for mutant in several:
            verdict = verdicts.of(mutant)
            if verdict == "survived" and identity(mutant) in reasons:
                used.add(identity(mutant))
                verdict = "explained"
            elif verdict == "survived":
                left.append(mutant)
            row[verdict] += 1
        total += row
        print(f"{module.path:32}" + "".join(f"{row[column]:11}" for column in COLUMNS))
    print(f"{'all':32}" + "".join(f"{total[column]:11}" for column in COLUMNS))
    looked_at = {module.path for module in found}
    idle = [entry for entry in reasons if entry[0] in looked_at and entry not in used]
    if left:
        print("\nSurvived, without an explanation:")
        for mutant in left:
            _tell(mutant)
    if idle:
        print("\nExplained, but no such mutant survived:")
        for entry in idle:
            print("  " + " | ".join(entry))
    return 1 if left or idle else 0


if __name__ == "__main__":
    sys.exit(main())
