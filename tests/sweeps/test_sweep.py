"""`mmsim.sweep`: rows of a grid, in parallel, in a file that nothing can tear."""

import errno
import functools
import importlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace

import joblib  # pandas and polars, which take long, where they are used: workers import this
import numpy as np
import pexpect
import pytest
from joblib.externals.loky import get_reusable_executor

import mmsim as mm
from mmsim.host.progress import Progress
from mmsim.sweeps import SweepError, read
from mmsim.sweeps.cases import make_cases
from mmsim.sweeps.file import RowFile, line_of
from mmsim.sweeps.sweep import watched as sweep_progress
from mmsim.sweeps.workers import finished
from tests.kit.runs.load import wait_until
from tests.kit.tools import kill_sweeps

CALLS = "MMSIM_TEST_CALLS"  # names a file to which cases write that they were run


@mm.program
def load(T, a):
    a[T.id]


@mm.program
def store(T, a):
    a[T.id] = 1


def case(n, machine=mm.DMM(4, 5), program=load):  # noqa: B008  frozen data
    """A run; n = 13 is a case that fails."""
    if CALLS in os.environ:
        with open(os.environ[CALLS], "ab", buffering=0) as calls:
            calls.write(f"{n} {os.getpid()}\n".encode())
    if n == 13:
        raise ValueError("thirteen\nis unlucky")
    return machine.run(program, np.zeros(n), threads=n)


def deadly(n):
    """A case that takes its process with it."""
    if n == 3:
        os._exit(1)
    return case(n)


def exiting(n):
    """A case that wants to end its process."""
    if n == 3:
        sys.exit(0)
    return case(n)


WATCHED = []


def looking(n):
    """A case that notes whether its run would show its own progress."""
    WATCHED.append(Progress("a run").watched)
    return case(n)


def slow_at_last(n):
    """A case that is done immediately, or slow where n is 1500 or more."""
    if n >= 1500:
        time.sleep(0.05)
    return case(n % 4 + 1)


GRID = {"machine": [mm.DMM(4, 5), mm.HMM(2, 4, 9)], "program": [load, store], "n": [4, 13, 20]}


@pytest.fixture
def calls(monkeypatch, tmp_path):
    """The numbers n of the cases that were run, and the processes."""
    path = tmp_path / "calls"
    path.touch()
    monkeypatch.setenv(CALLS, str(path))
    get_reusable_executor().shutdown()  # workers of an earlier test have its environment
    return lambda: [tuple(map(int, line.split())) for line in path.read_text().splitlines()]


@pytest.fixture
def sweep(tmp_path):
    """`mm.sweep` in this process, into one file."""
    return functools.partial(mm.sweep, path=tmp_path / "rows.jsonl", jobs=1)


def timeless(rows):
    """Rows without what may differ, in the order of their keys."""
    return sorted(({**row, "seconds": 0} for row in rows), key=lambda row: row["key"])


def test_a_row_has_the_parameters_and_the_run(sweep):
    row = sweep(case, GRID)[8]
    run = mm.HMM(2, 4, 9).run(load, np.zeros(20), threads=20)
    assert (row["machine"], row["program"], row["n"]) == (str(mm.HMM(2, 4, 9)), "load", 20)
    assert (row["threads"], row["block_size"], row["schedule"]) == (20, 20, "synchronous")
    assert (row["time"], row["requests"], row["stages"]) == (run.time, run.requests, run.stages)
    assert (row["coalesced"], row["conflict_free"], row["casual"]) == (5, 0, 0)
    assert (row["least"], row["error"], row["message"]) == (5, None, None)
    assert row["mmsim"] == mm.__version__
    assert row["seconds"] > 0


def test_rows_come_in_the_order_of_the_grid_and_lie_in_the_file(sweep, tmp_path):
    rows = sweep(case, GRID)
    assert [(row["machine"][:3], row["program"], row["n"]) for row in rows] == [
        (machine, program, n)
        for machine in ("DMM", "HMM")
        for program in ("load", "store")
        for n in (4, 13, 20)
    ]
    assert timeless(read(tmp_path / "rows.jsonl")) == timeless(rows)


