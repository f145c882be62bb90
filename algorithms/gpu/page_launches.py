"""The page's section about the paper's launches: a thread for each word, tables of short integers.

Each array, each permutation and each algorithm is the same. Only the words of a thread and the
length of the integers in the tables s and d differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mmsim.gpu.record import Row
from mmsim_algorithms.gpu.icpp_tables import TYPES
from mmsim_algorithms.gpu.kept import (
    CONVENTIONAL,
    Contest,
    contest,
    launched,
    mean_error,
    number,
    pick,
    values,
    word_bytes,
)
from mmsim_algorithms.gpu.markdown import bullets, count, listed, paragraph, percent, short, table
from mmsim_algorithms.gpu.page_rows import plain
from mmsim_algorithms.gpu.page_winners import Place, cells
from mmsim_algorithms.gpu.permuting import BLOCK, PAPER, SEVERAL, SHAPES, SHORT, Shape

LAUNCHES = SHAPES["scheduled"]
"""The three compared launches."""


def section(every: Sequence[Row]) -> str:
    """The effects of the launch: on the times, the model's errors and the fastest algorithm."""
    sides = values(pick(every, launch=PAPER.name), "sqrt n")
    rows = [row for row in every if row["sqrt n"] in sides]
    return "\n".join(
        (
            "### Launched as in the paper\n",
            paragraph(
                f"""In the tables above a thread takes several words, and the tables s and d have
                integers of 4 bytes. The paper's section VIII has a thread for each word, blocks of
                {BLOCK} threads at most, and short integers in s and d. So each permutation was
                measured in three ways, at the paper's sizes:"""
            ),
            bullets(map(_described, LAUNCHES)),
            _bytes(rows, sides[-1]),
            _scheduled(rows, sides),
            _conventional(rows, sides),
            _errors(rows, sides),
            _changes(rows),
        )
    )


def _described(shape: Shape) -> str:
    words = "a word" if shape.words == 1 else f"up to {shape.words} words"
    return f'"{shape.name}": {words} a thread, s and d of {_bits(shape)} bits.'


def _bits(shape: Shape) -> int:
    return 8 * np.dtype(shape.tables).itemsize


# ------------------------------------------------------------ the times


def _bytes(rows: Sequence[Row], side: int) -> str:
    moved = {shape: scheduled_bytes(shape) for shape in (SEVERAL, SHORT)}
    saved = {
        kind: 1 - _mean(rows, kind, SHORT, side) / _mean(rows, kind, SEVERAL, side)
        for kind in TYPES
    }
    return paragraph(
        f"""Scheduled moves {moved[SHORT]} bytes of global memory for a float with short tables, as
        in the paper, and {moved[SEVERAL]} with long ones,
        {percent(1 - moved[SHORT] / moved[SEVERAL])} less. At √n = {side} short tables save
        {listed(f"{percent(part)} of its time in {kind}" for kind, part in saved.items())}. The
        model charges a request for short words like one for words of 4 bytes, so it predicts the
        same time for both."""
    )


def scheduled_bytes(shape: Shape) -> int:
    """Bytes of global memory that scheduled moves for a float: 5 reads, 5 writes, 6 tables.

    >>> scheduled_bytes(SEVERAL), scheduled_bytes(SHORT)
    (64, 52)
    """
    return 10 * word_bytes({"type": "float"}) + 6 * np.dtype(shape.tables).itemsize


def _scheduled(rows: Sequence[Row], sides: Sequence[int]) -> str:
    lines = [(kind, shape) for kind in TYPES for shape in LAUNCHES]
    return "\n".join(
        (
            paragraph(
                """The mean of scheduled's milliseconds over the permutations, measured and
                predicted:"""
            ),
            table(
                ("type", "launch", *(f"√n = {side}" for side in sides)),
                (
                    (kind, shape.name, *(_times(rows, kind, shape, side) for side in sides))
                    for kind, shape in lines
                ),
                texts=2,
            ),
        )
    )


