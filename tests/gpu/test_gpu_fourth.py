"""The fourth to seventh set of kernels: results in both codes, predictions, measurements."""

import math
import runpy
from collections import Counter
from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest

import mmsim as mm
from mmsim import cuda
from mmsim.cudart import nvrtc
from mmsim.errors import MMSimError
from mmsim.gpu import signed
from mmsim.gpu.record import Record
from mmsim_algorithms.gpu.fourth import commands, comparing, measuring, predicting
from mmsim_algorithms.gpu.fourth.case import CODES, CUDA_C, NUMBA, Data
from tests.kit.cards.played import DEVICE

NAMES = ("fourth", "fifth", "sixth", "seventh")
SETS = {name: import_module(f"mmsim_algorithms.gpu.{name}.cases").CASES for name in NAMES}
CASES = [case for cases in SETS.values() for case in cases]
JOBS = {case.job: case for case in CASES}
"""The last case of each job."""
SMALL = [replace(one, size=one.small) for one in (JOBS["count"], JOBS["compaction"])]
SEVERAL = [JOBS[job] for job in ("count", "particles", "transpose", "edit distances")]


def ids(case):
    return f"{case.name}-{case.way}"


def wrong(case, code):
    """The mistakes in the results of a case on a simulated machine, at its small size."""
    if code == CUDA_C:
        needs_compiler()
    data = case.data(case.small)
    kernel = mm.RawKernel(case.code, case.name) if code == CUDA_C else case.numba_kernel(cuda)
    grid, block = replace(case, size=case.small).extents
    run = mm.HMM(4, 32, 10).run(kernel, *data.arguments, grid=grid, block=block)
    given = enumerate(data.arguments)
    numbers = (k for k, one in given if isinstance(one, np.ndarray))
    # An array that CUDA C doesn't use is not there: it stands behind all others.
    return data.wrong(dict(zip(numbers, run.arrays.values(), strict=False)))


def needs_compiler():
    try:
        nvrtc.compiler()
    except MMSimError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("case", JOBS.values(), ids=ids)
def test_one_kernel_of_each_job_computes_what_numpy_computes(case):
    assert wrong(case, NUMBA) == ""


@pytest.mark.parametrize("case", SEVERAL, ids=ids)
def test_some_kernels_of_cuda_c_compute_what_numpy_computes(case):
    assert wrong(case, CUDA_C) == ""


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=ids)
@pytest.mark.parametrize("code", CODES)
def test_every_kernel_computes_what_numpy_computes(case, code):
    assert wrong(case, code) == ""


def test_wrong_results_are_seen():
    right = np.array([1.0, 2.0, 4.0])
    data = Data((), {0: right}, tolerance=0.01)
    assert data.wrong({0: right + 0.03}) == ""
    assert data.wrong({0: right + 0.05}) == "argument 0 is wrong in 3 of 3 places"
    assert data.wrong({0: np.array([1.0, np.nan, 4.0])}) == "argument 0 is wrong in 1 of 3 places"
    assert replace(data, differ=0.4).wrong({0: np.array([1.0, 3.0, 4.0])}) == ""
    assert replace(data, differ=0.3).wrong({0: np.array([1.0, 3.0, 4.0])}) != ""
    assert data.wrong({0: right[::-1]}) != ""
    assert replace(data, any_order=True).wrong({0: right[::-1]}) == ""


def test_each_job_has_several_ways_and_each_kernel_two_codes():
    ways = Counter(case.job for case in CASES)
    assert [len(cases) for cases in SETS.values()] == [81, 61, 51, 50]
    assert set(ways.values()) <= {2, 3, 4}
    assert len({(case.job, case.way) for case in CASES}) == len(CASES)
    for case in CASES:
        assert f'extern "C" __global__ void {case.name}(' in case.code


def test_data_are_the_same_each_time():
    for case in JOBS.values():
        one, other = (
            replace(case, size=case.small).digest(CUDA_C, case.data(case.small)) for _ in "12"
        )
        assert one == other


