"""Print docs/numba-suite.md, from the kept outcomes of numba-cuda's tests.

    .venv/bin/python -m tests.kit.numba_suite.page benchmarks/results/numba-suite.json

Each test that doesn't pass stands under the one reason that `reasons.py` finds for it.
"""

import json
import sys
from collections import defaultdict
from itertools import groupby
from pathlib import Path

from tests.kit.numba_suite.reasons import REASONS, why
from tests.kit.numba_suite.run import simulator_passes, table

HEAD = """\
# numba-cuda's own tests on mmsim

<!-- Made by `make numba` from benchmarks/results/numba-suite.json; do not edit. -->

numba-cuda {numba-cuda} carries its tests with it. The files of its folders `cudapy` and
`doc_examples` ran as they are in the installed package, with mmsim in the place of numba-cuda's
simulator. Tests that are skipped under the simulator ran too. Run of {date}: Python {Python},
mmsim {memory-machine-simulator}, Numba {numba}, NumPy {numpy}. `{command}` repeats it and makes
this page.

Of the {listed} tests that pass under the simulator, **{listed_passed} pass**; of the others,
**{more_passed}**.

{without_launch} of those that pass launch no kernel on mmsim. They are about device arrays,
streams, types and launches that are refused, or about parts of numba-cuda that the simulator
leaves alone too, as in `test_ir.py` and `test_typeinfer.py`; and {elsewhere} of them run their
kernels in a process that they start themselves, where the simulator stays. The last two kinds say
nothing about mmsim.

"""

HEADS = (
    *("file", "the simulator passes", "of these pass", "others pass", "without a launch"),
    "don't pass",
)

REASON = """\
## What doesn't pass, and why

{count} tests, each under the first reason that applies. The numbers: how many of those that the
simulator passes (bold in the lists), and how many of the others.

| reason | of the simulator's | of the others |
| --- | ---: | ---: |
"""

NO_REASON = "No reason is known"


def page(kept):
    """The page of the outcomes kept."""
    outcomes, listed = kept["outcomes"], set(simulator_passes())
    rows = table(outcomes, listed)
    sums = {key: sum(row[key] for row in rows) for key in rows[0] if key != "file"}
    made = kept["made"]
    parts = [HEAD.format(**sums, **made, **made["versions"])]
    parts += ["## File by file\n\n", f"| {' | '.join(HEADS)} |\n", f"| --- {'| ---: ' * 5}|\n"]
    for row in [*rows, {"file": "**all**", **sums}]:
        names = ("listed", "listed_passed", "more_passed", "without_launch")
        others = sum(
            one["outcome"] != "passed"
            for name, one in outcomes.items()
            if row["file"] in (name.split("::")[0], "**all**")
        )
        parts.append(
            f"| {row['file']} | {' | '.join(str(row[key]) for key in names)} | {others} |\n"
        )
    found = by_reason(outcomes)
    count = sum(map(len, found.values()))
    parts.append("\n" + REASON.format(count=count))
    for reason, title in {**REASONS, None: NO_REASON}.items():
        names = [name for (one, _), tests in found.items() if one == reason for name in tests]
        if names:
            own = sum(name in listed for name in names)
            parts.append(f"| {title} | {own} | {len(names) - own} |\n")
    for reason, title in {**REASONS, None: NO_REASON}.items():
        sections = {part: tests for (one, part), tests in found.items() if one == reason}
        if sections:
            parts.append(f"\n### {title}\n")
        for part, tests in sorted(sections.items()):
            parts.append(f"\n{part[0].upper()}{part[1:]}:\n\n" if part else "\n")
            parts.append(listing(tests, listed))
    return "".join(parts)


def by_reason(outcomes):
    """The names of the tests that don't pass, by reason and part; by (None, "") without one."""
    found = defaultdict(list)
    for name, one in sorted(outcomes.items()):
        if one["outcome"] != "passed":
            found[why(name, one) or (None, "")].append(name)
    return found


def listing(tests, listed):
    """The tests, a point for each file; those that the simulator passes in bold."""
    points = []
    for file, names in groupby(sorted(tests), key=lambda name: name.split("::")[0]):
        shown = []
        for name in names:
            short = name.partition("::")[2].replace("::", ".")
            shown.append(f"**{short}**" if name in listed else short)
        points.append(f"- {file}: {', '.join(shown)}\n")
    return "".join(points)


if __name__ == "__main__":
    print(page(json.loads(Path(sys.argv[1]).read_text("utf-8"))), end="")
