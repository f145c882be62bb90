"""Nothing that a file holds is ever executed, and a program reaches nothing but its arrays.

The one exception is the point of it: `mmsim run FILE.py:NAME` imports that file, as Python would.
What mmsim itself executes is text that it wrote from a program's representation, so that no name,
string or comment of a program can get into it. Numba keeps what it compiled of that in the user's
own cache directory, in a form that is executed when it is read again; where another user can write
there, it is not (`tests/host/test_owned.py`).
"""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import mmsim as mm
import mmsim_algorithms
from mmsim.engines.array.fused.execute import Execution
from mmsim.errors import ProgramError
from mmsim.host.progress import Progress
from tests.kit.fuzzing.surroundings import FILE, TOUCHED, contents, define
from tests.kit.runs.paths import launched, run_along

PACKAGES = [Path(package.__file__).resolve().parent for package in (mm, mmsim_algorithms)]
EXECUTORS = {"exec", "eval", "compile", "__import__", "execfile", "input"}
UNSAFE = {"pickle", "cPickle", "dill", "marshal", "shelve", "yaml", "joblib", "code", "codeop"}
METHODS = {"exec_module", "import_module", "run_path", "run_module", "popen"}

ALLOWED = {
    # The text of a fused program and of its skeleton, written from the representation.
    ("mmsim/engines/array/fused/build.py", "exec"),
    ("mmsim/engines/array/fused/build.py", "compile"),
    ("mmsim/engines/array/fused/skeleton.py", "exec"),
    ("mmsim/engines/array/fused/skeleton.py", "compile"),
    ("mmsim/engines/array/fused/writer.py", "compile"),
    # How long Python takes for that text, to know how long Numba will; executes nothing.
    ("mmsim/engines/array/fused/tiering.py", "compile"),
    # Machine code in the user's own cache directory, where no one else can write (docs/fuzzing.md).
    ("mmsim/host/compiler.py", "pickle"),
    # Compiles the file that holds a function, to see if it still says what runs; executes nothing.
    ("mmsim/frontend/python/bytecode.py", "compile"),
    # Modules of the package itself, and CuPy, by names that stand in the text.
    ("mmsim/names.py", "__import__"),
    ("mmsim/names.py", "import_module"),
    ("algorithms/__init__.py", "import_module"),
    ("mmsim/gpu/replay.py", "import_module"),
    ("mmsim/cli/commands.py", "import_module"),
    # The module that the user names in `mmsim run MODULE:NAME` or `mmsim run FILE.py:NAME`.
    ("mmsim/cli/loading.py", "exec_module"),
    ("mmsim/cli/loading.py", "import_module"),
    # cloudpickle, and the module of a function that came along by name, inside a pickle that the
    # user's own code has read.
    ("mmsim/frontend/packed.py", "import_module"),
    # The script or module that the user names in `mmsim cuda`.
    ("mmsim/cuda/replacing.py", "run_module"),
    ("mmsim/cuda/replacing.py", "run_path"),
    # What the script itself executes, so that the text of a kernel in it is found. And the text of
    # a lambda, to compare it with one; this executes nothing.
    ("mmsim/cuda/source_text.py", "compile"),
    ("mmsim/cuda/source_text.py", "exec"),
    # A loop of one lane as Python's code: numbers and names of its own, never a program's text.
    ("mmsim/meaning/alone.py", "compile"),
    ("mmsim/meaning/alone.py", "exec"),
    # The modules that a sweep's function imports itself when it runs, to see if they changed.
    ("mmsim/sweeps/functions.py", "import_module"),
    # A sweep's workers: what travels to them is made and read by joblib, large arrays by way of
    # files in a folder that joblib makes for this user alone.
    ("mmsim/sweeps/workers.py", "joblib"),
    ("mmsim/sweeps/workers.py", "joblib.externals.loky.process_executor"),
    ("mmsim/sweeps/workers.py", "joblib.parallel"),
    # Predictions of a set of kernels in several processes, in the same way.
    ("algorithms/gpu/fourth/predicting.py", "joblib"),
}


def files():
    for package in PACKAGES:
        for path in sorted(package.rglob("*.py")):
            yield str(path.relative_to(package.parent)), ast.parse(path.read_text(encoding="utf-8"))


