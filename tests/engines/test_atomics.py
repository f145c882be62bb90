"""Atomics: what they leave, what they give and what they cost, counted by hand."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.api.report import Report
from mmsim.engines.array import counting
from mmsim.engines.array.fused import execute
from mmsim.errors import LanguageError, MMSimError, TypeFault
from mmsim.ir.atomics import LEAVES, TYPES, in_turn
from mmsim.model.conflicts import Banks, BanksInTurn, Conflict, Groups, InParts
from tests.kit.generators.random_programs import same
from tests.kit.oracle.reference import changed
from tests.kit.runs.paths import ENGINES, SCHEDULES, agrees, both_engines, both_schedules

NAMES = {"and": "and_", "or": "or_"}


def zeros(size, dtype=int):
    return np.zeros(size, dtype)


@mm.program
def count(T, x, h):
    mm.atomic.add(h, x[T.id], 1)


@mm.program
def ticket(T, x, h, old):
    old[T.id] = mm.atomic.add(h, x[T.id], 1)


# ------------------------------------------------------------------ stages


@pytest.mark.parametrize(
    ("addresses", "banks", "groups"),
    [
        ([0, 1, 2, 3], 1, 1),  # one request for each address: nothing waits
        ([5, 5, 5, 5], 4, 4),  # four for one address
        ([0, 4, 0, 4], 4, 4),  # bank 0: four; groups 0 and 1: two each
        ([0, 1, 0, 1], 2, 2),  # banks 0 and 1: two each; group 0: at most two for one address
        ([0, 0, 1, 9], 2, 3),  # banks 0: two, 1: two; group 0: two, group 2: one
        ([0, 0, 0, 8], 4, 4),  # bank 0: four; group 0: three, group 2: one
        ([3, 6, 9, 12], 1, 4),  # banks 3, 2, 1, 0; four groups
    ],
)
def test_requests_for_one_address_do_not_merge(addresses, banks, groups):
    for rule, stages in ((Banks(4), banks), (Groups(4), groups)):
        rule = rule.of_atomics()
        assert rule.stages(addresses) == stages
        assert rule.stage_counts(np.array(addresses), np.zeros(4, np.int64), 1).tolist() == [stages]
        assert max(rule.stage_of(addresses)) + 1 == stages
        assert rule.of_atomics() == rule


def test_the_lanes_of_one_address_travel_in_their_order():
    assert Banks(4).of_atomics().stage_of([5, 1, 5, 2]) == [1, 0, 2, 0]
    assert Groups(4).of_atomics().stage_of([5, 1, 5, 6]) == [1, 0, 2, 1]


def test_long_words_go_by_halves():
    rule = InParts(2, Banks(4)).of_atomics()
    assert rule == InParts(2, BanksInTurn(4))
    assert rule.stages([5, 5, 5, 1]) == 2 + 2  # two for one address, then two in one bank


class Sectors(Conflict):
    """A rule of somebody's own, which says nothing of atomics."""

    name, place, free = "sector", "sector", "coalesced"

    def cells(self, addresses):
        return addresses // 2

    def stage_of(self, addresses, lanes=None):
        order = sorted({address // 2 for address in addresses})
        return [order.index(address // 2) for address in addresses]


def test_another_rule_stays_with_a_stage_until_its_words_are_done():
    rule = Sectors(4).of_atomics()
    assert rule.stages([0, 1, 2, 2]) == 3  # sector 0: one each; sector 1: two for address 2
    counts = rule.stage_counts(np.array([0, 1, 2, 2, 6]), np.array([0, 0, 0, 0, 2]), 3)
    assert counts.tolist() == [3, 0, 1]


@pytest.mark.parametrize("rule", [Banks(4), Groups(4), InParts(2, Banks(4)), Sectors(4)])
def test_many_requests_are_counted_as_one_by_one(rule):
    rule, random = rule.of_atomics(), np.random.default_rng(1)
    for _ in range(50):
        sizes = random.integers(1, 9, 5)
        lanes = np.concatenate([np.sort(random.permutation(8)[:size]) for size in sizes])
        addresses, warps = random.integers(0, 12, sizes.sum()), np.repeat(np.arange(5), sizes)
        expected = [
            max(rule.stage_of(addresses[warps == w].tolist(), lanes[warps == w])) + 1
            for w in range(5)
        ]
        assert rule.stage_counts(addresses, warps, 5, lanes).tolist() == expected


# ------------------------------------------------------------------ times


@both_schedules
@both_engines
def test_a_histogram_of_two_warps(schedule, engine):
    """Warp 0: bins 0 0 0 1; warp 1: bins 0 4 1 2, width 4.

    On banks the atomics take 3 and 2 stages (bins 0 and 4 share bank 0), on groups 3 and 1 + 1.
    The reads take 1 stage each. Synchronous: 2 + 5 - 1, then 3 + 2 + 5 - 1 = 6 + 9 = 15.
    Asynchronous: warp 0 reads 0..5 and adds from 5; warp 1 reads 1..6, waits for 8, is done at
    8 + 2 + 4 = 14.
    """
    x = np.array([0, 0, 0, 1, 0, 4, 1, 2])
    for machine in (mm.DMM(4, 5), mm.UMM(4, 5)):
        run = machine.run(count, x, zeros(8), threads=8, schedule=schedule, engine=engine)
        assert run.engine == engine
        assert run.time == {"synchronous": 15, "asynchronous": 14}[schedule]
        row = run.accesses[1]
        assert (row.kind, row.requests, row.stages, row.least) == ("atomic", 2, 5, 2)
        assert row.access_class == "casual"
        assert run.arrays["h"].tolist() == [4, 2, 1, 0, 1, 0, 0, 0]
    if schedule == "synchronous":
        assert [(one.kind, one.stages, one.time) for one in run.rounds] == [
            ("read", 2, 6),
            ("atomic", 5, 9),
        ]


@both_schedules
def test_lanes_receive_what_the_one_before_left(schedule):
    x = np.array([0, 1, 0, 0, 1, 0, 0, 0])
    run = mm.DMM(4, 5).run(ticket, x, zeros(2), zeros(8), threads=8, schedule=schedule)
    assert run.arrays["old"].tolist() == [0, 0, 1, 2, 1, 3, 4, 5]
    assert run.arrays["h"].tolist() == [6, 2]


@both_schedules
def test_each_block_has_its_own_words(schedule):
    @mm.program
    def private(T, x, h):
        own = mm.shared(2, dtype=int)
        mm.atomic.add(own, x[T.id], 1)
        T.barrier()
        if T.index < 2:
            mm.atomic.add(h, T.index, own[T.index])

    x = np.arange(16) % 3 // 2
    for engine in ENGINES:
        run = mm.HMM(2, 4, 5).run(
            private, x, zeros(2), threads=16, block_size=4, schedule=schedule, engine=engine
        )
        assert run.engine == engine
        assert run.arrays["h"].tolist() == np.bincount(x).tolist()
        spaces = {(row.array, row.kind): row.space for row in run.accesses}
        assert (spaces["own", "atomic"], spaces["h", "atomic"]) == ("shared", "global")


def test_an_order_that_matters_is_left_to_the_event_engine():
    args = np.zeros(8, int), zeros(1)
    asked = {"threads": 8, "engine": "array"}
    machine = mm.DMM(4, 5)
    assert machine.run(count, *args, schedule="asynchronous", **asked).engine == "array"
    args = (*args, zeros(8))
    assert machine.run(ticket, *args, schedule="asynchronous", **asked).engine == "events"
    assert machine.run(ticket, *args, schedule="synchronous", **asked).engine == "array"

    @mm.program
    def mixed(T, h):
        mm.atomic.add(h, 0, 1)
        mm.atomic.max(h, 0, 5)

    @mm.program
    def floats(T, h):
        mm.atomic.add(h, 0, 0.1)

    for program, dtype in ((mixed, int), (floats, float)):
        run = machine.run(program, zeros(1, dtype), schedule="asynchronous", **asked)
        assert run.engine == "events"


# ------------------------------------------------------------------ fused


@mm.program
def several(T, x, h, m, old, limit):
    own = mm.shared(8, dtype="uint32")
    for i in range(3):
        k = x[(T.id + i) % x.size]
        if k > limit:
            old[T.id] += mm.atomic.add(own, k, 3)
        mm.atomic.inc(own, k % 4, 5)
        mm.atomic.dec(own, 7 - k, 6)
        mm.atomic.add(h, (k, k % 2), -k)
        mm.atomic.max(m, 0, T.id - i)
    T.barrier()
    mm.atomic.xor(own, T.index % 8, T.index)
    old[T.id] += mm.atomic.cas(own, T.index % 8, T.index, 2)
    old[T.id] += mm.atomic.exch(own, T.lane % 2, 4)
    mm.atomic.sub(h, (0, 0), 1)
    old[T.id] += own[T.index % 8]


@pytest.mark.parametrize(
    "machine",
    [
        mm.DMM(4, 3),
        pytest.param(mm.UMM(4, 3), marks=pytest.mark.long),
        pytest.param(mm.HMM(2, 4, 9), marks=pytest.mark.long),
    ],
    ids=["DMM", "UMM", "HMM"],
)
@pytest.mark.parametrize("path", ["plain", "fused"])
def test_a_fused_program_is_the_interpreted_one(machine, path):
    x = np.random.default_rng(5).integers(0, 8, 48)
    args = x, np.zeros((8, 2), int), np.array([-(2**31)], np.int32), zeros(44), 2
    how = {"threads": 44, "block_size": 12, "machine": machine, "schedules": ["synchronous"]}
    for way in ("interpreted", path):
        agrees(way, several, *args, **how)


@mm.program
def gathers(T, x, total, least, most, some, every, odd):
    k = x[T.id]
    mm.atomic.add(total, k % 4, k)
    mm.atomic.sub(total, 0, 1)
    mm.atomic.min(least, k % 4, k)
    mm.atomic.max(most, k % 4, k - 2000)
    mm.atomic.or_(some, k % 4, k)
    mm.atomic.and_(every, k % 4, k | 3)
    mm.atomic.xor(odd, k % 4, k)


@both_schedules
def test_cores_put_their_copies_together(schedule, monkeypatch):
    monkeypatch.setattr(execute, "SHORT", 100)
    monkeypatch.setattr(execute, "PART", 100)
    monkeypatch.setattr(execute, "PIECE", 64)
    x = np.random.default_rng(5).integers(0, 1000, 4096)
    words = [np.full(4, 7, dtype) for dtype in ("int64", "int32", "int32", "uint32", "int64")]
    args = x, *words, zeros(4)
    agrees("fused", gathers, *args, machine=mm.UMM(32, 9), threads=4096, schedules=[schedule])


HASH = 0x9E3779B97F4A7C15


@mm.program
def hashed_gathers(T, x, added, most, least, common):
    hashed = mm.uint64(x[T.id]) * HASH
    mm.atomic.add(added, x[T.id] % 8, hashed)
    mm.atomic.max(most, x[T.id] % 8, hashed)
    mm.atomic.min(least, x[T.id] % 8, hashed)
    mm.atomic.and_(common, T.threadIdx.x % 2, hashed | 3)


@pytest.mark.parametrize("path", ["fused", "plain", "interpreted"])
def test_atomics_on_unsigned_words_of_64_bits_along_every_path(path):
    x = np.arange(2048) * 37 % 101
    all_bits = 2**64 - 1
    most, least = np.zeros(8, np.uint64), np.full(8, all_bits, np.uint64)
    run = agrees(
        path,
        hashed_gathers,
        *(x, np.zeros(8, np.uint64), most, least, np.full(2, all_bits, np.uint64)),
        threads=2048,
        machine=mm.HMM(2, 32, 5),
        block_size=256,
    )
    hashed = x.astype(np.uint64) * np.uint64(HASH)
    added, mask = np.zeros(8, np.uint64), np.full(2, all_bits, np.uint64)
    np.add.at(added, x % 8, hashed)
    np.maximum.at(most, x % 8, hashed)
    np.minimum.at(least, x % 8, hashed)
    np.bitwise_and.at(mask, np.arange(2048) % 2, hashed | np.uint64(3))
    expected = {"added": added, "most": most, "least": least, "common": mask, "x": x}
    assert same(run.arrays, expected)


@pytest.mark.parametrize("rule", [Banks, Groups])
def test_the_compiled_counter_counts_as_the_rule(rule):
    counter = {Banks: counting.bank_atomic_request, Groups: counting.group_atomic_request}[rule]
    random = np.random.default_rng(2)
    for width in (1, 3, 32, 2000):
        tables = counting.scratch(32)
        for _ in range(30):
            addresses = random.integers(0, random.choice([3, 100, 10**6]), random.integers(1, 33))
            expected = rule(width).of_atomics().stages(addresses.tolist())
            assert counter(addresses, len(addresses), width, tables) == expected


# ------------------------------------------------------------------ what they leave


@pytest.mark.parametrize("op", TYPES)
@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float32", "float64"])
def test_every_operation_of_every_type_is_the_references(op, dtype):
    if dtype not in TYPES[op]:
        return
    random = np.random.default_rng(7)
    edges = [0, 1, 2, 5]
    if dtype.startswith("float"):
        edges += [0.1, -2.5, np.inf, np.nan, -0.0]
    else:
        edges += [np.iinfo(dtype).max, np.iinfo(dtype).min, np.iinfo(dtype).max - 1]
    words = random.choice(np.array(edges, dtype), 6)
    cells = random.integers(0, 6, 200)
    values, compare = (random.choice(np.array(edges, dtype), 200) for _ in range(2))
    given = [values] if op != "cas" else [compare, values]
    old, new = in_turn(op, words[cells], cells, values, compare if op == "cas" else None)
    with np.errstate(all="ignore"):
        for lane, cell in enumerate(cells):
            assert old[lane].tobytes() == words[cell].tobytes()
            given_here = [one[lane].item() for one in given]
            words[cell] = changed(NAMES.get(op, op), words[cell], *given_here)
            assert new[lane].tobytes() == words[cell].tobytes()
    assert set(LEAVES) == set(TYPES)


def test_many_lanes_of_few_cells_take_turns_as_few_of_many():
    """Few cells are done cell by cell, many turn by turn."""
    random = np.random.default_rng(3)
    for op in ("add", "max", "xor", "exch", "sub"):
        for cells in (np.zeros(50, int), np.arange(50) % 2, np.arange(50)):
            values = random.integers(-9, 9, 50)
            before = np.full(50, 3)
            old, new = in_turn(op, before, cells, values, None)
            for cell in set(cells):
                word = np.int64(3)
                for lane in np.flatnonzero(cells == cell):
                    assert old[lane] == word
                    word = changed(op, word, int(values[lane]))
                    assert new[lane] == word


def test_integers_wrap_around_at_the_size_of_a_word():
    @mm.program
    def grow(T, a, b):
        mm.atomic.add(a, 0, 2147483647)
        mm.atomic.sub(b, 0, 1)

    run = mm.DMM(4, 1).run(grow, zeros(1, "int32"), zeros(1, "uint32"), threads=2)
    assert run.arrays["a"].tolist() == [-2]
    assert run.arrays["b"].tolist() == [2**32 - 2]


def test_a_lock_of_compare_and_swap_counts_right():
    @mm.program
    def locked(T, lock, total):
        waiting = True
        while waiting:
            if mm.atomic.cas(lock, 0, 0, 1) == 0:
                total[0] += 1
                mm.atomic.exch(lock, 0, 0)
                waiting = False

    for schedule in SCHEDULES:
        report = mm.DMM(4, 3).check(locked, zeros(1), zeros(1), threads=12, schedule=schedule)
        assert isinstance(report, Report)
        assert not report.findings
        assert report.run.arrays["total"].tolist() == [12]


def test_the_order_of_evaluation_is_pythons():
    """The index, then what is compared, then the value, then the atomic itself."""

    @mm.program
    def ordered(T, i, c, v, a):
        mm.atomic.cas(a, i[0], c[0], v[0])

    run = mm.DMM(1, 1).run(ordered, zeros(1), zeros(1), zeros(1), zeros(1), threads=1)
    assert [(row.array, row.kind) for row in run.rounds] == [
        ("i", "read"),
        ("c", "read"),
        ("v", "read"),
        ("a", "atomic"),
    ]


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("dtype", "message"),
    [
        (
            np.int8,
            "atomic add takes arrays of int32, uint32, int64, uint64, float32, float64, and 'h'",
        ),
        (bool, "'h', which holds bool"),
        (np.uint16, "holds uint16"),
        (
            np.complex64,
            "atomic add takes no complex numbers, as CUDA's atomics take none, and 'h' holds "
            "complex64; keep the parts in two arrays",
        ),
        (np.complex128, "'h' holds complex128; keep the parts"),
    ],
)
def test_element_types_are_cudas(dtype, message):
    with pytest.raises(TypeFault, match=message):
        mm.DMM(4, 1).run(count, np.zeros(4, int), zeros(4, dtype), threads=4)


def test_operations_on_floats_are_cudas():
    @mm.program
    def least(T, a):
        mm.atomic.min(a, 0, 1)

    @mm.program
    def less(T, a):
        mm.atomic.sub(a, 0, 1)

    @mm.program
    def turn(T, a):
        mm.atomic.inc(a, 0, 4)

    for program, dtype, message in (
        (
            least,
            float,
            "atomic min takes arrays of int32, uint32, int64, uint64, and 'a' holds float64",
        ),
        (less, float, "takes no floats, and 'a' holds float64; add the negative value"),
        (turn, int, "atomic inc takes arrays of uint32, and 'a' holds int64"),
    ):
        with pytest.raises(TypeFault, match=message):
            mm.DMM(4, 1).run(program, zeros(1, dtype), threads=4)


def test_a_value_that_does_not_fit_is_an_error():
    @mm.program
    def add(T, a):
        mm.atomic.add(a, 0, -1 - T.id)

    with pytest.raises(TypeFault, match="-1 doesn't fit a\\[0\\]: 'a' holds uint32"):
        mm.DMM(4, 1).run(add, zeros(1, "uint32"), threads=4)


def test_wrong_calls_are_refused():
    with pytest.raises(LanguageError, match=r"mm\.atomic\.add takes 3 arguments"):

        @mm.program
        def too_few(T, a):
            mm.atomic.add(a, 0)

    with pytest.raises(LanguageError, match=r"write mm.atomic.cas\(array, index, compare, value\)"):

        @mm.program
        def no_value(T, a):
            mm.atomic.cas(a, 0, 1)

    with pytest.raises(
        LanguageError, match=r"'r' is an mm\.registers array, which no other thread"
    ):

        @mm.program
        def own(T, a):
            r = mm.registers(4)
            mm.atomic.add(r, 0, 1)

    with pytest.raises(LanguageError, match="'3' is not an array"):

        @mm.program
        def number(T, a):
            mm.atomic.add(3, 0, 1)

    with pytest.raises(MMSimError, match=r"only inside a function decorated with mmsim\.program"):
        mm.atomic.add(zeros(1), 0, 1)


def test_rows_and_tuples_are_indices():
    @mm.program
    def cells(T, a):
        mm.atomic.add(a, (T.id % 2, 1), 1)
        mm.atomic.add(a[0], 0, 1)

    run = mm.DMM(4, 1).run(cells, np.zeros((2, 2), int), threads=4)
    assert run.arrays["a"].tolist() == [[4, 2], [0, 2]]


def test_a_trace_holds_what_each_lane_left(tmp_path):
    x = np.array([0, 0, 1, 0])
    run = mm.DMM(4, 5).run(count, x, zeros(2), threads=4, trace=True)
    dispatch = run.trace.dispatches[1]
    assert (dispatch.kind, dispatch.values, dispatch.stages) == (
        "atomic",
        (1, 2, 1, 3),
        (0, 1, 0, 2),
    )
    assert [cycle.memory["h"].tolist() for cycle in run.trace.cycles()][-1] == [3, 1]
    again = mm.Run.from_json(run.to_json())
    assert again.accesses == run.accesses
    assert again.trace.dispatches == run.trace.dispatches
