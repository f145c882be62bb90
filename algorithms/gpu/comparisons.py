"""A card's kept times and counts, compared with the model's: tables and texts.

docs/metal.md and the notebook about it show them. Prose stands in `texts`, in Markdown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib.resources import files
from typing import Any

from mmsim.gpu.calibrated import Calibration
from mmsim.gpu.calibration import FAR, PLACES, STEPS, WORDS
from mmsim.gpu.record import Record, Row
from mmsim.reports.gpu import error
from mmsim_algorithms.gpu.cfp_rap_tables import N
from mmsim_algorithms.gpu.icpp_tables import COALESCED
from mmsim_algorithms.gpu.kept import (
    CONVENTIONAL,
    SECTOR,
    Contest,
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
from mmsim_algorithms.gpu.markdown import count, filled, listed, percent, short, signed, table
from mmsim_algorithms.gpu.permuting import WARP

LARGE = 4096
"""From here on an array is much longer than needed to hide the latency."""
MEDIUM = 1024
"""From here on a casual access's own cost can be distinguished from that of the launch."""
FOLDER = "algorithms."  # the package's name where records were made before it was mmsim_algorithms
Place = tuple[str, str, int]
"""A type, a permutation and a size."""


def text(name: str, **about: Any) -> str:
    """A text of the folder `texts`, with these values in its places, filled."""
    file = files("mmsim_algorithms.gpu") / "texts" / f"{name}.md"
    return filled(file.read_text(encoding="utf-8").format(**about))


def calibration_table(found: Calibration) -> str:
    """The numbers of a calibration: their meanings and their measurements."""
    about = {"warp": WARP, "words": WORDS, "places": PLACES, "far": FAR}
    return text("calibration", found=found, block=N, few=STEPS, many=3 * STEPS, **about)


# ------------------------------------------------------------ rows


def plain(name: object) -> str:
    """A name in words.

    >>> plain("bit_reversal")
    'bit reversal'
    """
    return str(name).replace("_", " ")


def named(row: Row) -> str:
    """A row's algorithm, permutation and type, in words."""
    return f"{row['algorithm']} along {plain(row['permutation'])} ({row['type']})"


def large(rows: Iterable[Row]) -> list[Row]:
    """The rows of large arrays."""
    return [row for row in rows if number(row, "sqrt n") >= LARGE]


def by_size(sides: Iterable[int]) -> list[str]:
    """The heads of columns for sizes.

    >>> by_size([256])
    ['√n = 256']
    """
    return [f"√n = {side}" for side in sides]


def cell(row: Row) -> str:
    """A cell in milliseconds: the paper's, the measured, the predicted; the error or the factor."""
    paper, off = paper_ms(row), error(row)
    assert off is not None
    times = f"{short(number(row, 'measured'))}, {short(number(row, 'predicted'))}"
    last = signed(off) if row["coalesced"] else f"x {factor(row):.2f}"
    return "<br>".join((*([] if paper is None else [f"{paper:g}"]), times, last))


def sizes(rows: Sequence[Row], sides: Sequence[int], cell: Callable[[Row], str]) -> str:
    """A line for each type, permutation and algorithm, a column for each size."""
    names = [values(rows, name) for name in ("type", "permutation", "algorithm")]
    lines = [(kind, name, one) for kind in names[0] for name in names[1] for one in names[2]]
    return table(
        ("type", "permutation", "algorithm", *by_size(sides)),
        (
            (
                *(kind, plain(name), one),
                *(
                    cell(*pick(rows, type=kind, permutation=name, algorithm=one, sqrt_n=side))
                    for side in sides
                ),
            )
            for kind, name, one in lines
        ),
        texts=3,
    )


# ------------------------------------------------------------ coalesced access


