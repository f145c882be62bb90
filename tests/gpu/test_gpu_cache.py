"""What is measured of a card's cache and memory: the programs, the points, the record, the command.

The GPU is only played: NumPy holds its arrays, and a launch takes what the test says.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import mmsim as mm
from mmsim.cli.main import main
from mmsim.errors import FormatError
from mmsim.gpu import ncu
from mmsim.gpu.counting import NAME
from mmsim.gpu.ncu import NoCounters, Profiled
from mmsim.gpu.record import Record
from mmsim_algorithms.gpu import cache_calibration, cache_multiprocessors, cache_points, cache_stage
from mmsim_algorithms.gpu.cache_calibration import NUMBERS, joined, measured, numbers
from mmsim_algorithms.gpu.cache_point import LINE
from mmsim_algorithms.gpu.cache_points import SECTOR, UNCOUNTED, ZEROS, Card, counted, points
from mmsim_algorithms.gpu.cache_stage import METRICS, Stage, chain, counted_name
from tests.kit.cards.fake_ncu import fake_ncu
from tests.kit.cards.played import PlayedCuPy, play_facts, play_profiler

pytestmark = pytest.mark.usefixtures("uncompiled", "small")
CARD = Card(2, 2**16)
H200 = Card(132, 60 * 2**20)
WARP = 32
WORDS = 2**19


@pytest.fixture
def small(monkeypatch):
    """A long array that is short."""
    monkeypatch.setattr(cache_points, "SCRATCH", WORDS)
    monkeypatch.setattr(cache_stage, "SCRATCH", WORDS)


def arrays(point):
    """The array that a point accesses, and the others, as they are on the GPU."""
    a = {
        "scratch": np.zeros(WORDS, np.int32),
        "zeros": np.zeros(ZEROS, np.int32),
        "chain": chain(cache_points.chain_lines(CARD)),
    }[point.array]
    if point.wide:
        a = a.view(np.int64)
    return (a,) if point.array == "scratch" else (a, np.zeros(1024, np.int32))


def test_each_point_differs_from_all_others_and_costs_what_its_number_says(monkeypatch):
    for card in (H200, CARD):
        monkeypatch.setattr(cache_points, "SCRATCH", WORDS * card.cache_bytes // CARD.cache_bytes)
        every = list(points(card))
        assert len({(one.number, *one.about.items()) for one in every}) == len(every)
    assert all(point.times[0] < point.times[1] for point in every)
    assert {point.threads for point in every if point.number == "read hits"} == {2 * 2048}


def test_an_access_lies_in_its_array():
    for point in points(CARD):
        # An index outside is an error of the simulator.
        given = (*arrays(point), point.p(1), *point.constants)
        how = {"threads": point.threads, "block_size": point.block}
        mm.HMM(1, WARP, 1).run(point.program, *given, **how)


def test_what_hits_fits_into_a_half_of_the_cache_and_what_misses_is_far_larger(monkeypatch):
    monkeypatch.setattr(cache_points, "SCRATCH", 2**29)
    sizes = {}
    for point in points(H200):
        sizes.setdefault(point.number, set()).add(point.about.get("MiB"))
    assert sizes["read hits"] == {15}
    assert sizes["write hits"] == {7.5}
    assert sizes["hit latency"] == sizes["miss latency"] == {7.5}
    assert sizes["memory, reads"] == sizes["runs, read"] == sizes["partial writes"] == {1024}
    assert min(sizes["capacity, random"]) == 7.5
    assert max(sizes["capacity, random"]) == 240
    assert sizes["reach, read"] == {120, 240, 480, 960, 1920}


def test_regions_lie_apart_and_all_have_a_quarter_of_the_cache(monkeypatch):
    monkeypatch.setattr(cache_points, "SCRATCH", 2**29)
    every = [point for point in points(H200) if point.number == "pages"]
    assert {point.about["spacing MiB"] for point in every} == {1, 2, 4, 8, 16, 32, 64}
    for point in every:
        sectors, words, regions, spacing = point.numbers
        assert 4 * spacing == point.about["spacing MiB"] * 2**20
        assert regions == point.about["pages"]
        assert sectors * words <= spacing
        size = 4 * sectors * words * regions / 2**20
        assert size <= 15
        if spacing >= 2**20:
            assert size > 14.99
        assert 32 * spacing <= 2**29


def test_few_random_writes_fill_the_cache_twice(monkeypatch):
    monkeypatch.setattr(cache_points, "SCRATCH", 2**29)
    for point in points(H200):
        if point.number in ("runs, written", "partial writes", "reach, written"):
            _, _, words = point.numbers
            sectors = point.times[0] * point.threads // words * -(-words // SECTOR)
            assert 4 * SECTOR * sectors >= 2 * H200.cache_bytes


@pytest.fixture
def played(monkeypatch):
    """A kernel takes 1 ms for each time that it repeats its access, and 7 ms more."""
    found = PlayedCuPy(CARD.multiprocessors, lambda p, grid: 7 + sum(p[:1]))
    found.on_stage(monkeypatch, CARD.cache_bytes)
    for module in (cache_calibration, cache_stage):
        monkeypatch.setattr(module, "cupy", lambda: found)
    play_facts(monkeypatch, cache_calibration)
    return found


def point_of(number, **about):
    (found,) = (
        point
        for point in points(CARD)
        if point.number == number and about.items() <= point.about.items()
    )
    return found


def test_an_access_takes_the_difference_of_two_times(played):
    point = point_of("read hits", stride=32)
    row = Stage(played).measure(point)
    few, many = point.times
    assert (row["few ms"], row["many ms"]) == (7 + few, 7 + many)
    assert row["accesses"] == (many - few) * point.threads
    assert row["ps"] == row["low"] == row["high"] == round(1e9 / point.threads, 4)
    assert (row["number"], row["stride"], row["word bytes"]) == ("read hits", 32, 4)
    of_rounds = point_of("under way", warps=4, stride=1, k=8)
    assert Stage(played).measure(of_rounds)["ps"] == round(1e9 / (128 * 8), 4)


def test_before_a_launch_the_cache_is_filled_as_the_point_says(played):
    stage = Stage(played)
    point = point_of("read hits", stride=32)
    stage.milliseconds(point, point.times[0])
    names = [(name, p[0]) for name, p, *_ in played.launched]
    assert names == 6 * [("walk", point.times[1]), ("walk", point.times[0])]
    played.launched.clear()
    stage.milliseconds(point_of("miss latency"), 5)
    assert [name for name, *_ in played.launched] == 6 * ["walk", "follow"]
    (_, p, array, *_) = played.launched[0]
    assert array.nbytes == 3 * CARD.cache_bytes
    assert p[0] * CARD.threads >= p[1] == array.size // LINE  # each line is read
    played.launched.clear()
    written = point_of("first reads", **{"after an array was": "written"})
    stage.other.fill(0)
    stage.milliseconds(written, 5)
    assert stage.other.all()
    assert [name for name, *_ in played.launched] == 6 * ["walk"]


def test_words_of_8_bytes_are_the_same_array_s(played):
    stage = Stage(played)
    stage.of_point(point_of("read hits", **{"word bytes": 8, "stride": 1}), 3)()
    stage.of_point(point_of("under way", warps=1, stride=1, k=2), 3)()
    wide, zeros = (array for _, _, array, *_ in played.launched)
    assert wide.dtype == np.int64
    assert np.shares_memory(wide, stage.scratch)
    assert not np.shares_memory(zeros, stage.scratch)


def test_one_text_is_compiled_once(played, monkeypatch):
    texts = []

    def compiled(cp, written):
        texts.append(written.source)
        return played.compiled(cp, written)

    monkeypatch.setattr(cache_stage, "compiled", compiled)
    stage = Stage(played)
    for point in points(CARD):
        if point.number in ("read hits", "capacity, in turn", "hit latency", "miss latency"):
            stage.of_point(point, 3)()
    assert len(texts) == len(set(texts)) == 3


def test_each_multiprocessor_reads_after_another_one(played, monkeypatch):
    monkeypatch.setattr(cache_multiprocessors, "EVERY", 2)
    stage = Stage(played)
    stage.card = Card(5, 2**16)
    rows = list(cache_multiprocessors.halves(stage))
    assert [row["multiprocessor"] for row in rows[:-2]] == [0, 2, 4]
    reads = [(name, p[1]) for name, p, *_ in played.launched if name == "reads_one_by_one"]
    assert reads == [("reads_one_by_one", which) for own in range(5) for which in (0, 0, own, own)]
    assert [name for name, *_ in played.launched].count("walk") == 5
    assert {grid for name, *_, grid, _ in played.launched if name != "walk"} == {(5, 1, 1)}
    assert set(rows[0]) >= {"misses, 50%", "first, 5%", "second, 95%"}


def test_a_block_is_in_the_half_of_its_multiprocessor(played, monkeypatch):
    """Lines cross to multiprocessors 1 and 3 of 4; blocks come to 2, 3, 0, 1."""
    stage = Stage(played)
    stage.card = Card(4, 2**16)
    asked = []

    def cycles(stage, a, one):
        asked.append(one)
        return np.full(8, 450 if asked[-2:] != [one, one] and one % 2 else 300)

    monkeypatch.setattr(cache_multiprocessors, "_cycles", cycles)
    monkeypatch.setattr(cache_multiprocessors, "multiprocessors", lambda stage: [2, 3, 0, 1])
    *_, each, last = cache_multiprocessors.halves(stage)
    assert each == {"number": "halves of multiprocessors", "halves": "0101"}
    assert last == {"number": "halves of blocks", "halves": "0101"}


def launches():
    """Counts of a profiler: of each metric its place, and a thousand for each launch."""
    return [
        Profiled(
            counted_name(point),
            {name: 1000 * number + place for place, name in enumerate(METRICS)},
        )
        for number, point in enumerate(counted(CARD))
    ]


def rows_of(every):
    return [{"number": point.number, **point.about, "ps": 1.0} for point in every]


def test_counts_join_the_rows_of_their_points():
    rows = list(joined(rows_of(points(CARD)), counted(CARD), launches(), METRICS))
    assert [row["number"] for row in rows] == [point.number for point in points(CARD)]
    with_counts = [row for row in rows if METRICS[0] in row]
    assert [row[METRICS[2]] for row in with_counts] == [
        1000 * number + 2 for number in range(len(counted(CARD)))
    ]
    pair = next(row for row in with_counts if row["number"] == "fetches")
    point = point_of("fetches", sectors="0 and 0")
    assert pair["counted"] == point.times[1] * 2 * point.threads
    without = {row["number"] for row in rows if METRICS[0] not in row}
    assert without == set(UNCOUNTED)


def test_other_launches_than_those_of_the_points_are_refused():
    with pytest.raises(NoCounters, match=f"of {len(counted(CARD))}; run it again"):
        list(joined(rows_of(points(CARD)), counted(CARD), launches()[::-1], METRICS))


def test_the_child_launches_what_is_counted_after_what_runs_before_it(played):
    cache_stage.main()
    own = [name for name, *_ in played.launched if name.startswith(NAME)]
    assert own == [counted_name(point) for point in counted(CARD)]
    first, second = played.launched[:2]
    assert (first[0], second[0]) == ("walk", f"{NAME}walk")
    assert (
        first[1]
        == second[1]
        == point_of("read hits", stride=32).p(point_of("read hits", stride=32).times[1]).tolist()
    )


def test_the_profiler_is_given_which_caches_to_empty(tmp_path):
    body = "log.write_text(' '.join(args)); sys.exit(1)"
    with pytest.raises(NoCounters):
        ncu.profile(fake_ncu(tmp_path, body), NAME, ["m"], tmp_path, "a.module", cache="all")
    assert "--cache-control all " in (tmp_path / "ncu.csv").read_text()


def test_the_record_grows_number_by_number_and_then_has_the_counts(played, monkeypatch):
    play_profiler(monkeypatch)
    monkeypatch.setattr(ncu, "profile", lambda *given: launches())
    said = []
    records = list(measured("the command", said.append))
    assert said[:3] == ["read hits", "interleaved read hits", "random read hits"]
    assert said[-4:] == ["halves", "shares", "clusters", "counting"]
    sizes = [len(record.rows) for record in records]
    assert sizes[:4] == [6, 7, 8, 14]
    assert sizes == sorted(sizes)
    assert sizes[-1] == sizes[-2] == len(list(points(CARD))) + 5
    last = records[-1]
    assert (last.experiment, last.facts["ncu"]) == ("cache", "1.0")
    assert last.facts["metrics lacking"] == []
    assert last.facts["cache bytes"] == CARD.cache_bytes
    assert sum(METRICS[0] in row for row in last.rows) == len(counted(CARD))


def test_without_a_profiler_the_times_are_kept(played, monkeypatch, tmp_path, capsys):
    def none():
        raise NoCounters("there is no profiler")

    monkeypatch.setattr(ncu, "find", none)
    file = tmp_path / "cache.json"
    assert main(["gpu", "calibrate", "--cache", "--json", str(file)]) == 0
    printed = capsys.readouterr()
    assert "without counts: there is no profiler" in printed.out
    assert "capacity, random" in printed.err
    record = Record.read(file)
    assert record.facts["command"] == "mmsim gpu calibrate --cache"
    assert record.facts["not counted"] == "there is no profiler"
    assert Counter(row["number"] for row in record.rows)["fetches"] == 7
    found = numbers(record)
    assert found["tag"] == pytest.approx(1e9 / 4096, rel=1e-4)
    assert f"tag: {found['tag']:,.4g} ps" in printed.out


def test_numbers_are_those_of_the_rows_that_they_name():
    rows = [
        {"number": number, **about, "ps": 10.0 + place}
        for place, (number, about, _) in enumerate(NUMBERS.values())
    ]
    rows.append({"number": "read hits", "word bytes": 4, "stride": 8, "ps": 99.0})
    found = numbers(Record("cache", {}, tuple(rows)))
    assert list(found) == list(NUMBERS)
    assert (found["tag"], found["sector"], found["random write"]) == (10, 44, 8 * 19)
    with pytest.raises(FormatError, match="has 0 rows for tag, not one"):
        numbers(Record("cache", {}, tuple(rows[1:])))
    with pytest.raises(FormatError, match="has 2 rows for hit, not one"):
        numbers(Record("cache", {}, (*rows, rows[4])))
