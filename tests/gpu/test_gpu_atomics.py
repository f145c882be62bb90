"""Atomics on a GPU and in the model: patterns, kernels, what is counted and timed, the command.

The GPU is only played: it counts and takes what the model says, or something else on purpose.
"""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

import mmsim as mm
from mmsim.api.kernels import kernel
from mmsim.cli.main import main
from mmsim.gpu.counting import METRICS, NAME
from mmsim.gpu.ncu import NoCounters, Profiled
from mmsim.gpu.record import Record
from mmsim_algorithms.gpu import atomics, sessions
from mmsim_algorithms.gpu.atomic_patterns import (
    EVERY,
    FEW,
    FEW_NAMES,
    WORDS,
    one_address,
    random,
    stride,
)
from mmsim_algorithms.gpu.atomics import ACCESSES, WANTED, compare, hardware, prepare
from tests.kit.cards.fake_ncu import fake_ncu
from tests.kit.cards.played import play_facts, play_profiler
from tests.kit.oracle.emulated_gpu import Emulated, needs_compiler

WAVEFRONTS = METRICS["shared", "atomic"]
(USED,) = (one for one in ACCESSES if one.name == "int32 add, old value used" and one.again)
(LONG,) = (one for one in ACCESSES if one.dtype is np.int64)


def pattern(name, warps=1):
    (found,) = (one for one in EVERY if (one.name, one.warps) == (name, warps))
    return found


def test_there_are_72_patterns_and_none_twice():
    assert len(EVERY) == 72
    assert len({(one.warps, *one.index.tolist()) for one in EVERY}) == 72
    assert len({(one.name, one.warps) for one in EVERY}) == 72
    assert Counter(one.warps for one in EVERY) == {1: 61, 4: 11}
    for one in EVERY:
        assert one.index.dtype == np.int32
        assert one.index.min() >= 0
        assert one.index.max() < WORDS


def test_a_few_patterns_stand_for_all():
    assert sorted(one.name for one in FEW) == sorted(FEW_NAMES)
    assert {one.warps for one in FEW} == {1}


@pytest.mark.parametrize(
    ("name", "warps", "stages"),
    [
        *(("one address", 1, 32), ("stride 1", 1, 1), ("stride 3", 1, 1), ("stride 8", 1, 8)),
        *(("stride 32", 1, 32), ("stride 33", 1, 1), ("backwards", 1, 1)),
        *(("4 neighbours at each address", 1, 4), ("4 addresses in turn", 1, 8)),
        ("4 neighbours at each address of one bank", 1, 32),
        ("16 addresses of one bank in turn", 1, 32),
        ("8 lanes in one bank, the rest apart", 1, 8),
        *(("3 lanes at one address, the rest apart", 1, 3), ("one address", 4, 128)),
        *(("an address for each warp", 4, 128), ("stride 2", 4, 8)),
    ],
)
def test_the_stages_of_a_pattern(name, warps, stages):
    about = USED.about(pattern(name, warps))
    assert (about["model"], about["model by size"]) == (stages, stages)


@pytest.mark.parametrize("access", [USED, LONG], ids=lambda access: access.dtype.__name__)
def test_random_patterns_take_what_their_fullest_bank_does(access):
    for seed in range(3):
        one = random(64, seed)
        about = access.about(one)
        banks = one.index % 32
        halves = one.index.reshape(2, 16) % 16
        assert about["model"] == np.bincount(banks).max()
        by_size = [np.bincount(half).max() for half in halves]
        assert about["model by size"] == (about["model"] if access is USED else sum(by_size))


def test_in_global_memory_the_most_requests_for_one_address_of_each_group_count():
    (access,) = (one for one in ACCESSES if one.memory == "global" and one.name == USED.name)
    assert access.about(stride(32))["model"] == 32
    assert access.about(stride(2))["model"] == 2
    assert access.about(pattern("8 addresses in turn"))["model"] == 4
    assert access.about(one_address())["model"] == 32