def _times(rows: Sequence[Row], kind: str, shape: Shape, side: int) -> str:
    fields = ("measured", "predicted")
    return ", ".join(short(_mean(rows, kind, shape, side, field)) for field in fields)


def _mean(
    rows: Sequence[Row], kind: str, shape: Shape, side: int, field: str = "measured"
) -> float:
    own = pick(rows, type=kind, algorithm="scheduled", launch=shape.name, sqrt_n=side)
    return sum(number(row, field) for row in own) / len(own)


def _conventional(rows: Sequence[Row], sides: Sequence[int]) -> str:
    lines = [
        (kind, name, algorithm)
        for kind in TYPES
        for name in values(rows, "permutation")
        for algorithm in CONVENTIONAL
    ]
    return "\n".join(
        (
            paragraph(
                """For D- and S-designated, the measured time with a thread for each word, divided
                by the time with several words a thread. Above one, several words are faster:"""
            ),
            table(
                ("type", "permutation", "algorithm", *(f"√n = {side}" for side in sides)),
                (
                    (
                        kind,
                        plain(name),
                        algorithm,
                        *(f"{_ratio(rows, kind, name, algorithm, side):.2f}" for side in sides),
                    )
                    for kind, name, algorithm in lines
                ),
                texts=3,
            ),
        )
    )


def _ratio(rows: Sequence[Row], kind: str, name: str, algorithm: str, side: int) -> float:
    own = pick(rows, type=kind, permutation=name, algorithm=algorithm, sqrt_n=side)
    (several,), (papers,) = (pick(own, launch=shape.name) for shape in (SEVERAL, PAPER))
    return number(papers, "measured") / number(several, "measured")


def _errors(rows: Sequence[Row], sides: Sequence[int]) -> str:
    coalesced = pick(rows, coalesced=True)
    return "\n".join(
        (
            paragraph("The mean absolute error of the model over the coalesced cells:"),
            table(
                ("launch", *(f"√n = {side}" for side in sides)),
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
        )
    )


# ------------------------------------------------------------ the fastest


def contests(rows: Sequence[Row], shape: Shape) -> dict[Place, Contest]:
    """The fastest algorithm on the card in each cell, for one shape of launch."""
    found = {
        place: contest(own, lambda row: number(row, "measured"))
        for place, own in cells(launched(rows, shape)).items()
    }
    return {place: one for place, one in found.items() if one}


def changed(rows: Sequence[Row]) -> Iterator[tuple[Place, list[Contest]]]:
    """The cells whose fastest algorithm differs between launches, with each launch's."""
    by_shape = [contests(rows, shape) for shape in LAUNCHES]
    for place in by_shape[0]:
        own = [found[place] for found in by_shape]
        if len({one.winner for one in own}) > 1:
            yield place, own


def _changes(rows: Sequence[Row]) -> str:
    differing = list(changed(rows))
    crossed = [
        (place, own)
        for place, own in differing
        if len({one.winner == "scheduled" for one in own}) > 1
    ]
    won = [
        f'{sum(one.winner == "scheduled" for one in found.values())} ("{shape.name}")'
        for shape in LAUNCHES
        for found in (contests(rows, shape),)
    ]
    return "\n".join(
        (
            paragraph(
                f"""The fastest algorithm changes with the launch in {len(differing)} of
                {len(contests(rows, SEVERAL))} cells. In {len(differing) - len(crossed)} of them
                only D- and S-designated change places. In {count(len(crossed), "cell")} the change
                is between scheduled and the others. The table has the fastest algorithm there, and
                the ratio of the other way's time to its time. Scheduled wins {listed(won)}."""
            ),
            table(
                ("type", "permutation", "√n", *(shape.name for shape in LAUNCHES)),
                (
                    (kind, plain(name), str(side), *map(_winner, own))
                    for (kind, name, side), own in crossed
                ),
                texts=2,
            ),
        )
    )


def _winner(one: Contest) -> str:
    return f"{one.winner.removesuffix('-designated')} {one.ahead:.2f}"
