"""Programs travel to other processes as the code that was parsed."""

import copy
import os
import pickle
import subprocess
import sys
import threading
from functools import partial

import cloudpickle
import numpy as np
import pytest

import mmsim as mm
from mmsim.frontend.program import Example
from mmsim.sweeps.fingerprint import fingerprint

STEP = np.int64(2)


def plus(x, y):
    return x + y


@mm.program
def third(x):
    return 3 * x


@mm.program
def put(T, a):
    a[T.id] = plus(T.id, STEP)


@put.example
def example(width, size=4, seed=0):
    return Example(np.zeros(size + width), threads=size)


def made(factor, helper, data):
    """A program of a function: what it takes from there, and an example that holds an array."""

    @mm.program
    def nested(T, a):
        a[T.id] = helper(T.id * factor, STEP)

    @nested.example
    def prepare(width):
        return Example(data, threads=len(data))

    return nested


def results(program, *arrays):
    run = mm.DMM(4, 5).run(program, *(arrays or (np.zeros(8, int),)), threads=8)
    return run.time, {name: array.tolist() for name, array in run.arrays.items()}


def again(program):
    return pickle.loads(pickle.dumps(program))


def without_cloudpickle(monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("dumps", [pickle.dumps, cloudpickle.dumps])
def test_a_program_comes_back_as_it_went(protocol, dumps):
    for program in (put, made(3, plus, np.arange(4))):
        got = pickle.loads(dumps(program, protocol=protocol))
        assert got.code == program.code
        assert (got.name, got.__module__, got.__doc__) == (program.name, __name__, None)
        assert repr(got) == repr(program)
        assert results(got) == results(program)
        assert results(again(got)) == results(program)


def test_what_was_parsed_is_what_runs(monkeypatch):
    """Whatever the module has meanwhile."""
    sent = pickle.dumps(put)
    before = results(put)
    monkeypatch.setattr(sys.modules[__name__], "STEP", 100)
    monkeypatch.delattr(sys.modules[__name__], "put")
    assert results(pickle.loads(sent)) == before


def test_another_program_can_call_one_that_came_along():
    for inner in (again(put), again(made(3, plus, None)), again(again(put))):

        @mm.program
        def outer(T, a):
            inner(T, a)  # noqa: B023  it is parsed here
            a[T.id] += 1

        expected = [value + 1 for value in results(inner)[1]["a"]]
        assert results(outer)[1]["a"] == expected


def test_a_decorated_helper_comes_along():
    for helper in (again(third), again(again(third))):

        @mm.program
        def outer(T, a):
            a[T.id] = helper(T.id)  # noqa: B023  it is parsed here

        assert helper.is_helper
        assert results(outer)[1]["a"] == [0, 3, 6, 9, 12, 15, 18, 21]


def test_its_example_comes_along():
    assert again(put).prepare(4, size=6).threads == 6
    got = again(made(3, plus, np.arange(5)))
    assert got.has_example
    assert got.prepare(4).arguments[0].tolist() == [0, 1, 2, 3, 4]


def test_an_example_may_name_its_own_program():
    @mm.program
    def read(T, a):
        a[T.id]

    @read.example
    def prepare(width):
        return Example(np.zeros(len(read.name)), threads=4)

    assert again(read).prepare(4).arguments[0].size == 4


def test_an_example_that_cannot_travel_is_reported_when_it_is_asked_for():
    lock = threading.Lock()

    @mm.program
    def read(T, a):
        a[T.id]

    @read.example
    def prepare(width):
        return lock

    got = again(read)
    assert results(got) == results(read)
    with pytest.raises(mm.MMSimError, match=r"the example of the program 'read' was not sent"):
        got.prepare(4)


def test_without_cloudpickle_functions_travel_by_name(monkeypatch):
    without_cloudpickle(monkeypatch)
    got = again(put)
    assert results(got) == results(put)
    assert got.function is put.function
    assert got.prepare(4, size=6).threads == 6


def test_without_cloudpickle_and_a_name_it_says_what_to_do(monkeypatch):
    without_cloudpickle(monkeypatch)
    got = again(made(3, plus, np.arange(4)))
    assert results(got) == results(made(3, plus, None))
    advice = (
        r"of the program 'nested' was not sent along from another process \(cloudpickle is not "
        r"installed\); define it at the top level of a module that both processes import, or "
        "install cloudpickle in both"
    )
    with pytest.raises(mm.MMSimError, match="the example " + advice):
        got.prepare(4)
    with pytest.raises(mm.MMSimError, match="the function " + advice):
        _ = got.function


def test_a_name_that_is_gone_is_reported(monkeypatch):
    without_cloudpickle(monkeypatch)
    sent = pickle.dumps(put)
    monkeypatch.delattr(sys.modules[__name__], "example")
    monkeypatch.delattr(sys.modules[__name__], "put")
    with pytest.raises(
        mm.MMSimError, match=r"the example .* \(AttributeError: .*has no attribute 'example'"
    ):
        pickle.loads(sent).prepare(4)


def test_by_value_where_cloudpickle_is_missing_is_reported(monkeypatch):
    sent = pickle.dumps(put)
    without_cloudpickle(monkeypatch)
    with pytest.raises(mm.MMSimError, match=r"the function .* was not sent along .*cloudpickle"):
        _ = pickle.loads(sent).function


def test_a_copy_is_the_program_itself():
    assert copy.copy(put) is put
    assert copy.deepcopy([put])[0] is put


def test_the_deepest_program_can_be_pickled(tmp_path, monkeypatch):
    lines = ["import mmsim as mm", "@mm.program", "def deep(T, a):"]
    lines += [f"{' ' * (level + 1)}if a[T.id] > {level}:" for level in range(90)]
    lines += [" " * 91 + "a[T.id] = 1"]
    (tmp_path / "deep_program.py").write_text("\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(tmp_path)
    from deep_program import deep

    assert again(deep).code == deep.code


# Processes that were started anew, both ways.

WORKER = """\
import numpy as np, mmsim as mm
from test_pickling import made, plus

def work(program):
    run = mm.DMM(4, 5).run(program, np.zeros(8, int), threads=8)
    return run.time, run.arrays["a"].tolist()

def prepared(program):
    return program.prepare(4).threads

def make(factor):
    return made(factor, plus, np.arange(factor))

def calls(inner):
    @mm.program
    def outer(T, a):
        inner(T, a)
        a[T.id] += 1
    return work(outer)[1]
"""

PROGRAMS = """\
import numpy as np, mmsim as mm
from mmsim.frontend.program import Example
from mmsim.sweeps.fingerprint import fingerprint

K = np.int64(3)

def helper(x):
    return x * K

@mm.program
def typed(T, a):
    a[T.id] = helper(T.id) + 1

@typed.example
def example(width, size=5, seed=0):
    return Example(np.zeros(size), threads=int(K))

def nest(extra, data):
    @mm.program
    def nested(T, a):
        typed(T, a)
        a[T.id] += extra
    @nested.example
    def prepare(width):
        return Example(data, threads=len(data))
    return nested
"""

SCRIPT = (
    PROGRAMS
    + """
from concurrent.futures import ProcessPoolExecutor
import multiprocessing
from worker import calls, make, prepared, work

if __name__ == "__main__":
    nested = nest(np.int32(2), np.zeros(6))
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        for program in (typed, nested):
            here = work(program)
            assert pool.submit(work, program).result() == here, program
            assert pool.submit(prepared, program).result() == prepared(program)
            assert pool.submit(calls, program).result() == [x + 1 for x in here[1]]
        K = 50
        assert pool.submit(work, typed).result() == work(typed)
        theirs = pool.submit(make, 3).result()
        assert work(theirs) == work(make(3)) == pool.submit(work, theirs).result()
        assert prepared(theirs) == 3
    print("all the same")
"""
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "worker.py").write_text(WORKER)
    return tmp_path


def python(folder, *words):
    """Run Python where the tests' modules and those of the folder can be imported."""
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        env={**os.environ, "PYTHONPATH": f"{folder}:{sys.path[0]}:{folder_of_tests()}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def folder_of_tests():
    return __file__.rpartition("/")[0]


def test_programs_of_a_script_and_their_way_back(folder):
    (folder / "script.py").write_text(SCRIPT)
    assert python(folder, folder / "script.py") == "all the same\n"


def test_programs_of_a_notebook(folder):
    cells = [PROGRAMS, SCRIPT.removeprefix(PROGRAMS)]
    shell = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        f"for cell in {cells!r}:\n"
        "    shell.run_cell(cell).raise_error()\n"
    )
    # Its __main__ has no file from which another process could import it.
    assert "all the same" in python(folder, "-c", shell)


def test_a_dask_cluster(tmp_path):
    distributed = pytest.importorskip("dask.distributed")

    with (
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            local_directory=tmp_path,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        nested = made(3, plus, np.arange(4))
        assert client.submit(results, nested).result() == results(nested)
        theirs = client.submit(partial(made, 5, plus, None)).result()
        assert results(theirs) == results(made(5, plus, None))


def test_a_program_that_came_along_has_the_same_fingerprint(monkeypatch):
    assert fingerprint((again(put),)) == fingerprint((put,))
    without_cloudpickle(monkeypatch)
    got = again(made(3, plus, None))
    assert fingerprint((got,)) == fingerprint((again(got),))
