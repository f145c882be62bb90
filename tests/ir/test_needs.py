"""The earlier accesses for which an access waits."""

import json

import pytest

from mmsim.ir.needs import needs
from mmsim.ir.walk import accesses
from tests.kit.runs.programs import program_of, rows_of

# A name, the earlier accesses for which each access waits, and the body.
CASES = """
copied: [[], [], [0]]
    # A copy is no use and a write is one.
    x = a[T.id]
    y = x
    b[T.id] = 1
    x = 2
    c[T.id] = y
computed: [[], [], [], [0], [1]]
    # Arithmetic waits where its result is used.
    x = a[0]
    y = a[1]
    z = x + 1
    b[0] = 5
    b[1] = z
    b[2] = y
branched: [[], [], [0, 1], [0, 1]]
    # A test uses what any branch may have left.
    x = a[0]
    if T.id > 2:
        x = a[1]
    if x:
        b[0] = 1
    b[1] = 2
summed: [[], [0]]
    # A sum needs its reads where it is written.
    x = 0
    for k in range(n):
        x += a[k]
    b[0] = x
by_index: [[1], [0], [1], [2]]
    # An index is used also inside arithmetic: of d[k], a[.], d[n], b[0] that by x, before d[n].
    x = 0
    r = mm.registers(2)
    for k in range(n):
        x += a[d[k] + 1]
        r[x % 2] = k
    b[0] = r[d[n] % 2] + 1
bounded: [[], [0]]
    # The bound of a loop is used.
    n = a[0]
    for k in range(n):
        b[k] = 0
in_registers: [[], [0], [], [2]]
    # Registers are copies and their index is a use.
    r = mm.registers(4)
    for k in range(n):
        r[k] = a[k]
    for k in range(n):
        b[k] = r[k]
    i = a[0]
    r[i] = 3
    b[5] = 1
vectors_and_atomics: [[], [0], [0], [2]]
    # Vectors atomics and exchanges.
    x, y = mm.vector(a, 2)[0]
    mm.vector(b, 2)[1] = 1, y
    old = mm.atomic.add(b, x, 1)
    z = mm.warp.shuffle(old, 0)
    b[7] = z
"""


@pytest.mark.parametrize(("head", "body"), list(rows_of(CASES)))
def test_an_access_waits_for_those_whose_words_it_uses(head, body):
    name, earlier = head.split(": ")
    body = program_of(body, "a, b, c, d, n", name).code.body
    assert [sorted(one) for one in needs(body, len(list(accesses(body))))] == json.loads(earlier)
