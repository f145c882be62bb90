"""Values that lanes of a warp get from each other, on both engines and under both schedules.

The expected numbers are worked out by hand, for warps of 8 lanes.
"""

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import ArithmeticFault, ExchangeError, LanguageError, TypeFault
from tests.kit.runs.both import on_all, refused


def ints(*shape):
    return np.zeros(shape, np.int64)


def test_a_shuffle_brings_the_value_of_a_lane_modulo_the_width():
    def shuffles(T, out):
        x = 10 * T.id
        out[0, T.id] = mm.warp.shuffle(x, 3)
        out[1, T.id] = mm.warp.shuffle(x, T.lane + 1)
        out[2, T.id] = mm.warp.shuffle(x, -1)

    out = on_all(shuffles, ints(3, 16), threads=16).arrays["out"]
    assert out[0].tolist() == [30] * 8 + [110] * 8
    assert out[1].tolist() == [10, 20, 30, 40, 50, 60, 70, 0, 90, 100, 110, 120, 130, 140, 150, 80]
    assert out[2].tolist() == [70] * 8 + [150] * 8


def test_past_the_end_of_the_warp_a_lane_keeps_its_own_value():
    def distances(T, out):
        out[0, T.id] = mm.warp.shuffle_up(T.id, 3)
        out[1, T.id] = mm.warp.shuffle_down(T.id, 3)
        out[2, T.id] = mm.warp.shuffle_xor(T.id, 5)
        out[3, T.id] = mm.warp.shuffle_up(T.id, 8)
        out[4, T.id] = mm.warp.shuffle_down(T.id, 9223372036854775807)
        out[5, T.id] = mm.warp.shuffle_xor(T.id, 9)

    out = on_all(distances, ints(6, 8)).arrays["out"]
    assert out[0].tolist() == [0, 1, 2, 0, 1, 2, 3, 4]
    assert out[1].tolist() == [3, 4, 5, 6, 7, 5, 6, 7]
    assert out[2].tolist() == [5, 4, 7, 6, 1, 0, 3, 2]
    assert (out[3:] == np.arange(8)).all()


def test_an_xor_past_a_width_that_is_no_power_of_two_keeps_the_own_value():
    def crossed(T, out):
        out[T.id] = mm.warp.shuffle_xor(T.id, 4)

    out = on_all(crossed, ints(6), machine=mm.DMM(6, 2), threads=6).arrays["out"]
    assert out.tolist() == [4, 5, 2, 3, 0, 1]


def test_votes_and_masks_count_active_lanes_alone():
    def votes(T, out, test):
        if T.lane != 2:
            out[0, T.id] = mm.warp.ballot(T.lane % 2 == 0)
            out[1, T.id] = mm.warp.active_mask()
            test[0, T.id] = mm.warp.any(T.lane == 2)
            test[1, T.id] = mm.warp.all(T.lane != 2)
            test[2, T.id] = mm.warp.any(T.lane == 7)
            test[3, T.id] = mm.warp.all(T.lane < 7)

    run = on_all(votes, ints(2, 8), np.zeros((4, 8), bool))
    others = [0, 1, 3, 4, 5, 6, 7]
    assert run.arrays["out"][:, others].T.tolist() == [[0b01010001, 0b11111011]] * 7
    assert run.arrays["test"][:, others].T.tolist() == [[False, True, True, False]] * 7
    assert not run.arrays["out"][:, 2].any()


