"""Text that goes out: whatever names and lines hold, terminals, files and pages stay whole."""

import csv
import io
import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

import mmsim as mm
from mmsim.api.report import Report
from mmsim.cli import main
from mmsim.errors import MMSimError
from mmsim.printable import printable, printable_lines
from mmsim.results import Finding, FoundAccess
from mmsim.results.sheets import cell
from mmsim.view.figures.paper import words
from mmsim.view.player.page import Player
from mmsim.view.tables import rich_text

NASTY = "\x1b[31m\ud800\x07\u202e$x$"
"""Steers a terminal, fits into no file, rings, turns the writing around, is not mathematics."""
SHOWN = "\\x1b[31m\\ud800\\x07\\u202e$x$"


@mm.program
def twice(T, a):
    x = a[T.id]
    a[T.id] = 2 * x


def nasty_run():
    """A run in which every text that a program or a file gives holds `NASTY`."""
    run = mm.DMM(4, 2).run(twice, np.arange(8), threads=8, trace=True)
    record = run.trace
    (array,), (source,) = record.parameters, record.sources
    source = replace(source, function=NASTY, file=NASTY, lines=(NASTY,) * len(source.lines))
    own = {"function": NASTY, "array": NASTY}
    record = replace(
        record,
        program=NASTY,
        parameters=(replace(array, name=NASTY),),
        sources=(source,),
        sites=tuple(replace(one, **own) for one in record.sites),
        variables=tuple(
            replace(one, name=NASTY, text=NASTY, function=NASTY) for one in record.variables
        ),
        changes=tuple(replace(one, name=NASTY) for one in record.changes),
    )
    access = FoundAccess(0, 0, "read", NASTY, NASTY, source.first)
    return replace(
        run,
        program=NASTY,
        arrays={NASTY: run.arrays["a"]},
        accesses=tuple(replace(row, **own, file=NASTY) for row in run.accesses),
        rounds=tuple(replace(row, **own, file=NASTY) for row in run.rounds),
        sources=(source,),
        findings=(Finding("unwritten", NASTY, (1,), None, (access,), note=f"{NASTY}\n{NASTY}"),),
        record=record,
    )


RUN = nasty_run()
REPORT = Report(RUN.machine, NASTY, 8, 8, RUN.schedule, RUN.time, RUN.findings, RUN, RUN.record)


def is_clean(text):
    """Return whether text prints, line by line, and fits into a file."""
    text.encode()
    return all(line.isprintable() for line in text.split("\n"))


def by_rich(value):
    out = io.StringIO()
    Console(file=out, width=300, color_system=None).print(value)
    return out.getvalue()


def svg_of(axes):
    return axes.figure._repr_svg_()


SHOW = {
    "repr of a run": lambda: repr(RUN),
    "HTML of a run": lambda: RUN._repr_html_(),
    "Rich of a run": lambda: by_rich(RUN),
    "repr of a profile": lambda: repr(RUN.profile()),
    "HTML of a profile": lambda: RUN.profile()._repr_html_(),
    "Rich of a profile": lambda: by_rich(RUN.profile()),
    "a report": lambda: str(REPORT),
    "a finding": lambda: str(RUN.findings[0]),
    "an access of a finding": lambda: str(RUN.findings[0].accesses[0]),
    "repr of a trace": lambda: repr(RUN.trace),
    "repr of a player": lambda: repr(RUN.trace.player()),
    "a cell of Rich": lambda: by_rich(rich_text(NASTY)),
}


@pytest.mark.parametrize("show", SHOW.values(), ids=SHOW)
def test_what_is_shown_prints(show):
    assert is_clean(show())


def test_what_is_shown_keeps_the_text():
    for show in (repr(RUN), str(REPORT), str(RUN.findings[0]), repr(RUN.profile())):
        assert SHOWN in show


def test_a_run_with_such_text_is_read_again():
    assert mm.Run.from_json(RUN.to_json()) == RUN
    assert Report.from_json(REPORT.to_json()) == REPORT


