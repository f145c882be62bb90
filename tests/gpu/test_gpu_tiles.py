"""Fifty tiles: what mmsim says, what a GPU counted, what tensor-layouts says.

The GPU is only played; what one really counted is kept in benchmarks/results/gpu/tiles.json.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.laboratory import tiles
from benchmarks.laboratory.counts import SAID
from benchmarks.laboratory.counts import tiles as tiles_section
from benchmarks.laboratory.page import page
from benchmarks.laboratory.tile_cases import CASES
from benchmarks.laboratory.tiles import by_phases, by_tensor_layouts, main, of_one_kind, request
from mmsim.gpu.record import Record
from mmsim_algorithms.gpu.kept import Results
from tests.kit.cards.played import play_banks, play_facts

BY_NAME = {case.name: case for case in CASES}
each = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def test_there_are_fifty_different_cases():
    assert len(CASES) == len(BY_NAME) == 50
    assert len({(c.layout, c.access, c.size, c.kind) for c in CASES}) == 50
    assert {case.size * case.vector for case in CASES} == {1, 2, 4, 8, 16}
    assert {case.kind for case in CASES} == {"read", "write", "ldmatrix", "stmatrix"}
    assert 50 / 3 < sum(case.answer.free for case in CASES) < 2 * 50 / 3


@each
def test_a_kernel_makes_the_request_that_is_asked_about(case):
    index = request(case)
    (addresses,) = case.answer.addresses
    assert index.dtype == np.int32
    assert index[: len(addresses)].tolist() == list(addresses)
    assert set(index[len(addresses) :].tolist()) <= {0 if case.instruction.whole else -1}
    assert index.max() < case.instruction.elements
    assert case.instruction.stages(index) == case.answer.stages
    assert case.instruction.size == case.answer.bytes


def test_every_case_is_counted_once():
    counted = [case for cases in of_one_kind().values() for case in cases]
    assert sorted(case.name for case in counted) == sorted(BY_NAME)


@pytest.fixture
def played(monkeypatch):
    """A GPU that follows the rule, but takes a stage more for the kinds of access named."""
    wrong = set()
    play_banks(monkeypatch, wrong)
    play_facts(monkeypatch, tiles, device="Played")
    return wrong


def test_the_command_counts_and_compares(played, tmp_path, capsys):
    file = tmp_path / "tiles.json"
    assert main([str(file)]) == 0
    assert capsys.readouterr().out == "50 of 50 as mmsim says\n"
    kept = Record.read(file)
    assert kept.experiment == "tiles"
    assert [row["hardware"] for row in kept.rows] == [case.answer.stages for case in CASES]
    played.add("ldmatrix .x2")
    assert main([str(file)]) == 1
    assert capsys.readouterr().out == "49 of 50 as mmsim says\n"


def test_without_a_profiler_the_command_says_so(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main([str(tmp_path / "tiles.json")]) == 2
    assert "ncu is not on the PATH" in capsys.readouterr().err


RESULTS = Results.read()


def test_the_kept_counts_are_of_these_cases():
    kept = RESULTS["tiles"]
    assert "NVIDIA" in kept.facts["device"]
    of = [(row["layout"], row["access"], row["bytes"], row["instruction"]) for row in kept.rows]
    assert of == [(c.layout, c.access, c.size, c.instruction.name) for c in CASES]


def test_mmsim_says_what_the_gpu_counted():
    counted = [row["hardware"] for row in RESULTS["tiles"].rows]
    assert counted == [case.answer.stages for case in CASES]


def test_the_page_shows_the_counts():
    table = [
        line.split("|") for line in page(RESULTS).splitlines() if "`(" in line or "o (" in line
    ]
    shown = {cells[1].strip(): [int(cell) for cell in cells[4:9]] for cells in table}
    theirs = {row["case"]: row["ways"] for row in Record.read(SAID).rows}
    assert shown == {
        case.name: [
            *(case.size, theirs[case.name], case.answer.stages),
            *(row["hardware"], case.answer.least),
        ]
        for case, row in zip(CASES, RESULTS["tiles"].rows, strict=True)
    }


def test_other_counts_are_other_sentences():
    kept = RESULTS["tiles"]
    rows = ({**kept.rows[0], "hardware": 2}, *kept.rows[1:])
    other = Results({**RESULTS.records, "tiles": replace(kept, rows=rows)})
    before, after = tiles_section(RESULTS), tiles_section(other)
    assert "are the card's wavefronts in 50 of 50" in " ".join(before.split())
    assert "are the card's wavefronts in 49 of 50" in " ".join(after.split())
    assert tiles_section(Results({})) == ""


@pytest.mark.parametrize(
    ("name", "ways"),
    [
        ("column of floats", [32]),
        ("column, rows padded by 1", [1]),
        ("one float for all", [1]),
        ("row of float4", [4]),  # which it calls a conflict: it has no phases
        ("8 float4 for each quarter-warp", [1]),
        ("ldmatrix.trans .x4, by columns", [16]),
    ],
)
def test_tensor_layouts_counts_a_whole_warp(name, ways):
    pytest.importorskip("tensor_layouts")
    assert by_tensor_layouts(BY_NAME[name]) == ways


def test_asked_phase_by_phase_it_differs_only_where_reads_share_in_pairs():
    pytest.importorskip("tensor_layouts")
    assert [case.name for case in CASES if by_phases(case) != case.answer.stages] == [
        "one double for two threads",
        "float2, shared with the next but one",
        "one float4 for two threads",
    ]


def test_what_it_said_is_kept(tmp_path, capsys):
    pytest.importorskip("tensor_layouts")
    assert main([str(tmp_path / "said.json"), "--tensor-layouts"]) == 0
    assert capsys.readouterr().out == "46 of 50 as mmsim says\n"
    found, kept = Record.read(tmp_path / "said.json"), Record.read(SAID)
    assert found.facts["version"] == kept.facts["version"]
    assert found.rows == kept.rows
