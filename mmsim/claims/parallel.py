"""Verifying registered claims on several cores: each process takes a claim at a time.

Those that go up to their paper's own size all fall to one process: they share what is costly to
prepare, and memory never has to hold two of them.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed

from mmsim.claims.registry import choose, registered
from mmsim.claims.verify import Verdict, verify_claim

WORTH_A_PROCESS = 8  # claims below which starting processes takes longer than it saves


def verify_registered(
    ids: Sequence[str], processes: int, done: Callable[[Verdict], None]
) -> list[Verdict]:
    """Verdicts on the registered claims of these ids, in the order given.

    `done` is called with each verdict as it comes. Interrupting stops the other processes.
    """
    verdicts: dict[str, Verdict] = {}
    large = {claim.id for claim in registered() if claim.has_own_size} & set(ids)
    context = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(1, mp_context=context) as one,
        ProcessPoolExecutor(max(processes - bool(large), 1), mp_context=context) as others,
    ):
        waiting = [(one if id_ in large else others).submit(_verify, id_) for id_ in ids]
        try:
            for future in as_completed(waiting):
                verdict = future.result()
                verdicts[verdict.id] = verdict
                done(verdict)
        except BaseException:
            for pool in (one, others):
                pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [verdicts[id_] for id_ in ids]


def _verify(id_: str) -> Verdict:
    (claim,) = (claim for claim in choose(registered(), [id_]) if claim.id == id_)
    return verify_claim(claim)
