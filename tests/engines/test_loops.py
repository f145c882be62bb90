"""One loop over the warps that does several statements: which may, and that no result differs."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.engines.array.fused.execute import Execution, GaveUp
from mmsim.errors import AddressError
from tests.kit.runs.paths import SCHEDULES, agrees, launched, run_along
from tests.kit.runs.programs import program_of, rows_of

UMM, HMM = mm.UMM(4, 5), mm.HMM(2, 4, 7)
PATHS = ("plain", "fused")


def text(program, *args, **how):
    return Execution(launched(program, *args, **how), None).text.kernel


def loops(program, *args, **how):
    """Loops over the warps that touch memory."""
    written = text(program, *args, **how)
    barriers = written.count("operations[warp, at_access] = 1\n")
    return written.count("for warp in range(warp0, warp1)") - barriers


def ints(*shape):
    return np.random.RandomState(1).randint(0, 99, shape)


def both(program, *args, **how):
    for path in PATHS:
        agrees(path, program, *args, **how)


# ------------------------------------------------------------ which statements go together


through_shared, without_a_barrier, written_twice, read_twice = (
    program_of(body, name=name)
    for name, body in rows_of("""
through_shared
    s = mm.shared(T.block_size)
    x = a[T.id] + 1
    s[T.index] = x
    T.barrier()
    b[T.id] = s[T.block_size - 1 - T.index]
without_a_barrier
    s = mm.shared(T.block_size)
    s[T.index] = a[T.id]
    b[T.id] = s[T.block_size - 1 - T.index]
