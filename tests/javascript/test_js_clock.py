"""The engine in JavaScript, in Chromium, gives what the event engine gives: to the last bit."""

from itertools import groupby, islice

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import MMSimError
from mmsim.javascript.bundle import bundle, names, plain, refuse_same_names
from mmsim.javascript.text import text_of
from mmsim.model.threads import Shape
from mmsim_algorithms import programs
from tests.kit.generators.random_programs import cases, define, drawn
from tests.kit.tools.golden import MACHINES, SCHEDULES
from tests.kit.views.js_engine import JsEngine, case_of, random_case, setting_of

DMM, HMM = mm.DMM(width=4, latency=3), mm.HMM(dmms=2, width=4, global_latency=9, shared_latency=2)
FEW, RANDOM, MANY_RANDOM = 2, 24, 1000


@pytest.fixture(scope="module")
def engine(shared_page):
    return JsEngine(shared_page)


def family(program):
    return program.function.__module__.split(".")[1]


def of_each_family():
    """A few programs of each family, on one machine under one schedule each."""
    found = sorted(programs(), key=family)
    for _, own in groupby(found, family):
        for number, program in enumerate(list(own)[:FEW]):
            yield program, MACHINES[len(program.name) % 3], SCHEDULES[number % 2]


def example(program, machine, schedule):
    made = program.prepare(machine.width, seed=3)
    sizes = {"threads": made.threads, "block_size": made.block_size, "schedule": schedule}
    return case_of(machine, program, made.arguments, **sizes)


def test_programs_of_each_family(engine):
    for program, machine, schedule in of_each_family():
        found = engine.disagreement(example(program, machine, schedule))
        assert found is None, (program.name, machine, schedule, found)


@pytest.mark.long
def test_all_programs_on_all_machines(engine):
    for program in programs():
        for machine in MACHINES:
            for schedule in SCHEDULES:
                found = engine.disagreement(example(program, machine, schedule))
                assert found is None, (program.name, machine, schedule, found)


def test_a_setting_with_a_text(engine):
    for program, machine, schedule in islice(of_each_family(), 0, None, 5):
        written = define(text_of(program), program.name)
        made = program.prepare(machine.width, seed=3)
        sizes = {"threads": made.threads, "block_size": made.block_size, "schedule": schedule}
        case = case_of(machine, written, made.arguments, **sizes)
        code = case["setting"].pop("code")
        file = code["sources"][0]["file"]
        case["setting"] |= {"text": text_of(program), "name": program.name, "file": file}
        found = engine.disagreement(case)
        assert found is None, (program.name, machine, schedule, found)


def test_a_text_without_that_program(engine):
    setting = setting_of(DMM, endless, (ZEROS,), threads=8) | {"text": "x = 1", "name": "endless"}
    del setting["code"]
    text = engine.call("simulate", setting)["error"]["text"]
    assert text == "the text has no program 'endless'; there is none"


def test_random_programs(engine):
    agree_on_random(engine, RANDOM, 7)


