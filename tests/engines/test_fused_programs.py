"""Programs that the array engine fuses, or refuses to: written small, and run uncompiled."""

import sys

import numpy as np
import pytest

import mmsim as mm
from mmsim.engines.array.fused import execute
from mmsim.engines.array.fused.analysis import CannotFuse
from mmsim.host.progress import Progress
from tests.kit.runs.paths import agrees, launched, run_along


def zeros(size, dtype=int):
    return np.zeros(size, dtype)


def fuses(program, *args, **how):
    """Return whether a program has a fused path."""
    try:
        run_along("plain", program, *args, **how)
    except CannotFuse:
        return False
    return True


def first_of(a, i):
    return a[i]
    a[0] = 5  # never reached, yet an access of the text


@mm.program
def accesses_after_one_that_is_never_reached(T, a, b):
    s = mm.shared(4)
    x = first_of(a, T.id)
    b[T.id] = x
    s[T.lane] = x


def test_accesses_are_distinguished_after_one_that_is_never_reached():
    agrees(
        "plain",
        accesses_after_one_that_is_never_reached,
        np.arange(8),
        zeros(8),
        threads=8,
        machine=mm.HMM(2, 4, 10),
        block_size=4,
    )


# ------------------------------------------------------------------ numbers


WRAPPING = []


def wraps(function):
    WRAPPING.append(mm.program(function))


@wraps
def shifts_that_lose_bits(T, a):
    if (T.count << 61) > 0:
        a[T.id] = 1
    if ((T.count << 61) >> 61) == T.count:
        a[T.id] = 2


@wraps
def products_of_chosen_literals(T, a):
    if (5 if T.count > 3 else 7) * 2**61 > 0:
        a[T.id] = 1
    a[T.id] = 3


@wraps
def products_of_the_lesser_literal(T, a):
    if min(5, T.count) * 2**62 > 2**62:
        a[T.id] = 1
    a[T.id] = 3


@wraps
def ranges_longer_than_64_bits(T, a):
    for i in range(-(2**63) + 1, 2**63 - 1, 2**62):
        a[T.id] = i


@pytest.mark.parametrize("program", WRAPPING, ids=lambda one: one.name)
def test_loops_and_branches_never_depend_on_uniform_numbers_that_wrap(program):
    assert not fuses(program, zeros(8), threads=8)
    agrees(None, program, zeros(8), threads=8)


@mm.program
def the_lesser_of_an_int_and_a_float(T, a):
    a[T.id] = min(1, 2.0) * 2**62 * 4


def test_literals_have_the_type_of_their_expression():
    run = agrees("plain", the_lesser_of_an_int_and_a_float, zeros(8, float), threads=8)
    assert (run.arrays["a"] == 2.0**64).all()


@mm.program
def bits_of_a_chosen_literal(T, a):
    a[T.id] = mm.uint8(T.id and -4)


def test_a_chosen_literal_wraps_in_its_cast():
    run = agrees("plain", bits_of_a_chosen_literal, zeros(8), threads=8)
    assert run.arrays["a"].tolist() == [0, *[252] * 7]


# ------------------------------------------------------------------ long and deep programs


def written(tmp_path, name, lines):
    """A program of these lines."""
    text = "\n".join([f"def {name}(T, a):", *(f"    {line}" for line in lines), ""])
    file = tmp_path / f"{name}.py"
    file.write_text(text)
    names = {}
    exec(compile(text, str(file), "exec"), names)
    return mm.program(names[name])


CHAINS = {"each_the_next": "x{} = x{} + 1", "each_used_twice": "x{} = x{} ^ (x{} * 5)"}


@pytest.mark.parametrize("name", CHAINS)
def test_variables_that_stand_for_one_another_dont_explode(name, tmp_path):
    chain = [CHAINS[name].format(i + 1, i, i) for i in range(60)]
    program = written(tmp_path, name, ["x0 = T.id", *chain, "a[T.id] = x60"])
    agrees("plain", program, zeros(8), threads=8)


LOOPS = 19 if sys.version_info >= (3, 13) else 18  # two fewer than Python takes in one another
DEEP = {
    "guards": [
        *(line for i in range(120) for line in (f"if T.count == {100 + i}:", "    return")),
        "a[T.id] = 1",
    ],
    "loops": [
        *("    " * i + f"for i{i} in range(1):" for i in range(LOOPS)),
        "    " * LOOPS + "a[0] = 1",
    ],
}


@pytest.mark.parametrize("name", DEEP)
def test_what_python_finds_nested_too_deeply_is_interpreted(name, tmp_path, monkeypatch):
    program = written(tmp_path, name, DEEP[name])
    assert not fuses(program, zeros(8), threads=8)
    monkeypatch.setattr("mmsim.engines.array.engine.FEW", 0)
    agrees(None, program, zeros(8), threads=8)


@mm.program
def left_by_all(T, a, n):
    for i in range(T.id, n, T.count):
        a[i] += 1
        if n > 9:
            break
    a[T.id] += 10


@mm.program
def continued_by_all(T, a, n):
    for i in range(n - T.id, -1, -T.count):
        if n > 9:
            continue
        for k in range(T.lane, 3 - T.index):
            a[i] = a[i] + k


@pytest.mark.parametrize("program", [left_by_all, continued_by_all])
@pytest.mark.parametrize("n", [0, 3, 7, 8, 11])
def test_loops_of_which_threads_take_different_numbers_of_trips(program, n):
    agrees("plain", program, zeros(12), n, threads=5)


@mm.program
def greatest(T, a, b):
    mm.atomic.max(a, 0, T.id % 1000)
    mm.atomic.add(b, 0, T.id % 3)


def test_the_cores_copies_of_a_word_are_merged_by_its_operation(monkeypatch):
    monkeypatch.setattr(execute, "SHORT", 0)
    run = run_along("plain", greatest, zeros(1), zeros(1), threads=3 * execute.PIECE)
    assert (run.arrays["a"].item(), run.arrays["b"].item()) == (999, 3 * execute.PIECE)


@mm.program
def shared_by_a_block(T, a, b):
    s = mm.shared(8)
    s[T.index] = a[T.id]
    T.barrier()
    b[T.id] = s[7 - T.index]


def test_each_block_has_its_own_piece_with_its_shared_arrays():
    how = {"threads": 24, "block_size": 8, "machine": mm.HMM(2, 4, 5)}
    agrees("plain", shared_by_a_block, np.arange(24), zeros(24), **how)
    execution = execute.Execution(
        launched(shared_by_a_block, np.arange(24), zeros(24), **how), Progress("")
    )
    warps, pieces, _ = execution.known.pieces[False]
    assert (warps, pieces) == (2, 3)
