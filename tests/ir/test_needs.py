"""The earlier accesses for which an access waits."""

from __future__ import annotations

import mmsim as mm
from mmsim.ir.needs import needs
from mmsim.ir.walk import accesses


def found(program):
    body = program.code.body
    return [sorted(one) for one in needs(body, len(list(accesses(body))))]


@mm.program
def copied(T, a, b, c):
    x = a[T.id]
    y = x
    b[T.id] = 1
    x = 2
    c[T.id] = y


def test_a_copy_is_no_use_and_a_write_is_one():
    assert found(copied) == [[], [], [0]]


@mm.program
def computed(T, a, b):
    x = a[0]
    y = a[1]
    z = x + 1
    b[0] = 5
    b[1] = z
    b[2] = y


def test_arithmetic_waits_where_its_result_is_used():
    assert found(computed) == [[], [], [], [0], [1]]


@mm.program
def branched(T, a, b):
    x = a[0]
    if T.id > 2:
        x = a[1]
    if x:
        b[0] = 1
    b[1] = 2


def test_a_test_uses_what_any_branch_may_have_left():
    assert found(branched) == [[], [], [0, 1], [0, 1]]


@mm.program
def summed(T, a, b, n):
    x = 0
    for k in range(n):
        x += a[k]
    b[0] = x


def test_a_sum_needs_its_reads_where_it_is_written():
    assert found(summed) == [[], [0]]


@mm.program
def by_index(T, a, b, d, n):
    x = 0
    r = mm.registers(2)
    for k in range(n):
        x += a[d[k] + 1]
        r[x % 2] = k
    b[0] = r[d[n] % 2] + 1


def test_an_index_is_used_also_inside_arithmetic():
    """d[k], a[.], d[n], b[0]: x is the index of a register before d is read again."""
    assert found(by_index) == [[1], [0], [1], [2]]


@mm.program
def bounded(T, a, b):
    n = a[0]
    for k in range(n):
        b[k] = 0


def test_the_bound_of_a_loop_is_used():
    assert found(bounded) == [[], [0]]


@mm.program
def in_registers(T, a, b, n):
    r = mm.registers(4)
    for k in range(n):
        r[k] = a[k]
    for k in range(n):
        b[k] = r[k]
    i = a[0]
    r[i] = 3
    b[5] = 1


def test_registers_are_copies_and_their_index_is_a_use():
    assert found(in_registers) == [[], [0], [], [2]]


@mm.program
def vectors_and_atomics(T, a, b):
    x, y = mm.vector(a, 2)[0]
    mm.vector(b, 2)[1] = 1, y
    old = mm.atomic.add(b, x, 1)
    z = mm.warp.shuffle(old, 0)
    b[7] = z


def test_vectors_atomics_and_exchanges():
    assert found(vectors_and_atomics) == [[], [0], [0], [2]]