def test_a_card_with_other_numbers_is_another_case(sweep):
    """Alone and in a tuple: rows that were kept of the card of this name before are not its own."""
    cards = [replace(mm.H200(), global_latency=latency) for latency in (2000, 3000)]
    rows = sweep(lambda card: card.run(load, np.zeros(8), threads=8), {"card": cards})
    assert [row["latency"] for row in rows] == [2000, 3000]
    assert {row["card"] for row in rows} == {"card('h200')"}
    assert len({row["key"] for row in rows}) == 2
    pairs = {"pair": [(1, card) for card in cards]}
    rows = sweep(lambda pair: pair[1].run(load, np.zeros(8), threads=8), pairs)
    assert [row["latency"] for row in rows] == [2000, 3000]


def test_cases_may_be_listed(sweep):
    rows = sweep(case, [{"n": 4}, {"n": 8, "machine": mm.UMM(4, 2)}])
    assert [row["time"] for row in rows] == [5, 3]
    assert rows[0]["machine"] == "DMM(width=4, latency=5)"  # what the run reports


def test_a_claim_can_be_swept(sweep):
    from mmsim.claims import choose, registered

    (claim,) = choose(registered(), ["SMM-L5.1"])[:1]
    cases = [{**case, "schedule": "synchronous"} for case in claim.cases()[:5]]
    rows = sweep(claim.run, cases)
    assert [row["time"] for row in rows] == [claim.evaluate(case) for case in cases]


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_rows_do_not_depend_on_jobs_or_backend(sweep, tmp_path, backend):
    alone = sweep(case, GRID)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        together = mm.sweep(case, GRID, tmp_path / "together.jsonl")
    assert timeless(alone) == timeless(together)


def test_processes_share_the_work_and_keep_what_they_compile(sweep, calls, tmp_path):
    mm.sweep(case, {"n": range(14, 60)}, tmp_path / "rows.jsonl", jobs=2)
    processes = {process for _, process in calls()}
    assert os.getpid() not in processes
    assert 1 <= len(processes) <= 2


def test_a_row_is_there_as_soon_as_its_case_is_done(calls):
    cases = make_cases(slow_at_last, {"n": range(1540)})
    waiting = [
        len(calls()) - done
        for done, row in enumerate(finished(slow_at_last, cases, 2), 1)
        if row["n"] >= 1510
    ]
    assert max(waiting) <= 4


# What is there is not repeated.


def test_only_what_is_missing_is_run(sweep, calls):
    first = sweep(case, {"n": [1, 2]})
    both = sweep(case, {"n": [2, 1, 3]})
    assert [n for n, _ in calls()] == [1, 2, 3]
    assert both[:2] == first[::-1]


def test_rows_of_other_grids_stay(sweep, tmp_path):
    sweep(case, {"n": [1]})
    assert len(sweep(case, {"n": [2]})) == 1
    assert [row["n"] for row in read(tmp_path / "rows.jsonl")] == [1, 2]


def test_a_failed_case_is_recorded_and_stops_nothing(sweep, calls):
    rows = sweep(case, {"n": [12, 13, 14]})
    assert [row["error"] for row in rows] == [None, "ValueError", None]
    assert rows[1]["message"] == "thirteen\nis unlucky"
    assert rows[1]["time"] is None
    assert list(rows[1]) == list(rows[0])
    assert sweep(case, {"n": [12, 13, 14]}) == rows
    assert len(calls()) == 3


def test_a_function_that_returns_no_run_has_failed(sweep):
    (row,) = sweep(lambda n: n, {"n": [1]})
    assert row["error"] == "TypeError"
    assert row["message"].endswith("this one returned 1")


