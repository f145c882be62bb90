"""Verifying registered claims on several cores: each process takes a claim at a time."""

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
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(processes, len(ids)), mp_context=context) as pool:
        waiting = [pool.submit(_verify, id_) for id_ in ids]
        try:
            for future in as_completed(waiting):
                verdict = future.result()
                verdicts[verdict.id] = verdict
                done(verdict)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [verdicts[id_] for id_ in ids]


def _verify(id_: str) -> Verdict:
    (claim,) = (claim for claim in choose(registered(), [id_]) if claim.id == id_)
    return verify_claim(claim)
