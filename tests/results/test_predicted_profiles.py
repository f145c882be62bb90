"""The predicted time in the profile of a run on a card, and what it is computed from."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import mmsim as mm
from mmsim import cuda
from mmsim.cuda.launches import history
from mmsim.cuda.report import Report
from mmsim.errors import MMSimError
from tests.kit.runs.paths import both_engines

CARD = mm.H200()
SIZES = {"threads": 256, "block_size": 64}
A = np.arange(256, dtype=np.float32)


@mm.program
def smooth(T, a, b):
    x = a[T.id]
    for _ in range(4):
        x = x * 0.5 + 1.0
    b[T.id] = x


def last_line(profile):
    return str(profile).splitlines()[-1]


@both_engines
def test_an_asynchronous_run_has_all_that_its_prediction_needs(engine, monkeypatch):
    run = CARD.run(smooth, A, A.copy(), schedule="asynchronous", engine=engine, **SIZES)
    usual = CARD.predict(smooth, A, A.copy(), **SIZES)
    monkeypatch.setattr(mm.Card, "_predict", None)  # nothing runs again
    found = run.profile().prediction
    assert found.parts["memory"] == CARD.milliseconds(run.time + CARD.launch_time)
    for part in ("instructions", "blocks"):
        assert found.parts[part] == usual.parts[part]
    assert (found.bound, found.error, found.kernels) == (usual.bound, usual.error, usual.kernels)
    assert found.empty
    assert last_line(run.profile()) == f"predicted on h200: {found.in_words}"
    assert "ms from an empty cache, bound by latency (off by" in last_line(run.profile())
    with pytest.raises(MMSimError, match=r"no time with a warm cache; card\.predict\(kernel"):
        found.warm


def test_a_checked_run_has_the_same_prediction():
    how = {"schedule": "asynchronous", **SIZES}
    plain, checked = (CARD.run(smooth, A, A.copy(), check=check, **how) for check in (False, True))
    assert plain.profile().prediction == checked.profile().prediction


def test_a_run_in_lock_step_has_the_prediction_of_another_launch():
    run = CARD.run(smooth, A, A.copy(), **SIZES)
    found = CARD.predict(smooth, A, A.copy(), **SIZES)
    profile = run.profile()
    assert profile.prediction == found
    assert profile.prediction.warm == found.warm
    assert last_line(profile) == f"predicted on h200: {found.in_words}"
    assert f"<br>{last_line(profile)}" not in profile._repr_html_()
    assert last_line(profile) in profile._repr_html_()


def test_it_is_computed_when_it_is_asked_for(monkeypatch):
    calls = []
    monkeypatch.setattr(mm.Card, "_predict", lambda *args: calls.append(args))
    profile = CARD.run(smooth, A, A.copy(), **SIZES).profile()
    assert not calls
    assert profile.prediction is profile.prediction is None
    assert len(calls) == 1


def test_what_can_not_be_predicted_is_said():
    @mm.program
    def in_lock_step(T, a):
        if T.warp == 0:
            T.barrier()
        a[T.id] = 1.0 / a[T.id]

    a = np.ones(64)
    run = CARD.run(in_lock_step, a, threads=64)
    a[:] = 0
    assert last_line(run.profile()).startswith("no time predicted: ")
    assert "division by zero" in last_line(run.profile())


def test_a_launch_has_it_with_the_arguments_before_it(monkeypatch):
    @cuda.jit
    def chased(a):
        i = cuda.grid(1)
        a[i] = a[a[i]]

    a = np.arange(256)[::-1].copy()
    before = a.copy()
    report = Report()
    monkeypatch.setattr(history, "listeners", [])
    report.listen()
    with cuda.machine(CARD):
        chased[4, 64](a)
    run = CARD.run(chased, before, grid=4, block=64, schedule="asynchronous")
    assert chased.profile().prediction == run.profile().prediction
    assert last_line(chased.profile()).startswith("predicted on h200: ")
    assert [last_line(one) for one in report.profiles()] == [last_line(chased.profile())]
    assert f"<br>{last_line(chased.profile())}" in report.to_html()


def test_other_machines_and_several_launches_have_none():
    run = CARD.run(smooth, A, A.copy(), **SIZES)
    plain = replace(mm.Cached(2, 4, 10), own_capacity=0).run(smooth, A, A.copy(), **SIZES)
    assert mm.total([run, run]).profile().prediction is None
    assert mm.Run.from_json(run.to_json()).profile().prediction is None
    assert pickle.loads(pickle.dumps(run)).profile().prediction is None
    for one in (plain, mm.DMM(4, 3).run(smooth, A, A.copy(), threads=256)):
        assert one.profile().prediction is None
        assert "predicted" not in str(one.profile())


def test_a_run_knows_who_has_it():
    run = mm.DMM(4, 3).run(smooth, A, A.copy(), threads=256)
    with pytest.raises(AttributeError, match=r"run\.profile\(\)\.prediction on a card"):
        run.milliseconds
    with pytest.raises(AttributeError, match=r"profile\.prediction, of a run on a card"):
        run.profile().milliseconds
