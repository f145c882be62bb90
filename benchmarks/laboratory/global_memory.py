"""The page's section about global memory: ICPP's Tables II and III."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.laboratory.rendering import render
from mmsim.gpu.calibrated import Calibration
from mmsim.gpu.record import Row
from mmsim.gpu.words import WORD_BYTES
from mmsim_algorithms.gpu import comparisons
from mmsim_algorithms.gpu.comparisons import LARGE, MEDIUM, ahead, by_size, cell, large, plain
from mmsim_algorithms.gpu.icpp_tables import ALGORITHMS, COALESCED, TYPES, extremes
from mmsim_algorithms.gpu.kept import (
    CONVENTIONAL,
    NEAR,
    SECTOR,
    Results,
    explained,
    factor,
    launched,
    mean_error,
    number,
    pick,
    sectors_of_an_access,
    time_with_sectors,
    values,
    word_bytes,
)
from mmsim_algorithms.gpu.markdown import percent, short, table
from mmsim_algorithms.gpu.permuting import BLOCK, PAPER, SEVERAL, SHAPES, SHORT, WARP, Shape
from mmsim_algorithms.reports.distributions import kept_distributions

LAUNCHES = SHAPES["scheduled"]
"""The three compared launches."""
Values = dict[str, Any]


def section(results: Results) -> str:
    """The section."""
    every = results["ICPP-T2"].rows
    rows = launched(every, SEVERAL)
    calibration = results.calibration("ICPP-T2")
    return render(
        "global_memory",
        table_2=[(kind, _table_2(pick(rows, type=kind))) for kind in TYPES],
        where_scheduled_wins=comparisons.where_scheduled_wins(rows),
        **_coalesced(rows),
        **_casual(rows, calibration),
        **_launches(every),
        **_random(results),
    )


def _table_2(rows: Sequence[Row]) -> str:
    sides = values(rows, "sqrt n")
    lines = [
        (
            *(plain(name), algorithm),
            *(
                cell(*pick(rows, permutation=name, algorithm=algorithm, sqrt_n=one))
                for one in sides
            ),
        )
        for name in values(rows, "permutation")
        for algorithm in ALGORITHMS
    ]
    return table(("permutation", "algorithm", *map(str, sides)), lines, texts=2)


def _coalesced(rows: Sequence[Row]) -> Values:
    """The values for coalesced cells, of large arrays and of small ones."""
    small = [row for row in rows if row["coalesced"] and number(row, "sqrt n") < LARGE]
    return {
        "coalesced": COALESCED,
        "large": LARGE,
        "large_sides": values(large(rows), "sqrt n"),
        "large_coalesced": pick(large(rows), coalesced=True),
        "coalesced_errors": comparisons.coalesced_errors(rows),
        "half_groups": comparisons.half_groups(rows),
        "at_once": SEVERAL.words,
        "worst_small": max(small, key=factor),
        "factors": comparisons.factors(small),
    }


def _casual(rows: Sequence[Row], calibration: Calibration) -> Values:
    """The values for casual cells: the cost on the card, compared with the model's charge."""
    casual = comparisons.casual(rows)
    source = pick(casual, algorithm="S-designated")
    by_algorithm = [
        f"{min(map(factor, own)):.2f} to {max(map(factor, own)):.2f} for {one}"
        for one in CONVENTIONAL
        for own in (pick(large(casual), algorithm=one),)
    ]

    def cost(row: Row) -> float:
        return sectors_of_an_access(row, calibration)

    unexplained = []
    for side in values(source, "sqrt n"):
        own = pick(source, sqrt_n=side)
        far = [row for row in own if not explained(row, calibration)]
        cells = [f"{plain(row['permutation'])} ({row['type']})" for row in far]
        if far:
            unexplained.append((side, cells if len(far) < len(own) else []))
    largest = max(values(casual, "sqrt n"))
    parts = [
        time_with_sectors(row, calibration) / number(row, "measured")
        for row in pick(source, sqrt_n=largest)
    ]
    costliest = max(large(casual), key=cost)
    return {
        "by_algorithm": by_algorithm,
        "reasons": comparisons.reasons(min(number(row, "sqrt n") for row in large(casual))),
        "charged": WARP * WORD_BYTES // SECTOR,
        "medium": MEDIUM,
        "sectors": comparisons.sectors(rows, calibration),
        "costliest": costliest,
        "costliest_sectors": cost(costliest),
        "slower": [
            f"{cost(row):.1f} {plain(row['permutation'])} ({row['type']}) at √n = {row['sqrt n']}"
            for row in source
            if number(row, "sqrt n") >= MEDIUM and cost(row) > 2
        ],
        "near": NEAR,
        "with_sectors": comparisons.with_sectors(rows, calibration),
        "explained": sum(explained(row, calibration) for row in source),
        "reads": len(source),
        "unexplained": unexplained,
        "largest": largest,
        "least": min(parts),
        "most": max(parts),
    }


# ------------------------------------------------------------ the launch


