"""Kernels that are timed on a card: their data, what they compute, their times and counts.

The GPU is only played: NumPy holds its arrays, and kernels run on the simulator or not at all.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import mmsim as mm
from benchmarks.laboratory import counted_launches, profiled
from benchmarks.laboratory.counted_launches import launch, main
from mmsim.api.kernels import kernel
from mmsim.engines.array import engine
from mmsim.errors import MMSimError
from mmsim.gpu import ncu
from mmsim.gpu.counting import NAME
from mmsim.gpu.experiment import Conditions, choose_experiment
from mmsim.gpu.ncu import NoCounters, Profiled
from mmsim.gpu.record import Record
from mmsim.gpu.replay import Timing
from mmsim_algorithms.gpu import kernels_tables
from mmsim_algorithms.gpu.cache_stage import METRICS
from mmsim_algorithms.gpu.drawn_numbers import by_octaves, cycle, different_keys, geometric
from mmsim_algorithms.gpu.indexed_kernels import HashTable
from mmsim_algorithms.gpu.kept import FOLDER
from mmsim_algorithms.gpu.kernel_sets import (
    SETS,
    of_each_kind,
    scatters_and_passes,
    sums_and_searches,
)
from mmsim_algorithms.gpu.launch_groups import KERNELS, Group, batches
from mmsim_algorithms.gpu.launched import QUICK, SIDE
from mmsim_algorithms.gpu.reduction_kernels import bitonic_runs, scanned
from mmsim_algorithms.gpu.sparse_data import (
    Search,
    banded,
    grid,
    laplacian,
    power_law,
    preferential,
    uniform,
)
from mmsim_algorithms.gpu.steps import digest_of
from tests.kit.cards.played import PlayedCuPy, after_launches, play_facts, play_profiler
from tests.kit.oracle.emulated_gpu import Emulated, needs_compiler

pytestmark = pytest.mark.usefixtures("interpreted")
MACHINE = mm.HMM(4, 32, 10)
CASES = list(of_each_kind(QUICK))
UNSEEN = list(sums_and_searches(QUICK))
THIRD = list(scatters_and_passes(QUICK))


@pytest.fixture
def interpreted(monkeypatch):
    """Nothing is compiled: that takes longer than these sizes."""
    monkeypatch.setattr(engine, "FEW", 1 << 30)


def name(case):
    return f"{case.kernel}, {case.data}"


def simulated(launched):
    """The arrays after all launches."""
    return after_launches(MACHINE, launched, engine="array")[1]


# ------------------------------------------------------------ the data


def test_a_zipf_law_s_words_are_drawn_as_often_as_their_rank_says():
    drawn = by_octaves(2**10, 100_000, 1)
    counts = np.bincount(drawn, minlength=2**10)
    assert drawn.max() < 2**10 - 1
    for octave in range(10):
        own = counts[2**octave - 1 : 2 ** (octave + 1) - 1]
        assert own.sum() == pytest.approx(10_000, rel=0.05)


def test_matrices_have_the_rows_that_their_names_say():
    wide = banded(64, 6)
    away = (wide.c.reshape(64, 6) - np.arange(64)[:, None] + 32) % 64 - 32
    assert sorted(set(away.ravel().tolist())) == [-3, -2, -1, 0, 1, 2]
    drawn = uniform(4096, 4, 0)
    assert np.bincount(drawn.c, minlength=4096).var() == pytest.approx(4, rel=0.2)
    assert (np.diff(drawn.c.reshape(-1, 4), axis=1) >= 0).all()
    law = power_law(4096, 0)
    lengths = np.diff(law.r)
    assert lengths.min() == 1
    for length in (1, 2, 4, 8):  # half of all rows, a quarter ...
        own = (lengths >= length) & (lengths < 2 * length)
        assert own.mean() == pytest.approx(1 / (2 * length), rel=0.2)
    assert law.c.max() < 4096


def test_a_search_reaches_what_is_so_far_away():
    far = Search.start(grid(8), 9).after(grid(8), 100)
    i, j = np.divmod(np.arange(64), 8)
    away = [np.minimum(abs(one - 1), 8 - abs(one - 1)) for one in (i, j)]
    assert (far.cost == sum(away)).all()
    assert not far.frontier.any()
    near = Search.start(grid(8), 9).after(grid(8), 2)
    assert ((near.cost == 2) == near.frontier).all()


def test_the_second_set_s_matrices_are_what_their_names_say():
    dense = np.zeros((64, 64), int)
    matrix = laplacian(8)
    dense[np.repeat(np.arange(64), np.diff(matrix.r)), matrix.c] = 1
    i, j = np.divmod(np.arange(64), 8)
    away = abs(i[:, None] - i) + abs(j[:, None] - j)
    assert (dense == (away <= 1)).all()
    assert len(matrix.c) == dense.sum()
    counts = np.bincount(geometric(200_000, 1)) / 200_000
    assert counts[1:9] == pytest.approx([(7 / 8) ** k / 8 for k in range(8)], rel=0.05)


def test_a_graph_that_grows_has_each_edge_in_both_rows_and_few_vertices_with_many():
    n = 4096
    graph = preferential(n, 4, 1)
    lengths = np.diff(graph.r)
    rows = np.repeat(np.arange(n), lengths)
    edges, turned = (np.sort(one * n + other) for one, other in ((rows, graph.c), (graph.c, rows)))
    assert (edges == turned).all()
    assert (lengths.min(), lengths.sum()) == (4, 8 * n)
    # Of a power law with exponent 3, k (k + 1)/(d (d + 1)) of the vertices have d edges or more.
    for least in (8, 16, 32):
        assert (lengths >= least).mean() == pytest.approx(20 / (least * (least + 1)), rel=0.15)
    assert lengths.argmax() < 32


def test_links_lead_through_all_words():
    links, at, seen = cycle(100, 1), 0, set()
    for _ in range(100):
        at = links[at]
        seen.add(int(at))
    assert len(seen) == 100


def test_a_hash_table_has_all_keys_and_no_search_passes_an_empty_slot():
    keys = different_keys(768, 1)
    table = HashTable.of(keys, 10)
    places = np.flatnonzero(table.slots)
    assert np.sort(table.slots[places]).tolist() == keys.tolist()
    assert (keys[table.values[places]] == table.slots[places]).all()
    first = table.first(table.slots[places].astype(np.int64))
    assert first.max() < 1024
    assert table.slots[-1] == 0
    for begin, place in zip(first, places, strict=True):
        assert table.slots[begin : place + 1].all()
    assert (places > first).any()


def test_a_merge_begins_with_runs_half_as_long():
    runs = np.diff(bitonic_runs(4096, 512, 1).reshape(-1, 2, 256).astype(np.int64))
    assert (runs[:, 0] >= 0).all()
    assert (runs[:, 1] <= 0).all()
    steps = THIRD[[case.kernel for case in THIRD].index("bitonic sort")].make().steps
    assert [step.arguments[1:] for step in steps] == [
        *((1 << 15, 1 << distance) for distance in (14, 13, 12, 11)),
        (1 << 15,),
    ]


def test_prefix_sums_go_up_and_down_by_blocks():
    """Two levels, as many as the large ones have, less one."""
    launched = scanned(1024)
    assert [(step.program.name, step.threads, step.block_size) for step in launched.steps] == [
        ("block_scan", 1024, 256),
        ("block_scan", 4, 4),
        ("add_before", 1024, 256),
    ]
    large = scanned(3 * 65536)
    assert [step.threads for step in large.steps] == [196608, 768, 3, 768, 196608]
    assert (simulated(large)["sums 0"] == large.expected["sums 0"]).all()


# ------------------------------------------------------------ the kernels


def test_no_case_of_one_set_is_in_another():
    about = [(case.kernel, case.data) for case in (*CASES, *UNSEEN, *THIRD)]
    assert len(set(about)) == len(about) == 12 + 16 + 16


@pytest.mark.parametrize("case", [*CASES, *UNSEEN, *THIRD], ids=name)
def test_a_kernel_leaves_what_numpy_computes_also_when_it_is_launched_again(case):
    launched = case.make()
    arrays = simulated(launched)
    for one, expected in launched.expected.items():
        assert arrays[one].dtype == expected.dtype
        assert (arrays[one] == expected).all(), one
        assert not (expected == launched.arrays[one]).all()
    again = simulated(replace(launched, arrays=arrays))
    assert all((again[one] == expected).all() for one, expected in launched.expected.items())


@needs_compiler
@pytest.mark.parametrize("cases", [of_each_kind, sums_and_searches, scatters_and_passes])
def test_their_cuda_c_leaves_the_same(cases, tmp_path):
    """The first launch of each program, compiled and run, leaves what it does on the simulator."""
    first = {}
    for case in cases(QUICK):
        launched = case.make()
        arrays = dict(launched.arrays)
        for step in launched.steps:
            sizes = {"threads": step.threads, "block_size": step.block_size}
            given = step.given(arrays)
            run = MACHINE.run(step.program, *given, **sizes, engine="array")
            first.setdefault(step.program, (kernel(step.program, *given, **sizes), run.arrays))
            names = [one for one in step.arguments if isinstance(one, str)]
            arrays |= zip(names, run.arrays.values(), strict=True)
    emulated = Emulated([written for written, _ in first.values()], tmp_path)
    for number, (program, (_, right)) in enumerate(first.items()):
        left = emulated.run(number)
        assert all((left[one] == right[one]).all() for one in left), program.name


# ------------------------------------------------------------ times


def test_all_launches_are_timed_together_and_the_arrays_are_checked(monkeypatch):
    asked = []

    def played(steps, arrays, *, keep, sweeps):
        asked.append((len(steps), sweeps))
        left = simulated(SimpleNamespace(steps=steps, arrays=arrays))
        return Timing(2.0000004, 1.5, 3.0, 15, {one: left[one] for one in keep})

    monkeypatch.setattr(kernels_tables, "replay_steps", played)
    search = CASES[-1]
    launched = search.make()
    assert kernels_tables.measure(search) == {
        "launches": 17, "measured": 2.0, "low": 1.5, "high": 3.0,
        "digest": digest_of(launched.steps, launched.arrays),
    }  # fmt: skip
    assert asked == [(17, 17)]
    wrong = replace(search, make=lambda: replace(search.make(), expected={"cost": np.zeros(4096)}))
    with pytest.raises(MMSimError, match=r"search \(grid\) left the wrong array cost"):
        kernels_tables.measure(wrong)


@pytest.mark.parametrize(("which", "count"), [("kernels", 12), ("unseen", 16), ("third", 16)])
def test_the_experiment_has_a_cell_for_each_case(which, count):
    experiment = choose_experiment(SETS[which].experiment)
    everything, quick = (list(experiment.cells(Conditions(None, most))) for most in (None, 1024))
    assert [cell.about["side"] for cell in everything] == [SIDE] * count
    assert [cell.about["side"] for cell in quick] == [QUICK] * count
    assert len({cell.label for cell in everything}) == count
    own = [{**case.about, "side": QUICK} for case in SETS[which].cases(QUICK)]
    assert [cell.about for cell in quick] == own
    with pytest.raises(MMSimError, match="no side is 255 or less; the smallest is 256"):
        list(experiment.cells(Conditions(None, 255)))


# ------------------------------------------------------------ counts


@pytest.mark.parametrize("which", list(SETS))
def test_each_batch_is_of_some_cases_and_all_are_in_one(which):
    every = batches(which)
    assert list(every) == ["irregular", "regular"] == list(KERNELS)
    counted = []
    for kind, groups in every.items():
        own = [group.about for group in groups()]
        assert {one["kernel"] for one in own} <= set(KERNELS[kind])
        counted += own
    expected = [{**case.about, "side": SIDE} for case in SETS[which].cases(SIDE)]
    assert sorted(map(str, counted)) == sorted(map(str, expected))


def test_each_batch_of_icpp_is_of_one_side():
    icpp = batches("icpp")
    assert sorted(map(int, icpp)) == [256, 512, 1024, 2048, 4096, 8192]
    groups = list(icpp["256"]())
    assert len(groups) == 5 * 2 * 2 + 2
    kept = Record.read(FOLDER / "ICPP-T2.json").rows
    for group in groups[:-2]:
        assert any(group.about.items() <= row.items() for row in kept), group.about
    steps, arrays = groups[0].make()
    assert (len(steps), arrays["a"].size) == (1, 65536)
    assert len(groups[-1].make()[0]) == 5


def of_one(which="kernels"):
    """A batch of two cases, one of several launches."""
    small = {case.kernel: case for case in CASES}
    return lambda: iter(
        Group(small[one].about, lambda own=small[one]: made(own)) for one in ("gather", "histogram")
    )


def made(case):
    launched = case.make()
    return launched.steps, launched.arrays


@pytest.fixture
def played(monkeypatch):
    """A GPU that launches nothing, but lists what it was to launch."""
    found = PlayedCuPy(4, lambda p, grid: 0)
    monkeypatch.setattr(counted_launches, "cupy", lambda: found)
    monkeypatch.setattr(counted_launches, "compiled", found.compiled)
    play_facts(monkeypatch, counted_launches)
    monkeypatch.setattr(
        counted_launches, "batches", lambda which: {"one": of_one(), "two": of_one()}
    )
    play_profiler(monkeypatch)
    return found.launched


NAMES = ["gather", "clear", "in_place"]


def test_each_launch_is_said_as_it_is_made(played):
    _, arrays = next(of_one()()).make()
    rows = list(launch(of_one()()))
    assert [row["program"] for row in rows] == NAMES
    assert [row["step"] for row in rows] == [0, 0, 1]
    assert [row["data"] for row in rows] == ["Zipf", "Zipf", "Zipf"]
    assert [one for one, *_ in played] == [f"{NAME}{program}" for program in NAMES]
    name, last, first, grid, _ = played[0]
    assert (name, grid) == (f"{NAME}gather", (256, 1, 1))
    assert (first.tolist(), last) == (arrays["a"].tolist(), arrays["q"].tolist())


def test_what_was_launched_is_joined_with_what_was_counted_of_it():
    rows = [{"program": one, profiled.KERNEL: f"{NAME}{one}"} for one in NAMES]
    counted = [Profiled(f"{NAME}{one}", {METRICS[1]: number}) for number, one in enumerate(NAMES)]
    found = profiled.joined(rows, counted, METRICS)
    assert [row["program"] for row in found] == NAMES
    assert all(profiled.KERNEL not in row for row in found)
    assert [row[METRICS[1]] for row in found] == [0, 1, 2]
    assert all(row[METRICS[0]] is None for row in found)
    with pytest.raises(NoCounters, match="counted 2 launches of 3; run it again"):
        profiled.joined(rows, counted[:2], METRICS)
    with pytest.raises(NoCounters):
        profiled.joined(rows, counted[::-1], METRICS)


def under_the_profiler(profiler, names, metrics, folder, module, *asked, cache):
    """`ncu.profile`: the child is run here, and each launch counts as 7."""
    assert (names, module, cache) == (NAME, "benchmarks.laboratory.counted_launches", "all")
    if "two" in asked:
        raise NoCounters("the second batch fails")
    assert main(asked) == 0
    return [Profiled(f"{NAME}{one}", dict.fromkeys(metrics, 7)) for one in NAMES]


def test_batch_by_batch_is_saved_and_one_that_fails_is_named(played, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(ncu, "profile", under_the_profiler)
    file = tmp_path / "counts.json"
    assert main(["kernels", str(file)]) == 1
    record = Record.read(file)
    assert record.experiment == "kernels-counters"
    assert [(row["program"], row[METRICS[-1]]) for row in record.rows] == [
        (one, 7) for one in NAMES
    ]
    assert record.facts["left out"] == {"two": "the second batch fails"}
    printed = capsys.readouterr().out
    assert "one: 3 launches counted so far\n" in printed
    assert "two was left out: the second batch fails\n" in printed
    assert main(["kernels", str(file), "--batches", "one"]) == 0
    assert json.loads(file.read_text())["command"].endswith("counted_launches kernels")


def test_an_unknown_batch_and_no_gpu_are_reported(monkeypatch, tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["kernels", str(tmp_path / "counts.json"), "--batches", "fourth"])
    assert "there is no batch 'fourth'; there are irregular, regular" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "cupy", None)
    play_profiler(monkeypatch)
    assert main(["kernels", str(tmp_path / "counts.json")]) == 2
    assert "CuPy is not installed" in capsys.readouterr().err
