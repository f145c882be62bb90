"""The edges of the command line: odd files, outputs and numbers get one line and status 2."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mmsim.cli import main
from mmsim.host import plugins
from mmsim.sweeps import read

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
PROGRAM = """\
import mmsim as mm

@mm.program
def fine(T, a):
    a[T.id]

@fine.example
def prepare(width, size=8, seed=0):
    return mm.Example([0] * size, threads=size)

@mm.program
def runs(T, α):
    α[T.id]  # ² — ·
"""
EXAMPLE = """\
import sys
import mmsim as mm

@mm.program
def p(T, a):
    a[T.id]

@p.example
def prepare(width, seed=0, **more):
    {}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a program, from which commands are called."""
    (tmp_path / "mine.py").write_text(PROGRAM, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def called(*words, status=2, shell="", **environment):
    """Standard output and error of `mmsim` in a process of its own, after a look at the status."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = f'exec "$0" -m mmsim "$@" {shell}'
    done = subprocess.run(
        ["bash", "-c", command, sys.executable, *words],
        capture_output=True,
        env={**kept, "PYTHONPATH": str(Path(__file__).parents[2]), **environment},
        timeout=60,
        check=False,
    )
    assert done.returncode == status, done
    assert b"Traceback" not in done.stderr
    return done.stdout, done.stderr.decode("utf-8", "backslashreplace")


def refused(capsys, *words):
    """The one line that a call in this process prints, which exits with status 2."""
    assert main(list(map(str, words))) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("mmsim: ")
    return line


# ---------------------------------------------------------------- examples


@pytest.mark.parametrize("command", ["run", "check", "step", "sweep"])
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return {}['a']", "failed with width=32, seed=0: {}, line 10: KeyError: 'a'"),
        ("raise ValueError('first\\n  second')", "line 10: ValueError: first second"),
        ("raise ValueError", "line 10: ValueError"),
        ("sys.exit(3)", "line 10: SystemExit: 3"),
        ("pass", "returned nothing with width=32, seed=0; it must return an mmsim.Example"),
        ("return [0], 8", "returned a tuple with width=32, seed=0; it must return an"),
        ("return mm.Example([0])", "line 10: TypeError: an Example lacks its threads"),
    ],
)
def test_an_example_that_fails_is_named_with_its_line(capsys, folder, command, body, said):
    file = folder / "odd.py"
    file.write_text(EXAMPLE.format(body))
    said = said.format(file)
    if command == "sweep":
        assert main(["sweep", "odd.py:p", "--out", "rows.jsonl", "--jobs", "1"]) == 1
        (row,) = read("rows.jsonl")
        assert said in row["message"]
        return
    more = ["--html", "page.html"] if command == "step" else []
    assert said in refused(capsys, command, "odd.py:p", *more)


# ---------------------------------------------------------------- sources


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"x = 1\0", "source code string cannot contain null bytes"),
        (b"x = 'caf\xe9'\n", "can't decode byte 0xe9"),
        (b"import sys\nsys.exit(1)\n", "odd.py, line 2: SystemExit: 1"),
        (b"def f():\n    return 1 / 0\nx = f()\n", "odd.py, line 2: ZeroDivisionError: division"),
        (b"def f(:\n", "odd.py, line 1: invalid syntax"),
        (b"import no_such_thing\n", "No module named 'no_such_thing'"),
        (b"def __getattr__(name):\n    raise RuntimeError(name)\n", "line 2: RuntimeError: p"),
        (b"class E(Exception):\n    __str__ = None\nraise E\n", "E: its text cannot be printed"),
    ],
)
def test_a_source_that_cannot_be_loaded(capsys, folder, content, words):
    (folder / "odd.py").write_bytes(content)
    line = refused(capsys, "run", "odd.py:p")
    assert words in line
    assert "None" not in line


def test_a_source_that_is_no_file(capsys, folder):
    (folder / "folder.py").mkdir()
    os.mkfifo(folder / "pipe.py")
    for name in ("folder.py", "pipe.py", "none.py"):
        assert refused(capsys, "run", f"{name}:p") == f"mmsim: no file {name!r}"
    assert refused(capsys, "run", "mine.py:fin").endswith("it has fine, runs")


def test_a_file_is_run_once_to_say_what_it_has(capsys, folder):
    (folder / "counted.py").write_text("print('loaded')\n")
    assert main(["run", "counted.py:p"]) == 2
    assert capsys.readouterr().out == "loaded\n"


