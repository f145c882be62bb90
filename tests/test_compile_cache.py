"""What fused programs leave on the disk: kept for the next time, and never in the way."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys

import numpy as np
import pytest

import mmsim as mm
from mmsim.engines.fused import build, execute
from roads import launched, run_along

RUN_DOUBLE = "from test_compile_cache import doubled; assert doubled()"


@mm.program
def double(T, a):
    a[T.id] = a[T.id] * 2


@mm.program
def triple(T, a):
    a[T.id] = a[T.id] * 3


def doubled():
    """Whether the compiled program does what it should, in a process that hasn't met it."""
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


def kept_files(cache, ending):
    return sorted((cache / "__pycache__").glob(f"*.{ending}"))


def test_a_compiled_program_is_kept(cache):
    kernel = execute.Execution(launched(double, np.arange(8), threads=8), None).text.kernel
    assert build.is_kept(kernel)
    before = [file.stat().st_mtime_ns for file in kept_files(cache, "nb?")]
    assert len(before) == 2
    assert doubled()
    assert [file.stat().st_mtime_ns for file in kept_files(cache, "nb?")] == before


RUIN = {
    "empty": lambda data: b"",
    "cut short": lambda data: data[: len(data) // 2],
    "noise": lambda data: random.Random(1).randbytes(len(data)),
}


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("how", RUIN)
def test_what_was_kept_and_is_ruined_does_no_harm(cache, ending, how):
    ruined = {file: RUIN[how](file.read_bytes()) for file in kept_files(cache, ending)}
    for file, data in ruined.items():
        file.write_bytes(data)
    assert doubled()
    assert not any(file.exists() and file.read_bytes() == data for file, data in ruined.items())


def test_the_text_that_runs_is_never_what_a_file_says(cache):
    (file,) = cache.glob("program_*.py")
    file.write_text(file.read_text().replace("* 2", "* 5"))
    assert doubled()


@pytest.mark.parametrize("where", ["file", "file/below", "folder"])
def test_without_a_place_to_keep_programs_they_run_all_the_same(where, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "__pycache__").touch()
    monkeypatch.setenv("MMSIM_CACHE_DIR", str(tmp_path / where))
    monkeypatch.setenv("HOME", "/dev/null")
    assert doubled()


def test_two_processes_compile_one_program_at_once(tmp_path):
    environment = {
        **os.environ,
        "MMSIM_CACHE_DIR": str(tmp_path),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    both = [subprocess.Popen([sys.executable, "-c", RUN_DOUBLE], env=environment) for _ in range(2)]
    assert [process.wait(timeout=100) for process in both] == [0, 0]
    assert [file.suffix for file in tmp_path.iterdir() if file.is_file()] == [".py"]


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

    monkeypatch.setattr(execute, "LEAST_GAIN", 0)
    monkeypatch.setattr(execute, "_ready", {})
    monkeypatch.setattr(execute, "_hopeless", set())
    monkeypatch.setattr(build, "_compiled", lambda *_: refused)
    a = np.arange(8192)
    for _ in range(2):  # the second time it isn't tried
        run = mm.DMM(32, 5).run(double, a, threads=a.size)
        assert np.array_equal(run.arrays["a"], 2 * a)
    assert len(execute._hopeless) == 1
    execute._hopeless.clear()
    with pytest.raises(execute.NotCompiled, match="no such type"):
        run_along("fused", double, a, threads=a.size)
