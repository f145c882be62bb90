"""Mistakes with memory that kernels allocate, which the checker finds.

`ptx/heap_mistakes.ptx` is what NVRTC made of `ptx/heap_mistakes.cu` with -G, without the sections
for debuggers.
"""

from pathlib import Path

import numpy as np
import pytest

import mmsim as mm
from mmsim.frontend.ptx.heap import HEAP

HERE = Path(__file__).parent / "ptx"
MACHINE = mm.HMM(2, 32, 50, 5, bank_bytes=4)
SCHEDULES = pytest.mark.parametrize("schedule", ["asynchronous", "synchronous"])


@pytest.fixture
def module(monkeypatch):
    monkeypatch.chdir(HERE)  # the source is there
    return mm.RawModule(path="heap_mistakes.ptx")


def zeros():
    return np.zeros(64, np.int32)


def checked(module, name, *args, block=2, schedule="asynchronous"):
    how = {"grid": 1, "block": block, "schedule": schedule}
    return MACHINE.check(module.get_function(name), *args, **how).findings


def text(line):
    return (HERE / "heap_mistakes.cu").read_text("utf-8").splitlines()[line - 1]


@SCHEDULES
def test_a_use_of_freed_memory_names_the_lines(module, schedule):
    (found,) = checked(module, "used_after", zeros(), block=1, schedule=schedule)
    assert (found.kind, found.array, found.index) == ("freed", HEAP, (4,))
    assert [one.kind for one in found.accesses] == ["read", "frees"]
    assert "out[0] = words[0];" in text(found.lines[0])
    assert "free(words);" in text(found.lines[1])
    assert found.note == (
        "the beginning of an allocation of 16 bytes, allocated in line 9, freed in line 12"
    )
    assert "freed it at time" in str(found)


@pytest.mark.parametrize(
    ("at", "where", "elements"),
    [
        (3, "0 bytes past the end of", 2),
        (-1, "4 bytes before", 2),
        (-4, "16 bytes before", 2),
        (30, "76 bytes past the end of", 2),
    ],
)
@SCHEDULES
def test_an_access_outside_of_an_allocation(module, at, where, elements, schedule):
    (found,) = checked(module, "past_the_end", zeros(), at, schedule=schedule)
    assert (found.kind, found.elements) == ("out-of-range", elements)
    assert [one.kind for one in found.accesses] == ["write", "allocates"]
    assert "words[at] = 5;" in text(found.lines[0])
    assert found.note == f"{where} an allocation of 12 bytes, allocated in line 17"
    assert not checked(module, "past_the_end", zeros(), 2, schedule=schedule)


@SCHEDULES
def test_a_read_of_words_that_nothing_has_written(module, schedule):
    (found,) = checked(module, "unset", zeros(), 1, schedule=schedule)
    assert (found.kind, found.elements, found.threads) == ("unwritten", 1, (0, 0))
    assert [one.kind for one in found.accesses] == ["read", "allocates"]
    assert "out[threadIdx.x] = words[at];" in text(found.lines[0])
    assert found.note == "byte 4 of an allocation of 16 bytes, allocated in line 23"


def test_memory_that_is_freed_twice_names_what_allocated_it(module):
    how = {"grid": 1, "block": 1}
    heap = mm.RawModule(path="heap.ptx")
    freed, exception = MACHINE.check(heap.get_function("twice"), zeros(), **how).findings
    assert (freed.kind, freed.lines) == ("freed", (32, 31))
    assert freed.note.endswith("an allocation of 16 bytes, allocated in line 29, freed in line 31")
    assert (exception.kind, exception.lines) == ("exception", (32,))


@pytest.mark.parametrize(
    ("which", "at", "kind", "note"),
    [
        (0, 1, None, ""),
        (0, 2, "out-of-range", "0 bytes past the end of an allocation of 8 bytes, {} 30 {}"),
        (1, 1, "freed", "byte 4 of an allocation of 12 bytes, {} 31 {}, freed in line 33"),
    ],
)
def test_memory_of_an_earlier_launch(module, which, at, kind, note):
    held = np.zeros(2, np.int64)
    module.get_function("put")(1, 1, (held,))
    found = checked(module, "take", held, zeros(), which, at, block=1)
    assert [one.kind for one in found] == ([kind] if kind else [])
    words = "allocated in line", "in an earlier launch"
    assert [one.note for one in found] == ([note.format(*words)] if kind else [])


def test_a_heap_that_began_anew_has_new_allocations(module):
    held = np.zeros(2, np.int64)
    for _ in range(2):
        module.get_function("put")(1, 1, (held,))
        module.get_function("give_back")(1, 1, (held, 0))
    (found,) = checked(module, "take", held, zeros(), 0, 0, block=1)
    assert found.note.endswith("allocated in line 30 in an earlier launch, freed in line 41")


@pytest.mark.parametrize("block", [1, 64])
@SCHEDULES
def test_what_is_right_has_no_finding(module, block, schedule):
    assert not checked(module, "right", zeros(), block=block, schedule=schedule)


def test_a_run_that_is_checked_has_the_findings_of_one_thread(module):
    how = {"grid": 1, "block": 1, "schedule": "asynchronous", "check": True}
    run = MACHINE.run(module.get_function("used_after"), zeros(), **how)
    assert [one.kind for one in run.findings] == ["freed"]
