"""Launches that have a shape: indices, warps, times, messages, files."""

import json
import pickle

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import AddressError, BarrierError, FormatError
from mmsim.model.threads import Shape
from tests.kit.runs.paths import agrees, both_engines, launched

PATHS = ("interpreted", "plain")
COMPILED = (*PATHS, "fused")


def agree(machine, program, *args, paths=PATHS, **how):
    """Assert that every path gives what the event engine does; the arrays and the last time."""
    for path in paths:
        run = agrees(path, program, *args, machine=machine, **how)
    return run.arrays, run.time


@mm.program
def places(T, out):
    out[T.id, 0] = T.threadIdx.x
    out[T.id, 1] = T.threadIdx.y
    out[T.id, 2] = T.threadIdx.z
    out[T.id, 3] = T.blockIdx.x
    out[T.id, 4] = T.blockIdx.y
    out[T.id, 5] = T.blockIdx.z
    out[T.id, 6] = T.blockDim.x * 100 + T.blockDim.y * 10 + T.blockDim.z
    out[T.id, 7] = T.gridDim.x * 100 + T.gridDim.y * 10 + T.gridDim.z


@pytest.mark.parametrize(
    ("grid", "block"),
    [
        ((2, 3, 2), (3, 2, 2)),
        ((1, 1, 3), (1, 4, 1)),
        ((1, 2, 1), (1, 1, 5)),
        ((2, 1, 2), (4, 1, 2)),
        ((3, 1, 1), (8, 1, 1)),
        ((1, 1, 1), (1, 1, 1)),
    ],
)
@pytest.mark.parametrize("machine", [mm.DMM(4, 3), mm.HMM(2, 4, 5)], ids=str)
def test_indices_and_extents(machine, grid, block):
    count = int(np.prod(grid) * np.prod(block))
    arrays, _ = agree(machine, places, np.zeros((count, 8), int), grid=grid, block=block)
    expected = [
        [x, y, z, i, j, k, *(int("".join(map(str, extents))) for extents in (block, grid))]
        for k in range(grid[2])
        for j in range(grid[1])
        for i in range(grid[0])
        for z in range(block[2])
        for y in range(block[1])
        for x in range(block[0])
    ]
    assert arrays["out"].tolist() == expected


@mm.program
def by_row(T, a):
    a[T.threadIdx.y * 4]


def test_warps_are_cut_from_the_numbering():
    # Of 2 x 4 threads a warp of 4 has two rows: it asks for words 0 and 4, or 8 and 12, in bank 0.
    _, time = agree(mm.DMM(4, 3), by_row, np.zeros(16), grid=1, block=(2, 4))
    assert time == 2 + 2 + 3 - 1
    # Of 4 x 2 threads a warp has one row, and asks for one word.
    _, time = agree(mm.DMM(4, 3), by_row, np.zeros(16), grid=1, block=(4, 2))
    assert time == 1 + 1 + 3 - 1
    # Of 1 x 8 threads a warp has four rows.
    _, time = agree(mm.DMM(4, 3), by_row, np.zeros(32), grid=1, block=(1, 8))
    assert time == 4 + 4 + 3 - 1


@mm.program
def transpose(T, a, b):
    tile = mm.shared((T.blockDim.y, T.blockDim.x + 1), dtype=a.dtype)
    x, y = T.blockIdx.x * T.blockDim.x, T.blockIdx.y * T.blockDim.y
    tile[T.threadIdx.y, T.threadIdx.x] = a[y + T.threadIdx.y, x + T.threadIdx.x]
    T.barrier()
    b[x + T.threadIdx.y, y + T.threadIdx.x] = tile[T.threadIdx.x, T.threadIdx.y]