def executed(tree):
    """The names that a file calls or imports and that could execute what it is given."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = node.module if isinstance(node, ast.ImportFrom) else None
            for name in [module] if module else [alias.name for alias in node.names]:
                if name.split(".")[0] in UNSAFE:
                    yield name
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in EXECUTORS:
                yield node.func.id
        elif isinstance(node, ast.Attribute) and (
            node.attr in METHODS or ast.unparse(node) == "os.system"
        ):
            yield node.attr


def test_only_what_is_explained_executes_anything():
    assert {(file, name) for file, tree in files() for name in executed(tree)} == ALLOWED


def test_arrays_are_loaded_without_pickles():
    for file, tree in files():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("np.load"):
                given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
                assert given.get("allow_pickle", "False") == "False", file


def test_a_search_for_executors_finds_them():
    text = "import pickle.x\nfrom marshal import y\nexec(1)\na.exec_module(b)\n__import__('os')\n"
    assert sorted(executed(ast.parse(text))) == [
        "__import__", "exec", "exec_module", "marshal", "pickle.x",
    ]  # fmt: skip


def test_an_array_that_is_a_pickle_is_refused(tmp_path):
    from mmsim.cli.loading import CommandError
    from mmsim.cli.values import parse_argument

    mark = tmp_path / "ran"

    class Opens:
        def __reduce__(self):
            return open, (str(mark), "w")

    file = tmp_path / "objects.npy"
    np.save(file, np.array([Opens()], dtype=object), allow_pickle=True)
    with pytest.raises(CommandError, match="no array of numbers"):
        parse_argument(str(file), np.random.RandomState(0))
    assert not mark.exists()


# ------------------------------------------------------------ the texts that are executed

STRANGE = '''\
def plus(x, y):  # """ \\
    "a docstring \\n    import os \\r\\n os.system('false') */ \\\\"
    return x + y  # '); __import__("os") \\
def f(T, größe, np, lane, self, marks_x, kernel, n):
    """*/ import os\\r int injected;
    import os
    """
    "\\n__import__('os')\\n"
    os, runtime, data_np = T.id, 2, T.lane  # \\ \\
    for limit in range(n):  # ??/
        größe[os] = plus(np[lane[os]], runtime) + data_np  # \\
    marks_x[os] = self[os] + kernel[os]
