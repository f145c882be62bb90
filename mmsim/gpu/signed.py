"""The facts of results on a GPU, and signed predictions: dated, and bound to rules by digests.

A record's *seal* is a digest of all else in it, so that a change is noticed. A record that is
changed and sealed anew has another seal. So the file is committed before the measurement, and the
measurement names the seal (`mmsim gpu reproduce --predicted FILE`).
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from mmsim.errors import MMSimError
from mmsim.gpu.record import Record
from mmsim.gpu.replay import cupy, device
from mmsim.host.checkout import commit_of
from mmsim.host.version import VERSION

SEAL, RULES, NAMED = "seal", "rules", "prediction"
"""Facts: the seal and the rules of a record, and the seal of the prediction that one names."""


def rules() -> str:
    """Return a digest of all sources of mmsim, since any of them may change a predicted time."""
    folder = Path(__file__).parents[1]
    digest = sha256()
    for file in sorted((*folder.rglob("*.py"), *folder.rglob("*.cuh"))):
        digest.update(file.relative_to(folder).as_posix().encode() + b"\n")
        digest.update(sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def facts(command: str) -> dict[str, str]:
    """The GPU at hand, the date, the command, the versions and the sources; or `NoGPU`."""
    at_hand = device()
    return {
        "device": at_hand.name,
        "driver": at_hand.driver,
        "cuda": at_hand.cuda,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
        "mmsim": VERSION,
        "cupy": cupy().__version__,
        "commit": commit_of(Path(__file__)),
        RULES: rules(),
    }


def seal_of(record: Record) -> str:
    """Return a digest of a record without its seal.

    >>> record = Record("X", {"a": 1}, ({"b": 2},))
    >>> seal_of(record) == seal_of(Record("X", {"a": 1, "seal": "?"}, ({"b": 2},)))
    True
    >>> seal_of(record) == seal_of(Record("X", {"a": 1}, ({"b": 3},)))
    False
    """
    facts = {name: value for name, value in record.facts.items() if name != SEAL}
    said = [record.experiment, facts, [*map(dict, record.rows)]]
    return sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def sign(record: Record) -> Record:
    """The record of predictions made now, with its date, commit, version, rules and seal."""
    known = {
        "predicted": datetime.now(UTC).isoformat(timespec="seconds"),
        "mmsim": VERSION,
        "commit": commit_of(Path(__file__)),
        RULES: rules(),
    }
    signed = replace(record, facts={**record.facts, **known})
    return replace(signed, facts={**signed.facts, SEAL: seal_of(signed)})


def broken(record: Record) -> str | None:
    """Say why a record isn't a signed prediction; None if it is.

    >>> broken(Record("X", {}, ()))
    'the prediction is not signed'
    """
    if not {SEAL, RULES, "predicted", "commit"} <= set(record.facts):
        return "the prediction is not signed"
    if record.facts[SEAL] != seal_of(record):
        return "the prediction was changed after it was signed"
    return None


def checked_seal(file: Path) -> str:
    """The seal of a signed prediction that is about to be compared with a measurement.

    Raises `MMSimError` if it is not signed, or by other rules than the present ones.
    """
    record = Record.read(file)
    why = broken(record)
    if why is None and record.facts[RULES] != rules():
        why = "the rules have changed since the prediction was signed"
    if why is not None:
        raise MMSimError(f"{file}: {why}; predict again, and commit the file before you measure")
    return str(record.facts[SEAL])
