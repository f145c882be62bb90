"""Questions of whether a tile is free of conflicts: `mmsim.api.tile_conflicts` and the searches."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmsim.api.tile_conflicts import along, conflicts
from mmsim.errors import LayoutError
from mmsim.model.byte_banks import ByteBanks
from mmsim.model.layout import RAW, Padded, Strided, Swizzle, XorRows
from mmsim.model.questions import question
from mmsim.model.searches import padding, swizzles

ROWS_64 = Strided((64, 64), (64, 1))


def row_of_matrix(thread, value):
    """The rows that ldmatrix takes: eight threads in turn, 16 bytes of halves each."""
    return thread % 8, value * 8


def stages(addresses, size, kind):
    """The stages of a request, worked out plainly: words of 4 bytes in 32 banks."""
    parts = max(size // 4, 1)
    pairs = any(
        all(addresses[lane] == addresses[lane ^ apart] for lane in range(32)) for apart in (1, 2)
    )
    if kind == "read" and parts > 1 and pairs:
        parts //= 2
    total = 0
    for part in range(parts):
        lanes = range(part * 32 // parts, (part + 1) * 32 // parts)
        words = {
            (addresses[lane] * size + byte) // 4
            for lane in lanes
            for byte in range(0, max(size, 4), 4)
        }
        total += max(Counter(word % 32 for word in words).values())
    return total


@given(
    size=st.sampled_from([1, 2, 4, 8, 16]),
    kind=st.sampled_from(["read", "write"]),
    apart=st.sampled_from([0, 1, 2, 4]),
    data=st.data(),
)
def test_stages_are_those_of_the_banks(size, kind, apart, data):
    drawn = data.draw(st.lists(st.integers(0, 255), min_size=32, max_size=32))
    addresses = [drawn[lane & ~apart] for lane in range(32)]
    found = conflicts(RAW(), lambda t, v: addresses[t], (256,), bytes=size, kind=kind)
    assert found.stages == stages(addresses, size, kind)
    assert found.phases == found.least <= found.stages
    assert found.phases == sum(len(request.phases) for request in found.requests)
    assert sorted(t for phase in found.requests[0].phases for t in phase.threads) == list(range(32))
    for phase in found.requests[0].phases:
        wanted = {
            (word % 32, word, t)
            for t in phase.threads
            for word in range(addresses[t] * size // 4, -(-(addresses[t] + 1) * size // 4))
        }
        assert wanted == {
            (bank, word, t)
            for bank, words in phase.words.items()
            for word, threads in words.items()
            for t in threads
        }
        assert phase.stages == max(map(len, phase.words.values()))


@pytest.mark.parametrize(
    ("layout", "bytes_", "vector", "access", "total"),
    [
        (RAW(), 4, 4, lambda t, v: (0, t * 4), 4),  # contiguous float4: no conflict
        (RAW(), 8, 1, lambda t, v: (0, t), 2),
        (RAW(), 4, 1, lambda t, v: (t, 0), 32),
        (RAW(), 4, 1, lambda t, v: (0, 0), 1),  # a broadcast
        (Padded(1), 4, 1, lambda t, v: (t, 0), 1),
        (Padded(4), 4, 4, lambda t, v: (t, 0), 4),
        (Padded(1), 2, 1, lambda t, v: (t, 0), 2),
        (Padded(2), 2, 1, lambda t, v: (t, 0), 1),
        (RAW(), 1, 1, lambda t, v: (0, t), 1),
        (XorRows(32), 4, 1, lambda t, v: (t, 0), 1),
    ],
)
def test_numbers_worked_out_by_hand(layout, bytes_, vector, access, total):
    assert conflicts(layout, access, (64, 128), bytes=bytes_, vector=vector).stages == total


def test_the_mode_of_128_bytes_frees_the_rows_of_matrices():
    ask = {"bytes": 2, "vector": 8, "threads": 8, "values": 8}
    plain = conflicts(ROWS_64, row_of_matrix, **ask)
    assert plain.stages == 8 * 8
    assert conflicts(Swizzle.of_bytes(128, 2, ROWS_64), row_of_matrix, **ask).free
    assert conflicts("Swizzle<3,3,3> o (64,64):(64,1)", row_of_matrix, **ask).free
    assert conflicts(Swizzle.of_bytes(64, 2, ROWS_64), row_of_matrix, **ask).stages == 8 * 2
    assert conflicts(Swizzle.of_bytes(32, 2, ROWS_64), row_of_matrix, **ask).stages == 8 * 4


def test_threads_that_collide_are_named():
    found = conflicts(RAW(), lambda t, v: (t % 2, 0), (2, 32), threads=4)
    assert list(found.collisions()) == [(0, 0, 0, {0: (0, 2), 32: (1, 3)})]
    assert str(found).splitlines() == [
        "read of 4 bytes a thread: 1 request, 1 phase, 2 stages, 1 beyond the least",
        "values  phase  threads  stages  least  banks",
        "0           0  0-3           2      1      1",
    ]


def test_equal_lines_of_several_values_are_one():
    half = conflicts(RAW(), lambda t, v: (0 if v == 5 else t, v), (32, 32), values=8)
    assert str(half).splitlines()[2:] == ["0-4, 6-7      0  0-31         32      1      1"]
    long = conflicts(RAW(), lambda t, v: (t * (v % 2), v), (32, 32), values=32)
    assert str(long).splitlines()[2].startswith("1, 3, 5, 7, ... 31      0")
    access, values = along((64, 64), "columns")
    assert len(str(conflicts(ROWS_64, access, values=values)).splitlines()) == 3


def test_a_layout_of_threads_and_values_is_read_as_cute_does():
    by_text = conflicts("(8,8):(8,1)", "(32,2):(1,32)")
    by_function = conflicts(
        "(8,8):(8,1)", lambda t, v: ((v * 32 + t) % 8, (v * 32 + t) // 8), values=2
    )
    assert by_text == by_function
    assert by_text.phases == 2


def test_a_thread_without_part_shares_with_any():
    """Of 8 bytes: lanes 0 and 1 share, and lane 2 with lane 3, which doesn't ask."""
    found = conflicts(
        RAW(), lambda t, v: None if t == 3 else t // 2 * 32, (64, 32), bytes=8, threads=4
    )
    assert found.addresses == ((0, 0, 32, -1),)
    assert found.phases == 1
    assert found.requests[0].phases[0].threads == (0, 1, 2)
    assert found.stages == 2
    assert found.least == 1


