"""The command line, as a user calls it."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

import mmsim as mm
from mmsim.claims import Claim
from mmsim.cli import main

PROGRAM = """\
import mmsim as mm

@mm.program
def double(T, a, b, k):
    b[T.id] = k * a[T.id]

@mm.program
def outside(T, a):
    a[T.id + 1]
"""


@pytest.fixture
def program_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(PROGRAM)
    return path


def test_verify_prints_a_table_and_saves_the_verdicts(capsys, tmp_path):
    saved, page = tmp_path / "verdicts.json", tmp_path / "verdicts.html"
    status = main(["verify", "--claim", "SMM-E1", "--json", str(saved), "--html", str(page)])
    output = capsys.readouterr().out
    assert status == 0
    for word in ("SMM-E1.DMM", "SMM-E1.UMM", "SMM, Figure 4", "T = 5", "T = 7", "holds"):
        assert word in output
    assert [one["id"] for one in json.loads(saved.read_text())["verdicts"]] == [
        "SMM-E1.DMM",
        "SMM-E1.UMM",
    ]
    assert page.read_text().startswith("<!doctype html>")
    assert "<h2>SMM (Simple Memory Machine Models)</h2>" in page.read_text()


@pytest.mark.parametrize("watched", [False, True])
def test_verify_shows_a_bar_on_a_terminal_alone(capsys, monkeypatch, watched):
    monkeypatch.setenv("FORCE_COLOR", "1")  # of which Rich takes any file for a terminal
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: watched)
    assert main(["verify", "--claim", "SMM-E1.DMM"]) == 0
    shown = capsys.readouterr().err
    assert ("claims" in shown and "1/1" in shown) if watched else shown == ""


def test_verify_takes_several_ids(capsys):
    assert main(["verify", "--claim", "RAP-E1", "RAP-E2", "--claim", "RAP-E3"]) == 0
    output = capsys.readouterr().out
    assert all(id_ in output for id_ in ("RAP-E1.DMM", "RAP-E2", "RAP-E3"))


@pytest.mark.parametrize("printed", [False, True])
def test_verify_leaves_with_1_when_something_is_wrong(monkeypatch, capsys, printed):
    @mm.program
    def read(T, a):
        a[T.id]

    wrong = Claim(
        id="X",
        source="s",
        title="t",
        formula=lambda: 1 if printed else 2,
        kind="exact",
        grid=lambda: [{}],
        run=lambda schedule: mm.DMM(1, 1).run(read, [0], threads=1, schedule=schedule),
        printed=printed,
    )
    monkeypatch.setattr("mmsim.claims.registered", lambda broken: [wrong])
    assert main(["verify"]) == 1
    assert ("not refuted" if printed else "fails") in capsys.readouterr().out


def test_verify_knows_no_such_claim(capsys):
    assert main(["verify", "--claim", "SMM-L51"]) == 2
    assert "no claim has the id 'SMM-L51'; did you mean SMM-L5.1" in capsys.readouterr().err


def test_run_an_algorithm_with_its_example(capsys):
    assert (
        main(["run", "mmsim_algorithms.transpose:diagonal", "--width", "8", "--latency", "2"]) == 0
    )
    output = capsys.readouterr().out
    assert "diagonal on DMM(width=8, latency=2)" in output
    assert "18 time units" in " ".join(output.split())  # 2 (8 + 2 - 1)


def test_run_every_machine_and_option(capsys, tmp_path):
    saved = tmp_path / "run.json"
    call = ["run", "mmsim_algorithms.access:copy", "--width", "4", "--latency", "9", "--size", "32"]
    for machine in ("dmm", "umm", "hmm"):
        assert main([*call, "--machine", machine, "--json", str(saved), "--profile"]) == 0
        assert "b[t * p + i] = a[t * p + i]" in capsys.readouterr().out
    loaded = mm.Run.from_json(saved.read_text())
    assert loaded.machine == mm.HMM(1, 4, 9)
    assert loaded.time == 2 * (2 + 9 - 1) * 4
    assert main([*call, "--schedule", "asynchronous", "--threads", "32", "--block-size", "8"]) == 0
    assert "blocks of 8, asynchronous" in " ".join(capsys.readouterr().out.split())
    assert main([*call, "--rounds"]) == 0
    assert "rounds" in capsys.readouterr().out


def test_run_a_file_with_arguments(capsys, program_file, tmp_path):
    saved = tmp_path / "run.json"
    call = ["run", f"{program_file}:double", "arange:6", "zeros:6", "3", "--threads", "6"]
    assert main([*call, "--width", "2", "--json", str(saved)]) == 0
    assert mm.Run.from_json(saved.read_text()).arrays["b"].tolist() == [0, 3, 6, 9, 12, 15]
    np.save(tmp_path / "a.npy", np.full(6, 7))
    call[2] = str(tmp_path / "a.npy")
    assert main([*call, "--width", "2", "--json", str(saved)]) == 0
    assert mm.Run.from_json(saved.read_text()).arrays["b"].tolist() == [21] * 6
    call[2] = "permutation:6"
    assert main([*call, "--json", str(saved)]) == 0
    assert sorted(mm.Run.from_json(saved.read_text()).arrays["b"]) == [0, 3, 6, 9, 12, 15]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (["mmsim_algorithms.transpose:"], "write MODULE:NAME or FILE.py:NAME"),
        (["mmsim_algorithms.grids"], "mmsim_algorithms.grids has no program"),
        (["no.such.module"], "No module named 'no'"),
        (["mmsim_algorithms.transpose:diag"], "it has diagonal, straightforward"),
        (["no.such.module:x"], "No module named 'no'"),
        (["no_such_file.py:x"], "no file 'no_such_file.py'"),
        (["mmsim_algorithms.access:copy", "arange:8", "zeros:8"], "give --threads"),
        (
            ["mmsim_algorithms.access:copy", "what:8", "--threads", "1"],
            "neither a number nor an array",
        ),
        (
            ["mmsim_algorithms.access:copy", "zeros:0", "--threads", "1"],
            "neither a number nor an array",
        ),
        (["mmsim_algorithms.access:copy", "a.npy", "--threads", "1"], "a.npy: No such file"),
        (["..x:p"], "..x: "),
        (["mmsim_algorithms.access:copy", "arange:99999999x99999999", "--threads", "1"], "memory"),
        (["mmsim_algorithms.access:copy", "--width", "0"], "width=0"),
        (["mmsim_algorithms.access:copy", "--threads", "0"], "threads=0"),
    ],
)
def test_mistakes_in_a_call_get_one_line_and_status_2(capsys, call, words):
    assert main(["run", *call]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.startswith("mmsim: ")
    assert "Traceback" not in error


def test_errors_of_a_program_name_their_place(capsys, program_file):
    assert main(["run", f"{program_file}:outside", "zeros:4", "--threads", "4"]) == 2
    error = capsys.readouterr().err
    for fact in ("'outside'", "line 9", "thread 3", "index [4] of 'a'", "a[T.id + 1]"):
        assert fact in error


def test_a_file_of_pickles_is_not_loaded(capsys, tmp_path):
    path = tmp_path / "objects.npy"
    np.save(path, np.array([{}], dtype=object), allow_pickle=True)
    assert (
        main(["run", "mmsim_algorithms.access:copy", str(path), "zeros:1", "--threads", "1"]) == 2
    )
    assert "objects.npy" in capsys.readouterr().err


def test_bench_prints_what_it_compares_with_what(capsys, monkeypatch):
    monkeypatch.setattr("mmsim.bench.events.simpy_events", lambda processes=1, events=1: 1e6)
    assert main(["bench", "events", "--repeat", "1"]) == 0
    output = " ".join(capsys.readouterr().out.split())
    for words in ("b[p[i]] = a[i]", "bare SimPy, one process", "synchronous", "asynchronous"):
        assert words in output


def test_the_installed_command_and_its_version():
    output = subprocess.run(
        [sys.executable, "-m", "mmsim", "--version"], capture_output=True, text=True, check=True
    ).stdout
    assert output.strip() == f"mmsim {mm.__version__}"


def test_a_file_sees_those_next_to_it_and_hides_no_module(capsys, tmp_path):
    (tmp_path / "neighbour_of_mine.py").write_text("FACTOR = 3\n")
    (tmp_path / "random.py").write_text(
        "import mmsim as mm\nfrom neighbour_of_mine import FACTOR\n\n"
        "@mm.program\ndef p(T, a):\n    a[T.id] = FACTOR\n"
    )
    assert main(["run", f"{tmp_path / 'random.py'}:p", "zeros:4", "--threads", "4"]) == 0
    import random

    assert hasattr(random, "Random")
    sys.path.remove(str(tmp_path))


def test_without_a_command_the_commands_are_listed(capsys):
    assert main([]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    for command in ("verify", "list", "run", "sweep"):
        assert re.search(rf"^ +{command} +\w", printed.err, re.MULTILINE)
