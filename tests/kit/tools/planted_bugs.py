"""The table of planted bugs: what the checker finds of each, and what compute-sanitizer said.

    python -m tests.kit.tools.planted_bugs [docs]

Checks every bug and every twin anew, which takes seconds, prints docs/planted.md, and writes it
into the folder if there is one. What the tools of compute-sanitizer said comes from the kept
results of `tests/kit/cards/planted_on_gpu.py`, if there are any.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from mmsim import Schedule
from mmsim.api.report import Report
from mmsim.gpu.record import Record, Row
from mmsim.results import Finding, FoundAccess
from mmsim_algorithms.gpu.markdown import bullets, paragraph, table
from tests.kit import ROOT
from tests.kit.cards import TOOLS
from tests.kit.cards.planted_on_gpu import in_shared_memory, of_the_grid, tool_for
from tests.kit.planted import FILES, PAIRS, Pair, pairs_in

KEPT = ROOT / "benchmarks" / "results" / "gpu" / "planted.json"


# ------------------------------------------------------------ what is found


@dataclass(frozen=True)
class Checked:
    """A pair, what the checker found in the bug, and what it found in the twin by mistake."""

    pair: Pair
    findings: tuple[Finding, ...]
    alarms: tuple[Finding, ...]

    @property
    def found(self) -> bool:
        """Return whether the first finding is what was planted."""
        first = self.pair.finds[0]
        return any(one == first.finding(self.pair.bug, one.note) for one in self.findings)


@cache
def of_bug(pair: Pair) -> Report:
    """The report on a bug, under its schedule."""
    return pair.bug.check(pair.schedule)


@cache
def of_twin(pair: Pair, schedule: Schedule) -> Report:
    """The report on a twin, under one of the schedules that it is right under."""
    return pair.twin.check(schedule)


@cache
def checked(pair: Pair) -> Checked:
    """Check a pair: the bug under its schedule, the twin under all that it is right under."""
    alarms = [one for schedule in pair.clean for one in of_twin(pair, schedule).findings]
    return Checked(pair, of_bug(pair).findings, tuple(alarms))


def described(finding: Finding) -> str:
    """A finding in a cell of the table."""
    where = f" on `{finding.element}`" if finding.element else ""
    return f"{finding.title}{where}: " + ", ".join(map(_action, finding.accesses))


def _action(access: FoundAccess) -> str:
    who = "" if access.kind == "declaration" else f"thread {access.thread} in "
    return f"{who}line {access.line}" + ("" if access.time is None else f" at {access.time}")


# ------------------------------------------------------------ what the tools said


class Kept:
    """The kept verdicts of compute-sanitizer."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.rows: dict[tuple[str, str, str], Row] = {
            (str(row["program"]), str(row["variant"]), str(row["tool"])): row for row in record.rows
        }

    def row(self, pair: Pair, variant: str, tool: str | None) -> Row | None:
        """The row of a tool and a program; None if it wasn't run."""
        return self.rows.get((pair.name, variant, tool or ""))

    def verdict(self, pair: Pair, variant: str, tool: str | None) -> str:
        """ "found", "silent", "hangs", "failed", or "not run"."""
        row = self.row(pair, variant, tool)
        return "not run" if row is None else str(row["verdict"])

    def cell(self, pair: Pair) -> str:
        """Of each tool that said something of the bug, and what it said of the twin."""
        parts = []
        own = tool_for(pair)
        for tool in TOOLS:
            bug, twin = (self.verdict(pair, variant, tool) for variant in ("bug", "twin"))
            if tool == own or bug not in ("silent", "not run"):
                name = f"**{tool}**" if tool == own else tool
                parts.append(f"{name}: {bug}, twin {twin}")
        run = any(self.row(pair, "bug", tool) for tool in TOOLS)
        return "<br>".join(parts) or ("silent" if run else "not run")