written_twice
    b[T.id // 2] = a[T.id]
    b[T.count // 2 - 1 - T.id // 2] = a[T.id] + 100
read_twice
    b[T.id] = a[T.id] + a[T.count - 1 - T.id]
""")
)


@mm.program
def shifted_in_place(T, a):
    x = a[(T.id + 4) % T.count]
    a[T.id] = x


@pytest.mark.parametrize(
    ("program", "arrays", "count", "schedules"),
    [
        (through_shared, 2, 2, SCHEDULES),
        (read_twice, 2, 1, SCHEDULES),
        (without_a_barrier, 2, 2, ["synchronous"]),  # a warp reads what a later one has written
        (shifted_in_place, 1, 2, SCHEDULES),  # all warps have read before the first one writes
        (written_twice, 2, 2, SCHEDULES),  # what the later statement writes stays
    ],
)
def test_statements_that_see_nothing_of_each_other_share_a_loop(program, arrays, count, schedules):
    how = {"machine": HMM, "threads": 16, "block_size": 8}
    args = [ints(16) for _ in range(arrays)]
    if program in (shifted_in_place, written_twice):
        how = {"machine": UMM, "threads": 16}
    assert loops(program, *args, **how) == count
    both(program, *args, schedules=schedules, **how)


@mm.program
def by_halves(T, a, b, c):
    if T.lane < 2:
        x = a[T.id]
        b[T.id] = x
        c[T.id] = x + b.size
    else:
        c[T.id] = a[T.id]


@mm.program
def own_warps(T, a, b, c):
    if T.warp % 2 == 0:
        b[T.id] = a[T.id]
        c[T.id] = a[T.count - 1 - T.id] * 2


def test_lanes_under_a_condition_share_a_loop_too():
    for program in (by_halves, own_warps):
        for threads, block_size in ((16, 8), (14, 7), (5, 5)):
            how = {"machine": HMM, "threads": threads, "block_size": block_size}
            both(program, ints(16), ints(16), ints(16), **how)


@mm.program
def divided(T, a, b, n):
    x = a[T.id] + 1
    i = T.id // n
    b[T.id] = x + i


def test_what_is_divided_by_is_looked_at_before_the_loop():
    how = {"machine": UMM, "threads": 16}
    assert loops(divided, ints(16), ints(16), 4, **how) == 1
    both(divided, ints(16), ints(16), 4, **how)
    both(divided, ints(16), ints(16), 3, **how)
    with pytest.raises(mm.errors.ProgramError, match="by zero"):
        UMM.run(divided, ints(16), ints(16), 0, threads=16)


# ------------------------------------------------------------ which words are not kept


MOVES = [
    program_of(body, "a, p, b", name)
    for name, body in rows_of("""
gathered
    b[T.id] = a[p[T.id]]
scattered
    b[p[T.id]] = a[T.id]
from_place_to_place
    b[p[T.id]] = a[p[T.count - 1 - T.id]]
one_to_one
    b[T.block] = a[p[0]]
kept_for_later
    x = a[p[T.id]]
    b[T.id] = x
    T.barrier()
    b[T.id] = x + b[T.id]
""")
]
gathered, scattered, from_place_to_place, one_to_one, kept_for_later = MOVES


@pytest.mark.parametrize("program", MOVES)
@pytest.mark.parametrize("kinds", [("int64", "int64"), ("int32", "int64"), ("int32", "float64")])
@pytest.mark.parametrize(("threads", "block_size"), [(24, 8), (22, 6), (3, 3)])
def test_words_that_are_moved_get_where_they_should(program, kinds, threads, block_size):
    a, b = ints(24).astype(kinds[0]), ints(24).astype(kinds[1])
    p = np.random.RandomState(2).permutation(24)
    how = {"machine": HMM, "threads": threads, "block_size": block_size}
    agrees("plain", program, a, p, b, **how)
    # Several lanes write one element.
    agrees("plain", program, a, p // 3, b, schedules=("synchronous",), **how)


def test_the_compiled_text_moves_them_too():
    p = np.random.RandomState(2).permutation(24)
    how = {"machine": HMM, "threads": 24, "block_size": 8, "schedules": ("synchronous",)}
    for program in MOVES:
        for targets in (p, p // 3):
            agrees("fused", program, ints(24), targets, ints(24), **how)


def test_what_is_written_as_it_is_read_is_not_kept():
    p, how = np.arange(16), {"threads": 16, "machine": UMM}
    assert "own_" not in text(gathered, ints(16), p, ints(16), **how)
    assert "own_" not in text(scattered, ints(16), p, ints(16), **how)
    assert "own_" not in text(gathered, ints(16).astype(np.int32), p, ints(16), **how)
    assert "own_" in text(kept_for_later, ints(16), p, ints(16), **how)


@mm.program
def read_again(T, a, b):
    x = a[T.id]
    y = a[T.block]
    for k in range(3):
        b[T.id] = x * k + y
        if x % 2 == 0:
            b[T.id] = x - k
    T.barrier()
    b[T.id] = x + y


@mm.program
def read_and_changed(T, a, b):
    x = a[T.id]
    a[T.id] = x + 1
    T.barrier()
    b[T.id] = x


@mm.program
def another_each_turn(T, a, b):
    for k in range(3):
        x = a[k, T.id]
        T.barrier()
        b[T.id] = x


def test_a_word_that_no_thread_writes_stays_where_it_is():
    how = {"machine": HMM, "threads": 16, "block_size": 8}
    assert "own_" not in text(read_again, ints(16), ints(16), **how)
    assert "own_" not in text(another_each_turn, ints(3, 16), ints(16), **how)
    assert "own_" in text(read_and_changed, ints(16), ints(16), **how)
    both(read_again, ints(16), ints(16), **how)
    both(read_and_changed, ints(16), ints(16), **how)
    both(another_each_turn, ints(3, 16), ints(16), **how)
    agrees("plain", read_again, ints(16), ints(16), machine=HMM, threads=14, block_size=7)


@mm.program
def own_trips(T, a, b, p):
    for k in range(T.lane + 1):
        b[T.id] = a[T.id]
        x = a[k]
        b[T.id] = x + a[p[T.id]]
        b[T.id] = a[p[T.id]]


def test_trips_that_all_threads_take_and_those_that_some_take_agree():
    p = np.random.RandomState(2).permutation(16)
    for how in ({"threads": 16, "block_size": 8}, {"threads": 14, "block_size": 7}):
        agrees("plain", own_trips, ints(16), ints(16), p, machine=HMM, **how)
    agrees("fused", own_trips, ints(16), ints(16), p, machine=HMM, threads=16, block_size=8)


# ------------------------------------------------------------ elements that all blocks share


@mm.program
def diagonal(T, a, b, w):
    s = mm.shared((w, w))
    i, j = T.index // w, T.index % w
    s[i, (i + j) % w] = a[T.id]
    T.barrier()
    b[T.id] = s[j, (j + i) % w] + s[i, (2 * j + T.block) % w]


@mm.program
def beyond(T, a, b):
    s = mm.shared(8)
    b[T.id] = a[T.id]
    s[2 * T.index] = 1


@mm.program
def by_turns(T, a, b):
    s = mm.shared(16)
    for k in range(2):
        s[2 * T.index + k] = a[T.id] + k
    b[T.id] = s[15 - T.index]


def test_elements_that_are_the_same_in_all_blocks_are_listed_once():
    how = {"machine": HMM, "threads": 64, "block_size": 16}
    kernel = text(diagonal, ints(64), ints(64), 4, **how)
    assert kernel.count("bank_request(elements_of_all_") == 2
    assert kernel.count("bank_request(elements,") == 1
    both(diagonal, ints(64), ints(64), 4, **how)
    both(diagonal, ints(64), ints(64), 3, machine=HMM, threads=27, block_size=9)
    listed = {"machine": HMM, "threads": 32, "block_size": 8}
    kernel = text(by_turns, ints(32), ints(32), **listed)
    assert kernel.count("bank_request(elements_of_all_") == kernel.count("bank_request(e") - 1 == 1
    both(by_turns, ints(32), ints(32), **listed)


def test_a_listed_element_that_is_none_is_an_error():
    how = {"machine": HMM, "threads": 32, "block_size": 8}
    assert "elements_of_all_0" in text(beyond, ints(32), ints(32), **how)
    errors = set()
    for path in (*PATHS, "interpreted"):
        with pytest.raises(AddressError) as error:
            run_along(path if path == "interpreted" else None, beyond, ints(32), ints(32), **how)
        errors.add(str(error.value))
    assert len(errors) == 1
    assert "index [8]" in errors.pop()


# ------------------------------------------------------------ what makes a text short


@mm.program
def reads(T, a, p, b):
    b[T.id] = a[p[T.id]] + a[p[T.count - 1 - T.id]]


@mm.program
def under_a_condition(T, a, p, b):
    if T.lane % 2 == 0:
        b[T.id] = a[p[T.id]] * 2 + T.id


@pytest.mark.parametrize("program", [reads, under_a_condition])
@pytest.mark.parametrize("wrong", [0, 2, 8, 14])
def test_a_loop_with_several_addresses_ends_at_the_one_that_is_wrong(program, wrong):
    p, how = np.arange(16), {"machine": UMM, "threads": 16}
    kernel = text(program, ints(16), p, ints(16), **how)
    assert kernel.count("break") > 1
    assert kernel.count("if bad:\n            return 1\n") == 1  # behind the loop
    both(program, ints(16), p, ints(16), **how)
    for element in (16, -1, 2**40):
        p[wrong] = element
        execution = Execution(launched(program, ints(16), p, ints(16), **how), None)
        with pytest.raises(GaveUp):
            execution.counted(plain=True)


def test_accesses_under_one_condition_find_their_lanes_once():
    p, how = np.random.RandomState(2).permutation(16), {"machine": UMM, "threads": 16}
    kernel = text(under_a_condition, ints(16), p, ints(16), **how)
    assert kernel.count("count += 1") == kernel.count("if count == 0:") == 1
    assert kernel.count("_request(") == 3
    both(under_a_condition, ints(16), p, ints(16), **how)
    agrees("plain", under_a_condition, ints(14), p[:14] // 2, ints(14), machine=HMM, threads=14)
