"""The page's section about global memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from algorithms.gpu.global_tables import ALGORITHMS, COALESCED, PERMUTATIONS, TYPES
from algorithms.gpu.kept import (
    CONVENTIONAL,
    NEAR,
    SECTOR,
    Results,
    contest,
    errors,
    explained,
    factor,
    largest_error,
    mean_error,
    number,
    paper_ms,
    pick,
    sectors_of_an_access,
    time_with_sectors,
    values,
    word_bytes,
)
from algorithms.gpu.markdown import bullets, count, listed, paragraph, percent, short, signed, table
from algorithms.gpu.permuting import WARP, WORDS
from mmsim.gpu.calibration import Calibration
from mmsim.gpu.record import Row
from mmsim.gpu.words import WORD_BYTES
from mmsim.view.gpu import error

LARGE = 4096
"""From here on an array is far longer than what hides the latency."""
MEDIUM = 1024
"""From here on a casual access's own cost can be told from that of the launch."""


def section(results: Results) -> str:
    """ICPP's Tables II and III."""
    rows = results["ICPP-T2"].rows
    calibration = results.calibration("ICPP-T2")
    return "\n".join(
        (
            "## Global memory\n",
            _table_2(rows),
            _coalesced(rows),
            _small(rows),
            _casual(rows, calibration),
            _winners(rows),
            _table_3(results),
        )
    )


def _table_2(rows: Sequence[Row]) -> str:
    parts = [
        "### ICPP Table II\n",
        paragraph(
            """D-designated writes b[p[i]] = a[i], S-designated reads b[i] = a[q[i]], and scheduled
            goes rows, columns, rows, so that it touches global memory by whole address groups only.
            Each array has √n x √n words; the tables of a permutation are integers of 4 bytes. In
            each cell: the paper's milliseconds on a GTX 680, where it has the cell; the
            milliseconds measured and the milliseconds predicted; then the model's error where
            accesses are coalesced, or else the model's time by the card's, as a factor ("x"). A
            cell counts as coalesced if the algorithm is scheduled, or the permutation is"""
            + f" {' or '.join(COALESCED)}."
        ),
    ]
    for kind in TYPES:
        own = pick(rows, type=kind)
        sides = values(own, "sqrt n")
        parts += [
            paragraph(f"{kind}, √n across:"),
            table(
                ("permutation", "algorithm", *map(str, sides)),
                (
                    (
                        _plain(name),
                        algorithm,
                        *(
                            _cell(*pick(own, permutation=name, algorithm=algorithm, sqrt_n=side))
                            for side in sides
                        ),
                    )
                    for name in values(own, "permutation")
                    for algorithm in ALGORITHMS
                ),
                texts=2,
            ),
        ]
    parts.append(
        "![predicted against measured times of ICPP Table II](figures/metal-ICPP-T2.svg)\n"
    )
    return "\n".join(parts)


def _cell(row: Row) -> str:
    paper = paper_ms(row)
    off = error(row)
    assert off is not None
    return "<br>".join(
        (
            *([] if paper is None else [f"{paper:g}"]),
            f"{short(number(row, 'measured'))}, {short(number(row, 'predicted'))}",
            signed(off) if row["coalesced"] else f"x {factor(row):.2f}",
        )
    )


def groups(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The coalesced cells by what they are: identical, shuffle, scheduled."""
    plain = [row for row in rows if row["algorithm"] in CONVENTIONAL]
    found = {name: pick(plain, permutation=name) for name in COALESCED}
    return {**found, "scheduled": pick(rows, algorithm="scheduled")}


def _coalesced(rows: Sequence[Row]) -> str:
    large = [row for row in rows if number(row, "sqrt n") >= LARGE]
    coalesced = [row for row in large if row["coalesced"]]
    sides = values(large, "sqrt n")
    lines: list[tuple[str, list[Row]]] = [("all coalesced", coalesced), *groups(large).items()]
    lines[3:3] = [
        (f"shuffle, {one}", pick(groups(large)["shuffle"], algorithm=one)) for one in CONVENTIONAL
    ]
    source = pick(groups(large)["shuffle"], algorithm="S-designated")
    beside = [
        number(row, "measured") / number(_same(row, rows, permutation="identical"), "measured")
        for row in source
    ]
    low, high = min(errors(source)), max(errors(source))
    return "\n".join(
        (
            "### Coalesced cells\n",
            paragraph(
                f"""At √n = {listed(sides)} the model is off by {percent(mean_error(coalesced))} on
                average over all {len(coalesced)} coalesced cells. The mean absolute error at each
                size, and the largest of both:"""
            ),
            table(
                ("cells", "how many", *(f"√n = {side}" for side in sides), "both", "largest"),
                (
                    (
                        name,
                        str(len(own)),
                        *(percent(mean_error(pick(own, sqrt_n=side))) for side in sides),
                        percent(mean_error(own)),
                        percent(largest_error(own)),
                    )
                    for name, own in lines
                ),
            ),
            paragraph(
                f"""One algorithm stands out: S-designated along the shuffle, where the model is off
                by {signed(low)} to {signed(high)}. There a warp reads two runs of 16 words, n/2
                words apart. Each run is half of an address group of the model, and the model
                charges both groups in full. The card fetches sectors of {SECTOR} bytes; the two
                runs are whole sectors, so nothing is fetched in vain. This shows in the times:
                S-designated along the shuffle takes {short(min(beside))} to {short(max(beside))}
                times as long as along the identity. D-designated along the shuffle writes every
                other word of two groups; the words between them come from another warp, and there
                the model's full charge is closer to what the card does."""
            ),
        )
    )