class Unprintable(Exception):
    """An exception whose text fails."""

    def __str__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("raised", "error", "message"),
    [
        (SystemExit(0), "SystemExit", "0"),
        (SystemExit("bye"), "SystemExit", "bye"),
        (Unprintable(), "Unprintable", "it can't be printed: RuntimeError"),
        (OSError("caf\udce9"), "OSError", "caf\\udce9"),
    ],
)
def test_whatever_a_case_raises_the_others_go_on(sweep, tmp_path, raised, error, message):
    import polars

    def raising(n):
        if n == 2:
            raise raised
        return case(n)

    rows = sweep(raising, {"n": [1, 2, 3]})
    assert [row["error"] for row in rows] == [None, error, None]
    assert rows[1]["message"] == message
    assert polars.read_ndjson(tmp_path / "rows.jsonl", infer_schema_length=None).to_dicts() == rows


def test_a_case_that_ends_its_worker_with_exit_is_recorded(tmp_path):
    rows = mm.sweep(exiting, {"n": [1, 3]}, tmp_path / "rows.jsonl", jobs=2)
    assert [row["error"] for row in rows] == [None, "SystemExit"]


def test_what_a_function_returns_is_shortened(sweep):
    (row,) = sweep(lambda n: list(range(n)), {"n": [100_000]})
    assert row["error"] == "TypeError"
    assert len(row["message"]) < 200


def test_failed_cases_are_run_again_when_asked(sweep, calls, tmp_path):
    sweep(case, {"n": [12, 13, 14]})
    sweep(case, {"n": [12, 13, 14]}, retry_failed=True)
    assert [n for n, _ in calls()] == [12, 13, 14, 13]
    assert [row["n"] for row in read(tmp_path / "rows.jsonl")] == [12, 14, 13]


def test_a_case_that_kills_its_process_is_recorded(calls, tmp_path):
    rows = mm.sweep(deadly, {"n": range(8)[1:]}, tmp_path / "rows.jsonl", jobs=2)
    assert [row["error"] for row in rows] == [None, None, "WorkerDied", None, None, None, None]
    assert list(rows[2]) == list(rows[0])


# A changed program.


def made(tmp_path, text):
    """The function `go` of a text, as a module that is imported anew."""
    path = tmp_path / "changing.py"
    path.write_text("import numpy as np, mmsim as mm\n" + text)
    code = compile(path.read_text(), str(path), "exec")
    import linecache

    linecache.checkcache(str(path))
    names = {"__name__": "changing"}
    exec(code, names)
    return names["go"]


