"""Fingerprints of functions and programs: which changes a sweep sees, and which it doesn't."""

import functools
import importlib
import json
import os
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import mmsim as mm
from mmsim.sweeps import SweepError, read
from mmsim.sweeps.fingerprint import fingerprint

HEAD = "import dataclasses, enum, functools, math\nimport numpy as np, mmsim as mm\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Writes modules into a folder and imports the first of them anew."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    written = set()

    def write(**texts):
        for name, text in texts.items():
            path = tmp_path / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(HEAD + text)
            written.add(name.replace("__", "."))
        for name in written | {name.partition(".")[0] for name in written}:
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return importlib.import_module(next(iter(texts)).replace("__", "."))

    yield write
    for name in written:
        sys.modules.pop(name, None)


PROGRAM = """
K = np.int64(4)
@mm.program
def put(T, a):
    x = T.id * K  # a comment
    a[x % a.size] = 1
def go(n):
    return mm.DMM(4, 5).run(put, np.zeros(64), threads=n)
"""


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        # A program: the number, the text, a default, an example.
        (PROGRAM, "np.int64(4)", "np.int32(5)"),
        (PROGRAM, "* K", "+ K"),
        (PROGRAM, "np.int64(4)", "np.float64(4)"),
        (PROGRAM.replace("(T, a)", "(T, a, s=1)"), "s=1", "s=2"),
        (PROGRAM + "@put.example\ndef e(width):\n    return K\n", "return K", "return 2"),
        ("@mm.program\ndef f(x): return 2 * x\ndef go(n): return f\n", "2", "3"),
        # Numbers and texts of a function's module.
        ("N = np.int64(3)\ndef go(n): return N\n", "int64(3)", "int64(4)"),
        ("N = np.float32(3)\ndef go(n): return N\n", "float32", "float64"),
        ("N = 3j\ndef go(n): return N\n", "3j", "4j"),
        ("N = b'x'\ndef go(n): return N\n", "b'x'", "b'y'"),
        ("N = 10**5000\ndef go(n): return N\n", "10**5000", "10**5001"),
        ("N = np.arange(4)\ndef go(n): return N\n", "arange(4)", "ones(4, int)"),
        ("N = np.array(['x', None])\ndef go(n): return N\n", "'x'", "'y'"),
        ("N = np.dtype('i4')\ndef go(n): return N\n", "i4", "i8"),
        ("N = range(3)\ndef go(n): return N\n", "(3)", "(4)"),
        # Containers, machines, objects, classes.
        ("N = [1, (2, {'a': [3]})]\ndef go(n): return N\n", "3", "4"),
        ("N = {1, 'b', (2, 3)}\ndef go(n): return N\n", "3", "4"),
        ("N = {'a': np.int8(1)}\ndef go(n): return N\n", "'a'", "'b'"),
        ("M = mm.DMM(4, 5)\ndef go(n): return M\n", "5", "6"),
        ("M = mm.layout.RAP(4, 5)\ndef go(n): return M\n", "5", "6"),
        ("M = mm.place(np.arange(4), mm.layout.RAW())\ndef go(n): return M\n", "4", "6"),
        ("class C:\n    def f(self): return 2\nc = C()\ndef go(n): return c\n", "2", "3"),
        ("class C:\n    x = 1\n    def f(self): return 2\ndef go(n): return C.x\n", "1", "3"),
        ("class B:\n    x = 1\nclass C(B): pass\ndef go(n): return C.x\n", "1", "3"),
        ("class C:\n    @property\n    def f(self): return 2\ndef go(n): return C()\n", "2", "3"),
        ("class C:\n    @staticmethod\n    def f(): return 2\ndef go(n): return C\n", "2", "3"),
        ("class C:\n    def __init__(self): self.x = 1\nc = C()\ndef go(n): return c\n", "1", "3"),
        ("@dataclasses.dataclass\nclass C:\n    x: int\nc = C(1)\ndef go(n): return c\n", "1", "3"),
        ("class C(enum.Enum):\n    A = 1\n    B = 2\nc = C.A\ndef go(n): return c\n", "C.A", "C.B"),
        ("class C:\n    def go(self, n): return self.x\nc = C()\nc.x = 1\ngo = c.go\n", "1", "2"),
        ("class C:\n    def __call__(self, n): return 1\ngo = C()\n", "1", "2"),
        # Functions: what they call, and how they were made.
        ("def f(): return 1\ndef go(n): return f()\n", "1", "2"),
        ("f = lambda: 1\ndef go(n): return f()\n", "1", "2"),
        ("go, other = lambda n: 1, lambda n: 2\n", "go, other", "other, go"),
        ("OP = np.add\ndef go(n): return OP\n", "add", "multiply"),
        ("OP = math.sin\ndef go(n): return OP\n", "sin", "cos"),
        ("OP = np.zeros\ndef go(n): return OP\n", "zeros", "ones"),
        ("@functools.cache\ndef f(): return 1\ndef go(n): return f()\n", "1", "2"),
        ("def f(n, k): return n\ngo = functools.partial(f, k=1)\n", "1", "2"),
        ("def f(n, k): return n\ng = functools.partial(f, k=1)\ndef go(n): g(n)\n", "1", "2"),
        ("def make(k):\n    return lambda n: k\ngo = make(np.int64(1))\n", "1", "2"),
        ("def go(n, k=np.int64(1)): return k\n", "1", "2"),
        ("def go(n, *, k=[1]): return k\n", "1", "2"),
        ("@mm.program\ndef f(T, a): a[0] = 1\ndef go(n, *, k=f): return k\n", "= 1", "= 2"),
        ("def go(n):\n    def f(): return N\n    return f()\nN = 1\n", "N = 1", "N = 2"),
        (
            "def twice(f):\n    @functools.wraps(f)\n    def g(n): return f(2 * n)\n    return g\n"
            "@twice\ndef go(n): return n\n",
            "2 *", "3 *",
        ),
    ],
)  # fmt: skip
def test_what_changes_in_the_module_is_seen(project, text, old, new):
    assert old in text
    before = fingerprint((project(main=text).go,))
    assert fingerprint((project(main=text).go,)) == before
    assert fingerprint((project(main=text.replace(old, new)).go,)) != before


