"""Atomics whose order matters, on a machine with a cache: the array engine plays them as events do.

`in_turn.run` is None where the event engine has to run a launch.
"""

from functools import partial

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import mmsim as mm
from mmsim.api.binding import bind
from mmsim.engines import selection
from mmsim.engines.array import in_turn
from mmsim.engines.events import engine as events
from mmsim.meaning.counted import counted
from tests.kit.generators.cached_machines import cached_machines
from tests.kit.generators.draws import draws
from tests.kit.generators.random_programs import define

MACHINE = mm.Cached(
    2, 4, 20, 2, sectors=2, capacity=64, ways=2, miss_latency=30, atomic_time=3, under_way=3
)
THREADS = 48


@pytest.fixture(autouse=True)
def _takes_few_threads(monkeypatch):
    monkeypatch.setattr(in_turn, "FEW", 0)
    monkeypatch.setattr(in_turn.PLAY, "enough", -1)


@pytest.fixture
def found(monkeypatch):
    """The runs of `in_turn`."""
    runs, real = [], in_turn.run

    def run(launch):
        runs.append(real(launch))
        return runs[-1]

    monkeypatch.setattr(in_turn, "run", run)
    return runs


def outcome(run):
    contents = {name: values.tobytes() for name, values in run.arrays.items()}
    return run.time, run.accesses, run.cache, contents


def both(program, *args, machine=MACHINE, threads=THREADS, block_size=12):
    """Run a program on both engines; they must agree."""
    how = {"threads": threads, "block_size": block_size, "schedule": "asynchronous"}
    runs = [machine.run(program, *args, engine=one, **how) for one in ("array", "events")]
    one, other = map(outcome, runs)
    assert one == other
    return runs[0]


def numbers(size=THREADS, kind=np.int32):
    return np.zeros(size, kind)


KEYS = np.random.default_rng(0).integers(0, 5, THREADS).astype(np.int32)


@mm.program
def rank(T, k, c, r):
    old = mm.atomic.add(c, k[T.id], 1)
    r[T.id] = old


def test_each_thread_gets_its_own_rank(found):
    run = both(rank, KEYS, numbers(5), numbers())
    assert found[0] is not None
    assert run.engine == "array"
    ranks = [sorted(run.arrays["r"][key == KEYS].tolist()) for key in range(5)]
    assert ranks == [list(range(len(own))) for own in ranks]


def test_few_threads_are_left_to_the_event_engine(monkeypatch, found):
    monkeypatch.setattr(in_turn, "FEW", THREADS + 1)
    assert both(rank, KEYS, numbers(5), numbers()).engine == "events"
    assert found == [None]


def test_a_short_launch_does_not_wait_for_a_compiler(monkeypatch, found):
    monkeypatch.setattr(in_turn.PLAY, "pays", lambda work: work > 3 * THREADS)
    assert both(rank, KEYS, numbers(5), numbers()).engine == "events"
    monkeypatch.setattr(in_turn.PLAY, "pays", lambda work: work == 3 * THREADS)
    assert both(rank, KEYS, numbers(5), numbers()).engine == "array"


@mm.program
def sums(T, k, a, f):
    mm.atomic.add(f, k[T.id], a[T.id])


def test_floats_are_added_in_the_order_of_dispatches(found):
    a = np.random.default_rng(1).random(THREADS).astype(np.float32) * 1e4
    both(sums, KEYS, a, numbers(5, np.float32))
    assert found[0] is not None


@mm.program
def compacted(T, k, c, out):
    mine = mm.shared(1, mm.int32)
    base = mm.shared(1, mm.int32)
    x, place = k[T.id], 0
    if x > 2:
        place = mm.atomic.add(mine, 0, 1)
    T.barrier()
    if T.index == 0:
        old = mm.atomic.add(c, 0, mine[0])
        base[0] = old
    T.barrier()
    if x > 2:
        out[base[0] + place] = x


def test_blocks_reserve_places_between_barriers(found):
    run = both(compacted, KEYS, numbers(1), numbers())
    assert found[0] is not None
    kept = int((KEYS > 2).sum())
    assert (run.arrays["out"][:kept] > 2).all()
    assert not run.arrays["out"][kept:].any()


@mm.program
def taken_from_a_queue(T, c, r, n):
    i = mm.atomic.add(c, 0, 1)
    while i < n:
        r[i] = T.id
        i = mm.atomic.add(c, 0, 1)


def test_loops_take_items_until_none_is_left(found):
    run = both(taken_from_a_queue, numbers(1), numbers(200), 200)
    assert found[0] is not None
    assert run.arrays["c"][0] == 200 + THREADS


