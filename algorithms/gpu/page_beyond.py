"""The page's section about rules that were tried, and what the card was seen to do."""

from __future__ import annotations

from mmsim.gpu.record import Record, Row
from mmsim_algorithms.gpu.beyond import BLOCKS, EXPERIMENT, IN_PART, JOINED, STRIDES
from mmsim_algorithms.gpu.kept import Results, number
from mmsim_algorithms.gpu.markdown import bullets, paragraph, short, table

TRIED = {
    "Reads that join": """the multiprocessors of a cluster ask the card's cache once, where some of
        their reads ask for the same sectors of a line while the first one is on its way: of the
        warps of a block, all of which read the same lines, up to four. With such a rule too many
        reads joined: warps of the machine stay closer together than those of the card. The plain
        matrix product was predicted much too fast.""",
    "A limit for lines written in part": """the card fills such lines, and writes them to memory,
        long before they have to make room. With a limit for each set, as the table shows it,
        permutations were filled too often, the shuffle and random ones of doubles above all, also
        when clusters took turns.""",
    "A warp that goes on as long as it can": """in the place of turns, it filled too seldom, and
        made bit reversal much too fast, also when clusters took turns. So did warps that
        are taken in their order. If a warp went on only after a request for few lines, the shuffle
        became too fast.""",
    "A time for each block that begins": """blocks that do nothing take the same time, however many
        threads they have, up to a size. With that time short launches were too slow and long ones
        no better.""",
}
"""Rules, and what came of them."""
READ, CROSSED = "lts__t_sectors_op_read.sum", "lts__t_sectors_srcunit_ltcfabric.sum"
FROM, TO = "dram__sectors_read.sum", "dram__sectors_write.sum"
ASKED = "l1tex__t_sectors_pipe_lsu_mem_global_op_"


def tried(results: Results) -> list[str]:
    """The section; nothing where the record isn't kept."""
    if EXPERIMENT not in results.records:
        return []
    record = results[EXPERIMENT]
    return [
        "### What was tried and left out\n",
        paragraph(
            """Each of these rules made the predictions above worse on the whole, though the tables
            below show that the card does what most of them say. Since clusters take turns, those of
            different sizes drift apart, as they do on the card; within a cluster the machine's
            warps still stay closer together than the card's. The predictions with these rules are
            not kept:"""
        ),
        bullets(f"*{name}*: {' '.join(text.split())}" for name, text in TRIED.items()),
        paragraph(
            """Warps read the same lines, each all of them in turn. Sectors that multiprocessors
            asked for, and those that the cache was asked for, crossings included:"""
        ),
        table(
            ("blocks", "warps of a block", "L1 sectors", "L2 sectors read", "crossings"),
            (
                _shown(row, "blocks", "warps of a block", f"{ASKED}ld.sum", READ, CROSSED)
                for row in _of(record, JOINED)
            ),
            texts=0,
        ),
        paragraph(
            """One word of each sector of an array is written, once, into an empty cache. What comes
            from memory fills a sector:"""
        ),
        table(
            ("MiB", "sectors", "from memory", "to memory"),
            (_shown(row, "MiB", f"{ASKED}st.sum", FROM, TO) for row in _of(record, IN_PART)),
            texts=0,
        ),
        paragraph("Launches of blocks that do nothing, in milliseconds:"),
        table(
            ("threads of a block", "blocks", "ms"),
            (_shown(row, "threads of a block", "blocks", "ms") for row in _of(record, BLOCKS)),
            texts=0,
        ),
        paragraph(
            """A word of each sector of an array is read once, by adjacent threads so many bytes
            apart. In turn a read asks for each sector of a line; farther apart each comes with
            another one that a later read asks for again, perhaps in vain. From some MiB on each
            lane has a page of its own, and the machine has to ask for all of them, too:"""
        ),
        table(
            ("bytes apart", "MiB", "ms"),
            (_shown(row, "bytes apart", "MiB", "ms") for row in _of(record, STRIDES)),
            texts=0,
        ),
    ]


def _of(record: Record, which: str) -> list[Row]:
    return [row for row in record.rows if row["number"] == which]


def _shown(row: Row, *fields: str) -> list[str]:
    """Counts as they are, times to three digits."""
    return [
        short(number(row, name)) if name == "ms" else f"{number(row, name):.0f}" for name in fields
    ]