def kept(file: Path = KEPT) -> Kept | None:
    """The kept verdicts; None if there are none."""
    return Kept(Record.read(file)) if file.exists() else None


# ------------------------------------------------------------ the page


def page(known: Kept | None) -> str:
    """docs/planted.md."""
    results = [checked(pair) for pair in PAIRS]
    by_name = {one.pair.name: one for one in results}
    return "\n".join(
        (
            "# Planted bugs\n",
            "<!-- `make planted` makes this page from `tests/kit/planted`; change that. -->\n",
            paragraph(_overview(results)),
            paragraph(
                """`make planted` checks them all anew and makes this page.
                `tests/monitors/test_planted.py` holds the checker to every field of every finding:
                kind, array, index, threads, lines, the number of elements, and the times where they
                were worked out by hand.
                [The checker](checker.md) says by which rules it finds them. A time is that of the
                request's dispatch."""
            ),
            "## Compared with compute-sanitizer\n",
            *_beside(known),
            *(_section(file, by_name, known) for file in FILES),
        )
    )


def _overview(results: list[Checked]) -> str:
    found = sum(one.found for one in results)
    alarms = sum(bool(one.alarms) for one in results)
    schedules = sum(len(one.pair.clean) for one in results)
    return f"""{len(results)} programs with one mistake each, as students and programmers of GPUs
        make them, each with a twin without it. [The checker](checker.md) finds
        {found} of the {len(results)} as they were planted, and raises a false alarm at {alarms} of
        the {len(results)} twins, in {schedules} checks of them."""


def _section(file: ModuleType, by_name: dict[str, Checked], known: Kept | None) -> str:
    name = file.__name__.rpartition(".")[2]
    head = ["bug", "what is wrong", "what is found", "twin"]
    if known is not None:
        head.append("compute-sanitizer")
    rows = []
    for pair in pairs_in(file):
        one = by_name[pair.name]
        row = [
            f"`{pair.name}`",
            pair.story,
            "<br>".join(map(described, one.findings)) or "nothing",
            "<br>".join(map(described, one.alarms)) or "clean",
        ]
        rows.append([*row, *([] if known is None else [known.cell(pair)])])
    about = (file.__doc__ or "").strip().rstrip(".")
    link = f"[`{name}.py`](../tests/kit/planted/{name}.py)"
    return "\n".join(
        (f"## {about}\n", paragraph(f"Lines are those of {link}."), table(head, rows, len(head)))
    )


def _beside(known: Kept | None) -> Iterator[str]:
    """Say in words what compute-sanitizer says of the same programs."""
    of_a_tool = {tool: [pair for pair in PAIRS if tool_for(pair) == tool] for tool in TOOLS}
    covered = sum(map(len, of_a_tool.values()))
    yield paragraph(
        f"""A GPU can run the same programs, written as CUDA C, under NVIDIA's compute-sanitizer.
        Its tools look for {covered} of the {len(PAIRS)} mistakes: memcheck for
        {len(of_a_tool["memcheck"])} indices out of range, racecheck for
        {len(of_a_tool["racecheck"])} races, lost updates and missing syncs in shared memory,
        initcheck for
        {len(of_a_tool["initcheck"])} reads of uninitialized global memory, synccheck for
        {len(of_a_tool["synccheck"])} divergent barriers. No tool looks for the others:
        {_others()}."""
    )
    if known is None:
        yield paragraph(
            """What the tools say wasn't measured yet: `tests/kit/cards/planted_on_gpu.py` measures
            it on a machine with a GPU, CuPy and compute-sanitizer."""
        )
        return
    record = known.record
    facts = record.facts
    later = sum(one["runs"] for one in facts.get("added", ()))
    yield paragraph(
        f"""What they said on one {facts["device"]} (driver {facts["driver"]}, compute-sanitizer
        {facts["sanitizer"]}) on {str(facts["date"])[:10]}, by `{facts["command"]}`, in
        {len(record.rows) - later} runs of one launch each{_added(record)}. A tool *found* something
        if its summary counts a mistake; what had to be ended *hangs*; *failed* is a run without a
        summary. In the tables the tool of the mistake's own kind is bold, and others are named
        where they said something.
        The generated kernels check no index, clear no shared array, and let the threads of a warp
        go as the card lets them."""
    )
    yield table(
        (
            *("tool", "bugs of its kind", "found", "hangs", "not found", "twins", "silent"),
            "not silent",
        ),
        (_tally(known, tool, pairs) for tool, pairs in of_a_tool.items()),
    )
    yield _differences(known, of_a_tool)


