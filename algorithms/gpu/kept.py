"""The kept results of a GPU, and computations from them without a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mmsim.gpu.calibrated import Calibration
from mmsim.gpu.record import Record, Row
from mmsim.reports.gpu import error
from mmsim_algorithms.gpu.permuting import SEVERAL, SHORT, WARP, Shape

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parents[1] / "benchmarks" / "results" / "gpu"
FOLDER = SOURCES if SOURCES.is_dir() else HERE / "results"
"""The folder of the results: in the repository, or next to this file (in a wheel)."""
SECTOR = 32
"""The least number of bytes that the card moves between its memory and its caches."""
NEAR = 0.25
"""A time is explained if the explanation is off by at most this part of it."""
CONVENTIONAL = ("D-designated", "S-designated")


@dataclass(frozen=True)
class Results:
    """All records of a folder, by experiment."""

    records: dict[str, Record]

    @staticmethod
    def read(folder: Path = FOLDER) -> Results:
        """The records of a folder, by the name of their experiment.

        The planted bugs' record is left out; they are in docs/planted.md.
        """
        files = sorted(file for file in folder.glob("*.json") if file.stem != "planted")
        found = [Record.read(file) for file in files]
        return Results({record.experiment: record for record in found})

    def __getitem__(self, experiment: str) -> Record:
        return self.records[experiment]

    @property
    def card(self) -> Calibration:
        """The card's machine, by its own calibration."""
        (row,) = self["calibration"].rows
        return Calibration.from_dict(dict(row))

    def calibration(self, experiment: str) -> Calibration:
        """The machine of an experiment's predictions."""
        return Calibration.from_dict(self[experiment].facts["calibration"])


def number(row: Row, field: str) -> float:
    """A field that is a number."""
    value = row[field]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{field} is {value!r}, not a number")
    return float(value)


def pick(rows: Iterable[Row], **wanted: Any) -> list[Row]:
    """The rows with these values; `sqrt_n` stands for the field "sqrt n".

    >>> pick([{"sqrt n": 8, "type": "float"}, {"sqrt n": 9, "type": "float"}], sqrt_n=9)
    [{'sqrt n': 9, 'type': 'float'}]
    """
    fields = {name.replace("_", " "): value for name, value in wanted.items()}
    return [row for row in rows if all(row[name] == value for name, value in fields.items())]


def values(rows: Iterable[Row], field: str) -> list[Any]:
    """The values of a field, each once, in order."""
    return list(dict.fromkeys(row[field] for row in rows))


def factor(row: Row) -> float:
    """The model's time divided by the card's."""
    return number(row, "predicted") / number(row, "measured")


def errors(rows: Iterable[Row]) -> list[float]:
    """The model's error for each row, as a fraction of the measured time."""
    return [off for off in map(error, rows) if off is not None]


def mean_error(rows: Iterable[Row]) -> float:
    """The mean absolute error."""
    found = errors(rows)
    return sum(map(abs, found)) / len(found)


def largest_error(rows: Iterable[Row]) -> float:
    """The largest absolute error."""
    return max(map(abs, errors(rows)))


# ------------------------------------------------------------ global memory


def launched(rows: Iterable[Row], shape: Shape) -> list[Row]:
    """Table II's rows as launched in a shape.

    D- and S-designated have no tables s and d, so short tables don't change them.
    """
    plain = SEVERAL if shape is SHORT else shape
    return [
        row
        for row in rows
        if row["launch"] == (shape if row["algorithm"] == "scheduled" else plain).name
    ]


def word_bytes(row: Row) -> int:
    """The bytes of a word; rows without a type are floats."""
    return 8 if row.get("type") == "double" else 4


def words(row: Row) -> int:
    """The number of words that a row permutes."""
    return int(number(row, "sqrt n")) ** 2


def _groups(row: Row) -> float:
    """Address groups of 32 words of 4 bytes in a conventional permutation's two plain rounds.

    It reads its table of 4-byte words, and reads or writes an array of words of the row's type.
    """
    return words(row) / WARP * (1 + word_bytes(row) / 4)


def time_with_sectors(row: Row, calibration: Calibration) -> float:
    """Milliseconds of a conventional permutation if each casual access cost one sector.

    A sector is a quarter of an address group.
    """
    sectors_of_a_group = WARP * 4 // SECTOR
    return calibration.milliseconds(_groups(row) + words(row) / sectors_of_a_group, launches=1)


def sectors_of_an_access(row: Row, calibration: Calibration) -> float:
    """The time of one casual access on the card in sectors, without launch and plain rounds."""
    casual = number(row, "measured") - calibration.milliseconds(_groups(row), launches=1)
    sector = calibration.milliseconds(SECTOR / (WARP * 4), launches=0)
    return casual / (words(row) * sector)


def explained(row: Row, calibration: Calibration) -> bool:
    """Return whether `time_with_sectors` is near the measured time."""
    return abs(time_with_sectors(row, calibration) / number(row, "measured") - 1) <= NEAR


@dataclass(frozen=True)
class Contest:
    """The fastest algorithm, and the ratio of the other way's time to its time.

    The two ways are the scheduled permutation and the better one of the conventional ones.
    """

    winner: str
    ahead: float


def contest(rows: Iterable[Row], time: Callable[[Row], float | None]) -> Contest | None:
    """The fastest of the three algorithms of one cell; None if a time is missing."""
    times = {str(row["algorithm"]): time(row) for row in rows}
    known = {algorithm: one for algorithm, one in times.items() if one is not None}
    if known.keys() != {*CONVENTIONAL, "scheduled"}:
        return None
    better = min(CONVENTIONAL, key=known.__getitem__)
    scheduled = known["scheduled"]
    if scheduled < known[better]:
        return Contest("scheduled", known[better] / scheduled)
    return Contest(better, scheduled / known[better])


def paper_ms(row: Row) -> float | None:
    """The paper's time, if it has one."""
    return None if row["paper ms"] is None else number(row, "paper ms")
