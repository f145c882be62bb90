"""Accesses to several adjacent elements: what they cost, what they mean, and what is refused.

The expected numbers are worked out by hand.
"""

import json

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import AddressError, LaunchError, TypeFault, VectorError
from mmsim.model.tiles import Padded, Swizzle
from tests.kit.runs.both import on_all, refused
from tests.kit.runs.paths import both_schedules

CARD = mm.DMM(32, 1, bank_bytes=4)
PAPERS = [mm.DMM(4, 3), mm.UMM(4, 3), mm.HMM(2, 4, 5)]


def counted(run):
    """Requests, stages and the least stages of each access, and its class."""
    return [(row.requests, row.stages, row.least, row.access_class) for row in run.accesses]


@mm.program
def read_at(T, a, at):
    mm.vector(a, 4)[at[T.id]]


@mm.program
def write_at(T, a, at):
    mm.vector(a, 4)[at[T.id]] = 1, 2, 3, 4


def stages(machine, program, at, dtype="float32"):
    """The row of the vector access by a warp whose lanes take the vectors `at`."""
    a = np.zeros(4 * (max(at) + 1), dtype)
    run = on_all(program, a, np.array(at), machine=machine, threads=len(at), block_size=len(at))
    return counted(run)[1][1:]


# ------------------------------------------------------------ what they cost


@pytest.mark.parametrize("program", [read_at, write_at])
def test_in_the_papers_memories_all_words_of_a_request_count(program):
    dmm, umm = mm.DMM(4, 3), mm.UMM(4, 3)
    assert stages(dmm, program, [0, 1, 2, 3]) == (4, 4, "conflict-free")
    assert stages(umm, program, [0, 1, 2, 3]) == (4, 4, "coalesced")
    assert stages(dmm, program, [7, 7, 7, 7]) == (1, 1, "conflict-free")  # one vector: 4 words
    assert stages(umm, program, [7, 2, 2, 7]) == (2, 2, "coalesced")
    narrow, wide = mm.DMM(2, 3), mm.DMM(8, 3)
    assert stages(narrow, program, [0, 1]) == (4, 4, "conflict-free")
    assert stages(wide, program, [0, 2, 4, 6, 8, 10, 12, 14]) == (8, 4, "casual")
    assert stages(mm.UMM(8, 3), program, [0, 2, 4, 6, 8, 10, 12, 14]) == (8, 4, "casual")
    assert stages(mm.UMM(8, 3), program, [0, 1, 2, 3, 4, 5, 6, 7]) == (4, 4, "coalesced")


def test_a_round_takes_its_stages_and_the_latency():
    run = on_all(read_at, np.zeros(32), np.arange(8), machine=mm.DMM(4, 3), threads=8)
    assert [(row.stages, row.time) for row in run.rounds] == [(2, 2 + 3 - 1), (8, 8 + 3 - 1)]


def test_an_access_behind_a_vectors_takes_one_stage_at_best():
    def behind(T, a, b):
        mm.vector(a, 4)[T.id]
        b[2 * T.id % 8]

    run = on_all(behind, np.zeros(32), np.zeros(8), machine=mm.DMM(4, 3), threads=8)
    assert counted(run) == [(2, 8, 8, "conflict-free"), (2, 4, 2, "casual")]


