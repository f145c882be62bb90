"""Everything that is returned shows itself: as text, as a table in a notebook, and by Rich."""

import io
import pickle
import re
from dataclasses import astuple, replace

import numpy as np
import pytest
from rich.console import Console

import mmsim as mm
from mmsim.claims.fit import fit_numbers
from mmsim.results.rows import SweepRows
from mmsim.tabular import Tabular
from mmsim.view.tables import tables

HOSTILE = "<b>&x</b>"


@mm.program
def strided(T, a, b):
    x = a[T.id]
    b[2 * T.id % len(b)] = x


ARGUMENTS = np.arange(16), np.zeros(16)
RUN = mm.DMM(4, 3).run(strided, *ARGUMENTS, threads=16)
REPORT = mm.DMM(4, 3).check(strided, *ARGUMENTS, threads=16)
FIT = fit_numbers([{"n": n} for n in range(1, 9)], [3 * n * n + n for n in range(1, 9)])
NEAR = fit_numbers([{"n": n} for n in range(1, 9)], [1, 7, 5, 11, 3, 17, 8, 2])
SWEEP = SweepRows(
    {"key": n, "size": n, "kind": kind, "same": 1, "time": 2 * n, "stages": n, "error": None}
    for n, kind in ((8, "DMM"), (8, "UMM"), (16, "DMM"))
)
CACHED = mm.Cached(
    2, 4, 9, sectors=2, memory_time=9, row_time=5, capacity=16, halves=2, channels=2, under_way=2
).run(strided, *ARGUMENTS, threads=16, block_size=4, schedule="asynchronous")
SHOWN = {
    "run": (RUN, ["strided on DMM(width=4, latency=3)", "casual"]),
    "accesses": (RUN.accesses, ["2 rows", "conflict-free", "casual"]),
    "access": (RUN.accesses[1], ["accesses of strided", "casual"]),
    "cache": (CACHED.cache, ["2 rows", "tags", "from memory", "rows opened", "fills"]),
    "cache row": (CACHED.cache[1], ["accesses of strided", "write", "to memory"]),
    "rounds": (RUN.rounds, ["2 rounds", "start", "10", "casual"]),
    "round": (RUN.rounds[1], ["1 round", "10", "casual"]),
    "profile": (RUN.profile(), ["12 stages, 4 of them beyond", "    x = a[T.id]"]),
    "report": (REPORT, ["synchronous: 1 finding", "data race", "b[0]", "let one thread alone"]),
    "findings": (REPORT.findings, ["1 finding", "data race", "b[0]", "let one thread alone"]),
    "finding": (REPORT.findings[0], ["1 finding", "data race", "b[0]"]),
    "conflicts": (
        mm.conflicts("(32,32):(32,1)", lambda thread, value: (thread, value), values=2),
        ["2 requests, 2 phases, 64 stages", "0-1", "0-31"],
    ),
    "no conflicts": (
        mm.conflicts("(32,32):(33,1)", lambda thread, value: (thread, value)),
        ["1 request", "free of conflicts"],
    ),
    "fit": (FIT, ["T = 3*n^2 + n", "coefficient", "n^2", "exact in all 8 cases"]),
    "inexact fit": (NEAR, ["T ~ ", "left over in 8 cases"]),
    "sweep": (SWEEP, ["3 rows", "size", "kind", "UMM", "time", "32"]),
}

ALONE = "access", "cache row", "round", "finding"
"""Rows of a table: they keep the text of a dataclass, which their tuple doesn't."""


def by_rich(value):
    out = io.StringIO()
    Console(file=out, width=300).print(value)
    return re.sub(" +\n", " ", out.getvalue())  # a caption may be wider than its table


def cells(html):
    """The text of each cell of each row."""
    rows = re.findall(r"<tr>(.*?)</tr>", html)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]


@pytest.mark.parametrize("name", SHOWN)
def test_a_result_shows_in_every_form(name):
    value, expected = SHOWN[name]
    assert isinstance(value, Tabular)
    html = value._repr_html_()
    assert html.startswith("<p>" if name == "no conflicts" else "<table><caption ")
    for form in (html, by_rich(value)):
        for words in expected:
            assert words in form, words