def test_a_tiled_transpose_is_right_and_coalesced_on_all_paths():
    a = np.arange(16 * 24).reshape(16, 24)
    machine, how = mm.HMM(2, 8, 20), {"grid": (3, 2), "block": (8, 8)}
    arrays, _ = agree(machine, transpose, a, np.zeros((24, 16), int), **how, paths=COMPILED)
    assert (arrays["b"] == a.T).all()
    run = machine.run(transpose, a, np.zeros((24, 16), int), **how)
    assert {row.access_class for row in run.accesses} == {"coalesced", "conflict-free"}
    assert run.rounds[0].stages == 48


def rows_of(program, *args, **how):
    """The text of the compiled kernel."""
    from mmsim.engines.array.fused.writer import write

    return write(launched(program, *args, machine=mm.DMM(4, 3), **how)).kernel


def test_a_warp_of_one_row_asks_for_consecutive_words():
    @mm.program
    def copy(T, a, b):
        b[T.threadIdx.y, T.threadIdx.x] = a[T.threadIdx.y, T.threadIdx.x]

    a = np.zeros((4, 8))
    assert "row_of_bank" in rows_of(copy, a, a.copy(), grid=1, block=(8, 4))
    assert "row_of_bank" not in rows_of(copy, a, a.copy(), grid=1, block=(6, 4))
    line = np.zeros((1, 6))
    assert "row_of_bank" in rows_of(copy, line, line.copy(), grid=1, block=6)


def test_the_same_program_in_two_shapes():
    out = np.zeros((16, 8), int)
    machine = mm.DMM(4, 3)
    columns = [
        machine.run(places, out, grid=grid, block=block).arrays["out"][:, 0].tolist()
        for grid, block in [(1, (4, 4)), (2, (2, 4)), (1, (2, 8)), (1, (4, 4)), (4, 4)]
    ]
    assert columns[0] == columns[3] == columns[4] == [0, 1, 2, 3] * 4
    assert columns[1] == columns[2] == [0, 1] * 8


# ------------------------------------------------------------ messages


@mm.program
def beyond(T, a):
    if T.threadIdx.y == 2:
        a[T.blockIdx.x + 7] = 1


@both_engines
def test_an_error_names_the_place_of_its_thread(engine):
    with pytest.raises(AddressError) as caught:
        mm.DMM(4, 3).run(beyond, np.zeros(8), grid=2, block=(4, 3), engine=engine)
    error = caught.value
    assert (error.thread, error.position) == (20, ((0, 2, 0), (1, 0, 0)))
    assert "thread 20 (threadIdx (0, 2, 0), blockIdx (1, 0, 0)): index [8]" in str(error)
    with pytest.raises(AddressError) as caught:
        mm.DMM(4, 3).run(beyond, np.zeros(6), grid=2, block=(2, 3), engine=engine)
    again = caught.value
    assert again.position == ((0, 2, 0), (0, 0, 0))

    assert pickle.loads(pickle.dumps(again)).position == again.position


def test_an_error_of_a_line_names_the_thread_alone():
    with pytest.raises(AddressError) as caught:
        mm.DMM(4, 3).run(beyond, np.zeros(6), grid=2, block=(2, 3))
    assert caught.value.position is not None

    @mm.program
    def far(T, a):
        a[T.id + 5] = 1

    with pytest.raises(AddressError) as caught:
        mm.DMM(4, 3).run(far, np.zeros(6), grid=2, block=2)
    assert caught.value.position is None
    assert ", thread 1: " in str(caught.value)


@mm.program
def racy(T, a):
    a[T.threadIdx.x] = T.threadIdx.y


