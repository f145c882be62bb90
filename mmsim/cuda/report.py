"""The cost of all launches of a process, kernel by kernel."""

from __future__ import annotations

import html as html_text
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from mmsim.cuda.launches import Launched, history
from mmsim.cuda.stepping import player
from mmsim.errors import MMSimError
from mmsim.printable import counted, printable
from mmsim.results import Finding, Profile
from mmsim.results.findings import merge
from mmsim.results.report import looked_for
from mmsim.view import html
from mmsim.view.look import page_style
from mmsim.view.tables import Column, Table, findings_table, table_html

SMALL = 1 << 11
"""The most requests of warps in a launch that a page shows step by step."""
NUMBERS = ("launches", "threads", "time")

WORDS = {
    "shared": ("bank conflicts", "shared memory has no bank conflict"),
    "global": ("uncoalesced accesses", "global memory is coalesced"),
}
"""The name of the waste of a memory, and the text for a memory without waste."""
CONTENTION = "atomics that wait for each other"
SCOPE = looked_for("asynchronous", thorough=False)
UNCHECKED = (
    "Not checked: `mmsim cuda --check` looks for races and missing syncs in all launches of a "
    "program, machine.check in one."
)


@dataclass
class Cost:
    """Stages of a memory, those beyond the least possible, and those of these that atomics take."""

    stages: int = 0
    wasted: int = 0
    contended: int = 0


@dataclass
class KernelReport:
    """All launches of one kernel.

    `threads` and `time` (time units) are sums over the launches. `memories` are "global" and
    "shared" on an HMM. `worst_line` is the line that wastes the most stages, 0 if none does.
    `findings` counts the findings of different lines, `checked` the checked launches.
    """

    kernel: str
    file: str
    line: int
    launches: int = 0
    threads: int = 0
    time: int = 0
    memories: dict[str, Cost] = field(default_factory=dict)
    worst_line: int = 0
    worst_text: str = ""
    worst_wasted: int = 0
    findings: int = 0
    checked: int = 0


@dataclass
class _Kept:
    """The part of a report on one kernel: its row, its first launch, the waste of each line."""

    row: KernelReport
    first: Launched
    wasted: Counter[tuple[str, int]] = field(default_factory=Counter)
    found: tuple[Finding, ...] = ()


