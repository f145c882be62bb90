"""The page's section about global memory."""

from __future__ import annotations

from collections.abc import Sequence

from mmsim.gpu.record import Row
from mmsim_algorithms.gpu import page_casual, page_launches, page_random, page_winners
from mmsim_algorithms.gpu.icpp_tables import ALGORITHMS, COALESCED, TYPES
from mmsim_algorithms.gpu.kept import (
    CONVENTIONAL,
    SECTOR,
    Results,
    errors,
    factor,
    largest_error,
    launched,
    mean_error,
    number,
    pick,
    values,
)
from mmsim_algorithms.gpu.markdown import listed, paragraph, percent, short, signed, table
from mmsim_algorithms.gpu.page_rows import LARGE, cell, named, plain, same
from mmsim_algorithms.gpu.permuting import SEVERAL


def section(results: Results) -> str:
    """ICPP's Tables II and III."""
    every = results["ICPP-T2"].rows
    rows = launched(every, SEVERAL)
    calibration = results.calibration("ICPP-T2")
    return "\n".join(
        (
            "## Global memory\n",
            _table_2(rows),
            _coalesced(rows),
            _small(rows),
            page_casual.section(rows, calibration),
            page_winners.section(rows),
            page_launches.section(every),
            page_random.section(results),
        )
    )


def _table_2(rows: Sequence[Row]) -> str:
    parts = [
        "### ICPP Table II\n",
        paragraph(
            """D-designated writes b[p[i]] = a[i], S-designated reads b[i] = a[q[i]], and scheduled
            permutes within rows, columns and rows, so that it accesses only whole address groups of
            global memory. Each array has √n x √n words; the tables of a permutation are integers of
            4 bytes, and a thread takes several words. Each cell has the paper's milliseconds on a
            GTX 680, where it has the cell; the measured and the predicted milliseconds; and the
            model's error if accesses are coalesced, or else predicted/measured, as a factor ("x").
            A cell counts as coalesced if the algorithm is scheduled, or the permutation is"""
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
                        plain(name),
                        algorithm,
                        *(
                            cell(*pick(own, permutation=name, algorithm=algorithm, sqrt_n=side))
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


def groups(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The coalesced cells by kind: identical, shuffle, scheduled."""
    plain = [row for row in rows if row["algorithm"] in CONVENTIONAL]
    found = {name: pick(plain, permutation=name) for name in COALESCED}
    return {**found, "scheduled": pick(rows, algorithm="scheduled")}


def _coalesced(rows: Sequence[Row]) -> str:
    large = _large(rows)
    coalesced = pick(large, coalesced=True)
    return "\n".join(
        (
            "### Coalesced cells\n",
            paragraph(
                f"""At √n = {listed(values(large, "sqrt n"))} the model is off by
                {percent(mean_error(coalesced))} on average over all {len(coalesced)} coalesced
                cells. The mean absolute error at each size, at both, and the largest error:"""
            ),
            coalesced_errors(rows),
            half_groups(rows),
        )
    )


def _large(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if number(row, "sqrt n") >= LARGE]


def coalesced_errors(rows: Sequence[Row]) -> str:
    """The errors of the coalesced cells of large arrays, by kind."""
    large = _large(rows)
    sides = values(large, "sqrt n")
    lines = [("all coalesced", pick(large, coalesced=True)), *groups(large).items()]
    lines[3:3] = [
        (f"shuffle, {one}", pick(groups(large)["shuffle"], algorithm=one)) for one in CONVENTIONAL
    ]
    return table(
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
    )


def half_groups(rows: Sequence[Row]) -> str:
    """Explain the model's error for reads of halves of address groups."""
    source = pick(groups(_large(rows))["shuffle"], algorithm="S-designated")
    shuffled = [
        number(row, "measured") / number(same(row, rows, permutation="identical"), "measured")
        for row in source
    ]
    low, high = min(errors(source)), max(errors(source))
    return paragraph(
        f"""One algorithm stands out: S-designated along the shuffle, where the model is off by
        {signed(low)} to {signed(high)}. There a warp reads two runs of 16 words, n/2 words apart.
        Each run is half of an address group, but the model charges both groups in full. The card
        fetches sectors of {SECTOR} bytes, and the two runs are whole sectors, so it fetches no word
        in vain. The times show this: S-designated along the shuffle takes {short(min(shuffled))} to
        {short(max(shuffled))} times as long as along the identity. D-designated along the shuffle
        writes every other word of two groups, and another warp writes the words between them. There
        the model's full charge is closer to the card's time."""
    )


def _small(rows: Sequence[Row]) -> str:
    small = [row for row in rows if row["coalesced"] and number(row, "sqrt n") < LARGE]
    worst = max(small, key=factor)
    return "\n".join(
        (
            "### Smaller arrays\n",
            paragraph(
                f"""Below √n = {LARGE} an array is too short to hide the latency. A warp of the
                model waits for each request before it sends the next; a warp of the card has up to
                {SEVERAL.words} reads of each thread under way. So the model takes up to
                {short(factor(worst))} times as long as the card: {named(worst)} at √n =
                {worst["sqrt n"]}. For the coalesced cells, the model's time divided by the
                card's:"""
            ),
            factors(small),
        )
    )


def factors(rows: Sequence[Row]) -> str:
    """The model's time divided by the card's, over the cells of each size."""
    return table(
        ("√n", "cells", "least", "mean", "most"),
        (
            (
                str(side),
                str(len(own)),
                f"{min(map(factor, own)):.2f}",
                f"{sum(map(factor, own)) / len(own):.2f}",
                f"{max(map(factor, own)):.2f}",
            )
            for side in values(rows, "sqrt n")
            for own in (pick(rows, sqrt_n=side),)
        ),
        texts=0,
    )
