"""The machine of a sweep's row as columns: its kind and its numbers, to filter rows by."""

import json
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest

import mmsim as mm
from mmsim.cli import main
from mmsim.cli.sweep import sweep_table
from mmsim.sweeps import read
from mmsim.sweeps.cases import make_cases
from mmsim.sweeps.rows import MACHINE, machine_columns, row_of_lost_worker


@mm.program
def load(T, a):
    a[T.id]


def case(n, machine):
    """A run; n = 13 is a case that fails."""
    if n == 13:
        raise ValueError
    return machine.run(load, np.zeros(n), threads=n)


MACHINES = [
    mm.DMM(4, 5),
    mm.DMM(8, 5),
    mm.UMM(4, 5),
    mm.HMM(2, 4, 9, 3),
    mm.DMM(4, 5, bank_bytes=4),
]
COLUMNS = [
    ("DMM", 4, 5, None, None, None),
    ("DMM", 8, 5, None, None, None),
    ("UMM", 4, 5, None, None, None),
    ("HMM", 4, 9, 2, 3, None),
    ("DMM", 4, 5, None, None, 4),
]


@pytest.fixture
def rows(tmp_path):
    return mm.sweep(case, {"machine": MACHINES, "n": [4, 8]}, tmp_path / "rows.jsonl", jobs=1)


def titles(rows):
    """The titles of the columns that the command prints of rows."""
    return [str(column.header) for column in sweep_table(rows).columns]


def test_rows_have_the_kind_and_the_numbers_of_their_machine(rows, tmp_path):
    assert [tuple(map(row.get, MACHINE)) for row in rows[::2]] == COLUMNS
    assert [row["machine"] for row in rows[::2]] == list(map(str, MACHINES))
    assert read(tmp_path / "rows.jsonl") == rows


def test_a_failed_case_has_them_too(tmp_path):
    (row,) = mm.sweep(case, {"machine": MACHINES[3:4], "n": [13]}, tmp_path / "rows.jsonl", jobs=1)
    assert row["error"] == "ValueError"
    assert tuple(map(row.get, MACHINE)) == COLUMNS[3]
    (died,) = make_cases(case, {"machine": MACHINES[3:4], "n": [4]})
    assert tuple(map(row_of_lost_worker(died.values, died.written).get, MACHINE)) == COLUMNS[3]


def test_a_parameter_keeps_its_name(tmp_path):
    def made(width):
        return case(4, mm.DMM(2 * width, 5))

    (row,) = mm.sweep(made, {"width": [4]}, tmp_path / "rows.jsonl", jobs=1)
    assert (row["width"], row["latency"], row["machine"]) == (4, 5, "DMM(width=8, latency=5)")


@dataclass(frozen=True)
class Own(mm.Machine):
    """A machine with shared memories of several latencies."""

    width: int
    latencies: tuple[int, ...]

    @cached_property
    def memory(self):
        return mm.Unit("global", mm.Groups(self.width), 7, space="global")

    @cached_property
    def shared(self):
        banks = mm.Banks(self.width)
        return tuple(
            mm.Unit(f"shared[{dmm}]", banks, latency, dmm, "shared")
            for dmm, latency in enumerate(self.latencies)
        )


@pytest.mark.parametrize(
    ("latencies", "dmms", "latency"), [((), None, None), ((2, 2), 2, 2), ((2, 3), 2, None)]
)
def test_your_own_machine_has_what_it_has(latencies, dmms, latency):
    found = machine_columns(Own(4, latencies))
    assert tuple(map(found.get, MACHINE)) == ("Own", 4, 7, dmms, latency, None)


def test_a_machine_of_more_dmms_than_memory_has_room_for():
    assert machine_columns(mm.HMM(2**31 - 1, 32, 300))["dmms"] == 2**31 - 1


def test_rows_of_an_earlier_version_stay_readable(rows, tmp_path):
    path = tmp_path / "rows.jsonl"
    old = [{name: row[name] for name in row if name not in MACHINE} for row in rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in old))
    assert read(path) == old
    assert mm.sweep(case, {"machine": MACHINES, "n": [4, 8]}, path, jobs=1) == old
    assert titles(old)[:2] == ["machine", "n"]


def test_the_table_has_the_columns_in_which_machines_differ(rows):
    assert titles(rows[:4])[:3] == ["n", "width", "threads"]
    assert titles([rows[0], rows[4]])[:1] == ["kind"]
    own = [{**row, "machine": name} for row, name in zip(rows[:2], "ab", strict=True)]
    assert titles(own)[0] == "machine"  # nothing else says which it is


def test_the_command_has_them_once(tmp_path, capsys):
    out = tmp_path / "rows.jsonl"
    words = ["sweep", "mmsim_algorithms.access:stride", "--size", "64", "--threads", "64"]
    assert main([*words, "--machine", "dmm", "hmm", "--jobs", "1", "--out", str(out)]) == 0
    assert [(row["machine"], row["kind"], row["dmms"]) for row in read(out)] == [
        ("dmm", "DMM", None),
        ("hmm", "HMM", 1),
    ]
    printed = capsys.readouterr().out
    assert "kind" in printed
    assert "dmm " not in printed


def test_a_figure_has_a_series_for_each_kind_and_the_formula(rows):
    from mmsim.claims import choose, registered

    axes = mm.figures.sweep([*rows[:2], *rows[4:6]], "n")
    assert [line.get_label() for line in axes.lines] == ["DMM", "UMM"]
    axes = mm.figures.sweep([row for row in rows[:6] if row["n"] == 8], "width")
    assert [line.get_label() for line in axes.lines] == ["DMM", "UMM"]
    (claim,) = choose(registered(), ["SMM-T3.1b"])[:1]
    axes = mm.figures.sweep(rows[:2], "n", claim)  # its w and l are the machine's
    drawn = {line.get_label().split(":")[0]: list(line.get_ydata()) for line in axes.lines}
    assert drawn[claim.id] == [
        float(claim.evaluate({"n": n, "p": n, "w": 4, "l": 5})) for n in (4, 8)
    ]


def test_the_letters_of_a_row_are_those_of_the_formula():
    from mmsim.claims import choose, registered

    (claim,) = choose(registered(), ["SMM-T3.1b"])[:1]
    row = {"n": 64, "p": 64, "w": 8, "l": 5, "width": None, "latency": None, "time": 1}
    axes = mm.figures.sweep([row], "n", claim)
    assert claim.id in [line.get_label().split(":")[0] for line in axes.lines]


def test_fit_takes_their_numbers(tmp_path, capsys):
    path = tmp_path / "rows.jsonl"
    machines = [mm.DMM(w, l) for w in (2, 4, 8) for l in (1, 2, 5)]
    mm.sweep(case, {"machine": machines, "n": [64, 128, 256]}, path, jobs=1)
    assert main(["fit", str(path)]) == 0
    assert "p/w" in capsys.readouterr().out
