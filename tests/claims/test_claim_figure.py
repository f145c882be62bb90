"""A claim as a figure and as a table: `claim.plot`, `claim.table`."""

import csv
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy

import mmsim as mm
from mmsim import claims
from mmsim.claims import Claim, ClaimError, choose, registered, verify, verify_claim
from mmsim.claims.claim import CaseRow, CaseRows
from mmsim.errors import CallError, LaunchError
from mmsim.view import text
from mmsim.view.figures.files import alt_text


@mm.program
def read(T, a):
    for t in range(len(a) // T.count):
        a[t * T.count + T.id]


def ran(schedule, n, p, w, l):  # the papers' letter
    return mm.UMM(w, l).run(read, np.zeros(n), threads=p, schedule=schedule)


def cases():
    return [{"n": n, "p": p, "w": w, "l": 5} for w in (4, 8) for n in (16, 32, 64) for p in (8, n)]


BOUND = Claim(
    "MINE",
    "a paper",
    "reading",
    lambda n, p, w, l: sympy.Rational(n * l, 2 * p) + n / w,
    "upper",
    grid=cases,
    run=ran,
    constant=3,
)
EXACT = replace(BOUND, formula=lambda n, p, w, l: n / p * (p / w + l - 1), kind="exact", constant=1)


def heights(axes):
    return [[float(y) for y in line.get_ydata()] for line in axes.lines]


def test_a_figure_has_both_schedules_and_the_bound_with_its_constant():
    claim = replace(BOUND, formula=lambda n, p, w, l: n / w + n * l / p)
    axes = claim.plot("n", w=4, p=8)
    synchronous, asynchronous, bound = heights(axes)
    sizes = [16, 32, 64]
    assert synchronous == [ran("synchronous", n, 8, 4, 5).time for n in sizes]
    assert asynchronous == [ran("asynchronous", n, 8, 4, 5).time for n in sizes]
    assert bound == [3 * (n / 4 + n * 5 / 8) for n in sizes]
    labels = [one.get_text() for one in axes.get_legend().get_texts()]
    assert labels == ["synchronous", "asynchronous", f"${sympy.latex(claim.statement)}$"]
    assert "3" in labels[2]
    assert axes.get_xlabel().splitlines() == ["n", "p=8, w=4, l=5"]
    assert axes.get_ylabel() == "T (time units)"


def test_the_text_of_the_figure_has_the_numbers():
    words = alt_text(EXACT.plot("n", w=4, p=8).figure)
    assert words.startswith("MINE, reading: T = n*(l + p/w - 1)/p; T (time units) against n, with ")
    assert "at n=16 12 synchronous, 11 asynchronous, 12 claimed" in words


def test_the_longest_line_is_drawn_and_the_plainest_of_equals():
    """Along p = n there are as many cases as along p = 8; the machine stays the same."""
    assert EXACT.plot("n").get_xlabel().splitlines()[1] == "p=8, w=8, l=5"
    claim = replace(EXACT, grid=lambda: [case for case in cases() if case["p"] == case["n"]])
    assert claim.plot("n").get_xlabel().splitlines()[1] == "p=n, w=8, l=5"
    assert claim.plot("w", n=64).get_xlabel().splitlines()[1] == "n=64, p=64, l=5"
    squares = [{"n": 4 * w * w, "p": 4 * w, "w": w, "l": 5} for w in (2, 4, 8)]
    claim = replace(EXACT, grid=lambda: squares)
    assert claim.plot("w").get_xlabel().splitlines()[1] == "n=4w², p=4w, l=5"


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"over": "q"}, "over='q' is not a number in every case; there are n, p, w, l"),
        ({"over": "n", "w": 5}, "no such case has w=5; there are 4, 8"),
        ({"over": "n", "width": 5}, "no case has a parameter 'width'; there are n, p, w, l"),
    ],
)
def test_a_line_that_is_not_there(how, message):
    with pytest.raises(ClaimError, match=re.escape(f"MINE: {message}")):
        EXACT.plot(**how)


def test_a_claim_without_a_constant_and_a_quantity_without_units():
    claim = next(one for one in registered() if one.growth is not None)
    axes = claim.plot(claim.growth.along)
    assert axes.get_legend().get_texts()[2].get_text().endswith(", for c = 1")
    stages = replace(
        EXACT, quantity="S", measure=lambda run: run.stages, formula=lambda n, w: n / w
    )
    axes = stages.plot("n", w=4)
    assert axes.get_ylabel() == "S"
    assert heights(axes) == [[4, 8, 16]] * 3


