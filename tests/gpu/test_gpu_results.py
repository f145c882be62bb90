"""The kept results of an NVIDIA GPU: what they promise, and that today's code predicts them still.

Nothing here needs a GPU.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.laboratory.predict_again import predict_again
from mmsim.gpu import Calibration
from mmsim.gpu.experiment import Conditions, registered_experiments
from mmsim.gpu.record import Record
from mmsim.reports.gpu import error
from mmsim_algorithms.gpu import icpp_tables as global_tables
from mmsim_algorithms.gpu.atomics import ACCESSES, hardware, patterns_in_time, prepare
from mmsim_algorithms.gpu.kept import launched
from mmsim_algorithms.gpu.permuting import SEVERAL

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "gpu"


def kept(name):
    return Record.read(RESULTS / f"{name}.json")


def machines_of(record):
    return Calibration.from_dict(record.facts["calibration"])


def errors(rows):
    return [abs(error(row)) for row in rows]


@pytest.mark.parametrize("file", sorted(RESULTS.glob("*.json")), ids=lambda file: file.stem)
def test_a_record_says_where_its_numbers_come_from(file):
    record = Record.read(file)
    assert record.experiment == file.stem
    assert record.rows
    for fact in ("device", "driver", "cuda", "date", "command", "mmsim", "cupy"):
        assert isinstance(record.facts[fact], str)
    assert file.read_text() == record.to_json()


def test_all_experiments_are_kept_with_the_machines_they_were_predicted_on():
    for name, experiment in registered_experiments().items():
        record = kept(name)
        assert record.facts["unit"] == experiment.unit
        assert machines_of(record).device == record.facts["device"]
        assert {"measured", "predicted"} <= set.intersection(*(set(row) for row in record.rows))
    (row,) = kept("calibration").rows
    assert Calibration.read(RESULTS / "calibration.json").to_dict() == row


@pytest.mark.parametrize(("name", "cells"), [("CFP-T2", 32), ("RAP-T3", 18)])
def test_shared_memory_is_predicted_within_2_percent(name, cells):
    rows = kept(name).rows
    assert len(rows) == cells
    assert max(errors(rows)) < 0.02
    for row in rows:
        assert row["low"] <= row["measured"] <= row["high"]


@pytest.mark.parametrize("side", [4096, 8192])
def test_coalesced_permutations_of_long_arrays_are_predicted_within_10_percent(side):
    rows = launched(kept("ICPP-T2").rows, SEVERAL)
    rows = [row for row in rows if row["sqrt n"] == side and row["coalesced"]]
    assert len(rows) == 2 * (5 + 2 * 2)
    found = errors(rows)
    assert sum(found) / len(found) < 0.10


def test_all_random_programs_were_equal_and_four_tools_silent():
    record = kept("random-programs")
    assert all(row["equal"] for row in record.rows)
    assert len({row["number"] for row in record.rows}) == 300
    shown = record.facts["sanitizer"]
    assert list(shown) == ["memcheck", "racecheck", "initcheck", "synccheck"]
    for line in shown.values():
        assert re.search(r"\b0 (errors|hazards)\b", line)
        assert set(re.findall(r"\d+", line)) == {"0"}


def test_atomics_in_shared_memory_that_give_an_old_word_take_the_model_s_wavefronts():
    counted = [row for row in kept("atomics").rows if row["measure"] == "counts"]
    own = [
        row
        for row in counted
        if (row["memory"], row["access"]) == ("shared", "int32 add, old value used")
    ]
    assert len(own) == 72
    assert [hardware(row) for row in own] == [row["model"] for row in own]


def test_what_is_kept_of_atomics_is_what_the_model_says_today():
    rows = kept("atomics").rows
    timed = [row for row in rows if row["measure"] == "cycles"]
    cases = [(case.access, case.pattern) for case in prepare()]
    accesses = [one for one in ACCESSES if one.again is not None]
    cases += [(access, pattern) for access in accesses for pattern in patterns_in_time()]
    every = [access.about(pattern) for access, pattern in cases]
    assert len(rows) == len(every)
    for about in every:
        assert sum(about.items() <= row.items() for row in rows) == 1
    assert all(row["equal"] for row in timed)
    for row in timed:
        assert row["low"] <= row["cycles"] <= row["high"]


def without_measurements(row):
    left_out = ("measured", "low", "high")
    return {name: value for name, value in row.items() if name not in left_out}


@pytest.mark.parametrize("name", ["CFP-T2", "RAP-T3", "CFP-F7"])
def test_what_was_predicted_of_shared_memory_is_predicted_today(name):
    record = kept(name)
    cells = registered_experiments()[name].cells(Conditions(machines_of(record)))
    found = [{**cell.about, **cell.predict()} for cell in cells]
    assert found == [without_measurements(row) for row in record.rows]


AGAIN = ("D-designated", "scheduled")


def test_predicting_again_changes_nothing_but_what_is_predicted(uncompiled):
    record = kept("ICPP-T2")
    rows = [row for row in record.rows if row["sqrt n"] == 256]
    few = [next(row for row in rows if row["algorithm"] == kind) for kind in AGAIN]
    forgotten = replace(record, rows=tuple({**row, "predicted": 0.0} for row in few))
    again = predict_again(forgotten)
    assert [row["predicted"] for row in again.rows] == pytest.approx(
        [row["predicted"] for row in few], rel=1e-12
    )
    assert [{**row, "predicted": 0.0} for row in again.rows] == list(forgotten.rows)
    assert again.facts["date"] == record.facts["date"] < again.facts["predicted"]


CELLS = [
    *(("float", name, 256, "D-designated") for name in ("identical", "shuffle", "random")),
    *(("double", name, 256, "S-designated") for name in ("bit_reversal", "transpose")),
    pytest.param("double", "shuffle", 512, "D-designated", marks=pytest.mark.long),
    pytest.param("double", "identical", 256, "scheduled", marks=pytest.mark.long),
]


@pytest.mark.parametrize(("kind", "name", "side", "algorithm"), CELLS)
def test_what_was_predicted_of_global_memory_is_predicted_today(
    kind, name, side, algorithm, uncompiled
):
    record = kept("ICPP-T2")
    wanted = {"type": kind, "permutation": name, "sqrt n": side, "algorithm": algorithm}
    cells = global_tables.icpp_table_2(Conditions(machines_of(record), side))
    own = [cell for cell in cells if wanted.items() <= cell.about.items()]
    pairs = [
        (cell, row) for cell in own for row in record.rows if cell.about.items() <= row.items()
    ]
    assert pairs
    for cell, row in pairs:
        assert cell.predict()["predicted"] == pytest.approx(row["predicted"], rel=1e-12)
