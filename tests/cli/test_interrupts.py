"""A signal ends a long command within two seconds, with all its processes, whatever they do.

Each command is stuck in one instruction of Python that takes minutes: no handler of a signal runs.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pexpect
import pytest

from mmsim.sweeps import read
from tests.kit.runs.load import allowed, wait_until
from tests.kit.tools.kill_sweeps import session_of

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no groups")

PROMISED = 2.0  # seconds

PLUGIN = """\
import os, pathlib, time
import numpy as np, mmsim as mm
from mmsim.bench import Benchmark
from mmsim.claims import Claim, Figure, PaperTable
from mmsim.frontend.program import Example

HERE = pathlib.Path(os.environ["STUCK_HERE"])


@mm.program
def put(T, a):
    a[T.id] = 1


def stuck(*_, **__):
    (HERE / "begun").touch()
    sum(range(10**12))  # one instruction


@put.example
def example(width, size=4, seed=0):
    if size == 9:
        stuck()
    if size == 8:
        (HERE / "begun").touch()
        time.sleep(600)
    return Example(np.zeros(size), threads=size)


def run(schedule):
    with open(HERE / "runs", "a") as runs:
        runs.write("run ")
    return mm.DMM(4, 5).run(put, np.zeros(4), threads=4, schedule=schedule)


def claim(id, run, **more):
    return Claim(id, "a paper", id, lambda: 5, "exact", grid=lambda: [{}], run=run, **more)


def claims():
    own = {"own": lambda: [{}]}
    return [claim("quick.1", run), claim("quick.2", run), claim("stuck.1", stuck, **own)]


def tables():
    return [PaperTable("stuck", "s", "t", lambda: [stuck()])]


def rows(settings):
    yield {"what": "a row"}
    from mmsim.bench.repetitions import python
    (HERE / "begun").touch()
    python("-c", "import time; time.sleep(600)")


def benchmarks():
    def stuck_later(settings):
        yield {"what": "a row"}
        stuck()
    return [Benchmark("stuck", "t", "m", stuck_later),
            Benchmark("waits", "t", "m", rows)]
"""
POINTS = """\
[mmsim.algorithms]
stuck = stuck:claims
[mmsim.tables]
stuck = stuck:tables
[mmsim.benchmarks]
stuck = stuck:benchmarks
"""


def surroundings(folder):
    """The environment of commands that know the package that gets stuck, which is written here."""
    (folder / "stuck.py").write_text(PLUGIN)
    (folder / "runs").touch()
    (folder / "stuck-0.dist-info").mkdir(exist_ok=True)
    (folder / "stuck-0.dist-info" / "entry_points.txt").write_text(POINTS)
    (folder / "stuck-0.dist-info" / "METADATA").write_text("Name: stuck\nVersion: 0\n")
    return {**os.environ, "PYTHONPATH": str(folder), "STUCK_HERE": str(folder)}


def hearing():
    """In a process to be: hear all signals, also where the tests run under nohup."""
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP):
        signal.signal(one, signal.SIG_DFL)


STARTED = []


@pytest.fixture(autouse=True)
def nothing_left():
    """Whatever a failed test leaves would keep a core busy."""
    yield
    while STARTED:
        process = STARTED.pop()
        for one in processes_of(process.pid):
            os.kill(one, signal.SIGKILL)
        process.communicate()


class Command:
    """A command in a session of its own."""

    def __init__(self, folder, *words, prepare=hearing):
        self.begun = folder / "begun"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mmsim", *map(str, words)],
            env=surroundings(folder),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=prepare,
        )
        STARTED.append(self.process)

    @property
    def worker(self):
        (worker,) = (one for one in processes_of(self.process.pid) if one != self.process.pid)
        return worker

    def wait_until_it_works(self):
        wait_until(self.begun.exists, self.process)
        time.sleep(0.3)  # from the mark to the instruction

    def end(self, how):
        """Send a signal, "group" or a number; the seconds that it took, what was printed."""
        begun = time.monotonic()
        if how == "group":
            os.killpg(self.process.pid, signal.SIGINT)
        else:
            os.kill(self.process.pid, how)
        out, err = self.process.communicate(timeout=60)
        seconds = time.monotonic() - begun
        assert seconds < allowed(PROMISED)
        assert processes_of(self.process.pid) == []
        assert "Traceback" not in out + err
        return out, err


def processes_of(session):
    return [int(one.name) for one in Path("/proc").glob("[0-9]*") if session_of(one) == session]


@pytest.mark.parametrize(("jobs", "how"), [(1, "group"), (2, signal.SIGINT)])
def test_verify_prints_what_is_verified(tmp_path, jobs, how):
    command = Command(tmp_path, "verify", "--claim", "quick", "stuck", "--jobs", jobs)
    command.wait_until_it_works()
    wait_until(lambda: (tmp_path / "runs").read_text().count("run") == 4, command.process)
    time.sleep(1)  # from the last run to the verdict
    out, err = command.end(how)
    assert command.process.returncode == 130
    assert "quick.1" in out
    assert "quick.2" in out
    assert err.splitlines()[-1] == "mmsim: interrupted; 2 of 3 claims are verified"


def test_verify_on_one_core(tmp_path):
    def on_one():
        hearing()
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    command = Command(tmp_path, "verify", "--claim", "quick", "stuck", prepare=on_one)
    command.wait_until_it_works()
    out, _ = command.end("group")
    assert command.process.returncode == 130
    assert "quick.2" in out


@pytest.mark.parametrize(
    ("words", "how", "status"),
    [
        (["verify", "--claim", "stuck"], signal.SIGTERM, 143),
        (["reproduce", "stuck"], signal.SIGHUP, 129),
        (["bench", "stuck"], signal.SIGINT, 130),
        (["bench", "waits"], signal.SIGTERM, 143),
    ],
)
def test_other_commands_end_too(tmp_path, words, how, status):
    command = Command(tmp_path, *words)
    command.wait_until_it_works()
    out, err = command.end(how)
    assert command.process.returncode == status
    assert "mmsim: interrupted" in err
    assert ("a row" in out) == ("bench" in words)
    assert ("is not finished: interrupted" in out) == ("bench" in words)


@pytest.mark.parametrize(
    ("jobs", "how"), [(1, "group"), (2, "group"), (2, signal.SIGINT), (1, signal.SIGTERM)]
)
def test_a_sweep_keeps_its_rows(tmp_path, jobs, how):
    rows = tmp_path / "rows.jsonl"
    words = ["sweep", "stuck:put", "--size", "4", "5", "9", "6", "--out", rows, "--jobs", jobs]
    command = Command(tmp_path, *words)
    command.wait_until_it_works()
    wait_until(lambda: len(read(rows)) >= 2, command.process)
    command.end(how)
    assert command.process.returncode == (143 if how == signal.SIGTERM else 130)
    text = rows.read_bytes()
    assert text.endswith(b"\n")
    sizes = {json.loads(line)["size"] for line in text.splitlines()}
    assert sizes in ({4, 5}, {4, 5, 6})


def test_a_second_signal_ends_it_immediately(tmp_path):
    command = Command(tmp_path, "reproduce", "stuck")
    command.wait_until_it_works()
    os.kill(command.process.pid, signal.SIGINT)
    time.sleep(0.1)
    command.end(signal.SIGINT)
    assert command.process.returncode == 130


def test_a_killed_command_leaves_no_process(tmp_path):
    words = ["--size", "8", "--out", tmp_path / "rows.jsonl", "--jobs", "2"]
    command = Command(tmp_path, "sweep", "stuck:put", *words)
    command.wait_until_it_works()
    command.process.kill()
    command.process.communicate(timeout=60)
    wait_until(lambda: not processes_of(command.process.pid), seconds=20)


def test_an_ignored_signal_stays_ignored(tmp_path):
    """As under nohup, or in the background of a shell's script."""

    def ignore():
        hearing()
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    command = Command(tmp_path, "reproduce", "stuck", prepare=ignore)
    command.wait_until_it_works()
    os.kill(command.process.pid, signal.SIGHUP)
    time.sleep(0.5)
    assert command.process.poll() is None
    command.end(signal.SIGINT)
    assert command.process.returncode == 130


