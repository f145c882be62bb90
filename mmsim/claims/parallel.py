"""Verifying registered claims on several cores: each process takes a claim at a time.

One process begins with all claims that go up to their paper's own size. They share expensive
preparations, and memory never has to hold two of them. Then this process helps with the others.

A sweep uses joblib's workers; claims do not. joblib can't reserve a process for some tasks while
the others return their results immediately, and a plain install lacks it.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait

from mmsim.claims.claim import Claim
from mmsim.claims.points import POINTS
from mmsim.claims.registry import registered
from mmsim.claims.verify import Verdict, verify_claim

MANY_CLAIMS = 8  # claims below which starting processes takes longer than it saves


def needs_processes(claims: Sequence[Claim]) -> bool:
    """Return whether other processes verify these claims, for speed or so that Ctrl-C ends them.

    Claims of a paper's own size prepare arguments by uninterruptible searches.
    """
    if len(claims) >= MANY_CLAIMS:
        return True
    return len(claims) > 1 and any(claim.has_own_size for claim in claims)


def verify_registered(
    ids: Sequence[str], processes: int, done: Callable[[Verdict], None], points: int = POINTS
) -> list[Verdict]:
    """Return verdicts on the registered claims of these ids, in the given order.

    Each verdict is passed to `done` immediately. An interrupt kills the worker processes.
    """
    verdicts: dict[str, Verdict] = {}
    own = {claim.id for claim in registered([]) if claim.has_own_size}
    if processes <= 1:
        own = set()  # in the order given
    large = deque(id_ for id_ in ids if id_ in own)
    others = deque(id_ for id_ in ids if id_ not in own)
    context = multiprocessing.get_context("spawn")
    workers = [ProcessPoolExecutor(1, mp_context=context) for _ in range(max(processes, 1))]
    at_work: dict[Future[Verdict], ProcessPoolExecutor] = {}

    def give(worker: ProcessPoolExecutor) -> None:
        queue = large if large and worker is workers[0] else others
        if queue:
            at_work[worker.submit(_verify, queue.popleft(), points)] = worker

    try:
        for worker in workers:
            give(worker)
        while at_work:
            for future in wait(at_work, return_when=FIRST_COMPLETED).done:
                give(at_work.pop(future))
                verdict = future.result()
                verdicts[verdict.id] = verdict
                done(verdict)
    except BaseException:
        _kill(workers)
        raise
    for worker in workers:
        worker.shutdown()
    return [verdicts[id_] for id_ in ids]


def _kill(workers: Sequence[ProcessPoolExecutor]) -> None:
    """End the processes, which would verify their claims to the end. No data is lost."""
    processes = [process for one in workers for process in (one._processes or {}).values()]
    for worker in workers:
        worker.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.kill()
    for process in processes:
        process.join()


def _verify(id_: str, points: int) -> Verdict:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits
    return verify_claim({claim.id: claim for claim in registered([])}[id_], points=points)