FIGURES = {
    "lines": lambda: mm.figures.lines(RUN),
    "rounds": lambda: mm.figures.rounds(RUN),
    "banks": lambda: mm.figures.banks(RUN),
    "access": lambda: mm.figures.access(RUN),
    "pipeline": lambda: mm.figures.pipeline(RUN),
    "warps": lambda: mm.figures.warps(RUN),
    "plot": lambda: RUN.plot(),
    "times": lambda: mm.figures.times(
        [1, 2], [RUN, RUN], lambda n: n, name="\x1b\ud800", symbol="\x1b"
    ),
    "sweep": lambda: mm.figures.sweep(
        [{NASTY: n, "time": n, "name": word} for n in (1, 2) for word in (NASTY, "$")], NASTY
    ),
}


@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_figures_are_whole(draw, tmp_path):
    axes = draw()
    for suffix in (".svg", ".pdf", ".png"):
        mm.figures.save(axes, tmp_path / f"figure{suffix}")
    ElementTree.parse(tmp_path / "figure.svg")
    assert is_clean((tmp_path / "figure.svg").read_text(encoding="utf-8"))


def test_a_figure_shows_a_dollar_as_one():
    axes = mm.figures.rounds(RUN)
    axes.figure.canvas.draw()
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels == ["0: read " + words("\\x1b[31m\\…"), "1: write " + words("\\x1b[31m\\…")]
    assert words("$x$") == r"\$x\$"


def test_chromes_events_are_whole(tmp_path):
    RUN.trace.to_chrome(tmp_path / "trace.json")
    text = (tmp_path / "trace.json").read_text(encoding="utf-8")
    assert json.dumps(SHOWN)[1:-1] in text
    assert is_clean(json.dumps(json.loads(text), ensure_ascii=False))


def test_the_players_page_is_whole(tmp_path):
    player = Player(RUN.trace, findings=RUN.findings)
    player.save(tmp_path / "page.html")
    data = json.dumps(player.data, ensure_ascii=False)
    assert is_clean(data)
    assert json.dumps(SHOWN)[1:-1] in data


@pytest.mark.parametrize("rows", ["accesses", "rounds"])
def test_a_sheet_is_whole(rows, tmp_path):
    RUN.to_csv(tmp_path / "rows.csv", rows)
    text = (tmp_path / "rows.csv").read_text(encoding="utf-8")
    assert is_clean(text)
    (first, *_) = csv.DictReader(io.StringIO(text))
    assert first["array"] == SHOWN


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r=", "  =", "\n@", "＝", "＠"])
def test_text_in_a_sheet_is_no_formula(start, tmp_path):
    name = f'{start}HYPERLINK("http://x","y")'
    row = replace(RUN.accesses[0], array=name, file=name)
    replace(RUN, accesses=(row,)).to_csv(tmp_path / "rows.csv")
    with open(tmp_path / "rows.csv", encoding="utf-8", newline="") as file:
        (read,) = csv.DictReader(file)
    for column in ("array", "file"):
        assert read[column][0] not in "=+-@\t\r\n ＝＠"
        assert read[column].endswith('HYPERLINK("http://x","y")')


def test_numbers_and_other_text_in_a_sheet_stay(tmp_path):
    assert [cell(value) for value in (-1, 0, "a-b", "b=", "", "é")] == [-1, 0, "a-b", "b=", "", "é"]


def test_text_that_prints_stays_the_same():
    assert printable("grüße 漢字 😀") == "grüße 漢字 😀"
    assert printable("a\tb\nc") == "a       b\\nc"
    assert printable_lines("a\nb\x1b\nc") == "a\nb\\x1b\nc"


def test_the_command_prints_errors_that_print(monkeypatch, capsys):
    def fail(arguments):
        raise MMSimError(NASTY)

    monkeypatch.setattr("mmsim.cli.verify.command", fail)
    assert main(["verify"]) == 2
    err = capsys.readouterr().err
    assert err == f"mmsim: {SHOWN}\n"
