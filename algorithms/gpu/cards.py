"""The cards that come with mmsim, from the kept measurements.

`python -m mmsim_algorithms.gpu.cards` writes mmsim/model/cards again. `mmsim gpu calibrate --save`
writes a card of the user's in the same way, but without the errors of predictions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import log
from pathlib import Path
from statistics import fmean
from typing import Any

from mmsim.errors import FormatError, MMSimError
from mmsim.gpu.calibrated import Calibration
from mmsim.gpu.operations import ATOMICS, BLOCKS, HOT, LIMIT, LINES, THREADS
from mmsim.gpu.record import Record, Row
from mmsim.model.card import FOLDER as CARDS
from mmsim.model.card import LIMITS, Card, to_json
from mmsim_algorithms.gpu.cache_calibrated import UNIT_PS, WORD, cached_numbers
from mmsim_algorithms.gpu.cached_predictions import KEPT as PREDICTED
from mmsim_algorithms.gpu.cached_predictions import TIMES
from mmsim_algorithms.gpu.kept import FOLDER, Results, number
from mmsim_algorithms.gpu.kernel_sets import SETS

Errors = tuple[tuple[str, int, float], ...]

KEPT = {"h200": FOLDER, "h100": FOLDER.parent / "h100"}
"""The folder of each card's records."""
BLIND = {"h200": (PREDICTED / "seventh.json", FOLDER.parent / "h200" / "SEVENTH.json")}
"""The predictions of the newest blind set for a card, and its measured times."""
CONVERSIONS = {
    "float32": ("convert from and to int32 float32",),
    "float64": (
        "convert from and to int32 float64",
        "convert from and to int64 float32",
        "convert from and to int64 float64",
        "convert from and to float32 float64",
    ),
}
"""The measured conversions by the widest type."""
FIRST_LEVEL, OWN_WAYS = 192 * 1024, 8
"""Bytes and ways of the first-level cache. They are chosen: NVIDIA gives 256 KiB for it and the
shared memory together. Its latency is that of shared memory."""
NEAR = 0b100101
"""Bits of a line's number on which its slice doesn't depend: 2 lines share one."""
OF_9_0: dict[str, Any] = dict(zip(LIMITS, (32, 1 << 16, 228 * 1024, 1024), strict=True))
"""The limits of a multiprocessor of compute capability 9.0, which the kept records lack."""
UNUSED = ("remainder of division int32", "remainder of division int64", "branch int32")


def card(
    name: str, cache: Record, plain: Calibration, operations: Record, errors: Errors = ()
) -> Card:
    """The card of some records: of the cache and memory, of the plain machines, of operations."""
    if "not counted" in cache.facts:
        raise MMSimError(
            "a card needs the GPU's counts of the cache's sectors, but they weren't counted: "
            f"{cache.facts['not counted']}"
        )
    numbers = cached_numbers(cache, plain)
    if any(row["operation"] == LINES for row in operations.rows):
        spread = numbers["spread_latency"] = _units(_ps(operations, LINES, "int32"))
        numbers["miss_latency"] -= spread  # of one line, on average
    return Card(
        plain.multiprocessors,
        32,
        numbers.pop("global_latency"),
        numbers.pop("shared_latency"),
        bank_bytes=WORD,
        **numbers,
        float_time=_units(_ps(operations, ATOMICS, "float32")),
        line_time=_units(_ps(operations, HOT, "int32")),
        near=NEAR,
        merges=1,
        unrolls=1,
        own_capacity=FIRST_LEVEL,
        own_ways=OWN_WAYS,
        own_latency=round(plain.shared_latency * plain.cycle_ps / UNIT_PS),
        name=name,
        device=str(cache.facts["device"]),
        driver=str(cache.facts["driver"]),
        date=str(cache.facts["date"])[:10],
        unit_fs=round(UNIT_PS * 1000),
        launch_time=_units(plain.launch_ns * 1000),
        block_time=_units(of_block(operations.rows)),
        cycle_time=_units(plain.cycle_ps),
        **(limits(operations.rows) or OF_9_0),
        operations=tuple(sorted(costs(operations.rows).items())),
        errors=errors,
    )


def limits(rows: Iterable[Row]) -> dict[str, Any]:
    """The limits of a multiprocessor, as the driver gives them."""
    return {str(row["type"]): int(row["number"] or 0) for row in rows if row["operation"] == LIMIT}


def _ps(operations: Record, name: str, type_: str) -> float:
    (row,) = (one for one in operations.rows if one["operation"] == name and one["type"] == type_)
    return float(row["ps"] or 0)