def test_a_digest_is_that_of_the_text_the_extents_and_the_data():
    case = SMALL[0]
    data = case.data(case.size)
    other = replace(data, arguments=(data.arguments[0] + 1, *data.arguments[1:]))
    digests = {
        case.digest(CUDA_C, data),
        case.digest(NUMBA, data),
        case.digest(CUDA_C, other),
        replace(case, code=case.code + "\n").digest(CUDA_C, data),
        replace(case, block=128).digest(CUDA_C, data),
    }
    assert len(digests) == 5


class Played:
    """CuPy and Numba's CUDA, played by NumPy and mmsim; a launch takes `lasts` milliseconds."""

    ndarray, asarray, asnumpy = np.ndarray, np.array, np.array
    copyto = staticmethod(np.copyto)
    uint8, __version__ = np.uint8, "14"

    def __init__(self):
        self.done, self.lasts = [], iter(range(100))
        self.cuda = SimpleNamespace(
            Event=lambda: SimpleNamespace(record=lambda: None, synchronize=lambda: None),
            get_elapsed_time=lambda begin, end: 1 + next(self.lasts),
        )

    def empty(self, size, dtype):
        assert size == 3 * DEVICE.cache_bytes
        return SimpleNamespace(fill=lambda value: self.done.append("sweep"))

    def RawKernel(self, code, name):
        def launch(grid, block, arguments):
            self.done.append(name)
            mm.RawKernel(code, name)(grid, block, arguments)

        return launch


@pytest.fixture
def played(monkeypatch):
    card = Played()
    monkeypatch.setattr(measuring, "cupy", lambda: card)
    monkeypatch.setattr(measuring, "device", lambda: DEVICE)
    monkeypatch.setattr(signed, "facts", lambda command: {"device": "A GPU", "command": command})
    monkeypatch.setattr(measuring, "numba_cuda", lambda: cuda)
    return card


def test_a_measurement_restores_the_arguments_and_clears_the_cache(played):
    needs_compiler()
    case = SMALL[1]
    row = measuring.measured(case, CUDA_C, case.data(case.size))
    assert row["wrong"] == ""  # else later launches would count on
    assert (row["measured"], row["low"], row["high"]) == (6, 2, 10)
    once = [*["sweep"] * measuring.SWEEPS, case.name]
    assert played.done == [case.name, *once * (measuring.SAMPLES + 1)]


def test_predictions_are_continued_measured_and_compared(played, tmp_path, capsys):
    needs_compiler()
    p, m = tmp_path / "p.json", tmp_path / "m.json"
    predicting.predict("fifth", p, SMALL[:1])
    first = Record.read(p)
    assert signed.broken(first) is None
    commands.main("fifth", SMALL, ["--predict", str(p)])
    record = Record.read(p)
    assert record.rows[:2] == first.rows
    assert [row["code"] for row in record.rows] == [*CODES, *CODES]
    assert all(row["predicted"] == max(row[name] for name in row if "of " in name)
               for row in record.rows)  # fmt: skip
    commands.main("fifth", SMALL, ["--measure", str(m), "--predicted", str(p)])
    found = Record.read(m)
    assert found.facts["prediction"] == record.facts["seal"]
    command = "python -m mmsim_algorithms.gpu.fifth"
    assert record.facts["command"] == f"{command} --predict p.json"
    assert found.facts["command"] == f"{command} --measure m.json --predicted p.json"
    assert [one.experiment for one in (record, found)] == ["FIFTH-predicted", "FIFTH-measured"]
    capsys.readouterr()
    commands.main("fifth", SMALL, ["--compare", str(p), str(m)])
    said = capsys.readouterr().out
    assert said.startswith("CUDA C: launches 2, ")
    m.write_text(m.read_text().replace(record.facts["seal"], "another"))
    commands.main("fifth", SMALL, ["--compare", str(p), str(m)])
    not_blind = "Not blind: the measurement does not name this prediction.\n"
    assert capsys.readouterr().out == not_blind + said
    p.write_text(p.read_text().replace("FIFTH", "SIXTH"))
    with pytest.raises(MMSimError, match="changed after it was signed"):
        comparing.compared(p, m)


