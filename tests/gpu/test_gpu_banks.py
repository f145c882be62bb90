"""Bank conflicts as a GPU counts them, compared with the rule of banks of 4 bytes.

The GPU is only played; what one really counted is kept in benchmarks/results/gpu/banks.json.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mmsim.cli.main import main
from mmsim.gpu.ncu import NoCounters, Profiled
from mmsim.gpu.record import Record
from mmsim.model.byte_banks import ByteBanks
from mmsim.model.conflicts import InParts
from mmsim_algorithms.gpu import banks
from mmsim_algorithms.gpu.bank_accesses import ACCESSES, BLOCKS
from mmsim_algorithms.gpu.bank_patterns import patterns
from mmsim_algorithms.gpu.banks import METRIC, PATTERNS, Counted, prepare, read, requests
from tests.kit.cards.played import play_banks, play_facts

KEPT = Record.read(Path(__file__).parents[2] / "benchmarks/results/gpu/banks.json")
COUNTS = {str(row["access"]): tuple(map(int, str(row["counts"]).split())) for row in KEPT.rows}
BY_NAME = {access.name: access for access in ACCESSES}


def test_every_kind_of_access_was_counted_on_a_gpu():
    assert "NVIDIA" in KEPT.facts["device"]
    assert list(COUNTS) == list(BY_NAME)
    assert {len(counts) for counts in COUNTS.values()} == {PATTERNS}
    assert {access.size for access in ACCESSES if access.kind == "read"} == {1, 2, 4, 8, 16}
    assert {access.size for access in ACCESSES if access.kind == "write"} == {1, 2, 4, 8, 16}


@pytest.mark.parametrize("access", ACCESSES, ids=lambda access: access.name)
def test_the_rule_says_what_the_gpu_counted(access):
    assert Counted(access, COUNTS[access.name]).model == list(COUNTS[access.name])


def test_other_rules_dont():
    """The counts distinguish the measured rule from similar ones."""
    loads = BY_NAME["load of 8 bytes"]
    assert Counted(replace(loads, kind="write"), COUNTS[loads.name]).row()["equal"] < PATTERNS
    stores = BY_NAME["store of 8 bytes"]
    assert Counted(replace(stores, kind="read"), COUNTS[stores.name]).row()["equal"] < PATTERNS
    bytes_ = BY_NAME["load of 1 byte"]
    wide = [ByteBanks(32).of_access(4, "read").stages(i[i >= 0].tolist()) for i in _of(bytes_)]
    assert wide != list(COUNTS[bytes_.name])
    rows = BY_NAME["ldmatrix .x4"]
    assert Counted(replace(rows, kind="read"), COUNTS[rows.name]).row()["equal"] < PATTERNS
    swap = BY_NAME["atomic compare and swap of 4 bytes"]
    assert Counted(replace(swap, kind="atomic"), COUNTS[swap.name]).row()["equal"] == 0


def _of(access):
    return requests(access, PATTERNS)


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_patterns_are_the_same_for_a_seed_and_mostly_different(size):
    elements = 16384 // size
    found = patterns(size, elements, PATTERNS, 1)
    again = patterns(size, elements, PATTERNS, 1)
    assert all((one == other).all() for one, other in zip(found, again, strict=True))
    other = patterns(size, elements, PATTERNS, 2)
    assert any((one != own).any() for one, own in zip(found, other, strict=True))
    assert len({tuple(one.tolist()) for one in found}) > 0.85 * PATTERNS
    for one in found:
        assert one.shape == (32,)
        assert one.min() >= -1
        assert 0 <= one.max() < elements


def test_all_lanes_take_part_in_a_matrix():
    assert min(one.min() for one in _of(BY_NAME["ldmatrix .x1"])) == 0
    assert min(one.min() for one in _of(BY_NAME["load of 4 bytes"])) == -1


@pytest.mark.parametrize("access", ACCESSES, ids=lambda access: access.name)
def test_a_launch_holds_the_requests_and_how_often_each_is_made(access):
    none, *kernels = prepare(access, "mmsim_counted_0", requests(access, 11))
    assert (none.arguments[0].words() == -1).all()
    index = np.concatenate([kernel.arguments[0].words().reshape(-1, 32) for kernel in kernels])
    assert index[:11].tolist() == [one.tolist() for one in requests(access, 11)]
    assert (index[11:] == -1).all()
    assert kernels[0].grid == (BLOCKS, 1, 1)
    assert "mmsim_counted_0(" in kernels[0].source
    assert access.stages(np.arange(32, dtype=np.int32) * access.elements) < access.base


def counted_launches(access, count):
    """Launches of a GPU that follows the rule: its own 64, and the requests'."""
    stages = [access.stages(index) for index in requests(access, count)]
    packs = [stages[first : first + access.packed] for first in range(0, count, access.packed)]
    totals = [sum(s * access.base**digit for digit, s in enumerate(pack)) for pack in ([], *packs)]
    return stages, [Profiled("mmsim_counted_0", {METRIC: BLOCKS + total}) for total in totals]


@pytest.mark.parametrize("name", ["load of 16 bytes", "atomic exchange of 8 bytes"])
def test_each_request_has_its_count(name):
    access = BY_NAME[name]
    stages, launches = counted_launches(access, 203)
    assert list(read(access, launches, 203)) == stages


def test_missing_and_impossible_counts_are_refused():
    access = BY_NAME["load of 4 bytes"]
    _, launches = counted_launches(access, 10)
    with pytest.raises(NoCounters, match="2 launches of 3"):
        list(read(access, launches[:-1], 10))
    launches[1].metrics[METRIC] += access.base**access.packed
    with pytest.raises(NoCounters, match=r"load of 4 bytes: .* don't belong"):
        list(read(access, launches, 10))


@pytest.fixture
def played(monkeypatch):
    """A GPU that follows the rule, except for a store that takes a stage more."""
    play_banks(monkeypatch, {"store of 4 bytes"})
    play_facts(monkeypatch, banks, device="Played")
    monkeypatch.setattr(banks.measured, "__defaults__", (20,))


def test_the_command_says_how_many_agree(played, tmp_path, capsys):
    file = tmp_path / "banks.json"
    assert main(["gpu", "counters", "--banks", "--json", str(file)]) == 1
    text = capsys.readouterr().out
    assert "store of 4 bytes" in text
    kept = Record.read(file)
    assert kept.facts["command"] == "mmsim gpu counters --banks"
    equal = {row["access"]: row["equal"] for row in kept.rows}
    assert equal.pop("store of 4 bytes") == 19
    assert set(equal.values()) == {20}


def test_patterns_and_programs_exclude_each_other(capsys):
    assert main(["gpu", "counters", "--banks", "algorithms.transpose:crsw"]) == 2
    assert "leave out the programs" in capsys.readouterr().err


def test_the_parts_of_a_matrix_are_never_paired():
    assert ByteBanks(32).of_access(16, "ldmatrix") == InParts(8, ByteBanks(8).of_words(4))
