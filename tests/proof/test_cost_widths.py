"""Costs with a symbol for the width: what is proved at each width up to 64, and what isn't one."""

from functools import cache

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import mmsim as mm
from mmsim.errors import CostError
from mmsim.proof.widths import NoFormula, cases_of, formula
from mmsim.results.costs import CostCase, CostRow

N, W = (sympy.Symbol(name, positive=True, integer=True) for name in "nw")
LINES = {"a": ("2 n",), "b": ("n",)}
THIRDS = {"a": ("3 n",), "b": ("n",)}


@mm.program
def columns(T, a, b, n):
    b[T.id % n, T.id // n] = a[T.id // n, T.id % n]


@mm.program
def tree(T, a, n):
    half = n // 2
    while half > 0:
        if T.id < half:
            a[T.id] += a[T.id + half]
        half = half // 2


@mm.program
def copy(T, a, b):
    b[T.id] = a[T.id]


@mm.program
def evens(T, a, b):
    b[T.id] = a[2 * T.id]


@mm.program
def thirds(T, a, b):
    b[T.id] = a[3 * T.id]


def found(kind, program, shapes, threads, given=()):
    return mm.cost(program, shapes=shapes, threads=threads, machine=kind("w", "l"), given=given)


@cache
def of_columns(kind):
    shapes = {"a": ("n", "n"), "b": ("n", "n"), "n": "n"}
    return found(kind, columns, shapes, "n n", "w divides n")


@cache
def of_tree(kind):
    facts = "n and w are powers of two", "2 w <= n"
    return found(kind, tree, {"a": ("n",), "n": "n"}, "n/2", facts)


@cache
def of_evens(kind):
    return found(kind, evens, LINES, "n", "w divides n")


def arrays(program, n):
    if program is columns:
        return np.zeros((n, n)), np.zeros((n, n)), n
    return (np.zeros(n), n) if program is tree else (np.zeros(2 * n), np.zeros(n))


def value(cost, numbers):
    exact = {symbol: numbers[symbol.name] for symbol in cost.time.free_symbols}
    return cost.time.xreplace({symbol: sympy.Integer(one) for symbol, one in exact.items()})


@pytest.mark.parametrize("kind", [mm.DMM, mm.UMM])
@pytest.mark.parametrize(
    ("ask", "program", "threads"),
    [
        (of_columns, columns, lambda n: n * n),
        (of_tree, tree, lambda n: n // 2),
        (of_evens, evens, lambda n: n),
    ],
)
def test_runs_take_the_time_of_the_formula(kind, ask, program, threads):
    cost = ask(kind)
    for w, n, l in ((2, 4, 3), (4, 16, 1), (8, 16, 20), (64, 128, 7)):
        run = kind(w, l).run(program, *arrays(program, n), threads=threads(n))
        assert value(cost, {"w": w, "n": n, "l": l}) == cost.at(w=w, n=n, l=l) == run.time


def test_the_formula_and_its_widths():
    assert str(of_columns(mm.DMM).time) == "2*l + n**2 + n**2/w - 2"
    assert "w is from 1 to 64" in of_columns(mm.DMM).conditions
    assert str(of_tree(mm.UMM).time) == "3*(l*log2(n) + n/w - log2(n) + log2(w) - 1)"
    assert "w is one of 1, 2, 4, 8, 16, 32, 64" in of_tree(mm.UMM).conditions
    assert str(of_evens(mm.UMM).time) == "2*l + 3*n/w - 2"
    assert "w is from 2 to 64" in of_evens(mm.UMM).conditions  # at 1 it takes 2 n stages
    assert str(of_evens(mm.DMM).time) == "2*l - n*Mod(w, 2)/w + 3*n/w - 2"


def test_whole_warps_or_not(monkeypatch):
    monkeypatch.setattr("mmsim.proof.widths.WIDTHS", range(1, 13))
    cost = found(mm.DMM, copy, {"a": ("n",), "b": ("n",)}, "n")
    assert str(cost.time) == "2*(l + ceiling(n/w) - 1)"
    assert "w is from 1 to 12" in cost.conditions
    assert cost.over_widths() is cost.over_widths()
    for w, n in ((1, 3), (3, 10), (4, 9), (12, 100)):
        run = mm.DMM(w, 5).run(copy, np.zeros(n), np.zeros(n), threads=n)
        assert value(cost, {"w": w, "n": n, "l": 5}) == run.time


def test_its_rows_have_the_width_too():
    (case,) = of_evens(mm.UMM).over_widths().cases
    read, write = case.accesses
    assert (str(read.requests), str(read.stages), str(read.time)) == (
        "n/w",
        "2*n/w",
        "l + 2*n/w - 1",
    )
    assert read.why.startswith("at w = 4: 4 lanes ask for a[2*lane + 8*warp], 2 apart: 2 stages")
    assert str(write.stages) == "n/w"
    text = str(of_evens(mm.UMM).over_widths())
    assert "2*l + 3*n/w - 2 time units" in text
    assert "2*n/w" in text


def test_without_a_formula_it_says_what_to_write():
    cost = found(mm.DMM, thirds, THIRDS, "n", "w divides n")
    for ask in (cost.over_widths, lambda: cost.time, lambda: cost.conditions):
        with pytest.raises(
            CostError, match=r"no one formula in w fits all widths; .*of_width\(32\)"
        ):
            ask()
    assert cost.at(w=3, n=6, l=1) == cost.of_width(3).at(n=6, l=1) == 8
    with pytest.raises(CostError, match="no sizes satisfy the facts w <= 3; 70 <= w"):
        _ = found(mm.DMM, evens, LINES, "n", ("w <= 3", "70 <= w")).time
    fixed = mm.cost(evens, shapes=LINES, threads="n", machine=mm.DMM(4, "l"))
    with pytest.raises(CostError, match="its width is a number already; leave out over_widths"):
        fixed.over_widths()


def test_even_widths_alone():
    cost = found(mm.DMM, evens, LINES, "n", ("w divides n", "2 divides w"))
    assert str(cost.time) == "2*l + 3*n/w - 2"
    assert "w is one of 2, 4, 6" in cost.conditions[2]
    with pytest.raises(CostError, match="no one formula in w"):
        _ = found(mm.DMM, thirds, THIRDS, "n", ("w divides n", "2 divides w")).time


def test_a_count_without_a_formula_says_so():
    def case(w):
        row = CostRow("f", "", 1, "a", "read", "memory", w**3, 1, N / w, N, "")
        return (CostCase(sympy.true, (), N, lambda: (row,)),)

    (found,) = cases_of({w: case(w) for w in range(1, 20)}, W)
    (row,) = found.accesses
    assert (row.requests, row.stages, row.rounds) == ("differs", 1, N / W)


def test_it_gives_up_in_time():
    how = {"threads": "n", "machine": mm.UMM("w", "l"), "seconds": 0.3}
    cost = mm.cost(copy, shapes={"a": ("n",), "b": ("n",)}, **how)
    with pytest.raises(CostError, match=r"it takes longer than 0.3 s"):
        _ = cost.time


NUMBERS = st.integers(-6, 6)


@settings(max_examples=20)
@given(st.lists(NUMBERS, min_size=5, max_size=5), st.lists(NUMBERS, min_size=3, max_size=3))
def test_a_formula_is_found_and_another_value_refuses_it(powers, factors):
    width = [sympy.Integer(1), W, 1 / W, W**2, W**-2]
    one = sum((a * b for a, b in zip(powers, width, strict=True)), sympy.Integer(0))
    whole = one * N**2 + factors[0] * W * sympy.ceiling(N / W) + factors[1] * N / W + factors[2]
    at = {w: whole.xreplace({W: sympy.Integer(w)}) for w in range(2, 20)}
    assert sympy.expand(formula(at, W) - whole) == 0
    for w in (2, 9, 19):
        with pytest.raises(NoFormula):
            formula({**at, w: at[w] + 1}, W)
        with pytest.raises(NoFormula):
            formula({**at, w: at[w] + N}, W)