@pytest.mark.parametrize("name", [name for name in SHOWN if name not in ALONE])
def test_a_terminal_shows_plain_text(name):
    value, expected = SHOWN[name]
    assert not {"<", ">"} & set(repr(value))
    assert repr(value) == str(value)
    if "fit" not in name:  # a fit is a formula, not its terms
        for words in expected:
            assert words in repr(value), words


def test_a_row_alone_keeps_the_text_of_a_dataclass():
    assert repr(RUN.rounds[1]).startswith("RoundRow(number=1, start=6, time=10, ")
    assert repr(RUN.accesses[0]).startswith("AccessRow(function='strided', ")
    assert repr(REPORT.findings[0]).startswith("Finding(kind='race', array='b', ")


def test_a_part_of_the_rows_is_a_table_too():
    assert cells(RUN.rounds[1:]._repr_html_()) == cells(RUN.rounds[1]._repr_html_())
    assert "0 rounds" in RUN.rounds[2:]._repr_html_()
    assert RUN.rounds[:1][0] is RUN.rounds[0]


def test_the_table_of_a_cache_has_all_its_counts():
    titles, *rows = cells(CACHED.cache._repr_html_())
    assert titles[:8] == ["line", "array", "access", "stages", "tags", "sectors", "hits", "misses"]
    assert titles[8:] == ["from memory", "to memory", "fills", "crossings", "rows opened"]
    counts = [list(map(str, astuple(row)[5:15])) for row in CACHED.cache]
    assert [row[3:] for row in rows] == counts


def test_rows_are_tuples_everywhere():
    asynchronous = mm.DMM(4, 3).run(strided, *ARGUMENTS, threads=16, schedule="asynchronous")
    event = mm.DMM(4, 3).run(strided, *ARGUMENTS, threads=16, engine="events", check=True)
    both = mm.total([RUN, RUN])
    copy, changed = mm.Run.from_json(RUN.to_json()), replace(RUN, accesses=RUN.accesses[1:])
    pickled = pickle.loads(pickle.dumps(RUN))
    caches = CACHED, mm.total([CACHED, CACHED]), mm.Run.from_json(CACHED.to_json())
    for run in (RUN, asynchronous, event, both, copy, changed, pickled, *caches):
        for rows in (run.accesses, run.rounds, run.findings or (), run.cache):
            assert isinstance(rows, tuple)
            assert isinstance(rows, Tabular) or rows == ()
            assert rows == tuple(rows)
            assert hash(rows) == hash(tuple(rows))
    assert copy == RUN
    assert RUN.findings is None
    assert type(event.findings) is type(REPORT.findings)


def test_the_table_of_a_sweep_has_what_differs_and_what_came_out():
    assert cells(SWEEP._repr_html_()) == [
        ["size", "kind", "time", "stages"],
        ["8", "DMM", "16", "8"],
        ["8", "UMM", "16", "8"],
        ["16", "DMM", "32", "16"],
    ]
    failed = SweepRows([*SWEEP, {"size": 3, "time": None, "error": HOSTILE}])
    assert cells(failed._repr_html_())[0] == ["size", "kind", "same", "time", "stages", "error"]
    assert "&lt;b&gt;&amp;x&lt;/b&gt;" in failed._repr_html_()
    assert failed == [*SWEEP, failed[-1]]


def test_the_table_of_a_fit_has_its_terms():
    rows = [["coefficient", "term"], ["3", "n^2"], ["1", "n"]]
    assert cells(FIT._repr_html_()) == rows
    assert repr(FIT) == "T = 3*n^2 + n\nexact in all 8 cases"


def test_names_in_tables_are_text():
    rows = replace(RUN, rounds=tuple(replace(row, array=HOSTILE) for row in RUN.rounds)).rounds
    assert "<b>" not in rows._repr_html_()
    assert rows._repr_html_().count("&lt;b&gt;&amp;x&lt;/b&gt;") == 2


def test_what_no_table_shows_is_refused():
    with pytest.raises(TypeError, match="nothing shows a complex"):
        tables(1j)
