"""Loops that wait for another thread, and those that go on for themselves without an end."""

import numpy as np
import pytest

import mmsim as mm
from tests.kit.planted.pair import zeros
from tests.kit.runs.paths import both_schedules

DMM = mm.DMM(width=4, latency=3)


CASES = []


def found_as(kind):
    """Note the kind of the finding in a program."""

    def add(function):
        CASES.append((mm.program(function), kind))
        return CASES[-1][0]

    return add


@found_as("endless")
def counter_that_stands(T, a):
    k = 0
    while k < T.count:
        a[T.id]
        k *= 2
    a[T.id] = k


@found_as("endless")
def own_register(T, a):
    r = mm.registers(1, int)
    while r[0] == 0:
        a[T.id]
    a[T.id] = 1


@found_as("endless")
def dropped_value(T, a):
    x = 0
    while True:
        x = a[T.id]
    a[T.id] = x


@found_as("endless")
def search_in_an_inner_loop(T, a):
    k = 0
    while k < 1:
        for i in range(4):
            if a[i] == 5:
                break
        k *= 2
    a[T.id] = k


def test_the_finding_names_the_loop_and_what_does_not_change():
    report = DMM.check(counter_that_stands, np.arange(8), threads=8, max_accesses=400)
    (finding,) = report.findings
    first = counter_that_stands.code.sources[0].first
    assert (finding.threads, finding.lines) == ((0,), (first + 3,))
    line = first + 4
    assert f"it reads a[0], which is 0, in line {line} again and again" in finding.note


@found_as("deadlock")
def search_in_what_is_written(T, a):
    low, high = 0, 4
    while low < high:
        middle = (low + high) // 2
        if a[middle] < 9:
            low = middle
        else:
            high = middle
    a[T.id] = low


@found_as("endless")  # it reads on in an array that no line writes
def flag_by_way_of_variables(T, flag):
    seen, tried = 0, 0
    while True:
        tried = 0 * tried
        now = flag[tried * 0 + 1]
        if now != 0:
            seen = 1
        if seen == 1:
            break


def ready(flag, k):
    return flag[k] != 0


@found_as("deadlock")
def flag_in_a_helper(T, flag):
    while not ready(flag, 1):
        pass


@found_as("deadlock")
def returns_when_set(T, flag):
    while True:
        if flag[0] == 1:
            return


@found_as("deadlock")
def flag_in_a_register(T, flag):
    r = mm.registers(2, int)
    while r[1] == 0:
        r[1] = flag[0]


@found_as("deadlock")
def all_flags(T, flags):
    k = 0
    while k < 4:
        if flags[k] == 0:
            continue
        k += 1
    flags[T.id] = 0


@both_schedules
@pytest.mark.parametrize(("program", "kind"), CASES, ids=[one.name for one, _ in CASES])
def test_a_loop_waits_if_a_write_to_what_it_reads_could_end_it(program, kind, schedule):
    how = {"threads": 8, "schedule": schedule, "max_accesses": 400}
    (finding,) = DMM.check(program, zeros(8), **how).findings
    assert finding.kind == kind