def test_a_finding_names_the_places_of_its_threads():
    machine, how = mm.DMM(4, 3), {"grid": (1, 2), "block": (4, 2), "schedule": "asynchronous"}
    report = machine.check(racy, np.zeros(4, int), **how)
    (finding,) = report.findings
    assert finding.threads == (0, 4)
    assert [one.position for one in finding.accesses] == [
        ((0, 0, 0), (0, 0, 0)),
        ((0, 1, 0), (0, 0, 0)),
    ]
    assert "thread 4 (threadIdx (0, 1, 0), blockIdx (0, 0, 0)) writes it" in str(finding)
    assert str(report).startswith(
        "racy on DMM(width=4, latency=3), 16 threads in a grid of 1 x 2 blocks of 4 x 2, "
    )
    for engine in ("events", "array"):
        run = machine.run(racy, np.zeros(4, int), **how, check=True, engine=engine)
        assert run.findings == report.findings
    flat = machine.check(racy, np.zeros(4, int), grid=2, block=4, schedule="asynchronous")
    assert all(one.position is None for found in flat.findings for one in found.accesses)


def test_a_barrier_that_not_all_reach_names_both():
    @mm.program
    def some(T, a):
        if T.threadIdx.x < 2:
            T.barrier()
        a[0] = 1

    with pytest.raises(BarrierError) as caught:
        mm.DMM(4, 3).run(some, np.zeros(1), grid=1, block=(4, 2))
    assert caught.value.position is not None
    report = mm.DMM(4, 3).check(some, np.zeros(1), grid=1, block=(4, 2))
    assert all(one.position is not None for one in report.findings[0].accesses)


# ------------------------------------------------------------ files


def shaped_run(**how):
    a = np.arange(64).reshape(8, 8)
    options = {"grid": (2, 2), "block": (4, 4), "engine": "events", **how}
    return mm.HMM(2, 4, 5).run(transpose, a, np.zeros_like(a), **options)


def test_a_run_a_trace_and_a_report_keep_their_shape():
    run = shaped_run()
    shape = Shape((2, 2, 1), (4, 4, 1))
    assert run.shape == run.trace.shape == run.trace.grid.shape == shape
    again = mm.Run.from_json(run.to_json())
    assert again == run
    assert again.shape == shape == again.trace.shape
    report = mm.DMM(4, 3).check(racy, np.zeros(4, int), grid=2, block=(4, 2), trace=True)
    assert type(report).from_json(report.to_json()) == report
    assert mm.total([run, run]).shape == shape
    assert mm.total([run, shaped_run(grid=1, block=(2, 2))]).shape is None
    assert "64 threads in a grid of 2 x 2 blocks of 4 x 4" in repr(run)


@pytest.mark.parametrize(
    "shape",
    [
        {"$class": "Shape", "grid": [2, 2, 1], "block": [4, 2, 1]},
        {"$class": "Shape", "grid": [4, 1, 1], "block": [16, 1, 1]},
        {"$class": "Shape", "grid": [2, 2], "block": [4, 4]},
        {"$class": "Shape", "grid": [2, 2, 1], "block": [4, "4", 1]},
        [2, 2, 1],
    ],
)
def test_a_shape_that_contradicts_the_threads_is_refused(shape):
    document = json.loads(shaped_run().to_json())
    document["value"]["shape"] = shape
    with pytest.raises(FormatError):
        mm.Run.from_json(json.dumps(document))


def test_a_position_that_is_not_the_threads_is_refused():
    run = mm.DMM(4, 3).run(
        racy, np.zeros(4, int), grid=2, block=(4, 2), schedule="asynchronous", check=True
    )
    document = json.loads(run.to_json())
    document["value"]["findings"][0]["accesses"][0]["position"] = [[1, 0, 0], [0, 0, 0]]
    with pytest.raises(FormatError, match="at"):
        mm.Run.from_json(json.dumps(document))


def test_the_profile_and_the_player_know_the_shape(tmp_path):
    run = shaped_run()
    assert "T.threadIdx.y" in str(run.profile())
    run.trace.player().save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "64 threads in a grid of 2 x 2 blocks of 4 x 4" in page
    assert '"shape":[[4,4,1],[2,2,1]]' in page.replace(" ", "").replace("\\", "")
    run.trace.to_chrome(tmp_path / "trace.json")
    about = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["otherData"]
    assert (about["grid"], about["block"]) == ([2, 2, 1], [4, 4, 1])