# ---------------------------------------------------------------- what is printed


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1:strict"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_a_narrow_encoding_gets_escapes(folder, environment):
    words = ["run", "mine.py:runs", "zeros:8", "--threads", "8", "--profile"]
    output, error = called(*words, status=0, **environment)
    assert b"\\u03b1[T.id]" in output
    assert b"\\u2014" in output
    assert error == ""


def test_square_brackets_in_a_name_are_no_markup(capsys, folder):
    name = "[red]:smile:[/b].html"
    os.mkdir("[red]:smile:[")
    assert main(["step", "mine.py:fine", "--html", name]) == 0
    assert f"open {name} in a browser" in capsys.readouterr().out


@needs_full
@pytest.mark.parametrize("words", [["run", "mine.py:fine"], ["--help"]])
def test_a_full_device_is_named(folder, words):
    _, error = called(*words, shell="> /dev/full")
    assert error == "mmsim: standard output: No space left on device\n"


@needs_full
@pytest.mark.parametrize("option", ["--json", "--csv", "--chrome"])
def test_a_full_file_is_named(capsys, folder, option):
    text = "mmsim: /dev/full: No space left on device"
    assert refused(capsys, "run", "mine.py:fine", option, FULL) == text


@needs_full
def test_a_full_file_of_the_other_commands_is_named(capsys, folder):
    text = "mmsim: /dev/full: No space left on device"
    for words in (
        ["step", "mine.py:fine", "--html"],
        ["check", "mine.py:fine", "--html"],
        ["check", "mine.py:fine", "--json"],
        ["verify", "--claim", "SMM-E1", "--json"],
        ["verify", "--claim", "SMM-E1", "--html"],
    ):
        assert refused(capsys, *words, FULL) == text


@needs_full
def test_a_figure_on_a_full_device_is_named(capsys, folder):
    os.symlink(FULL, "full.svg")
    text = "mmsim: full.svg: No space left on device"
    assert refused(capsys, "run", "mine.py:fine", "--plot", "full.svg") == text
    words = ["--out", "rows.jsonl", "--plot", "full.svg", "--over", "size", "--size", "8"]
    assert refused(capsys, "sweep", "mine.py:fine", *words, "--jobs", "1") == text


def test_a_closed_output_is_found_before_the_work(folder):
    (folder / "loud.py").write_text("open('loaded', 'w').close()\n")
    _, error = called("run", "loud.py:p", shell=">&-")
    assert error == "mmsim: standard output: closed; send it to a file or to /dev/null\n"
    assert not Path("loaded").exists()


@needs_full
@pytest.mark.parametrize("shell", ["2>&-", "2>/dev/full"])
def test_a_closed_or_full_error_output_stops_nothing(folder, shell):
    output, _ = called("verify", "--claim", "SMM-E1", status=0, shell=shell)
    assert b"2 exact claims and 0 bounds hold" in output
    words = ["sweep", "mine.py:fine", "--width", "4", "8", "--jobs", "2", "--out", "rows.jsonl"]
    called(*words, status=0, shell=shell)
    assert [row["error"] for row in read("rows.jsonl")] == [None, None]
    output, _ = called("run", "none.py:p", shell=shell)
    assert output == b""


def test_a_reader_that_goes_ends_the_command_quietly(folder):
    read_end, write_end = os.pipe()
    os.close(read_end)
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    for words in (["run", "--help"], ["run", "mine.py:fine"]):
        done = subprocess.run(
            [sys.executable, "-m", "mmsim", *words],
            stdout=write_end,
            stderr=subprocess.PIPE,
            env={**kept, "PYTHONPATH": str(Path(__file__).parents[2])},
            check=False,
        )
        assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")
    os.close(write_end)


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="this system has no /dev/fd")
def test_a_reader_of_a_saved_file_that_goes_ends_the_command_quietly(capsys, folder):
    read_end, write_end = os.pipe()
    os.close(read_end)
    assert main(["run", "mine.py:fine", "--json", f"/dev/fd/{write_end}"]) == 141
    os.close(write_end)
    output, error = capsys.readouterr()
    assert ("time units" in output, error) == (True, "")


# ---------------------------------------------------------------- what is saved

