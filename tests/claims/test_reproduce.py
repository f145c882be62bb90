"""`mmsim reproduce`: the papers' tables beside ours."""

import pytest

from mmsim.claims import Figure, PaperTable
from mmsim.claims.table import choose_table, registered_tables
from mmsim.cli import main


def test_a_figure_agrees_to_the_last_digit_printed():
    assert Figure("r", "c", "3.53", 3.5349).agrees
    assert not Figure("r", "c", "3.53", 3.5351).agrees
    assert Figure("r", "c", "16", 16).agrees
    assert Figure("r", "c", "2n", "2n").agrees
    assert not Figure("r", "c", "2n", "n").agrees


def test_a_difference_is_explained_by_rounding_and_three_standard_errors():
    assert Figure("r", "c", "4.77", 4.7649, 0.001).explained
    assert not Figure("r", "c", "4.77", 4.7619, 0.001).explained
    assert not Figure("r", "c", "4.77", 4.7649).explained


def test_a_bound_is_kept_or_not():
    assert Figure("r", "c", "log", "3.5 = 1.3 log", kept=True).explained
    assert not Figure("r", "c", "log", "9.5 = 3.4 log", kept=False).explained


@pytest.mark.parametrize("id_", ["CFP-E1", "CFP-T1", "ICPP-T1"])
def test_exact_tables_agree_in_every_cell(capsys, id_):
    assert main(["reproduce", id_]) == 0
    output = capsys.readouterr().out
    count = len(list(choose_table(registered_tables(), id_).figures()))
    assert f"{count} of {count} figures agree" in output


def test_the_simulated_table_of_transposes(capsys):
    assert main(["reproduce", "RAP-T3"]) == 0
    output = capsys.readouterr().out
    assert "CRSW" in output
    assert "±" in output


def test_the_tables_are_listed(capsys):
    assert main(["reproduce"]) == 0
    output = capsys.readouterr().out
    for id_ in ("RAP-T2", "RAP-T3", "RAP-T4", "ICPP-T1", "ICPP-T3", "CFP-T1", "CFP-E1"):
        assert id_ in output


def test_an_unknown_table_and_one_that_differs(capsys, monkeypatch):
    assert main(["reproduce", "RAP-T9"]) == 2
    assert "no table or figure has the id 'RAP-T9'; did you mean" in capsys.readouterr().err
    wrong = PaperTable("X", "s", "t", lambda: [Figure("row", "col", "1.00", 2.0)])
    monkeypatch.setattr("mmsim.claims.table.registered_tables", lambda: [wrong])
    assert main(["reproduce", "X"]) == 1
    assert "row, col: 1.00 and 2.00 (+1), not explained" in capsys.readouterr().out
