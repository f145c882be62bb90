"""`mmsim bench`: contestants that compute the same, figures that can be trusted, what it prints."""

import json
import subprocess
import sys
from math import isfinite

import numpy as np
import pytest

import mmsim as mm
from mmsim.bench import (
    Benchmark,
    BenchmarkError,
    Measured,
    Settings,
    alternately,
    compiled_first,
    exponent,
    start,
    timed,
)
from mmsim.bench.benchmark import LEAST
from mmsim.cli import main
from mmsim.cli.bench import registered_benchmarks
from mmsim.engines.array import lazy_compilation
from mmsim.engines.array.fused import execute, tiering
from mmsim_algorithms import permutations
from mmsim_algorithms.bench import cuda, cudasim, growth
from mmsim_algorithms.bench.contestants import movements
from mmsim_algorithms.bench.contestants.numba_kernels import CASES
from mmsim_algorithms.bench.contestants.setting import LAUNCHES, SCHEDULES, thread_accesses
from mmsim_algorithms.hmm_permutation import plan, scheduled

NAMES = [
    *("scheduled", "designated", "cuda", "cudasim", "engines", "growth", "events", "start"),
    "cached",
]
MAY_BE_NEGATIVE = "asynchronous/synchronous - 1"
MAY_BE_ZERO = "bytes per thread"
"""Of a short launch that fits into memory which the process has touched before."""


def words(n, seed=0):
    return np.random.RandomState(seed).randint(-(2**40), 2**40, n)


@pytest.mark.parametrize("name", permutations.NAMED)
@pytest.mark.parametrize(("n", "w"), [(16, 2), (64, 4), (256, 4), (1024, 8)])
def test_numpy_moves_as_the_simulated_scheduled_permutation_does(name, n, w):
    P, a = permutations.NAMED[name](n, 1), words(n)
    steps = plan(P, w)
    moves = movements.Scheduled(steps, w)
    for schedule in SCHEDULES:
        run = scheduled(mm.HMM(2, w, 10), a, steps, schedule=schedule)
        assert np.array_equal(moves(a), run.arrays["b"])
    assert len(scheduled(mm.HMM(2, w, 10), a, steps).rounds) == 32


@pytest.mark.parametrize("program", LAUNCHES)
def test_the_programs_compute_what_they_are_checked_against(program):
    launch = LAUNCHES[program](1024)
    run = launch.run("asynchronous")
    launch.check(run)
    each = {"D-designated": 3, "row-wise": 8}[program]
    assert thread_accesses(run) == each * 1024
    if program == "D-designated":
        a, _, P = launch.arguments
        assert np.array_equal(movements.DestinationDesignated(P)(a), run.arrays["b"])
    launch.b[0] += 1
    with pytest.raises(BenchmarkError, match="wrong array"):
        launch.check(run)


@pytest.mark.parametrize("power", [0.5, 1, 1.1, 2])
def test_the_exponent_of_a_power_is_found(power):
    sizes = [2**k for k in range(16, 28, 2)]
    assert exponent(sizes, [3e-9 * n**power for n in sizes]) == pytest.approx(power)
    noisy = [n**power * factor for n, factor in zip(sizes, [1.05, 0.95] * 3, strict=True)]
    assert exponent(sizes, noisy) == pytest.approx(power, abs=0.03)
    slope = np.polyfit(np.log(sizes), np.log(noisy), 1)[0]
    assert exponent(sizes, noisy) == pytest.approx(slope)
    with pytest.raises(BenchmarkError, match="two sizes"):
        exponent([16], [1])