def _added(record: Record) -> str:
    """The runs that were added to a record later, with their date and command."""
    return "".join(
        f""", and on {one["date"][:10]}, by `{one["command"]}`, in {one["runs"]} more, of programs
        that joined since"""
        for one in record.facts.get("added", ())
    )


def _others() -> str:
    counts: dict[str, int] = {}
    for pair in PAIRS:
        if tool_for(pair) is None:
            where = ""
            if of_the_grid(pair):
                where = " of the grid"
            elif pair.kind in ("race", "beside-atomic", "lost-update", "unwritten", "warp-sync"):
                where = " in shared memory" if in_shared_memory(pair) else " in global memory"
            counts[pair.kind + where] = counts.get(pair.kind + where, 0) + 1
    return ", ".join(f"{number} of kind {kind}" for kind, number in counts.items())


def _tally(known: Kept, tool: str, pairs: list[Pair]) -> list[str]:
    bugs = [known.verdict(pair, "bug", tool) for pair in pairs]
    twins = [known.verdict(pair, "twin", tool) for pair in pairs]
    bugs, twins = ([one for one in verdicts if one != "not run"] for verdicts in (bugs, twins))
    found, hangs, silent = bugs.count("found"), bugs.count("hangs"), twins.count("silent")
    numbers = (len(bugs), found, hangs, len(bugs) - found - hangs, len(twins), silent)
    return [f"`{tool}`", *map(str, numbers), str(len(twins) - silent)]


def _differences(known: Kept, of_a_tool: dict[str, list[Pair]]) -> str:
    """List where a tool of the mistake's kind differs from the checker, and what others said."""
    missed, alarms, beyond = [], [], []
    for pair in PAIRS:
        own = tool_for(pair)
        for tool in TOOLS:
            bug, twin = known.row(pair, "bug", tool), known.row(pair, "twin", tool)
            if tool == own and bug is not None and bug["verdict"] != "found":
                missed.append(_told(bug))
            if twin is not None and twin["verdict"] != "silent":
                alarms.append(_told(twin))
            if tool != own and bug is not None and bug["verdict"] != "silent":
                beyond.append(_told(bug))
    parts = [
        _listed("Bugs that the checker finds and the tool of their kind doesn't", missed),
        _listed("Twins that are clean for the checker and not for a tool", alarms),
        _listed("Bugs of which another tool said something", beyond),
    ]
    return "\n".join(parts)


def _told(row: Row) -> str:
    message = f": {row['message']}" if row["message"] else ""
    return f"`{row['program']}` under {row['tool']} ({row['verdict']}){message}"


def _listed(title: str, items: Iterable[str]) -> str:
    listed = list(items)
    return paragraph(f"{title}: {len(listed) or 'none'}.") + (
        "\n" + bullets(listed) if listed else ""
    )


# ------------------------------------------------------------ the command


def main(argv: list[str] | None = None) -> None:
    """Print the page, and write it."""
    parser = argparse.ArgumentParser(description="Check the planted bugs, and print the table.")
    parser.add_argument("folder", nargs="?", type=Path, help="where planted.md goes")
    asked = parser.parse_args(argv)
    text = page(kept())
    print(text, end="")
    if asked.folder is not None:
        (asked.folder / "planted.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