CONF = "STEP = 4\ndef help(n): return n + STEP\n@mm.program\ndef put(T, a): a[T.id * STEP] = 1\n"


@pytest.mark.parametrize(
    "text",
    [
        "import conf\ndef go(n): return conf.STEP\n",
        "import conf as other\ndef go(n): return other.STEP\n",
        "import conf\n@mm.program\ndef p(T, a): a[T.id * conf.STEP] = 1\ndef go(n): return p\n",
        "from conf import STEP\ndef go(n): return STEP\n",
        "from conf import help\ndef go(n): return help(n)\n",
        "from conf import help\n@mm.program\ndef p(T, a): a[help(1)] = 1\ndef go(n): return p\n",
        "import conf\ndef go(n): return conf.help(n)\n",
        "import conf\ndef go(n): return conf.put\n",
        "from conf import put\nPROGRAMS = {'put': put}\ndef go(n): return PROGRAMS['put']\n",
        "import conf\ngo = functools.partial(conf.help)\n",
        "def go(n):\n    import conf\n    return conf.STEP\n",
        "def go(n):\n    from conf import STEP\n    return STEP\n",
        "def go(n):\n    from conf import put\n    return put\n",
        "def go(n):\n    def f():\n        import conf\n        return conf.STEP\n    return f()\n",
    ],
)
@pytest.mark.parametrize("conf", ["conf", "pack.conf"])
def test_what_changes_in_another_module_is_seen(project, text, conf):
    if conf == "pack.conf":
        text = text.replace("from conf import", "from pack.conf import")
        text = text.replace("import conf\n", "from pack import conf\n")
        text = text.replace("import conf as", "import pack.conf as")
    name = conf.replace(".", "__")
    before = fingerprint((project(main=text, **{name: CONF}).go,))
    assert fingerprint((project(main=text, **{name: CONF}).go,)) == before
    changed = {name: CONF.replace("STEP = 4", "STEP = 5")}
    assert fingerprint((project(main=text, **changed).go,)) != before


def test_a_module_of_the_same_package_is_imported_to_be_looked_at(project):
    text = "def go(n):\n    from . import conf\n    return conf.STEP\n"

    def made(conf):
        return fingerprint((project(pack__main=text, pack__conf=conf).go,))

    assert made(CONF) == made(CONF)
    assert made(CONF) != made(CONF.replace("= 4", "= 5"))


def test_an_import_that_fails_is_left_to_the_cases(project):
    text = "def go(n):\n    import nowhere_to_be_found\n"
    assert fingerprint((project(main=text).go,)) == fingerprint((project(main=text).go,))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# a comment", ""),
        ("    x = T.id * K", "    # above\n\n    x  =  (T.id\n  * K)"),
        ("def put", "\n\n\ndef put"),
        ("(T, a):\n", '(T, a):\n    """Put."""\n'),
        ("go(n):\n", 'go(n):\n    """Go."""\n    # and go\n'),
        ("K = np.int64(4)", "K = 4"),  # a program computes with the same number
        ("K = np.int64(4)", "K = np.int64(4)\nUNUSED = 7"),
        ("K = np.int64(4)", "import os\nK = np.int64(4)"),
    ],
)
def test_what_does_not_change_what_runs_changes_nothing(project, old, new):
    assert old in PROGRAM
    before = fingerprint((project(main=PROGRAM).go,))
    assert fingerprint((project(main=PROGRAM.replace(old, new)).go,)) == before


def test_what_a_program_took_when_it_was_parsed_is_what_counts(project):
    module = project(main=PROGRAM)
    before = fingerprint((module.go,))
    module.K = 9
    assert fingerprint((module.go,)) == before


