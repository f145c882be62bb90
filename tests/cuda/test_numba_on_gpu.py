"""The script that compares the suite's kernels with a GPU, without a GPU."""

from __future__ import annotations

import math
import sys
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import mmsim as mm
from mmsim import gpu
from mmsim.cuda.launches import Configuration
from mmsim.gpu.counting import METRICS, NAME
from mmsim.gpu.record import Record
from tests.kit.cards.fake_ncu import fake_ncu
from tests.kit.numba_suite import collected, on_gpu
from tests.kit.numba_suite import run as suite
from tests.kit.oracle.emulated_gpu import Emulated, needs_compiler


@mm.program
def double(T, a, b):
    b[T.id] = 2 * a[T.id]


@mm.program
def last_one(T, a, b):
    b[0] = a[T.id]


@mm.program
def tickets(T, a, b):
    b[T.id] = mm.atomic.add(a, 0, 1)


@mm.program
def roots(T, a, b):
    b[T.id] = math.sqrt(a[T.id])


@mm.program
def sines(T, a, b):
    b[T.id] = math.sin(a[T.id])


@mm.program
def single_sines(T, a, b):
    b[T.id] = math.sin(mm.float32(a[T.id]))


def collect(program, dtype=np.int32, threads=64, test="file::test"):
    """A launch of a program with two arrays, collected."""
    asked = Configuration((threads // 32, 1, 1), (32, 1, 1), 0, 1024)
    a = np.arange(threads).astype(dtype)
    return collected.collect(test, program, (a, np.zeros_like(a)), asked)


def test_a_launch_is_kept_with_what_it_leaves_and_costs():
    one = collect(double)
    assert one.arrays["b"].tolist() == list(range(0, 128, 2))
    assert one.kernel.arguments[0].words().tolist() == list(range(64))
    assert one.threads == 64
    assert {place: known.model for place, known in one.counts.items() if known.model} == {
        ("global", "read"): 2,
        ("global", "write"): 2,
    }


@pytest.mark.parametrize(
    ("program", "why"),
    [(last_one, "the checker finds: race"), (tickets, "the order of its atomics may matter")],
)
def test_what_chance_decides_is_left_out(program, why):
    with pytest.raises(collected.LeftOut, match=why):
        collect(program)


def test_what_is_too_large_is_left_out():
    with pytest.raises(collected.LeftOut, match="many threads"):
        collect(double, threads=2 * collected.MOST_THREADS)


def test_it_is_known_in_which_type_functions_leave_digits_open():
    assert collect(roots, float).loose == ""
    assert collect(sines, float).loose == "float64"
    assert collect(single_sines, float).loose == "float32"


def test_a_file_gives_what_was_saved(tmp_path):
    file = tmp_path / "launches"
    collected.save(file, [collect(double)], {"a reason": 3})
    (one,), left_out = collected.load(file)
    assert left_out == {"a reason": 3}
    assert one.kernel.source == collect(double).kernel.source
    assert one.arrays["b"].tolist() == list(range(0, 128, 2))


def test_a_kernel_is_kept_for_some_kinds_under_names_of_its_own():
    kinds = [np.int8, np.int16, np.int32, np.int64, np.float32]
    kept = {("double", "text", kind.__name__): collect(double, kind) for kind in kinds}
    kept["roots", "other text", "int32"] = collect(roots, float)
    found = on_gpu.chosen(kept)
    assert [one.kernel.name for one in found] == [f"{NAME}{n}" for n in range(on_gpu.KINDS + 1)]
    assert sum(one.program == "roots" for one in found) == 1


@pytest.mark.parametrize(
    ("file", "plugins", "said"),
    [
        ("test_nothing.py", (), "not found"),
        ("test_print.py", ("no_such_plugin",), "No module named 'no_such_plugin'"),
    ],
)
def test_a_file_without_outcomes_has_its_reason(file, plugins, said):
    outcomes, broken = suite.run_files([Path("cudapy") / file], *plugins)
    assert outcomes == {}
    assert said in broken[f"cudapy/{file}"]


def test_collecting_says_why_there_are_no_tests(tmp_path, capsys, monkeypatch):
    files = [Path("cudapy/test_a.py"), Path("cudapy/test_b.py")]
    monkeypatch.setattr(suite, "test_files", lambda: files)
    broken = {f"cudapy/{file.name}": "no card\n" for file in files}
    monkeypatch.setattr(suite, "run_files", lambda paths, plugin: ({}, broken))
    file = str(tmp_path / "launches")
    assert on_gpu.main(["collect", file]) == 1
    out = capsys.readouterr().out
    assert "2 files ended without an outcome: cudapy/test_a.py, cudapy/test_b.py:\nno card" in out
    monkeypatch.setattr(suite, "run_files", lambda paths, plugin: ({"a": 1, "b": 2}, {}))
    assert on_gpu.main(["collect", file]) == 0
    assert "2 tests, 0 different launches kept" in capsys.readouterr().out
    assert on_gpu.main(["collect", file, "test_c"]) == 2
    assert "no file of numba-cuda's tests has test_c in its name" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("found", "expected", "same", "units"),
    [
        (np.array([1, 2]), np.array([1, 2]), True, 0),
        (np.array([1, 2]), np.array([1, 3]), False, np.inf),
        (np.array([True]), np.array([False]), False, np.inf),
        (np.array([1.0, np.nan]), np.array([1.0, -np.nan]), True, 0),
        (np.array([1 + 2**-51]), np.array([1.0]), False, 2),
        (np.array([8 + 2**-20], "f4"), np.array([8], "f4"), False, 1),
        (np.array([2.0**-52]), np.array([2.0**-51]), False, 1),
        (np.array([0.0]), np.array([-0.0]), False, 0),
        (np.array([np.inf]), np.array([1.0]), False, np.inf),
        (np.array([np.nan]), np.array([1.0]), False, np.inf),
        (np.array([1 + 1j], "c8"), np.array([1 + (1 + 2**-23) * 1j], "c8"), False, 1),
    ],
)
def test_the_distance_of_arrays(found, expected, same, units):
    assert on_gpu.same_bits(found, expected) == same
    assert on_gpu.distance(found, expected) == units


def test_the_unit_is_that_of_the_narrowest_function():
    assert on_gpu.distance(np.array([2 + 2**-22]), np.array([2.0]), "float32") == 1


@pytest.fixture
def launches(tmp_path):
    """A file of launches."""
    found = [collect(double), collect(roots, float), collect(sines, np.float32)]
    file = tmp_path / "launches"
    found = [one.numbered(number) for number, one in enumerate(found)]
    collected.save(file, found, {"a reason": 3})
    return file


@pytest.fixture
def pretended(monkeypatch, launches, tmp_path):
    """A GPU that gives what the kernels give as C++, and counts what is predicted."""
    folders = count()

    def emulated(cp, launch):
        folder = tmp_path / str(next(folders))
        folder.mkdir()
        return Emulated([launch.kernel], folder).run(0)

    kept, _ = collected.load(launches)
    lines = ['"ID","Process ID","Kernel Name","Metric Name","Metric Value"']
    for number, one in enumerate(kept):
        for place, known in one.counts.items():
            values = number, 1, one.kernel.name, METRICS[place], known.predicted
            lines.append(",".join(f'"{value}"' for value in values))
    profiler = fake_ncu(tmp_path, "log.write_text({!r})".format("\n".join(lines)))
    monkeypatch.setattr(on_gpu, "cupy", lambda: None)
    monkeypatch.setattr(on_gpu, "on_the_gpu", emulated)
    monkeypatch.setattr(on_gpu, "facts", lambda command: {"command": command})
    monkeypatch.setattr(on_gpu.ncu, "find", lambda: profiler)
    monkeypatch.setattr(gpu, "device", lambda: "a GPU")
    return launches


@needs_compiler
def test_arrays_and_counts_are_compared_and_saved(pretended, tmp_path, capsys):
    saved = tmp_path / "numba.json"
    assert on_gpu.main(["run", str(pretended), "--json", str(saved)]) == 0
    assert "3 launches on a GPU: 3 equal" in capsys.readouterr().out
    record = Record.read(saved)
    arrays = [row for row in record.rows if row["measure"] == "arrays"]
    counts = [row for row in record.rows if row["measure"] == "counts"]
    assert record.experiment == "numba"
    assert record.facts["left out"] == {"a reason": 3}
    assert record.facts["not counted"] == {}
    assert [(row["loose"], row["equal"]) for row in arrays] == [
        ("", True),
        ("", True),
        ("float64", True),
    ]
    assert [(row["program"], row["kind"], row["hardware"]) for row in counts] == [
        ("0 file::test: double", "read", 2),
        ("0 file::test: double", "write", 2),
        ("1 file::test: roots", "read", 4),
        ("1 file::test: roots", "write", 4),
        ("2 file::test: sines", "read", 2),
        ("2 file::test: sines", "write", 2),
    ]


def test_a_difference_and_an_error_are_reported(pretended, monkeypatch, tmp_path, capsys):
    def wrong(cp, launch):
        if launch.program == "sines":
            raise ValueError("can't be compiled\nin two lines")
        changed = {name: array.copy() for name, array in launch.arrays.items()}
        changed["b"].reshape(-1)[-1:].view(np.uint8)[0] ^= launch.program == "roots"
        return changed

    monkeypatch.setattr(on_gpu, "on_the_gpu", wrong)
    saved = tmp_path / "numba.json"
    assert on_gpu.main(["run", str(pretended), "--json", str(saved)]) == 1
    shown = capsys.readouterr().out
    assert "1 file::test: roots: differs by 1 units" in shown
    assert "2 file::test: sines: ValueError: can't be compiled\n" in shown
    rows = [row for row in Record.read(saved).rows if row["measure"] == "arrays"]
    assert [row["equal"] for row in rows] == [True, False, False]


def test_after_an_error_of_the_gpu_nothing_more_is_launched(pretended, monkeypatch, capsys):
    begun = []

    def broken(cp, launch):
        begun.append(launch.program)
        raise RuntimeError("cudaErrorIllegalAddress: an illegal memory access")

    monkeypatch.setattr(on_gpu, "on_the_gpu", broken)
    assert on_gpu.main(["run", str(pretended)]) == 1
    assert begun == ["double"]


def test_launches_that_ncu_did_not_see_are_named(pretended, monkeypatch, tmp_path):
    found = [on_gpu.Outcome(one, True) for one in collected.load(pretended)[0]]
    found.append(on_gpu.Outcome(found[0].launch.numbered(7), True))
    counters = on_gpu.counted(found)
    assert counters.equal == 4
    assert list(counters.left_out) == ["7 file::test: double"]


def test_without_a_gpu_a_sentence_and_status_2(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert on_gpu.main(["run", str(tmp_path / "none")]) == 2
    assert capsys.readouterr().out.startswith("CuPy is not installed; install")