TEXT = """
SIZE = 8

@mm.program
def inner(T, a, i):
    a[i]  # a comment

@mm.program
def outer(T, a):
    inner(T, a, T.id)

def help(n):
    return np.zeros(SIZE + n)

@mm.program
def chosen(T, a):
    a[T.id]

def go(n, program=chosen, *, other=chosen):
    machine = mm.DMM(4, 5)
    return mm.total([machine.run(one, help(n), threads=8) for one in (outer, program, other)])
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a[i]  #", "a[i] = 1  #"),
        ("    a[T.id]\n", "    a[T.id] = 1\n"),
        ("T.id)", "T.id // 2)"),
        ("SIZE = 8", "SIZE = 9"),
        ("SIZE + n", "SIZE + n + 1"),
        ("threads=8", "threads=7"),
    ],
)
def test_a_changed_program_is_not_taken_for_the_old_one(sweep, tmp_path, old, new):
    before = sweep(made(tmp_path, TEXT), {"n": [1, 2]})
    changed = made(tmp_path, TEXT.replace(old, new))
    with pytest.raises(SweepError, match="2 rows of this grid, as n=1, were made when"):
        sweep(changed, {"n": [1, 2]})
    assert read(tmp_path / "rows.jsonl") == before
    after = sweep(changed, {"n": [1, 2]}, retry_changed=True)
    assert read(tmp_path / "rows.jsonl") == after
    assert after[0]["source"] != before[0]["source"]


def test_a_program_in_a_tuple_that_changes_is_seen(sweep, tmp_path):
    def first(programs):
        return case(4, program=programs[0])

    old, new = (
        made(tmp_path, TEXT.replace("a[i]", text)).__globals__["outer"] for text in ("a[i]", "a[0]")
    )
    sweep(first, {"programs": [(old, 1)]})
    with pytest.raises(SweepError, match="had another text"):
        sweep(first, {"programs": [(new, 1)]})


def test_a_file_edited_since_it_was_read_is_not_taken_for_what_runs(sweep, tmp_path):
    """The function in memory is the old one, whatever its file has now."""
    go = made(tmp_path, TEXT)
    before = sweep(go, {"n": [1]})
    edited = TEXT.replace("SIZE + n", "SIZE + 2 * n")
    made(tmp_path, edited)
    assert sweep(go, {"n": [1]}, retry_changed=True)[0]["source"] != before[0]["source"]
    with pytest.raises(SweepError, match="had another text"):
        sweep(made(tmp_path, edited), {"n": [1]})


def test_a_function_that_only_moved_in_its_file_is_the_same(sweep, tmp_path):
    go = made(tmp_path, TEXT)
    before = sweep(go, {"n": [1]})
    made(tmp_path, "# above\n\n\n" + TEXT)
    assert sweep(go, {"n": [1]}) == before


def test_warnings_of_the_text_are_not_given_again(sweep, tmp_path):
    plain = sweep(made(tmp_path, TEXT), {"n": [1]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        go = made(tmp_path, TEXT + r"PATTERN = '\d'")
        warnings.simplefilter("error")
        assert sweep(go, {"n": [1]}) == plain


def test_a_typed_in_function_is_known_by_its_code(sweep):
    def typed(machine):
        names = {"__name__": "typed", "mm": mm, "np": np, "load": load}
        exec(f"def go(n): return mm.{machine}(4, 5).run(load, np.zeros(8), threads=n)", names)
        return names["go"]

    sweep(typed("DMM"), {"n": [1]})
    with pytest.raises(SweepError, match="had another text"):
        sweep(typed("UMM"), {"n": [1]})


def test_a_module_imported_anew_is_so_in_the_workers_too(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    path, rows = tmp_path / "edited_meanwhile.py", tmp_path / "rows.jsonl"
    path.write_text("import numpy as np, mmsim as mm\n" + TEXT)
    module = importlib.import_module("edited_meanwhile")
    grid = {"n": range(20)}
    before = mm.sweep(module.go, grid, rows, jobs=2)
    path.write_text("import numpy as np, mmsim as mm\n" + TEXT.replace("threads=8", "threads=4"))
    os.utime(path, (1, 1))  # whatever the clock of the files
    importlib.reload(module)
    after = mm.sweep(module.go, grid, rows, jobs=2, retry_changed=True)
    assert {row["threads"] for row in before} == {8}
    assert {row["threads"] for row in after} == {4}


def test_another_program_of_the_grid_changes_no_row(sweep, calls):
    before = sweep(case, {"n": [4], "program": [load]})
    assert sweep(case, {"n": [4], "program": [store, load]})[1:] == before
    assert len(calls()) == 2


# The file.


def test_a_file_cut_at_any_byte_is_finished(sweep, calls, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda file: None)  # a thousand of them take long
    path = tmp_path / "rows.jsonl"
    rows = sweep(case, {"n": [12, 13]})
    text = path.read_bytes()
    lines = text.splitlines(keepends=True)
    for size in (*range(3), *range(len(lines[0]) - 2, len(text) + 1)):
        path.write_bytes(text[:size])
        before = len(calls())
        assert timeless(sweep(case, {"n": [12, 13]})) == timeless(rows)
        kept = text[:size].count(b"\n")
        assert len(calls()) - before == 2 - kept
        assert path.read_bytes().startswith(b"".join(lines[:kept]))
        assert len(read(path)) == 2


def test_reading_leaves_out_a_row_that_is_being_written(sweep, tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = sweep(case, {"n": [1, 2]})
    path.write_bytes(path.read_bytes()[:-1])
    assert read(path) == rows[:1]


@pytest.mark.parametrize("text", ["n,time\n", "notes", '{"n": 1}\n', "3\n", '{"key": "me"}'])
def test_another_file_is_refused_and_left_alone(sweep, tmp_path, text):
    path = tmp_path / "rows.jsonl"
    path.write_text(text)
    with pytest.raises(SweepError, match="is not a row of a sweep; give another file"):
        sweep(case, {"n": [1]})
    assert path.read_text() == text


@pytest.mark.parametrize(
    "line", ['{"key": [1], "source": "s", "error": null}', "[" * 100_000, '{"key":' * 100_000]
)
def test_a_line_that_only_looks_like_a_row_is_refused(sweep, tmp_path, line):
    path = tmp_path / "rows.jsonl"
    path.write_text(line + "\n")
    for reading in (lambda: read(path), lambda: sweep(case, {"n": [1]})):
        with pytest.raises(SweepError, match="line 1 is not a row of a sweep"):
            reading()


def test_two_sweeps_do_not_write_to_one_file(sweep, tmp_path):
    with (
        RowFile(tmp_path / "rows.jsonl"),
        pytest.raises(SweepError, match="another sweep is writing to it"),
    ):
        sweep(case, {"n": [1]})
    assert len(sweep(case, {"n": [1]})) == 1


def test_a_file_in_another_ones_place_is_locked_too(sweep, tmp_path):
    rows = sweep(case, {"n": [1, 2]})
    with RowFile(tmp_path / "rows.jsonl") as file:
        file.drop([rows[0]["key"]])
        with pytest.raises(SweepError, match="another sweep"):
            sweep(case, {"n": [1]})
        file.append(rows[0])
    assert read(tmp_path / "rows.jsonl") == rows[::-1]
    assert list(tmp_path.iterdir()) == [tmp_path / "rows.jsonl"]


def test_a_row_that_does_not_fit_on_the_disk_is_no_row(sweep, tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, line: write(file, line[:-5]))
    with pytest.raises(SweepError, match="is the disk full"):
        sweep(case, {"n": [1, 2]})
    monkeypatch.undo()
    assert len(sweep(case, {"n": [1, 2]})) == 2
    assert len(read(tmp_path / "rows.jsonl")) == 2


def full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_reported_with_the_file(sweep, tmp_path, monkeypatch):
    rows = sweep(case, {"n": [13]})
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(SweepError, match=r"rows\.jsonl: a row could not be written: No space"):
        sweep(case, {"n": [13, 2]})
    monkeypatch.undo()
    assert read(tmp_path / "rows.jsonl") == rows


def test_rows_that_do_not_reach_the_disk_are_reported(sweep, monkeypatch):
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SweepError, match="last rows could not be written to the disk: No space"):
        sweep(case, {"n": [1]})


def test_rows_that_cannot_be_dropped_stay_and_no_other_file_is_left(sweep, tmp_path, monkeypatch):
    rows = sweep(case, {"n": [13, 2]})
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SweepError, match=r"rows\.jsonl: rows could not be dropped: No space"):
        sweep(case, {"n": [13, 2]}, retry_failed=True)
    monkeypatch.undo()
    assert read(tmp_path / "rows.jsonl") == rows
    assert list(tmp_path.iterdir()) == [tmp_path / "rows.jsonl"]


def test_pandas_and_polars_read_it(sweep, tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = sweep(case, {**GRID, "n": [13, 4, 20]})
    import pandas
    import polars

    frame = pandas.read_json(path, lines=True)
    assert list(frame.columns) == list(rows[0])
    assert frame.key.tolist() == [row["key"] for row in rows]
    assert frame.time.dropna().tolist() == [row["time"] for row in rows if row["error"] is None]
    table = polars.read_ndjson(path, infer_schema_length=None)
    assert table.to_dicts() == rows
    assert table.schema["time"] == polars.Int64
    assert polars.DataFrame(rows, infer_schema_length=None).equals(table)


def test_numbers_that_are_equal_are_one_case_and_numpy_ones_are_plain(sweep, calls):
    sweep(case, {"n": np.arange(1, 3)})
    rows = sweep(case, {"n": [1, 2]})
    assert [type(row["n"]) for row in rows] == [int, int]
    assert len(calls()) == 2


# Kind refusals, before anything is run.


@pytest.mark.parametrize(
    ("function", "grid", "message"),
    [
        (case, {}, "the case without parameters: missing a required"),
        (case, {"n": []}, "the grid has no case"),
        (case, [], "the grid has no case"),
        (case, [4], "a case is a dictionary of parameters, not 4"),
        (case, None, "a grid has a list of values for each parameter; this is None"),
        (case, {"n": 4}, "n=4, but a grid has a list of values"),
        (case, {"n": "4"}, "n='4', but a grid has a list of values"),
        (case, {"n": [4, 5, 4]}, "the case n=4 occurs twice"),
        (case, {"m": [4]}, "case can't be called with the case m=4"),
        (case, {"n": [4], "time": [1]}, "a parameter can't be called 'time'"),
        (case, {"n": [np.zeros(3)]}, "has no name to write into a row"),
        (case, {"n": [float("nan")]}, "has no name to write into a row"),
        (case, {"n": [object()]}, "has no name to write into a row"),
        (4, {"n": [4]}, "a sweep needs a function that returns a Run, not 4"),
    ],
)
def test_a_grid_that_makes_no_sense_is_refused(sweep, tmp_path, function, grid, message):
    with pytest.raises(SweepError, match=message):
        sweep(function, grid)
    assert not (tmp_path / "rows.jsonl").exists()


def test_no_processes_are_refused(sweep):
    with pytest.raises(SweepError, match="jobs=0, but a sweep needs at least one process"):
        sweep(case, {"n": [1]}, jobs=0)


def test_a_sweep_that_fails_before_its_first_row_leaves_no_file(sweep, tmp_path):
    file, rows = io.TextIOWrapper(io.BytesIO()), tmp_path / "rows.jsonl"
    for there in (False, True):  # the second file is the user's own
        with pytest.raises(SweepError, match="can't be sent to other processes: Cannot pickle"):
            sweep(lambda n: file.name, {"n": [1]})
        assert rows.exists() == there
        rows.touch()


def unloadable():
    raise RuntimeError("not here")


class Unloadable:
    def __reduce__(self):
        return unloadable, ()


def test_a_function_that_another_process_cannot_load(tmp_path):
    held = Unloadable()
    with pytest.raises(
        SweepError, match="cannot load the sweep's function: RuntimeError: not here"
    ):
        mm.sweep(lambda n: held, {"n": [1, 2]}, tmp_path / "rows.jsonl", jobs=2)


# Kills and interruptions.


@pytest.mark.long
def test_killed_again_and_again_it_loses_nothing():
    command = [sys.executable, "-m", kill_sweeps.__name__, "--kills", "4", "--seed", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    seen = dict(line.rsplit(maxsplit=1) for line in done.stdout.splitlines()[1:])
    assert seen["kills"] == "4"
    assert seen["rows"] == seen["cases"]
    assert int(seen["rows"]) >= 4 * kill_sweeps.PER_LIFE
    for wrong in ("rows lost", "rows doubled", "rows torn", "cases repeated that had a row"):
        assert seen[wrong] == "0"


def judged(tmp_path, change):
    """The verdict of the judge of kills on a file of three rows that was changed."""
    path, log = tmp_path / "rows.jsonl", tmp_path / "log"
    mm.sweep(kill_sweeps.work, kill_sweeps.grid(3), path, jobs=1)
    whole = path.read_bytes()
    path.write_bytes(change(whole))
    log.write_text("0 0\n0 1\n1 2\n")
    outcome = kill_sweeps.Outcome(cases=3)
    kill_sweeps.judge(outcome, path, log, whole, [set(), {0, 1}])
    return outcome


def test_the_judge_of_kills_finds_nothing_where_nothing_is(tmp_path):
    assert judged(tmp_path, lambda text: text).wrong == 0


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda text: text + text.splitlines(keepends=True)[-1], {"doubled": 1}),
        (lambda text: text[:-9], {"rows": 2, "lost": 1, "torn": 1, "different": 1}),
        (lambda text: text.replace(b'"time": 5', b'"time": 6', 1), {"lost": 1, "different": 1}),
        (lambda text: b"\n".join(text.split(b"\n")[1:]), {"rows": 2, "lost": 1, "different": 1}),
    ],
)
def test_the_judge_of_kills_finds_what_is_wrong(tmp_path, change, found):
    outcome = judged(tmp_path, change)
    assert {name: getattr(outcome, name) for name in found} == found
    assert outcome.wrong > 0


SCRIPT = """
import sys, time
import numpy as np, mmsim as mm

