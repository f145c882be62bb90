"""The script that runs the planted bugs under compute-sanitizer, and the page, without a GPU."""

import contextlib
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mmsim.gpu.record import Record
from tests.kit.cards import TOOLS, planted_on_gpu
from tests.kit.cards.planted_on_gpu import (
    kernel_of,
    left_out,
    main,
    may_hang,
    row,
    said,
    tasks,
    tool_for,
)
from tests.kit.planted import PAIRS
from tests.kit.tools import planted_bugs
from tests.kit.tools.planted_bugs import Kept, checked, page

BY_NAME = {pair.name: pair for pair in PAIRS}
SILENT = """========= COMPUTE-SANITIZER
launched and ended
========= ERROR SUMMARY: 0 errors
"""
OUTSIDE = """========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at right_neighbour+0x150
=========     by thread (63,0,0) in block (0,0,0)
=========     Access at 0x7f5c0a000100 is out of bounds
========= Invalid __global__ read of size 8 bytes
Traceback (most recent call last):
RuntimeError: CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure
========= ERROR SUMMARY: 132 errors
========= ERROR SUMMARY: 32 errors were not printed. Use --print-limit option to adjust it
"""
RACE = """========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at tile_reversed+0x1f0
=========     and Read access at tile_reversed+0x250 [256 hazards]
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""
NO_RACE = "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n"
UNSET = """========= Uninitialized __global__ memory read of size 8 bytes
=========     at added_to_nothing+0x90
========= ERROR SUMMARY: 1 error
"""
DIVERGED = """========= Barrier error detected. Divergent thread(s) in warp
=========     at half_a_warp+0x130
========= ERROR SUMMARY: 16 errors
"""
BROKEN = """========= COMPUTE-SANITIZER
Traceback (most recent call last):
ImportError: no module
"""


@pytest.mark.parametrize(
    ("text", "status", "verdict", "mistakes", "message"),
    [
        (SILENT, 0, "silent", 0, ""),
        (NO_RACE, 0, "silent", 0, ""),
        (OUTSIDE, 9, "found", 132, "Invalid __global__ write of size 4 bytes"),
        (RACE, 9, "found", 1, "Error: Race reported between Write access at tile_reversed+0x1f0"),
        (UNSET, 9, "found", 1, "Uninitialized __global__ memory read of size 8 bytes"),
        (DIVERGED, 9, "found", 16, "Barrier error detected. Divergent thread(s) in warp"),
        (BROKEN, 1, "failed", None, "ImportError: no module"),
        (SILENT, 1, "failed", 0, "========= ERROR SUMMARY: 0 errors"),
        ("", 0, "failed", None, ""),
        ("========= COMPUTE-SANITIZER\n", None, "hangs", None, ""),
        (DIVERGED, None, "found", 16, "Barrier error detected. Divergent thread(s) in warp"),
    ],
)
def test_what_a_tool_says(text, status, verdict, mistakes, message):
    found = said(text, status, hangs=status is None)
    assert (found.verdict, found.mistakes, found.message) == (verdict, mistakes, message)


def test_the_tool_of_a_kind():
    kinds = {
        "right_neighbour": "memcheck",
        "id_in_a_tile": "memcheck",
        "tile_reversed": "racecheck",
        "stencil_in_place": "racecheck",  # on the DMM: all arrays are in shared memory
        "handed_over": None,  # global memory
        "added_to_nothing": "initcheck",
        "padding": None,  # shared memory
        "half_a_warp": "synccheck",
        "any_of_all": None,
        "counted_by_two": "synccheck",
        "blocks_with_work": None,  # a barrier of the grid
        "rotated_in_place": "racecheck",
        "counts_of_a_warp": "racecheck",
        "set_to_zero_by_one": None,  # global memory
        "down_by_halves": None,
        "never_raised": None,
    }
    assert {name: tool_for(BY_NAME[name]) for name in kinds} == kinds


def test_arrays_are_where_the_tool_of_the_kind_looks():
    for pair in PAIRS:
        if tool_for(pair) is None:
            continue
        written = kernel_of(pair.bug)
        array = pair.finds[0].array
        pointers = [argument.name for argument in written.arguments if argument.role == "array"]
        in_shared = bool(re.search(rf"__shared__ .*\b{array}\[", written.source)) if array else None
        match tool_for(pair):
            case "racecheck":
                assert in_shared, pair.name
            case "initcheck":
                assert not in_shared, pair.name
                assert array in pair.bug.unset, pair.name
                assert array in pointers, pair.name
            case "memcheck":
                assert in_shared or array in pointers, pair.name
            case "synccheck":
                assert "__syncthreads" in written.source, pair.name


def test_a_gpu_can_have_nearly_all_programs():
    assert set(left_out()) == {"fraction_lost, bug", "one_block_for_the_grid, bug"}
    assert left_out()["fraction_lost, bug"].endswith("or give the array a float type")


def test_the_most_useful_runs_come_first_and_each_comes_once():
    todo = tasks()
    assert len({str(task) for task in todo}) == len(todo) == len(TOOLS) * (2 * len(PAIRS) - 2)
    first = sum(task.of_its_kind for task in todo)
    assert all(task.of_its_kind for task in todo[:first])
    assert first == 2 * sum(tool_for(pair) is not None for pair in PAIRS)
    assert {task.pair.kind for task in todo[-20:]} <= {"deadlock", "spin", "endless"}
    hanging = [may_hang(task.pair) for task in todo[first:]]
    assert hanging == sorted(hanging)
    assert sum(hanging) == sum(may_hang(task.pair) for task in todo) >= 100


def test_a_dry_run_lists_and_runs_nothing(capsys, monkeypatch):
    monkeypatch.setattr(planted_on_gpu, "cupy", None)
    assert main(["--dry-run", "--tools", "racecheck"]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert last == f"{len(lines)} runs"
    assert "racecheck  bug  tile_reversed  (of its kind)" in lines
    assert "racecheck  twin right_neighbour" in lines


def test_without_a_gpu_a_sentence_and_status_2(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert main([]) == 2
    assert capsys.readouterr().out.startswith("CuPy is not installed; install")


# ------------------------------------------------------------ a pretended compute-sanitizer

SANITIZER = """#!{python}
import sys, time
if "--version" in sys.argv:
    print("Compute Sanitizer version 2025.3.1")
    sys.exit()
