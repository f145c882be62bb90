"""Verifying registered claims on several cores: each process takes a claim at a time.

Those that go up to their paper's own size all fall to one process: they share what is costly to
prepare, and memory never has to hold two of them.

The workers are not joblib's, as those of a sweep are: joblib has no process that is kept for some
of the tasks while the others give their results as they come, and a plain install lacks it.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed

from mmsim.claims.claim import Claim
from mmsim.claims.registry import registered
from mmsim.claims.verify import Verdict, verify_claim

WORTH_A_PROCESS = 8  # claims below which starting processes takes longer than it saves


def worth_processes(claims: Sequence[Claim]) -> bool:
    """Whether other processes should verify these claims, if only so that Ctrl-C is heard at once.

    Claims of a paper's own size make arguments by searches that can't be interrupted.
    """
    if len(claims) >= WORTH_A_PROCESS:
        return True
    return len(claims) > 1 and any(claim.has_own_size for claim in claims)


def verify_registered(
    ids: Sequence[str], processes: int, done: Callable[[Verdict], None]
) -> list[Verdict]:
    """Verdicts on the registered claims of these ids, in the order given.

    `done` is called with each verdict as it comes. Interrupting kills the processes at work.
    """
    verdicts: dict[str, Verdict] = {}
    large = {claim.id for claim in registered([]) if claim.has_own_size} & set(ids)
    if processes <= 1:
        large = set()
    context = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(1, mp_context=context) as one,
        ProcessPoolExecutor(max(processes - bool(large), 1), mp_context=context) as others,
    ):
        try:
            waiting = [(one if id_ in large else others).submit(_verify, id_) for id_ in ids]
            for future in as_completed(waiting):
                verdict = future.result()
                verdicts[verdict.id] = verdict
                done(verdict)
        except BaseException:
            for pool in (one, others):
                _kill(pool)
            raise
    return [verdicts[id_] for id_ in ids]


def _kill(pool: ProcessPoolExecutor) -> None:
    """End its processes, which would verify their claims to the end. They keep nothing."""
    processes = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.kill()
    for process in processes:
        process.join()


def _verify(id_: str) -> Verdict:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits
    return verify_claim({claim.id: claim for claim in registered([])}[id_])
