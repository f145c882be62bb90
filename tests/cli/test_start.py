"""The first moments of a command, and its last: what it loads, and a signal that comes then."""

import os
import signal
import subprocess
import sys
import time

import pytest
from test_interrupts import hearing

from mmsim.cli import interrupts
from mmsim.cli.supervise import supervised

HOOK = """\
import atexit, os, signal, sys

WHEN, HOW = os.environ["WHEN"], os.environ["HOW"]


class Hook:
    "Does something to the process when a module is sought."

    def find_spec(self, name, path=None, target=None):
        if name == WHEN:
            os.write(2, b"now\\n")
            if HOW == "raise":
                raise KeyboardInterrupt
            for number in map(int, HOW.split()):
                os.kill(os.getpid(), number)


sys.meta_path.insert(0, Hook())
if WHEN == "end":
    atexit.register(os.kill, os.getpid(), int(HOW))
"""
MAIN = "mmsim.cli.interrupts"
"""The first module that `main` loads: before, the process is Python's."""
PROGRAM = """\
import mmsim as mm

@mm.program
def put(T, a):
    a[T.id] = 1
"""
PUT = ("mine.py:put", "zeros:8", "--threads", "8")
INTERRUPT = str(int(signal.SIGINT))
CALLS = {
    "run": ("run", *PUT),
    "check": ("check", *PUT),
    "step": ("step", *PUT, "--html", "page.html"),
    "sweep": ("sweep", "mmsim_algorithms.access:copy", "--out", "rows.jsonl", "--jobs", "1"),
    "conflicts": ("conflicts", "--tile", "64x64"),
    "bench": ("bench", "--list"),
    "verify": ("verify", "--claim", "SMM-E1.DMM"),
    "list": ("list", "transpose"),
    "cuda": ("cuda", "mine.py"),
}


@pytest.fixture
def start(tmp_path):
    """Begins a command to whose process something happens when a module is sought."""
    (tmp_path / "sitecustomize.py").write_text(HOOK)
    (tmp_path / "mine.py").write_text(PROGRAM)

    def start(words, when, how=INTERRUPT):
        return subprocess.Popen(
            [sys.executable, "-m", "mmsim", *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path), "WHEN": when, "HOW": how},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=hearing,
        )

    return start


def end(process):
    """The lines on the standard error of a process that ends without a traceback."""
    _, err = process.communicate(timeout=120)
    assert "Traceback" not in err
    assert "ignored" not in err
    return err.splitlines()


@pytest.mark.parametrize(
    ("call", "when", "how"),
    [
        *(("run", MAIN, INTERRUPT), ("run", "argparse", INTERRUPT)),
        *(("run", "mmsim.cli.run", INTERRUPT), ("run", "numpy.linalg", INTERRUPT)),
        *(("check", "mmsim.cli.loading", INTERRUPT), ("step", "simpy", INTERRUPT)),
        *(("sweep", "numpy", INTERRUPT), ("sweep", "mmsim_algorithms.access", INTERRUPT)),
        *(("conflicts", "numpy.lib", INTERRUPT), ("bench", "rich.console", INTERRUPT)),
        *(("verify", "mmsim.cli.supervise", INTERRUPT), ("verify", "sympy", INTERRUPT)),
        *(("list", "sympy", INTERRUPT), ("cuda", "numba", INTERRUPT)),
        *(("run", "numpy.linalg", "raise"), ("verify", "sympy", "raise")),
    ],
)
def test_ctrl_c_while_modules_load(start, call, when, how):
    process = start(CALLS[call], when, how)
    now, said = end(process)
    assert now == "now"
    assert said.startswith("mmsim: interrupted")  # and how much was verified
    assert process.returncode == 130


@pytest.mark.parametrize("call", ["run", "verify"])
@pytest.mark.parametrize("seconds", [0, 0.03, 0.1, 0.3])
def test_ctrl_c_a_moment_after_the_start(start, call, seconds):
    process = start(CALLS[call], MAIN, "")
    assert process.stderr.readline() == "now\n"
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    *_, said = end(process)  # a bar too, if the claim had begun
    assert said.startswith("mmsim: interrupted")
    assert process.returncode == 130


def test_an_interrupt_that_waits_for_a_module_comes_before_a_process_forks():
    waiting = interrupts._Interrupt(1)
    waiting.end = time.monotonic() + 60
    before = signal.signal(signal.SIGALRM, waiting)
    try:
        with pytest.raises(KeyboardInterrupt):
            supervised(lambda: 0)
    finally:
        signal.signal(signal.SIGALRM, before)


class Finalized:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)


def free_and_wait():
    Finalized()
    time.sleep(5)


def test_an_interrupt_in_a_finalizer_is_not_dropped():
    before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGALRM)}
    interrupts.raise_when_loaded()
    try:
        with pytest.raises(KeyboardInterrupt):
            free_and_wait()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for one, handler in before.items():
            signal.signal(one, handler)


def test_sigterm_while_modules_load(start):
    process = start(CALLS["verify"], "mmsim.cli.verify", str(int(signal.SIGTERM)))
    assert end(process) == ["now", "mmsim: interrupted"]
    assert process.returncode == 143


def test_ctrl_c_at_the_end_leaves_the_status(start):
    process = start(CALLS["conflicts"], "end")
    assert end(process) == []
    assert process.returncode == 1  # columns are in conflict


@pytest.mark.parametrize("how", [INTERRUPT, f"{INTERRUPT} {INTERRUPT}"], ids=["once", "twice"])
def test_a_module_that_takes_long_is_not_waited_for(start, tmp_path, how):
    (tmp_path / "mine.py").write_text("import late\nwhile True:\n    pass\n")
    (tmp_path / "late.py").write_text("")
    process = start(CALLS["run"], "late", how)
    assert end(process) == ["now", "mmsim: interrupted"]
    assert process.returncode == 130


@pytest.mark.parametrize("words", [["--help"], ["--version"], []], ids=str)
def test_help_loads_nothing_heavy(words, tmp_path):
    code = f"import sys\nfrom mmsim.cli import main\ntry:\n    main({words})\nexcept SystemExit:\n"
    code += "    pass\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.splitlines()[-1].split())
    heavy = {"numpy", "scipy", "sympy", "numba", "rich", "matplotlib", "simpy", "mmsim_algorithms"}
    assert not loaded & (heavy | {"importlib.metadata", "mmsim.names", "mmsim.cli.run"})


def test_a_room_that_is_imported_alone_shows_its_results():
    """Each in a process of its own, which has loaded nothing else of mmsim."""
    for code in (
        "from mmsim.results.rows import SweepRows as S; print(S(({'n': 1}, {'n': 2})))",
        "from mmsim.model.layout import RAP; print(RAP(4).plot((4, 4)))",
        "from mmsim.reports import verdicts",
        "import mmsim; print(mmsim.__version__, mmsim.claims.Claim, dir(mmsim).index('DMM'))",
        "from mmsim import *; print(DMM(4, 5))",
        "import mmsim; assert not hasattr(mmsim, 'nothing')",
    ):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_what_starts_the_command_loads_nothing():
    """Whatever stands before `main` is out of reach of its handling of Ctrl-C."""
    code = "import sys; before = set(sys.modules); import mmsim.cli; "
    code += "print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["mmsim", "mmsim.cli", "mmsim.cli.main"]
