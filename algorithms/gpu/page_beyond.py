"""The page's section about rules that were tried, and the card's behaviour."""

from __future__ import annotations

from mmsim.gpu.record import Record, Row
from mmsim_algorithms.gpu.beyond import BLOCKS, EXPERIMENT, IN_PART, JOINED, STRIDES
from mmsim_algorithms.gpu.kept import Results, number
from mmsim_algorithms.gpu.markdown import bullets, paragraph, short, table

TRIED = {
    "Reads that join": """reads of a cluster's multiprocessors may ask for the same sectors of a
        line while the first one is under way. Then the cluster asks the card's cache only once. Of
        a block's warps, which all read the same lines, up to four join. With such a rule too many
        reads joined: the machine's warps stay closer together than the card's. The predicted time
        of the plain matrix product was much too short.""",
    "A limit for lines written in part": """the card fills such lines, and writes them to memory,
        long before they have to make room. With a limit for each set, as in the table, the machine
        filled too often, in the shuffle and the random permutations of doubles above all, also when
        clusters took turns.""",
    "A warp that goes on as long as it can": """instead of turns of the warps. The machine filled
        too seldom, and bit reversal became much too fast, also when clusters took turns. Warps in
        their order had the same effect. If a warp continued only after a request for few lines, the
        shuffle became too fast.""",
    "A time for each block that begins": """blocks that do nothing take the same time for any number
        of threads up to a limit. With that time short launches were too slow and long ones no
        better.""",
}
"""Rules and their effects."""
READ, CROSSED = "lts__t_sectors_op_read.sum", "lts__t_sectors_srcunit_ltcfabric.sum"
FROM, TO = "dram__sectors_read.sum", "dram__sectors_write.sum"
ASKED = "l1tex__t_sectors_pipe_lsu_mem_global_op_"


def tried(results: Results) -> list[str]:
    """The section; nothing without a record."""
    if EXPERIMENT not in results.records:
        return []
    record = results[EXPERIMENT]
    return [
        "### What was tried and left out\n",
        paragraph(
            """Each of these rules made the predictions above worse on the whole, although the card
            follows most of them, as the tables below show. Clusters take turns, so clusters of
            different sizes drift apart, as they do on the card. Within a cluster the machine's
            warps still stay closer together than the card's. The predictions with these rules are
            not kept:"""
        ),
        bullets(f"*{name}*: {' '.join(text.split())}" for name, text in TRIED.items()),
        paragraph(
            """Each warp reads all of the same lines in turn. The table has the sectors that
            multiprocessors asked for, and the sectors that reached the cache, crossings
            included:"""
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
            """Threads write one word of each sector of an array, once, into an empty cache. The
            sectors from memory fill these:"""
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
            """Threads read a word of each sector of an array once, adjacent threads the given
            number of bytes apart. At the least distance a read asks for each sector of a line. At
            larger distances each sector comes with another one; a later read asks for that one,
            perhaps too late. From some MiB on each lane has its own page, and the machine has to
            ask for all of them, too:"""
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
    """Show counts in full, and times to three digits."""
    return [
        short(number(row, name)) if name == "ms" else f"{number(row, name):.0f}" for name in fields
    ]