TARGETS = [
    *(["run", "mine.py:fine", option] for option in ("--json", "--csv", "--chrome", "--plot")),
    ["check", "mine.py:fine", "--json"],
    ["check", "mine.py:fine", "--html"],
    ["step", "mine.py:fine", "--html"],
    ["verify", "--claim", "SMM-E1", "--json"],
    ["verify", "--claim", "SMM-E1", "--html"],
    ["reproduce", "SMM-F5", "--output"],
    ["bench", "events", "--json"],
    ["gpu", "calibrate", "--json"],
    ["gpu", "calibrate", "--cache", "--json"],
    ["gpu", "atomics", "--json"],
    ["gpu", "counters", "--json"],
    ["gpu", "reproduce", "CFP-T2", "--json"],
    ["sweep", "mine.py:fine", "--out"],
    ["sweep", "mine.py:fine", "--out", "rows.jsonl", "--over", "width", "--plot"],
]
each_target = pytest.mark.parametrize("words", TARGETS, ids=" ".join)


@pytest.fixture
def no_work(monkeypatch):
    """Let the test fail if a command begins its work."""

    def never(*args, **kwargs):
        raise AssertionError("the work has begun")

    for name in (
        *("mmsim.api.machines.Machine.run", "mmsim.api.machines.Machine.check"),
        *("mmsim.cli.verify._verify", "mmsim.cli.bench._run", "mmsim.gpu.calibrate"),
        *(
            "mmsim_algorithms.gpu.atomics.measured",
            "mmsim_algorithms.gpu.cache_calibration.measured",
        ),
        "mmsim.gpu.counters",
    ):
        monkeypatch.setattr(name, never)
    monkeypatch.setattr("mmsim.sweeps.workers.finished", never)


@each_target
def test_a_file_that_cannot_be_written_is_found_before_the_work(capsys, folder, no_work, words):
    (folder / "folder.svg").mkdir()
    for name, said in (
        ("none/rows.svg", "No such file or directory"),
        ("folder.svg", "Is a directory"),
        ("mine.py/rows.svg", "Not a directory"),
        (f"{'x' * 300}.svg", "File name too long"),
    ):
        line = refused(capsys, *words, name)
        assert line.startswith("mmsim: ")
        assert line.endswith(f"{name}: {said}")


@each_target
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_may_not_be_written_is_found_before_the_work(capsys, folder, no_work, words):
    kept = folder / "kept.svg"
    kept.write_text("text")
    kept.chmod(0o400)
    (folder / "locked").mkdir(0o500)
    for name in ("kept.svg", "locked/new.svg"):
        assert refused(capsys, *words, name).endswith(f"{name}: Permission denied")


def test_a_file_stays_as_it_is_until_there_is_something_to_write(capsys, folder):
    kept = folder / "kept.json"
    kept.write_text("kept")
    refused(capsys, "run", "none.py:p", "--json", kept)
    assert kept.read_text() == "kept"
    refused(capsys, "run", "none.py:p", "--json", "new.json")
    assert not Path("new.json").exists()
    os.symlink("elsewhere.json", "link.json")
    assert main(["run", "mine.py:fine", "--json", "link.json"]) == 0
    assert Path("elsewhere.json").read_text().startswith("{")


def test_a_pipe_with_a_name_takes_a_file_but_no_sweep(capsys, folder):
    os.mkfifo("pipe.json")
    taken = []
    reader = threading.Thread(target=lambda: taken.append(Path("pipe.json").read_text()))
    reader.start()
    assert main(["run", "mine.py:fine", "--json", "pipe.json"]) == 0
    reader.join()
    assert taken[0].startswith("{")
    line = refused(capsys, "sweep", "mine.py:fine", "--out", "pipe.json", "--jobs", "1")
    assert line.endswith("pipe.json can't keep rows; give an ordinary file")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_file_whose_name_is_no_text(folder):
    name = os.fsdecode(b"m\xff.py")
    Path(name).write_text(PROGRAM, encoding="utf-8")
    output, error = called("step", f"{name}:fine", "--html", f"{name}.html", status=0)
    assert b"m\\udcff.py.html in a browser" in output
    assert r"m\\udcff.py" in Path(f"{name}.html").read_text(encoding="utf-8")  # in JSON
    assert error == ""
    options = ["--csv", f"{name}.csv", "--json", f"{name}.json", "--chrome", f"{name}.trace"]
    called("run", f"{name}:fine", *options, status=0)


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize("value", ["-4", "0", "9" * 30, "9" * 5000, "two", "1.5", "--4", ""])
@pytest.mark.parametrize("words", [["verify"], ["sweep", "mine.py:fine", "--out", "rows.jsonl"]])
def test_a_number_of_processes_that_cannot_be(capsys, folder, words, value):
    with pytest.raises(SystemExit) as left:
        main([*words, f"--jobs={value}"])
    assert left.value.code == 2
    error = capsys.readouterr().err
    assert "is not a whole number from 1 to 1024" in error
    assert len(error) < 2000


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("--seed", str(2**32)), ("--seed", "-1"), ("--size", "--5"), ("--size", "1" * 5000)),
        *(("--size", "-1"), ("--size", "0"), ("--size", "x")),
    ],
)
def test_numbers_beyond_their_bounds(capsys, folder, option, value):
    with pytest.raises(SystemExit) as left:
        main(["run", "mine.py:fine", f"{option}={value}"])
    assert left.value.code == 2
    assert "is not a whole number from" in capsys.readouterr().err


