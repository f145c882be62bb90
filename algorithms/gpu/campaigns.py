"""The campaigns of `mmsim gpu`: many small measurements, and the tables that the terminal shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from mmsim.gpu.experiment import Campaign, Cards
from mmsim.reports.gpu import cell
from mmsim.view.tables import Column, columns, rich_rows

if TYPE_CHECKING:
    from rich.table import Table

    from mmsim.gpu.record import Record, Row
    from mmsim.model.card import Card


Say = Callable[[str], None]


def _atomics(command: str, say: Say) -> Iterator[Record]:
    from mmsim_algorithms.gpu.atomics import (
        measured,  # loaded when it is asked for, like the others
    )

    return measured(command, say)


def _banks(command: str, say: Say) -> Iterator[Record]:
    from mmsim_algorithms.gpu.banks import measured

    return measured(command, say)


def _cache(command: str, say: Say) -> Iterator[Record]:
    from mmsim_algorithms.gpu.cache_calibration import measured

    return measured(command, say)


def _operations(command: str, say: Say) -> Iterator[Record]:
    from mmsim.gpu.operations import measured
    from mmsim.gpu.record import Record
    from mmsim.gpu.signed import facts

    known = facts(command)
    yield Record("operations", known, tuple(measured(say)))


def differs(record: Record) -> bool:
    """Return whether the card and the rule of banks differ."""
    return any(row["equal"] != row["patterns"] for row in record.rows)


def of_cache(record: Record) -> Iterator[str]:
    """A line for each number of the cache, and the reason for missing counts."""
    from mmsim_algorithms.gpu.cache_calibration import numbers

    for name, value in numbers(record).items():
        yield f"{name}: {value:,.4g} ps"
    if "not counted" in record.facts:
        yield f"without counts: {record.facts['not counted']}"


def counts(record: Record) -> Table:
    """The counts of atomics, a row for each kind of access."""
    from mmsim_algorithms.gpu.atomics import hardware

    numbers = "patterns counted equal hardware model"
    kinds: dict[tuple[str, str], list[Row]] = {}
    for row in record.rows:
        if row["measure"] == "counts":
            kinds.setdefault((str(row["access"]), str(row["memory"])), []).append(row)
    lines = []
    for kind, rows in kinds.items():
        found = [(hardware(row), int(row["model"] or 0)) for row in rows]
        both = [(count, model) for count, model in found if count is not None]
        equal = sum(count == model for count, model in both)
        sums = (sum(count for count, _ in both), sum(model for _, model in both))
        lines.append((*kind, *map(str, (len(rows), len(both), equal, *sums))))
    return rich_rows(
        columns("access", "memory", *numbers.split(), numbers=numbers),
        lines,
        "atomics: what the GPU counts, and the model's stages, over all patterns",
        "shared: wavefronts; global: requests at the second-level cache",
    )


def of_atomics(record: Record) -> Table:
    """The time of a full block's atomics in shared memory, a row for each access and pattern."""
    names = ("access", "pattern", "model", "cycles", "low", "high", "equal")
    rows = [row for row in record.rows if row["measure"] == "cycles"]
    titles = [Column(name, name not in ("access", "pattern")) for name in names]
    lines = ([cell(row[name]) for name in names] for row in rows)
    return rich_rows(titles, lines, "atomics: clock cycles and the model's stages")


def of_banks(record: Record) -> Table:
    """Wavefronts of shared memory and the rule of banks of 4 bytes, a row for each access."""
    names = ("access", "bytes", "patterns", "equal", "hardware", "model")
    lines = ([cell(row[name]) for name in names] for row in record.rows)
    return rich_rows(
        [Column(name, name != "access") for name in names],
        lines,
        "bank conflicts: what the GPU counts, and the rule, over all patterns",
        "hardware: wavefronts; model: stages",
    )


def of_operations(record: Record) -> Iterator[str]:
    """A line for each measured operation, each launch of empty blocks, and each limit."""
    for row in record.rows:
        if "ps" in row:
            yield f"{row['operation']} {row['type']}: {row['ps']:,.4g} ps"
        elif "number" in row:
            yield f"{row['operation']}, {row['type']}: {row['number']:,}"
        else:
            yield f"{row['blocks']:,} blocks of {row['threads']} threads: {row['ms']:,.4g} ms"


def _card(name: str, records: Mapping[str, Record]) -> Card:
    from mmsim_algorithms.gpu.cards import of_records

    return of_records(name, records)


CAMPAIGNS = (
    Campaign("atomics", _atomics, lambda found: (of_atomics(found), counts(found))),
    Campaign("banks", _banks, lambda found: (of_banks(found),), differs),
    Campaign("cache", _cache, of_cache),
    Campaign("operations", _operations, of_operations),
)
CARDS = Cards(_card)