def test_what_is_captured_by_value_may_be_any_copy_of_it():
    def made(values):
        return fingerprint((lambda n: values,))

    one = (1, 2)
    assert made([one, one]) == made([(1, 2), tuple([1, 2])])


def test_things_that_hold_themselves_have_a_fingerprint():
    held = []
    held.append({"held": held})
    space = types.SimpleNamespace(held=held)
    space.own = space

    def go(n):
        return go, held, space

    before = fingerprint((go,))
    assert fingerprint((go,)) == before
    space.more = 1
    assert fingerprint((go,)) != before


def test_installed_packages_are_not_looked_at(project, monkeypatch):
    """A newer NumPy changes no fingerprint."""
    module = project(main="def go(n): return np.linspace(0, np.pi, n), mm.DMM\n")
    before = fingerprint((module.go,))
    monkeypatch.setattr(np, "linspace", lambda *_: None)
    monkeypatch.setattr(np, "pi", 3)
    assert fingerprint((module.go,)) == before


def test_a_cache_in_an_object_of_functools_is_not_looked_at(project):
    module = project(main="@functools.cache\ndef f(n): return n\ndef go(n): return f(n)\n")
    before = fingerprint((module.go,))
    module.go(4)
    assert fingerprint((module.go,)) == before


SCRIPT = """\
import sys
sys.path.insert(0, sys.argv[1])
import main
from mmsim.sweeps.fingerprint import fingerprint
exec("def typed_in(n): return n in {'a', 'b', 'c', 'd', 'e'}")
print(fingerprint((main.go,)), fingerprint((typed_in,)))
"""


def test_every_process_finds_the_same(project, tmp_path):
    """The order of a set of texts differs from one process to the next."""
    text = "SET = {'a', 'b', 'c', (1, 2), 3.5, None, len}\nclass C:\n    x = SET\n"
    text += PROGRAM.replace("put, np", "put, SET, C, np")
    here = fingerprint((project(main=text).go,))
    typed_in = set()
    for seed in ("1", "2", "3"):
        found, typed = subprocess.run(
            [sys.executable, "-c", SCRIPT, tmp_path],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        assert found == here
        typed_in.add(typed)
    assert len(typed_in) == 1


@mm.program
def kept(T, a, s=2):
    x = mm.registers(2)
    for i in range(T.count):
        x[0] = a[T.id * s + i] if i > 1 and T.id < 3 else -1.5
    a[T.id] = x[0]


def kept_function(n, *, k=(1, "a", None, 0.5)):
    """The text of this function is kept below."""
    return [f"{x!r:>{n}}{k}" for x in range(n) if x] or (lambda y: n @ y)


def test_fingerprints_stay_the_same_from_one_python_to_the_next():
    """A change of these is a change of every row that anyone has kept: a line for the changelog."""
    assert (fingerprint((kept,)), fingerprint((kept_function,))) == (
        "p8feca6ad30b22204",
        "p1ff52a9167c34025",
    )


def test_rows_of_an_earlier_version_are_taken_for_those_of_a_changed_program(project, tmp_path):
    rows = tmp_path / "rows.jsonl"
    module = project(main=PROGRAM)
    mm.sweep(module.go, {"n": [16]}, rows, jobs=1)
    (row,) = read(rows)
    rows.write_text(json.dumps({**row, "source": "s0123456789abcdef", "time": 1}) + "\n")
    with pytest.raises(SweepError, match="made by an earlier version of mmsim, which compared"):
        mm.sweep(module.go, {"n": [16]}, rows, jobs=1)
    (again,) = mm.sweep(module.go, {"n": [16]}, rows, jobs=1, retry_changed=True)
    assert (again["time"], again["source"]) == (row["time"], row["source"])


def test_the_example_of_a_program_of_the_command_line_is_looked_at(tmp_path, capsys):
    from mmsim.cli import main

    path, out = tmp_path / "mine.py", str(tmp_path / "rows.jsonl")
    text = HEAD + PROGRAM + (
        "@put.example\ndef example(width, size=8, seed=0):\n"
        "    from mmsim.frontend.program import Example\n"
        "    return Example(np.zeros(64), threads=size)\n"
    )  # fmt: skip
    path.write_text(text)
    assert main(["sweep", f"{path}:put", "--out", out, "--jobs", "1"]) == 0
    path.write_text(text.replace("threads=size", "threads=2 * size"))
    sys.modules.pop("mine", None)
    assert main(["sweep", f"{path}:put", "--out", out, "--jobs", "1"]) == 2
    assert "had another text" in capsys.readouterr().err


def test_all_programs_of_the_papers_have_fingerprints_of_their_own():
    from mmsim_algorithms import programs

    found = {fingerprint((program,)) for program in programs()}
    assert len(found) == len(programs())


def test_a_function_of_a_library_can_be_swept_itself():
    assert fingerprint((functools.reduce,)) != fingerprint((functools.partial(max, 1),))
    assert fingerprint((Path.exists,)) != fingerprint((Path.is_dir,))