def _small(rows: Sequence[Row]) -> str:
    small = [row for row in rows if row["coalesced"] and number(row, "sqrt n") < LARGE]
    worst = max(small, key=factor)
    return "\n".join(
        (
            "### Smaller arrays\n",
            paragraph(
                f"""Below √n = {LARGE} an array is short beside what it takes to hide the latency. A
                warp of the model waits for each request before it sends the next; a warp of the
                card has up to {WORDS} reads of each thread on their way. So the model takes up to
                {short(factor(worst))} times as long as the card: {_name(worst)} at √n =
                {worst["sqrt n"]}. The coalesced cells, model by card:"""
            ),
            table(
                ("√n", "cells", "least", "mean", "most"),
                (
                    (
                        str(side),
                        str(len(own)),
                        f"{min(map(factor, own)):.2f}",
                        f"{sum(map(factor, own)) / len(own):.2f}",
                        f"{max(map(factor, own)):.2f}",
                    )
                    for side in values(small, "sqrt n")
                    for own in (pick(small, sqrt_n=side),)
                ),
                texts=0,
            ),
        )
    )


def _casual(rows: Sequence[Row], calibration: Calibration) -> str:
    casual = [row for row in rows if not row["coalesced"]]
    sides = values(casual, "sqrt n")
    large = [row for row in casual if number(row, "sqrt n") >= LARGE]
    source = pick(casual, algorithm="S-designated")
    near = [row for row in source if explained(row, calibration)]
    by_algorithm = [
        f"{min(map(factor, own)):.2f} to {max(map(factor, own)):.2f} for {one}"
        for one in CONVENTIONAL
        for own in (pick(large, algorithm=one),)
    ]
    medium = [side for side in sides if side >= MEDIUM]
    charged = WARP * WORD_BYTES // SECTOR
    largest = max(casual, key=lambda row: number(row, "sqrt n"))
    worst = max(large, key=lambda row: sectors_of_an_access(row, calibration))
    first_large = min(number(row, "sqrt n") for row in large)
    return "\n".join(
        (
            "### Casual cells\n",
            paragraph(
                f"""Random, bit reversal and transpose send the words of a warp to as many address
                groups. Here the model is no prediction of today's card: at √n = {LARGE} and more
                its time by the card's is {listed(by_algorithm)}. All factors are in the table
                above. The results hold times only, so the reasons that follow are what is known of
                such cards, not something measured here:"""
            ),
            bullets(
                (
                    f"""Reads travel in sectors of {SECTOR} bytes. A casual read costs a quarter of
                    an address group and not a whole one, for a long word as for a short one.""",
                    """Writes are merged in the second-level cache, where neighbours' writes meet
                    before they leave for the memory. Where they don't meet, only part of a sector
                    is written, and it has to be read from the memory first.""",
                    f"""Random access over an array larger than that cache fetches 64 bytes from the
                    memory, two sectors, for each word. At √n = {first_large:.0f} an array of floats
                    has {_mebibytes(first_large, "float")} MiB, of doubles
                    {_mebibytes(first_large, "double")} MiB.""",
                )
            ),
            paragraph(
                f"""What one casual access took, in units of a sector's time (a quarter of
                `group_ps`), is what is left of the measured time without the launch and the two
                plain rounds, by n. The model charges an address group, {charged} sectors.
                Below √n = {MEDIUM} the launch and the latency
                cover it."""
            ),
            _sizes(
                casual,
                medium,
                lambda row: f"{sectors_of_an_access(row, calibration):.2f}",
            ),
            paragraph(
                f"""The dearest is {_name(worst)} at √n = {worst["sqrt n"]}, with
                {sectors_of_an_access(worst, calibration):.1f} sectors. Less than one sector for a
                read hints at warps that find in a cache what others fetched. Two sectors for a read
                are the 64 bytes above; {_more_than_two(source, calibration)}, and this page doesn't
                explain the rest."""
            ),
            paragraph(
                f"""If each casual read cost one sector, S-designated would take `group_ps` · (n/32
                · (1 + bytes/4) + n/4) and one launch. This time by the card's, bold where it is
                within {percent(NEAR)} of it:"""
            ),
            _sizes(source, sides, lambda row: _estimate(row, calibration)),
            paragraph(
                f"""It is within {percent(NEAR)} in {len(near)} of {len(source)} cells.
                {_where_not(source, calibration)} At the smallest sizes the launch's latency, which
                it leaves out, is most of the time. So this is an explanation of some cells and not
                a machine: it knows no cache and no memory page, and at √n =
                {number(largest, "sqrt n"):.0f} it is between
                {_range(pick(source, sqrt_n=largest["sqrt n"]), calibration)} times the card's
                time."""
            ),
        )
    )


