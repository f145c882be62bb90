"""What a card does beyond the rules of the machine with a cache: the programs, and the record.

The GPU is only played; what one really did is kept in benchmarks/results/gpu/beyond.json.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mmsim as mm
from benchmarks.laboratory import unmodelled
from benchmarks.laboratory.profiled import KERNEL
from benchmarks.laboratory.unmodelled import BLOCKS, IN_PART, JOINED, STRIDES, main, parts
from benchmarks.laboratory.unmodelled_section import section as tried
from mmsim.gpu import ncu
from mmsim.gpu.counting import NAME
from mmsim.gpu.ncu import NoCounters, Profiled
from mmsim.gpu.record import Record
from mmsim_algorithms.gpu import cache_stage
from mmsim_algorithms.gpu.cache_stage import METRICS
from mmsim_algorithms.gpu.kept import Results
from tests.kit.cards.played import PlayedCuPy, play_facts, play_profiler

pytestmark = pytest.mark.usefixtures("uncompiled")
KEPT = Results.read()
PLACE = Path(__file__).parents[2] / "benchmarks" / "results" / "gpu" / "beyond.json"


def test_each_warp_reads_the_same_lines():
    found = mm.HMM(2, 32, 1).run(
        unmodelled.same_lines, np.zeros(320, np.int32), 3, threads=128, block_size=64
    )
    assert sum(row.stages for row in found.accesses) == 4 * 3


def test_one_word_of_each_sector_is_written_once():
    a = np.full(8 * 100, -1, np.int32)
    found = (
        mm.HMM(1, 32, 1)
        .run(unmodelled.one_word_of_each_sector, a, 100, threads=64, block_size=64)
        .arrays["a"]
    )
    assert found[::8].tolist() == list(range(100))
    assert np.count_nonzero(found >= 0) == 100


@pytest.mark.parametrize("log", [3, 5, 8])
def test_words_apart_are_those_of_all_sectors(log):
    """Of 2^11 words: each sector once, adjacent threads 2^log words apart."""
    words = 11
    found = mm.HMM(1, 8, 1).run(
        unmodelled.apart, np.zeros(1 << words, np.int32), 1 << log, words - log,
        threads=1 << words - 3, block_size=32, engine="events", trace=True,
    )  # fmt: skip
    read = [element for one in found.trace.dispatches for element in one.elements]
    assert sorted(read) == list(range(0, 1 << words, 8))
    first = found.trace.dispatches[0].elements
    assert first[1] - first[0] == 1 << log


def test_a_thread_may_do_nothing():
    assert mm.UMM(4, 5).run(unmodelled.nothing, np.zeros(4), threads=8).time == 0


@pytest.fixture
def played(monkeypatch):
    """A GPU with 4 multiprocessors; a launch takes as many milliseconds as it has blocks."""
    found = PlayedCuPy(4, lambda p, grid: grid[0])
    found.on_stage(monkeypatch, 2**16)
    monkeypatch.setattr(cache_stage, "SCRATCH", 2**10)
    monkeypatch.setattr(unmodelled, "cupy", lambda: found)
    play_facts(monkeypatch, unmodelled)
    play_profiler(monkeypatch)
    return found


def profiled(count):
    """A profiler that launches the child here and counts so many of its launches."""

    def profile(profiler, names, metrics, folder, module, *arguments, cache):
        assert (names, module, cache) == (NAME, unmodelled.MODULE, "all")
        assert main(arguments) == 0
        lines = map(json.loads, Path(arguments[0]).read_text().splitlines()[:count])
        return [Profiled(row[KERNEL], dict.fromkeys(METRICS, at)) for at, row in enumerate(lines)]

    return profile


def test_counts_and_times_stand_in_one_record(played, monkeypatch, tmp_path):
    monkeypatch.setattr(ncu, "profile", profiled(None))
    file = tmp_path / "beyond.json"
    assert main([str(file)]) == 0
    record = Record.read(file)
    every = list(parts(4))
    assert [row["number"] for row in record.rows] == [part.number for part in every]
    assert all(
        part.about.items() <= row.items() for part, row in zip(every, record.rows, strict=True)
    )
    counted = [row for row in record.rows if row["number"] in (JOINED, IN_PART)]
    assert [row[METRICS[0]] for row in counted] == list(range(len(counted)))
    timed = [row["ms"] for row in record.rows if row["number"] in (BLOCKS, STRIDES)]
    assert timed == [part.blocks for part in every[len(counted) :]]
    names = [name for name, *_ in played.launched]
    assert names[: len(counted)] == [f"{NAME}{part.program.name}" for part in every[: len(counted)]]
    assert names[len(counted) :: 2] == ["walk"] * (unmodelled.SAMPLES * len(timed))
    assert record.facts["command"] == f"python -m {unmodelled.MODULE}"


def test_a_launch_that_was_not_counted_is_said(played, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(ncu, "profile", profiled(3))
    assert main([str(tmp_path / "beyond.json")]) == 2
    assert "ncu counted 3 launches of 12; run it again" in capsys.readouterr().err
    with pytest.raises(NoCounters):
        unmodelled.measured("a command")


def test_the_page_shows_what_is_kept():
    rows = json.loads(PLACE.read_text())["rows"]
    assert len(rows) == len(list(parts(132)))
    text = tried(KEPT)
    lines = [line for line in text.splitlines() if line.startswith("| ") and "---" not in line]
    assert len(lines) == len(rows) + 4
    kept = KEPT["beyond"]
    changed = tuple({**row, "MiB": 77} if row["number"] == IN_PART else row for row in kept.rows)
    other = Results({"beyond": replace(kept, rows=changed)})
    assert "| 77 |" in tried(other)
    assert tried(Results({})) == ""


def test_reads_join_and_lines_in_part_are_filled_as_the_page_says():
    """Up to four reads are one; from 8 MiB on sectors are filled that had not to make room."""
    joined = [row for row in KEPT["beyond"].rows if row["number"] == JOINED]
    asked = {row["warps of a block"]: row for row in joined if row["blocks"] == 1}
    read = {warps: row["lts__t_sectors_op_read.sum"] for warps, row in asked.items()}
    assert read[4] < 1.1 * read[1]
    assert 0.24 < (read[32] - read[1]) / (28 * 4 * unmodelled.LINES) < 0.28
    filled = {
        row["MiB"]: row["dram__sectors_read.sum"] / (row["MiB"] * 2**15)
        for row in KEPT["beyond"].rows
        if row["number"] == IN_PART
    }
    assert filled[4] < 0.001 < 0.05 < filled[8] < filled[12] < filled[16] < filled[32] < filled[64]