def test_a_loop_that_takes_too_many_words_is_left_to_the_event_engine(monkeypatch, found):
    monkeypatch.setattr(in_turn, "MOST", 3)
    both(taken_from_a_queue, numbers(1), numbers(200), 200)
    assert found == [None]


@mm.program
def late(T, k, a, c, r):
    old = mm.atomic.add(c, k[T.id], 1)
    x = a[T.id]
    r[T.id] = old + x


def test_a_request_that_does_not_wait_for_the_atomic(found):
    both(late, KEYS, numbers(), numbers(5), numbers())
    assert found[0] is not None


@mm.program
def racing(T, k, flag, c, r):
    if flag[k[T.id]] == 0:
        flag[k[T.id]] = 1
        place = mm.atomic.add(c, 0, 1)
        r[place] = T.id


@mm.program
def out_of_range(T, k, c, r):
    old = mm.atomic.add(c, 0, 1)
    r[old] = 1


def operations(program, *args, run):
    """The operations of each warp, counted in a run of a launch."""
    sizes = THREADS, 12, None
    launch = bind(MACHINE, program, args, sizes, "asynchronous", 1 << 20)
    counting = counted(launch)
    assert run(launch) is not None
    return counting.warps.tolist()


def test_races_are_left_to_the_event_engine(found):
    both(racing, KEYS, numbers(5), numbers(1), numbers())
    assert found == [None]


@pytest.mark.parametrize(
    ("program", "args"),
    [
        (rank, (KEYS, numbers(5), numbers())),
        (compacted, (KEYS, numbers(1), numbers())),
        (racing, (KEYS, numbers(5), numbers(1), numbers())),
    ],
    ids=["ranks", "barriers", "races"],
)
def test_operations_are_counted_once(program, args):
    one = operations(
        program, *args, run=partial(selection.launch, engine="array", trace=None, check=False)
    )
    other = operations(program, *args, run=partial(events.run, recording=False, checking=False))
    assert one == other


def test_errors_are_those_of_the_event_engine(found):
    messages = []
    for engine in ("array", "events"):
        with pytest.raises(mm.MMSimError) as error:
            MACHINE.run(
                out_of_range, KEYS, numbers(1), numbers(9), threads=THREADS, block_size=12,
                schedule="asynchronous", engine=engine,
            )  # fmt: skip
        messages.append(str(error.value))
    assert found == [None]
    assert messages[0] == messages[1]


STATEMENTS = (
    "x = k[T.id]",
    "x = x + r[T.id]",
    "r[T.id] = x",
    "x = mm.atomic.add(c, x % 5, 1)",
    "x = mm.atomic.max(d, x % 3, T.id)",
    "x = mm.atomic.exch(e, x % 5, x) % 100",
    "mm.atomic.add(f, x % 5, 0.1 * x)",
    "x = mm.atomic.add(s, x % 4, 1)",
    "mm.atomic.add(h, x % 5, 1)",
    "out[mm.atomic.add(t, 0, 1) % 999] = x",
)


@st.composite
def blocks(draw, depth=0):
    """Lines of a program in which atomics receive words."""
    lines = []
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.integers(0, 9))
        if kind == 0 and depth < 2:
            test = draw(st.sampled_from(["x % 2 == 0", "T.index < 4", "T.lane == 0"]))
            lines += [f"if {test}:", *("    " + one for one in draw(blocks(depth=depth + 1)))]
        elif kind == 1 and depth < 2:
            loop = f"for j{depth} in range(x % 3):"
            lines += [loop, *("    " + one for one in draw(blocks(depth=depth + 1)))]
        elif kind == 2 and depth == 0:
            lines.append("T.barrier()")
        else:
            lines.append(draw(st.sampled_from(STATEMENTS)))
    return lines


@settings(max_examples=draws(8))
@given(
    lines=blocks(),
    machine=cached_machines(2, 4, 5, 2),
    threads=st.integers(20, 60),
    block_size=st.sampled_from([4, 10, 16]),
)
def test_random_programs_are_the_same_on_both_engines(lines, machine, threads, block_size):
    text = [
        "def program(T, k, r, c, d, e, f, h, t, out):",
        "s = mm.shared(4, mm.int32)",
        "x = T.id",
        *lines,
    ]
    program = mm.program(define("\n    ".join(text) + "\n", "program"))
    rng = np.random.default_rng(threads)
    k = rng.integers(0, 50, threads).astype(np.int32)
    small = [numbers(5), numbers(3), numbers(5), numbers(5, np.float32), numbers(5), numbers(1)]
    args = k, numbers(threads), *small, numbers(999)
    run = both(program, *args, machine=machine, threads=threads, block_size=block_size)
    event(run.engine)
