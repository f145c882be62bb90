"""The check in JavaScript, in Chromium, finds what `Machine.check` finds, in the same words."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.javascript.findings import words
from mmsim.model.threads import Shape
from mmsim.results.findings import ADVICE, TITLES
from mmsim_algorithms import programs
from tests.kit.generators.careless_programs import careless_case
from tests.kit.generators.race_free_programs import CANDIDATES
from tests.kit.generators.random_programs import drawn
from tests.kit.planted import PAIRS
from tests.kit.tools.golden import MACHINES, SCHEDULES
from tests.kit.views.js_engine import JsEngine, both_findings, machine_of, setting_of, sizes_of

DMM, HMM = mm.DMM(width=4, latency=3), mm.HMM(dmms=2, width=4, global_latency=9)
FITTING = [  # a setting of the page says nothing of these two
    pair for pair in PAIRS if not pair.bug.unset and pair.bug.shared_words is None
]
FIRST_OF_KIND = list({pair.kind: pair for pair in reversed(FITTING)}.values())
WAITS = 1000
CARELESS, MANY_CARELESS, MANY_RANDOM = 15, 1000, 1000


@pytest.fixture(scope="module")
def engine(shared_page):
    return JsEngine(shared_page)


def agree(engine, machine, program, *args, max_accesses=WAITS, **sizes):
    """Return the titles of what both find."""
    found, expected = both_findings(
        engine, machine, program, args, max_accesses=max_accesses, **sizes
    )
    assert found == expected, program.code.sources
    return [one["title"] for one in found]


def planted(engine, pair, schedules):
    titles = []
    for launched in (pair.bug, pair.twin):
        for schedule in schedules:
            sizes = {"threads": launched.threads, "block_size": launched.block_size}
            args, most = launched.arguments, min(launched.max_accesses, WAITS)
            titles += agree(
                *(engine, launched.machine, launched.program, *args),
                **sizes,
                schedule=schedule,
                max_accesses=most,
            )
    return titles


def random_case(engine, case, most=2000):
    for schedule in SCHEDULES:
        sizes = sizes_of(case, schedule)
        yield agree(
            engine, machine_of(case), case.program, *case.arguments, max_accesses=most, **sizes
        )


# ------------------------------------------------------------ planted bugs


def test_a_bug_of_each_kind(engine):
    for pair in FIRST_OF_KIND:
        assert words()["titles"][pair.kind] in planted(engine, pair, [pair.schedule])


@pytest.mark.long
def test_all_planted_bugs_and_their_twins(engine):
    for pair in FITTING:
        planted(engine, pair, SCHEDULES)


# ------------------------------------------------------------ random programs


def careless(engine, numbers):
    found = set()
    for number in numbers:
        for titles in random_case(engine, careless_case(number), most=300):
            found.update(titles)
    return found


def test_careless_programs(engine):
    assert len(careless(engine, range(CARELESS))) >= 8


@pytest.mark.long
def test_many_careless_programs(engine):
    kinds = "vector", "capacity", "placement", "conflict", "exception"
    rare = {TITLES[kind] for kind in kinds}
    every = set(words()["titles"].values())
    assert careless(engine, range(CARELESS, MANY_CARELESS)) >= every - rare


@pytest.mark.long
def test_many_random_programs(engine):
    for number in range(MANY_RANDOM // 100):
        for case in drawn(CANDIDATES, 100, number):
            list(random_case(engine, case))


@pytest.mark.long
def test_all_shipped_programs(engine):
    for program in programs():
        for machine in MACHINES:
            made = program.prepare(machine.width, seed=3)
            for schedule in SCHEDULES:
                sizes = {"threads": made.threads, "block_size": made.block_size}
                agree(engine, machine, program, *made.arguments, **sizes, schedule=schedule)


# ------------------------------------------------------------ one by one


@mm.program
def together(T, a, b):
    a[0] = T.id
    b[0] = a[0]
    b[1] = T.id


@mm.program
def both_or_none(T, a, b):
    a[0] = T.id
    b[0] = T.id
    if a[0] != b[0]:
        b[1] = 1


@pytest.mark.parametrize("program", [together, both_or_none])
def test_other_winners(engine, program):
    for dtype in ("float32", "int64", "complex64", "bool"):
        for schedule in SCHEDULES:
            args = np.zeros(2, dtype), np.zeros(2, dtype)
            assert agree(engine, DMM, program, *args, threads=4, schedule=schedule)


@mm.program
def large(T, a):
    a[0] = 2**62 + T.id


def test_words_that_no_double_holds(engine):
    for schedule in SCHEDULES:
        sizes = {"threads": 8, "block_size": 4, "schedule": schedule}
        assert agree(engine, DMM, large, np.zeros(1, int), **sizes)


@mm.program
def halves(T, a):
    a[T.id / 2] = 1


def test_an_index_that_is_no_whole_number(engine):
    titles = agree(engine, DMM, halves, np.zeros(8), threads=4, schedule="synchronous")
    assert titles == [TITLES["type"]]


@mm.program
def untyped(T, a):
    a[T.id] = (T.id + 1j) // 2


def test_an_error_before_any_thread_begins(engine):
    assert agree(engine, DMM, untyped, np.zeros(8), threads=4, schedule="synchronous")


@mm.program
def handed_on(T, a):
    a[T.id] = T.id
    a[T.id] += a[(T.id + 1) % T.count]


def test_the_positions_of_threads(engine):
    shape = Shape((2, 1, 1), (4, 2, 1))
    sizes = {"threads": 16, "block_size": 8, "shape": shape, "schedule": "asynchronous"}
    assert agree(engine, HMM, handed_on, np.zeros(16, int), **sizes)


def test_without_a_check_nothing_is_found(engine):
    setting = setting_of(DMM, handed_on, (np.zeros(8, int),), threads=8, schedule="asynchronous")
    assert engine.call("simulate", setting)["findings"] == []


def test_the_words_of_all_kinds():
    assert words()["titles"].keys() == TITLES.keys()
    assert words()["advice"].keys() == ADVICE.keys() | {"race"}