@mm.program
def load(T, a):
    a[T.id]

def slow(n):
    time.sleep(0.05)
    return mm.DMM(4, 5).run(load, np.zeros(n), threads=n)

mm.sweep(slow, {"n": range(1, int(sys.argv[2]))}, sys.argv[1], jobs=int(sys.argv[3]))
print("done")
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_keeps_the_rows_and_says_how_to_go_on(script, tmp_path, jobs):
    path = tmp_path / "rows.jsonl"
    child = subprocess.Popen(
        [sys.executable, script, path, "4000", str(jobs)],
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
        preexec_fn=functools.partial(
            signal.signal, signal.SIGINT, signal.SIG_DFL
        ),  # also under nohup
    )
    wait_until(lambda: path.exists() and path.read_bytes().count(b"\n") >= 5)
    os.killpg(child.pid, signal.SIGINT)
    _, said = child.communicate(timeout=60)
    there = len(read(path))
    # After it Python may say that the killed processes left semaphores.
    assert (
        said.splitlines().count(
            f"KeyboardInterrupt: interrupted; {there} of 3999 rows are in {path}, "
            "and the same call does the others"
        )
        == 1
    ), said
    done = subprocess.run([sys.executable, script, path, str(there + 3), "1"], check=True)
    assert done.returncode == 0
    numbers = sorted(row["n"] for row in read(path))
    assert len(set(numbers)) == len(numbers)
    assert set(range(1, there + 3)) <= set(numbers)


