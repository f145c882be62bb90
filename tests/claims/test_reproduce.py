"""`mmsim reproduce`: the papers' tables computed again, and their figures."""

import re

import pytest

from mmsim.claims import ClaimError, Drawing, Figure, PaperTable, PrintedItem, choose, registered
from mmsim.claims.printed import registered_contents, registered_drawings, registered_tables
from mmsim.cli import main
from mmsim.cli.commands import make_parser
from mmsim.gpu.experiment import registered_experiments
from mmsim.reports.contents import reproductions, verdict_of_table

PRINTED = {"SMM": (11, 1), "CFP": (7, 2), "ICPP": (6, 3), "RAP": (7, 4)}
"""How many figures and tables each paper has. Of IEICE only the abstract is at hand."""

LEFT_OUT = {"SMM-F1", "SMM-F3", "CFP-F1", "ICPP-F1", "ICPP-F2", "RAP-F1", "IEICE"}


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


def bound(satisfied):
    return Figure("r", "c", "log", "3.5, to 5.6", condition="a limit", satisfied=satisfied)


def test_a_bound_is_kept_or_not():
    assert bound(satisfied=True).explained
    assert not bound(satisfied=False).explained


def test_what_could_not_fail_does_not_count():
    assert [bound(kept).counts for kept in (True, False, None)] == [True, True, False]
    assert bound(satisfied=None).explained
    assert Figure("r", "c", "1", 2).counts


def test_the_verdict_says_what_was_held_to_what():
    figures = [Figure("r", "c", "1", 1), Figure("r", "d", "1", 2)]
    figures += [bound(satisfied=True), bound(satisfied=False), bound(satisfied=None)]
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
    (table,) = (table for table in registered_tables() if table.id == id_)
    count = len(list(table.figures()))
    assert f"{count} of {count} figures agree" in output


def test_the_simulated_table_of_transposes(capsys):
    assert main(["reproduce", "RAP-T3"]) == 0
    output = capsys.readouterr().out
    assert "CRSW" in output
    assert "±" in output


def test_an_unknown_table_and_one_that_differs(capsys, monkeypatch):
    assert main(["reproduce", "RAP-T9"]) == 2
    assert "no table or figure has the id 'RAP-T9'; did you mean" in capsys.readouterr().err
    wrong = PaperTable("X", "s", "t", lambda: [Figure("row", "col", "1.00", 2.0)])
    monkeypatch.setattr("mmsim.claims.printed.registered_tables", lambda: [wrong])
    assert main(["reproduce", "X"]) == 1
    assert "row, col: 1.00 and 2.00 (+1), not explained" in capsys.readouterr().out


def contents():
    tables, drawings = registered_tables(), registered_drawings()
    return reproductions(registered_contents(), tables, drawings, registered_experiments().values())


def test_every_figure_and_table_of_the_papers_is_in_the_list():
    expected = {
        f"{paper}-{kind}{number + 1}"
        for paper, counts in PRINTED.items()
        for kind, count in zip("FT", counts, strict=True)
        for number in range(count)
    }
    listed = [item.id for item in registered_contents()]
    assert sorted(listed) == sorted({*expected, "IEICE"})


def test_each_is_reproduced_or_has_a_reason():
    items = {item.id: item for item in registered_contents()}
    for one in contents():
        if one.made == "left out":
            assert one.how, one.id
        else:
            assert one.id not in items or not items[one.id].omitted, one.id
    assert {one.id for one in contents() if one.made == "left out"} == LEFT_OUT


def test_the_commands_in_the_list_are_commands():
    commands = [
        command for one in contents() if one.made != "left out" for command in one.how.split("; ")
    ]
    assert len(commands) > 15
    for command in commands:
        assert make_parser().parse_args(command.split()[1:]).command


def test_claims_in_the_list_exist():
    named = [item for item in registered_contents() if item.claims]
    assert {item.id for item in named} == {"SMM-T1", "RAP-T1"}
    for item in named:
        assert choose(registered(), item.claims)


