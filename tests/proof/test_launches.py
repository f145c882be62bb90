"""The launches with symbols that claims name: those of their runs, in every number."""

from dataclasses import replace
from itertools import zip_longest

import numpy as np
import pytest
import sympy

import mmsim_algorithms
from mmsim.claims.claim import call_with, symbols_of
from mmsim.claims.launch import Repeated, Rotated, each_launch
from mmsim.engines import selection
from mmsim.model.layout import RAW, Placed
from mmsim_algorithms.remembered import STORE, Store

CLAIMS = [claim for claim in mmsim_algorithms.claims() if claim.launches is not None]
CASES = 4
SMALL = 400
"""The largest number in a case, if a claim has such cases."""


def chosen(claim):
    """Small cases from the whole grid."""
    cases = claim.cases()
    sizes = [max([1, *(one for one in case.values() if isinstance(one, int))]) for case in cases]
    bound = max(SMALL, min(sizes))
    small = [case for case, size in zip(cases, sizes, strict=True) if size <= bound]
    return small[:: -(-len(small) // CASES)]


@pytest.fixture
def recorded(monkeypatch):
    """The launches that are carried out, and their runs."""
    real, found = selection.launch, []

    def launch(bound, *more):
        run = real(bound, *more)
        found.append((bound, run))
        return run

    monkeypatch.setattr(selection, "launch", launch)
    for name, value in vars(Store(room=STORE.room)).items():  # runs are not remembered
        monkeypatch.setattr(STORE, name, value)
    return found


def evaluated(size, numbers):
    """A size, or a shape, with a case's numbers for its symbols."""
    if isinstance(size, tuple):
        return tuple(evaluated(one, numbers) for one in size)
    value = sympy.sympify(size).subs(numbers)
    assert value.is_Integer, f"{size} is {value}"
    return int(value)


def with_numbers(launches, numbers):
    """The launches one by one."""
    for one in launches:
        if isinstance(one, Repeated):
            one = replace(one, low=evaluated(one.low, numbers), high=evaluated(one.high, numbers))
        yield from each_launch([one])


def given(value):
    """An argument as a symbolic launch has it."""
    value = value.data if isinstance(value, Placed) else value
    return value.shape if isinstance(value, np.ndarray) else value


def agree(symbolic, bound, numbers):
    """Compare a launch with the real one in its program, arguments, threads and machine."""
    assert symbolic.program is bound.program
    names = [parameter.name for parameter in bound.code.parameters]
    wanted = dict(zip(names, map(given, bound.args), strict=True))
    assert {name: evaluated(size, numbers) for name, size in symbolic.arguments.items()} == wanted
    threads = evaluated(symbolic.threads, numbers)
    block = threads if symbolic.block_size is None else evaluated(symbolic.block_size, numbers)
    assert (threads, block) == (bound.grid.threads, bound.grid.block_size)
    fields = symbolic.machine.__dataclass_fields__
    old = {name: getattr(symbolic.machine, name) for name in fields}
    new = {name: evaluated(value, numbers) for name, value in old.items() if value is not None}
    assert replace(symbolic.machine, **new) == bound.machine


def agree_in_layouts(symbolic, bound):
    """Compare the words of elements."""
    names = [parameter.name for parameter in bound.code.parameters]
    for name, value in zip(names, bound.args, strict=True):
        layout = symbolic.layouts.get(name)
        if not isinstance(value, Placed):
            assert layout is None
            continue
        offsets = value.layout.offsets(value.data.shape)
        if layout is None:
            assert type(value.layout) is RAW
        elif isinstance(layout, Rotated):
            assert layout.describes(offsets)
        else:
            assert np.array_equal(layout(*np.indices(offsets.shape)), offsets)


def agree_in_contents(symbolic, bound, run, case):
    """Compare the values of arrays, and the stages of accesses by them."""
    names = [parameter.name for parameter in bound.code.parameters]
    arguments = dict(zip(names, bound.args, strict=True))
    for name, value in symbolic.contents.items():
        array = arguments[name]
        assert np.array_equal(np.broadcast_to(value(*np.indices(array.shape)), array.shape), array)
        assert np.array_equal(run.arrays[name], array), "only read"
    for name, stages in symbolic.stages.items():
        rows = [row for row in run.accesses if row.array == name]
        assert rows, f"no access of {name}"
        if isinstance(stages, sympy.Symbol):
            blocks = 1 if name in arguments else bound.grid.threads // bound.grid.block_size
            sums, known = [row.stages for row in rows], case.get(stages.name)
            if known is None:
                assert name in symbolic.layouts
            else:
                assert known * blocks in (*sums, sum(sums))
        else:
            assert all(row.stages == stages * row.requests for row in rows)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_launches(claim, recorded):
    for number, case in enumerate(chosen(claim)):
        recorded.clear()
        claim.run(schedule="synchronous", **case)
        launches = list(each_launch(call_with(claim.launches, case)))
        for symbolic, real in zip_longest(launches, recorded):
            agree(symbolic, real[0], {})
            agree_in_contents(symbolic, *real, case)
            agree_in_layouts(symbolic, real[0])
        if number == 0:
            names = [one for one, value in case.items() if isinstance(value, int) and one != "w"]
            symbols = symbols_of(names)
            numbers = {symbols[name]: case[name] for name in names}
            launches = call_with(claim.launches, {**case, **symbols})
            for symbolic, real in zip_longest(with_numbers(launches, numbers), recorded):
                agree(symbolic, real[0], numbers)


def test_they_are_for_exact_claims():
    assert len(CLAIMS) > 10
    assert {(claim.kind, claim.printed) for claim in CLAIMS} == {("exact", False)}
