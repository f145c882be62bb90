"""`Run.diff`, and a run as a data frame."""

import csv
import sys

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import LaunchError, MMSimError


@mm.program
def naive(T, a, b):
    i, j = T.id // a.shape[1], T.id % a.shape[1]
    b[j, i] = a[i, j]


@mm.program
def tiled(T, a, b):
    i, j = T.id // a.shape[1], T.id % a.shape[1]
    s = mm.shared((8, 8))
    s[j, i] = a[i, j]
    T.barrier()
    b[i, j] = s[i, j]


A = np.arange(64).reshape(8, 8)


def ran(program, machine=mm.HMM(1, 8, 20), **options):  # noqa: B008
    return machine.run(program, A, np.zeros_like(A), threads=64, **options)


def found(one):
    """The contents of a row: array, kind, and the stages of both."""
    named = one.first or one.second
    return named.array, named.kind, *(side and side.stages for side in (one.first, one.second))


def test_two_programs_stand_together_by_array_and_kind():
    difference = ran(naive).diff(ran(tiled))
    assert list(map(found, difference.rows)) == [
        ("a", "read", 8, 8),
        ("b", "write", 64, 8),
        ("s", "write", None, 64),
        ("s", "read", None, 8),
    ]
    assert [row.times for row in difference.rows] == [(27, 27), (83, 27), (None, 64), (None, 8)]
    lines = str(difference).splitlines()
    assert lines[0] == (
        "naive -> tiled on HMM(dmms=1, width=8, global_latency=20, shared_latency=1), synchronous: "
        "time 110 -> 126, stages 72 -> 88, wasted 56"
    )
    assert lines[3].split()[-8:] == ["64", "->", "8", "56", "->", "0", "83", "->", "27"][1:]
    assert "s      write   shared    - -> 8  - -> 64  - -> 56" in lines[4]
    assert "<table" in difference._repr_html_()


def test_the_other_way_round():
    there, back = ran(naive).diff(ran(tiled)), ran(tiled).diff(ran(naive))

    def of(row):
        return row.first, row.second, row.times

    turned = [(row.second, row.first, row.times[::-1]) for row in back.rows]
    assert sorted(map(repr, map(of, there.rows))) == sorted(map(repr, turned))


def test_without_lock_step_lines_have_no_time():
    text = str(ran(tiled).diff(ran(tiled, schedule="asynchronous")))
    assert "synchronous -> asynchronous: time 126 -> 112, stages 88" in text
    assert text.splitlines()[1].split()[-1] == "wasted"


def test_two_machines_with_other_spaces():
    difference = ran(tiled, mm.DMM(8, 2)).diff(ran(tiled))
    assert all(row.first and row.second for row in difference.rows)
    assert "memory -> shared" in str(difference)


def test_lines_of_one_program_are_not_confused():
    @mm.program
    def two(T, a, s):
        a[T.id]
        if s > 1:
            a[T.id + 1]
        a[s * T.id]

    one, other = (mm.DMM(4, 3).run(two, np.zeros(64), s, threads=8) for s in (1, 4))
    rows = one.diff(other).rows
    assert [(row.first and row.first.line, row.second.line) for row in rows] == [
        (rows[0].second.line, rows[0].second.line),
        (rows[1].second.line, rows[0].second.line + 3),
        (None, rows[0].second.line + 2),
    ]


def test_a_run_differs_from_another_run_only():
    with pytest.raises(LaunchError, match="diff takes another run, not 3"):
        ran(naive).diff(3)


@pytest.mark.parametrize("rows", ["accesses", "rounds"])
def test_a_data_frame_has_what_the_csv_has(rows, tmp_path):
    run = ran(naive)
    frame = run.to_dataframe(rows)
    run.to_csv(tmp_path / "rows.csv", rows)
    with open(tmp_path / "rows.csv", encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    assert list(frame.columns) == list(written[0])
    assert [{k: str(v) for k, v in row.items()} for row in frame.to_dict("records")] == written
    assert frame["wasted"].sum() == run.wasted == 56


def test_a_data_frame_needs_pandas_only_when_it_is_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MMSimError, match=r"needs pandas: pip install pandas; run.to_csv\(path\)"):
        ran(naive).to_dataframe()
    with pytest.raises(LaunchError, match="'accesses' or 'rounds'"):
        ran(naive).to_dataframe("lines")
