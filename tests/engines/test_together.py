"""Which reads a compiler begins together: it moves them up in straight code."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.api.binding import bind
from mmsim.engines import cached_launch
from mmsim.engines.cached_launch import waits
from mmsim.model.rounds import ALWAYS, FIRST
from mmsim.model.threads import asked
from tests.kit.generators.random_programs import define
from tests.kit.runs.paths import both_engines
from tests.kit.runs.programs import rows_of

MACHINE = mm.Cached(1, 4, 10, under_way=32, unrolls=1)
HOW = {ALWAYS: "all", FIRST: "first"}


def made(text):
    lines = "".join(f"    {line}\n" for line in ("i = T.id", *text.splitlines()))
    return define(f"@mm.program\ndef made(T, a, b, d, n):\n{lines}", "made")


def arguments():
    return np.arange(64.0), np.zeros(64), np.arange(64) % 4, 40


# A name, how each access waits for which, and the body.
CASES = {}
for head, text in rows_of("""
twice: , 0 all, , , 1 all 3 all
    s = a[d[i]] + a[d[i + 4]]
    b[i] = s
in_order: , , 0 all, 1 all, 2 all 3 all
    x, y = d[i], d[i + 4]
    b[i] = a[x] + a[y]
a_write: , 0 all, , , 3 all, 1 all 4 all
    s = a[d[i]]
    b[i] = 1.0
    s = s + a[d[i + 4]]
    b[i] = s
an_atomic: , 0 all, , , 3 all, 1 all 4 all
    s = a[d[i]]
    mm.atomic.add(b, i, 1.0)
    s = s + a[d[i + 4]]
    b[i] = s
a_write_to_shared_memory: , 0 all, , , , 1 all 4 all
    t = mm.shared(8)
    s = a[d[i]]
    t[i] = 1
    s = s + a[d[i + 4]]
    b[i] = s
a_read_from_shared_memory: , 0 all, , , 3 all, 1 all 4 all
    t = mm.shared(8, dtype=mm.int64)
    s = a[t[i]]
    t[i] = 1
    s = s + a[t[i + 4]]
    b[i] = s
a_branch: , 0 all, , 2 all, 1 all 3 all
    s = 0.0
    if i > 2:
        s = a[d[i]]
    s = s + a[d[i + 4]]
    b[i] = s
a_jump: , 0 all, 1 all, 2 all, 1 all 3 all
    s = math.sqrt(a[d[i]])
    b[i] = s + a[d[i + 4]]
a_chain: , 0 all, 1 all, , , 2 all 4 all
    s = a[d[d[i]]]
    s = s + a[d[4]]
    b[i] = s
deeper: , 0 all, 1 all, , , , 2 all 5 all
    s = a[d[d[i]]]
    s = s + a[d[d[4]]]
    b[i] = s
loop: 0 first 1 first, 0 first, 1 all
    s = 0.0
    for k in range(n):
        s = s + a[d[k]]
    b[i] = s
loop_over_copies: 0 first 1 first 2 first 3 first, 0 first, , , 1 all 3 all
    s = 0.0
    for k in range(n):
        s = s + a[d[k]] + a[d[k + 4]]
    b[i] = s
chain_in_a_loop: 0 all, 0 all
    for k in range(n):
        i = d[i]
    b[i] = 1.0
next_index_in_a_loop: 0 all 1 first, 0 first, 0 all 1 all
    s = 0.0
    for k in range(n):
        i = d[i]
        s = s + a[i]
    b[i] = s
write_in_a_loop: 0 first 1 first, 0 all, 1 all
    for k in range(n):
        b[k] = a[d[k]]
atomics_in_shared_memory: 0 first, 0 first
    t = mm.shared(8)
    for k in range(n):
        mm.atomic.add(t, d[k], 1)
many_registers: , , , , , , , , 0 all, 0 all 1 all 2 all 3 all 4 all 5 all 6 all 7 all 8 all
    s = a[i] + a[i + 4] + a[i + 8] + a[i + 12] + a[i + 16]
    s += a[i + 20] + a[i + 24] + a[i + 28] + a[i + 32]
    b[i] = s
short_loop: , 0 first, 1 all
    s = 0.0
    for k in range(4):
        s = s + a[d[k]]
    b[i] = s
one_trip: , 0 all, 1 all
    s = 0.0
    for k in range(1):
        s = s + a[d[k]]
    b[i] = s
"""):
    name, expected = head.split(":")
    CASES[name] = text, [row.split() for row in expected.split(",")]


@pytest.fixture
def not_volatile(monkeypatch):
    """Programs whose words a compiler may move, as those of numba.cuda and CUDA C++."""
    monkeypatch.setattr(cached_launch, "has_volatile_words", lambda launch: False)


@pytest.mark.usefixtures("not_volatile")
@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES.keys())
def test_an_access_waits_for_no_read_that_is_moved_above_one_of_its_depth(text, expected):
    sizes = asked(threads=4, block_size=4)
    found = waits(bind(MACHINE, made(text), arguments(), sizes, "asynchronous", 1 << 40)).needs
    rows = [[f"{one} {HOW[row[one]]}" for one in np.flatnonzero(row)] for row in found]
    assert [" ".join(row).split() for row in rows] == expected


def test_volatile_reads_stay_in_the_order_of_the_text():
    sizes = asked(threads=4, block_size=4)
    for name, expected in (
        ("twice", ["", "0", "", "2", "1 3"]),
        ("loop", ["0 1", "0", "1"]),
    ):
        program = made(CASES[name][0])
        found = waits(bind(MACHINE, program, arguments(), sizes, "asynchronous", 1 << 40)).needs
        assert [" ".join(map(str, np.flatnonzero(row))) for row in found] == expected
        assert found[1, 0] == ALWAYS


@both_engines
@pytest.mark.usefixtures("not_volatile")
@pytest.mark.parametrize(
    ("name", "time"),
    [
        # Four lanes of a warp; each request takes 10, and the next one may be sent after 1.
        ("twice", 10 + 1 + 1 + 10 + 10),
        ("a_chain", 2 * 10 + 1 + 1 + 10 + 10),
        ("in_order", 1 + 10 + 10 + 10),
        ("short_loop", 10 + 6 + 10 + 10),
        # Five times 8 trips: both reads of the first one, and the last read of the others.
        ("loop", 5 * (10 + 14 + 10) + 10),
        # Eight reads are under way; one more begins when the first one completes.
        ("many_registers", 10 + 10 + 10),
    ],
)
def test_a_warp_goes_on_with_reads_that_were_moved_up(engine, name, time):
    program, how = made(CASES[name][0]), {"threads": 4, "schedule": "asynchronous"}
    run = MACHINE.run(program, *arguments(), **how, engine=engine)
    assert run.time == time
