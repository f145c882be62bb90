"""Trials in processes of their own, so that nothing that goes wrong goes unnoticed.

A process that dies is a crash; a trial that takes too long is a hang; what no trial may raise is a
finding. A worker that died is replaced and goes on behind the number that killed it.
"""

from __future__ import annotations

import multiprocessing
import resource
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from random import Random
from typing import Any, Literal

from tests.kit.fuzzing.corpus import Original
from tests.kit.fuzzing.documents import make_document, readers, try_document
from tests.kit.fuzzing.programs import make_program
from tests.kit.fuzzing.trial import try_program

LIMIT = 20
"""Seconds of the processor that a trial may take: others may keep it busy."""
SILENCE = 30 * LIMIT
"""Seconds after which a worker that says nothing, because it waits, is ended."""
ROOM = 2 << 30
"""Bytes that a worker may take beyond what it has at its start."""

Kind = Literal["program", "document"]


@dataclass(frozen=True)
class Outcome:
    """The end of one program or document; `finding` is empty where all is well."""

    kind: Kind
    number: int
    how: str
    verdict: str
    said: list[str] = field(default_factory=list)
    finding: str = ""
    text: str | bytes = ""


class Hang(BaseException):
    """Raised in a trial whose time is up."""


def too_long(signal_number: int, frame: Any) -> None:
    raise Hang(f"more than {LIMIT} seconds")


def watch(seconds: int) -> None:
    """Raise `Hang` after so many seconds, and again where it is lost in a callback; 0: never."""
    signal.signal(signal.SIGPROF, too_long)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1 if seconds else 0)


def trial(seed: int, kind: Kind, number: int, originals: list[Original]) -> Outcome:
    """One program or document, made and tried."""
    data: str | bytes
    if kind == "program":
        how, data, numbers = make_program(seed, number, originals)
    else:
        how, name, data = make_document(seed, number)
    watch(LIMIT)
    try:
        if isinstance(data, str):
            verdict = try_program(data, numbers, Random(f"{seed}, run {number}"))
        else:
            verdict = try_document(name, data)
        return Outcome(kind, number, how, verdict.kind, verdict.said)
    except (Exception, Hang) as error:
        watch(0)
        shown = "".join(traceback.format_exception(error, limit=-8))
        verdict_kind = "hang" if isinstance(error, Hang) else "finding"
        return Outcome(kind, number, how, verdict_kind, finding=shown, text=data)
    finally:
        watch(0)


def work(
    pipe: Connection, seed: int, kind: Kind, numbers: range, originals: list[Original]
) -> None:
    """Make a worker's trials in order, each announced before it begins."""
    with open("/proc/self/statm", encoding="ascii") as file:
        held = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + ROOM, held + ROOM))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in numbers:
        pipe.send(trial(seed, kind, number, originals))
    pipe.close()


class Worker:
    """A process that tries the programs or documents of some numbers."""

    def __init__(self, seed: int, kind: Kind, numbers: range, originals: list[Original]) -> None:
        context = multiprocessing.get_context("fork")
        self.numbers = numbers  # those that nothing is known of yet
        self.pipe, other = context.Pipe(duplex=False)
        self.heard = time.monotonic()
        self.process = context.Process(target=work, args=(other, seed, kind, numbers, originals))
        self.process.start()
        other.close()


def outcomes(
    seed: int, kind: Kind, count: int, jobs: int, originals: list[Original]
) -> Iterator[Outcome]:
    """The outcomes of programs or documents 0 to count - 1, in the order in which they end."""
    readers()  # made once, not by every worker
    workers = [Worker(seed, kind, range(job, count, jobs), originals) for job in range(jobs)]
    while workers:
        ready = wait([worker.pipe for worker in workers], timeout=1)
        for worker in list(workers):
            if worker.pipe in ready:
                try:
                    outcome = worker.pipe.recv()
                except EOFError:
                    workers.remove(worker)
                    worker.process.join()
                    if worker.numbers:
                        yield lost(seed, kind, worker, originals, "crash")
                        workers.append(Worker(seed, kind, worker.numbers[1:], originals))
                    continue
                worker.numbers, worker.heard = worker.numbers[1:], time.monotonic()
                yield outcome
            elif time.monotonic() - worker.heard > SILENCE:
                worker.process.kill()
                worker.process.join()
                workers.remove(worker)
                yield lost(seed, kind, worker, originals, "hang")
                workers.append(Worker(seed, kind, worker.numbers[1:], originals))


def lost(seed: int, kind: Kind, worker: Worker, originals: list[Original], verdict: str) -> Outcome:
    """The outcome of the trial that a worker did not come back from."""
    number = worker.numbers[0]
    data: str | bytes
    if kind == "program":
        how, data, _ = make_program(seed, number, originals)
    else:
        how, _, data = make_document(seed, number)
    shown = f"the process ended with {worker.process.exitcode}, on {sys.platform}"
    return Outcome(kind, number, how, verdict, finding=shown, text=data)
