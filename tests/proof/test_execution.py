"""The cost of programs with symbols for their sizes, against runs at numbers."""

import re
import time
from itertools import islice, product
from random import Random

import numpy as np
import pytest

import mmsim as mm
from mmsim.claims.claim import symbols_of
from mmsim.proof.accesses import Accesses
from mmsim.proof.execution import Execution
from mmsim.proof.facts import Range
from mmsim.proof.terms import Term, Undecided, symbol
from mmsim.proof.warps import Warps
from tests.kit.generators.random_sizes import (
    case_of,
    differences,
    known_by,
    parts,
    sized_case,
    value,
)

n, m, k, l, d, L = symbols_of("nmkldL").values()
SECONDS = 2
"""For one program; one that takes longer counts as undecided."""


def compared(seeds):
    """Counts of programs with a cost, and of points at which it was compared."""
    decided = compared = 0
    for seed in seeds:
        try:
            one = sized_case(seed)
            found, points = differences(one, time.monotonic() + SECONDS, Random(seed))
        except (Undecided, mm.LanguageError):
            continue
        assert not found, f"{seed}\n{one}\n{found}"
        decided += 1
        compared += points
    return decided, compared


def test_random_programs():
    decided, points = compared(range(26))
    assert decided >= 8
    assert points >= 80


def test_warps_may_lack_a_variable_that_others_change_in_each_trip():
    without = Warps((), {}, np.ones(2, bool))  # they begin the loop after those that have it
    Execution._check_steady(None, [without], {"x": "swap"})


def test_a_program_with_bits_of_a_number_beyond_63_bits():
    assert compared([10_670]) == (0, 0)  # undecided, and no other error


@pytest.mark.long
@pytest.mark.parametrize("hundred", range(50))
def test_many_random_programs(hundred):
    decided, _ = compared(range(10_000 + 100 * hundred, 10_100 + 100 * hundred))
    assert decided >= 20


