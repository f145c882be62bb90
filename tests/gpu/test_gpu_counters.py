"""The GPU's counters and the model's stages: what is launched, how ncu is read, what is equal.

What needs a GPU and ncu skips itself with the sentence that says what is missing.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import mmsim as mm
import mmsim_algorithms
from mmsim import gpu
from mmsim.cli.main import main
from mmsim.gpu import counted, counting, ncu
from mmsim.gpu.counting import METRICS, NAME, Counters, compare, prepare
from mmsim.gpu.expected import Expected
from mmsim.gpu.ncu import NoCounters, Profiled
from mmsim.gpu.record import Record
from mmsim.gpu.words import CardBanks, narrowed
from mmsim.host import plugins
from mmsim.model.byte_banks import ByteGroups
from mmsim.reports.gpu import counters_summary, left_out
from mmsim_algorithms import access, histogram, hmm_permutation, transpose
from mmsim_algorithms.access import rounds as hmm_rounds
from mmsim_algorithms.gpu import sessions
from mmsim_algorithms.rap import cuda as rap_cuda
from mmsim_algorithms.rap import higher as rap_higher
from tests.kit.cards.fake_ncu import fake_ncu
from tests.kit.cards.played import play_facts, play_profiler

ROOM = 227 * 1024
SHARED_READ, SHARED_WRITE = METRICS["shared", "read"], METRICS["shared", "write"]
GLOBAL_READ, GLOBAL_WRITE = METRICS["global", "read"], METRICS["global", "write"]


@mm.program
def wide(T, a, b):
    b[T.id] = a[T.lane * 2 + T.warp]


@wide.example
def wide_example(width, size=0, seed=0):
    return mm.Example(np.full(128, 2**40), np.full(64, 0.5), threads=64)


@mm.program
def narrow(T, a):
    a[4 * T.id]


@narrow.example
def narrow_example(width, size=0, seed=0):
    return mm.Example(np.zeros(256, np.int8), threads=64)


@mm.program
def too_many(T, a):
    a[T.id]


@too_many.example
def too_many_example(width, size=0, seed=0):
    return mm.Example(np.zeros(2048), threads=2048)


@mm.program
def without_example(T, a):
    a[T.id]


# ------------------------------------------------------------ words


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        *((np.array([0, 2**31 - 1, -(2**31)]), "int32"), (np.array([2**31]), "int64")),
        *((np.array([], np.int64), "int32"), (np.array([2**32 - 1], np.uint64), "uint32")),
        (np.array([2**32], np.uint64), "uint64"),
        *((np.array([0.1, -np.inf, np.nan]), "float32"), (np.array([1e300]), "float64")),
        *((np.array([1, 2], np.int16), "int16"), (np.array([True]), "bool")),
        ([[1, 2], [3, 4]], "int32"),
    ],
)
def test_arrays_are_narrowed_to_4_bytes_where_their_values_allow(values, dtype):
    new = narrowed(values)
    assert new.dtype == dtype
    assert new.shape == np.shape(values)
    np.testing.assert_array_equal(new, np.asarray(values, dtype))


def test_a_placed_array_keeps_its_layout_and_a_number_stays():
    layout = mm.layout.RAP(4, seed=1)
    new = narrowed(mm.place(np.arange(16).reshape(4, 4), layout))
    assert (new.data.dtype, new.layout) == (np.int32, layout)
    assert narrowed(2**40) == 2**40


def test_words_of_other_sizes_are_served_by_other_rules():
    lanes = list(range(32))

    def served(rule, size, words, lanes=lanes):
        return rule(32).of_words(size).stages(words, np.array(lanes))

    assert served(CardBanks, 4, [2 * lane for lane in lanes]) == 2
    assert served(CardBanks, 8, [2 * lane for lane in lanes]) == 4
    assert served(CardBanks, 8, [0] * 32) == 2  # each half reads it
    assert served(CardBanks, 8, [0, 16], [3, 9]) == 2  # one half, one bank
    assert served(CardBanks, 8, [0, 16], [3, 19]) == 2
    for size, stages in ((1, 2), (4, 2), (8, 4)):  # pairs of shorter elements are of 8 bytes
        rule = CardBanks(32).of_vectors(size, "write", 2)
        assert rule.stages(list(range(64)), np.repeat(lanes, 2)) == stages
    assert served(ByteGroups, 4, lanes) == 1
    assert served(ByteGroups, 8, lanes) == 2
    assert served(ByteGroups, 2, [2 * lane for lane in lanes]) == 1
    assert served(ByteGroups, 1, [5 * lane for lane in lanes]) == 2


# ------------------------------------------------------------ what is expected


def prepared(*programs):
    """The cases of programs, by machine, and what is left out."""
    cases, left = prepare(programs, ROOM)
    return {case.kernel.space: case for case in cases}, left


def models(case):
    return {place: known.model for place, known in case.expected.items() if known.model}


def test_the_diagonal_transpose_on_both_machines():
    cases, left = prepared(transpose.diagonal)
    assert left == {}
    assert models(cases["shared"]) == {("shared", "read"): 32, ("shared", "write"): 32}
    assert models(cases["global"]) == {("global", "read"): 1024, ("global", "write"): 1024}
    for case in cases.values():
        assert all(known.reasons == () for known in case.expected.values())
        assert {known.sizes for known in case.expected.values()} <= {(4,), ()}
    assert (cases["shared"].repeats, cases["global"].repeats) == ((0, 1), (1,))


def test_a_program_with_shared_arrays_has_both_memories_and_isn_t_cleared():
    cases, left = prepared(hmm_permutation.row_wise)
    assert models(cases["global"]) == {
        ("shared", "read"): 256,
        ("shared", "write"): 256,
        ("global", "read"): 384,
        ("global", "write"): 128,
    }
    assert "clear(" not in cases["global"].kernel.source
    assert left == {
        f"{hmm_permutation.row_wise.function.__module__}:row_wise on the DMM": "64 blocks can't "
        "have their arrays in one shared memory; give one block, or space='global'"
    }


def test_what_a_gpu_has_no_room_for_is_left_out():
    cases, left = prepared(rap_higher.stride1, too_many)
    assert set(cases) == {"global"}
    reasons = {name.split(":")[1]: reason for name, reason in left.items()}
    assert sorted(reasons) == ["stride1 on the DMM", "too_many on the DMM", "too_many on the HMM"]
    room = "4194304 bytes of shared memory, but a block has at most 232448"
    assert room in reasons["stride1 on the DMM"]
    assert "a block of 2048 threads" in reasons["too_many on the HMM"]


def test_a_program_without_an_example_is_refused():
    with pytest.raises(mm.MMSimError, match="has no example"):
        prepared(without_example)


def test_words_of_8_bytes_are_predicted_lane_by_lane():
    cases, _ = prepared(hmm_rounds.conflict_free)
    known = cases["global"].expected["shared", "write"]
    assert known == Expected(
        32, (8,), ("8-byte words in alpha: a warp is served as two half-warps",), 64
    )
    cases, _ = prepared(wide)
    known = cases["shared"].expected
    assert known["shared", "read"].reasons == (
        "8-byte words in a: a warp is served as two half-warps",
    )
    assert (known["shared", "read"].model, known["shared", "read"].predicted) == (4, 8)
    assert known["shared", "write"] == Expected(2, (4,), (), 2)
    # Two warps of words 0, 2, ..., 62 and 1, 3, ..., 63: two groups of 32 words, four of 16.
    known = cases["global"].expected["global", "read"]
    assert known.reasons == ("words of 8 bytes in a: an address group holds 16",)
    assert (known.model, known.predicted) == (4, 8)


def test_narrow_words_share_an_address_group():
    cases, _ = prepared(narrow)
    known = cases["global"].expected["global", "read"]
    assert known.reasons == ("words of 1 byte in a: an address group holds 128",)
    assert (known.model, known.predicted) == (8, 2)
    assert cases["shared"].expected["shared", "read"].reasons == ()  # 4 bytes each there


def test_a_layout_s_table_is_read_too():
    cases, _ = prepared(rap_higher.contiguous)
    known = cases["global"].expected
    assert known["global", "read"] == Expected(
        32, (4,), ("the kernel also reads a table of where the words of a lie",), 64
    )
    assert known["global", "write"] == Expected(0, (), (), 0)


def test_reads_may_be_missing_where_a_register_is_looked_up():
    known = {
        program.name: prepared(program)[0]["shared"].expected["shared", "read"]
        for program in (rap_cuda.cuda_as_printed, rap_cuda.cuda_corrected, access.copy)
    }
    assert (known["cuda_as_printed"].model, known["cuda_as_printed"].why(64)) == (
        224,
        "the assembler leaves out reads into registers that no thread of the warp uses",
    )
    assert known["cuda_as_printed"].why(225) is None
    assert known["cuda_as_printed"].why(0) is None
    assert known["copy"].why(known["copy"].model - 1) is None


def test_a_difference_is_explained_only_by_a_prediction_that_comes_true():
    known = Expected(32, (8,), ("because", "and so"), 64)
    assert known.why(32) == ""
    assert known.why(64) == "because; and so"
    assert known.why(63) is None
    assert Expected(32, (4,), (), 32).why(33) is None


def test_each_kernel_has_a_name_of_its_own():
    cases, _ = prepare([access.copy, access.copy], ROOM)
    names = [case.kernel.name for case in cases]
    assert names == [f"{NAME}{number}" for number in range(4)]
    for case in cases:
        assert f"void {case.kernel.name}(" in case.kernel.source
        assert len(re.findall(r"__global__", case.kernel.source)) == 1


def test_packages_register_their_programs(monkeypatch):
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    points = project["project"]["entry-points"][counting.GROUP]
    found = [EntryPoint(name, value, counting.GROUP) for name, value in points.items()]
    monkeypatch.setattr(plugins, "entry_points", lambda group: found)
    assert counting.registered_programs() == mmsim_algorithms.programs()


# ------------------------------------------------------------ reading ncu

HEADER = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size",'
    '"Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"'
)


def line(number, kernel, metric, value):
    return (
        f'"{number}","1234","python3.12","127.0.0.1","{kernel}","1","7","(1024, 1, 1)",'
        f'"(1, 1, 1)","0","9.0","Command line profiler metrics","{metric}","","{value}"'
    )


LONG = "\n".join(
    [
        "==PROF== Connected to process 1234 (/usr/bin/python3.12)",
        '==PROF== Profiling "mmsim_counted_0" - 0: 0%....50%....100% - 1 pass',
        HEADER,
        line(0, "mmsim_counted_0", GLOBAL_READ, "1,024"),
        line(0, "mmsim_counted_0", SHARED_READ, "0"),
        line(1, "cupy_fill(float *, int)", GLOBAL_READ, "77"),
        '==PROF== Profiling "mmsim_counted_1" - 2: 0%....50%....100% - 1 pass',
        line(10, "mmsim_counted_1(int const *)", SHARED_READ, "1,234,567"),
        line(2, "mmsim_counted_1", SHARED_READ, "32.00"),
        line(2, "mmsim_counted_1", GLOBAL_READ, "n/a"),
        line(2, "mmsim_counted_1", GLOBAL_WRITE, "(!) nan"),
        "==PROF== Disconnected from process 1234",
        "",
    ]
)


def test_the_long_table_is_read_in_order_of_launches():
    assert ncu.read(LONG) == [
        Profiled("mmsim_counted_0", {GLOBAL_READ: 1024, SHARED_READ: 0}),
        Profiled("cupy_fill", {GLOBAL_READ: 77}),
        Profiled("mmsim_counted_1", {SHARED_READ: 32}),
        Profiled("mmsim_counted_1", {SHARED_READ: 1234567}),
    ]


def test_the_page_raw_is_read_too():
    text = "\n".join(
        [
            "==PROF== Connected to process 5 (python)",
            f'"ID","Process ID","Kernel Name","{SHARED_READ}","{SHARED_WRITE}"',
            '"","","","",""',
            '"0","5","mmsim_counted_0","1,056","32"',
            '"1","5","mmsim_counted_0","2,080","n/a"',
        ]
    )
    assert ncu.read(text) == [
        Profiled("mmsim_counted_0", {SHARED_READ: 1056, SHARED_WRITE: 32}),
        Profiled("mmsim_counted_0", {SHARED_READ: 2080}),
    ]


def test_nothing_is_read_where_nothing_was_profiled():
    assert ncu.read("") == []
    assert ncu.read("==PROF== Connected\n==WARNING== No kernels were profiled.\n") == []
    assert ncu.read('"a","line","of","the","program"\n') == []


PERMISSION = (
    "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
    "Performance Counters on the target device 0.\n==WARNING== No kernels were profiled.\n"
)


@pytest.mark.parametrize(
    ("text", "errors", "words"),
    [
        (PERMISSION, "", "run this as root"),
        ("==ERROR== Failed to initialize the profiler: LibraryNotLoaded", "", "sandboxes"),
        ("==ERROR== Failed to find metric l1tex__x.sum", "", r"\(Failed to find metric l1tex__x"),
        (
            "==ERROR== The application returned an error code (1).",
            "Traceback (most recent call last):\n  ...\nmmsim.gpu.replay.NoGPU: no GPU\n",
            "couldn't be launched under ncu: mmsim.gpu.replay.NoGPU: no GPU$",
        ),
        ("==ERROR== Profiling failed", "", "ncu failed: Profiling failed"),
        ("==PROF== Connected", "==ERROR== a lock file\n", "ncu failed: a lock file"),
        ("==WARNING== No kernels were profiled.", "", "saw none of the kernels"),
    ],
)
def test_a_failure_is_one_sentence(text, errors, words):
    shown = ncu.failure(text, errors)
    assert "\n" not in shown
    assert re.search(words, shown), shown


def test_the_module_is_run_under_the_profiler(tmp_path):
    shown = tmp_path / "shown.json"
    profiler = fake_ncu(
        tmp_path,
        f"import json\nlog.write_text({LONG!r})\n"
        f"pathlib.Path({str(shown)!r}).write_text(json.dumps([args, os.environ['PYTHONPATH']]))",
    )
    found = ncu.profile(profiler, NAME, ["m.sum", "n.sum"], tmp_path, "some.module", "file")
    assert len(found) == 4
    args, path = json.loads(shown.read_text())
    assert args[-4:] == [sys.executable, "-m", "some.module", "file"]
    for option, value in [
        ("--metrics", "m.sum,n.sum"),
        ("--kernel-name", f"regex:^{NAME}"),
        ("--clock-control", "none"),
    ]:
        assert args[args.index(option) + 1] == value
    assert Path(path.split(os.pathsep)[0], "mmsim").is_dir()


@pytest.mark.parametrize("status", [0, 1])
def test_a_profiler_that_counts_nothing_is_an_error(tmp_path, status):
    profiler = fake_ncu(tmp_path, f"log.write_text({PERMISSION!r})\nsys.exit({status})")
    with pytest.raises(NoCounters, match="run this as root"):
        ncu.profile(profiler, NAME, ["m.sum"], tmp_path, "some.module")


def test_a_profiler_that_fails_halfway_is_an_error(tmp_path):
    profiler = fake_ncu(tmp_path, f"log.write_text({LONG!r})\nsys.exit('the child broke')")
    with pytest.raises(NoCounters, match="the child broke"):
        ncu.profile(profiler, NAME, ["m.sum"], tmp_path, "some.module")


def test_a_profiler_that_can_t_be_run_is_an_error(tmp_path):
    with pytest.raises(NoCounters, match="can't be run: No such file"):
        ncu.profile(str(tmp_path / "no"), NAME, ["m.sum"], tmp_path, "some.module")
    assert ncu.version(str(tmp_path / "no")) == "unknown"


def test_the_profiler_s_version(tmp_path):
    body = "print('NVIDIA (R) Nsight Compute Command Line Profiler\\nVersion 2025.3.1.0 (build 1)')"
    assert ncu.version(fake_ncu(tmp_path, body)) == "2025.3.1.0"
    assert ncu.version(fake_ncu(tmp_path, "")) == "unknown"


@pytest.mark.parametrize(
    ("known", "asked"), [({"a__x", "c__z"}, ["a__x.sum", "c__z.sum"]), (set(), None)]
)
def test_metrics_that_a_gpu_lacks_are_left_out(known, asked, monkeypatch):
    """All are asked for where the profiler lists none."""
    play_profiler(monkeypatch, known)
    wanted = ["a__x.sum", "b__y.sum", "c__z.sum"]
    profiler, metrics, facts = sessions.session(wanted)
    assert (profiler, metrics) == ("ncu", asked or wanted)
    assert facts == {"ncu": "1.0", "metrics lacking": ["b__y.sum"] if asked else []}


@pytest.mark.parametrize("names", [["a"], ["a", "b", "c"], ["b", "a"]])
def test_launches_must_be_those_of_the_kernels(names):
    launches = [Profiled("a"), Profiled("b")]
    assert sessions.in_order(launches, ["a", "b"]) == launches
    with pytest.raises(NoCounters, match=f"counted 2 launches of {len(names)}; run it again"):
        sessions.in_order(launches, names)


# ------------------------------------------------------------ hardware and model


def as_counted(cases, change=lambda number: number, copying=100):
    """Launches of hardware that does as is predicted."""
    for case in cases:
        numbers = {METRICS[place]: known.predicted for place, known in case.expected.items()}
        for repetitions in case.repeats:
            extra = copying if case.kernel.space == "shared" else 0
            values = {
                name: extra + repetitions * change(number) for name, number in numbers.items()
            }
            yield Profiled(case.kernel.name, values)


@mm.program
def tickets(T, x, h, old):
    old[T.id] = mm.atomic.add(h, x[T.id], 1)


@mm.program
def weights(T, x, h, old):
    mm.atomic.add(h, x[T.id], 2)


@weights.example
@tickets.example
def tickets_example(width, size=0, seed=0):
    return mm.Example(np.arange(64) % 4, np.zeros(4, int), np.zeros(64, int), threads=64)


def test_atomics_in_shared_memory_are_counted_apart():
    """Two warps of 32 requests for 4 banks: 8 stages each. In global memory none is counted."""
    cases, _ = prepare([tickets], ROOM)
    found = [one for one in compare(cases, as_counted(cases)) if one.kind == "atomic"]
    assert [(one.machine, one.memory, one.model, one.verdict) for one in found] == [
        ("DMM", "shared", 16, "equal")
    ]


def test_lanes_that_add_1_may_be_merged_and_others_not():
    why = "lanes that add 1 to a word, and don't use its old value, are merged"
    cases, _ = prepare([histogram.histogram, histogram.counting_sort, tickets, weights], ROOM)
    known = {case.program.split(":")[1]: case.expected["shared", "atomic"] for case in cases}
    assert {name: one.fewer for name, one in known.items()} == {
        "histogram": why,
        "counting_sort": "",
        "tickets": "",
        "weights": "",
    }
    model = known["histogram"].model
    assert [known["histogram"].why(count) for count in (model, model - 1, model + 1, 0)] == [
        "", why, None, None,
    ]  # fmt: skip
    assert known["counting_sort"].why(known["counting_sort"].model - 1) is None


def test_of_two_launches_the_difference_counts():
    cases, _ = prepare([transpose.diagonal, hmm_rounds.conflict_free], ROOM)
    counts = compare(cases, as_counted(cases))
    found = [
        (one.program.split(":")[1], one.machine, one.memory, one.kind, one.words, one.hardware)
        for one in counts
    ]
    assert found == [
        ("diagonal", "HMM", "global", "read", "4", 1024),
        ("diagonal", "HMM", "global", "write", "4", 1024),
        ("diagonal", "DMM", "shared", "read", "4", 32),
        ("diagonal", "DMM", "shared", "write", "4", 32),
        ("conflict_free", "HMM", "shared", "write", "8", 64),
    ]
    assert [one.verdict for one in counts[:4]] == ["equal"] * 4
    assert counts[4].verdict == "8-byte words in alpha: a warp is served as two half-warps"
    counters = Counters(tuple(counts), {"x on the DMM": "why", "y on the DMM": "why"})
    assert (counters.equal, counters.explained, counters.unexplained) == (4, 1, 0)
    assert counters_summary(counters) == "5 counts: 4 equal, 1 different (0 of them unexplained)"
    assert left_out(counters) == ["left out: x on the DMM, y on the DMM: why"]


def test_what_is_unknown_is_unexplained():
    cases, _ = prepare([access.contiguous, hmm_rounds.conflict_free], ROOM)
    counts = compare(cases, as_counted(cases, lambda number: number + 1))
    plain = next(one for one in counts if one.words == "4")
    guessed = next(one for one in counts if one.words == "8")
    untouched = next(one for one in counts if one.words == "")
    assert plain.verdict == "unexplained"
    assert guessed.verdict.startswith("unexplained; 8-byte words in alpha")
    assert guessed.verdict.endswith(": 64")
    assert (untouched.hardware, untouched.model) == (1, 0)
    assert Counters(tuple(counts), {}).unexplained == len(counts)


def test_a_launch_or_a_metric_that_is_missing_is_an_error():
    cases, _ = prepare([access.copy], ROOM)
    launches = list(as_counted(cases))
    with pytest.raises(NoCounters, match=r"1 launches of \S+\.access\.programs:copy, not 2"):
        compare(cases, launches[:-1])
    launches[0].metrics.pop(GLOBAL_WRITE)
    with pytest.raises(NoCounters, match=rf"no {GLOBAL_WRITE} for \S+\.access\.programs:copy"):
        compare(cases, launches)


def test_the_child_launches_each_kernel_as_often_as_asked(tmp_path, monkeypatch):
    cases, _ = prepare([access.copy], ROOM)
    file = tmp_path / "kernels.npz"
    counted.save(file, [(case.kernel, case.repeats) for case in cases])
    launches = []

    class Function:
        def __init__(self, name):
            self.name = name

        def __call__(self, grid, block, passed, shared_mem):
            launches.append((self.name, grid, block, [value.tolist() for value in passed]))

    device = SimpleNamespace(synchronize=lambda: None)
    fake = SimpleNamespace(
        RawModule=lambda **_: SimpleNamespace(get_function=Function),
        zeros=np.zeros,
        asarray=np.asarray,
        cuda=SimpleNamespace(Device=lambda: device),
    )
    monkeypatch.setattr(counted, "cupy", lambda: fake)
    counted.main(file)
    assert [name for name, *_ in launches] == [f"{NAME}0", f"{NAME}1", f"{NAME}1"]
    assert [passed[2:] for *_, passed in launches] == [[], [0, [0]], [1, [0]]]
    assert {(grid, block) for _, grid, block, _ in launches} == {((1, 1, 1), (64, 1, 1))}
    words = [argument.words().tolist() for argument in cases[0].kernel.arguments]
    assert launches[0][3] == words
    read = [kernel for kernel, _ in counted.read(file)]
    assert [(k.source, k.options) for k in read] == [
        (case.kernel.source, case.kernel.options) for case in cases
    ]


@pytest.mark.parametrize("together", [True, False])
def test_the_child_launches_together_what_waits_for_the_grid(tmp_path, together):
    cases, _ = prepare([access.copy], ROOM)
    file = tmp_path / "kernels.npz"
    counted.save(file, [(replace(cases[0].kernel, cooperative=together), (1,))])
    ((kernel, _),) = counted.read(file)
    assert kernel.cooperative is together


# ------------------------------------------------------------ the command


@pytest.fixture
def as_if(monkeypatch):
    """As if there were a GPU and ncu, which counts what is predicted, changed by `change`."""
    runtime = SimpleNamespace(getDeviceProperties=lambda _: {"sharedMemPerBlockOptin": ROOM})
    cuda = SimpleNamespace(runtime=runtime, Device=lambda: SimpleNamespace(id=0))
    monkeypatch.setattr(counting, "cupy", lambda: SimpleNamespace(cuda=cuda))
    play_facts(monkeypatch, counting, device="some GPU")
    play_profiler(monkeypatch)

    def counts(change):
        monkeypatch.setattr(counting, "measure", lambda _, cases: as_counted(cases, change))

    counts(lambda number: number)
    return counts


def test_the_command_prints_a_table_and_saves_a_record(as_if, capsys, tmp_path):
    saved = tmp_path / "counters.json"
    targets = [
        "mmsim_algorithms.transpose:straightforward",
        "mmsim_algorithms.access.rounds:conflict_free",
    ]
    assert main(["gpu", "counters", *targets, "--json", str(saved)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "5 counts: 4 equal, 1 different (0 of them unexplained)" in printed
    assert "left out: mmsim_algorithms.access.rounds:conflict_free on the DMM: 32 blocks" in printed
    assert "half-warps" in printed
    record = Record.read(saved)
    assert any("two half-warps" in row["verdict"] for row in record.rows)
    assert record.experiment == "counters"
    assert record.facts["command"] == " ".join(["mmsim gpu counters", *targets])
    assert record.facts["ncu"] == "1.0"
    assert list(record.facts["left out"]) == [
        "mmsim_algorithms.access.rounds:conflict_free on the DMM"
    ]
    assert record.rows[0] == {
        "program": "mmsim_algorithms.transpose.dmm:straightforward",
        "machine": "HMM",
        "memory": "global",
        "kind": "read",
        "word bytes": "4",
        "hardware": 1024,
        "model": 1024,
        "verdict": "equal",
    }


def test_the_command_ends_with_1_where_a_difference_is_unexplained(as_if, capsys):
    as_if(lambda number: 2 * number)
    assert main(["gpu", "counters", "mmsim_algorithms.access:copy"]) == 1
    assert "4 different (4 of them unexplained)" in " ".join(capsys.readouterr().out.split())


def test_nothing_is_launched_where_all_is_left_out(as_if, monkeypatch):
    monkeypatch.setattr(counting, "measure", None)
    found = gpu.counters([too_many])
    assert found.counts == ()
    assert len(found.left_out) == 2


def test_without_a_gpu_or_ncu_a_sentence_says_what_is_missing(capsys, monkeypatch, tmp_path):
    call = ["gpu", "counters", "mmsim_algorithms.access:copy"]
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "cupy", None)
        assert main(call) == 2
    assert "CuPy is not installed" in capsys.readouterr().err
    monkeypatch.setattr(counting, "cupy", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(call) == 2
    assert "ncu is not on the PATH" in capsys.readouterr().err


def test_without_registered_programs_a_sentence_asks_for_some(capsys, monkeypatch):
    monkeypatch.setattr(counting, "registered_programs", list)
    assert main(["gpu", "counters"]) == 2
    assert "name some, as MODULE:NAME" in capsys.readouterr().err


# ------------------------------------------------------------ on a GPU


def counted_here(programs):
    try:
        return gpu.counters(programs)
    except (gpu.NoGPU, NoCounters) as missing:
        pytest.skip(str(missing))


def test_the_hardware_counts_what_the_model_does():
    found = counted_here(mmsim_algorithms.programs())
    unexplained = [one for one in found.counts if not one.equal and one.why is None]
    assert unexplained == []
    assert found.equal > len(found.counts) // 2


def test_the_hardware_serves_words_of_other_sizes_as_predicted():
    found = counted_here([wide, narrow])
    assert [one for one in found.counts if not one.equal and one.why is None] == []
