"""Malformed input: mutated programs through `mm.program`, mutated files through the readers.

    python -m tests.kit.tools.fuzz [--count 100000] [--documents 20000] [--seed 0] [--jobs 2]

Programs are made of the papers' programs, the docs' and random ones, by changes of their trees and
of their texts, and grown by Python's own grammar. Each has to be refused with file, line and the
offending text, or to be taken; those taken run on small arrays, on every engine. Documents are
what the readers of files are meant for, damaged. Nothing else may happen: no other error, no
warning, no crash, no hang, nothing outside touched, no two engines that differ.

The same seed gives the same programs. What is found goes to build/fuzz, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.kit import ROOT
from tests.kit.fuzzing.corpus import corpus
from tests.kit.fuzzing.workers import Outcome, outcomes

FOLDER = ROOT / "build" / "fuzz"
PROGRESS = 1000
"""Trials from one line of progress to the next."""
MOST_MESSAGES = 60


def arguments_of(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Try mutated and random programs, and damaged documents."
    )
    parser.add_argument("--count", type=int, default=100_000, help="programs (100000)")
    parser.add_argument("--documents", type=int, default=20_000, help="documents (20000)")
    parser.add_argument("--seed", type=int, default=0, help="which ones (0)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    return parser.parse_args(argv)


class Tally:
    """The ends of all programs, or of all documents."""

    def __init__(self) -> None:
        self.verdicts: Counter[tuple[str, str]] = Counter()
        self.said: Counter[tuple[str, str]] = Counter()

    def add(self, outcome: Outcome) -> None:
        self.verdicts[outcome.how, outcome.verdict] += 1
        self.said.update((outcome.verdict, text) for text in outcome.said)

    def total(self, verdict: str) -> int:
        """The number of those that ended so."""
        return sum(count for (_, ended), count in self.verdicts.items() if ended == verdict)

    def table(self, columns: Iterable[str]) -> list[str]:
        """A row for each way of making them, a column for each way of ending."""
        columns = list(columns)
        lines = ["".join([f"{'':34}", f"{'all':>9}", *(f"{name:>13}" for name in columns)])]
        for how in [*sorted({how for how, _ in self.verdicts}), "all"]:
            counts = [
                self.total(name) if how == "all" else self.verdicts[how, name] for name in columns
            ]
            lines.append(
                f"{how:34}{sum(counts):>9,}" + "".join(f"{count:>13,}" for count in counts)
            )
        return lines

    def messages(self, verdict: str) -> list[str]:
        """The words of those that ended so, the most frequent first."""
        said = Counter({text: n for (ended, text), n in self.said.items() if ended == verdict})
        listed = sorted(said.items(), key=lambda item: (-item[1], item[0]))
        lines = [f"{count:>9,}  {text}" for text, count in listed[:MOST_MESSAGES]]
        if len(listed) > MOST_MESSAGES:
            rest = sum(count for _, count in listed[MOST_MESSAGES:])
            lines.append(f"{rest:>9,}  {len(listed) - MOST_MESSAGES} other messages")
        return lines


def save(outcome: Outcome, seed: int) -> Path:
    """Keep what was found, the input and what happened; where."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    name = FOLDER / f"{outcome.kind}-{seed}-{outcome.number}"
    data = outcome.text if isinstance(outcome.text, bytes) else outcome.text.encode()
    name.with_suffix(".txt" if outcome.kind == "program" else ".bin").write_bytes(data)
    name.with_suffix(".finding").write_text(outcome.finding, encoding="utf-8")
    return name.with_suffix(".finding")


def gather(running: Iterable[Outcome], kind: str, count: int, seed: int) -> Tally:
    """Count outcomes, telling of the progress and of every finding."""
    tally, start = Tally(), time.monotonic()
    for done, outcome in enumerate(running, start=1):
        tally.add(outcome)
        if outcome.finding:
            last = outcome.finding.strip().splitlines()[-1]
            print(f"{outcome.verdict} in {save(outcome, seed)}: {last[:160]}", file=sys.stderr)
        if done % PROGRESS == 0:
            rate = done / (time.monotonic() - start)
            print(f"{kind} {done:,} of {count:,}, {rate:.0f} a second", file=sys.stderr)
    return tally


def main(argv: list[str] | None = None) -> int:
    """Do what the arguments ask for; the exit status."""
    arguments = arguments_of(argv)
    seed, jobs = arguments.seed, max(arguments.jobs, 1)
    start = time.monotonic()
    programs = gather(
        outcomes(seed, "program", arguments.count, jobs, corpus()), "program", arguments.count, seed
    )
    documents = gather(
        outcomes(seed, "document", arguments.documents, jobs, []),
        "document",
        arguments.documents,
        seed,
    )
    bad = ("finding", "crash", "hang")
    print(f"{arguments.count:,} programs, seed {seed}\n")
    print(*programs.table(("no Python", "no function", "refused", "accepted", *bad)), sep="\n")
    print("\nWhat those accepted came to, under each schedule that they ran under\n")
    print(*programs.messages("accepted"), sep="\n")
    print("\nWhy the others were refused, each with file, line and text\n")
    print(*programs.messages("refused"), sep="\n")
    print(f"\n{arguments.documents:,} documents, seed {seed}\n")
    print(*documents.table(("refused", "read", *bad)), sep="\n")
    found = sum(tally.total(verdict) for tally in (programs, documents) for verdict in bad)
    minutes = (time.monotonic() - start) / 60
    print(f"\n{found} findings; {minutes:.1f} minutes with {jobs} processes")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
