"""Proofs as JSON, and claims proved on several cores."""

from __future__ import annotations

import json
import multiprocessing
import signal
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from typing import Any

from mmsim.claims.registry import registered
from mmsim.claims.verify import Provenance
from mmsim.errors import FormatError
from mmsim.proof.prove import ClaimProof, TimeUp, prove

FORMAT = "mmsim proofs 1"
PATIENCE = 5
"""The seconds that a step may go on when the time for a claim is up."""


def to_json(proofs: Iterable[ClaimProof], made: Provenance) -> str:
    """Return proofs as JSON, one on one line each, with their time, sources and claims."""
    lines = ",\n".join(json.dumps(asdict(one)) for one in proofs)
    head = json.dumps({"format": FORMAT, "made": asdict(made)})
    return f'{head[:-1]}, "proofs": [\n{lines}\n]}}\n'


def from_json(text: str) -> tuple[Provenance, list[ClaimProof]]:
    """Return what `to_json` wrote. Raises `FormatError` for any other text."""
    try:
        read = json.loads(text)
        if read["format"] != FORMAT:
            raise FormatError(f"this is {read['format']!r}, not {FORMAT!r}")
        return Provenance(**read["made"]), [ClaimProof(**one) for one in read["proofs"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FormatError(f"these are not proofs: {error}") from error


def prove_registered(
    ids: Sequence[str],
    widths: Sequence[int],
    seconds: float,
    processes: int,
    done: Callable[[ClaimProof], None],
) -> list[ClaimProof]:
    """Return proofs of the registered claims of these ids, in the given order.

    Each is passed to `done` immediately. An interrupt kills the worker processes.
    """
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(max(1, processes), mp_context=context)
    found = {}
    try:
        tasks = [pool.submit(_prove, id_, widths, seconds) for id_ in ids]
        for task in as_completed(tasks):
            proof = task.result()
            found[proof.claim] = proof
            done(proof)
    except BaseException:
        workers = [*(pool._processes or {}).values()]
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.kill()
        for worker in workers:
            worker.join()
        raise
    pool.shutdown()
    return [found[id_] for id_ in ids]


def _prove(id_: str, widths: Sequence[int], seconds: float) -> ClaimProof:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits
    claim = {claim.id: claim for claim in registered([])}[id_]
    if not hasattr(signal, "setitimer"):
        return prove(claim, widths, seconds)

    def up(*_: Any) -> None:
        raise TimeUp

    signal.signal(signal.SIGALRM, up)
    signal.setitimer(signal.ITIMER_REAL, seconds + PATIENCE)
    try:
        return prove(claim, widths, seconds)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
