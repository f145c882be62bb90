"""A launch whose arguments are like those of one before is checked less, and refuses the same."""

import gc
import re
import weakref

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import LaunchError
from mmsim.meaning.launch import Launch
from mmsim.meaning.memoized import Memoized, memoized

MACHINE = mm.UMM(4, 3)


def test_the_results_used_last_stay_longest(monkeypatch):
    monkeypatch.setattr("mmsim.meaning.memoized.MOST", 2)
    memo, made = Memoized(), []

    def once(name):
        return memo.once(name, lambda: made.append(name) or name)

    assert [once(name) for name in "abacab"] == list("abacab")
    assert made == ["a", "b", "c", "b"]


def test_what_is_memoized_goes_with_its_program():
    program = mm.program(add.function)
    program = mm.Program(program.function, program.code)
    memo = memoized(program)
    for engine in ("array", "events"):
        MACHINE.run(program, *a_b(), threads=8, engine=engine, check=True)
    assert memoized(program) is memo
    gone = weakref.ref(program), weakref.ref(memo)
    del program, memo
    gc.collect()
    assert [one() for one in gone] == [None, None]


@mm.program
def add(T, a, b, x=1):
    b[T.id] = a[T.id] + x


@mm.program
def twice(T, a, b):
    own = mm.shared(4)
    own[T.index] = a[T.id]
    T.barrier()
    b[T.id] = 2 * own[T.index]


def launched(*args, machine=MACHINE, threads=8, block_size=None, max_accesses=100, program=add):
    return Launch(machine, program, args, threads, block_size, "synchronous", max_accesses)


def a_b(dtype=int, size=8):
    return np.arange(size).astype(dtype), np.zeros(size, dtype)


def test_the_second_launch_shares_all_but_the_contents():
    first, second = (launched(*a_b()) for _ in range(2))
    assert first.meaning is second.meaning
    assert first.grid == second.grid
    assert len(first.grid.id) == 8
    assert "id" not in vars(second.grid)  # nothing with a number for every thread is kept
    assert first.memo is second.memo
    assert all(first.arrays[name] is not second.arrays[name] for name in "ab")


@pytest.mark.parametrize("shared", [mm.UMM(4, 3), mm.HMM(2, 4, 3)])
def test_the_second_launch_has_shared_arrays_of_its_own(shared):
    for value in (1, 2, 3):
        a = np.full(8, value)
        run = shared.run(twice, a, np.zeros(8, int), threads=8, block_size=4)
        assert run.arrays["b"].tolist() == [2 * value] * 8
        assert list(run.arrays) == ["a", "b"]
    launch = launched(*a_b(), machine=shared, program=twice, block_size=4)
    assert [name for name, array in launch.arrays.items() if array.shared] == ["own"]


def test_what_differs_is_bound_anew():
    first = launched(*a_b())
    others = [
        launched(*a_b(float)),
        launched(*a_b(size=9)),
        launched(a_b()[0], np.zeros(8), 1.0),
        launched(a_b()[0], np.zeros(8), 1),
        launched(*a_b(), 2),
        launched(*a_b(), machine=mm.UMM(4, 4)),
        launched(*a_b(), machine=mm.DMM(4, 3)),
        launched(*a_b(), threads=4),
        launched(*a_b(), block_size=4),
        launched(*a_b(), max_accesses=99),
    ]
    assert all(other.memo is not first.memo for other in others)


def test_numbers_that_are_equal_to_python_stay_apart():
    a = np.zeros(8)
    for x, signs in ((0.0, [False] * 8), (-0.0, [True] * 8), (0.0, [False] * 8)):
        run = MACHINE.run(add, -a, np.zeros(8), x, threads=8)
        assert np.signbit(run.arrays["b"]).tolist() == signs
    kinds = [type(launched(a, a.copy(), x).meaning.numbers["x"]) for x in (1, 1.0, True, 1)]
    assert kinds == [int, float, bool, int]


def refused(text, *args, **options):
    with pytest.raises(LaunchError, match=re.escape(text)):
        launched(*args, **options)


def test_the_second_launch_is_refused_as_the_first_would_be():
    a, b = a_b()
    for _ in range(3):
        launched(a, b)
        launched(a, b, 1)
        refused("arguments 'a' and 'b' of program 'add' are the same array", b, b)
        refused("arguments 'a' and 'b' of program 'add' are the same array", a[::-1], a)
        refused("threads must be a whole number, not True", *a_b(), threads=True)
        refused("threads must be a whole number, not 8.0", *a_b(), threads=8.0)
        refused("max_accesses must be a whole number", *a_b(), max_accesses=100.0)
        refused("is missing argument 'b'", a)
        refused("must be an array", a, 1)
        refused("must be a number", a, b, b)
        refused("holds >i8", a, b.astype(">i8"))
        refused("is masked", a, np.ma.array(b, mask=b == 0))


def test_parts_of_one_array_that_have_no_word_in_common_may_both_be_given():
    whole = np.arange(16)
    for _ in range(2):
        run = MACHINE.run(add, whole[::2], whole[1::2], threads=8)
        assert run.arrays["b"].tolist() == (whole[::2] + 1).tolist()
    assert whole.tolist() == list(range(16))


def test_lists_and_placed_arrays_are_converted_after_plain_ones():
    a, b = np.arange(16).reshape(4, 4), np.zeros((4, 4), int)
    for _ in range(2):
        assert launched(a[0], b[0]).arrays["a"].offsets is None
        placed = mm.place(a, mm.layout.Diagonal(4))
        assert launched(placed, b).arrays["a"].offsets is not None
        assert launched(a, b).arrays["a"].offsets is None
        assert launched([1, 2], b[0]).arrays["a"].data.tolist() == [[1, 2]]


@pytest.mark.parametrize("program", [add, twice])
def test_an_argument_that_only_one_of_two_writes_overlaps(program):
    """As at the first launch: `b` is written, `a` is not."""
    a, b = a_b()
    launched(a, b, program=program)
    with pytest.raises(LaunchError, match="are the same array"):
        launched(b, b, program=program)
