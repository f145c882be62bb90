"""The papers' measurements with a GPU that is only played: programs, rows, records, the commands.

The played GPU computes what the simulator does and takes the time of known machines.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

import mmsim as mm
from benchmarks.laboratory.predict_again import predict_again
from mmsim import gpu
from mmsim.cli.main import main
from mmsim.errors import MMSimError
from mmsim.gpu import Calibration, Replay, calibration, experiment, signed
from mmsim.gpu.experiment import (
    Cell,
    Conditions,
    Experiment,
    choose_campaign,
    choose_experiment,
)
from mmsim.gpu.record import Record
from mmsim.gpu.replay import Timing
from mmsim.gpu.shared import repetition
from mmsim.gpu.signed import rules
from mmsim.gpu.words import time_units
from mmsim.host import plugins
from mmsim.host.checkout import commit_of
from mmsim.reports.gpu import error, measured_summary, measured_table
from mmsim_algorithms import dmm_permutation, hmm_permutation, permutations
from mmsim_algorithms.gpu import cfp_rap_tables as shared_tables
from mmsim_algorithms.gpu import icpp_tables as global_tables
from mmsim_algorithms.gpu import permuting, planned
from mmsim_algorithms.gpu import steps as pipeline
from mmsim_algorithms.gpu.permuting import PAPER, SEVERAL, SHORT
from mmsim_algorithms.gpu.planned import RandomTasks, Task
from mmsim_algorithms.gpu.steps import predicted, replay_steps
from mmsim_algorithms.hmm_permutation import plan
from mmsim_algorithms.hmm_permutation.programs import Plan
from tests.kit.cards.played import DEVICE, KNOWN, after_launches
from tests.kit.oracle.emulated_gpu import CuPyOnTheCPU, needs_compiler, on_the_cpu

pytestmark = pytest.mark.usefixtures("uncompiled")

MACHINE = mm.HMM(2, 32, 10)
TYPES = [np.float32, np.float64]


def simulated(steps, arrays):
    """The runs of launches, in order, and the arrays after them."""
    return after_launches(MACHINE, SimpleNamespace(steps=steps, arrays=arrays))


def costs(run):
    """Requests and stages of each kind of access, whatever line it stands in."""
    found = Counter()
    for row in run.accesses:
        found[row.array, row.kind, row.space, "requests"] += row.requests
        found[row.array, row.kind, row.space, "stages"] += row.stages
    return found


# ------------------------------------------------------------ the programs


CONVENTIONAL = [
    (algorithm, shape)
    for algorithm in ("D-designated", "S-designated")
    for shape in permuting.SHAPES[algorithm]
]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", permutations.NAMED)
@pytest.mark.parametrize(("algorithm", "shape"), CONVENTIONAL)
def test_designated_permutations_cost_what_a_thread_for_each_word_costs(
    algorithm, shape, name, dtype
):
    n = 64 * 64
    P, a = permutations.NAMED[name](n, 1), np.arange(n, dtype=dtype)
    (run,), arrays = simulated(*global_tables.launches(algorithm, Task(P), a, shape))
    assert (arrays["b"][P] == a).all()
    single = dmm_permutation.permute(MACHINE, algorithm, P, a, block_size=1024)
    # p and q are both the table that directs the threads.
    assert costs(run) == costs(single)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("side", [32, 64, 256])
@pytest.mark.parametrize("shape", permuting.SHAPES["scheduled"], ids=lambda shape: shape.name)
def test_the_scheduled_permutation_costs_what_a_thread_for_each_word_costs(shape, side, dtype):
    P, a = permutations.random(side * side, 2), np.arange(side * side, dtype=dtype)
    steps = plan(P, 32)
    launches, arrays = permuting.scheduled(steps, a, shape)
    tables = {arrays[name].dtype for name in arrays if name[0] in "sd"}
    assert tables == {np.dtype(shape.tables)}
    runs, arrays = simulated(launches, arrays)
    assert (arrays["b"].reshape(-1)[P] == a).all()
    assert (arrays["a"].reshape(-1) == a).all()
    # On one DMM, so that it may have any number of tiles.
    single = hmm_permutation.scheduled(mm.HMM(1, 32, 10), a, steps)
    assert costs(mm.total(runs)) == costs(single)


def test_the_paper_s_launches_are_those_of_its_section_viii():
    """n/1024 blocks of 1024 threads; a row's block has min(sqrt n, 1024); tables of 16 bits."""
    for side in (256, 512, 1024, 2048, 4096):
        row = np.broadcast_to(np.arange(side), (side, side))
        identity = Plan((row, row), (row, row), (row, row))
        a = np.zeros(side * side, np.float32)
        (step,), arrays = permuting.conventional("D-designated", np.arange(a.size), a, PAPER)
        assert (step.threads, step.block_size) == (side * side, 1024)
        assert arrays["p"].dtype.itemsize == 4
        steps, arrays = permuting.scheduled(identity, a, PAPER)
        assert len(steps) == 5
        for one in steps[::2]:
            assert (one.threads // one.block_size, one.block_size) == (side, min(side, 1024))
        for one in steps[1::2]:
            assert (one.threads, one.block_size) == (side * side, 32 * 32)
        # What the papers count: 64 bytes a float with tables of 32 bits, 52 with 16.
        assert bytes_a_word(steps, arrays) == 52
        assert bytes_a_word(*permuting.scheduled(identity, a, SEVERAL)) == 64


def bytes_a_word(steps, arrays):
    """Bytes that the launches move in global memory, for each word that is permuted."""
    names = [one for step in steps for one in step.arguments if isinstance(one, str)]
    return sum(arrays[name].dtype.itemsize for name in names)


@pytest.mark.parametrize("shape", permuting.SHAPES["scheduled"], ids=lambda shape: shape.name)
@pytest.mark.parametrize("kind", global_tables.TYPES)
def test_the_scheduled_permutation_takes_the_same_time_for_all_permutations(kind, shape):
    a = np.arange(64 * 64, dtype=global_tables.TYPES[kind])
    time = global_tables.scheduled_time(KNOWN, kind, 64, shape)
    for P in (permutations.random(a.size, 5), permutations.bit_reversal(a.size)):
        own = predicted(*permuting.scheduled(plan(P, 32), a, shape), KNOWN)
        # A plan is made for 32 banks; of the half-warps of doubles some meet conflicts.
        assert own == time if kind == "float" else time <= own < 1.01 * time


def test_a_pipeline_s_time_is_that_of_its_launches():
    steps, arrays = permuting.scheduled(
        plan(permutations.random(1024), 32), np.arange(1024, dtype=np.float32), SEVERAL
    )
    runs = [
        KNOWN.hmm.run(
            step.program,
            *step.given(arrays),
            threads=step.threads,
            block_size=step.block_size,
            schedule="asynchronous",
        )
        for step in steps
    ]
    expected = KNOWN.milliseconds(sum(run.time for run in runs), launches=5)
    assert predicted(steps, arrays, KNOWN) == expected


# ------------------------------------------------------------ launches on an emulated GPU


def repetition_by_repetition(cp, launch, samples, sweeps=1):
    """`timed` with a clock that gives the repetition's number."""
    for number in range(samples):
        launch(number)
    return [float(number) for number in range(samples)]


@needs_compiler
@pytest.mark.parametrize("shape", [SEVERAL, PAPER], ids=lambda shape: shape.name)
def test_what_a_launch_writes_a_later_one_reads(shape, tmp_path, monkeypatch):
    launched = []
    monkeypatch.setattr(pipeline, "cupy", CuPyOnTheCPU)
    monkeypatch.setattr(pipeline, "compiled", on_the_cpu(tmp_path, launched))
    monkeypatch.setattr(pipeline, "timed", repetition_by_repetition)
    P, a = permutations.random(64 * 64), np.arange(64 * 64, dtype=np.float64)
    steps, arrays = permuting.scheduled(plan(P, 32), a, shape)
    found = replay_steps(steps, arrays, keep=["b"], samples=3)
    assert list(found.arrays) == ["b"]
    assert (found.arrays["b"].reshape(-1)[P] == a).all()
    assert found.arrays["b"].shape == (64, 64)
    assert not arrays["b"].any()  # the caller's own is as it was
    assert (found.median, found.low, found.high, found.samples) == (1, 0, 2, 3)
    names = ["row_wise", "transpose", "row_wise", "transpose", "row_wise"]
    assert [name for name, *_ in launched] == 3 * names
    assert launched[0][1:] == ((64, 1, 1), (64, 1, 1), 0)
    assert launched[1][1:] == ((4, 1, 1), (1024 // shape.tile_words, 1, 1), 0)


def test_copies_of_a_program_are_blocks_that_repeat_it(monkeypatch):
    launched = []

    def function(grid, block, passed, shared_mem):
        launched.append((grid, block, shared_mem, [one for one in passed if np.ndim(one) == 0]))

    monkeypatch.setattr(calibration, "cupy", CuPyOnTheCPU)
    monkeypatch.setattr(calibration, "compiled", lambda cp, written: function)
    monkeypatch.setattr(calibration, "timed", repetition_by_repetition)
    a = np.zeros(64, np.float32)
    found = calibration.replay_copies(
        calibration.read, a, 1, threads=64, copies=7, repeat=20, samples=3
    )
    assert launched == [((7,), (64, 1, 1), 0, [20])] * 3
    assert (found.median, found.low, found.high, found.arrays) == (1, 0, 2, {})


# ------------------------------------------------------------ a GPU that takes the model's time


def played_replay(program, *args, threads, space="global", block_size=None, repeat=1, **options):
    """`replay` on a GPU that is the machines of `KNOWN`."""
    how = {"threads": threads, "block_size": block_size}
    launched = (program, args, how)
    if space == "shared":
        one = repetition(program, *args, threads=threads)
        time = one.time(KNOWN.shared_latency, repeat) / repeat * KNOWN.cycles_per_stage
        unit, machine = "cycles", KNOWN.dmm
    else:
        time = KNOWN.milliseconds(time_units(KNOWN.hmm, program, *args, **how), launches=1)
        unit, machine, repeat = "ms", KNOWN.hmm, 1
    arrays = machine.run(program, *args, **how).arrays
    given = options.get("calibration")
    return Replay(
        *(program.name, DEVICE, space, unit, time, time - 0.5, time + 0.5, 15, repeat),
        *(arrays, given, launched),
    )


def played_copies(program, *args, threads, copies, repeat):
    one = repetition(program, *args, threads=threads)
    busiest = -(-copies // KNOWN.multiprocessors)
    cycles = one.time(KNOWN.shared_latency, repeat, busiest) * KNOWN.cycles_per_stage
    time = cycles * KNOWN.cycle_ps * 1e-9 + 0.25
    return Timing(time, time - 0.1, time + 0.1, 15, {})


def played_steps(steps, arrays, *, keep):
    _, after = simulated(steps, arrays)
    return Timing(1.0, 0.5, 1.5, 15, {name: after[name] for name in keep})


def test_calibrating_finds_what_is_known(monkeypatch):
    module = sys.modules["mmsim.gpu.calibration"]
    properties = {"name": b"A GPU", "multiProcessorCount": 2}
    runtime = SimpleNamespace(getDeviceProperties=lambda number: properties)
    cuda = SimpleNamespace(runtime=runtime, Device=lambda: SimpleNamespace(id=0))
    monkeypatch.setattr(module, "cupy", lambda: SimpleNamespace(cuda=cuda))
    monkeypatch.setattr(module, "replay", played_replay)
    monkeypatch.setattr(module, "replay_copies", played_copies)
    smaller = {"WORDS": 2**16, "PLACES": 50, "APART": 4, "FAR": (100, 250)}
    for name, value in smaller.items():
        monkeypatch.setattr(module, name, value)
    seen = []
    assert gpu.calibrate(seen.append) == KNOWN
    assert seen == ["shared memory", "global memory"]


# ------------------------------------------------------------ the experiments' rows


@pytest.fixture
def played(monkeypatch):
    monkeypatch.setattr(shared_tables, "REPEAT", 3)
    monkeypatch.setattr(shared_tables, "replay", played_replay)
    monkeypatch.setattr(shared_tables, "replay_copies", played_copies)
    monkeypatch.setattr(global_tables, "replay_steps", played_steps)
    monkeypatch.setattr(global_tables, "SIDES", (64,))
    monkeypatch.setattr(global_tables, "PRINTED_SIDES", (64,))
    monkeypatch.setattr(global_tables, "PERMUTATIONS", 3)
    monkeypatch.setattr(global_tables, "PREDICTED", 2)


MEASURED = ["measured", "low", "high", "predicted"]


def rows_of(name, **conditions):
    return list(choose_experiment(name).rows(Conditions(KNOWN, **conditions)))


def test_cfp_table_2(played):
    seen = []
    rows = rows_of("CFP-T2", say=seen.append)
    columns = ["type", "permutation", "algorithm", "paper ns", *MEASURED, "stages"]
    assert {tuple(row) for row in rows} == {tuple(columns)}
    assert len(rows) == 2 * (1 + 5 * 3)
    cells = {(row["type"], row["permutation"], row["algorithm"]): row for row in rows}
    assert cells["float", "any", "copy"]["paper ns"] == 102.937
    assert cells["float", "transpose", "D-designated"]["paper ns"] == 876.329
    assert cells["float", "shuffle", "S-designated"]["paper ns"] == 183.192
    assert cells["float", "bit_reversal", "conflict-free"]["paper ns"] == 164.764
    assert {row["paper ns"] for row in rows if row["type"] == "double"} == {None}
    assert cells["float", "transpose", "D-designated"]["stages"] == 32 + 32 + 1024
    assert cells["double", "identical", "conflict-free"]["stages"] == 2 * 32 + 2 * 64
    for row in rows:
        assert row["measured"] == row["predicted"] == row["low"] + 0.5 == row["high"] - 0.5
    assert seen[0] == "float, any, copy"
    assert seen[-1] == "double, bit_reversal, conflict-free"


def test_rap_table_3(played):
    rows = rows_of("RAP-T3")
    columns = ["type", "transpose", "layout", "paper ns", *MEASURED, "stages"]
    assert {tuple(row) for row in rows} == {tuple(columns)}
    assert len(rows) == 18
    cells = {(row["type"], row["transpose"], row["layout"]): row for row in rows}
    assert cells["double", "CRSW", "RAS"]["paper ns"] == 303.6
    assert cells["double", "DRDW", "RAP"]["paper ns"] == 433.3
    assert {row["paper ns"] for row in rows if row["type"] == "float"} == {None}
    assert cells["float", "SRCW", "RAW"]["stages"] == 32 + 1024
    assert cells["float", "SRCW", "RAP"]["stages"] == 32 + 32


@pytest.mark.parametrize("multiprocessors", [1, 2, 132])
def test_cfp_figure_7(played, multiprocessors):
    known = replace(KNOWN, multiprocessors=multiprocessors)
    rows = list(choose_experiment("CFP-F7").rows(Conditions(known)))
    assert {tuple(row) for row in rows} == {("algorithm", "arrays", *MEASURED)}
    counts = [row["arrays"] for row in rows if row["algorithm"] == "conflict-free"]
    assert counts == sorted(set(counts))
    assert counts[0] == 1
    assert counts[-1] == 4 * multiprocessors
    if multiprocessors == 2:
        assert all(row["measured"] - row["predicted"] == pytest.approx(0.25) for row in rows)


def test_a_wrong_array_in_shared_memory_is_an_error(played, monkeypatch):
    def wrong(*args, **options):
        found = played_replay(*args, **options)
        return replace(found, arrays={**found.arrays, "b": found.arrays["b"] + 1})

    monkeypatch.setattr(shared_tables, "replay", wrong)
    for name in ("CFP-T2", "RAP-T3"):
        with pytest.raises(MMSimError, match="left the wrong array b on this GPU"):
            rows_of(name)


def test_icpp_table_2(played):
    rows = rows_of("ICPP-T2", most=100)
    columns = ["type", "permutation", "sqrt n", "algorithm", "launch", "coalesced", "paper ms"]
    assert {tuple(row) for row in rows} == {(*columns, *MEASURED)}
    launches = Counter((row["algorithm"], row["launch"]) for row in rows)
    assert launches == {
        (algorithm, shape.name): 5 * 2
        for algorithm, shapes in permuting.SHAPES.items()
        for shape in shapes
    }
    coalesced = {(row["permutation"], row["algorithm"]) for row in rows if row["coalesced"]}
    assert len(coalesced) == 5 + 2 * 2
    assert ("shuffle", "D-designated") in coalesced
    assert ("random", "D-designated") not in coalesced
    for row in rows:
        assert (row["measured"], row["low"], row["high"], row["sqrt n"]) == (1.0, 0.5, 1.5, 64)
        assert row["predicted"] > 0
    scheduled = {
        (row["type"], row["launch"]): row["predicted"]
        for row in rows
        if row["algorithm"] == "scheduled"
    }
    assert len(scheduled) == 2 * 3
    for kind in global_tables.TYPES:  # the model charges a word of 16 bits as one of 32
        assert scheduled[kind, SEVERAL.name] == scheduled[kind, SHORT.name]


def test_the_paper_s_launches_are_measured_at_its_sizes(monkeypatch):
    monkeypatch.setattr(global_tables, "SIDES", (4096, 8192))
    cells = global_tables.icpp_table_2(Conditions(KNOWN))
    sides = {(cell.about["launch"], cell.about["sqrt n"]) for cell in cells}
    assert sides == {
        *((shape.name, side) for shape in (SEVERAL, SHORT) for side in (4096, 8192)),
        (PAPER.name, 4096),
    }


def test_what_is_left_for_later_is_predicted_again(played):
    found = choose_experiment("ICPP-T2")
    rows = tuple(found.rows(Conditions(KNOWN, 100), predict=False))
    assert {row["predicted"] for row in rows} == {None}
    about = {"calibration": KNOWN.to_dict()}
    again = predict_again(Record("ICPP-T2", about, rows))
    assert [dict(row) for row in again.rows] == rows_of("ICPP-T2", most=100)


def test_icpp_table_2_s_printed_cells():
    assert global_tables.printed("float", "identical", 256, "D-designated") == 0.86
    assert global_tables.printed("float", "identical", 1024, "S-designated") == 9.13
    assert global_tables.printed("double", "identical", 256, "scheduled") == 5.07
    assert global_tables.printed("double", "transpose", 8192, "scheduled") is None


def test_icpp_table_3(played):
    rows = rows_of("ICPP-T3")
    assert {tuple(row) for row in rows} == {("seed", "sqrt n", "algorithm", *MEASURED)}
    assert [(row["seed"], row["algorithm"]) for row in rows] == [
        (seed, algorithm) for seed in range(3) for algorithm in permuting.SHAPES
    ]
    assert [row["predicted"] is None for row in rows] == [row["seed"] == 2 for row in rows]
    for row in rows[:6]:
        task = Task(permutations.random(64 * 64, row["seed"]))
        a = np.zeros(64 * 64, np.float32)
        steps = global_tables.launches(row["algorithm"], task, a, PAPER)
        assert row["predicted"] == predicted(*steps, KNOWN)


def test_icpp_table_3_shows_the_extremes_of_each_algorithm():
    times = {"D-designated": [3.0, 5.0, 7.0], "S-designated": [1.0, 1.0, 4.0]}
    rows = [
        {
            "seed": seed,
            "sqrt n": 64,
            "algorithm": algorithm,
            "measured": own[seed],
            "predicted": [10.0, 20.0, None][seed],
        }
        for seed in range(3)
        for algorithm, own in times.items()
    ]
    shown = choose_experiment("ICPP-T3").shown(rows)
    assert [(row["row"], row["algorithm"], row["measured"]) for row in shown] == [
        ("minimum", "D-designated", 3.0),
        ("minimum", "S-designated", 1.0),
        ("average", "D-designated", 5.0),
        ("average", "S-designated", 2.0),
        ("maximum", "D-designated", 7.0),
        ("maximum", "S-designated", 4.0),
    ]
    assert [row["predicted"] for row in shown[::2]] == [10.0, 15.0, 20.0]
    assert {(row["sqrt n"], row["permutations"]) for row in shown} == {(64, 3)}
    assert (shown[0]["paper ms"], shown[3]["paper ms"]) == (424.87, 398.27)
    unknown = [{**row, "predicted": None} for row in rows]
    assert {row["predicted"] for row in global_tables.extremes(unknown)} == {None}


def test_random_tasks_come_in_order_with_their_plans(monkeypatch):
    monkeypatch.setattr(planned, "cores", lambda: 2)
    tasks = RandomTasks(64 * 64, 7)
    for seed in (0, 0, 2, 6):  # of the others, nothing is asked
        P = permutations.random(64 * 64, seed)
        task, steps = tasks[seed], plan(P, 32)
        assert (task.P == P).all()
        assert (task.inverse[P] == np.arange(P.size)).all()
        for own, expected in zip(
            (*task.plan.first, *task.plan.second, *task.plan.third),
            (*steps.first, *steps.second, *steps.third),
            strict=True,
        ):
            assert (own == expected).all()


@pytest.mark.parametrize("name", ["ICPP-T2", "ICPP-T3"])
def test_a_wrong_array_in_global_memory_is_an_error(played, monkeypatch, name):
    def wrong(steps, arrays, *, keep):
        found = played_steps(steps, arrays, keep=keep)
        found.arrays["b"].reshape(-1)[7] += 1
        return found

    monkeypatch.setattr(global_tables, "replay_steps", wrong)
    with pytest.raises(MMSimError, match="D-designated of 4096 words left the wrong array b"):
        rows_of(name)


@pytest.mark.parametrize("name", ["ICPP-T2", "ICPP-T3"])
def test_a_size_below_all_is_refused(played, name):
    with pytest.raises(MMSimError, match="no sqrt n is 63 or less; the smallest is 64"):
        rows_of(name, most=63)


def test_sizes_up_to_a_given_one():
    assert global_tables.sides(None) == [256, 512, 1024, 2048, 4096, 8192]
    assert global_tables.sides(512) == [256, 512]
    assert global_tables.sides(1500) == [256, 512, 1024]


# ------------------------------------------------------------ records


def test_a_record_comes_back_from_its_file(tmp_path):
    rows = ({"a": 1, "measured": 2.5, "b": None}, {"a": 2, "measured": 0.1, "b": "x"})
    one = Record("ONE", {"device": "A GPU", "calibration": KNOWN.to_dict()}, rows)
    file = tmp_path / "one.json"
    file.write_text(one.to_json())
    assert Record.read(file) == one
    assert file.read_text().count("\n    {") == 2  # a row a line
    assert json.loads(Record("NONE", {}, ()).to_json()) == {"experiment": "NONE", "rows": []}


@pytest.mark.parametrize(
    "text", ["", "[]", "3", "{}", '{"experiment": "A"}', '{"experiment": "A", "rows": 3}']
)
def test_what_is_no_record_is_refused(tmp_path, text):
    file = tmp_path / "bad.json"
    file.write_text(text)
    with pytest.raises(MMSimError, match=r"bad\.json holds no record of a GPU's results"):
        Record.read(file)
    file.write_text('{"experiment": "A", "rows": [3]}')
    with pytest.raises(MMSimError, match=r"bad\.json holds no record of a GPU's results"):
        Record.read(file)


def test_a_calibration_is_read_from_its_record(tmp_path):
    file = tmp_path / "calibration.json"
    file.write_text(Record("calibration", {}, (KNOWN.to_dict(),)).to_json())
    assert Calibration.read(file) == KNOWN
    file.write_text(Record("calibration", {}, ()).to_json())
    with pytest.raises(MMSimError, match="holds no calibration: it has 0 rows, not one"):
        Calibration.read(file)
    file.write_text(Record("calibration", {}, ({"type": "float"},)).to_json())
    with pytest.raises(MMSimError, match="this is not a calibration"):
        Calibration.read(file)


# ------------------------------------------------------------ the table


ROWS = (
    {"algorithm": "copy", "arrays": 1, "paper ns": None, "measured": 100.0, "predicted": 98.0},
    {"algorithm": "other", "arrays": 12, "paper ns": 3.25, "measured": 50.0, "predicted": 52.5},
    {"algorithm": "third", "arrays": 7, "paper ns": None, "measured": 1.0, "predicted": None},
)


def shown(table):
    console = Console(width=100, color_system=None)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def test_the_table_shows_each_row_s_error():
    one = Record("ONE", {"unit": "ms"}, ROWS)
    text = shown(measured_table(one, "A [table]"))
    assert "A [table] (ms)" in text
    lines = [[cell.strip() for cell in line.split("│")[1:-1]] for line in text.splitlines()]
    cells = [line for line in lines if line]
    assert cells == [
        ["copy", "1", "", "100", "98", "-2.0%"],
        ["other", "12", "3.25", "50", "52.5", "+5.0%"],
        ["third", "7", "", "1", "", ""],
    ]
    assert "│ copy      │      1 │" in text  # words to the left, numbers to the right
    assert measured_summary(one) == ("2 cells predicted: mean absolute error 3.50%, largest 5.00%")


def test_where_nothing_is_predicted_there_is_no_error():
    assert error(ROWS[2]) is None
    assert error({"predicted": 1.0}) is None
    assert error({"measured": 2, "predicted": 3}) == 0.5
    empty = Record("ONE", {"unit": "ms"}, ())
    assert measured_summary(empty) == "nothing is predicted"
    assert measured_table(empty, "A table").row_count == 0


# ------------------------------------------------------------ the commands


@pytest.fixture
def at_hand(monkeypatch):
    """A GPU whose facts and calibration are known; calibrating it is counted."""
    calls = []

    def calibrate(say):
        say("shared memory")
        calls.append("calibrate")
        return KNOWN

    monkeypatch.setattr(signed, "facts", lambda command: {"device": "A GPU", "command": command})
    monkeypatch.setattr(gpu, "calibrate", calibrate)
    return calls


def test_a_record_s_facts_are_asked_of_cupy_as_it_is(monkeypatch):
    """CuPy gives its version as modules do; a fake that had other names would hide a mistake."""
    monkeypatch.setattr(signed, "device", lambda: DEVICE)
    monkeypatch.setattr(signed, "cupy", lambda: SimpleNamespace(__version__="14.2.0"))
    found = signed.facts("mmsim gpu calibrate")
    assert found.pop("date") > "2026"
    assert found.pop("commit") == commit_of(Path(signed.__file__))
    assert found.pop("rules") == rules()
    assert found == {
        "device": "A GPU",
        "driver": "1.2",
        "cuda": "13.0",
        "command": "mmsim gpu calibrate",
        "mmsim": mm.__version__,
        "cupy": "14.2.0",
    }


@pytest.fixture
def one(monkeypatch, at_hand):
    """The experiment ONE; what it was given."""
    conditions = []

    def cell_of(row):
        about = {name: row[name] for name in ("algorithm", "arrays", "paper ns")}
        return Cell(
            about,
            lambda: {"measured": row["measured"]},
            lambda: {"predicted": row["predicted"]},
        )

    def cells(given):
        conditions.append(given)
        given.say("at work")
        yield from map(cell_of, ROWS[:2])
        if given.most == 0:
            raise MMSimError("the GPU has gone")
        yield cell_of(ROWS[2])

    found = {"ONE": Experiment("ONE", "A paper's table", "ms", cells, lambda rows: [*rows][:2])}
    monkeypatch.setattr(experiment, "registered_experiments", lambda: found)
    return conditions


def test_calibrate_prints_and_saves(at_hand, capsys, tmp_path):
    file = tmp_path / "calibration.json"
    assert main(["gpu", "calibrate", "--json", str(file)]) == 0
    printed = capsys.readouterr().out
    assert "shared_latency: 20\n" in printed
    assert str(KNOWN.hmm) in " ".join(printed.split())
    assert Record.read(file).facts["command"] == "mmsim gpu calibrate"
    assert Calibration.read(file) == KNOWN
    assert main(["gpu", "calibrate"]) == 0


def test_calibrate_saves_before_it_prints(at_hand, monkeypatch, tmp_path):
    def closed(self, *words, **how):
        raise BrokenPipeError

    monkeypatch.setattr("rich.console.Console.print", closed)
    file = tmp_path / "calibration.json"
    main(["gpu", "calibrate", "--json", str(file)])
    assert gpu.Calibration.read(file) == KNOWN


def test_reproduce_lists_the_experiments(capsys):
    assert main(["gpu", "reproduce"]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = [line.split()[0] for line in lines if line[0] != " "]
    assert [name for name in names if "-" in name] == [
        *("CFP-T2", "CFP-F7", "RAP-T3", "ICPP-T2", "ICPP-T3")
    ]


def test_reproduce_measures_prints_and_saves(one, at_hand, capsys, tmp_path):
    file = tmp_path / "one.json"
    assert main(["gpu", "reproduce", "ONE", "--most", "9", "--json", str(file)]) == 0
    printed = capsys.readouterr().out
    assert "A paper's table (ms)" in printed
    assert "2 cells predicted: mean absolute error 3.50%, largest 5.00%" in printed
    assert "copy" in printed
    assert "third" not in printed  # it isn't shown, but kept
    assert Record.read(file) == Record(
        "ONE",
        {
            "device": "A GPU",
            "command": "mmsim gpu reproduce ONE --most 9",
            "unit": "ms",
            "calibration": KNOWN.to_dict(),
        },
        ROWS,
    )
    assert (one[0].calibration, one[0].most, at_hand) == (KNOWN, 9, ["calibrate"])


def test_predicting_is_left_for_later_if_asked(one, capsys, tmp_path):
    file = tmp_path / "one.json"
    assert main(["gpu", "reproduce", "ONE", "--measure-only", "--json", str(file)]) == 0
    assert "nothing is predicted" in capsys.readouterr().out
    record = Record.read(file)
    assert record.facts["command"] == "mmsim gpu reproduce ONE --measure-only"
    assert record.rows == tuple({**row, "predicted": None} for row in ROWS)


def test_what_was_measured_is_saved_when_the_rest_fails(one, capsys, tmp_path):
    file = tmp_path / "one.json"
    assert main(["gpu", "reproduce", "ONE", "--most", "0", "--json", str(file)]) == 2
    assert "the GPU has gone" in capsys.readouterr().err
    assert Record.read(file).rows == ROWS[:2]


def test_reproduce_takes_a_calibration_from_a_file(one, at_hand, capsys, tmp_path):
    file, other = tmp_path / "calibration.json", replace(KNOWN, shared_latency=33)
    file.write_text(Record("calibration", {}, (other.to_dict(),)).to_json())
    assert main(["gpu", "reproduce", "ONE", "--calibration", str(file)]) == 0
    assert (one[0].calibration, one[0].most, at_hand) == (other, None, [])
    capsys.readouterr()
    file.write_text("{}")
    assert main(["gpu", "reproduce", "ONE", "--calibration", str(file)]) == 2
    assert "holds no record of a GPU's results" in capsys.readouterr().err
    assert main(["gpu", "reproduce", "ONE", "--calibration", str(tmp_path / "none")]) == 2
    assert "none: No such file" in capsys.readouterr().err


def test_the_calibration_of_another_gpu_is_refused(one, at_hand, capsys, tmp_path):
    file = tmp_path / "calibration.json"
    other = replace(KNOWN, device="Another GPU")
    file.write_text(Record("calibration", {}, (other.to_dict(),)).to_json())
    assert main(["gpu", "reproduce", "ONE", "--calibration", str(file)]) == 2
    seen = capsys.readouterr().err
    assert "is the calibration of Another GPU, but the GPU here is A GPU" in seen
    assert one == at_hand == []


def test_an_unknown_experiment_is_named_with_those_that_there_are(capsys, monkeypatch):
    assert main(["gpu", "reproduce", "CFP-T9"]) == 2
    message = (
        "there is no experiment 'CFP-T9'; there are CFP-T2, CFP-F7, RAP-T3, FIELD, ICPP-T2, "
        "ICPP-T3, KERNELS, UNSEEN, THIRD"
    )
    assert message in capsys.readouterr().err
    with pytest.raises(MMSimError, match="no campaign 'none'; there are atomics, banks, cache"):
        choose_campaign("none")
    monkeypatch.setattr(plugins, "entry_points", lambda group: [])
    assert main(["gpu", "reproduce", "CFP-T9"]) == 2
    assert "none: no installed package registers any" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["calibrate"], ["reproduce", "CFP-T2"]])
def test_without_cupy_a_sentence_and_status_2(words, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert main(["gpu", *words]) == 2
    message = capsys.readouterr()
    assert message.out == ""
    assert message.err.startswith(
        "mmsim: CuPy is not installed; install cupy-cuda12x or cupy-cuda13x"
    )
