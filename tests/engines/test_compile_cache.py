"""The files that fused programs leave on the disk: kept for the next time, and never in the way."""

import hashlib
import os
import pickle
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import mmsim as mm
from mmsim.engines.array import lazy_compilation
from mmsim.engines.array.fused import build, execute, tiering
from mmsim.host import cached_files, compiler
from tests.kit.runs.paths import launched, run_along

RUN_DOUBLE = "from test_compile_cache import doubled; assert doubled()"


@mm.program
def double(T, a):
    a[T.id] = a[T.id] * 2


@mm.program
def triple(T, a):
    a[T.id] = a[T.id] * 3


def doubled():
    """Return whether the compiled program does what it should, in a process that hasn't met it."""
    execute._ready.clear()
    run = run_along("fused", double, np.arange(8), threads=8)
    return run.arrays["a"].tolist() == list(range(0, 16, 2)) and run.time == 2 * (1 + 1 + 4)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A cache that holds one compiled program."""
    directory = tmp_path_factory.mktemp("filled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MMSIM_CACHE_DIR", str(directory))
        assert doubled()
    return directory


@pytest.fixture
def cache(filled, tmp_path, monkeypatch):
    """A copy of `filled`, in use."""
    directory = tmp_path / "cache"
    shutil.copytree(filled, directory)
    monkeypatch.setenv("MMSIM_CACHE_DIR", str(directory))
    return directory


def kept_files(cache):
    return sorted(cache.glob("numba-*/*.code"))


def test_a_compiled_program_is_kept(cache):
    kernel = execute.Execution(launched(double, np.arange(8), threads=8), None).text.kernel
    assert build.is_kept(kernel)
    before = [file.stat().st_mtime_ns for file in kept_files(cache)]
    assert before
    assert doubled()
    assert [file.stat().st_mtime_ns for file in kept_files(cache)] == before


RUIN = {
    "empty": lambda data: b"",
    "cut short": lambda data: data[: len(data) // 2],
    "noise": lambda data: random.Random(1).randbytes(len(data)),
    "one bit changed": lambda data: data[:5000] + bytes([data[5000] ^ 1]) + data[5001:],
}


@pytest.mark.parametrize("how", RUIN)
def test_what_was_kept_and_is_ruined_does_no_harm(cache, how):
    ruined = {file: RUIN[how](file.read_bytes()) for file in kept_files(cache)}
    for file, data in ruined.items():
        file.write_bytes(data)
    assert doubled()
    kept = [file for file in ruined if file.name.startswith("program_")]
    assert kept
    assert not any(file.read_bytes() == ruined[file] for file in kept)


def test_what_another_build_of_numba_kept_does_no_harm(cache):
    body = pickle.dumps(("not", "what", "Numba", "keeps"))
    for file in kept_files(cache):
        file.write_bytes(hashlib.sha256(body).digest() + body)
    assert doubled()


class Plant:
    """A pickle that makes a file where it is read."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return open, (str(self.mark), "w")


ALLOWING = {
    "the folder": lambda cache: next(cache.glob("numba-*")),
    "the folder around it": lambda cache: cache,
    "the files": None,
}


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such modes")
@pytest.mark.parametrize("which", [None, *ALLOWING])
def test_nothing_is_executed_that_another_user_can_have_written(
    cache, tmp_path, monkeypatch, which
):
    mark = tmp_path / "ran"
    body = pickle.dumps(Plant(mark))
    files = kept_files(cache)
    for file in files:
        file.write_bytes(hashlib.sha256(body).digest() + body)
    compiler._warn.cache_clear()
    if which is None:  # what the user's own folder holds is executed, as guarantees.md says
        assert doubled()
        assert mark.exists()
        return
    find = ALLOWING[which]
    for path in files if find is None else [find(cache)]:
        path.chmod(0o777 if path.is_dir() else 0o666)
    with pytest.warns(RuntimeWarning, match=f"no machine code from {cache}.*MMSIM_CACHE_DIR") as at:
        assert doubled()
    assert not mark.exists()
    assert "other users can write to" in str(at[0].message)
    if find is None:  # compiled again, and kept
        assert not any(file.stat().st_mode & 0o022 for file in files if "program_" in file.name)
    else:  # said once, and left alone
        assert len(at) == 1
        assert [file.read_bytes()[32:] for file in files] == [body] * len(files)
        kernel = execute.Execution(launched(double, np.arange(8), threads=8), None).text.kernel
        assert not build.is_kept(kernel)


