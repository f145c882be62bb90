"""Requests for rows of memory, which a fused program neither lists nor looks through."""

import gc
import weakref

import numpy as np
import pytest

import mmsim as mm
from mmsim.engines.array import engine as array
from mmsim.engines.array.fused import tiering
from mmsim.engines.array.fused.execute import Execution
from mmsim.errors import AddressError
from tests.kit.runs.paths import agrees, launched, run_along

UMM, DMM, HMM = mm.UMM(4, 5), mm.DMM(4, 5), mm.HMM(2, 4, 7)


@mm.program
def shifted(T, a, b, by):
    b[T.id] = a[T.id + by]


@mm.program
def in_a_matrix(T, a, b):
    i, j = T.id // a.shape[1], T.id % a.shape[1]
    b[i, j] = a[i, a.shape[1] - 1 - j]


@mm.program
def one_for_all(T, a, b):
    x = a[T.block]
    b[T.block, T.index] = x + a[3]


@mm.program
def in_shared_memory(T, a, b):
    s = mm.shared(T.block_size)
    s[T.index] = a[T.id]
    T.barrier()
    b[T.id] = s[T.block_size - 1 - T.index] + s[0]


@mm.program
def all_write_one(T, a, b):
    b[T.block] = a[T.id]


@mm.program
def skewed(T, a, b):
    i, j = T.id // 8, T.id % 8
    b[i, (i + j) % 8] = a[i, 7 - j]


@mm.program
def doubled(T, a, b):
    b[2 * T.id] = a[T.id // 3]


def requests(program, *args, **how):
    """The numbers of requests for rows, for one element, and for any a fused program has."""
    text = Execution(launched(program, *args, **how), None).text.kernel
    return text.count(" = row_of_"), text.count("stages = 1\n"), text.count("_request(")


def ints(*shape):
    return np.random.RandomState(0).randint(0, 99, shape)


@pytest.mark.parametrize("machine", [UMM, DMM, HMM])
@pytest.mark.parametrize(("threads", "block_size"), [(24, 8), (24, 24), (22, 6), (5, 5), (3, 2)])
def test_rows_cost_and_move_what_the_rule_says(machine, threads, block_size):
    how = {"machine": machine, "threads": threads, "block_size": block_size}
    blocks = -(-threads // block_size)
    for by in (0, 1, 3, 4):
        agrees("plain", shifted, ints(40), ints(30), by, **how)
    agrees("plain", one_for_all, ints(12), ints(blocks, block_size), **how)
    agrees("plain", in_shared_memory, ints(24), ints(24), **how)
    agrees("plain", all_write_one, ints(24), ints(24), **how)
    for columns in (6, 8):
        agrees("plain", in_a_matrix, ints(4, columns), ints(4, columns), **how)


def test_the_compiled_text_does_the_same():
    how = {"machine": HMM, "threads": 24, "block_size": 8}
    agrees("fused", in_shared_memory, ints(24), ints(24), **how)
    agrees("fused", all_write_one, ints(24), ints(24), **how)


def test_what_is_a_row_and_what_is_not():
    how = {"threads": 16, "block_size": 8}
    assert requests(shifted, ints(20), ints(16), 2, **how) == (2, 0, 0)
    assert requests(one_for_all, ints(9), ints(2, 8), **how) == (1, 2, 0)
    assert requests(all_write_one, ints(16), ints(2), **how) == (1, 1, 0)
    assert requests(skewed, ints(2, 8), ints(2, 8), **how) == (0, 0, 2)
    assert requests(doubled, ints(16), ints(32), **how) == (0, 0, 2)


def test_a_divisor_that_the_width_does_not_divide_makes_no_row():
    how = {"threads": 12, "block_size": 12}
    assert requests(in_a_matrix, ints(3, 8), ints(3, 8), **how) == (1, 0, 1)
    assert requests(in_a_matrix, ints(3, 6), ints(3, 6), **how) == (0, 0, 2)


def test_blocks_that_end_within_a_warp_begin_anywhere():
    a = ints(3, 8)
    assert requests(in_a_matrix, a, a.copy(), threads=24, block_size=6) == (0, 0, 2)


@pytest.mark.parametrize("by", [-1, -9, 5, 2**62, 2**63 - 3])
@pytest.mark.parametrize("threads", [16, 14])
def test_a_row_that_leaves_its_array_is_an_error(by, threads, monkeypatch, uncompiled):
    with pytest.raises(AddressError) as interpreted:
        run_along("interpreted", shifted, ints(16), ints(16), by, threads=threads)
    monkeypatch.setattr(array, "FEW", 0)
    monkeypatch.setattr(tiering.Tiering, "at_once", lambda self: True)
    with pytest.raises(AddressError) as weighed:
        run_along(None, shifted, ints(16), ints(16), by, threads=threads)
    assert str(weighed.value) == str(interpreted.value)


# ------------------------------------------------------------ what is kept for the next launch


@mm.program
def scatter(T, a, p, b):
    b[p[T.id]] = a[T.id]


def test_launches_that_count_otherwise_have_rows_of_their_own():
    a, one, other = ints(64), np.arange(64), np.arange(64).reshape(8, 8).T.ravel().copy()
    for p in (one, other, one, one, other):
        for machine in (UMM, HMM):
            agrees("plain", scatter, a, p, np.zeros(64, int), threads=64, machine=machine)


def test_nothing_of_the_caller_is_kept():
    a = ints(100_000)
    seen = weakref.ref(a)
    run = run_along("plain", shifted, a, ints(16), 0, threads=16)
    assert np.shares_memory(run.arrays["a"], a)
    del a, run
    gc.collect()
    assert seen() is None


def test_layouts_of_one_kind_keep_their_own_addresses():
    a = ints(4, 4)
    for seed in range(4):
        rap = mm.layout.RAP(4, seed=seed)
        agrees("plain", in_a_matrix, mm.place(a, rap), a.copy(), threads=16)
        agrees("plain", in_a_matrix, a, mm.place(a.copy(), rap), threads=16)
