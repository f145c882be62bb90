"""The page's section about casual access to global memory."""

from __future__ import annotations

from collections.abc import Sequence

from mmsim.gpu.calibrated import Calibration
from mmsim.gpu.record import Row
from mmsim.gpu.words import WORD_BYTES
from mmsim_algorithms.gpu.kept import (
    CONVENTIONAL,
    NEAR,
    SECTOR,
    explained,
    factor,
    number,
    pick,
    sectors_of_an_access,
    time_with_sectors,
    values,
    word_bytes,
)
from mmsim_algorithms.gpu.markdown import bullets, listed, paragraph, percent
from mmsim_algorithms.gpu.page_rows import LARGE, named, plain, sizes
from mmsim_algorithms.gpu.permuting import WARP

MEDIUM = 1024
"""From here on a casual access's own cost can be distinguished from that of the launch."""


def section(rows: Sequence[Row], calibration: Calibration) -> str:
    """The cost of casual access on the card, compared with the model's charge."""
    casual = [row for row in rows if not row["coalesced"]]
    large = [row for row in casual if number(row, "sqrt n") >= LARGE]
    source = pick(casual, algorithm="S-designated")
    near = [row for row in source if explained(row, calibration)]
    by_algorithm = [
        f"{min(map(factor, own)):.2f} to {max(map(factor, own)):.2f} for {one}"
        for one in CONVENTIONAL
        for own in (pick(large, algorithm=one),)
    ]
    charged = WARP * WORD_BYTES // SECTOR
    largest = max(casual, key=lambda row: number(row, "sqrt n"))
    worst = max(large, key=lambda row: sectors_of_an_access(row, calibration))
    first_large = min(number(row, "sqrt n") for row in large)
    return "\n".join(
        (
            "### Casual cells\n",
            paragraph(
                f"""Random, bit reversal and transpose send the words of a warp to as many address
                groups. Here the model doesn't predict today's card: at √n = {LARGE} and more
                predicted/measured is {listed(by_algorithm)}. The table above has all factors. The
                results have only times, so this page doesn't measure the reasons. These are known
                of such cards:"""
            ),
            reasons(first_large),
            paragraph(
                f"""The next table has the time of one casual access, in units of a sector's time (a
                quarter of `group_ps`). This is the measured time less the launch and the two plain
                rounds, divided by n. The model charges an address group, {charged} sectors. Below
                √n = {MEDIUM} the launch and the latency hide it."""
            ),
            sectors(rows, calibration),
            paragraph(
                f"""The most expensive is {named(worst)} at √n = {worst["sqrt n"]}, with
                {sectors_of_an_access(worst, calibration):.1f} sectors. Less than one sector for a
                read suggests that warps find in a cache the sectors that others fetched. Two
                sectors for a read are the 64 bytes above. {_more_than_two(source, calibration)}"""
            ),
            paragraph(
                f"""If each casual read cost one sector, S-designated would take `group_ps` · (n/32
                · (1 + bytes/4) + n/4) and one launch. The next table has this time divided by the
                card's, in bold where the two are within {percent(NEAR)} of each other:"""
            ),
            with_sectors(rows, calibration),
            paragraph(
                f"""It is within {percent(NEAR)} in {len(near)} of {len(source)} cells.
                {_where_not(source, calibration)} It leaves out the launch's latency, which is most
                of the time at the smallest sizes. So this explains some cells, but it is not a
                machine: it has no cache and no memory page. At √n = {number(largest, "sqrt n"):.0f}
                it is between {_range(pick(source, sqrt_n=largest["sqrt n"]), calibration)} times
                the card's time."""
            ),
        )
    )


def reasons(side: float) -> str:
    """The known facts of casual access on such cards, with an array that long as an example."""
    return bullets(
        (
            f"""The card reads sectors of {SECTOR} bytes. A casual read costs a quarter of an
            address group and not a whole one, for a long word and for a short one.""",
            """The second-level cache merges adjacent writes before it sends them to the memory. If
            only part of a sector is written, the cache has to read the sector from the memory
            first.""",
            f"""Random access to an array larger than that cache fetches 64 bytes from the memory,
            two sectors, for each word. At √n = {side:.0f} an array of floats has
            {_mebibytes(side, "float")} MiB, an array of doubles {_mebibytes(side, "double")}
            MiB.""",
        )
    )


def sectors(rows: Sequence[Row], calibration: Calibration) -> str:
    """The time of one casual access, in sectors."""
    casual = [row for row in rows if not row["coalesced"]]
    medium = [side for side in values(casual, "sqrt n") if side >= MEDIUM]
    return sizes(casual, medium, lambda row: f"{sectors_of_an_access(row, calibration):.2f}")


def with_sectors(rows: Sequence[Row], calibration: Calibration) -> str:
    """S-designated's time, if each casual read cost one sector, divided by the card's."""
    source = [row for row in rows if not row["coalesced"] and row["algorithm"] == "S-designated"]
    return sizes(source, values(source, "sqrt n"), lambda row: _estimate(row, calibration))


def _estimate(row: Row, calibration: Calibration) -> str:
    text = f"{time_with_sectors(row, calibration) / number(row, 'measured'):.2f}"
    return f"**{text}**" if explained(row, calibration) else text


def _range(rows: Sequence[Row], calibration: Calibration) -> str:
    parts = [time_with_sectors(row, calibration) / number(row, "measured") for row in rows]
    return f"{min(parts):.2f} and {max(parts):.2f}"


def _more_than_two(source: Sequence[Row], calibration: Calibration) -> str:
    """Name the casual reads that took longer than two sectors each, in a sentence."""
    slower = [
        f"{sectors_of_an_access(row, calibration):.1f} {plain(row['permutation'])} "
        f"({row['type']}) at √n = {row['sqrt n']}"
        for row in source
        if number(row, "sqrt n") >= MEDIUM and sectors_of_an_access(row, calibration) > 2
    ]
    if not slower:
        return "None took longer."
    return f"Longer took {listed(slower)}; this page doesn't explain why."


def _where_not(source: Sequence[Row], calibration: Calibration) -> str:
    """Name the cells that the sectors don't explain, in a sentence for each size."""
    sentences = []
    for side in values(source, "sqrt n"):
        own = pick(source, sqrt_n=side)
        far = [row for row in own if not explained(row, calibration)]
        if len(far) == len(own):
            sentences.append(f"At √n = {side} it is in none.")
        elif far:
            cells = (f"{plain(row['permutation'])} ({row['type']})" for row in far)
            sentences.append(f"At √n = {side} it isn't for {listed(cells)}.")
    return " ".join(sentences)


def _mebibytes(side: float, kind: str) -> int:
    return int(side) ** 2 * word_bytes({"type": kind}) // 2**20
