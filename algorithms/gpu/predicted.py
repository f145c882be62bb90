"""What the machine with a cache predicts, compared with what a card measured and counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mmsim.gpu.record import Record, Row
from mmsim_algorithms.gpu.cached_predictions import COUNTS, KEPT, TIMES
from mmsim_algorithms.gpu.kept import FOLDER, Results, contest, launched, number
from mmsim_algorithms.gpu.kernel_sets import SETS
from mmsim_algorithms.gpu.markdown import percent, signed
from mmsim_algorithms.gpu.permuting import SEVERAL, SHAPES

METRICS = {
    "tags": "lts__t_tag_requests.sum",
    "sectors read": "lts__t_sectors_op_read.sum",
    "read hits": "lts__t_sectors_op_read_lookup_hit.sum",
    "crossings": "lts__t_sectors_srcunit_ltcfabric.sum",
    "memory reads": "dram__sectors_read.sum",
    "memory writes": "dram__sectors_write.sum",
}
"""What is counted, by the name of what is predicted."""
LARGEST = FOLDER.parent / "h200" / "icpp-counters-8192.json"
"""What was counted of the largest permutations, on another H200."""
FEW = 10_000
"""Less than this is not compared: the launch's own reads are among what is counted."""
NEAR, FAR = 0.05, 0.15
"""How far a count, and a time, may be off."""
ABOUT = ("kernel", "data", "permutation", "algorithm", "type", "sqrt n", "step")
"""The fields that say which launch a row is of."""


@dataclass(frozen=True)
class Predictions:
    """The kept predictions of one kind, and what the card measured and counted."""

    rows: tuple[Row, ...]
    measured: tuple[Row, ...]
    counted: tuple[Row, ...]

    @staticmethod
    def kept(which: str, results: Results, folder: Path = KEPT) -> Predictions | None:
        """Of `icpp` or a set of kernels; None where nothing is kept."""
        file = folder / f"{which}.json"
        if not file.exists():
            return None
        rows, counters = Record.read(file).rows, results.records.get(f"{which}-counters")
        counted = () if counters is None else counters.rows
        if which in SETS:
            return Predictions(rows, results[SETS[which].experiment].rows, counted)
        if folder == KEPT:
            counted += Record.read(LARGEST).rows
        return Predictions(rows, tuple(launched(results["ICPP-T2"].rows, SEVERAL)), counted)

    def of(self, what: str) -> list[Row]:
        """The rows of times, of counts or of NumPy's moves."""
        return [row for row in self.rows if row["what"] == what]

    def times(self) -> list[Row]:
        """The measured rows, each with what is predicted of it, as far as that is known."""
        found: list[Row] = []
        for row in self.measured:
            for own in self.of(TIMES):
                if "table" not in own and same(own, row):
                    found.append({**row, "predicted": own["predicted"]})
        return found

    def launches(self) -> list[Row]:
        """Counted launches, of each count the part by which it is predicted to be more."""
        found: list[Row] = []
        for own in self.of(COUNTS):
            for row in self.counted:
                if all(own.get(name) == row.get(name) for name in ABOUT):
                    about = {name: own[name] for name in ABOUT if name in own}
                    found.append({**about, **_off(own, row)})
        return found


def same(own: Row, row: Row) -> bool:
    """Whether a prediction is of a measured row; the scheduled one stands for all permutations."""
    names = [name for name in ABOUT if name in own and own[name] != "all"]
    return all(row.get(name) == own[name] for name in names)


def _off(own: Row, row: Row) -> Row:
    """Of each count the error, None for small counts."""
    found: dict[str, float | None] = {}
    for name, metric in METRICS.items():
        counted = row.get(metric)
        known = isinstance(counted, int) and counted >= FEW
        found[name] = number(own, name) / number(row, metric) - 1 if known else None
    return found


def errors(rows: Iterable[Row]) -> list[float]:
    """By what fraction the predicted time is longer."""
    return [number(row, "predicted") / number(row, "measured") - 1 for row in rows]


def summary(rows: Sequence[Row]) -> str:
    found = errors(rows)
    mean = sum(map(abs, found)) / len(found)
    far = sum(abs(one) > 0.4 for one in found)
    return (
        f"mean absolute error {percent(mean)}, the largest {signed(max(found, key=abs))}, "
        f"{far} over 40%"
    )


def winners(rows: Sequence[Row], by: str) -> dict[tuple[object, ...], str]:
    """Of each type, permutation and size the fastest algorithm."""
    cells: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        cells.setdefault((row["type"], row["permutation"], row["sqrt n"]), []).append(row)
    found = {}
    for key, own in cells.items():
        one = contest(own, lambda row: number(row, by)) if len(own) == len(SHAPES) else None
        if one is not None:
            found[key] = one.winner
    return found


def ratio(rows: Sequence[Row]) -> str:
    if len(rows) != 1:
        return ""
    ratio = number(rows[0], "predicted") / number(rows[0], "measured")
    return f"**{ratio:.2f}**" if abs(ratio - 1) > FAR else f"{ratio:.2f}"


def bold(off: object) -> str:
    if not isinstance(off, float):
        return ""
    return f"**{signed(off)}**" if abs(off) > NEAR else signed(off)
