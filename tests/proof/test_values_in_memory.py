"""Indices that depend on memory: the costs that are proved are those of runs with any words."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.claims.launch import SymbolicLaunch
from mmsim.proof.domain import Case
from mmsim.proof.facts import Split
from mmsim.proof.launched import measured
from mmsim.proof.terms import Undecided
from tests.kit.generators.random_programs import define

SHAPES = {"a": (48,), "c": (12, 4), "e": (10, 5), "f": (47,), "p": (8,)}
PROVED = {
    "columns": ["a[4 * p[T.id] + T.lane]"],
    "a diagonal": ["a[8 * p[T.id] - 4 * p[T.lane] + (T.lane + 3) % 4 + 12]"],
    "two axes": ["c[p[T.id], (T.lane + 1) % 4]"],
    "one lane": ["if T.lane == 2:", "    f[3 * p[T.id]]"],
    "a variable of a loop": [
        "x = 0",
        "for i in range(3):",
        "    a[4 * x + T.lane]",
        "    x = p[i]",
    ],
    "a loop without trips": [
        "x = T.id * 0",
        "while x > 0:",
        "    h = (x + 1) // 2",
        "    if p[x] > 1:",
        "        x += h",
        "    x -= h",
        "a[T.id]",
    ],
    "atomics": ["mm.atomic.add(a, 4 * p[T.id] + T.lane, 1)"],
}
REFUSED = {
    "two lanes in a bank": ["a[4 * p[T.id] + T.lane % 2]"],
    "any bank": ["a[p[T.id] + T.lane]"],
    "an odd factor": ["a[3 * p[T.id] + T.lane]"],
    "a row that ends within the banks": ["e[p[T.id], T.lane]"],
    "an array that ends within a row": ["f[4 * p[T.id] + T.lane]"],
    "a sum with any number": ["a[p[T.id] + 3 * p[T.id] + T.lane]"],
    "a rest": ["a[4 * p[T.id] // 3 + T.lane]"],
    "trips that depend on memory": ["x = p[T.id]", "while x > 0:", "    x -= 1", "    a[T.id]"],
}


def stages(lines, machine):
    """The stages of a program that are proved, and those of runs."""
    head = ["import mmsim as mm", "", "@mm.program", f"def made(T, {', '.join(SHAPES)}):"]
    source = "\n".join([*head, *(f"    {line}" for line in lines)]) + "\n"
    program = define(source, "made")
    case = Case({}, {})
    launch = SymbolicLaunch(program, SHAPES, 8, machine)
    proved = measured([launch], case, case.facts()).stages.term.number
    for seed in range(3):
        arrays = [np.zeros(shape, int) for name, shape in SHAPES.items() if name != "p"]
        table = np.random.RandomState(seed).randint(6, size=8)
        yield proved, machine.run(program, *arrays, table, threads=8).stages


@pytest.mark.parametrize("lines", PROVED.values(), ids=PROVED.keys())
def test_stages_whatever_is_in_memory(lines):
    for proved, found in stages(lines, mm.DMM(4, 1)):
        assert proved == found


@pytest.mark.parametrize("lines", REFUSED.values(), ids=REFUSED.keys())
def test_stages_that_depend_on_memory(lines):
    with pytest.raises((Undecided, Split)):
        list(stages(lines, mm.DMM(4, 1)))


def test_columns_on_a_umm():
    with pytest.raises(Undecided):
        list(stages(PROVED["columns"], mm.UMM(4, 1)))


OUTSIDE = {
    "the last thread": ["a[T.id + 41]"],
    "a negative index": ["a[T.id - 8]"],
    "the last trip": ["for i in range(5):", "    a[12 * i + T.lane]"],
    "the second axis": ["c[T.id, T.id]"],
}


@pytest.mark.parametrize("lines", OUTSIDE.values(), ids=OUTSIDE.keys())
def test_an_index_out_of_range_has_no_cost(lines):
    with pytest.raises(Undecided, match="out of range"):
        list(stages(lines, mm.DMM(4, 1)))
    lines = [line.replace("T.id - 8", "T.id + 8") for line in lines]
    lines = [
        line.replace("+ 41", "+ 40").replace("(5)", "(4)").replace(", T.id]", ", T.lane]")
        for line in lines
    ]
    for proved, found in stages(lines, mm.DMM(4, 1)):
        assert proved == found