HALVES = (("n is a power of two",), lambda n, m: n & (n - 1) == 0)
PROGRAMS = {
    "lanes make different numbers of trips": (
        "x = 1; for i in range(m - T.warp):;     x *= 2;     a[i] = 1; a[x * T.lane] = 2",
        (mm.DMM(4, l), 8),
    ),
    "a loop for some lanes, in another one": (
        "x = 1; while x < 9:;     for i in range(T.id, 2, T.count):;         x *= 2"
        ";         a[i] = 1;     a[x] = 2;     x *= 2; b[x * T.lane] = 1",
        (mm.DMM(4, l), 4),
    ),
    "blocks of even and of odd numbers": (
        "s = mm.shared(64); a[T.id] = 1; s[(T.id ^ 1) & 1] = 1",
        (mm.HMM(d, 2, L, 1), "2 * n", "n", *HALVES),
    ),
    "all blocks but the first one, and the last one with a guard": (
        "s = mm.shared(64); if T.block > 0:;     s[T.index] = 1"
        "; if T.index == 3 and T.id + 1 < T.count:;     s[9] = 1; s[T.index * 2] = 1",
        (mm.HMM(d, 2, L, l), "4 * m", 4),
    ),
    "blocks of even numbers alone": (
        "s = mm.shared(64); a[T.id] = 1; if T.block % 2 == 0:;     s[T.lane] = 1",
        (mm.HMM(2, 2, L, 1), "2 * m", 2),
    ),
    "a negative divisor": (
        "x = T.warp // -6; a[0] = 1; for i in range(x, n, 2):;     b[T.lane * 2] = 1; b[T.id] = 1",
        (mm.DMM(3, l), 6, 3),
    ),
    "a remainder by a negative divisor": (
        "x = T.block % -6; a[0] = 1; if x < 0:;     b[T.lane] = 1; b[T.lane * 2] = 1",
        (mm.DMM(3, l), 6, 3),
    ),
    "trips that depend on the block": (
        "for i in range(T.block * n, m * n + T.block):;     a[i] = 1; b[T.id] = 1",
        (mm.DMM(3, l), 12, 6),
    ),
    "trips of which each second block makes one more": (
        "for i in range(T.block >> 1, -1, -1):;     a[i] = 1; b[T.id] = 1",
        (mm.DMM(3, l), "3 * m", 3),
    ),
    "a range of warps that depends on the block": (
        "if T.warp < T.block // 3:;     a[T.lane] = 1;     if T.block % 2 == 0:"
        ";         a[T.lane * 2] = 1",
        (mm.DMM(2, l), 96, 8),
    ),
    "a negative mask": ("a[(T.id & -2) + n] = 1", (mm.UMM(4, l), 32)),
    "a variable that follows another one": (
        "x = 16; y = 1; for i in range(3):;     a[x * T.lane] = 1;     x = y;     y = x // 2",
        (mm.UMM(4, l), 4),
    ),
    "a test by a function": (
        "for i in range(3):;     x = 2 * i;     while rest(x, 6) > 0:;         a[x * T.lane] = 1"
        ";         x += 1",
        (mm.DMM(2, l), 2),
    ),
    "halves down to 0": (
        "x = n; while x > 0:;     a[x * T.lane] = 1;     x = x // 2; a[x * T.lane + 1] = 1",
        (mm.UMM(4, l), 4, None, *HALVES),
    ),
    "negative divisors, and those that differ among lanes": (
        "a[T.id // -2 + T.id] = 1; b[T.id % -3 + 2] = 1; a[T.id // (T.lane + 1)] = 1"
        "; b[T.id % (2 + T.lane % 2)] = 1; a[T.id // -(1 + T.lane)  + T.id] = 1",
        (mm.UMM(4, l), 8),
    ),
    "shifts by lanes, and a test as a number": (
        "b[1 << T.lane] = 1; a[T.id >> T.lane % 2] = 1; b[T.id * (T.lane < 2)] = 1"
        "; a[2 ** T.lane * m] = 1",
        (mm.UMM(4, l), 8),
    ),
    "negative numbers bit by bit": (
        "a[~T.id + T.count] = 1; b[(T.id | -3) + 3] = 1; a[(T.id ^ -4) + T.count + 4] = 1"
        "; b[T.id & ~(T.lane // 2)] = 1; a[(~T.id & 6) + -(-n // 4)] = 1; b[abs(T.lane - 2)] = 1",
        (mm.UMM(4, l), 8),
    ),
    "one of two numbers, of which each is right for its lanes": (
        "a[T.lane // 2 if T.lane > 0 else 12 // (T.lane + 1)] = 1",
        (mm.UMM(4, l), 4),
    ),
    "a loop of all warps as one, with bounds of lanes": (
        "for i in range(T.id, n * (1 + T.lane % 2), T.count):;     a[i] = 1",
        (mm.UMM(2, l), "2 * m"),
    ),
    "a while loop of which lanes make different numbers of trips": (
        "x = T.id; while x < n:;     a[x] = 1;     x += T.count; b[T.id] = 1; x = n - T.lane"
        "; while x >= 2:;     b[x] = 1;     x -= 2;     a[x] = 1",
        (mm.DMM(4, l), 8),
    ),
    "a while loop of warps, with more rounds than one": (
        "s = mm.shared(90); x = T.index * 2; while x <= m:;     s[x] = 1;     x += 3;     y = x"
        ";     s[y] = 2; a[T.id] = 1",
        (mm.HMM(2, 2, L, l), 12, 6),
    ),
    "lanes that leave": (
        "if T.id < n:;     return; a[T.id] = 1; for i in range(5):;     if i == T.lane:"
        ";         break;     a[i] = 1;     if T.lane % 2 == 0:;         continue"
        ";     b[i * T.id] = 1; b[T.id] = 1",
        (mm.UMM(4, l), 4),
    ),
    "ranges that go down": (
        "for i in range(n, m, -1):;     a[0] = 1; for i in range(n, m, -2):;     b[T.id] = 1",
        (mm.DMM(3, l), 4),
    ),
    "a number that all lanes have, though no one knows it": (
        "y = 0; for i in range(m):;     y = 2 * y + (T.warp >> i) % 2; a[y * 4 + T.lane] = 1"
        "; z = 5; for i in range(n - n):;     z = z * T.lane; b[z] = 1",
        (mm.UMM(4, l), 8),
    ),
    "a number that lanes don't have in common": (
        "y = 0; for i in range(m):;     y = 2 * y + (T.id >> i) % 2; a[y] = 1",
        (mm.DMM(4, l), 8),
    ),
    "a number that may be negative": (
        "y = 0; for i in range(m):;     y = y + i - 1; a[y + T.lane + 4] = 1",
        (mm.DMM(4, l), 4),
    ),
    "swapped in a loop, and used behind it": (
        "x = T.warp; y = 3 * T.lane; for i in range(m):;     a[y] = 1;     x, y = y, x"
        "; if T.warp > 0:;     a[x * 2 + y] = 1; a[y] = 1; b[x] = 1",
        (mm.DMM(4, l), 12),
    ),
    "swapped by way of a third name": (
        "x = 1; y = 2; for i in range(n):;     a[x * T.lane] = 1;     t = x;     x = y;     y = t"
        ";     t = 5",
        (mm.UMM(4, l), 4),
    ),
}  # fmt: skip