tool = sys.argv[sys.argv.index("--tool") + 1]
name, variant = sys.argv[sys.argv.index("--one") + 1 :]
print("========= COMPUTE-SANITIZER", flush=True)
if name == "never_raised" and variant == "bug":
    time.sleep(60)
found = variant == "bug" and name == "tile_reversed" and tool == "racecheck"
if found:
    print("========= Error: Race reported between Write access at x+0x1 and Read access at x+0x2")
if tool == "racecheck":
    print(f"========= RACECHECK SUMMARY: {{int(found)}} hazards displayed (1 error, 0 warnings)")
else:
    print("========= ERROR SUMMARY: 0 errors")
sys.exit(9 if found else 0)
"""


@pytest.fixture
def pretended(monkeypatch, tmp_path):
    program = tmp_path / "compute-sanitizer"
    program.write_text(SANITIZER.format(python=sys.executable))
    program.chmod(0o755)
    head = {
        "device": "A GPU",
        "driver": "1.2",
        "cuda": "13.0",
        "date": "2027-01-02T03:04:05+00:00",
        "mmsim": "0",
        "cupy": "14",
    }
    chosen = [BY_NAME[name] for name in ("never_raised", "tile_reversed", "added_to_nothing")]
    monkeypatch.setattr(planted_on_gpu, "facts", lambda command: {**head, "command": command})
    monkeypatch.setattr(planted_on_gpu, "cupy", lambda: None)
    monkeypatch.setattr(planted_on_gpu, "tasks", lambda: tasks(chosen))
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path / "planted.json"


def test_every_run_is_kept_and_what_hangs_is_ended(pretended, capsys):
    call = ["--json", str(pretended), "--jobs", "2", "--timeout", "2"]
    assert main([*call, "--tools", "racecheck", "memcheck"]) == 0
    record = Record.read(pretended)
    assert (record.experiment, len(record.rows)) == ("planted", 12)
    assert record.facts["sanitizer"] == "2025.3.1"
    command = "python -m tests.kit.cards.planted_on_gpu --jobs 2 --seconds 400 --timeout 2"
    assert record.facts["command"] == command
    verdicts = {
        (one["program"], one["variant"], one["tool"]): (one["verdict"], one["status"])
        for one in record.rows
    }
    assert verdicts["tile_reversed", "bug", "racecheck"] == ("found", 9)
    assert verdicts["tile_reversed", "twin", "racecheck"] == ("silent", 0)
    assert verdicts["never_raised", "bug", "racecheck"] == ("hangs", None)
    assert verdicts["never_raised", "twin", "memcheck"] == ("silent", 0)
    assert pretended.read_text() == record.to_json()
    assert capsys.readouterr().out.endswith("12 of 12 runs\n")


def test_no_run_begins_when_the_seconds_are_over(pretended, capsys):
    assert main(["--seconds", "-1"]) == 0
    assert capsys.readouterr().out == "0 of 24 runs\n"


# ------------------------------------------------------------ the page

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.long
def test_the_page_is_what_the_suite_and_the_kept_results_make_it():
    text = page(planted_bugs.kept())
    assert (DOCS / "planted.md").read_text(encoding="utf-8") == text, "run make planted"


def record(*shown):
    """A record in which a tool said something else than nothing of some programs."""
    changed = {(name, variant, tool): text for name, variant, tool, text in shown}
    rows = []
    for task in tasks():
        key = (task.pair.name, task.variant, task.tool)
        found = task.of_its_kind and task.variant == "bug"
        text = changed.get(key, UNSET if found else SILENT)
        hangs = text is None
        rows.append(row(task, said(text or "", None if hangs else 0, hangs), 1.0))
    head = {name: "x" for name in ("device", "driver", "sanitizer", "command")}
    return Record("planted", {**head, "date": "2027-01-02T03"}, tuple(rows))


def test_the_page_names_every_difference():
    agreed = page(Kept(record()))
    assert "- `tile_reversed`" not in agreed
    assert agreed.count(": none.\n") == 3
    assert "| `synccheck` | 13 | 13 | 0 | 0 | 13 | 13 | 0 |" in agreed
    differing = page(
        Kept(
            record(
                ("half_a_warp", "bug", "synccheck", SILENT),
                ("where_positive", "bug", "synccheck", None),
                ("two_barriers_is_no_name", "bug", "synccheck", SILENT),
                ("histogram", "twin", "racecheck", RACE),
                ("id_in_a_tile", "bug", "racecheck", RACE),
            )
        )
    )
    assert "| `synccheck` | 13 | 11 | 1 | 1 | 13 | 13 | 0 |" in differing
    assert "| `racecheck` | 58 | 58 | 0 | 0 | 58 | 57 | 1 |" in differing
    prose = " ".join(differing.split())
    assert "the tool of their kind doesn't: 2. - `half_a_warp` under synccheck (silent)" in prose
    assert "`where_positive` under synccheck (hangs)" in prose
    assert "not for a tool: 1. - `histogram` under racecheck (found): Error: Race repor" in prose
    assert "another tool said something: 1. - `id_in_a_tile` under racecheck (found)" in prose
    (cell,) = [line for line in differing.splitlines() if line.startswith("| `id_in_a_tile`")]
    assert "**memcheck**: found, twin silent<br>racecheck: found, twin silent |" in cell


def test_what_was_not_run_is_marked():
    whole = record()
    part = Record("planted", whole.facts, whole.rows[:3])
    text = page(Kept(part))
    assert "**synccheck**: not run, twin not run" in text
    (cell,) = [line for line in text.splitlines() if line.startswith("| `one_block_for_the_grid`")]
    assert cell.endswith("| clean | not run |")


def test_a_bug_that_is_missed_and_a_false_alarm_show_in_the_table(monkeypatch):
    pair = BY_NAME["tile_reversed"]
    swapped = replace(pair, bug=pair.twin, twin=pair.bug, clean=("asynchronous",))
    monkeypatch.setattr(
        type(pair.finds[0]), "finding", lambda self, launched, note: None
    )  # whose line isn't in the twin
    one = checked(swapped)
    assert not one.found
    assert [alarm.kind for alarm in one.alarms] == ["race"]


class Cards:
    """A substitute for CuPy: notes what is allocated and launched."""

    class cuda:
        @staticmethod
        def using_allocator(allocator):
            assert allocator is None
            return contextlib.nullcontext()

        class Device:
            def synchronize(self):
                pass

    def __init__(self):
        self.made, self.launched = [], []

    def empty(self, size, dtype):
        self.made.append(("empty", size, np.dtype(dtype)))
        return self.made[-1]

    def asarray(self, words):
        self.made.append(("copied", words.size, words.dtype))
        return self.made[-1]


def test_a_launch_passes_what_the_kernel_takes_and_leaves_unset_arrays_alone(monkeypatch, capsys):
    cards = Cards()
    monkeypatch.setattr(planted_on_gpu, "cupy", lambda: cards)

    def compiled(cp, written):
        return lambda *how, **more: cards.launched.append((how, more))

    monkeypatch.setattr(planted_on_gpu, "compiled", compiled)
    assert main(["--one", "added_to_nothing", "bug"]) == 0
    assert main(["--one", "tile_reversed", "twin"]) == 0
    assert capsys.readouterr().out == "launched and ended\n" * 2
    (first, _), (second, more) = cards.launched
    words = np.dtype(np.int64)
    assert first == ((1, 1, 1), (64, 1, 1), (("copied", 64, words), ("empty", 64, words)))
    *arrays, repeat, cycles = second[2]
    assert arrays == [("copied", 64, words)] * 2
    assert (repeat, cycles) == (1, ("empty", 1, words))
    assert more == {"shared_mem": 0}
    gap = ("empty", planted_on_gpu.GAP, np.dtype(np.uint8))
    assert cards.made[:5:2] == [gap] * 3  # before, between and behind the arrays