def groups(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The coalesced cells by kind: identical, shuffle, scheduled."""
    plain = [row for row in rows if row["algorithm"] in CONVENTIONAL]
    found = {name: pick(plain, permutation=name) for name in COALESCED}
    return {**found, "scheduled": pick(rows, algorithm="scheduled")}


def coalesced_errors(rows: Sequence[Row]) -> str:
    """The errors of the coalesced cells of large arrays, by kind."""
    own = large(rows)
    sides = values(own, "sqrt n")
    lines = [("all coalesced", pick(own, coalesced=True)), *groups(own).items()]
    lines[3:3] = [
        (f"shuffle, {one}", pick(groups(own)["shuffle"], algorithm=one)) for one in CONVENTIONAL
    ]
    return table(
        ("cells", "how many", *by_size(sides), "both", "largest"),
        (
            (
                *(name, str(len(found))),
                *(percent(mean_error(pick(found, sqrt_n=side))) for side in sides),
                *(percent(mean_error(found)), percent(largest_error(found))),
            )
            for name, found in lines
        ),
    )


def half_groups(rows: Sequence[Row]) -> str:
    """Explain the model's error for reads of halves of address groups."""
    source = pick(groups(large(rows))["shuffle"], algorithm="S-designated")
    shuffled = [
        number(row, "measured") / number(_of(rows, "identical", row), "measured") for row in source
    ]
    low, high = map(signed, (min(errors(source)), max(errors(source))))
    least, most = map(short, (min(shuffled), max(shuffled)))
    return text("half_groups", sector=SECTOR, low=low, high=high, least=least, most=most)


def _of(rows: Sequence[Row], permutation: str, like: Row) -> Row:
    """The row that differs only in the permutation."""
    fields = {name: like[name] for name in ("type", "sqrt n", "algorithm")}
    (found,) = pick(rows, **fields, permutation=permutation)
    return found


def factors(rows: Sequence[Row]) -> str:
    """The model's time divided by the card's, over the cells of each size."""
    lines = []
    for side in values(rows, "sqrt n"):
        own = [factor(row) for row in pick(rows, sqrt_n=side)]
        of_all = (min(own), sum(own) / len(own), max(own))
        lines.append((str(side), str(len(own)), *(f"{one:.2f}" for one in of_all)))
    return table(("√n", "cells", "least", "mean", "most"), lines, texts=0)


# ------------------------------------------------------------ casual access


def casual(rows: Iterable[Row]) -> list[Row]:
    """The rows whose accesses aren't coalesced."""
    return [row for row in rows if not row["coalesced"]]


def reasons(side: float) -> str:
    """The known facts of casual access on such cards, with an array that long as an example."""
    floats, doubles = (
        int(side) ** 2 * word_bytes({"type": kind}) // 2**20 for kind in ("float", "double")
    )
    return text("casual_access", sector=SECTOR, side=side, floats=floats, doubles=doubles)


def sectors(rows: Sequence[Row], calibration: Calibration) -> str:
    """The time of one casual access, in sectors."""
    own = casual(rows)
    medium = [side for side in values(own, "sqrt n") if side >= MEDIUM]
    return sizes(own, medium, lambda row: f"{sectors_of_an_access(row, calibration):.2f}")


def with_sectors(rows: Sequence[Row], calibration: Calibration) -> str:
    """S-designated's time, if each casual read cost one sector, divided by the card's."""

    def estimate(row: Row) -> str:
        part = f"{time_with_sectors(row, calibration) / number(row, 'measured'):.2f}"
        return f"**{part}**" if explained(row, calibration) else part

    source = pick(casual(rows), algorithm="S-designated")
    return sizes(source, values(source, "sqrt n"), estimate)


# ------------------------------------------------------------ the fastest algorithm


def places(rows: Sequence[Row]) -> dict[Place, list[Row]]:
    """The rows of the competing algorithms for each type, permutation and size."""
    return {
        (kind, name, side): pick(rows, type=kind, permutation=name, sqrt_n=side)
        for kind in values(rows, "type")
        for name in values(rows, "permutation")
        for side in values(rows, "sqrt n")
    }


def contests(rows: Sequence[Row], time: Callable[[Row], float | None]) -> dict[Place, Contest]:
    """The fastest algorithm of each type, permutation and size with known times."""
    found = {place: contest(own, time) for place, own in places(rows).items()}
    return {place: one for place, one in found.items() if one}


def winners(rows: Sequence[Row], time: Callable[[Row], float | None]) -> dict[Place, str]:
    """The names of these algorithms."""
    return {place: one.winner for place, one in contests(rows, time).items()}


def ahead(one: Contest) -> str:
    """The fastest algorithm, and the ratio of the other way's time to its time.

    >>> ahead(Contest("D-designated", 1.5))
    'D 1.50'
    """
    return f"{one.winner.removesuffix('-designated')} {one.ahead:.2f}"


def where_scheduled_wins(rows: Sequence[Row]) -> str:
    """A section: on the card, in the paper, and by the model."""
    here = contests(rows, lambda row: number(row, "measured"))
    model = winners(rows, lambda row: number(row, "predicted"))
    paper = winners(rows, paper_ms)
    won, then, forecast = (
        [place for place, one in of.items() if one == "scheduled"]
        for of in ({place: one.winner for place, one in here.items()}, paper, model)
    )
    sides = values(rows, "sqrt n")
    lines = [
        (kind, plain(name), *(ahead(here[kind, name, side]) for side in sides))
        for kind in values(rows, "type")
        for name in values(rows, "permutation")
    ]
    return text(
        "winners",
        table=table(("type", "permutation", *by_size(sides)), lines, texts=2),
        won=len(won),
        cells=len(here),
        names=listed(f"{plain(name)} ({kind}) at √n = {side}" for kind, name, side in won)
        or "none",
        then=len(then),
        printed=len(paper),
        forecast=len(forecast),
        both=sum(place in forecast for place in won),
    )


# ------------------------------------------------------------ counts


def verdicts(record: Record) -> str:
    """Count the counts that equal the model's, and give the reasons for the others."""
    equal = [row for row in record.rows if row["hardware"] == row["model"]]
    reasons: dict[str, list[Row]] = {}
    for row in record.rows:
        if row["hardware"] != row["model"]:
            reasons.setdefault(str(row["verdict"]), []).append(row)
    by_memory = [
        f"{len(pick(equal, machine=machine, memory=memory))} of "
        f"{len(pick(record.rows, machine=machine, memory=memory))} of {memory} memory against the "
        f"{machine}"
        for machine in values(record.rows, "machine")
        for memory in values(pick(record.rows, machine=machine), "memory")
    ]
    lines = [
        (str(len(own)), reason, "<br>".join(map(_counted, own))) for reason, own in reasons.items()
    ]
    return text(
        "verdicts",
        equal=len(equal),
        counts=count(len(record.rows), "count"),
        by_memory=listed(by_memory),
        different=len(record.rows) - len(equal),
        table=table(("counts", "why", "program: hardware, model"), lines, texts=3),
    )


def _counted(row: Row) -> str:
    program = str(row["program"]).removeprefix("mmsim_").removeprefix(FOLDER)
    return f"{program}, {row['memory']} {row['kind']}: {row['hardware']}, {row['model']}"