@pytest.mark.long
def test_many_random_programs(engine):
    for number in range(MANY_RANDOM // 100):
        agree_on_random(engine, 100, number)


def agree_on_random(engine, most, number):
    for case in drawn(cases(), most, number):
        for schedule in SCHEDULES:
            found = engine.disagreement(random_case(case, schedule))
            assert found is None, (found, schedule, case)


@mm.program
def second_dmm_first(T, a):
    s = mm.shared(4)
    if T.block == 1:
        s[T.index] = 1
    a[T.id] = s[T.index]


def test_a_unit_that_becomes_free_dispatches_before_an_idle_one(engine):
    """Of the round at time 1, as a shared memory of latency 1 is free when its round is over."""
    case = case_of(mm.HMM(2, 4, 9, 1), second_dmm_first, (ZEROS,), threads=8, block_size=4)
    assert case["expected"]["data"]["dispatches"]["unit"][:3] == [2, 2, 1]
    assert engine.disagreement(case) is None


# ------------------------------------------------------------ faults


@mm.program
def beyond(T, a):
    x = a[T.id]
    a[x + T.id] = x


@mm.program
def parted(T, a):
    if T.id < 2:
        T.barrier()
    a[T.id] = 1


@mm.program
def two_barriers(T, a):
    if T.block == 0:
        T.barrier()
        T.grid_barrier()
    else:
        T.grid_barrier()
    a[T.id] = 1
    if T.block == 1:
        T.barrier()


@mm.program
def locked(T, a):
    while a[0] == 0:
        pass
    a[T.id] = 1


@mm.program
def idle(T, a):
    while T.id == 0:
        pass
    a[T.id] = 1


@mm.program
def divided(T, a, n):
    a[T.id] = a[T.id] // (a[T.id] - n)


@mm.program
def endless(T, a):
    for k in range(10**6):
        a[T.id] = k


@mm.program
def unassigned(T, a):
    if T.id != 5:
        x = a[T.id]
    a[T.id] = x


ZEROS = np.zeros(8, dtype=np.int64)
FAULTY = [
    (beyond, (np.arange(8),)),
    (parted, (ZEROS,)),
    (locked, (ZEROS,)),
    (idle, (ZEROS,)),
    (divided, (np.arange(8), 3)),
    (endless, (ZEROS,)),
    (unassigned, (ZEROS,)),
    (divided, (np.arange(8),)),
    (divided, (5, 3)),
    (divided, (np.arange(8), np.arange(3))),
    (divided, (np.arange(8), 2**64)),
]
SIZES = [
    {"threads": 8},
    {"threads": 8, "block_size": 4},
    {"threads": 8, "block_size": 4, "shape": Shape((2, 1, 1), (2, 2, 1))},
]


def test_faults_have_the_same_texts(engine):
    for number, (program, args) in enumerate(FAULTY):
        for schedule in SCHEDULES:
            sizes = SIZES[number % 3] | {"schedule": schedule, "max_accesses": 500}
            case = case_of(DMM, program, args, **sizes)
            assert case["expected"]["error"] is not None, program.name
            found = engine.disagreement(case)
            assert found is None, (program.name, schedule, found)


def test_a_deadlock_of_two_barriers(engine):
    case = case_of(HMM, two_barriers, (ZEROS,), threads=8, block_size=4, schedule="asynchronous")
    assert engine.disagreement(case) is None


UNFIT = [
    {"threads": 0},
    {"threads": 8, "block_size": 9},
    {"threads": 8, "block_size": 0},
    {"threads": 8, "max_accesses": 0},
    {"threads": 8, "schedule": "later"},
]


def test_launches_that_do_not_fit(engine):
    for sizes in UNFIT:
        found = engine.disagreement(case_of(DMM, endless, (ZEROS,), **sizes))
        assert found is None, (sizes, found)


def test_machines_that_can_not_exist(engine):
    for numbers in [(0, 3), (4, 0), (2**31, 3)]:
        setting = setting_of(DMM, endless, (ZEROS,), threads=8)
        setting["machine"] |= dict(zip(("width", "latency"), numbers, strict=True))
        with pytest.raises(MMSimError) as refused:
            mm.DMM(*numbers)
        error = engine.call("simulate", setting)["error"]
        assert (error["kind"], error["text"]) == ("MachineError", str(refused.value))


# ------------------------------------------------------------ what else a result has


def test_a_run_without_a_record_has_the_same_rows(engine):
    case = example(*next(of_each_family()))
    bare, whole = (
        engine.call("simulate", case["setting"], {"record": record}) for record in (False, True)
    )
    assert whole["data"] is not None
    parts = "time", "accesses", "rounds", "findings", "error"
    assert [bare[part] for part in parts] == [whole[part] for part in parts]
    assert bare["data"] is bare["arrays"] is bare["profile"] is None


def test_the_profile(engine):
    program, machine, schedule = next(of_each_family())
    made = program.prepare(machine.width, seed=3)
    sizes = {"threads": made.threads, "block_size": made.block_size, "schedule": schedule}
    profile = machine.run(program, *made.arguments, **sizes).profile()
    setting = setting_of(machine, program, made.arguments, **sizes)
    found = engine.call("simulate", setting)["profile"]
    names = "function", "file", "line", "text", "requests", "stages", "least", "time"
    assert found["lines"] == [{name: getattr(one, name) for name in names} for one in profile.lines]
    assert found["registers"] == {
        "data": profile.registers.data,
        "words": profile.registers.words,
    }


def test_a_run_shows_its_progress_and_can_be_stopped(engine):
    setting = setting_of(DMM, endless, (ZEROS,), threads=8)
    seen = engine.call(
        "(setting) => { const times = [];"
        "const result = simulate(setting, {"
        "progress: (time) => times.push(time), stopped: () => times.length === 3 });"
        "return { times, result }; }",
        setting,
    )
    assert seen["result"] is None
    assert len(seen["times"]) == 3
    assert seen["times"] == sorted(seen["times"])


@mm.program
def copy(T, a, b):
    for k in range(10):
        b[T.id] = a[T.id] + k


def test_more_than_a_page_holds(engine):
    a = np.zeros(60_000, np.int64)
    setting = setting_of(mm.UMM(32, 2), copy, (a, a.copy()), threads=len(a))
    found = engine.call("simulate", setting)
    assert found["data"] is None
    assert found["tooLarge"].startswith("this trace has 1200000 requests of threads, and a page")
    assert found["error"] is None


# ------------------------------------------------------------ the bundle


def test_the_bundle_has_no_modules():
    text = bundle()
    assert "import {" not in text
    assert "/**" not in text
    assert len(text) < 500_000


def test_two_modules_with_one_name_are_refused():
    texts = {"one": "const add = 1;\n", "two": "export const [less, add] = [1, 2];\n"}
    with pytest.raises(ValueError, match=r"two\.js defines add, as one\.js does"):
        refuse_same_names(texts)


def test_an_export_of_another_form_is_refused():
    with pytest.raises(ValueError, match="export default"):
        plain("export default 3;\n")


def test_names_of_classes_and_generators():
    assert names("class A {}\nexport function* b() {}\nexport const c = 1,\n") == ["A", "b", "c"]