@pytest.mark.parametrize("kind", ["exact", "upper", "lower"])
def test_every_statement_can_be_set(kind):
    from matplotlib.mathtext import MathTextParser

    parser = MathTextParser("path")
    for statement in {sympy.latex(one.statement) for one in registered() if one.kind == kind}:
        parser.parse(f"${statement}$")


def test_a_figure_of_something_else():
    with pytest.raises(LaunchError, match=r"drawn of a Claim, not of 'SMM-L5.1'"):
        mm.figures.claim("SMM-L5.1", "n")


def test_a_table_is_exact(tmp_path):
    rows = BOUND.table(w=4, p=8)
    assert [row.claimed for row in rows] == [
        3 * (Fraction(n * 5, 16) + n // 4) for n in (16, 32, 64)
    ]
    rows.to_csv(tmp_path / "cases.csv")
    with open(tmp_path / "cases.csv", encoding="utf-8", newline="") as file:
        first, *_ = csv.DictReader(file)
    assert first == {
        **{"n": "16", "p": "8", "w": "4", "l": "5"},
        **{"measured": "12", "asynchronous": "11", "claimed": "27"},
    }
    halves = replace(BOUND, formula=lambda n: sympy.Rational(n + 1, 2)).table(w=4, p=8)
    assert halves[0].claimed == Fraction(51, 2)
    assert "51/2" in text(halves)
    assert "51/2" in halves.to_latex()


def test_a_table_as_latex():
    assert EXACT.table(w=4, p=8).to_latex().splitlines()[1:6] == [
        r"\begin{tabular}{rrrrrrr}",
        r"\hline",
        r"$n$ & $p$ & $w$ & $l$ & measured & asynchronous & claimed \\",
        r"\hline",
        r"16 & 8 & 4 & 5 & 12 & 11 & 12 \\",
    ]


def test_texts_in_latex_stay_texts():
    def run(schedule, on, n):
        return ran(schedule, n, n, 4, 5)

    claim = replace(EXACT, formula=lambda n: n, run=run, grid=lambda: [{"on": "a_b & 50%", "n": 8}])
    latex = claim.table().to_latex()
    assert r"a\_b \& 50\% & 8 &" in latex
    assert r"\begin{tabular}{lrrrr}" in latex


def test_the_whole_grid_is_in_the_table():
    rows = EXACT.table()
    assert len(rows) == verify_claim(EXACT).cases == len(text(rows).splitlines()) - 2
    with pytest.raises(CallError, match=r"write \[row.measured for row in rows\]"):
        rows["measured"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"kind": "atmost"}, "kind='atmost', but kind must be 'exact' .* 'upper' .* or 'lower'"),
        ({"formula": "n / w"}, "formula='n / w', but formula must be a function; write formula=la"),
        ({"grid": [{"n": 1}]}, "but grid must be a function; write grid=lambda: ..."),
        ({"measure": "stages"}, "but measure must be a function; write measure=lambda run: ..."),
    ],
)
def test_a_claim_of_wrong_parts_is_refused_when_it_is_made(wrong, message):
    with pytest.raises(ClaimError, match=message):
        replace(EXACT, **wrong)


def test_one_claim_where_several_are_taken():
    with pytest.raises(ClaimError, match=r"write verify_claim\(claim\)"):
        verify(EXACT)
    assert [one.id for one in choose([EXACT], "MINE")] == ["MINE"]
    with pytest.raises(CallError, match=r"write choose\(registered\(\), \['SMM-L5.1'\]\)"):
        choose("SMM-L5.1")
    assert claims.CaseRows is type(EXACT.table(w=4))


def test_cases_without_a_parameter_have_an_empty_cell(tmp_path):
    cases = [{"n": 8, "w": 2}, {"w": 2, "n": 8, "on": "DMM"}]
    rows = CaseRows(CaseRow(case, "T", 7, 6, Fraction(7)) for case in cases)
    rows.to_csv(tmp_path / "cases.csv")
    lines = (tmp_path / "cases.csv").read_text().split()
    assert lines == ["n,w,measured,asynchronous,claimed,on", "8,2,7,6,7,", "8,2,7,6,7,DMM"]
    CaseRows(()).to_csv(tmp_path / "none.csv")