def test_a_thread_without_part_has_no_vector():
    found = conflicts(RAW(), lambda t, v: None if t % 3 else t * 4, (128,), vector=4)
    assert found.addresses == (tuple(-1 if t % 3 else t for t in range(32)),)
    assert (found.phases, found.stages) == (2, 2)  # every lane that asks is alone in its pair


def test_values_without_a_thread_are_no_requests():
    found = conflicts(RAW(), lambda t, v: (0, t) if v else None, (2, 32), values=2)
    assert [request.value for request in found.requests] == [1]
    assert found.stages == found.least == 1
    nothing = conflicts(RAW(), lambda t, v: None, (2, 32))
    assert (nothing.stages, nothing.phases, nothing.free) == (0, 0, True)


@pytest.mark.parametrize(
    ("kind", "bytes_", "access", "stages", "least"),
    [
        ("atomic", 4, lambda t, v: (0, 0), 32, 32),  # no layout helps
        ("atomic", 4, lambda t, v: (0, t), 1, 1),
        ("atomic", 4, lambda t, v: (t, 0), 32, 1),
        ("atomic", 4, lambda t, v: (t % 2, 0), 32, 16),
        ("atomic", 8, lambda t, v: (0, t), 2, 2),
        ("atomic", 8, lambda t, v: (0, 0), 32, 32),
        ("cas", 4, lambda t, v: (0, t), 2, 2),
        ("cas", 4, lambda t, v: (0, 0), 64, 64),
    ],
)
def test_atomic_operations_are_one_request_each(kind, bytes_, access, stages, least):
    found = conflicts(RAW(), access, (32, 32), bytes=bytes_, kind=kind)
    assert (found.stages, found.least) == (stages, least)
    assert found.stages == sum(phase.stages for one in found.requests for phase in one.phases)
    assert found.least == sum(phase.least for one in found.requests for phase in one.phases)


@pytest.mark.parametrize("kind", ["read", "write", "atomic", "cas"])
@pytest.mark.parametrize("bytes_", [4, 8])
def test_phases_are_those_of_a_trace(kind, bytes_):
    """Words of 8 bytes are served by half-warps, also by a compare and swap."""
    found = conflicts(RAW(), lambda t, v: (0, t), (32, 32), bytes=bytes_, kind=kind)
    numbers = ByteBanks(32).of_access(bytes_, kind).phase_of(list(range(32)), np.arange(32))
    assert found.phases == len(found.requests[0].phases) == max(numbers, default=0) + 1


