"""Proofs as JSON, and claims proved on several cores."""

from __future__ import annotations

import gc
import json
import multiprocessing
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import partial
from types import SimpleNamespace
from typing import Any

from mmsim.claims.claim import Claim
from mmsim.claims.registry import GROUP, registered
from mmsim.claims.verify import Provenance
from mmsim.errors import FormatError
from mmsim.host.plugins import texts_in
from mmsim.proof.prove import ClaimProof, TimeUp, prove
from mmsim.proof.shown import opening
from mmsim.sweeps.fingerprint import Texts, fingerprint

FORMAT = "mmsim proofs 1"
KEPT = "proofs.json"
"""The file of outcomes that a package with claims may have in its folder."""
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


def digest(claim: Claim, texts: Texts | None = None) -> str:
    """Return a word that changes with what a proof is about: the claim, its programs and launches.

    It is the same in every process, on every version of Python, also in an installed package.
    `texts` keeps texts of functions.
    """
    formula = claim.formula
    while isinstance(formula, partial):
        formula = formula.func
    proved = SimpleNamespace(
        __module__=formula.__module__,  # other modules of its package are its own code
        said=claim.text,
        requires=[(one.text, one.holds) for one in claim.requires],
        derived=claim.derived,
        formula=claim.formula,
        measure=claim.measure,
        launches=claim.launches,
        run=claim.run,
    )
    return fingerprint([proved], texts)


def kept_outcomes(claims: Iterable[Claim]) -> dict[str, ClaimProof]:
    """The outcomes that installed packages keep of these claims, by id.

    An outcome counts only if it proves something of the claim as it is now.
    """
    known, texts = {claim.id: claim for claim in claims}, Texts()
    kept = [one for text in texts_in(GROUP, KEPT) for one in from_json(text)[1]]
    return {
        one.claim: one
        for one in kept
        if one.known and one.claim in known and one.digest == digest(known[one.claim], texts)
    }


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
    pool = ProcessPoolExecutor(max(1, processes), mp_context=context, initializer=_begin)
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


def _begin() -> None:
    """Leave Ctrl-C to the process that waits, and look for garbage seldom: terms have no cycles."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(100_000)


def _prove(id_: str, widths: Sequence[int], seconds: float) -> ClaimProof:
    claim = {claim.id: claim for claim in registered([])}[id_]
    with limited(seconds + PATIENCE):
        proof = prove(claim, widths, seconds)
    if proof.known:
        proof.digest = digest(claim)
        if claim.launches is not None and not proof.covered:
            with suppress(TimeUp, Exception), limited(seconds + PATIENCE):
                proof.shown = opening(claim, proof.widths, time.monotonic() + seconds)
    return proof


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `TimeUp` after some seconds, where the system has a timer for that."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def up(*_: Any) -> None:
        raise TimeUp

    signal.signal(signal.SIGALRM, up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