def test_processes_predict_as_one(tmp_path):
    needs_compiler()
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    predicting.predict("fifth", one, SMALL[:2])
    commands.main("fifth", SMALL[:2], ["--predict", str(two), "--processes", "2"])
    rows = [[{**row, "seconds": 0} for row in Record.read(file).rows] for file in (one, two)]
    assert rows[0] == rows[1]


@pytest.mark.parametrize("name", SETS)
def test_each_set_has_commands_for_its_cases(name, monkeypatch):
    given = []
    monkeypatch.setattr(commands, "main", lambda *found: given.extend(found))
    runpy.run_module(f"mmsim_algorithms.gpu.{name}", run_name="__main__")
    assert given == [name, SETS[name]]


def test_other_predictions_are_not_continued(tmp_path, monkeypatch):
    new = Record("X", {"machine": "M"}, ())
    file = tmp_path / "p.json"
    assert predicting.begun(file, new) is new
    file.write_text(signed.sign(new).to_json())
    assert predicting.begun(file, new).facts["machine"] == "M"
    with pytest.raises(SystemExit, match="made with another machine; remove it first"):
        predicting.begun(file, replace(new, facts={"machine": "N"}))
    file.write_text(file.read_text().replace('"M"', '"N"'))
    with pytest.raises(SystemExit, match="was changed after it was signed; remove it first"):
        predicting.begun(file, new)


def written(tmp_path, predicted, **changed):
    """Files of a prediction and of a measurement of two ways in one code."""
    about = [{"job": "j", "way": way, "code": NUMBA, "digest": way} for way in "ab"]
    before = signed.sign(Record("P", {}, tuple(
        {**one, "predicted": ms, "bound": "tags"} for one, ms in zip(about, predicted, strict=True)
    )))  # fmt: skip
    rows = tuple({**one, "measured": ms, "wrong": "", **changed}
                 for one, ms in zip(about, (1.0, 2.0), strict=True))  # fmt: skip
    after = Record("M", {signed.NAMED: before.facts[signed.SEAL]}, rows)
    for name, record in (("p", before), ("m", after)):
        (tmp_path / name).write_text(record.to_json())
    return tmp_path / "p", tmp_path / "m"


def test_a_measurement_of_other_data_is_refused(tmp_path):
    with pytest.raises(MMSimError, match="not predicted, or with other data"):
        comparing.compared(*written(tmp_path, (1.0, 2.0), digest="c"))


def test_the_numbers_of_a_comparison(tmp_path):
    cases = comparing.compared(*written(tmp_path, (4.0, 2.0)))
    assert [one.log for one in cases] == [math.log(4), 0]
    assert comparing.summary(cases) == {
        "launches": "2",
        "mean |log|": "69.3%",
        "within a factor of 2": "50.0%",
        "rank correlation": "-1.000",
        "pairs in order": "0 of 1 (0.0%)",
    }
    other = replace(cases[0], code=CUDA_C)
    lines = list(comparing.report([*cases, other, replace(other, way="c", wrong="argument 1")]))
    assert lines[0] == "left out: j, c (CUDA C): argument 1"
    assert lines[3].startswith("both: launches 3, ")
    assert lines[-1] == (
        "  j, a (Numba): 4 ms predicted (tags), 1 measured, a factor of 4.00; "
        "j, b (Numba): 2 ms predicted (tags), 2 measured, a factor of 1.00"
    )
    close = [replace(cases[0], measured=1.9), cases[1]]
    assert comparing.summary(close)["pairs in order"] == "0 of 0"
