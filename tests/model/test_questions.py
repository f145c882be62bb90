"""Is a tile free of conflicts: `mmsim.api.conflicts` and the searches."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmsim.api.conflicts import along, conflicts
from mmsim.errors import LayoutError
from mmsim.model.layout import Padded, RowMajor, Strided, Swizzle, XorRows
from mmsim.model.questions import padding, swizzles

ROWS_64 = Strided((64, 64), (64, 1))


def row_of_matrix(thread, value):
    """The rows that ldmatrix takes: eight threads after the other, 16 bytes of halves each."""
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
    found = conflicts(RowMajor(), lambda t, v: addresses[t], (256,), bytes=size, kind=kind)
    assert found.stages == stages(addresses, size, kind)
    assert found.phases == found.least <= found.stages
    assert sorted(t for phase in found.requests[0].phases for t in phase.threads) == list(range(32))


@pytest.mark.parametrize(
    ("layout", "bytes_", "vector", "access", "total"),
    [
        (RowMajor(), 4, 4, lambda t, v: (0, t * 4), 4),  # contiguous float4: no conflict
        (RowMajor(), 8, 1, lambda t, v: (0, t), 2),
        (RowMajor(), 4, 1, lambda t, v: (t, 0), 32),
        (RowMajor(), 4, 1, lambda t, v: (0, 0), 1),  # a broadcast
        (Padded(1), 4, 1, lambda t, v: (t, 0), 1),
        (Padded(4), 4, 4, lambda t, v: (t, 0), 4),
        (Padded(1), 2, 1, lambda t, v: (t, 0), 2),
        (Padded(2), 2, 1, lambda t, v: (t, 0), 1),
        (RowMajor(), 1, 1, lambda t, v: (0, t), 1),
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
    found = conflicts(RowMajor(), lambda t, v: (t % 2, 0), (2, 32), threads=4)
    assert list(found.collisions()) == [(0, 0, 0, {0: (0, 2), 32: (1, 3)})]
    assert str(found).splitlines() == [
        "read of 4 bytes a thread: 1 request, 1 phase, 2 stages, 1 beyond the least",
        "value  phase  threads  stages  bank  words",
        "    0      0  0-3           2     0      2",
    ]


def test_a_layout_of_threads_and_values_is_read_as_cute_does():
    by_text = conflicts("(8,8):(8,1)", "(32,2):(1,32)")
    by_function = conflicts(
        "(8,8):(8,1)", lambda t, v: ((v * 32 + t) % 8, (v * 32 + t) // 8), values=2
    )
    assert by_text == by_function
    assert by_text.phases == 2


@pytest.mark.parametrize(
    ("layout", "access", "options", "said"),
    [
        (Padded(1), lambda t, v: (t, 0), {"vector": 2}, "no aligned vector"),
        (RowMajor(), lambda t, v: (0, t + 1), {"vector": 2}, "no aligned vector"),
        (RowMajor(), lambda t, v: (t, 0), {"bytes": 3}, "1, 2, 4, 8 or 16 bytes at once"),
        (RowMajor(), lambda t, v: (t, 0), {"bytes": 8, "vector": 4}, "not 4 times 8"),
        (RowMajor(), lambda t, v: (t, 0), {"kind": "look"}, "'read' or a 'write'"),
        (RowMajor(), lambda t, v: (t, 64), {}, "an index of the access is at most 63"),
        (RowMajor(), lambda t, v: (t, 0, 0), {}, "gives 3 indices"),
        (RowMajor(), lambda t, v: (0, "x"), {}, "an index of the access is a whole number"),
        (RowMajor(), "(32,200):(1,32)", {}, "names element 6399 of a tile of 4096 elements"),
        (RowMajor(), "32:1", {}, "has two axes"),
        (RowMajor(), "Swizzle<1,0,1>", {}, "is swizzled"),
    ],
)
def test_what_is_no_access_is_refused(layout, access, options, said):
    with pytest.raises(LayoutError, match=said):
        conflicts(layout, access, (64, 64), **options)


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


def test_all_swizzles_that_free_are_found():
    ask = list(questions((32, 32), 4, 1))
    found = list(swizzles(ask))
    assert [str(one) for one in found] == ["Swizzle<5,0,5>"]
    halves = [
        lambda layout: conflicts(layout, row_of_matrix, (64, 64), bytes=2, vector=8, threads=8)
    ]
    assert "Swizzle<3,3,3>" in [str(one) for one in swizzles(halves)]
