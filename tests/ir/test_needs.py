"""The earlier accesses for which an access waits."""

import pytest

import mmsim as mm
from mmsim.ir.needs import needs
from mmsim.ir.walk import accesses

CASES = []


def waits(*earlier):
    """Note for which earlier accesses each access of a program waits."""
    return lambda function: CASES.append((mm.program(function), list(earlier)))


@waits([], [], [0])
def copied(T, a, b, c):
    """A copy is no use and a write is one."""
    x = a[T.id]
    y = x
    b[T.id] = 1
    x = 2
    c[T.id] = y


@waits([], [], [], [0], [1])
def computed(T, a, b):
    """Arithmetic waits where its result is used."""
    x = a[0]
    y = a[1]
    z = x + 1
    b[0] = 5
    b[1] = z
    b[2] = y


@waits([], [], [0, 1], [0, 1])
def branched(T, a, b):
    """A test uses what any branch may have left."""
    x = a[0]
    if T.id > 2:
        x = a[1]
    if x:
        b[0] = 1
    b[1] = 2


@waits([], [0])
def summed(T, a, b, n):
    """A sum needs its reads where it is written."""
    x = 0
    for k in range(n):
        x += a[k]
    b[0] = x


@waits([1], [0], [1], [2])
def by_index(T, a, b, d, n):
    """An index is used also inside arithmetic: of d[k], a[.], d[n], b[0] that by x, before d[n]."""
    x = 0
    r = mm.registers(2)
    for k in range(n):
        x += a[d[k] + 1]
        r[x % 2] = k
    b[0] = r[d[n] % 2] + 1


@waits([], [0])
def bounded(T, a, b):
    """The bound of a loop is used."""
    n = a[0]
    for k in range(n):
        b[k] = 0


@waits([], [0], [], [2])
def in_registers(T, a, b, n):
    """Registers are copies and their index is a use."""
    r = mm.registers(4)
    for k in range(n):
        r[k] = a[k]
    for k in range(n):
        b[k] = r[k]
    i = a[0]
    r[i] = 3
    b[5] = 1


@waits([], [0], [0], [2])
def vectors_and_atomics(T, a, b):
    """Vectors atomics and exchanges."""
    x, y = mm.vector(a, 2)[0]
    mm.vector(b, 2)[1] = 1, y
    old = mm.atomic.add(b, x, 1)
    z = mm.warp.shuffle(old, 0)
    b[7] = z


@pytest.mark.parametrize(("program", "earlier"), CASES, ids=[one.name for one, _ in CASES])
def test_an_access_waits_for_those_whose_words_it_uses(program, earlier):
    body = program.code.body
    assert [sorted(one) for one in needs(body, len(list(accesses(body))))] == earlier
