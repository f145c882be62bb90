"""What is shown of where an error was raised: the user's lines and the program's, not mmsim's."""

import os
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

import mmsim as mm

CELLS = [
    "import numpy as np\nimport mmsim as mm",
    "@mm.program\ndef past(T, a):\n    x = T.id\n    a[x + 1] = 5",
    "def tried(threads):\n    return mm.DMM(4, 2).run(past, np.zeros(8), threads=threads)",
    "tried(8)",
    "tried(0)",
    "mm.DMM(4, 2).check(past, np.zeros(8), threads=0)",
    "mm.DMM(4, 2).run(past, np.zeros(8), threads=8, engine='events')",
    "mm.place(np.zeros(3), mm.layout.RAP(4))",
    "@mm.program\ndef listed(T, a):\n    a[T.id] = [1]",
    "past.cuda(5, threads=8)",
    "1 // 0",
]
"""What a student types, in order. From the fourth on every cell fails."""

FAULT = """\
AddressError: program 'past', line 4, thread 7: index [8] of 'a' is out of range: the array has 8 \
elements; indices run from 0 to 7
  Cell In[2], line 4
    a[x + 1] = 5
    ^^^^^^^^"""
SHOWN = [
    ["----> 1 tried(8)", "----> 2     return mm.DMM(4, 2)", FAULT],
    ["----> 1 tried(0)", "LaunchError: threads=0, but it must be at least 1"],
    ["----> 1 mm.DMM(4, 2).check(", "LaunchError: threads=0, but it must be at least 1"],
    ["----> 1 mm.DMM(4, 2).run(", FAULT],
    ["----> 1 mm.place(", "LayoutError: RAP(width=4, seed=0, shifts=None) rotates rows"],
    ["Cell In[9], line 3\n    a[T.id] = [1]\n              ^\nLanguageError: a list isn't in"],
    ["----> 1 past.cuda(", "LaunchError: argument 'a' of program 'past' must be an array"],
    ["----> 1 1 // 0", "ZeroDivisionError: integer division or modulo by zero"],
]

SHELL = """\
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="NoColor")
for cell in sys.argv[1:]:
    shell.run_cell(cell, store_history=True)
    print("=====", flush=True)
"""


def compare(outputs):
    """Compare what was shown of the cells that fail, each as one text."""
    assert len(outputs) == len(SHOWN)
    for output, expected in zip(outputs, SHOWN, strict=True):
        for part in expected:
            assert part in output
        assert "mmsim/" not in output
        assert len(output.splitlines()) <= 20


def test_ipython_shows_the_users_lines():
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", SHELL, *CELLS],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(root), "IPYTHONDIR": os.devnull},
        timeout=100,
    )
    compare(done.stdout.split("=====\n")[3:-1])


@mm.program
def by_nothing(T, a):
    a[T.id] = 1 // (T.id - 3)


@mm.program
def past(T, a):
    a[T.id + 1] = 5


@pytest.mark.parametrize(
    "call",
    [
        lambda: mm.DMM(4, 2).run(past, np.zeros(8), threads=8),
        lambda: mm.DMM(4, 2).run(past, np.zeros(8), threads=8, engine="events"),
        lambda: mm.DMM(4, 2).run(past, np.zeros(8), threads=8, schedule="asynchronous"),
        lambda: mm.DMM(4, 2).run(by_nothing, np.zeros(8), threads=8),
        lambda: mm.DMM(4, 2).run(by_nothing, np.zeros(8), threads=8, engine="events"),
        lambda: mm.DMM(4, 2).check(past, np.zeros(8), threads="8"),
        lambda: past.cuda(5, threads=8),
        lambda: mm.program(len),
    ],
)
def test_python_shows_the_users_lines(call):
    with pytest.raises(mm.MMSimError) as caught:
        call()
    assert {step.filename for step in traceback.extract_tb(caught.value.__traceback__)} == {
        __file__
    }
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_what_anothers_code_raised_is_shown_with_it():
    class Broken:
        def offsets(self, shape):
            return int("x")

    with pytest.raises(mm.MMSimError) as caught:
        mm.place(np.zeros(3), Broken())
    assert isinstance(caught.value.__cause__, ValueError)


def test_the_development_mode_shows_all():
    code = (
        "import mmsim as mm, sys; mm.DMM(4, 2).run(sys, threads=8)",
        "import traceback, mmsim as mm\n"
        "try: mm.DMM(4, 2).run(mm, threads=8)\n"
        "except mm.MMSimError as error: print(*error._render_traceback_())",
    )
    for text in code:
        done = subprocess.run(
            [sys.executable, "-X", "dev", "-c", text], capture_output=True, text=True, check=False
        )
        assert "mmsim/api/binding.py" in done.stdout + done.stderr
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
        assert "mmsim/api/binding.py" not in done.stdout + done.stderr
        assert "LaunchError: <module" in done.stdout + done.stderr
