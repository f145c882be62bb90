"""Proofs for what compilers make: values in register arrays, tests at the end of a loop, errors.

Each rule shows in a pair of programs, one proved and one not.
"""

import numpy as np
import pytest

import mmsim as mm

pytest.importorskip("z3", reason="proofs need z3-solver")

HMM = mm.HMM(dmms=2, width=4, global_latency=5)
FACTS = ["a.size >= 2 * threads", "blocks == 1"]


def proof(program, *args, given=(), **options):
    options = options or {"threads": 8, "block_size": 8}
    return HMM.check(program, *args, prove=True, given=given, **options).proved


def words(size):
    return np.zeros(size, int)


# Elements of register arrays


@mm.program
def kept(T, a, k):
    r = mm.registers(2, dtype=int)
    r[0] = T.id
    r[1] = 0
    a[r[0]] = T.id


@mm.program
def perhaps_another(T, a, k):
    r = mm.registers(2, dtype=int)
    r[0] = T.id
    r[k % 2] = 0
    a[r[0]] = T.id


@mm.program
def of_a_branch(T, a, k):
    r = mm.registers(2, dtype=int)
    r[0] = T.id
    if k > 0:
        r[0] = T.id + 1
    a[r[0]] = T.id


@mm.program
def of_a_branch_of_some(T, a, k):
    r = mm.registers(2, dtype=int)
    r[0] = T.id
    if T.id == k:
        r[0] = T.id + 1
    a[r[0]] = T.id


@mm.program
def changed_in_a_loop(T, a, k):
    r = mm.registers(2, dtype=int)
    r[0] = T.id
    for _ in range(k):
        a[r[0]] = T.id
        r[0] = 0


@mm.program
def at_an_unknown_place_in_a_loop(T, a, k):
    r = mm.registers(2, dtype=int)
    r[0] = T.id
    for i in range(k):
        a[r[0]] = T.id
        r[i % 2] = 0


@mm.program
def never_set(T, a, k):
    r = mm.registers(2, dtype=int)
    a[r[0]] = T.id


@pytest.mark.parametrize("program", [kept, of_a_branch])
def test_an_element_of_a_register_array_is_known(program):
    assert proof(program, words(32), 1, given=FACTS).answer == "yes"


@pytest.mark.parametrize(
    "program",
    [
        perhaps_another,
        of_a_branch_of_some,
        changed_in_a_loop,
        at_an_unknown_place_in_a_loop,
        never_set,
    ],
)
def test_an_element_that_may_have_changed_is_not(program):
    assert proof(program, words(32), 1, given=FACTS).race.answer != "yes"


# Conditions at the end of a loop


@mm.program
def until_the_end(T, a, n):
    if n > 0:
        i = 0
        while True:
            a[n * T.id + i] = T.id
            j = i + 1
            i = j
            if not j < n:
                break


@mm.program
def beyond_the_end(T, a, n):
    if n > 0:
        i = 0
        while True:
            a[n * T.id + i] = T.id
            j = i + 1
            i = j
            if not j <= n:
                break


def test_what_holds_at_the_end_of_an_iteration_holds_in_the_next():
    facts = ["a.size == n * threads", "blocks == 1"]
    assert proof(until_the_end, words(32), 4, given=facts).answer == "yes"
    found = proof(beyond_the_end, words(32), 4, given=facts)
    assert (found.race.answer, found.index.answer) == ("no", "no")


@mm.program
def the_last(T, a, n):
    if n > 0:
        last = 0
        for i in range(n):
            last = i
        if T.id == 0:
            a[last] = 1


def test_what_is_read_behind_a_loop_alone_is_known():
    assert proof(the_last, words(5), 5, given="a.size == n").answer == "yes"
    assert proof(the_last, words(4), 5, given="a.size == n - 1").index.answer == "no"


# What is read by all


@mm.program
def never_written(T, a):
    s = mm.shared(4, dtype=int)
    a[0] = s[1]


@mm.program
def of_their_own(T, a):
    s = mm.shared(T.block_size, dtype=int)
    a[0] = s[T.index]


def test_the_threads_of_a_block_read_one_word_where_none_is_written():
    assert proof(never_written, words(32), given=FACTS).race.answer == "yes"
    assert proof(never_written, words(32), given="a.size >= 1").race.answer == "undecided"
    assert proof(of_their_own, words(32), given=FACTS).race.answer == "undecided"
