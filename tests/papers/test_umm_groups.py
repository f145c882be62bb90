"""The global transpose with r < w registers: results, counts, and what no program can do."""

from math import isqrt, log2, sqrt

import numpy as np
import pytest

import mmsim as mm
from mmsim.claims import ClaimError, within
from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.transpose.umm import apart, mirror, swap, tile, tiled, transpose
from mmsim_algorithms.transpose.umm_groups import global_transpose, rows_at_a_time
from mmsim_algorithms.transpose.umm_groups_claims import CLAIMS, PARTS, WHOLE_GROUPS

SCHEDULES = ("synchronous", "asynchronous")


def tiles_transposed(a, side):
    m = len(a) // side
    return a.reshape(m, side, m, side).swapaxes(0, 2).reshape(a.shape)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(("w", "r"), [*WHOLE_GROUPS, (16, 1)])
@pytest.mark.parametrize("m", [1, 2, 3])
def test_any_number_of_warps_moves_the_tiles(w, r, m, schedule):
    side, _ = tile(w, r)
    a = np.random.RandomState(m).randint(1000, size=(m * w, m * w))
    most = a.size // (r * w)
    for warps in {1, min(2, most), max(1, most // 2), most}:
        run = global_transpose(mm.UMM(w, 3), a, warps * w, r, schedule)
        assert (run.arrays["b"] == tiles_transposed(a, side)).all()
        assert (run.arrays["a"] == a).all()
        assert run.registers.data <= r


@pytest.mark.parametrize(("w", "r"), WHOLE_GROUPS)
def test_whole_groups_are_read_and_written(w, r):
    a = np.zeros((2 * w, 2 * w))
    run = global_transpose(mm.UMM(w, 2), a, w, r)
    assert {row.access_class for row in run.accesses} == {"coalesced"}
    assert run.stages == 2 * a.size // w
    assert run.registers.data == isqrt(w // r)


def test_the_example_of_eight_banks_and_two_registers():
    """w = 8, r = 2, n = 1024, p = 512, l = 1: a copy takes 256, swapping words 448."""
    a = np.arange(1024).reshape(32, 32)
    machine = mm.UMM(8, 1)
    assert global_transpose(machine, a, 512, 2).time == 256
    swapped = machine.run(swap, a, 4, threads=512)
    assert swapped.time == 448
    assert (swapped.arrays["b"] == global_transpose(machine, a, 512, 2).arrays["b"]).all()


@pytest.mark.parametrize(
    ("w", "shape", "p", "r", "text"),
    [
        (18, (18, 18), 18, 2, "w <= r^3, or w/r^3 is a fourth power, not 18/8 (w = 18, r = 2)"),
        (8, (8, 8), 8, 3, "rw and w/r are square numbers"),
        (8, (12, 12), 8, 2, "its rows are whole address groups of w = 8 words, not 12 x 12"),
        (8, (8, 16), 8, 2, "the matrix is square"),
        (8, (0, 0), 8, 2, "the matrix is square"),
        (8, (8,), 8, 2, "the matrix is square"),
        (8, (8, 8), 12, 2, "the number p of threads is a multiple of w = 8, not 12"),
        (8, (8, 8), 40, 2, "w <= p <= n/r = 32, not p = 40"),
    ],
)
def test_input_that_it_does_not_take_is_refused(w, shape, p, r, text):
    with pytest.raises(PreconditionError) as error:
        global_transpose(mm.UMM(w, 1), np.zeros(shape, int), p, r)
    assert text in str(error.value)


def test_a_swap_in_place_holds_two_words():
    a = np.zeros((8, 8), int)
    assert swap.registers(a, 2).data == 2
    assert mirror.registers(a, a.copy(), 2).data == 1
    with pytest.raises(PreconditionError, match="a swap in place holds two words"):
        transpose(mm.UMM(4, 1), a, 4, 1, program=tiled)
    run = transpose(mm.UMM(4, 1), a, 4, 1, program=apart)
    assert run.registers.data == 1


def test_a_run_that_holds_more_than_its_claim_names_is_refused():
    run = mm.UMM(4, 1).run(swap, np.zeros((8, 8), int), 2, threads=8)
    assert within(run, 2) is run
    with pytest.raises(ClaimError, match=r"swap on .* needs 2 registers for data, the claim names"):
        within(run, 1)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(("w", "r"), [(4, 1), (9, 1), (8, 2)])
def test_apart_transposes_matrices_below_one_another(w, r, schedule):
    side, _ = tile(w, r)
    a = np.arange(3 * (2 * side) ** 2).reshape(3, 2 * side, 2 * side)
    run = transpose(mm.UMM(w, 2), a, w, r, schedule, apart)
    assert (run.arrays["b"].reshape(a.shape) == a.swapaxes(1, 2)).all()


def least_stages(n, w, r):
    """Every program that reads and writes each word once needs more (docs/claims.md)."""
    return sqrt(2) * n / w * (w / r**3) ** 0.25


def fewest(g, words, room):
    """The fewest stages in which g x g parts of groups change places, by trying all.

    Part (x, y) lies in group x and goes to group y; each has so many words. A stage reads any words
    of one group, or writes all that are there of another, and registers have `room` for so many.
    Which thread holds a word is left aside, so that no program needs less.
    """
    every = [(x, y) for x in range(g) for y in range(g) for _ in range(words)]
    sources = [sum(1 << i for i, (x, _) in enumerate(every) if x == one) for one in range(g)]
    targets = [sum(1 << i for i, (_, y) in enumerate(every) if y == one) for one in range(g)]
    start = ((1 << len(every)) - 1, 0)
    seen, level, stages = {start}, [start], 0
    while (0, 0) not in seen:
        following = []
        for left, held in level:
            free = room - held.bit_count()
            moves = [
                (left & ~some, held | some)
                for source in sources
                for some in subsets(left & source)
                if some.bit_count() <= free
            ]
            moves += [(left, held & ~target) for target in targets if held & target]
            fresh = {move for move in moves if move not in seen}
            seen |= fresh
            following += fresh
        level, stages = following, stages + 1
    return stages


def subsets(bits):
    some = bits
    while some:
        yield some
        some = (some - 1) & bits


@pytest.mark.parametrize(
    ("w", "r", "words", "stages"),
    [
        (4, 1, 2, 6),  # word by word
        (4, 1, 1, 6),  # a row of a tile as a whole
        (8, 2, 1, 4),
        (9, 1, 1, 11),
        (18, 2, 1, 8),
        (27, 3, 1, 6),
    ],
)
def test_only_with_enough_registers_it_is_a_copy(w, r, words, stages):
    """A copy of these g groups takes 2g stages: with g = sqrt(w/r) <= r, and only then."""
    side, g = tile(w, r)
    found = fewest(g, words, r * g * words)
    assert found == stages
    assert (found == 2 * g) == (g <= r)
    assert found > least_stages(g * g * side, w, r)


def test_with_one_register_no_constant_will_do():
    """The printed O() breaks by a factor that grows as w^(1/4)."""
    (printed,) = [claim for claim in CLAIMS if claim.id == "SMM-L5.3.swap.printed"]
    for case in printed.cases():
        w, n = case["w"], case["n"]
        time = printed.run(schedule="synchronous", **case).time
        assert time == 2 * round(w**0.25) * n // w
        # More than log2(w)/2 times n/w is needed by every program, and that grows as well.
        assert time > n / w * log2(w) / 2


@pytest.mark.parametrize(("w", "r"), [*PARTS, (256, 1)])
def test_the_program_is_within_a_square_root_of_two_of_the_least(w, r):
    a = np.zeros((w, w))
    run = global_transpose(mm.UMM(w, 1), a, w, r)
    assert least_stages(a.size, w, r) < run.stages < 1.415 * least_stages(a.size, w, r)
    _, group, span = rows_at_a_time(w, r)
    assert run.stages == 2 * a.size // w * group // span
