"""Exports: Chrome's trace events, and comma-separated values."""

import csv
import json
from itertools import pairwise

import numpy as np
import pytest

import mmsim as mm
from mmsim.cli import main
from mmsim.results.chrome import round_starts
from tests.kit.runs.paths import SCHEDULES


@mm.program
def shuffle(T, a, b):
    s = mm.shared((4, 4))
    i, j = T.index // 4, T.index % 4
    s[i, j] = a[T.id]
    T.barrier()
    if T.id % 3:
        b[T.id] = s[j, i]


def shuffled(schedule, machine=None):
    machine = machine or mm.HMM(2, 4, 5)
    options = {"threads": 32, "block_size": 16, "schedule": schedule, "trace": True}
    return machine.run(shuffle, np.arange(32), np.full(32, np.nan), **options)


@pytest.fixture(params=SCHEDULES)
def run(request):
    return shuffled(request.param)


@pytest.fixture
def document(run, tmp_path):
    path = tmp_path / "trace.json"
    run.trace.to_chrome(path)
    return json.loads(path.read_text(), parse_constant=pytest.fail)


def complete(document, category):
    return [event for event in document["traceEvents"] if event.get("cat") == category]


def test_every_event_is_of_the_format(document):
    for event in document["traceEvents"]:
        assert event["ph"] in ("X", "i", "M")
        assert isinstance(event["name"], str)
        assert type(event["pid"]) is int
        assert event["pid"] > 0
        assert type(event["tid"]) is int
        assert isinstance(event["args"], dict)
        if event["ph"] == "X":
            assert type(event["ts"]) is type(event["dur"]) is int
            assert event["ts"] >= 0
            assert event["dur"] > 0
        if event["ph"] == "i":
            assert type(event["ts"]) is int
            assert event["s"] in ("g", "p", "t")


def test_events_of_one_track_never_overlap(document):
    tracks = {}
    for event in document["traceEvents"]:
        if event["ph"] == "X":
            track = tracks.setdefault((event["pid"], event["tid"]), [])
            track.append((event["ts"], event["ts"] + event["dur"]))
    assert len(tracks) == 8 + 3  # warps, units
    for track in tracks.values():
        ordered = sorted(track)
        assert all(one[1] <= two[0] for one, two in pairwise(ordered))


def test_every_track_has_a_name(document):
    named = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in document["traceEvents"]
        if event["name"] == "thread_name"
    }
    used = {(e["pid"], e["tid"]) for e in document["traceEvents"] if e["ph"] == "X"}
    assert used <= set(named)
    numbers = [track for _, track in named] + sorted({process for process, _ in named})
    assert len(numbers) == len(set(numbers))
    warps = [name for (process, _), name in sorted(named.items()) if process == 1]
    assert warps == [f"W({warp})" for warp in range(8)]
    processes = [
        event["args"]["name"]
        for event in document["traceEvents"]
        if event["name"] == "process_name"
    ]
    assert processes[0].startswith("warps of HMM(")
    assert processes[1:] == [
        "global unit (address groups, latency 5)",
        "shared[0] unit (banks, latency 1)",
        "shared[1] unit (banks, latency 1)",
    ]


def test_durations_add_up_to_the_traces(run, document):
    trace = run.trace

    def total(category):
        return sum(event["dur"] for event in complete(document, category))

    assert total("stages") == run.stages
    assert total("request") == sum(one.completion - one.time for one in trace.dispatches)
    assert total("request") == sum(w.end - w.start for w in trace.waits if w.reason == "latency")
    for reason in ("turn", "round", "barrier"):
        assert sum(
            event["dur"]
            for event in complete(document, "wait")
            if event["args"]["reason"] == reason
        ) == sum(wait.end - wait.start for wait in trace.waits if wait.reason == reason)
    assert max(event["ts"] + event["dur"] for event in complete(document, "request")) == run.time
    assert document["otherData"]["time"] == run.time


def test_requests_say_what_they_are(run, document):
    for dispatch, request, stages in zip(
        run.trace.dispatches,
        complete(document, "request"),
        complete(document, "stages"),
        strict=True,
    ):
        assert request["name"] == f"line {dispatch.line}: {dispatch.kind} {dispatch.array}"
        assert request["args"]["addresses"] == list(dispatch.addresses)
        assert request["args"]["stages"] == len(stages["args"]["stages"]) == stages["dur"]
        for number, addresses in enumerate(stages["args"]["stages"]):
            assert set(addresses) == {
                address
                for address, stage in zip(dispatch.addresses, dispatch.stages, strict=True)
                if stage == number
            }