@pytest.mark.parametrize("kind", ["ldmatrix", "stmatrix"])
@pytest.mark.parametrize("threads", [8, 16, 32])
@pytest.mark.parametrize("bytes_", [1, 2, 4, 8, 16])
def test_a_matrix_is_a_phase(kind, threads, bytes_):
    shape = (threads, 128 // bytes_)
    free = conflicts(
        Swizzle.of_bytes(128, bytes_),
        lambda t, v: (t, 0),
        shape,
        bytes=bytes_,
        kind=kind,
        threads=threads,
    )
    assert (free.bytes, free.phases, free.stages) == (16, threads // 8, threads // 8)
    plain = conflicts(RAW(), lambda t, v: (t, 0), shape, bytes=bytes_, kind=kind, threads=threads)
    assert (plain.stages, plain.least) == (threads, threads // 8)


def test_rows_of_matrices_that_share_are_no_pairs():
    """Unlike reads of 16 bytes, which take half the phases then."""
    shared = {"shape": (32, 8), "bytes": 2}
    matrix = conflicts(RAW(), lambda t, v: (t // 2, 0), kind="ldmatrix", **shared)
    read = conflicts(RAW(), lambda t, v: (t // 2, 0), vector=8, **shared)
    assert (matrix.phases, read.phases) == (4, 2)


def test_vectors_run_along_the_first_axis_of_a_tile_that_lies_by_columns():
    by_columns = conflicts("(128,8):(1,128)", lambda t, v: (t * 4, 0), vector=4)
    assert by_columns.free
    assert by_columns.phases == 4


def test_the_vectors_of_threads_and_values_are_those_that_it_names():
    assert conflicts("(8,32):(32,1)", "(32,(4,2)):(8,(1,4))", bytes=2).phases == 8
    with pytest.raises(LayoutError, match="not an aligned vector"):  # by columns in a tile by rows
        conflicts("(8,32):(32,1)", "(32,8):(8,1)", bytes=2, vector=8)
    assert conflicts("(8,32):(1,8)", "(32,8):(8,1)", bytes=2, vector=8).free


@pytest.mark.parametrize(
    ("layout", "access", "options", "said"),
    [
        (Padded(1), lambda t, v: (t, 0), {"vector": 2}, "0 of thread 1 is not an aligned vector"),
        (RAW(), lambda t, v: (0, t + 1), {"vector": 2}, "thread 0 is not an aligned vector"),
        (RAW(), lambda t, v: (63, 63), {"vector": 2}, "its 2 elements lie at 4095; let"),
        (RAW(), lambda t, v: (t, 0), {"bytes": 3}, "1, 2, 4, 8 or 16 bytes, not"),
        (RAW(), lambda t, v: (t, 0), {"bytes": 8, "vector": 4}, "not 4 times 8"),
        (RAW(), lambda t, v: (t, 0), {"bytes": "half"}, "the bytes of an element is a whole"),
        (RAW(), lambda t, v: (t, 0), {"kind": "look"}, "read, write, atomic, .*, not 'look'"),
        (
            RAW(),
            lambda t, v: (t * 2, 64),
            {},
            r"index 1 of the element \(0, 64\) for value 0 of thread 0 is at most 63, not 64",
        ),
        (
            RAW(),
            lambda t, v: (t * 3, v),
            {"values": 2},
            r"index 0 of the element \(66, 0\) for value 0 of thread 22 is at most 63, not 66",
        ),
        (RAW(), lambda t, v: t - 1, {}, "element for value 0 of thread 0 is at least 0"),
        (RAW(), lambda t, v: (t, 0, 0), {}, r"3 indices for value 0 of thread 0, \(0, 0, 0\)"),
        (RAW(), lambda t, v: (0, "x"), {}, "is a whole number, not 'x'"),
        (
            RAW(),
            lambda t, v: (0, 8 // t),
            {},
            "failed for value 0 of thread 0: .*ZeroDivisionError",
        ),
        (RAW(), lambda t, v: (t, 0), {"kind": "ldmatrix", "bytes": 2, "threads": 9}, "not of 9"),
        (
            RAW(),
            lambda t, v: (t, 0) if t else None,
            {"kind": "ldmatrix", "bytes": 2},
            "none for value 0 of thread 0",
        ),
        (RAW(), lambda t, v: t, {"kind": "ldmatrix", "vector": 2}, "moves rows of 16 bytes"),
        (RAW(), lambda t, v: t, {"kind": "atomic", "bytes": 2}, "4 or 8 bytes, not 1 times 2"),
        (RAW(), lambda t, v: t, {"kind": "cas", "vector": 2}, "4 or 8 bytes, not 2 times 4"),
        (RAW(), "(32,200):(1,32)", {}, "value 128 of thread 0 element 4096 of a tile of 4096"),
        (RAW(), "(64,2):(1,64)", {}, r"threads of \(64,2\):\(1,64\) is at most 32"),
        (RAW(), "(32,3):(1,32)", {"vector": 2}, "the 3 values .* not a whole number of vectors"),
        (RAW(), "32:1", {}, "has two axes"),
        (RAW(), "Swizzle<1,0,1>", {}, "is swizzled"),
        (RAW(), lambda t, v: t, {"threads": 33}, "the number of threads is at most 32"),
        (Strided((8, 8), (8, 1)), lambda t, v: t, {}, r"can't hold an array of shape \(64, 64\)"),
    ],
)
def test_what_is_no_access_is_refused(layout, access, options, said):
    with pytest.raises(LayoutError, match=said):
        conflicts(layout, access, (64, 64), **options)


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ((0, 4), r"an extent of the tile's shape \(0, 4\) is at least 1"),
        ((4, 2.5), r"an extent of the tile's shape \(4, 2.5\) is a whole number"),
        ((10**6, 10**6), "is larger than any shared memory"),
        ((2**40, 1), "is at most 16777216"),
    ],
)
@pytest.mark.parametrize("access", [lambda t, v: t, "(32,1):(1,0)"])
def test_what_is_no_tile_is_refused(shape, said, access):
    with pytest.raises(LayoutError, match=said):
        conflicts(RAW(), access, shape)


def test_a_layout_without_a_shape_asks_for_one():
    with pytest.raises(LayoutError, match=r"say which, as in shape=\(64, 64\)"):
        conflicts(Padded(1), lambda t, v: (t, 0))


def questions(shape, size, vector, ways=("rows", "columns")):
    for way in ways:
        access, values = along(shape, way, vector)
        yield lambda layout, access=access, values=values: conflicts(
            layout, access, shape, bytes=size, vector=vector, values=values
        )


@pytest.mark.parametrize(("size", "vector", "by"), [(4, 1, 1), (2, 1, 2), (4, 4, 4), (8, 1, 1)])
def test_the_smallest_padding_is_found(size, vector, by):
    ask = list(questions((32, 32), size, vector))
    assert padding(ask, step=vector) == by
    assert all(one(Padded(by)).free for one in ask)
    assert not any(all(one(Padded(less)).free for one in ask) for less in range(0, by, vector))


def test_no_padding_is_found_where_there_is_none():
    assert padding(questions((32, 32), 4, 1), most=0) is None


def test_paddings_that_split_vectors_are_left_out():
    assert padding(questions((32, 32), 4, 4)) == 4


def test_a_search_hides_no_mistake():
    ask = question(lambda t, v: (t, 0), (64, 64))
    with pytest.raises(LayoutError, match="can't hold an array"):
        list(swizzles([ask], Strided((8, 8), (8, 1))))


def test_all_swizzles_that_free_are_found():
    ask = list(questions((32, 32), 4, 1))
    found = list(swizzles(ask))
    assert [str(one) for one in found] == ["Swizzle<5,0,5>"]
    halves = [
        lambda layout: conflicts(layout, row_of_matrix, (64, 64), bytes=2, vector=8, threads=8)
    ]
    assert "Swizzle<3,3,3>" in [str(one) for one in swizzles(halves)]


def test_a_thread_has_at_most_65536_values():
    one = {"bytes": 4, "threads": 1}
    assert conflicts(RAW(), lambda t, v: (v, 0), (1 << 16, 1), values=1 << 16, **one).free
    with pytest.raises(LayoutError, match="values of a thread"):
        conflicts(RAW(), lambda t, v: (0, 0), (1, 1), values=(1 << 16) + 1, **one)