def test_banks_of_bytes_serve_a_vector_as_one_long_element():
    every = list(range(32))
    assert stages(CARD, write_at, every) == (4, 4, "conflict-free")  # by quarter-warps
    assert stages(CARD, read_at, every) == (4, 4, "conflict-free")
    assert stages(CARD, read_at, [lane // 2 for lane in every])[0] == 2  # addresses in pairs
    assert stages(CARD, write_at, [lane // 2 for lane in every])[0] == 4
    # vectors 0, 8, 16, ...: all 8 of a quarter lie in one place of 16 bytes
    assert stages(CARD, read_at, [8 * lane for lane in every]) == (32, 4, "casual")
    hmm = mm.HMM(1, 32, 1, bank_bytes=4)
    assert stages(hmm, read_at, every) == (4, 4, "coalesced")
    assert stages(hmm, read_at, every, "int16")[0] == 2  # 8 bytes: by half-warps
    assert stages(CARD, write_at, every, "int8")[0] == 1  # 4 bytes: as one word


ELEMENTS = {
    (2, "int8"): "int16",
    (4, "int8"): "int32",
    (2, "float32"): "float64",
    (4, "float32"): "complex128",
    (8, "int16"): "complex128",
    (16, "int8"): "complex128",
    (2, "float64"): "complex128",
}
"""Vectors, and elements of as many bytes."""


@mm.program
def element_at(T, a, b, at):
    b[at[T.id]] = a[at[T.id]]


def copier(count):
    def copy(T, a, b, at):
        mm.vector(b, count)[at[T.id]] = mm.vector(a, count)[at[T.id]]

    return mm.program(copy)


@pytest.mark.parametrize(("count", "dtype"), ELEMENTS)
@pytest.mark.parametrize("machine", [CARD, mm.HMM(2, 8, 9, bank_bytes=4)])  # fmt: skip
def test_so_they_take_what_elements_of_as_many_bytes_take(count, dtype, machine):
    random = np.random.default_rng(5)
    for reach in (8, 40, 200):
        at = random.integers(0, reach, 80)
        if reach == 8:
            at = at // 2 * 2 // 2
        vectors = [np.zeros(count * reach, dtype) for _ in range(2)]
        vectors[0][:] = random.integers(0, 100, count * reach)
        elements = [np.zeros(reach, ELEMENTS[count, dtype]) for _ in range(2)]
        sizes = {"threads": 80, "block_size": 40}
        own = on_all(copier(count), *vectors, at, machine=machine, **sizes)
        long = on_all(element_at, *elements, at, machine=machine, **sizes)
        assert own.time == long.time
        assert [(row.requests, row.stages) for row in own.accesses] == [
            (row.requests, row.stages) for row in long.accesses
        ]
        read = np.isin(np.arange(reach), at).repeat(count)
        assert (own.arrays["b"] == np.where(read, vectors[0], 0)).all()


# ------------------------------------------------------------ what they mean


def scaled(x, y):
    return 2 * x, 2 * y


@mm.program
def forms(T, a, b):
    s = mm.shared((2, 8), dtype=float)
    i, j = T.index // 4 % a.shape[0], T.index % 4
    row, target = a[i], s[i]
    if T.index % 3 > 0:
        v = mm.vector(row, 2)[j]
        mm.vector(target, 2)[j] = scaled(v[0], v[-1])
    else:
        x, y = mm.vector(a, 2)[i, j]
        mm.vector(s, 2)[i, j] = -x, y + len(mm.vector(a, 2)[i, j])
    T.barrier()
    total = 0.0
    for x in mm.vector(s, 4)[1 - i, j // 2]:
        total += x
    z, _ = p, q = mm.vector(s, 2)[i, j]
    mm.vector(b, 4)[T.id] = total, z, p, q if p in mm.vector(a, 8)[0, 0] else -1


def expected_forms(a, threads, block_size):
    b = np.zeros(4 * threads)
    for first in range(0, threads, block_size):
        s = np.zeros((2, 8))
        block = range(block_size)
        for t in block:
            i, j = t // 4 % 2, t % 4
            x, y = a[i, 2 * j : 2 * j + 2]
            s[i, 2 * j : 2 * j + 2] = (2 * x, 2 * y) if t % 3 > 0 else (-x, y + 2)
        for t in block:
            i, j = t // 4 % 2, t % 4
            p, q = s[i, 2 * j : 2 * j + 2]
            half = 4 * (j // 2)
            total = s[1 - i, half : half + 4].sum()
            at = 4 * (first + t)
            b[at : at + 4] = total, p, p, q if p in a[0] else -1
    return b


@pytest.mark.parametrize("machine", [*PAPERS, CARD, mm.HMM(2, 4, 5, bank_bytes=4)])
def test_a_vector_is_a_tuple_of_adjacent_elements(machine):
    a = np.arange(16, dtype="float32").reshape(2, 8)
    if machine.bank_bytes:

        def narrow(T, a, b):
            x, y, z, w = mm.vector(a, 4)[T.id % 2, T.id // 2 % 2]
            mm.vector(b, 2)[T.id] = x + w, y + z

        run = on_all(narrow, a, np.zeros(32), machine=machine, threads=16, block_size=8)
        starts = [8 * (t % 2) + 4 * (t // 2 % 2) for t in range(16)]
        assert run.arrays["b"].tolist() == [x for s in starts for x in (2 * s + 3, 2 * s + 3)]
        return
    run = on_all(forms, a, np.zeros(64), machine=machine, threads=16, block_size=8)
    assert (run.arrays["b"] == expected_forms(a, 16, 8)).all()


def test_words_that_a_vector_brings_are_registers():
    a, b = np.zeros(16), np.zeros(16)
    assert mm.DMM(4, 1).run(copier(4), a, b, np.arange(4), threads=4).registers.words == 5

    def kept(T, a, b):
        v = mm.vector(a, 4)[T.id]
        b[T.id] = v[0]
        b[T.id] = v[3]

    assert mm.DMM(4, 1).run(mm.program(kept), a, b, threads=4).registers.data == 2


def test_a_layout_may_move_groups_of_adjacent_elements():
    a = np.arange(256, dtype="float32").reshape(8, 32)
    placed = mm.place(a, Swizzle(3, 2, 3))

    def columns(T, a, b):
        mm.vector(b, 4)[T.id] = mm.vector(a, 4)[T.id % 8, T.id // 8]

    program = mm.program(columns)
    moved = on_all(program, placed, np.zeros(256, "float32"), machine=CARD, threads=64)
    plain = on_all(program, a, np.zeros(256, "float32"), machine=CARD, threads=64)
    wanted = a.reshape(8, 8, 4).transpose(1, 0, 2).ravel()
    assert (moved.arrays["b"] == wanted).all()
    assert (plain.arrays["b"] == wanted).all()
    assert counted(moved)[0] == (2, 8, 8, "conflict-free")
    assert counted(plain)[0] == (2, 64, 8, "casual")


# ------------------------------------------------------------ traces and the checker


@mm.program
def shift(T, a, b):
    mm.vector(b, 2)[T.id] = mm.vector(a, 2)[T.id ^ 1]


@pytest.mark.parametrize("machine", [*PAPERS, mm.DMM(4, 2, bank_bytes=4)])
@both_schedules
def test_a_trace_has_an_entry_for_each_word(machine, schedule):
    options = {"threads": 8, "block_size": 4, "schedule": schedule, "trace": True}
    run = machine.run(shift, np.arange(16), np.zeros(16, int), **options)
    first = run.trace.dispatches[0]
    assert first.threads == (0, 0, 1, 1, 2, 2, 3, 3)
    assert first.elements == (2, 3, 0, 1, 6, 7, 4, 5)
    assert first.values == first.elements
    assert first.vector == 2
    assert sum(one.stage_count for one in run.trace.dispatches) == sum(
        row.stages for row in run.accesses
    )
    *_, last = run.trace.cycles()
    assert (last.memory["b"] == run.arrays["b"]).all()
    again = mm.Run.from_json(run.to_json())
    assert again.trace.dispatches == run.trace.dispatches
    facts = json.loads(run.to_json())["value"]["record"]
    assert facts["asked"][0][3:] == [[], [2, 0, 6, 4], []]
    assert facts["sites"][0]["vector"] == 2
    assert "b" in run.trace.player()._repr_html_()


def test_a_trace_of_a_card_has_stages_of_vectors():
    run = mm.DMM(8, 1, bank_bytes=4).run(
        read_at, np.zeros(64, "float32"), np.arange(8), threads=8, trace=True
    )
    vectors = run.trace.dispatches[1]
    assert vectors.stages == tuple(np.arange(8).repeat(4) // 2)
    assert vectors.places == tuple((np.arange(8) % 2).repeat(4))


@pytest.mark.parametrize(("apart", "racing"), [(3, [4, 5]), (4, [5]), (5, [])])
def test_the_checker_finds_races_word_by_word(apart, racing):
    def halves(T, b):
        if T.warp == 0:
            mm.vector(b, 2)[2 - T.lane] = 1, 2
        else:
            b[apart + 1 + T.lane] = 3

    report = mm.DMM(2, 1).check(
        mm.program(halves), np.zeros(16, int), threads=4, schedule="asynchronous"
    )
    assert bool(report.findings) == bool(racing)
    for finding in report.findings:
        assert finding.kind == "race"
        assert finding.index == (racing[0],)
        assert finding.elements == len(racing)


@both_schedules
def test_the_checker_finds_updates_of_a_word_that_get_lost(schedule):
    def bump(T, a):
        x, y = mm.vector(a, 2)[T.id // 2]
        mm.vector(a, 2)[T.id // 2] = x + 1, y + T.id

    def own(T, a):
        x, y = mm.vector(a, 2)[T.id]
        mm.vector(a, 2)[T.id] = x + 1, y + T.id

    options = {"threads": 4, "schedule": schedule}
    report = mm.DMM(4, 1).check(mm.program(bump), np.zeros(8, int), **options)
    (lost,) = (one for one in report.findings if one.kind == "lost-update")
    assert (lost.array, lost.index, lost.elements) == ("a", (0,), 4)
    assert mm.DMM(4, 1).check(mm.program(own), np.zeros(8, int), **options).findings == ()


def test_a_lane_may_read_the_words_that_it_has_written_itself():
    def again(T, b):
        s = mm.shared(4, dtype=int)
        mm.vector(s, 2)[T.id // 2] = 1, 2
        mm.vector(b, 2)[T.id] = mm.vector(s, 2)[T.id // 2]

    def neighbours(T, b):
        s = mm.shared(8, dtype=int)
        mm.vector(s, 2)[T.id] = 1, 2
        mm.vector(b, 2)[T.id] = mm.vector(s, 2)[T.id ^ 1]

    options = {"threads": 4, "schedule": "asynchronous"}
    check = mm.DMM(4, 1).check
    assert check(mm.program(again), np.zeros(8, int), **options).findings == ()
    (finding,) = check(mm.program(neighbours), np.zeros(8, int), **options).findings
    assert (finding.kind, finding.array, finding.elements) == ("warp-sync", "s", 8)


def test_the_checker_finds_words_that_were_never_written():
    def partly(T, b):
        s = mm.shared(8, dtype=int)
        s[2 * T.id] = 1
        T.barrier()
        mm.vector(b, 2)[T.id] = mm.vector(s, 2)[T.id]

    (finding,) = mm.DMM(4, 1).check(mm.program(partly), np.zeros(8, int), threads=4).findings
    assert (finding.kind, finding.array, finding.index) == ("unwritten", "s", (1,))
    assert finding.elements == 4


# ------------------------------------------------------------ what is refused


@mm.program
def pairs(T, a):
    if T.id > 1:
        mm.vector(a, 2)[T.id]


@mm.program
def pairs_of_rows(T, a):
    if T.id > 1:
        mm.vector(a, 2)[T.id, 1] = 0, 1


def test_an_array_of_an_odd_length_has_no_pairs():
    error = refused(VectorError, pairs, np.zeros(9), machine=mm.DMM(4, 1), threads=4)
    assert (error.thread, error.array, error.index) == (2, "a", (2,))
    assert error.place.text.strip() == "mm.vector(a, 2)[T.id]"
    assert error.message == (
        "index [2] of 'a': vectors of 2 elements need an array of a multiple of 2 elements, not 9; "
        "make it longer, or access the elements one by one"
    )
    error = refused(VectorError, pairs_of_rows, np.zeros((4, 5)), machine=mm.DMM(4, 1), threads=4)
    assert "vectors of 2 elements need rows of a multiple of 2 elements, not 5" in str(error)
    pairs_that_nobody_reads = mm.DMM(4, 1).run(pairs, np.zeros(9), threads=2)
    assert pairs_that_nobody_reads.time == 0


def test_an_index_counts_vectors():
    error = refused(AddressError, pairs, np.zeros(6), machine=mm.DMM(4, 1), threads=4)
    assert "index [3] of 'a' is out of range: the array has 3 vectors of 2 elements" in str(error)
    error = refused(AddressError, pairs_of_rows, np.zeros((4, 2)), machine=mm.DMM(4, 1), threads=4)
    assert "index [2, 1] of 'a'" in str(error)
    assert "axis 1 has 1 vectors of 2 elements; indices run from 0 to 0" in str(error)
    error = refused(AddressError, pairs_of_rows, np.zeros((2, 4)), machine=mm.DMM(4, 1), threads=4)
    assert "axis 0 has 2 elements" in str(error)

    def negative(T, a):
        mm.vector(a, 2)[T.id - 1]

    error = refused(AddressError, negative, np.zeros(8), machine=mm.DMM(4, 1), threads=4)
    assert "an address is not negative" in str(error)
    error = refused(AddressError, pairs, np.zeros((4, 2)), machine=mm.DMM(4, 1), threads=4)
    assert "has 2 dimensions (shape (4, 2)) but is used with 1" in str(error)


@pytest.mark.parametrize("layout", [Padded(1), mm.layout.Diagonal(4)])
def test_a_layout_that_takes_vectors_apart_is_refused_where_it_does(layout):
    a = mm.place(np.zeros((4, 4)), layout)
    error = refused(VectorError, pairs_of_rows, a, machine=mm.DMM(4, 1), threads=4)
    assert (error.thread, error.index) == (3, (3, 1))  # where row 2 begins at an even word
    assert error.message.startswith("vector [3, 1] of 'a' is not aligned: the layout")
    assert "take a layout that moves groups of 2 elements as a whole" in error.message
    run = mm.DMM(4, 1).run(pairs_of_rows, a, threads=2)
    assert run.time == 0
    report = mm.DMM(4, 1).check(pairs_of_rows, a, threads=4)
    assert [(one.kind, one.index) for one in report.findings] == [("vector", error.index)]


def test_banks_of_bytes_serve_16_bytes_of_a_lane_at_most():
    error = refused(
        VectorError, copier(4), np.zeros(8), np.zeros(8), np.zeros(4, int), machine=CARD, threads=4
    )
    assert error.array == "a"
    assert error.message == (
        "a vector of 4 elements of 'a' has 32 bytes, but an access takes at most 16 bytes of a "
        "lane where banks have bytes; take vectors of 2"
    )
    zeros = np.zeros(8, complex), np.zeros(8, complex)
    error = refused(VectorError, copier(2), *zeros, np.zeros(4, int), machine=CARD, threads=4)
    assert "access the elements one by one" in error.message
    assert mm.DMM(32, 1).run(copier(2), *zeros, np.zeros(4, int), threads=4).time == 4


def test_a_value_that_its_array_cannot_hold_is_refused_by_its_own_index():
    def large(T, a):
        mm.vector(a, 2)[T.id] = 1, 1000 * T.id

    error = refused(TypeFault, large, np.zeros(8, "int8"), machine=mm.DMM(4, 1), threads=4)
    assert (error.thread, error.index) == (1, (3,))


def test_cuda_refuses_what_cannot_be_aligned():
    with pytest.raises(VectorError, match="need rows of a multiple of 2 elements, not 5"):
        pairs_of_rows.cuda(np.zeros((4, 5)), threads=4)
    with pytest.raises(VectorError, match="the layout of 'a' does not put the 2 elements"):
        pairs_of_rows.cuda(mm.place(np.zeros((4, 4)), Padded(1)), threads=4)
    with pytest.raises(LaunchError, match="CUDA C has no vectors of complex64"):
        pairs.cuda(np.zeros(8, "complex64"), threads=4)
