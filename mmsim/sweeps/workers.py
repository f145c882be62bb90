"""Carrying out cases on joblib's workers, on any backend.

Other workers verify claims (`mmsim.claims.parallel`).
"""

from __future__ import annotations

import functools
import itertools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import cloudpickle
import joblib
from joblib.externals.loky.process_executor import TerminatedWorkerError
from joblib.parallel import LokyBackend, get_active_backend

from mmsim.sweeps.cases import Case
from mmsim.sweeps.file import SweepError
from mmsim.sweeps.rows import SweepRow, row_of_lost_worker, run_case

AT_ONCE = 4  # cases for each process, of a backend that gives no row before all are there
WATCHED = 1.0  # seconds between two looks whether the sweep still lives


def finished(
    function: Callable[..., Any], cases: Iterable[Case], jobs: int | None
) -> Iterator[SweepRow]:
    """The row of each case, in the order in which cases end.

    A case may end its worker process (out of memory, a crash). Then the cases under way run again,
    one at a time, and the case that ended the process gets a row that says so.
    """
    left = {case.key: case for case in cases}
    payload = Payload(function, left.values())
    while left:
        begun: list[Case] = []
        try:
            for row in _as_they_come(payload, left.values(), jobs, begun):
                del left[row["key"]]
                yield row
        except TerminatedWorkerError:
            suspects = [case for case in begun if case.key in left]
            alone = joblib.Parallel(2, **_options(payload))  # one would be this process
            for case in suspects:
                try:
                    (row,) = alone(_tasks(payload, [case], []))
                except TerminatedWorkerError:
                    lost = row_of_lost_worker(case.values, case.written)
                    row = {"key": case.key, **lost, "source": case.source}
                del left[case.key]
                yield row


def _as_they_come(
    payload: Payload, cases: Iterable[Case], jobs: int | None, begun: list[Case]
) -> Iterator[SweepRow]:
    """The rows of cases in the order in which joblib has them.

    A backend that returns results only together (Ray, multiprocessing) gets some cases at a time.
    """
    backend, configured = get_active_backend()
    if jobs is None:
        jobs = -1 if configured is None else configured
    if jobs == 1 or backend.supports_return_generator:
        parallel = joblib.Parallel(
            jobs,
            return_as="generator_unordered",
            batch_size=1,  # a batch returns no row before its slowest case ends
            **_options(payload),
        )
        yield from parallel(_tasks(payload, cases, begun))
        return
    tasks = _tasks(payload, cases, begun)
    with joblib.Parallel(jobs) as parallel:
        while some := list(itertools.islice(tasks, AT_ONCE * joblib.effective_n_jobs(jobs))):
            yield from parallel(some)


def _options(payload: Payload) -> dict[str, Any]:
    """Further options of joblib's own workers, which are children of this process.

    Other options start other workers: workers of an earlier sweep keep their old imported modules.
    """
    own = isinstance(get_active_backend()[0], LokyBackend)
    return {"initializer": _watch_over, "initargs": (os.getpid(), payload.number)} if own else {}


def _tasks(payload: Payload, cases: Iterable[Case], begun: list[Case]) -> Iterator[Any]:
    """The cases as joblib's tasks; each is listed in `begun` when it is asked for."""
    for case in list(cases):
        begun.append(case)
        yield joblib.delayed(_work)(payload.number, payload.packed, payload.by_reference(case))


@dataclass(frozen=True)
class Reference:
    """A reference to a program or a function, in a case that is sent."""

    number: int


_payloads = itertools.count()


class Payload:
    """The function of a sweep, and the programs and functions of its grid, packed once.

    They are packed by value if a worker can't import them: from a script, a notebook, a prompt.
    Workers unpack each payload once, so a compiled program stays compiled.
    """

    def __init__(self, function: Callable[..., Any], cases: Iterable[Case]) -> None:
        self._contents = {
            id(value): value for case in cases for value in case.values.values() if callable(value)
        }
        self._numbers = {name: number for number, name in enumerate(self._contents)}
        self.number = next(_payloads)
        try:
            self.packed: bytes = cloudpickle.dumps((function, list(self._contents.values())))
        except Exception as error:  # pickling runs what the objects say
            raise SweepError(
                f"{function!r} can't be sent to other processes: {error}; "
                "let it name what it needs instead of holding it"
            ) from error

    def by_reference(self, case: Case) -> Case:
        """The case, with references to the contents of the payload."""
        values = {
            name: Reference(self._numbers[id(value)]) if callable(value) else value
            for name, value in case.values.items()
        }
        return Case(case.key, case.source, values, case.written)


def by_value(module: str) -> None:
    """Let payloads hold the definitions of this module, as other processes can't import it."""
    cloudpickle.register_pickle_by_value(sys.modules[module])


@functools.lru_cache(maxsize=4)
def _unpacked(payload: int, packed: bytes) -> tuple[Callable[..., Any], list[Any]]:
    """The contents of a payload. Equal bytes of another one may mean a module imported anew."""
    content: tuple[Callable[..., Any], list[Any]]
    try:
        content = cloudpickle.loads(packed)
    except Exception as error:  # loading runs what the objects say
        raise SweepError(
            f"another process cannot load the sweep's function: {type(error).__name__}: {error}; "
            "move what it names to a module that can be imported, or give jobs=1"
        ) from error
    return content


def _work(payload: int, packed: bytes, case: Case) -> SweepRow:
    """The row of a case, in a worker."""
    function, contents = _unpacked(payload, packed)
    values = {
        name: contents[value.number] if isinstance(value, Reference) else value
        for name, value in case.values.items()
    }
    row = run_case(function, values, case.written)
    return {"key": case.key, **row, "source": case.source}


def _watch_over(sweeper: int, payload: int) -> None:
    """Let this worker end if its parent, the sweep, is killed. Otherwise it would wait for work."""

    def watch() -> None:
        while os.getppid() == sweeper:
            time.sleep(WATCHED)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