def test_kernels_of_an_access_have_its_name_and_one_text_for_each_size():
    cases = prepare()
    assert len(cases) == sum(len(access.patterns) for access in ACCESSES)
    texts = {(case.kernel.name, case.pattern.threads): set() for case in cases}
    for case in cases:
        assert case.kernel.name == f"{NAME}{ACCESSES.index(case.access)}"
        texts[case.kernel.name, case.pattern.threads].add(case.kernel.source)
    assert all(len(own) == 1 for own in texts.values())


def test_old_values_are_used_where_the_access_says_so():
    for case in prepare_few():
        access, text = case.access, case.kernel.source
        call = {"max": "atomicMax", "exch": "atomicExch", "cas": "atomicCAS"}.get(
            access.name.split(",")[0].split()[1], "atomicAdd"
        )
        used = f"= {call}(" in text or f"= (long long){call}(" in text
        assert used == ("old value used" in access.name), text
        assert (", 1);" in text) == ("add of 1" in access.name)
        assert ("__shared__" in text) == (access.memory == "shared")


def prepare_few():
    """The cases of one warp with one address."""
    return [
        case for case in prepare() if case.pattern.name == "one address" and case.pattern.warps == 1
    ]


@needs_compiler
def test_kernels_leave_what_the_simulator_does(tmp_path):
    written, expected = [], []
    machine = mm.DMM(32, 1)
    for access in ACCESSES:
        for one in (one_address(64), random(8, 1, 64)):
            given = access.arguments(one)
            if access.memory == "global":
                written.append(kernel(access.program, *given, threads=64))
                run = machine.run(access.program, *given, threads=64, engine="events")
                expected.append(run.arrays["h"])
            if access.again is not None:
                written.append(kernel(access.again, *given, 3, threads=64, space="shared"))
                run = machine.run(access.again, *given, 3, threads=64, engine="events")
                expected.append(run.arrays["h"])
    assert len(written) == 2 * (4 + 6)
    emulated = Emulated(written, tmp_path)
    for number, h in enumerate(expected):
        assert h.any()
        assert (emulated.run(number)["h"] == h).all(), written[number].source


QUERIED = f"""\
Device NVIDIA H200 (GH100)
-------------------------- --------------- --------------- ------------------------
Metric Name                Metric Type     Metric Unit     Metric Description
-------------------------- --------------- --------------- ------------------------
{WAVEFRONTS.removesuffix(".sum")}    Counter    wavefronts    # of local/shared wavefronts
lts__t_requests_op_red   Counter   # of LTS requests for lts__t_requests_op_atom
==PROF== done
"""


def test_the_profiler_is_asked_which_metrics_there_are(tmp_path):
    body = f"assert args == ['--query-metrics']\nprint({QUERIED!r})"
    known = sessions.known_metrics(fake_ncu(tmp_path, body))
    assert known == {WAVEFRONTS.removesuffix(".sum"), "lts__t_requests_op_red"}


def test_all_is_asked_for_where_the_profiler_lists_nothing(tmp_path):
    assert sessions.known_metrics(fake_ncu(tmp_path, "sys.exit('no device')")) == set()
    assert sessions.known_metrics(str(tmp_path / "none")) == set()


def as_counted(cases, extra=0, without=()):
    """The launches of a GPU that does as the model says, or so much more."""
    for case in cases:
        about = case.access.about(case.pattern)
        names = WANTED[case.access.memory]
        counts = {name: about["model by size"] + extra for name in names if name not in without}
        yield Profiled(case.kernel.name, counts)


def test_counts_stand_next_to_the_model():
    cases = prepare_few()
    rows = list(compare(cases, list(as_counted(cases))))
    assert [row["access"] for row in rows] == [access.name for access in ACCESSES]
    first = rows[0]
    assert {name: first[name] for name in ("measure", "memory", "pattern", "warps", "model")} == {
        "measure": "counts",
        "memory": "shared",
        "pattern": "one address",
        "warps": 1,
        "model": 32,
    }
    shared = {row["access"]: hardware(row) for row in rows if row["memory"] == "shared"}
    assert shared.pop("int32 cas, old value used") == 64
    assert set(shared.values()) == {32}
    # Requests that want the old value and those that don't.
    assert [hardware(row) for row in rows if row["memory"] == "global"] == [64] * 4


