"""Stages by a card's rules in fused programs: every path gives what the event engine does.

By all kinds of accesses (reads, writes, atomics, compare and swap) to words of all sizes: of rows,
of one word, of words side by side, by all lanes or by some.
"""

import copy
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

import mmsim as mm
from mmsim.engines.array.fused.accesses import counted
from mmsim.engines.array.fused.analysis import CannotFuse
from mmsim.frontend.numba.kernel import numba_program
from mmsim.model.byte_banks import InPairs, Packed, Twice
from mmsim.model.conflicts import Banks, InParts
from tests.kit.generators.draws import draws
from tests.kit.generators.random_numba import numba_cases
from tests.kit.runs.paths import agrees, run_along

CARD = mm.HMM(3, 8, 9, 2, bank_bytes=4)
SMALL = mm.HMM(2, 4, 5, 3, bank_bytes=4)
SHORT = ("bool", "int8", "uint16", "float32", "int64", "float64", "complex128")
ATOMIC = ("int32", "uint32", "int64")


def words_of(dtype):
    """A program of plain accesses in both memories."""

    @mm.program
    def words(T, a, b, d):
        s = mm.shared(64, dtype=dtype)
        s[T.index] = a[T.id]
        T.barrier()
        b[T.id] = s[d[T.id] % 32]
        b[T.id] = s[(T.index * 5) % 32]
        b[T.id] = s[T.index // 2]
        b[T.id] = s[3]
        if T.lane % 3 != 1:
            b[T.id] = s[d[T.id] % 32]
            b[T.id] = a[d[T.id]]
        b[d[T.id]] = a[d[T.id]]

    return words


def arguments(dtype):
    a = np.arange(96).astype(dtype)
    return a, np.zeros(96, dtype), np.random.RandomState(0).permutation(96).astype(np.int32)


def atomics_of(dtype):
    """A program of atomics in both memories; additions give the same in any order."""

    @mm.program
    def atomics(T, a, b, d):
        s = mm.shared(32, dtype=dtype)
        s[T.index] = 0
        T.barrier()
        mm.atomic.add(s, T.index, 1)
        mm.atomic.add(s, 5, 1)
        mm.atomic.add(s, d[T.id] % 32, 1)
        mm.atomic.add(a, 7, 1)
        mm.atomic.add(a, T.id, 1)
        mm.atomic.add(a, d[T.id] // 3, 1)
        if T.lane % 3 != 1:
            mm.atomic.add(s, (T.index * 4) % 32, 1)
            mm.atomic.add(a, (T.id * 8) % 96, 1)
        T.barrier()
        b[T.id] = s[T.index]

    return atomics


HOW = {"threads": 96, "block_size": 32, "machine": CARD}
MADE = [*product([words_of], SHORT), *product([atomics_of], ATOMIC)]


@pytest.mark.parametrize(
    ("path", "made", "dtype"),
    [
        *((path, *one) for path in ("plain", "interpreted") for one in MADE),
        ("interpreted", atomics_of, "float64"),  # sums depend on the order, and aren't fused
    ],
)
def test_words_and_atomics_of_every_size(path, made, dtype):
    agrees(path, made(dtype), *arguments(dtype), **HOW)


def swaps_of(dtype):
    """A program whose compares and swaps change nothing twice."""

    @mm.program
    def swaps(T, a, d):
        s = mm.shared(32, dtype=dtype)
        s[T.index] = 0
        T.barrier()
        mm.atomic.cas(s, T.index, 0, 2)
        mm.atomic.cas(s, 4, 0, 3)
        if T.lane % 3 != 1:
            mm.atomic.cas(s, d[T.id] % 32, 0, 3)
        T.barrier()
        mm.atomic.cas(a, d[T.id], 1, s[T.index])

    return swaps


@pytest.mark.parametrize("path", ["plain", "interpreted"])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_compares_and_swaps_take_each_stage_twice(path, dtype):
    a, _, d = arguments(dtype)
    agrees(path, swaps_of(dtype), a, d, schedules=["synchronous"], **HOW)


@pytest.mark.parametrize(
    ("made", "dtype"),
    [
        (atomics_of, "int64"),
        # These run as the same text, uncompiled: test_words_and_atomics_of_every_size[plain].
        pytest.param(words_of, "int8", marks=pytest.mark.long),
        pytest.param(words_of, "float64", marks=pytest.mark.long),
    ],
)
def test_compiled_programs_count_the_same(made, dtype):
    agrees("fused", made(dtype), *arguments(dtype), schedules=["synchronous"], **HOW)


def test_every_rule_of_a_card_has_a_counter():
    """But atomics of words shorter than a bank, which no card has."""
    for machine in (mm.HMM(1, 32, 1, bank_bytes=4), mm.DMM(32, 1, bank_bytes=4)):
        for unit in machine.units:
            for size in (1, 2, 4, 8, 16):
                for kind in ("read", "write", "atomic", "cas"):
                    rule = unit.conflict.of_access(size, kind)
                    banks = isinstance(unit.conflict, Banks)
                    short = banks and size < 4 and kind in ("atomic", "cas")
                    assert counted(rule, 32, 128 // size) != short, (unit.name, size, kind)
    assert not counted(InPairs(1, Banks(1)), 2, 4)
    assert not counted(None, 2, 4)
    assert counted(Twice(2, InParts(2, Banks(2))), 4, 4)
    assert not counted(Packed(4, Banks(4).of_atomics(), 2), 4, 4)


@settings(max_examples=draws(5), derandomize=True)
@given(numba_cases())
def test_engines_and_paths_count_the_same_on_banks_of_4_bytes(case):
    program = numba_program(case.python)
    for schedule in ("asynchronous", "synchronous"):
        run = SMALL.run(
            program, *copy.deepcopy(case.args), **case.sizes, schedule=schedule, engine="events"
        )
        for path in ("interpreted", "plain"):
            special, args, _ = program.specialized(copy.deepcopy(case.args))
            how = {"machine": SMALL, "schedule": schedule, **case.sizes}
            try:
                found = run_along(path, special, *args, **how)
            except CannotFuse:
                continue
            assert (found.time, found.accesses) == (run.time, run.accesses), (path, schedule)