def test_ctrl_z_stops_the_work_and_fg_goes_on(tmp_path):
    command = Command(tmp_path, "reproduce", "stuck")
    command.wait_until_it_works()
    both = command.process.pid, command.worker
    os.kill(command.process.pid, signal.SIGTSTP)
    wait_until(lambda: states(*both) == "TT", command.process)
    os.kill(command.process.pid, signal.SIGCONT)
    wait_until(lambda: "T" not in states(*both), command.process)
    command.end("group")
    assert command.process.returncode == 130


def states(*processes):
    stats = (Path("/proc", str(one), "stat").read_text() for one in processes)
    return "".join(stat.rpartition(")")[2].split()[0] for stat in stats)


def test_ctrl_c_at_a_terminal(tmp_path):
    child = pexpect.spawn(
        sys.executable,
        ["-m", "mmsim", "verify", "--claim", "quick", "stuck", "--jobs", "1"],
        env=surroundings(tmp_path),
        encoding="utf-8",
        timeout=60,
        dimensions=(50, 160),
        preexec_fn=hearing,
    )
    child.expect("2/3")
    child.sendcontrol("c")
    begun = time.monotonic()
    child.expect("interrupted; 2 of 3 claims are verified")
    child.expect(pexpect.EOF)
    child.close()
    assert time.monotonic() - begun < allowed(PROMISED)
    assert child.exitstatus == 130


def test_the_status_of_an_undisturbed_command_is_its_own(tmp_path):
    good = Command(tmp_path, "verify", "--claim", "quick")
    out, _ = good.process.communicate(timeout=120)
    assert (good.process.returncode, "2 exact claims and 0 bounds hold" in out) == (0, True)
    bad = Command(tmp_path, "verify", "--claim", "none")
    _, err = bad.process.communicate(timeout=120)
    assert (bad.process.returncode, "no claim has the id 'none'" in err) == (2, True)


def test_a_command_that_is_killed_from_outside_says_so(tmp_path):
    command = Command(tmp_path, "reproduce", "stuck")
    command.wait_until_it_works()
    os.kill(command.worker, signal.SIGKILL)
    _, err = command.process.communicate(timeout=60)
    assert command.process.returncode == 137
    assert "the command was ended by signal 9; perhaps memory ran out" in err