def test_more_processes_than_claims_are_not_started(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "mmsim.claims.parallel.verify_registered",
        lambda ids, processes, done, points: asked.append(processes) or [],
    )
    assert main(["verify", "--claim", "SMM-E1", "--jobs", "1000"]) == 0
    assert asked == [2]


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("zeros:" + "x".join("1" * 70), "is neither a number nor an array"),
        ("9" * 5000, "99999999999999999999... has 5000 digits; numbers have 64 bits"),
        ("9" * 30, "must be an array, not 999"),
        ("nan", "must be an array, not nan"),
        ("arange:4x", "is neither a number nor an array"),
        ("random:-4", "is neither a number nor an array"),
        ("folder.npy", "folder.npy: Is a directory"),
        ("empty.npy", "holds no array of numbers saved with numpy.save"),
        ("garbage.npy", "holds no array of numbers saved with numpy.save"),
    ],
)
def test_odd_arguments_of_a_program(capsys, folder, argument, words):
    (folder / "folder.npy").mkdir()
    (folder / "empty.npy").touch()
    (folder / "garbage.npy").write_bytes(b"garbage")
    assert words in refused(capsys, "run", "mine.py:fine", argument, "--threads", "4")


@pytest.mark.parametrize(
    "options",
    [
        *(["--threads", "-1"], ["--threads", "99999999999999999999"], ["--block-size", "0"]),
        *(["--block-size", "100"], ["--width", "-1"], ["--latency", "0"]),
        *(["--machine", "hmm", "--dmms", "0"], ["--machine", "hmm", "--shared-latency", "-2"]),
    ],
)
@pytest.mark.parametrize("command", [["run"], ["check"], ["step", "--html", "page.html"]])
def test_odd_launches(capsys, folder, command, options):
    refused(capsys, *command, "mine.py:fine", *options)
    assert not Path("page.html").exists()


# ---------------------------------------------------------------- packages


class Broken:
    """An entry point of a package that doesn't load."""

    name, value, group = "broken", "broken:claims", "mmsim.algorithms"

    def load(self):
        raise ImportError("No module named 'broken'")


class Half(Broken):
    """An entry point that loads, and fails when it lists what it has."""

    def load(self):
        return lambda: (1 // number for number in (0,))


@pytest.mark.parametrize("command", [["reproduce"], ["bench"], ["gpu", "reproduce"]])
def test_a_package_that_does_not_load_is_named(capsys, monkeypatch, command):
    where = "the entry point broken = broken:claims of the group mmsim.algorithms"
    points = {
        Broken: "ImportError: No module named 'broken'",
        Half: "ZeroDivisionError",
    }
    for point, why in points.items():
        monkeypatch.setattr(plugins, "entry_points", lambda group, point=point: [point()])
        line = refused(capsys, *command)
        assert where in line
        assert why in line


class Whole(Broken):
    """An entry point with what `verify` and `list` need."""

    name, value = "whole", "whole:claims"

    def __init__(self, group):
        self.group = group

    def load(self):
        import mmsim_algorithms

        if self.group == "mmsim.algorithms":
            return lambda: [c for c in mmsim_algorithms.claims() if c.id == "SMM-E1.DMM"]
        return mmsim_algorithms.programs


@pytest.mark.parametrize(
    ("command", "word"), [(["verify"], "SMM-E1.DMM"), (["list", "few_barriers"], ":few_barriers")]
)
@pytest.mark.parametrize("point", [Broken, Half])
def test_verify_and_list_name_a_package_that_does_not_load_and_go_on(
    capsys, monkeypatch, point, command, word
):
    monkeypatch.setattr(
        plugins,
        "entry_points",
        lambda group: [Whole(group), *([point()] if group == "mmsim.algorithms" else [])],
    )
    assert main(command) == 1
    output = capsys.readouterr()
    assert word in output.out
    assert output.err.count("mmsim: ") == 1
    assert "the entry point broken = broken:claims of the group mmsim.algorithms" in output.err
    assert main(["verify", "--claim", "SMM-E1.DMM"]) == 1
