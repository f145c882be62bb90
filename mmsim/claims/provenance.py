"""The provenance of verdicts: their time, sources and claims."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from mmsim.claims.claim import Claim, show
from mmsim.errors import FormatError
from mmsim.host.checkout import commit_of
from mmsim.host.version import VERSION


@dataclass(frozen=True)
class Provenance:
    """The provenance of a run of `mmsim verify`.

    `date` is the day and the time of its start, in UTC. `commit` is that of the checked out sources
    (see `mmsim.host.checkout.commit_of`), `version` is mmsim's, and `claims` is the fingerprint of
    the verified claims.
    """

    date: str
    commit: str
    version: str
    claims: str


def provenance(claims: Iterable[Claim]) -> Provenance:
    """The provenance of verdicts on these claims, made now."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Provenance(now, commit_of(Path(__file__)), VERSION, fingerprint(claims))


def fingerprint(claims: Iterable[Claim]) -> str:
    """Return a hash of the claims' statements and of every case of their grids.

    It changes with a formula, a condition or a case. It does not depend on the programs and the
    engines.

    >>> from mmsim.claims import Claim
    >>> claim = Claim("X", "a paper", "reading", lambda n: n, "exact", lambda: [{"n": 4}], run=None)
    >>> fingerprint([claim])[:8]
    '6e703371'
    """
    digest = hashlib.sha256()
    for claim in claims:
        requires = [condition.text for condition in claim.requires]
        said = [claim.id, claim.text, claim.printed, requires, [*map(show, claim.cases())]]
        digest.update(json.dumps(said).encode())
    return digest.hexdigest()


def provenance_from_json(text: str) -> Provenance:
    """The provenance of saved verdicts (`mmsim.claims.verify.to_json`)."""
    try:
        return Provenance(**json.loads(text)["made"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FormatError(f"these verdicts lack their provenance: {error}") from error