def test_a_metric_that_is_missing_leaves_the_others():
    cases = prepare_few()
    lacking = (WAVEFRONTS, "lts__t_requests_op_red.sum")
    rows = list(compare(cases, list(as_counted(cases, without=lacking))))
    assert {hardware(row) for row in rows} == {None}
    assert rows[0][WAVEFRONTS] is None
    assert rows[0]["smsp__inst_executed_op_shared_atom.sum"] == 32
    assert rows[-1]["lts__t_requests_op_atom.sum"] == 32


def test_launches_must_be_those_of_the_cases():
    cases = prepare_few()
    launches = list(as_counted(cases))
    with pytest.raises(NoCounters, match="14 launches of 14; run it again"):
        list(compare(cases, launches[::-1]))


def played(program, *args, threads, space, repeat, samples):
    """A GPU that takes 7 cycles, and 1.5 for each stage of an access; one launch is slower."""
    run = mm.DMM(32, 1).run(program, *args, threads=threads, engine="events")
    stages = sum(row.stages for row in run.accesses if row.kind == "atomic")
    cycles = 7 + 1.5 * stages
    arrays = dict(run.arrays)
    if arrays["h"].dtype == np.int64:
        arrays["h"] = arrays["h"] + 1
    return SimpleNamespace(median=cycles, low=cycles, high=cycles + 64, arrays=arrays)


@pytest.fixture
def as_if(monkeypatch):
    """As if there were a GPU and ncu, which counts what the model says."""
    play_facts(monkeypatch, atomics, device="X")
    play_profiler(monkeypatch, [WAVEFRONTS.removesuffix(".sum")])
    monkeypatch.setattr(atomics, "replay", played)
    monkeypatch.setattr(atomics, "TIMES", (1, 3))
    few = tuple(one for one in ACCESSES if one in (USED, LONG))
    monkeypatch.setattr(atomics, "ACCESSES", few)
    asked = []

    def counts(profiler, launches, metrics):
        asked.append((profiler, [repeats for _, repeats in launches], metrics))
        return list(as_counted(prepare()))

    monkeypatch.setattr(atomics, "profiled", counts)
    return asked


def test_a_cycle_is_of_one_access_of_the_block(as_if):
    rows = list(atomics.cycles(USED))
    assert [(row["pattern"], row["model"], row["cycles"]) for row in rows] == [
        ("stride 1", 32, 48.0),
        ("random over 32 words, seed 0", rows[1]["model"], 1.5 * rows[1]["model"]),
        ("one address", 1024, 1536.0),
    ]
    assert [(row["low"], row["high"]) for row in rows[::2]] == [(16.0, 80.0), (1504.0, 1568.0)]
    assert [row["equal"] for row in rows] == [True] * 3
    assert [row["equal"] for row in atomics.cycles(LONG)] == [False] * 3


def test_the_command_prints_two_tables_and_saves_a_record(as_if, capsys, tmp_path):
    saved = tmp_path / "atomics.json"
    assert main(["gpu", "atomics", "--json", str(saved)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "clock cycles and the model's stages" in printed
    assert "int32 add, old value used │ shared │ 72 │ 72 │ 72 │" in printed
    record = Record.read(saved)
    assert (record.experiment, record.facts["command"]) == ("atomics", "mmsim gpu atomics")
    assert record.facts["ncu"] == "1.0"
    lacking = record.facts["metrics lacking"]
    assert len(lacking) == sum(map(len, WANTED.values())) - 1
    assert WAVEFRONTS not in lacking
    assert Counter(row["measure"] for row in record.rows) == {"cycles": 6, "counts": 84}
    assert as_if == [("ncu", [(1,)] * 84, [WAVEFRONTS])]


def test_times_are_saved_where_nothing_can_be_counted(as_if, monkeypatch, capsys, tmp_path):
    def fails(*_):
        raise NoCounters("the profiler broke")

    monkeypatch.setattr(atomics, "profiled", fails)
    saved = tmp_path / "atomics.json"
    assert main(["gpu", "atomics", "--json", str(saved)]) == 2
    assert "the profiler broke" in capsys.readouterr().err
    assert {row["measure"] for row in Record.read(saved).rows} == {"cycles"}
