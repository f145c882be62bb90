"""The page's sections about counters, banks, tiles, the field's algorithms and random programs."""

from __future__ import annotations

import re
from collections import Counter

from benchmarks.laboratory.rendering import Columns, in_short, of_rows, render
from benchmarks.laboratory.tile_cases import CASES, Case
from mmsim.gpu.counting import METRICS
from mmsim.gpu.record import Record, Row
from mmsim.reports.gpu import error
from mmsim_algorithms.gpu import banks as counted_banks
from mmsim_algorithms.gpu import comparisons, field_tables
from mmsim_algorithms.gpu.kept import FOLDER, Results, number, pick, values
from mmsim_algorithms.gpu.markdown import signed, table
from mmsim_algorithms.gpu.permuting import WARP

SAID = FOLDER.parent / "tensor-layouts.json"
"""tensor-layouts' counts, from `python -m benchmarks.laboratory.tiles --tensor-layouts`."""
NEAR = 0.1


def counters(results: Results) -> str:
    """The card's counts of the papers' programs, compared with the model."""
    record = results["counters"]
    kinds = [f"{kind}s" for kind in values(record.rows, "kind")]
    reasons = Counter(
        re.sub(r"^\d+ blocks", "several blocks", reason)
        for reason in record.facts["left out"].values()
    )
    return render(
        "counters",
        whose="registered" if "atomics" in kinds else "papers'",  # which have no atomics
        warp=WARP,
        kinds=kinds,
        metrics=[
            f"`{metric}`"
            for (memory, kind), metric in METRICS.items()
            if pick(record.rows, memory=memory, kind=kind)
        ],
        verdicts=comparisons.verdicts(record),
        left_out=sum(reasons.values()),
        reasons=reasons,
    )


def banks(results: Results) -> str:
    """The card's counts for patterns of addresses; nothing without a record."""
    if "banks" not in results.records:
        return ""
    record = results["banks"]
    columns = {
        **{"instruction": "access", "bytes a lane": "bytes", "requests": "patterns"},
        **{"equal": "equal", "wavefronts": "hardware", "stages": "model"},
    }
    return render(
        "banks",
        facts=record.facts,
        patterns=sum(int(number(row, "patterns")) for row in record.rows),
        equal=sum(int(number(row, "equal")) for row in record.rows),
        instructions=len(record.rows),
        metric=counted_banks.METRIC,
        table=of_rows(record.rows, columns),
    )


def tiles(results: Results) -> str:
    """Fifty tiles by the card, by mmsim and by tensor-layouts; nothing without a record."""
    if "tiles" not in results.records:
        return ""
    record, theirs = results["tiles"], Record.read(SAID)
    card, ways, phases = (
        dict(zip(CASES, (row[field] for row in of.rows), strict=True))
        for of, field in ((record, "hardware"), (theirs, "ways"), (theirs, "by phases"))
    )

    def names(cases: list[Case]) -> list[str]:
        return [f'"{case.name}"' for case in cases]

    head = (
        *("access", "layout", "threads and values", "bytes"),
        *("tensor-layouts, ways", "mmsim, stages", "card, wavefronts", "least"),
    )
    lines = [
        (
            *(case.name, f"`{case.layout}`", f"`{case.access}`", str(case.size)),
            *(str(ways[case]), str(case.answer.stages)),
            *(str(card[case]), str(case.answer.least)),
        )
        for case in CASES
    ]
    return render(
        "tiles",
        cases=len(CASES),
        date=record.facts["date"],
        version=theirs.facts["version"],
        own=sum(case.answer.stages == card[case] for case in CASES),
        others=names([case for case in CASES if ways[case] != card[case]]),
        called=names(
            [case for case in CASES if ways[case] != 1 and card[case] == case.answer.least]
        ),
        paired=names([case for case in CASES if phases[case] != card[case]]),
        table=table(head, lines, texts=3),
    )


def field(results: Results) -> str:
    """Measured and predicted times of the field's algorithms; nothing without a record."""
    if "FIELD" not in results.records:
        return ""
    record = results["FIELD"]
    rows = record.rows

    def off(row: Row) -> float:
        return error(row) or 0.0

    columns: Columns = {
        "program": lambda row: f"`{row['program']}`",
        "memory": "memory",
        "threads": lambda row: f"{row['threads']:,}",
        "unit": "unit",
        "measured": in_short("measured"),
        "predicted": in_short("predicted"),
        "error": lambda row: signed(off(row)),
    }
    return render(
        "field",
        date=record.facts["date"],
        rows=rows,
        repeat=field_tables.REPEAT,
        close=sum(abs(off(row)) <= NEAR for row in rows),
        near=NEAR,
        shared=pick(rows, memory="shared"),
        far=pick(rows, memory="global"),
        slow=sum(off(row) < -0.5 for row in pick(rows, memory="shared")),
        table=of_rows(rows, columns, texts=2),
    )


def random_programs(results: Results) -> str:
    """The card's results of random programs, compared with the simulator."""
    record = results["random-programs"]
    rows = record.rows
    threads, blocks = (max(int(row[one] or 0) for row in rows) for one in ("threads", "blocks"))
    said = ((f"`{tool}`", text) for tool, text in record.facts["sanitizer"].items())
    return render(
        "random_programs",
        programs=len(values(rows, "number")),
        launches=len(rows),
        spaces=[
            f"{len(pick(rows, space=space))} in {space} memory" for space in values(rows, "space")
        ],
        threads=threads,
        blocks=blocks,
        equal=sum(bool(row["equal"]) for row in rows),
        table=table(("tool", "verdict"), said, texts=2),
    )
