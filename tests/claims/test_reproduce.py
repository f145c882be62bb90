"""`mmsim reproduce`: the papers' tables beside ours."""

import pytest

from mmsim.claims import Figure, PaperTable
from mmsim.claims.table import choose_table, registered_tables
from mmsim.cli import main
from mmsim.reports.papertables import verdict_of_table


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


def bound(kept):
    return Figure("r", "c", "log", "3.5, to 5.6", held_to="a limit", kept=kept)


def test_a_bound_is_kept_or_not():
    assert bound(kept=True).explained
    assert not bound(kept=False).explained


def test_what_could_not_fail_does_not_count():
    assert [bound(kept).counts for kept in (True, False, None)] == [True, True, False]
    assert bound(kept=None).explained
    assert Figure("r", "c", "1", 2).counts


def test_the_verdict_says_what_was_held_to_what():
    figures = [Figure("r", "c", "1", 1), Figure("r", "d", "1", 2)]
    figures += [bound(kept=True), bound(kept=False), bound(kept=None)]
    assert verdict_of_table(figures).splitlines() == [
        "1 of 2 figures agree, to the last digit printed",
        "1 of 2 figures agree with a limit",
        "r, d: 1 and 2 (+1), not explained",
        "r, c: log and 3.5, to 5.6, not explained",
        "r, c: not counted, a limit",
    ]


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
    assert "no table has the id 'RAP-T9'; did you mean" in capsys.readouterr().err
    wrong = PaperTable("X", "s", "t", lambda: [Figure("row", "col", "1.00", 2.0)])
    monkeypatch.setattr("mmsim.claims.table.registered_tables", lambda: [wrong])
    assert main(["reproduce", "X"]) == 1
    assert "row, col: 1.00 and 2.00 (+1), not explained" in capsys.readouterr().out
