"""What verdicts were made of: when, from which sources, about which claims."""

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
    """What a run of `mmsim verify` was made of.

    `date` is the day and the time when it began, in UTC; `commit` that of the checked out sources
    (see `mmsim.host.checkout.commit_of`); `version` mmsim's; `claims` the fingerprint of the
    claims that were verified.
    """

    date: str
    commit: str
    version: str
    claims: str


def provenance(claims: Iterable[Claim]) -> Provenance:
    """Of verdicts on these claims that are made now."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Provenance(now, commit_of(Path(__file__)), VERSION, fingerprint(claims))


def fingerprint(claims: Iterable[Claim]) -> str:
    """A hash of what claims say, and of every case of their grids.

    It changes when a formula, a condition or a case does. It does not depend on the programs and
    the engines.

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