def test_the_peak_of_memory_is_of_what_was_touched_since_it_was_forgotten():
    """In a process of its own: one that has freed much may touch nothing new."""
    code = (
        "import numpy as np\n"
        "from mmsim.bench.repetitions import forget_peak, peak_memory\n"
        "forget_peak()\nbefore = peak_memory()\nnp.ones(2**23)\n"
        "print((peak_memory() - before) / 2**26)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0.9 < float(done.stdout) < 1.2


def test_repetitions_are_interleaved_and_checked_untimed():
    order = []

    def task(name):
        return lambda: float(len(order.append(name) or order))

    found = alternately({"a": task("a"), "b": task("b")}, 3, "s")
    assert order == ["a", "b"] * 3
    assert found["a"] == Measured((1.0, 3.0, 5.0), "s")
    assert (found["b"].median, found["b"].least, found["b"].most) == (4, 2, 6)
    seen = []
    assert 0 <= timed(lambda: 7, seen.append)() < 1
    assert seen == [7]


def test_sizes_end_where_the_user_says():
    assert Settings().sizes(2**16, 2**24) == [2**16, 2**18, 2**20, 2**22, 2**24]
    assert Settings(most=2**19).sizes(2**16, 2**24) == [2**16, 2**18]
    assert Settings(most=2**14).sizes(2**16, 2**24) == [2**14]
    assert Settings(most=2**14 + 1).size(2**20) == 2**14
    assert (Settings().repetitions(5), Settings(repeat=2).repetitions(5)) == (5, 2)


@pytest.mark.long
def test_all_benchmarks_from_the_command_line(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(cudasim, "LIMIT", 0.01)
    monkeypatch.setattr(cuda, "SIZES", dict.fromkeys(CASES, 256))
    monkeypatch.setattr(cuda, "CALLS", 2)
    monkeypatch.delitem(growth.LARGEST, "scheduled")  # the next test's
    for module in (growth, start):
        monkeypatch.setattr(module, "SCHEDULES", ("asynchronous",))
    path = tmp_path / "results.json"
    assert main(["bench", "--repeat", "1", "--most", "2^14", "--json", str(path)]) == 0
    output = capsys.readouterr().out
    saved = json.loads(path.read_text())
    assert [one["name"] for one in saved["benchmarks"]] == NAMES
    for fact in ("cpu", "cores", "python", "numpy", "numba", "date", "command"):
        assert saved["facts"][fact]
        assert f"{fact}: " in output
    assert saved["facts"]["command"] == "mmsim bench --repeat 1 --most 16384"
    for one in saved["benchmarks"]:
        assert one["rows"]
        assert one["method"]
        assert "failure" not in one
        assert f"{one['name']}: " in output
        for row in one["rows"]:
            for key, number in numbers(row):
                assert isfinite(number), (one["name"], row)
                least = -1 if key == MAY_BE_NEGATIVE else 0
                assert number > least or (number == 0 and key == MAY_BE_ZERO), (one["name"], row)
    tables = {one["name"]: one["rows"] for one in saved["benchmarks"]}
    (row,) = tables["scheduled"]
    assert row["n"] == LEAST
    quotient = row["synchronous"]["median"] / row["NumPy"]["median"]
    assert row["synchronous/NumPy"] == pytest.approx(quotient)
    assert {row["program"] for row in tables["cudasim"]} == set(LAUNCHES)
    assert {row["kernel"] for row in tables["cuda"]} == set(CASES)
    assert sum("exponent of time" in row for row in tables["growth"]) == 1


def numbers(row):
    """All numbers of a row, those inside what was measured too."""
    for key, value in row.items():
        if isinstance(value, dict):
            yield from ((key, value[name]) for name in ("median", "least", "most"))
            yield from ((key, turn) for turn in value["turns"])
        elif not isinstance(value, str):
            yield key, value


@pytest.mark.long  # test_array_watched.py measures it in a process of its own
def test_growth_of_the_scheduled_permutation_in_one_process(capsys, tmp_path):
    growth.save("scheduled", LEAST, tmp_path)
    growth.main("scheduled", "synchronous", LEAST, 2, tmp_path)
    shown = json.loads(capsys.readouterr().out)
    assert len(shown["seconds"]) == 2
    assert min(shown["seconds"]) > 0
    assert shown["bytes"] >= 0


def test_interrupting_prints_and_saves_what_there_is(capsys, monkeypatch, tmp_path):
    def rows(settings):
        yield {"n": 2**20, "wall time": Measured((1.5,), "s")}
        raise KeyboardInterrupt

    def first(settings):
        yield {"what": "done before"}

    known = [Benchmark("first", "t", "m", first), Benchmark("second", "t", "m", rows)]
    monkeypatch.setattr("mmsim.cli.bench.registered_benchmarks", lambda: known)
    path = tmp_path / "results.json"
    assert main(["bench", "--json", str(path)]) == 130
    captured = capsys.readouterr()
    for text in ("done before", "2^20", "1.5 s", "interrupted"):
        assert text in captured.out
    saved = json.loads(path.read_text())["benchmarks"]
    assert [one.get("failure") for one in saved] == [None, "interrupted"]
    assert saved[1]["rows"][0]["n"] == 2**20


def test_one_that_fails_does_not_keep_the_others_from_running(capsys, monkeypatch):
    def fails(settings):
        raise BenchmarkError("there is no such thing here")
        yield

    def works(settings):
        yield {"what": "worked"}

    known = [Benchmark("fails", "t", "m", fails), Benchmark("works", "t", "m", works)]
    monkeypatch.setattr("mmsim.cli.bench.registered_benchmarks", lambda: known)
    assert main(["bench"]) == 1
    output = capsys.readouterr().out
    assert "there is no such thing here" in output
    assert "worked" in output


def test_benchmarks_are_listed_and_names_are_checked(capsys):
    assert main(["bench", "--list"]) == 0
    output = capsys.readouterr().out
    assert [one.name for one in registered_benchmarks()] == NAMES
    assert all(name in output for name in NAMES)
    assert main(["bench", "schedule"]) == 2
    assert "did you mean scheduled" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["x", "2^", "2^x", "-4", "2^13", "1"])
def test_sizes_that_make_no_sense_are_refused(capsys, text):
    with pytest.raises(SystemExit):
        main(["bench", "--most", text])
    assert "--most" in capsys.readouterr().err


def test_what_is_measured_is_compiled_however_short_it_is(monkeypatch):
    monkeypatch.setattr(execute, "_ready", {})
    monkeypatch.setattr(tiering, "_spent", {})  # what other tests interpreted of it
    launch = LAUNCHES["D-designated"](LEAST)
    launch.run("synchronous")
    assert not execute._ready
    with compiled_first():
        launch.run("synchronous")
    assert len(execute._ready) == 1
    assert not lazy_compilation.eager
