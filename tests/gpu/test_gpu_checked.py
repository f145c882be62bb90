"""`mmsim reproduce` of the papers' times: kept ones of a GPU and what the model predicts now."""

import pytest

from mmsim.claims import ClaimError
from mmsim.cli import main
from mmsim.gpu.experiment import Cell, registered_experiments
from mmsim.gpu.record import Record
from mmsim_algorithms.gpu import checked_predictions as module
from mmsim_algorithms.gpu import icpp_tables
from mmsim_algorithms.gpu.checked_predictions import checked_predictions

FACTS = {
    "device": "A GPU",
    "date": "2026-11-22T18:00:00+00:00",
    "command": "mmsim gpu reproduce X-T1",
    "unit": "ms",
    "calibration": {
        "device": "A GPU",
        "multiprocessors": 2,
        "cycles_per_stage": 1.25,
        "cycle_ps": 500.0,
        "shared_latency": 20,
        "group_ps": 40.0,
        "global_latency": 60,
        "launch_ns": 2000.0,
    },
}
ROWS = tuple(
    {"n": n, "paper ms": 7.5, "measured": 3.0, "low": 2.0, "high": 4.0, "predicted": 1.5 * n}
    for n in (1, 2, 3)
)


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A folder with a record of three rows; what was predicted."""
    (tmp_path / "X-T1.json").write_text(Record("X-T1", FACTS, ROWS).to_json())
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    return []


def cells_that_take(factor, predicted):
    def cells(conditions):
        assert conditions.calibration.to_dict() == FACTS["calibration"]
        for n in (1, 2, 3):

            def predict(n=n):
                predicted.append(n)
                return {"predicted": factor * n}

            yield Cell({"n": n, "paper ms": 7.5}, dict, predict)

    return cells


def test_what_is_kept_is_predicted_now(kept):
    found = checked_predictions("X-T1", cells_that_take(1.5, kept))
    assert [(row["n"], row["measured"], row["predicted"]) for row in found.rows] == [
        (1, 3.0, 1.5),
        (2, 3.0, 3.0),
        (3, 3.0, 4.5),
    ]
    assert set(found.rows[0]) == {"n", "paper ms", "measured", "predicted"}
    assert found.facts == FACTS
    assert kept == [1, 2, 3]


def test_what_takes_long_is_not_predicted_nor_copied(kept):
    found = checked_predictions(
        "X-T1",
        cells_that_take(1.5, kept),
        shows=lambda row: row["n"] != 2,
        predicts=lambda row: row["n"] < 3,
    )
    assert [(row["n"], row["predicted"]) for row in found.rows] == [(1, 1.5), (3, None)]
    assert kept == [1]


def test_a_model_that_predicts_something_else_than_is_kept_is_an_error(kept):
    with pytest.raises(ClaimError, match=r"n = 1: the model predicts 1\.6 now, but 1\.5 is kept"):
        checked_predictions("X-T1", cells_that_take(1.6, kept))


@pytest.mark.parametrize("name", ["CFP-T2", "RAP-T3"])
def test_the_times_of_shared_memory(name, capsys):
    assert main(["reproduce", name]) == 0
    printed = capsys.readouterr().out
    rows = registered_experiments()[name].kept().rows
    assert all(row["predicted"] is not None for row in rows)
    assert f"{len(rows)} cells predicted: mean absolute error" in printed
    assert "measured: NVIDIA H200, 2026-11-2" in printed
    assert ("figures agree" in printed) == (name == "RAP-T3")


def test_the_times_of_table_2_are_launched_as_in_the_paper(monkeypatch, capsys, uncompiled):
    monkeypatch.setattr(icpp_tables, "SIDES", (256,))  # the others have no cell, so no prediction
    rows = registered_experiments()["ICPP-T2"].kept().rows
    assert len(rows) == 3 * 5 * (5 + 4)  # float to 4096, double to 2048
    assert all((row["predicted"] is not None) == (row["sqrt n"] == 256) for row in rows)
    assert main(["reproduce", "ICPP-T2"]) == 0
    printed = capsys.readouterr().out
    assert "30 cells predicted: mean absolute error" in printed
    assert "as in the paper" not in printed  # all are


def test_the_times_of_table_3_are_extremes_of_a_thousand(monkeypatch):
    monkeypatch.setattr(icpp_tables, "PERMUTATIONS", 0)
    rows = registered_experiments()["ICPP-T3"].kept().rows
    assert len(rows) == 3 * 3
    assert {row["permutations"] for row in rows} == {1000}


@pytest.mark.long
@pytest.mark.parametrize("name", ["ICPP-T2", "ICPP-T3"])
def test_the_times_of_global_memory(name, capsys):
    assert main(["reproduce", name]) == 0
    rows = registered_experiments()[name].kept().rows
    assert all(row["predicted"] is not None for row in rows)
    assert f"{len(rows)} cells predicted" in capsys.readouterr().out