TOGETHER = {
    "trips of each residue, of which some have no round": (
        "for i in range(4 * n):;     if i % 4 != 1:;         a[T.lane * (i % 4) + i] = 1",
        (mm.UMM(4, l), 8),
    ),
    "trips of each residue for some warps": (
        "for i in range(3 * n):;     if T.warp < i % 3:;         a[T.lane * (i % 3)] = 1",
        (mm.DMM(3, l), "3 * m"),
    ),
    "trips with as many trips within as their residue": (
        "for i in range(3 * n):;     for j in range(i % 3):;         a[(i + T.lane * j) % 3] = 1",
        (mm.DMM(3, l), 6),
    ),
    "warps of each residue, of which some send nothing": (
        "if T.warp % 4 != 2:;     a[T.warp % 4 * T.lane] = 1; b[T.id * 3 % 4 + T.warp % 2] = 1",
        (mm.UMM(4, l), "16 * n"),
    ),
    "warps of each residue in trips of each residue": (
        "for i in range(3 * n):;     if T.warp % 3 <= i % 3:"
        ";         a[(T.warp + i) % 3 * T.lane] = 1",
        (mm.DMM(3, l), "9 * m"),
    ),
    "a value that warps of each residue keep": (
        "x = T.warp % 3; for i in range(n):;     x += 3;     a[x * T.lane] = 1"
        ";     if i % 2 == T.warp % 3:;         b[T.lane * 2] = 1; b[x] = 1",
        (mm.UMM(3, l), "9 * m"),
    ),
    "blocks in trips of each residue": (
        "s = mm.shared(64); for i in range(2 * n):;     s[T.lane * (i % 2) * 2] = 1"
        ";     if T.warp % 2 == i % 2:;         s[T.lane * 2 + i % 2] = 1",
        (mm.HMM(d, 2, L, 1), "16 * m", 8),
    ),
    "trips of each residue for some blocks": (
        "s = mm.shared(64); for i in range(2 * n):;     if T.block % 2 == i % 2:"
        ";         s[T.lane] = 1;     a[i % 2 * T.lane] = 1",
        (mm.HMM(2, 2, L, 1), "8 * m", 4),
    ),
    "blocks of two kinds, which take turns": (
        "s = mm.shared(64); for i in range(2 * n):;     s[(2 - (i + T.block) % 2) * T.lane] = 1",
        (mm.HMM(2, 2, L, 1), "8 * m", 4),
    ),
    "several words of a lane in trips of each residue": (
        "for i in range(4 * n):;     mm.atomic.add(a, i % 4 * T.lane // 2, 1)"
        ";     a[i % 4 * T.lane] += 1",
        (mm.UMM(4, l), 4),
    ),
}  # fmt: skip


def test_residues_together(monkeypatch):
    """Costs of programs whose trips or warps are executed together, by residues, and apart."""
    most: list[tuple[int, int]] = []
    rounds_of = Accesses.rounds_of

    def counted(self, classes):
        most.append((self.trips, max(len(w.mask) for w in classes) // self.width // self.trips))
        return rounds_of(self, classes)

    monkeypatch.setattr(Accesses, "rounds_of", counted)
    for name, (text, launch) in TOGETHER.items():
        one = case_of(re.split(r"; ?", text), *launch)
        sizes = []
        for widest in (1 << 16, 0):
            monkeypatch.setattr(Accesses, "widest", widest)
            most.clear()
            try:
                found, points = differences(one, time.monotonic() + SECONDS, Random(0), most=6)
            except Undecided:
                assert "blocks" in name
                continue
            assert points
            assert not found, f"{one}\n{found}"
            sizes.append((max(t for t, _ in most), max(w for _, w in most)))
        if sizes:
            together, apart = sizes
            assert max(together) > 1, name
            assert apart == (1, 1), name


OPEN = {
    "lanes make different numbers of trips",
    "a loop for some lanes, in another one",
    "blocks of even numbers alone",
    "trips that depend on the block",
    "a loop of all warps as one, with bounds of lanes",
    "a number that lanes don't have in common",
    "a number that may be negative",
}
"""Those whose cost isn't found."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_one_difficulty(name):
    """The cost is that of runs, or it isn't found."""
    text, launch = PROGRAMS[name]
    one = case_of(re.split(r"; ?", text), *launch)
    try:
        found, points = differences(one, time.monotonic() + 10 * SECONDS, Random(0), most=20)
    except Undecided:
        assert name in OPEN
        return
    assert points
    assert name not in OPEN
    assert not found, f"{one}\n{found}"


def test_no_quotient_hides_the_block_from_a_sum(monkeypatch):
    """Of block b the first b // 4 + 1 warps access: the requests are the sum of these numbers."""
    one = case_of(["a[T.lane + 4 * T.block] = 1"], mm.DMM(4, l), "16 * m * n", "16 * m")

    def run(self):
        blocks = Range("block", Term({}), self.blocks)
        with self.facts.within([blocks]):
            rows, _ = self.facts.divmod(symbol("block"), Term.of(4))
        ranges = blocks, Range("warp", Term({}), rows + 1)
        place = {"warp": symbol("warp"), "block": symbol("block")}
        self.access(self.body[0], [Warps(ranges, {}, self.everyone, place=place)])
        return self.rows

    monkeypatch.setattr(Execution, "run", run)
    compared = set()
    for part in parts(one, time.monotonic() + SECONDS):
        for numbers, sizes in known_by(part, islice(product(range(10), repeat=5), 0, None, 499)):
            row = part.rows[0]
            assert value(row.requests, numbers, part.facts) == sum(
                block // 4 + 1 for block in range(sizes["n"])
            )
            compared.add(sizes["n"])
    assert len(compared) > 5
