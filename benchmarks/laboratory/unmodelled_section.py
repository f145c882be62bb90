"""The page's section about rules that were tried, and the card's behaviour."""

from __future__ import annotations

from benchmarks.laboratory.predictions import ASKED
from benchmarks.laboratory.rendering import Columns, in_short, of_rows, render
from benchmarks.laboratory.unmodelled import BLOCKS, EXPERIMENT, IN_PART, JOINED, STRIDES
from mmsim_algorithms.gpu.kept import Results

TABLES: dict[str, tuple[str, Columns]] = {
    "joined": (
        JOINED,
        {
            "blocks": "blocks",
            "warps of a block": "warps of a block",
            "L1 sectors": f"{ASKED}ld.sum",
            "L2 sectors read": "lts__t_sectors_op_read.sum",
            "crossings": "lts__t_sectors_srcunit_ltcfabric.sum",
        },
    ),
    "in_part": (
        IN_PART,
        {
            "MiB": "MiB",
            "sectors": f"{ASKED}st.sum",
            "from memory": "dram__sectors_read.sum",
            "to memory": "dram__sectors_write.sum",
        },
    ),
    "blocks": (
        BLOCKS,
        {"threads of a block": "threads of a block", "blocks": "blocks", "ms": in_short("ms")},
    ),
    "strides": (
        STRIDES,
        {"bytes apart": "bytes apart", "MiB": "MiB", "ms": in_short("ms")},
    ),
}
"""The tables by their places in the template: whose rows, and the columns."""


def section(results: Results) -> str:
    """The section; nothing without a record."""
    if EXPERIMENT not in results.records:
        return ""
    rows = results[EXPERIMENT].rows
    tables = {
        name: of_rows((row for row in rows if row["number"] == which), columns, texts=0)
        for name, (which, columns) in TABLES.items()
    }
    return render("unmodelled", **tables)