def _estimate(row: Row, calibration: Calibration) -> str:
    text = f"{time_with_sectors(row, calibration) / number(row, 'measured'):.2f}"
    return f"**{text}**" if explained(row, calibration) else text


def _range(rows: Sequence[Row], calibration: Calibration) -> str:
    parts = [time_with_sectors(row, calibration) / number(row, "measured") for row in rows]
    return f"{min(parts):.2f} and {max(parts):.2f}"


def _more_than_two(source: Sequence[Row], calibration: Calibration) -> str:
    """Which casual reads took longer than two sectors each, in a clause."""
    dear = [
        f"{sectors_of_an_access(row, calibration):.1f} {_plain(row['permutation'])} "
        f"({row['type']}) at √n = {row['sqrt n']}"
        for row in source
        if number(row, "sqrt n") >= MEDIUM and sectors_of_an_access(row, calibration) > 2
    ]
    return f"longer took {listed(dear)}" if dear else "none took longer"


def _where_not(source: Sequence[Row], calibration: Calibration) -> str:
    """For which cells the sectors don't explain the card, in a sentence for each size."""
    sentences = []
    for side in values(source, "sqrt n"):
        own = pick(source, sqrt_n=side)
        far = [row for row in own if not explained(row, calibration)]
        if len(far) == len(own):
            sentences.append(f"At √n = {side} it is in none.")
        elif far:
            cells = (f"{_plain(row['permutation'])} ({row['type']})" for row in far)
            sentences.append(f"At √n = {side} it isn't for {listed(cells)}.")
    return " ".join(sentences)


def _mebibytes(side: float, kind: str) -> int:
    return int(side) ** 2 * word_bytes({"type": kind}) // 2**20


def _sizes(rows: Sequence[Row], sides: Sequence[int], cell: Callable[[Row], str]) -> str:
    """A line for each type, permutation and algorithm, a column for each size."""
    algorithms = values(rows, "algorithm")
    lines = [
        (kind, name, algorithm)
        for kind in values(rows, "type")
        for name in values(rows, "permutation")
        for algorithm in algorithms
    ]
    return table(
        ("type", "permutation", "algorithm", *(f"√n = {side}" for side in sides)),
        (
            (
                kind,
                _plain(name),
                algorithm,
                *(
                    cell(*pick(rows, type=kind, permutation=name, algorithm=algorithm, sqrt_n=side))
                    for side in sides
                ),
            )
            for kind, name, algorithm in lines
        ),
        texts=3,
    )


