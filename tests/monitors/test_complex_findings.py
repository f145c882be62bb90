"""The checker on complex numbers, which may have 128 bits."""

import numpy as np
import pytest

import mmsim as mm
from tests.kit.runs.paths import both_engines


def test_many_values_keep_their_numbers_from_batch_to_batch(monkeypatch):
    from mmsim.monitors import racecheck

    monkeypatch.setattr(racecheck, "BATCH", 16)

    @mm.program
    def all_write(T, a, b):
        b[T.id % 32] = a[T.id]

    def found(values):
        how = {"threads": 128, "block_size": 32, "schedule": "asynchronous", "check": True}
        return mm.HMM(2, 4, 3).run(all_write, values, np.zeros(32, complex), **how).findings

    values = np.tile(np.arange(32) * (1 + 1j), 4)
    assert found(values) == ()
    values[100] += 1e-9j
    (finding,) = found(values)
    assert (finding.kind, finding.index) == ("race", (4,))


def test_a_thread_that_waits_for_a_complex_number_for_ever():
    @mm.program
    def waits(T, a):
        while a[0] != 1j:
            a[1] = 2j

    report = mm.DMM(2, 1).check(waits, np.zeros(2, complex), threads=2, max_accesses=1000)
    assert "deadlock" in {one.kind for one in report.findings}


@both_engines
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_updates_of_complex_numbers_get_lost(engine, dtype):
    def update(program, *arrays):
        found = mm.DMM(4, 2).run(mm.program(program), *arrays, threads=8, engine=engine, check=True)
        return [one.kind for one in found.findings]

    def turned(T, a):
        a[0] *= 1j

    def written_back(T, a, more):
        z = a[0]
        if T.id == 0:
            a[0] = z + more[0]
        if T.id == 1:
            a[0] = z

    one = np.ones(1, dtype)
    assert update(turned, one) == ["lost-update"]
    assert update(written_back, one, 1j * one) == ["lost-update"]
    assert update(written_back, one, one.copy()) == ["lost-update"]
    assert update(written_back, one, 0 * one) == []
