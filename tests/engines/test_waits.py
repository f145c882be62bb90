"""Loops that wait for another thread, and those that go on for themselves without an end."""

import numpy as np
import pytest

import mmsim as mm
from tests.kit.planted.pair import zeros
from tests.kit.runs.paths import both_schedules
from tests.kit.runs.programs import program_of, rows_of

DMM = mm.DMM(width=4, latency=3)


READY = """\
def ready(flag, k):
    return flag[k] != 0

"""
# A name, the kind of the finding, and the body.
CASES = {}
for head, body in rows_of("""
counter_that_stands endless
    k = 0
    while k < T.count:
        a[T.id]
        k *= 2
    a[T.id] = k
own_register endless
    r = mm.registers(1, int)
    while r[0] == 0:
        a[T.id]
    a[T.id] = 1
dropped_value endless
    x = 0
    while True:
        x = a[T.id]
    a[T.id] = x
search_in_an_inner_loop endless
    k = 0
    while k < 1:
        for i in range(4):
            if a[i] == 5:
                break
        k *= 2
    a[T.id] = k
search_in_what_is_written deadlock
    low, high = 0, 4
    while low < high:
        middle = (low + high) // 2
        if a[middle] < 9:
            low = middle
        else:
            high = middle
    a[T.id] = low
flag_by_way_of_variables endless
    seen, tried = 0, 0  # it reads on in an array that no line writes
    while True:
        tried = 0 * tried
        now = a[tried * 0 + 1]
        if now != 0:
            seen = 1
        if seen == 1:
            break
flag_in_a_helper deadlock
    while not ready(a, 1):
        pass
returns_when_set deadlock
    while True:
        if a[0] == 1:
            return
flag_in_a_register deadlock
    r = mm.registers(2, int)
    while r[1] == 0:
        r[1] = a[0]
all_flags deadlock
    k = 0
    while k < 4:
        if a[k] == 0:
            continue
        k += 1
    a[T.id] = 0
"""):
    name, kind = head.split()
    helpers = READY if "ready(" in body else ""
    CASES[name] = program_of(body, "a", name, helpers), kind


def test_the_finding_names_the_loop_and_what_does_not_change():
    program, _ = CASES["counter_that_stands"]
    report = DMM.check(program, np.arange(8), threads=8, max_accesses=400)
    (finding,) = report.findings
    first = program.code.sources[0].first
    assert (finding.threads, finding.lines) == ((0,), (first + 2,))
    line = first + 3
    assert f"it reads a[0], which is 0, in line {line} again and again" in finding.note


@both_schedules
@pytest.mark.parametrize(("program", "kind"), CASES.values(), ids=CASES.keys())
def test_a_loop_waits_if_a_write_to_what_it_reads_could_end_it(program, kind, schedule):
    how = {"threads": 8, "schedule": schedule, "max_accesses": 400}
    (finding,) = DMM.check(program, zeros(8), **how).findings
    assert finding.kind == kind