def test_matches_compare_bit_by_bit():
    def matches(T, a, out):
        out[0, T.id] = mm.warp.match_any(T.lane // 3)
        out[1, T.id] = mm.warp.match_all(5)
        out[2, T.id] = mm.warp.match_all(T.lane // 7)
        out[3, T.id] = mm.warp.match_any(a[T.id])

    a = np.array([0.0, -0.0, 0.0, np.nan, np.nan, 1.0, -0.0, 1.0], np.float32)
    out = on_all(matches, a, ints(4, 8)).arrays["out"]
    assert out[0].tolist() == [0b111] * 3 + [0b111000] * 3 + [0b11000000] * 2
    assert out[1].tolist() == [0xFF] * 8
    assert out[2].tolist() == [0] * 8
    zeros, minus, nans, ones = 0b101, 0b1000010, 0b11000, 0b10100000
    assert out[3].tolist() == [zeros, minus, zeros, nans, nans, ones, minus, ones]


def test_complex_numbers_are_shuffled_in_their_type_and_true_where_they_are_not_zero():
    def shuffles(T, a, out, parts, votes):
        z = a[T.id]
        out[0, T.id] = mm.warp.shuffle_up(z, 1)
        out[1, T.id] = mm.warp.shuffle(mm.complex64(0.1j), 0)
        parts[T.id] = mm.warp.shuffle_xor(z, 1).imag
        votes[0, T.id] = mm.warp.ballot(z)
        votes[1, T.id] = mm.warp.any(z.real) + 2 * mm.warp.all(z) + 4 * mm.warp.any(z)

    a = np.array([0j, -1j, 2 + 3j, -0.0, 4j, 5 - 5j, 0j, complex(0, np.nan)])
    run = on_all(shuffles, a, np.zeros((2, 8), complex), np.zeros(8), ints(2, 8))
    assert run.arrays["out"][0].tobytes() == a[[0, 0, 1, 2, 3, 4, 5, 6]].tobytes()
    assert (run.arrays["out"][1] == np.complex64(0.1j)).all()
    assert run.arrays["parts"].tobytes() == a.imag[[1, 0, 3, 2, 5, 4, 7, 6]].tobytes()
    assert run.arrays["votes"].T.tolist() == [[0b10110110, 0b101]] * 8


def test_lanes_exchange_within_their_warp_and_block():
    def masks(T, out):
        out[T.id] = mm.warp.active_mask()

    # Blocks of 12: warps of 8 and 4; the last block has 4 threads.
    run = on_all(masks, ints(28), machine=mm.HMM(2, 8, 3), threads=28, block_size=12)
    full, part = [0xFF] * 8, [0xF] * 4
    assert run.arrays["out"].tolist() == [*full, *part, *full, *part, *part]


def test_a_sum_by_shuffles_is_the_sum():
    def total(T, a, out):
        x = a[T.id]
        distance = 4
        while distance > 0:
            x += mm.warp.shuffle_down(x, distance)
            distance //= 2
        if T.lane == 0:
            out[T.warp] = x

    a = np.arange(32.0) ** 2
    out = on_all(total, a, np.zeros(4), threads=32).arrays["out"]
    assert out.tolist() == a.reshape(4, 8).sum(axis=1).tolist()


def test_what_is_moved_keeps_its_type():
    def narrow(T, a, out):
        out[T.id] = mm.warp.shuffle(a[T.id], 1)

    a = np.array([0.1, 0.2, 0.3, 0.4], np.float32)
    run = on_all(narrow, a, np.zeros(4, np.float32), threads=4)
    assert run.arrays["out"].tolist() == [a[1]] * 4


def test_an_exchange_stands_in_expressions_tests_and_helpers():
    def lowest(T, test):
        mask = mm.warp.ballot(test)
        lane = 0
        while mask != 0 and mask % 2 == 0:
            mask //= 2
            lane += 1
        return lane if mask else -1

    def found(T, a, out):
        out[0, T.id] = lowest(T, a[T.id] > 4) * 10 + mm.warp.any(a[T.id] > 90)
        k = 0
        while mm.warp.any(k < a[T.id]) and k < 5:
            k += 1
        out[1, T.id] = k
        out[2, T.id] = mm.warp.active_mask() if T.lane < 3 else -mm.warp.active_mask()
        out[3, T.id] = T.lane > 5 and mm.warp.ballot(True)

    a = np.array([1, 3, 2, 4, 6, 9, 1, 0])
    out = on_all(found, a, ints(4, 8)).arrays["out"]
    assert out[0].tolist() == [40] * 8
    assert out[1].tolist() == [5] * 8
    assert out[2].tolist() == [0b111] * 3 + [-0b11111000] * 5
    assert out[3].tolist() == [0] * 6 + [0b11000000] * 2


# ------------------------------------------------------------------ what can't be


def test_a_lane_that_asks_an_inactive_one_is_refused_by_both_names():
    def asks(T, out):
        if T.lane > 2:
            out[T.id] = mm.warp.shuffle(T.id, T.lane - 2)

    error = refused(ExchangeError, asks, ints(16), threads=16)
    first = asks.__code__.co_firstlineno
    assert (error.thread, error.other, error.place.line) == (3, 1, first + 2)
    assert error.program == "asks"
    assert "lane 3, thread 3, asks lane 1, thread 1, which is not active here" in str(error)


def test_a_lane_that_has_returned_or_was_never_there_is_inactive():
    def returned(T, out):
        if T.lane == 5:
            return
        out[T.id] = mm.warp.shuffle_down(T.id, 1)

    error = refused(ExchangeError, returned, ints(8))
    assert (error.thread, error.other) == (4, 5)

    def missing(T, out):
        out[T.id] = mm.warp.shuffle_down(T.id, 1)

    error = refused(ExchangeError, missing, ints(13), threads=13)
    assert (error.thread, error.other) == (12, None)
    assert "lane 4, thread 12, asks lane 5, which its warp does not have" in str(error)


def test_a_negative_distance_is_refused():
    def back(T, out):
        out[T.id] = mm.warp.shuffle_up(T.id, 1 - T.lane)

    error = refused(ArithmeticFault, back, ints(8))
    assert error.thread == 2
    assert "shuffle_up takes no negative distance, as -1" in str(error)


def test_masks_have_room_for_64_lanes():
    def masks(T, out):
        out[T.id] = mm.warp.ballot(T.lane >= 62)

    def votes(T, out):
        out[T.id] = mm.warp.any(T.lane == 64) + mm.warp.shuffle_up(T.lane, 1)

    full = on_all(masks, ints(64), machine=mm.DMM(64, 1), threads=64)
    assert set(full.arrays["out"].tolist()) == {-(2**62)}  # bits 62 and 63
    error = refused(TypeFault, masks, ints(65), machine=mm.DMM(65, 1), threads=65)
    assert "a warp has 65 lanes here; use a machine of width 64 or less" in str(error)
    small = on_all(masks, ints(8), machine=mm.DMM(65, 1), threads=8)  # no warp has more than 8
    assert not small.arrays["out"].any()
    wide = on_all(votes, ints(65), machine=mm.DMM(65, 1), threads=65)
    assert wide.arrays["out"].tolist() == [1, *range(1, 65)]


def test_a_lane_is_no_float():
    def halves(T, out):
        out[T.id] = mm.warp.shuffle(T.id, T.lane / 2)

    assert "the lane of shuffle is a whole number" in str(refused(TypeFault, halves, ints(8)))


def test_complex_numbers_are_no_lanes_and_are_not_matched():
    def lanes(T, a, out):
        out[T.id] = mm.warp.shuffle(T.id, a[T.id])

    def distances(T, a, out):
        out[T.id] = mm.warp.shuffle_up(T.id, a[T.id])

    def any_like(T, a, out):
        out[T.id] = mm.warp.match_any(a[T.id])

    def all_like(T, a, out):
        out[T.id] = mm.warp.match_all(a[T.id])

    for program, message in (
        (lanes, "the lane of shuffle is a whole number; write int(z.real)"),
        (distances, "the distance of shuffle_up is a whole number; write int(z.real)"),
        (any_like, "match_any takes a real number, and this one is complex; match z.real and"),
        (all_like, "match_all takes a real number, and this one is complex; match z.real and"),
    ):
        assert message in str(refused(TypeFault, program, np.zeros(8, complex), ints(8)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mm.warp.shuffle(T.id)", "takes value and lane"),
        ("mm.warp.ballot()", "takes test"),
        ("mm.warp.active_mask(1)", "takes no arguments"),
        ("mm.warp.shuffle(T.id, laen=1)", "takes value and lane"),
        ("mm.warp.sync()", "has no value"),
        ("T.barrier_or()", "takes test"),
        ("T.barrier_or", "is called with a test"),
        ("T.grid_barrier()", "a barrier has no value"),
    ],
)
def test_what_is_written_wrongly_is_refused_when_it_is_decorated(text, message, tmp_path):
    import importlib.util

    file = tmp_path / "wrong.py"
    file.write_text(f"import mmsim as mm\n\n\ndef wrong(T, a):\n    a[T.id] = {text}\n")
    spec = importlib.util.spec_from_file_location("wrong", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.raises(LanguageError, match=message):
        mm.program(module.wrong)


def test_names_of_exchange_mean_nothing_outside_a_program():
    with pytest.raises(mm.MMSimError, match=r"mm\.warp\.ballot has a meaning only inside"):
        mm.warp.ballot(True)
