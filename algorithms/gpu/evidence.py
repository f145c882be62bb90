"""Predictions made before their measurements, as far as the kept files show it.

`python -m mmsim_algorithms.gpu.evidence PREDICTIONS MEASURED` prints a line for each
measured kernel, and the commit that has the predictions. Its status is 1 unless all were predicted
by a signed file (`mmsim.gpu.signed`) that was committed before the measurement.
"""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from mmsim.gpu.record import Record, Row
from mmsim.gpu.signed import NAMED, RULES, SEAL, broken
from mmsim.host.checkout import git
from mmsim_algorithms.gpu.cached_predictions import DIGEST, TIMES

ABOUT = ("kernel", "data", "permutation", "algorithm", "type", "sqrt n", "step")
"""The fields that identify a row's launch."""


def same(own: Row, row: Row) -> bool:
    """Return whether a prediction is for this row; scheduled's is for all permutations."""
    names = [name for name in ABOUT if name in own and own[name] != "all"]
    return all(row.get(name) == own[name] for name in names)


def not_before(predicted: Record, measured: Record) -> str | None:
    """Say why a measurement counts as not predicted before by this record; None if it was."""
    why = broken(predicted)
    if why is not None:
        return why
    if datetime.fromisoformat(predicted.facts["predicted"]) >= datetime.fromisoformat(
        measured.facts["date"]
    ):
        return "the prediction was signed after the measurement began"
    if measured.facts.get(RULES) != predicted.facts[RULES]:
        return "the rules were others when it was measured"
    if measured.facts.get(NAMED) != predicted.facts[SEAL]:
        return "the measurement does not name this prediction"
    return None


def marks(predicted: Record, measured: Record) -> list[tuple[Row, str | None]]:
    """Each measured row, and why it counts as not predicted before; None if it was."""
    whole = not_before(predicted, measured)
    times = [row for row in predicted.rows if row["what"] == TIMES and "table" not in row]
    return [(row, whole or _of_row(times, row)) for row in measured.rows]


def _of_row(times: Sequence[Row], row: Row) -> str | None:
    own = [one for one in times if same(one, row)]
    if not own:
        return "nothing was predicted of it"
    if row.get(DIGEST) is None or row[DIGEST] != own[0].get(DIGEST):
        return "the launches or the data were others"
    return None


def in_words(predicted: Record, measured: Record) -> str:
    """The result for a whole set, for a cell of a table."""
    found = marks(predicted, measured)
    reasons = list(dict.fromkeys(why for _, why in found if why is not None))
    if not reasons:
        return f"shown: signed at {predicted.facts['predicted']}"
    before = sum(why is None for _, why in found)
    some = f" for {len(found) - before} of {len(found)}" if before else ""
    return f"not shown{some}: {'; '.join(reasons)}"


def commit_with(folder: Path, text: str) -> tuple[str, datetime] | None:
    """The first commit in which a JSON file has a text, and its date.

    None if there is none, or no Git. Git is asked in the folder, about the whole repository.

    >>> commit_with(Path("/no/such/folder"), "text")
    """
    asked = ("log", "--reverse", "--format=%H %cI", f"-S{text}", "--", ":(top)*.json")
    try:
        commits = git(folder, *asked).splitlines()
    except (OSError, subprocess.CalledProcessError):
        return None
    if not commits:
        return None
    commit, date = commits[0].split()
    return commit, datetime.fromisoformat(date)


def not_committed(predicted: Record, measured: Record, folder: Path) -> str | None:
    """Say why no commit shows that the predictions came first; None if one does."""
    if broken(predicted) is not None:
        return "no signed prediction could be looked for in a commit"
    found = commit_with(folder, str(predicted.facts[SEAL]))
    if found is None:
        return "no commit has this prediction"
    if found[1] >= datetime.fromisoformat(measured.facts["date"]):
        return f"the first commit that has it, {found[0]}, is of {found[1].isoformat()}: too late"
    return None


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare two files; the status is 1 unless all was predicted before."""
    parser = argparse.ArgumentParser(description="Was it predicted before it was measured?")
    parser.add_argument("predictions", type=Path, help="of the machine with a cache")
    parser.add_argument("measured", type=Path, help="what `mmsim gpu reproduce` saved")
    asked = parser.parse_args(arguments)
    predicted, measured = Record.read(asked.predictions), Record.read(asked.measured)
    found = marks(predicted, measured)
    for row, why in found:
        print(f"{row['kernel']} ({row['data']}): {why or 'predicted before'}")
    late = not_committed(predicted, measured, asked.predictions.resolve().parent)
    print(late or "the prediction was committed before the measurement")
    return int(late is not None or any(why is not None for _, why in found))


if __name__ == "__main__":
    raise SystemExit(main())