'''


def strange(name="plus"):
    function = define(STRANGE, {})
    function.__globals__["plus"].__name__ = name
    return mm.program(function)


def arguments():
    return [np.arange(8) for _ in range(6)]


@pytest.mark.parametrize("name", ["plus", "plus\nimport os\n", "x); import os; (", "plus[3]"])
def test_the_fused_text_is_made_of_its_own_names(name):
    """No name of a program stands in it without a prefix, and no string or comment at all."""
    launch = launched(strange(name), *arguments(), 3, threads=8)
    execution = Execution(launch, Progress("f"))
    kernel = ast.parse(execution.text.kernel)
    skeleton = ast.parse(execution.text.skeleton)
    own = re.compile(r"(same|own|data|size|extent|number|offsets|marks|first|trips|mask)_\w+|\w+")
    for tree in (kernel, skeleton):
        assert [type(node) for node in tree.body] == [ast.FunctionDef]
        kinds = {type(node) for node in ast.walk(tree)}
        assert not kinds & {ast.Import, ast.ImportFrom, ast.Lambda, ast.ClassDef, ast.JoinedStr}
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert all(own.fullmatch(one) for one in names)
        assert not names & {"os", "runtime", "größe", "self", "kernel", "__import__", "plus"}
        texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
        assert not any(isinstance(value, str) for value in texts)
    assert "import" not in execution.text.kernel + execution.text.skeleton


def test_strange_names_compute_what_they_should():
    expected = mm.DMM(4, 5).run(strange(), *arguments(), 3, threads=8, engine="events").arrays
    for name in ("plus", "plus\nimport os\n"):
        fused = run_along("plain", strange(name), *arguments(), 3, threads=8).arrays
        assert all((fused[one] == expected[one]).all() for one in expected)


@pytest.mark.parametrize("name", ["f", "f\nint injected;", "f(){} void g", "f[3]", "f\r*/\\"])
def test_no_text_of_a_program_gets_into_its_cuda(name):
    """Without its comments, the kernel is the same whatever they and the names say."""
    function = define(STRANGE, {})
    function.__name__ = name
    text = mm.program(function).cuda(*arguments(), 3, threads=8)
    assert not re.search(r"[\r\f\v\u2028]", text)
    lines = text.split("\n")
    assert not any(re.search(r"(\\|\?\?/)\s*$", line) for line in lines)
    code = [line.partition("//")[0] for line in lines]
    assert not any("injected" in line or "import" in line or "\\" in line for line in code
                   if "void" not in line)  # fmt: skip
    signature = next(line for line in code if "__global__" in line)
    assert re.fullmatch(r'extern "C" __global__ void [A-Za-z_]\w*\(', signature.strip())


# ------------------------------------------------------------ what a program can't reach

REACHING = [
    *("print(1)", "x = open('file')", "x = input()", "exec('x = 1')", "x = eval('1')"),
    *("x = compile('1', '', 'eval')", "x = __import__('os')", "import os"),
    *("from os import system", "x = globals()", "x = vars(a)", "x = getattr(a, 'data')"),
    *("setattr(a, 'data', 1)", "x = a.data", "x = a.__class__", "x = a.__array_interface__"),
    *("x = T.__class__.__mro__", "x = T.machine", "x = f.__globals__", "x = mm.__dict__"),
    *("x = math.__loader__", "x = __builtins__", "x = __name__", "TABLE[0] = 1", "x = 1 + TABLE"),
    *("x = TRAP[0]", "for x in TRAP:\n    pass", "x = len(TRAP)", "x = 1 in TRAP", "x, y = TRAP"),
    *("x = TRAP.value", "WORDS[0] = 1", "WORDS.append(1)", "LISTED['a'] = 1", "x = LISTED"),
    *("TABLE.fill(0)", "np.save('file', a)", "x = np.load('file')", "mm.WORDS = 1", "WORDS.x = 1"),
    *("TRAP()", "a[T.id] = TRAP", "s = TRAP(4)", "TRAP[0] = 1", "x = TRAP + 1"),
    *("x = TRAP.function(1)", "global TABLE\nTABLE = 1", "a.sort()", "a[0] = TABLE"),
    *("x = [].__class__", "x = (lambda: 0).__globals__", "x = f'{a}'", "del TABLE"),
    *("with open('file') as x:\n    pass", "x = (y := TABLE)", "x: print(1) = TRAP"),
]


@pytest.mark.parametrize("body", REACHING)
def test_what_lies_outside_is_refused_with_its_line(body):
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    function = define(f"def f(T, a):\n{lines}", {})
    before = contents(function.__globals__)
    TOUCHED.clear()
    with pytest.raises(mm.LanguageError) as caught:
        mm.program(function)
    place = caught.value.place
    if place.file == FILE:  # np.load is a function written in Python: its own line is shown
        assert place.line >= 2
        assert place.text in lines.split("\n")
    else:
        assert "np.load" in body
    assert contents(function.__globals__) == before
    assert not TOUCHED


def test_a_name_outside_that_is_assigned_is_the_programs_own():
    function = define("def f(T, a):\n    TABLE += 1\n    a[0] = TABLE\n", {})
    before = contents(function.__globals__)
    with pytest.raises(ProgramError, match="the variable 'TABLE' is read before"):
        mm.DMM(4, 2).run(mm.program(function), np.zeros(4), threads=4)
    assert contents(function.__globals__) == before


@pytest.mark.parametrize("value", ["[]", "{}", "None", "'text'", "print", "mm", "TABLE"])
def test_a_default_that_is_no_number_is_refused(value):
    source = f"def f(T, a, x={value}):\n    a[0] = x\n"
    function = define(source, {})
    function.__defaults__ = (eval(value, dict(function.__globals__)),)
    with pytest.raises(mm.LanguageError, match="the default of 'x' is not a number"):
        mm.program(function)


def test_what_a_closure_holds_is_refused_unless_it_is_a_number():
    def make(held):
        def f(T, a):
            a[T.id] = held

        return f

    assert mm.program(make(3)).name == "f"
    for held in ([1], {}, np.zeros(3), print, "text", object()):
        with pytest.raises(mm.LanguageError, match="from outside the program") as caught:
            mm.program(make(held))
        assert "a[T.id] = held" in str(caught.value)


def test_a_module_that_makes_its_names_is_not_asked_for_them():
    import types

    asked = []
    module = types.ModuleType("lazy")
    module.__getattr__ = lambda name: asked.append(name) or 1
    function = define("def f(T, a):\n    a[0] = math.x\n", {})
    function.__globals__["math"] = module
    with pytest.raises(mm.LanguageError, match=r"'math.x' means nothing"):
        mm.program(function)
    assert not asked


def test_an_object_with_a_function_is_none():
    class Holder:
        def __init__(self, function):
            self.function = function

    function = define("def g(x):\n    return x\ndef f(T, a):\n    a[0] = math(1)\n", {})
    function.__globals__["math"] = Holder(function.__globals__["g"])
    with pytest.raises(mm.LanguageError, match="the call of 'math' isn't in the language"):
        mm.program(function)