def _units(ps: float) -> int:
    return round(ps / UNIT_PS)


def of_block(rows: Iterable[Row]) -> float:
    """Picoseconds between the beginnings of two blocks, from launches of many empty blocks."""
    found = sorted(
        (int(row["blocks"] or 0), float(row["ms"] or 0))
        for row in rows
        if row["operation"] == BLOCKS and row["threads"] == THREADS
    )
    (few, short), (many, long) = found[-2:]
    return (long - short) * 1e9 / (many - few)


def costs(rows: Iterable[Row]) -> dict[str, int]:
    """Time units of a multiprocessor for each operation, by name and type."""
    found: dict[str, float] = {}
    waiting: list[Row] = []
    for row in rows:
        if row["operation"] in (BLOCKS, HOT, ATOMICS, LINES, LIMIT):
            continue
        name = f"{row['operation']} {row['type']}"
        if row["within"]:
            waiting.append(row)
        found[name] = float(row["ps"] or 0)
    for row in waiting:
        name, parts = f"{row['operation']} {row['type']}", str(row["within"]).split()
        number = int(parts.pop(0)) if parts[0].isdecimal() else 1
        other = " ".join(parts if len(parts) > 1 else [*parts, str(row["type"])])
        found[name] -= number * found[other]
    for name in ("barrier", "exchange"):
        found[name] = found.pop(f"{name} int32")
    for type_ in ("float32", "float64"):  # of a conversion the widest type counts
        found[f"convert {type_}"] = fmean(
            found.pop(name) for name in [*found] if name in CONVERSIONS[type_]
        )
    for name in ("access", "choice"):  # to issue them
        found[name] = found["sum int32"]
    return {name: max(1, _units(ps)) for name, ps in found.items() if name not in UNUSED}


def of_records(name: str, records: Mapping[str, Record], errors: Errors = ()) -> Card:
    """The card of records by the names of their experiments; or `FormatError`."""
    plain = Results(dict(records)).card
    try:
        return card(name, records["cache"], plain, records["operations"], errors)
    except (KeyError, ValueError, TypeError) as error:
        raise FormatError(f"these measurements make no card: {error!r}") from None


def kept(name: str, folder: Path) -> Card:
    """The card of the records in a folder, with the errors of the kept predictions for it."""
    predictions = PREDICTED / folder.name if folder != FOLDER else PREDICTED
    records = Results.read(folder).records
    found = of_blind(*BLIND[name]) if name in BLIND else errors(records, predictions)
    return of_records(name, records, found)


def of_blind(predicted: Path, measured: Path) -> Errors:
    """Return how far signed predictions of a set were off, as `errors` does."""
    names = "job", "way", "code"
    ms = {tuple(row[name] for name in names): row for row in Record.read(measured).rows}
    off: dict[str, list[float]] = {}
    for row in Record.read(predicted).rows:
        own = ms[tuple(row[name] for name in names)]
        ratio = number(row, "predicted") / number(own, "measured")
        off.setdefault(str(row["bound"]), []).append(abs(log(ratio)))
    return _means(off)


def errors(records: Mapping[str, Record], predictions: Path) -> Errors:
    """Return how far the kept predictions were from the measured times of the same kernels.

    For each bound the number of kernels, and the mean of abs(log(predicted / measured)).
    """
    off: dict[str, list[float]] = {}
    for name, one in SETS.items():
        experiment, file = one.experiment, predictions / f"{name}.json"
        if experiment not in records or not file.exists():
            continue
        rows = [row for row in Record.read(file).rows if row["what"] == TIMES]
        predicted = {_kernel(row): row for row in rows}
        for row in records[experiment].rows:
            found = predicted[_kernel(row)]
            ratio = number(found, "predicted") / number(row, "measured")
            off.setdefault(str(found["bound"]), []).append(abs(log(ratio)))
    return _means(off)


def _means(off: Mapping[str, list[float]]) -> Errors:
    return tuple((bound, len(own), round(fmean(own), 4)) for bound, own in sorted(off.items()))


def _kernel(row: Row) -> tuple[object, ...]:
    """The fields of a predicted and of a measured time that name its kernel."""
    return row["kernel"], row["data"], row["side"]


def main() -> None:
    for name, folder in KEPT.items():
        if (folder / "operations.json").exists():
            (CARDS / f"{name}.json").write_text(to_json(kept(name, folder)), encoding="utf-8")


if __name__ == "__main__":
    main()
