"""The page's section about rules that were tried, and the card's behaviour."""

from __future__ import annotations

from benchmarks.laboratory.rendering import render
from benchmarks.laboratory.unmodelled import BLOCKS, EXPERIMENT, IN_PART, JOINED, STRIDES
from mmsim.gpu.record import Row
from mmsim_algorithms.gpu.kept import Results, number
from mmsim_algorithms.gpu.markdown import short, table

ASKED = "l1tex__t_sectors_pipe_lsu_mem_global_op_"
COLUMNS = {
    JOINED: {
        "blocks": "blocks",
        "warps of a block": "warps of a block",
        "L1 sectors": f"{ASKED}ld.sum",
        "L2 sectors read": "lts__t_sectors_op_read.sum",
        "crossings": "lts__t_sectors_srcunit_ltcfabric.sum",
    },
    IN_PART: {
        "MiB": "MiB",
        "sectors": f"{ASKED}st.sum",
        "from memory": "dram__sectors_read.sum",
        "to memory": "dram__sectors_write.sum",
    },
    BLOCKS: {one: one for one in ("threads of a block", "blocks", "ms")},
    STRIDES: {one: one for one in ("bytes apart", "MiB", "ms")},
}
"""The columns of each table, and their fields."""


def section(results: Results) -> str:
    """The section; nothing without a record."""
    if EXPERIMENT not in results.records:
        return ""
    rows = results[EXPERIMENT].rows
    joined, in_part, blocks, strides = (
        table(
            list(columns),
            ([_shown(row, field) for field in columns.values()] for row in rows if of(row, which)),
            texts=0,
        )
        for which, columns in COLUMNS.items()
    )
    return render("unmodelled", joined=joined, in_part=in_part, blocks=blocks, strides=strides)


def of(row: Row, which: str) -> bool:
    """Return whether a row is of this kind."""
    return row["number"] == which


def _shown(row: Row, field: str) -> str:
    """Show counts in full, and times to three digits."""
    return short(number(row, field)) if field == "ms" else f"{number(row, field):.0f}"
