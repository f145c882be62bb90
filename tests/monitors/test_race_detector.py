"""The detector of races against a look at every pair of accesses."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mmsim as mm
from mmsim.meaning.launch import Launch
from mmsim.monitors import racecheck as races
from mmsim.monitors.lines import Lines
from mmsim.monitors.listener import Access
from tests.kit.generators.draws import draws


@mm.program
def many_sites(T, a, b, c):
    s = mm.shared(3, dtype=int)
    a[0, 0]
    a[0, 1] = a[1, 0] + a[1, 1]  # two reads and a write in one line
    a[1, 1] = 2
    b[0]
    b[0] = b[1]
    s[1] = s[0]
    s[2] = 1
    s[1]
    c[0]  # never written


def launch(schedule, block_size):
    arrays = (np.zeros((2, 2), int), np.zeros(2, np.float32), np.zeros(2, int))
    return Launch(mm.DMM(2, 1), many_sites, arrays, 12, block_size, schedule, 100)


LAUNCHES = {
    (schedule, block_size): launch(schedule, block_size)
    for schedule in ("synchronous", "asynchronous")
    for block_size in (12, 5)
}


@st.composite
def reports(draw):
    """A launch, and calls of `access` for it: (site, lanes, interval of each warp)."""
    bound = LAUNCHES[
        draw(st.sampled_from(["asynchronous", "synchronous"])), draw(st.sampled_from([12, 5]))
    ]
    calls = []
    sites, most = bound.meaning.sites, None
    if draw(st.booleans()):  # all at one element
        sites, most = [s for s in sites if s.array == "a" and s.kind == "write"], 1
    for _ in range(draw(st.integers(1, 12))):
        site = draw(st.sampled_from(sites))
        size = most or bound.arrays[site.array].data.shape[1]
        lane = st.tuples(st.integers(0, size - 1), st.integers(0, 2))
        chosen = draw(st.dictionaries(st.integers(0, 11), lane, min_size=1, max_size=6))
        lanes = [(thread, *chosen[thread]) for thread in sorted(chosen)]
        intervals = draw(st.lists(st.integers(0, 2), min_size=12, max_size=12))
        calls.append((site, lanes, intervals))
    return bound, calls


def report(detector, bound, calls):
    """Report to the detector, with one number for what is the same for all lanes."""
    grid, synchronous = bound.grid, bound.schedule == "synchronous"
    for number, (site, lanes, intervals) in enumerate(calls):
        array = bound.arrays[site.array]
        threads, elements, values = (np.array(column) for column in zip(*lanes, strict=True))
        warps, blocks = grid.warp[threads], grid.block[threads]
        passed = np.array(intervals)[warps]
        if number % 2:
            warps, blocks, passed = (
                int(one[0]) if (one == one[0]).all() else one for one in (warps, blocks, passed)
            )
        detector.accessed(
            Access(
                site,
                array,
                threads,
                warps,
                blocks,
                elements,
                values.astype(array.data.dtype),  # of a read, too: they count for nothing
                number if synchronous else passed,
            )
        )
        for mine in (elements, threads, values):
            mine[:] = 0  # what was reported is not kept by reference


def all_pairs(bound, calls):
    """The findings due: {(line, line, array): (elements, element, threads, blocks)}."""
    grid = bound.grid
    accesses = []
    for number, (site, lanes, _) in enumerate(calls):
        stored = set()
        for thread, element, value in lanes:
            warp, block = int(grid.warp[thread]), int(grid.block[thread])
            copy = block if bound.arrays[site.array].shared else 0
            if site.kind == "write" and (warp, copy, element) in stored:
                continue  # a lower-numbered thread of the warp wins
            stored.add((warp, copy, element))
            line = (site.place.line, site.kind == "write")
            accesses.append((line, site.array, (copy, element), thread, value, number))
    order = list(dict.fromkeys((s.place.line, s.kind == "write") for s in bound.meaning.sites))
    found = {}
    for one, other in combinations(accesses, 2):
        (line, array, cell, thread, value, call) = one
        (line2, array2, cell2, thread2, value2, call2) = other
        if (array, cell) != (array2, cell2) or grid.warp[thread] == grid.warp[thread2]:
            continue
        if not (line[1] or line2[1]) or (line[1] and line2[1] and value == value2):
            continue
        if bound.schedule == "synchronous":
            ordered = call != call2
        elif grid.block[thread] == grid.block[thread2]:
            passed = calls[call][2][grid.warp[thread]]
            ordered = passed != calls[call2][2][grid.warp[thread2]]
        else:
            ordered = False
        if ordered:
            continue
        first, second = sorted([(order.index(line), thread), (order.index(line2), thread2)])
        key = (first[0], second[0], array)
        found.setdefault(key, []).append((cell, first[1], second[1]))
    return {
        (order[key[0]], order[key[1]], key[2]): (len({pair[0] for pair in pairs}), min(pairs))
        for key, pairs in sorted(found.items())
    }


def as_plain(bound, findings):
    plain = {}
    for finding in findings:
        one, other = finding.accesses
        key = (*((a.line, a.kind == "write") for a in (one, other)), finding.array)
        array = bound.arrays[finding.array]
        cell = (finding.copy or 0, int(np.ravel_multi_index(finding.index, array.shape)))
        assert (finding.copy is not None) == array.shared
        assert [bound.grid.block[a.thread] for a in (one, other)] == [one.block, other.block]
        if bound.schedule == "synchronous":
            assert finding.scope == "round"
        else:
            assert finding.scope == ("interval" if one.block == other.block else "blocks")
        assert key not in plain
        plain[key] = (finding.elements, (cell, one.thread, other.thread))
    return plain


@pytest.mark.parametrize(("batch", "most"), [(1, 1), (8, 20), (1 << 18, 1 << 21)])
@settings(max_examples=draws(12))
@given(case=reports())
def test_the_detector_finds_what_a_look_at_every_pair_finds(batch, most, case):
    bound, calls = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(races, "BATCH", batch)
        patch.setattr(races, "MOST_HELD", most)
        detector = races.RaceDetector(bound, Lines(bound))
        report(detector, bound, calls)
        findings = detector.findings()
        expected = all_pairs(bound, calls)
        assert as_plain(bound, findings) == expected
        assert list(as_plain(bound, findings)) == list(expected)  # in the order of the text
        assert detector.findings() == findings


@pytest.mark.parametrize(
    ("first", "second", "threads"),
    [
        # (thread, value) of each write; warps are two threads
        ([(0, 5), (2, 7), (4, 5)], [(1, 7)], (4, 1)),  # neither the first nor the second of them
        ([(0, 5), (2, 5), (4, 5), (6, 7)], [(10, 5)], (6, 10)),
        ([(0, 5), (2, 7), (4, 7), (6, 5)], [(3, 5)], (4, 3)),
        ([(0, 5), (2, 7), (3, 7)], [(1, 7)], None),  # one warp, or one value
    ],
)
def test_lines_whose_first_writes_do_not_race(first, second, threads):
    bound = LAUNCHES["asynchronous", 12]
    sites = [s for s in bound.meaning.sites if s.array == "a" and s.kind == "write"]
    calls = [
        (site, [(thread, 0, value)], [0] * 12)
        for site, writes in zip(sites, (first, second), strict=True)
        for thread, value in writes
    ]
    detector = races.RaceDetector(bound, Lines(bound))
    report(detector, bound, calls)
    between = [one for one in detector.findings() if len(set(one.lines)) == 2]
    assert [one.threads for one in between] == [threads] * (threads is not None)


@settings(max_examples=draws(12))
@given(case=reports(), data=st.data())
def test_the_order_of_reports_makes_no_difference(case, data):
    bound, calls = case
    found = []
    for order in (calls, data.draw(st.permutations(calls))):
        detector = races.RaceDetector(bound, Lines(bound))
        report(detector, bound, order)
        found.append(detector.findings())
    assert found[0] == found[1]


def test_a_wide_race_takes_little_memory_and_time():
    """Every warp reads and writes one element again and again: billions of pairs, two findings."""

    @mm.program
    def all_to_one(T, a):
        a[0]
        a[0] = T.id

    bound = Launch(mm.DMM(2, 1), all_to_one, (np.zeros(1, int),), 40_000, None, "asynchronous", 9)
    detector = races.RaceDetector(bound, Lines(bound))
    grid, zeros = bound.grid, np.zeros(40_000, int)
    for _ in range(100):
        for site in bound.meaning.sites:
            values = grid.id if site.kind == "write" else None
            array = bound.arrays[site.array]
            access = Access(site, array, grid.id, grid.warp, grid.block, zeros, values, 0)
            detector.accessed(access)
    detector._take_in()
    assert sum(len(held.cell) for held in detector._held) <= races.MOST_HELD
    findings = detector.findings()
    assert [(one.threads, one.elements) for one in findings] == [((0, 2), 1), ((0, 2), 1)]