def scheduled_bytes(shape: Shape) -> int:
    """Bytes of global memory that scheduled moves for a float: 5 reads, 5 writes, 6 tables.

    >>> scheduled_bytes(SEVERAL), scheduled_bytes(SHORT)
    (64, 52)
    """
    return 10 * word_bytes({"type": "float"}) + 6 * np.dtype(shape.tables).itemsize


def _launches(every: Sequence[Row]) -> Values:
    """The values for the effects of the launch.

    Each array, each permutation and each algorithm is the same. Only the words of a thread and the
    length of the integers in the tables s and d differ.
    """
    sides = values(pick(every, launch=PAPER.name), "sqrt n")
    rows = [row for row in every if row["sqrt n"] in sides]

    def mean(kind: str, shape: Shape, side: int, field: str = "measured") -> float:
        own = pick(rows, type=kind, algorithm="scheduled", launch=shape.name, sqrt_n=side)
        return sum(number(row, field) for row in own) / len(own)

    def times(kind: str, shape: Shape, side: int) -> str:
        return ", ".join(short(mean(kind, shape, side, one)) for one in ("measured", "predicted"))

    def ratio(row: Row) -> str:
        """The time of the paper's launch, divided by that of several words a thread."""
        about = {name: row[name] for name in ("type", "permutation", "algorithm", "sqrt n")}
        (papers,) = pick(rows, **about, launch=PAPER.name)
        return f"{number(papers, 'measured') / number(row, 'measured'):.2f}"

    saved = {
        kind: 1 - mean(kind, SHORT, sides[-1]) / mean(kind, SEVERAL, sides[-1]) for kind in TYPES
    }
    coalesced = pick(rows, coalesced=True)
    conventional = [
        row for row in pick(rows, launch=SEVERAL.name) if row["algorithm"] in CONVENTIONAL
    ]
    return {
        "block": BLOCK,
        "launches": LAUNCHES,
        "short_bytes": scheduled_bytes(SHORT),
        "long_bytes": scheduled_bytes(SEVERAL),
        "last_side": sides[-1],
        "saved": [f"{percent(part)} of its time in {kind}" for kind, part in saved.items()],
        "scheduled_times": table(
            ("type", "launch", *by_size(sides)),
            (
                (kind, shape.name, *(times(kind, shape, side) for side in sides))
                for kind in TYPES
                for shape in LAUNCHES
            ),
            texts=2,
        ),
        "conventional_ratios": comparisons.sizes(conventional, sides, ratio),
        "launch_errors": table(
            ("launch", *by_size(sides)),
            (
                (
                    shape.name,
                    *(
                        percent(mean_error(pick(launched(coalesced, shape), sqrt_n=side)))
                        for side in sides
                    ),
                )
                for shape in LAUNCHES
            ),
        ),
        **_changes(rows),
    }


def _changes(rows: Sequence[Row]) -> Values:
    """The values for the cells whose fastest algorithm differs between launches."""
    found = {
        shape: comparisons.contests(launched(rows, shape), lambda row: number(row, "measured"))
        for shape in LAUNCHES
    }
    every = {place: [own[place] for own in found.values()] for place in found[SEVERAL]}
    differing = {place: own for place, own in every.items() if len({one.winner for one in own}) > 1}
    crossed = {
        place: own
        for place, own in differing.items()
        if len({one.winner == "scheduled" for one in own}) > 1
    }
    return {
        "differing": len(differing),
        "contested": len(every),
        "crossed": len(crossed),
        "won": [
            f'{sum(one.winner == "scheduled" for one in own.values())} ("{shape.name}")'
            for shape, own in found.items()
        ],
        "changes": table(
            ("type", "permutation", "√n", *(shape.name for shape in LAUNCHES)),
            (
                (kind, plain(name), str(side), *map(ahead, own))
                for (kind, name, side), own in crossed.items()
            ),
            texts=2,
        ),
    }


# ------------------------------------------------------------ Table III


def _random(results: Results) -> Values:
    """The values for random permutations."""
    every = results["ICPP-T3"].rows
    rows = extremes(every)
    (side,) = values(rows, "sqrt n")
    (permutations,) = values(rows, "permutations")
    of = {(row["row"], row["algorithm"]): row for row in rows}
    spread, printed_spread = (
        max(
            number(of["maximum", one], field) / number(of["minimum", one], field) - 1
            for one in ALGORITHMS
        )
        for field in ("measured", "paper ms")
    )
    counted = kept_distributions()
    lines = [
        (
            name,
            *(cell({**of[name, one], "coalesced": one == "scheduled"}) for one in ALGORITHMS),
            f"{getattr(counted, name) / counted.n:.5f}",
        )
        for name in values(rows, "row")
    ]
    return {
        "permutations": permutations,
        "side": side,
        "predicted": sum(row["predicted"] is not None for row in every) // len(ALGORITHMS),
        "warp": WARP,
        "counted": counted.count,
        "table_3": table(("", *ALGORITHMS, "D_w(P)/n"), lines),
        "spread": spread,
        "printed_spread": printed_spread,
        "ranked": sorted(ALGORITHMS, key=lambda one: number(of["average", one], "measured")),
        "scheduled": pick(rows, algorithm="scheduled"),
    }
