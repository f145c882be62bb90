"""The programs that measure a card's cache and memory: the words, lines and sectors they access."""

from __future__ import annotations

import numpy as np
import pytest

import mmsim as mm
from mmsim.api.kernels import kernel
from mmsim_algorithms.gpu import cache_programs as programs
from mmsim_algorithms.gpu.cache_point import LINE
from mmsim_algorithms.gpu.cache_points import SECTOR
from mmsim_algorithms.gpu.cache_stage import chain

pytestmark = pytest.mark.usefixtures("uncompiled")
WARP = 32


def run(program, *given, threads, width=WARP):
    """A program on the HMM whose address groups have so many words."""
    block = min(threads, 1024)
    return mm.HMM(1, width, 1).run(program, *given, threads=threads, block_size=block)


def p(*numbers):
    return np.array(numbers, np.int32)


def groups(found, kind="read", array="a"):
    """The address groups that the accesses to an array take."""
    return sum(row.stages for row in found.accesses if (row.kind, row.array) == (kind, array))


@pytest.mark.parametrize("program", [programs.walk, programs.walk_writing])
@pytest.mark.parametrize(("stride", "lines", "sectors"), [(1, 1, 4), (8, 8, 32), (32, 32, 32)])
def test_a_walk_asks_for_so_many_lines_and_sectors(program, stride, lines, sectors):
    kind = "read" if program is programs.walk else "write"
    a, given = np.zeros(4096, np.int32), p(3, 4096 // stride, stride)
    assert groups(run(program, a, given, threads=WARP), kind) == 3 * lines
    # Warps of 8 threads and groups of 8 words: the sectors of 32 threads.
    assert groups(run(program, a, given, threads=WARP, width=SECTOR), kind) == 3 * sectors


@pytest.mark.parametrize("program", [programs.interleaved, programs.interleaved_writing])
def test_half_warps_of_interleaved_words_share_their_lines(program):
    """Of 8 bytes: 16 words are a line. All words come once in so many steps."""
    words, writes = 256, program is programs.interleaved_writing
    a = np.full(words, -1, np.int64)
    found = run(program, a, p(2, words, 1), threads=128, width=16)
    (row,) = [row for row in found.accesses if row.array == "a"]
    assert row.requests == 2 * 128 // 16
    assert row.stages == 2 * row.requests
    if writes:
        assert found.arrays["a"].tolist() == list(range(words))


def test_a_walk_begins_anew_where_the_array_ends():
    a = np.full(64, -1, np.int32)
    found = run(programs.walk_writing, a, p(3, 6, 8), threads=4)
    # Places 0 to 3, then 4, 5, 0 and 1, then 2 to 5: all of 6, and each holds its own number.
    assert found.arrays["a"][:48:8].tolist() == [0, 1, 2, 3, 4, 5]
    assert (found.arrays["a"] != -1).sum() == 6
    once = run(programs.walk_writing, a, p(1, 6, 8), threads=4)
    assert (once.arrays["a"] != -1).sum() == 4


def scattered_words(times, units, unit, words, threads=64):
    """Additions of `scattered_adding` to each word, unit by unit."""
    a = np.zeros(units * unit, np.int32)
    given = p(times, units, unit, words)
    found = run(programs.scattered_adding, a, given, threads=threads)
    return found.arrays["a"].reshape(units, unit)


@pytest.mark.parametrize("words", [1, 8, 32])
def test_runs_are_whole_and_at_places_as_if_drawn(words):
    found = scattered_words(40, 128, 32, words, threads=256)
    assert not found[:, words:].any()
    assert (found[:, :words] == found[:, :1]).all()
    drawn = found[:, 0]
    assert drawn.sum() == 40 * 256 // words
    mean = drawn.mean()
    assert 0.5 * mean < drawn.var() < 1.5 * mean  # of a Poisson distribution they are equal


def test_units_follow_from_the_last_steps_of_murmurhash3():
    def scrambled(n):
        n ^= n >> 16
        n = n * 0x85EBCA6B % 2**32
        n ^= n >> 13
        n = n * 0xC2B2AE35 % 2**32
        return n ^ n >> 16

    found = scattered_words(2, 1000, 1, 1)
    expected = np.bincount([scrambled(n) * 1000 >> 32 for n in range(128)], minlength=1000)
    assert (found[:, 0] == expected).all()


def test_reads_writes_and_additions_are_at_the_same_places():
    given = (np.zeros(64 * 32, np.int32), p(5, 64, 32, 8))
    added = run(programs.scattered_adding, *given, threads=64)
    written = run(programs.scattered_writing, *given, threads=64)
    read = run(programs.scattered, *given, threads=64)
    # Word 0 of a unit is written with a 0.
    own = added.arrays["a"].reshape(64, 32)[:, 1:] > 0
    assert (own == (written.arrays["a"].reshape(64, 32)[:, 1:] > 0)).all()
    assert groups(read) == groups(written, "write")


def test_a_pair_is_of_one_line():
    given = (np.zeros(64 * 32, np.int32), p(4, 64, 32, 8, 24))
    found = run(programs.pairs, *given, threads=WARP)
    one, two = (row.stages for row in found.accesses if row.array == "a")
    assert one == two
    assert 4 * 20 < one < 4 * 32  # few of the 32 lines are the same


@pytest.mark.parametrize("regions", [1, 5, 16, 17, 32])
def test_lanes_read_in_regions_in_turn(regions):
    """A region of 3 sectors in each address group of 64 words: as many groups as regions."""
    a = np.zeros(regions * 64, np.int32)
    machine = mm.HMM(1, 64, 1)
    given = (a, p(5, 3, SECTOR, regions, 64))
    found = machine.run(programs.spread, *given, threads=WARP, block_size=WARP)
    assert groups(found) == 5 * regions
    # As far from each other as there are words: the last one is within its 3 sectors.
    short = np.zeros((regions - 1) * 64 + 3 * SECTOR, np.int32)
    machine.run(programs.spread, short, given[1], threads=2 * WARP, block_size=WARP)


@pytest.mark.parametrize("stride", [1, 32])
def test_a_round_waits_for_the_one_before_and_its_reads_don_t_wait(stride):
    k, a = 4, np.arange(4 * WARP * stride, dtype=np.int32)
    given = (a, np.zeros(WARP, np.int32), p(3, stride), k)
    found = run(programs.rounds, *given, threads=WARP)
    assert groups(found) == 3 * k * stride
    assert found.arrays["b"].tolist() == a[3 * WARP * stride :: stride].tolist()
    body = kernel(programs.rounds, *given, threads=WARP).source.split("p_++")[1]
    read, kept = body.index("c[j] = a["), body.index("= c[j]")
    assert "for (long long j" in body[read:kept]  # first all reads, then all are kept


def test_a_chain_goes_through_all_lines():
    a = chain(9)
    ends = [
        int(run(programs.follow, a, np.zeros(1, int), p(n, 0), threads=1).arrays["b"][0])
        for n in range(10)
    ]
    assert sorted(ends[:9]) == [LINE * line for line in range(9)]
    assert ends[9] == ends[0] == 0
