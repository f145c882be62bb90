"""The page's section about banks of 4 bytes: the counts of each kind of access."""

from __future__ import annotations

from mmsim.gpu.banks import METRIC
from mmsim.gpu.record import Row
from mmsim_algorithms.gpu.kept import Results, number
from mmsim_algorithms.gpu.markdown import count, paragraph, table

EXPERIMENT = "banks"


def banks(results: Results) -> list[str]:
    """The card's counts for patterns of addresses; nothing without a record."""
    if EXPERIMENT not in results.records:
        return []
    record = results[EXPERIMENT]
    facts = record.facts
    patterns, equal = (sum(int(number(row, field)) for row in record.rows) for field in PATTERNS)
    parts = [
        "## Banks of 4 bytes\n",
        paragraph(
            f"""The rule of [banks of 4 bytes](machines.md#banks-of-4-bytes) says how many stages
            one request takes, for each width and kind of access. On {str(facts["date"])[:10]}
            `{facts["command"]}` made {patterns:,} requests by
            {count(len(record.rows), "instruction")} on one {facts["device"]} (driver
            {facts["driver"]}, CUDA {facts["cuda"]}). Their addresses are strides, blocks,
            permutations, exclusive ors, random ones, and ones that lanes share, in pairs and
            otherwise; all lanes access, or some. The profiler counts the wavefronts of each,
            `{METRIC}`. In {equal:,} of {patterns:,} requests they are as many as the rule's
            stages."""
        ),
        table(
            ("instruction", "bytes a lane", "requests", "equal", "wavefronts", "stages"),
            map(_line, record.rows),
        ),
    ]
    return ["\n".join(parts)]


PATTERNS = ("patterns", "equal")


def _line(row: Row) -> tuple[str, ...]:
    numbers = (row[field] for field in ("bytes", *PATTERNS, "hardware", "model"))
    return (str(row["access"]), *map(str, numbers))