def _winners(rows: Sequence[Row]) -> str:
    sides = values(rows, "sqrt n")
    cells = [
        (kind, name, side)
        for kind in values(rows, "type")
        for name in values(rows, "permutation")
        for side in sides
    ]
    own = {cell: pick(rows, type=cell[0], permutation=cell[1], sqrt_n=cell[2]) for cell in cells}
    today = {cell: _winner(own[cell], lambda row: number(row, "measured")) for cell in cells}
    model = {cell: _winner(own[cell], lambda row: number(row, "predicted")) for cell in cells}
    paper = {cell: _winner(own[cell], paper_ms) for cell in cells}
    won = [cell for cell in cells if today[cell] == "scheduled"]
    known = [cell for cell in cells if paper[cell]]
    then = [cell for cell in known if paper[cell] == "scheduled"]
    forecast = [cell for cell in cells if model[cell] == "scheduled"]

    def text(kind: str, name: str, side: int) -> str:
        found = contest(own[kind, name, side], lambda row: number(row, "measured"))
        assert found is not None
        short_name = found.winner.removesuffix("-designated")
        return f"{short_name} {found.ahead:.2f}"

    return "\n".join(
        (
            "### Where the scheduled permutation wins\n",
            paragraph(
                """The fastest of the three algorithms on the card, and the time of the other way by
                its time. The two ways are scheduled and the better of D- and S-designated:"""
            ),
            table(
                ("type", "permutation", *(f"√n = {side}" for side in sides)),
                (
                    (kind, _plain(name), *(text(kind, name, side) for side in sides))
                    for kind in values(rows, "type")
                    for name in values(rows, "permutation")
                ),
                texts=2,
            ),
            paragraph(
                f"""Today the scheduled permutation wins {len(won)} of {len(cells)} cells:
                {listed(_cell_name(*cell) for cell in won) or "none"}. In the paper it won
                {len(then)} of the {len(known)} cells printed. The model lets it win {len(forecast)}
                of {len(cells)}, among them {sum(cell in forecast for cell in won)} of the
                {len(won)} that it wins on the card. The model overcharges casual reads, so it can't
                tell where the lines cross on this card."""
            ),
        )
    )


def _winner(rows: Sequence[Row], time: Callable[[Row], float | None]) -> str | None:
    found = contest(rows, time)
    return None if found is None else found.winner


def _cell_name(kind: str, name: str, side: int) -> str:
    return f"{_plain(name)} ({kind}) at √n = {side}"


def _table_3(results: Results) -> str:
    record = results["ICPP-T3"]
    rows = record.rows
    (side,) = values(rows, "sqrt n")
    (permutations,) = values(rows, "permutations")
    assert permutations == PERMUTATIONS
    spread, printed_spread = (
        max(
            _table_3_value(rows, "maximum", one, field)
            / _table_3_value(rows, "minimum", one, field)
            - 1
            for one in ALGORITHMS
        )
        for field in ("measured", "paper ms")
    )
    ranked = sorted(ALGORITHMS, key=lambda one: _table_3_value(rows, "average", one, "measured"))
    scheduled = pick(rows, algorithm="scheduled")
    distributions = [f"{row['D_w(P)/n']}" for row in pick(rows, algorithm=ALGORITHMS[0])]
    return "\n".join(
        (
            "### ICPP Table III\n",
            paragraph(
                f"""Random permutations of {side} x {side} floats: {permutations} here, 1000 in the
                paper. In each cell the paper's milliseconds; those measured and those predicted;
                the error or the factor as above."""
            ),
            table(
                ("", *ALGORITHMS, "D_w(P)/n"),
                (
                    (
                        name,
                        *(
                            _cell({**row, "coalesced": algorithm == "scheduled"})
                            for algorithm in ALGORITHMS
                            for row in pick(rows, row=name, algorithm=algorithm)
                        ),
                        distribution,
                    )
                    for name, distribution in zip(values(rows, "row"), distributions, strict=True)
                ),
            ),
            paragraph(
                f"""One random permutation is about as dear as another: the slowest takes
                {percent(spread)} longer than the fastest at most, in the paper
                {percent(printed_spread)}. The order of the algorithms is {listed(ranked)}, from
                fast to slow; the mean absolute error of scheduled is
                {percent(mean_error(scheduled))} over {count(len(scheduled), "row")}."""
            ),
            "![predicted against measured times of ICPP Table III](figures/metal-ICPP-T3.svg)\n",
        )
    )


def _table_3_value(rows: Sequence[Row], name: str, algorithm: str, field: str) -> float:
    (row,) = pick(rows, row=name, algorithm=algorithm)
    return number(row, field)


def _same(row: Row, rows: Sequence[Row], **other: str) -> Row:
    """The row that is the same but for some fields."""
    names = ("type", "permutation", "sqrt n", "algorithm")
    (found,) = pick(rows, **{**{name: row[name] for name in names}, **other})
    return found


def _name(row: Row) -> str:
    return f"{row['algorithm']} along {_plain(row['permutation'])} ({row['type']})"


def _plain(name: object) -> str:
    return str(name).replace("_", " ")