class Report:
    """The launches of this process since `listen`, kernel by kernel."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str, int], _Kept] = {}
        self._texts: dict[tuple[str, int], str] = {}

    @property
    def kernels(self) -> list[KernelReport]:
        """The row of each kernel, in the order of their first launches."""
        return [kept.row for kept in self._kept.values()]

    @property
    def findings(self) -> list[Finding]:
        """The findings, kernel by kernel; those of the same lines in several launches are one."""
        return [finding for kept in self._kept.values() for finding in kept.found]

    def listen(self, check: bool = False) -> None:
        """Count all launches from now on, and `check` them too."""
        history.check = check
        history.listeners.append(self.count)

    def count(self, launched: Launched) -> None:
        """Add a launch."""
        run = launched.run
        source = run.sources[0]
        key = source.function, source.file, source.first
        kept = self._kept.setdefault(key, _Kept(KernelReport(*key), launched))
        row = kept.row
        row.launches += 1
        row.threads += run.threads
        row.time += run.time
        for access in run.accesses:
            cost = row.memories.setdefault(access.space, Cost())
            cost.stages += access.stages
            cost.wasted += access.wasted
            cost.contended += access.wasted if access.kind == "atomic" else 0
            kept.wasted[access.file, access.line] += access.wasted
        kept.found = merge([kept.found, run.findings]) or ()
        row.findings = len(kept.found)
        row.checked += run.findings is not None
        for source in run.sources:
            for offset, text in enumerate(source.lines):
                self._texts[source.file, source.first + offset] = text.strip()
        if kept.wasted.total():
            place, row.worst_wasted = kept.wasted.most_common(1)[0]
            row.worst_line, row.worst_text = place[1], self._texts.get(place, "")

    def table(self) -> Table:
        """A row for each kernel."""
        spaces = sorted({space for row in self.kernels for space in row.memories})
        columns = [Column("kernel", False), *(Column(name) for name in NUMBERS)]
        for space in spaces:
            columns += [Column(f"{space} stages"), Column(f"{space} wasted")]
        columns += [Column("line that wastes the most", False), Column("findings")]
        launches = sum(row.launches for row in self.kernels)
        time = sum(row.time for row in self.kernels)
        return Table(
            f"{counted(launches, 'launch', 'launches')} of {counted(len(self.kernels), 'kernel')}: "
            f"{counted(time, 'time unit')}",
            tuple(columns),
            tuple(tuple(map(printable, self._cells(row, spaces))) for row in self.kernels),
        )

    def _cells(self, row: KernelReport, spaces: Sequence[str]) -> list[str]:
        cells = [f"{row.kernel} ({Path(row.file).name}:{row.line})"]
        cells += [str(getattr(row, name)) for name in NUMBERS]
        for space in spaces:
            cost = row.memories.get(space, Cost())
            cells += [str(cost.stages), str(cost.wasted)]
        worst = f"{row.worst_line}: {row.worst_text}" if row.worst_line else ""
        return [*cells, worst, str(row.findings) if history.check else ""]

    def tables(self) -> list[Table]:
        """The table of kernels, and the table of findings if there are any."""
        found = [findings_table(self.findings)] if self.findings else []
        return [self.table(), *found]

    def verdict(self, row: KernelReport) -> str:
        """A paragraph about a kernel: conflicts, what was found, what was not looked for."""
        checked = row.checked == row.launches
        return f"{self._costs_and_findings(row)} {SCOPE if checked else UNCHECKED}"

    def _costs_and_findings(self, row: KernelReport) -> str:
        name = f"{row.kernel} ({Path(row.file).name}:{row.line})"
        launches = counted(row.launches, "launch", "launches")
        launches += f", {counted(row.threads, 'thread')}"
        waste_last = sorted(row.memories.items(), key=lambda one: (one[1].wasted > 0, one[0]))
        costs = [_of_memory(space, cost) for space, cost in waste_last]
        worst = f", most of it in line {row.worst_line}" if row.worst_line else ""
        text = f"{name}, {launches}: {'; '.join(costs) or 'no access to memory'}{worst}."
        if row.checked < row.launches:
            return text
        kinds = Counter(one.title for one in self._kept[row.kernel, row.file, row.line].found)
        found = ", ".join(f"{title} ({count})" for title, count in kinds.items())
        return f"{text} {f'Found: {found}' if found else 'Nothing found'}."

    def verdicts(self) -> list[str]:
        """If launches are checked, the costs and findings of each kernel, and the check's scope."""
        if not (history.check and self.kernels):
            return []
        return [*map(self._costs_and_findings, self.kernels), SCOPE]

    def profiles(self) -> list[Profile]:
        """The cost of each line in the first launch of each kernel."""
        return [kept.first.run.profile() for kept in self._kept.values()]

    def to_json(self) -> str:
        """All rows with their verdicts, and the findings as text."""
        rows = [{**asdict(row), "verdict": self.verdict(row)} for row in self.kernels]
        found: list[Any] = [str(finding) for finding in self.findings]
        return json.dumps({"kernels": rows, "findings": found}, indent=1)

    def to_html(self) -> str:
        """A page: the tables, and the first launch of each kernel, step by step or by line."""
        parts = [_scrolled(table_html(table)) for table in self.tables()]
        for row in self.kernels:
            first = self._kept[row.kernel, row.file, row.line].first
            title = html_text.escape(f"{row.kernel}, first launch: {first.run.threads} threads")
            verdict = re.sub("`(.*?)`", r"<code>\1</code>", html_text.escape(self.verdict(row)))
            parts += [f"<section>\n<h2>{title}</h2>", f'<p class="verdict">{verdict}</p>']
            parts += [
                _scrolled(html(first.run.profile())),
                _player(row.kernel, first),
                "</section>",
            ]
        page = (resources.files("mmsim.cuda") / "report.html").read_text(encoding="utf-8")
        return page.replace("{{STYLE}}", page_style()).replace("{{PARTS}}", "\n".join(parts))


def _scrolled(table: str) -> str:
    """A table that scrolls by itself where the page is narrow."""
    return f'<div class="table">{table}</div>'


def verdict(launched: Launched) -> str:
    """The verdict of one launch, for `kernel.verdict()`.

    >>> import numpy as np
    >>> from mmsim import cuda
    >>> @cuda.jit
    ... def fill(a):
    ...     a[cuda.grid(1)] = 1
    >>> fill[2, 32](np.zeros(64))
    >>> fill.verdict().partition(", ")[2].partition(". ")[0]
    '1 launch, 64 threads: global memory is coalesced'
    """
    report = Report()
    report.count(launched)
    return report.verdict(report.kernels[0])


def _of_memory(space: str, cost: Cost) -> str:
    """Describe in words whether the accesses to a memory conflict.

    >>> _of_memory("shared", Cost(62, 31)), _of_memory("global", Cost(10, 0))
    ('bank conflicts take 31 of 62 stages of shared memory', 'global memory is coalesced')
    >>> _of_memory("shared", Cost(62, 31, 31))
    'atomics that wait for each other take 31 of 62 stages of shared memory'
    """
    name = "memory" if space == "memory" else f"{space} memory"
    trouble, well = WORDS.get(space, ("conflicts", f"{name} has no conflict"))
    parts = {trouble: cost.wasted - cost.contended, CONTENTION: cost.contended}
    texts = [f"{part} take {count}" for part, count in parts.items() if count]
    return f"{' and '.join(texts)} of {cost.stages} stages of {name}" if texts else well


def _player(kernel: str, launched: Launched) -> str:
    """The player of a small launch; for a larger one, how to see it."""
    if launched.run.requests <= SMALL:
        try:
            return player(kernel, launched)._repr_html_()
        except MMSimError as error:
            return f"<p>{html_text.escape(str(error))}</p>"
    name = html_text.escape(kernel)
    how = f"{name}.player() after the launch" if launched.before else "with cuda.trace(): around it"
    return (
        f"<p>Not shown step by step: {launched.run.requests} requests of warps are more than "
        f"{SMALL}. Launch it smaller, or write {how}.</p>"
    )
