"""A pytest session that has loaded all tests, and tries them in processes forked from it."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TypeVar

import hypothesis
import pytest

T = TypeVar("T")
EXAMPLES = "25"  # of Hypothesis, where a test allows the choice
OWN_FAULT = 70
PLUGINS = ("xdist", "cacheprovider", "unraisableexception", "threadexception", "faulthandler")


class Slow(BaseException):
    """A test has used up its time."""

    raised = False


class Forge:
    """A plugin for pytest: instead of running all tests it calls `work`.

    What Numba would compile runs as Python. Hypothesis draws the same examples each time.
    """

    def __init__(self, root: Path, work: Callable[[Forge], int]) -> None:
        self.root = root
        self.work = work
        self.status = OWN_FAULT
        self.items: dict[str, list[pytest.Item]] = defaultdict(list)
        self.failed = False

    def session(self, files: Sequence[str]) -> int:
        """Load the files and call `work`; its status."""
        os.chdir(self.root)
        os.environ["MMSIM_EXAMPLES"] = EXAMPLES
        for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
            os.environ[name] = "1"  # threads don't survive a fork
        if str(self.root) not in sys.path:
            sys.path.insert(0, str(self.root))
        for name in ("numpy", "simpy", "numba"):
            import_module(name)
        import_module("numba").config.DISABLE_JIT = 1
        self.main(files, self)
        return self.status

    def main(self, files: Sequence[str], *plugins: object) -> int:
        """Run pytest, without what would keep or rewrite anything."""
        without = [f"-pno:{name}" for name in PLUGINS]
        return pytest.main(
            ["-q", "-s", "--tb=no", "--assert=plain", "--no-header", "--no-summary",
             "--continue-on-collection-errors", "--doctest-modules", *without, *files],
            [*plugins],
        )  # fmt: skip

    def pytest_sessionstart(self) -> None:
        """After `tests/conftest.py`, which has a profile of its own."""
        hypothesis.settings.register_profile(
            "mutation",
            derandomize=True,
            database=None,
            deadline=None,
            max_examples=int(EXAMPLES),
            phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
        )
        hypothesis.settings.load_profile("mutation")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for item in session.items:
            self.items[file_of(item.nodeid)].append(item)
        self.status = self.work(self)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed

    def fails(self, item: pytest.Item, after: pytest.Item | None) -> bool:
        """Run a test, of which the file's next is `after`: whether it fails."""
        self.failed = False
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        return self.failed

    def fork(self, task: Callable[[], int], output: Path | None = None) -> int:
        """Start a process that does a task, and exits with its status: the process's id."""
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            code = OWN_FAULT
            try:
                place = os.open(output or os.devnull, os.O_WRONLY | os.O_CREAT)
                os.dup2(place, 1)
                os.dup2(place, 2)
                start_no_python()
                code = task()
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        return pid

    def all_of(
        self, tasks: list[T], start: Callable[[T], int], jobs: int
    ) -> Iterator[tuple[T, int]]:
        """Start the tasks, the last first, so many in parallel; each with its exit status.

        More may be added to the list meanwhile.
        """
        running: dict[int, T] = {}
        try:
            while tasks or running:
                while tasks and len(running) < jobs:
                    task = tasks.pop()
                    running[start(task)] = task
                pid, status = os.wait()
                if pid in running:
                    yield running.pop(pid), status
        finally:
            for pid in running:
                os.kill(pid, signal.SIGKILL)


def start_no_python() -> None:
    """From now on skip a test when it starts Python, which would load what the files hold."""

    def skip(*_: object) -> None:
        pytest.skip("starts another Python")

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event == "subprocess.Popen" and "python" in str(arguments[0]):
            skip()

    sys.addaudithook(hook)
    import_module("multiprocessing.util").spawnv_passfds = skip
    import_module("multiprocessing.popen_fork").Popen._launch = skip


def file_of(test: str) -> str:
    """The file of a test, by its id.

    >>> file_of("tests/ir/test_needs.py::test_what[1]")
    'tests/ir/test_needs.py'
    """
    return test.partition("::")[0]


def limit(seconds: float, wall: float = 0) -> None:
    """Let a signal come after so many seconds of processor time, and of the clock (0: never)."""
    signal.setitimer(signal.ITIMER_PROF, seconds, 1)  # again, if a mutant has caught the first
    signal.setitimer(signal.ITIMER_REAL, wall, 5)


def raise_slow(*_: object) -> None:
    """Handle the signal: pytest takes the exception for a failure, so `raised` marks it."""
    Slow.raised = True
    raise Slow