@pytest.mark.parametrize("machine", [mm.DMM(4, 3), mm.UMM(4, 1), mm.HMM(3, 4, 7, 2)], ids=str)
def test_round_boundaries_are_those_of_the_run(machine, tmp_path):
    run = shuffled("synchronous", machine)
    assert [start for start, _ in round_starts(run.trace)] == [row.start for row in run.rounds]
    run.trace.to_chrome(tmp_path / "trace.json")
    rounds = complete(json.loads((tmp_path / "trace.json").read_text()), "round")
    assert [(event["ph"], event["ts"], event["name"]) for event in rounds] == [
        ("i", row.start, f"round {row.number}: {row.kind} {row.array}") for row in run.rounds
    ]


def test_barriers_are_marked_where_warps_run_apart(run, document):
    barriers = complete(document, "barrier")
    assert [event["ts"] for event in barriers] == [one.time for one in run.trace.releases]
    assert bool(barriers) == (run.schedule == "asynchronous")


def test_a_trace_without_requests(tmp_path):
    @mm.program
    def nothing(T, a):
        x = T.id

    run = mm.DMM(4, 3).run(nothing, np.zeros(4), threads=4, trace=True)
    run.trace.to_chrome(str(tmp_path / "empty.json"))
    events = json.loads((tmp_path / "empty.json").read_text())["traceEvents"]
    assert {event["ph"] for event in events} == {"M"}


def test_rounds_of_one_line_and_different_warps_are_distinguished():
    @mm.program
    def one_by_one(T, a):
        for turn in range(3):
            if T.warp == turn:
                a[T.id]
        for _ in range(2):
            a[T.id]

    run = mm.DMM(4, 1).run(one_by_one, np.zeros(12), threads=12, trace=True)
    assert [row.requests for row in run.rounds] == [1, 1, 1, 3, 3]
    assert [start for start, _ in round_starts(run.trace)] == [row.start for row in run.rounds]


# ------------------------------------------------------------------ comma-separated values


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_accesses_as_csv(run, tmp_path):
    run.to_csv(tmp_path / "accesses.csv")
    rows = read(tmp_path / "accesses.csv")
    assert ",".join(rows[0]) == (
        "function,file,line,array,kind,space,requests,stages,least,access_class,wasted"
    )
    assert sum(int(row["stages"]) for row in rows) == run.stages
    assert sum(int(row["wasted"]) for row in rows) == run.profile().wasted
    assert [row["array"] for row in rows] == [row.array for row in run.accesses]


def test_rounds_as_csv(tmp_path):
    run = shuffled("synchronous")
    run.to_csv(str(tmp_path / "rounds.csv"), "rounds")
    rows = read(tmp_path / "rounds.csv")
    assert ",".join(rows[0]) == (
        "number,start,time,function,file,line,array,kind,space,requests,stages,access_class,least,wasted"
    )
    assert sum(int(row["time"]) for row in rows) == run.time
    assert sum(int(row["stages"]) for row in rows) == run.stages
    assert sum(int(row["wasted"]) for row in rows) == run.profile().wasted


def test_csv_of_something_else(tmp_path):
    with pytest.raises(mm.MMSimError, match="'accesses' or 'rounds'"):
        shuffled("synchronous").to_csv(tmp_path / "x.csv", "lines")
    assert not (tmp_path / "x.csv").exists()


# ------------------------------------------------------------------ the command line


PROGRAM = "mmsim_algorithms.transpose:diagonal"
CALL = ["run", PROGRAM, "--width", "4", "--latency", "2", "--size", "16"]


def test_the_command_line_saves_all(capsys, tmp_path):
    table, figure, trace = (str(tmp_path / f"run.{kind}") for kind in ("csv", "svg", "trace"))
    options = ["--csv", table, "--plot", figure, "--chrome", trace]
    assert main([*CALL, *options]) == 0
    assert [row["stages"] for row in read(table)] == ["4", "4"]
    assert "register 1" in (tmp_path / "run.svg").read_text()
    assert complete(json.loads((tmp_path / "run.trace").read_text()), "request")
    assert main([*CALL, "--rounds", *options[:2]]) == 0
    assert [row["time"] for row in read(table)] == ["5", "5"]


def test_the_command_line_draws_what_fits(capsys, tmp_path):
    figure = tmp_path / "run.svg"
    assert main([*CALL, "--plot", str(figure)]) == 0  # traced for it
    assert "register 1" in figure.read_text()
    assert main([*CALL[:-2], "--size", "1024", "--plot", str(figure)]) == 0
    assert "least possible" in figure.read_text()


def test_a_figure_of_another_kind_is_refused_before_the_run(capsys, tmp_path):
    assert main([*CALL, "--plot", str(tmp_path / "run.docx")]) == 2
    output = capsys.readouterr()
    assert "figures are saved as .svg, .pdf or .png" in output.err
    assert "time units" not in output.out