def test_a_terminal_shows_how_far_it_is_and_the_time_left(script, tmp_path):
    child = pexpect.spawn(
        sys.executable,
        [str(script), str(tmp_path / "rows.jsonl"), "60", "1"],
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
        encoding="utf-8",
        timeout=60,
    )
    child.expect(r"[1-9]\d*/59\S* \S*0:00:0\d\S* left")
    child.expect("done")


def test_the_time_left_is_shown_of_cases_that_take_minutes(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("rich.console.monotonic", lambda: now[0])
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setattr(shown, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with sweep_progress(cases=12, left=10, shown=True) as advance:
        for number in range(4):
            now[0] += 120
            advance(failed=number == 0)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.getvalue())
    assert "0:12:00 left" in text
    assert re.search(r"sweep, 2 done before, 1 failed .* 4/10", text)


def test_a_run_in_a_sweep_says_nothing_of_its_own(sweep, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    WATCHED.clear()
    sweep(looking, {"n": [4]}, progress=False)
    looking(4)
    assert WATCHED == [False, True]


@pytest.mark.parametrize("asked", [{}, {"FORCE_COLOR": "1"}])
def test_without_a_terminal_nothing_is_shown(script, tmp_path, asked):
    command = [sys.executable, script, tmp_path / "rows.jsonl", "3", "1"]
    there = {**os.environ, **asked}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=there)
    assert (done.stdout, done.stderr) == ("done\n", "")


# A cluster.


def test_a_line_holds_any_message():
    row = {"key": "k", "message": '\n\r\u2028\ud800\x00"'}
    assert line_of(row).count(b"\n") == 1
    assert json.loads(line_of(row)) == row