@pytest.mark.parametrize("where", ["file", "file/below", "folder"])
def test_without_a_place_to_keep_programs_they_run_all_the_same(where, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    for version in (f"numba-{numba.__version__}", "__pycache__"):
        (tmp_path / "folder" / version).touch()
    monkeypatch.setenv("MMSIM_CACHE_DIR", str(tmp_path / where))
    assert doubled()


def test_two_processes_compile_one_program_together(tmp_path):
    environment = {
        **os.environ,
        "MMSIM_CACHE_DIR": str(tmp_path),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    both = [subprocess.Popen([sys.executable, "-c", RUN_DOUBLE], env=environment) for _ in range(2)]
    assert [process.wait(timeout=100) for process in both] == [0, 0]
    assert {file.suffix for file in tmp_path.rglob("*") if file.is_file()} == {".code"}


# ------------------------------------------------------------- processes that can keep nothing

LARGE = """
import sys
from pathlib import Path
import numpy as np
import mmsim as mm
from mmsim_algorithms.colouring import colour
from mmsim.engines.array.asynchronous_time import asynchronous_time
from mmsim.model.threads import Grid
from tests.kit.runs.programs import transpose

{before}
a = np.arange(2**14).reshape(128, 128)
machine = mm.DMM(32, 5)
run = machine.run(transpose, a, np.zeros_like(a), threads=a.size)
assert run.time == 2**14 // 32 * 33 + 2 * 4, run.time
assert np.array_equal(run.arrays["b"], a.T)
edges = np.arange(64) % 8
assert sorted(colour(edges, np.arange(64) // 8, 8)) == sorted(list(range(8)) * 8)
operations, start = np.full(2000, 2, np.int32), np.array([0, 2000])
assert asynchronous_time(mm.DMM(4, 3), Grid(4, 4, 4), operations, start, compile=True) == 6000
print("right")
"""


SMALL = """
from mmsim.engines.array.fused import runtime

{before}
assert runtime.floor_divide(-7, 2) == -4
print("right")
"""


def run_alone(environment, text=SMALL, before=""):
    """Run what Numba compiles in a process with nothing but such an environment."""
    usual = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    for name in ("HOME", "XDG_CACHE_HOME", "MMSIM_CACHE_DIR"):
        usual.pop(name, None)
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-c", text.format(before=before)],
        env=usual | {"PYTHONPATH": path} | environment,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "right\n", "")


@pytest.mark.long
def test_one_directory_keeps_all_that_numba_compiles(tmp_path):
    home = tmp_path / "home"
    eager = "from mmsim.engines.array import lazy_compilation\nlazy_compilation.eager = True"
    run_alone({"HOME": str(home), "MMSIM_CACHE_DIR": str(tmp_path / "kept")}, LARGE, eager)
    kept = {file.name.split(".")[0] for file in kept_files(tmp_path / "kept")}
    assert kept == {"counting", "euler", "turns_compiled"}
    assert not home.exists()


def test_a_function_is_compiled_once_it_has_done_enough(monkeypatch, tmp_path):
    monkeypatch.setenv("MMSIM_CACHE_DIR", str(tmp_path))
    function = lazy_compilation.LazilyCompiled("some.function", enough=100)
    assert not function.pays(60)
    assert not function.pays(40)
    assert function.pays(1)
    assert function.pays(1)  # from then on


def test_a_function_that_is_kept_is_taken_immediately(monkeypatch, tmp_path):
    monkeypatch.setenv("MMSIM_CACHE_DIR", str(tmp_path))
    folder = tmp_path / f"numba-{numba.__version__}"
    folder.mkdir()
    (folder / "some.function.1.code").touch()
    assert lazy_compilation.LazilyCompiled("some.function", enough=100).pays(1)
    assert not lazy_compilation.LazilyCompiled("another.function", enough=100).pays(1)
    monkeypatch.setattr(lazy_compilation, "eager", True)
    assert lazy_compilation.LazilyCompiled("another.function", enough=100).pays(1)


def test_the_librarys_own_code_that_is_ruined_does_no_harm(tmp_path):
    environment = {"MMSIM_CACHE_DIR": str(tmp_path)}
    run_alone(environment)
    (file,) = kept_files(tmp_path)
    ruined = RUIN["cut short"](file.read_bytes())
    file.write_bytes(ruined)
    run_alone(environment)
    assert file.read_bytes() != ruined


def test_without_a_compiler_the_results_are_the_same(tmp_path):
    run_alone({"NUMBA_DISABLE_JIT": "1", "MMSIM_CACHE_DIR": str(tmp_path)}, LARGE)
    assert not list(tmp_path.iterdir())


UNKNOWN = "import os; os.environ.pop('HOME', None); os.getuid = lambda: 54321\n"


@pytest.mark.parametrize(
    ("environment", "before"),
    [({"HOME": "/dev/null"}, ""), ({}, UNKNOWN), ({"MMSIM_CACHE_DIR": "/dev/null"}, "")],
    ids=["no home", "unknown user", "a file"],
)
def test_what_cannot_be_kept_is_compiled_all_the_same(environment, before):
    run_alone(environment, before=before)


FULL = """
import os, errno
def full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")
os.replace = full
"""


def test_a_disk_that_becomes_full_does_no_harm(tmp_path):
    run_alone({"MMSIM_CACHE_DIR": str(tmp_path)}, before=FULL)
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


@pytest.mark.parametrize(
    ("environment", "directory"),
    [
        ({"MMSIM_CACHE_DIR": "/given", "HOME": "/home/me"}, "/given"),
        ({"XDG_CACHE_HOME": "/caches", "HOME": "/home/me"}, "/caches/mmsim"),
        ({"XDG_CACHE_HOME": "", "HOME": "/home/me"}, "/home/me/.cache/mmsim"),
    ],
)
@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="they have other places")
def test_the_directory_is_the_one_named_or_the_users(environment, directory, monkeypatch):
    for name in ("MMSIM_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert cached_files.cache_directory() == Path(directory)


def test_a_user_without_a_home_has_no_directory(monkeypatch):
    def unknown():
        raise RuntimeError("Could not determine home directory.")

    for name in ("MMSIM_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", unknown)
    assert cached_files.cache_directory() is None


# -------------------------------------------------------------------------- texts of kernels


def kernel_of(program, *args, **how):
    return execute.Execution(launched(program, *args, **how), None).text.kernel


def test_other_widths_programs_and_types_have_other_kernels():
    a = np.arange(8)
    texts = [
        kernel_of(double, a, threads=8),
        kernel_of(double, a, threads=8, machine=mm.DMM(2, 5)),
        kernel_of(double, a, threads=8, machine=mm.UMM(4, 5)),
        kernel_of(double, a, threads=7),
        kernel_of(double, a.astype(float), threads=8),
        kernel_of(double, a.astype("float32"), threads=8),
        kernel_of(triple, a, threads=8),
    ]
    assert len(set(texts)) == len(texts)
    assert kernel_of(double, np.arange(16), threads=16) == texts[0]


def test_a_kernel_is_not_kept_for_other_functions_that_it_calls(cache, monkeypatch):
    kernel = kernel_of(double, np.arange(8), threads=8)
    assert build.is_kept(kernel)
    build._called.cache_clear()
    monkeypatch.setattr(build.inspect, "getsource", lambda module: f"another {module.__name__}")
    assert not build.is_kept(kernel)
    monkeypatch.undo()
    build._called.cache_clear()


def test_a_text_that_numba_refuses_is_interpreted(cache, monkeypatch):
    def refused(*_):
        raise ValueError("no such type")

    monkeypatch.setattr(tiering.Tiering, "at_once", lambda self: True)
    monkeypatch.setattr(execute, "_ready", {})
    monkeypatch.setattr(execute, "_hopeless", set())
    monkeypatch.setattr(build, "compiled", lambda *_: refused)
    a = np.arange(8192)
    for _ in range(2):  # the second time it isn't tried
        run = mm.DMM(32, 5).run(double, a, threads=a.size)
        assert np.array_equal(run.arrays["a"], 2 * a)
    assert len(execute._hopeless) == 1
    execute._hopeless.clear()
    with pytest.raises(execute.NotCompiled, match="no such type"):
        run_along("fused", double, a, threads=a.size)