def test_no_two_are_registered_under_one_id():
    ids = [one.id for one in (*registered_tables(), *registered_drawings())]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("words", [["--list"], [], ["SMM-F5", "--list"]])
def test_the_list_says_from_what_each_is_made_or_why_it_is_left_out(capsys, words):
    assert main(["reproduce", *words]) == 0
    rows = {
        cells[1].strip(): " ".join(cells[2:])
        for line in capsys.readouterr().out.splitlines()
        if len(cells := line.split("│")) > 4
    }
    for id_, made, how in [
        ("SMM-F5", "simulated", "mmsim reproduce SMM-F5"),
        ("SMM-T1", "simulated", "mmsim verify --claim SMM-T3.1a"),
        ("CFP-F7", "measured", "mmsim reproduce CFP-F7; mmsim gpu reproduce CFP-F7"),
        ("ICPP-T3", "counted, measured", "mmsim reproduce ICPP-T3; mmsim gpu reproduce ICPP-T3"),
        ("SMM-F1", "left out", "a picture of the machine"),
        ("IEICE", "left out", "only the abstract"),
        ("CFP-E1", "simulated", "mmsim reproduce CFP-E1"),
    ]:
        assert made in rows[id_]
        assert how in rows[id_]


@pytest.mark.parametrize("suffix", ["", ".svg", ".png", ".pdf"])
def test_a_figure_is_drawn_and_saved(capsys, monkeypatch, tmp_path, suffix):
    monkeypatch.chdir(tmp_path)
    words = ["--output", f"mine{suffix}"] if suffix else []
    assert main(["reproduce", "SMM-F2", *words]) == 0
    name = f"mine{suffix}" if suffix else "SMM-F2.svg"
    assert [path.name for path in tmp_path.iterdir()] == [name]
    output = capsys.readouterr().out
    assert "SMM-F2 (SMM, Figure 2): the contiguous access" in output
    assert "made: simulated" in output
    assert "the text that refers to it has n = 20" in output
    assert f"saved as {name}" in output
    if name.endswith(".svg"):
        assert ">T3</text>" in (tmp_path / name).read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["SMM-F55"], "no table or figure has the id 'SMM-F55'; did you mean SMM-F5"),
        (["RAP-F1"], "RAP-F1 is left out: a picture of the machine"),
        (["SMM-T1"], "SMM-T1 is reproduced by mmsim verify --claim SMM-T3.1a SMM-T3.1b SMM-T3.1c"),
        (["SMM-F5", "--output", "a.jpg"], "a.jpg: figures are saved as .svg, .pdf or .png"),
        (["SMM-F5", "--output", "none/a.svg"], "none/a.svg: No such file or directory"),
        (["CFP-T1", "--output", "a.svg"], "CFP-T1 is a table, which is printed"),
    ],
)
def test_what_cannot_be_reproduced_is_refused(capsys, monkeypatch, tmp_path, words, said):
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", *words]) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_figure_that_is_not_the_papers_is_not_saved(capsys, monkeypatch, tmp_path):
    def draw():
        raise ClaimError("time units: the run gives 6, the paper's figure 5")

    monkeypatch.chdir(tmp_path)
    wrong = Drawing("X-F1", "X, Figure 1", "something", draw)
    monkeypatch.setattr("mmsim.claims.printed.registered_drawings", lambda: [wrong])
    assert main(["reproduce", "X-F1"]) == 1
    message = "X-F1 is not as in the paper: time units: the run gives 6, the paper's figure 5"
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_an_item_without_anything_is_seen():
    (found,) = reproductions([PrintedItem("X-F1", "something")], [], [], [])
    assert (found.made, found.how) == ("left out", "")


def test_the_figures_can_be_asked_for_twice():
    """A function's name must not be that of a folder that is imported later."""
    first = [drawing.id for drawing in registered_drawings()]
    assert first == [drawing.id for drawing in registered_drawings()]
    assert all(re.fullmatch(r"[A-Z]+-F\d+", id_) for id_ in first)
