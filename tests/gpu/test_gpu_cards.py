"""Cards from measurements: `mmsim gpu calibrate --operations` and `--save`, without a GPU."""

import json
import shutil
from dataclasses import replace
from math import log
from types import SimpleNamespace

import numpy as np
import pytest

import mmsim as mm
from mmsim import gpu
from mmsim.cli.main import main
from mmsim.errors import FormatError, MMSimError
from mmsim.gpu import experiment, operations, signed
from mmsim.gpu.record import Record
from mmsim.ir.operations import OF_BARRIER, OF_EXCHANGE
from mmsim.model.card import LIMITS, to_json
from mmsim_algorithms.gpu import cards
from mmsim_algorithms.gpu.kept import FOLDER, Results

KEPT = Results.read(FOLDER)
NEEDED = ("calibration", "operations", "cache")
MS = 1.024e-3
"""Milliseconds of a trip, of a block of atomics, or of an empty block."""


class Kernel:
    """A kernel that takes its time; `lasted` has that of the last launch."""

    lasted = 0.0

    def __init__(self, source, name):
        assert f"void {name}(" in source
        self.name = name

    def __call__(self, grid, block, arguments):
        trips = {"measured": -1, "hot": 1, "lines": 1}
        times = int(arguments[trips[self.name]]) if self.name in trips else grid[0]
        times *= int(arguments[2]) if self.name == "lines" else 1
        Kernel.lasted = 0.01 + times * MS


@pytest.fixture
def played(monkeypatch):
    """A GPU of 132 multiprocessors."""

    def elapsed(cp, launch):
        launch()
        return Kernel.lasted

    runtime = SimpleNamespace(
        getDeviceProperties=lambda number: {"multiProcessorCount": 132},
        deviceGetAttribute=lambda attribute, number: attribute * 1000,
    )
    cuda = SimpleNamespace(runtime=runtime, Device=lambda: SimpleNamespace(id=0))
    arrays = {"full": np.full, "zeros": np.zeros, "ones": np.ones, "int32": np.int32}
    cp = SimpleNamespace(cuda=cuda, RawKernel=Kernel, **arrays)
    monkeypatch.setattr(operations, "cupy", lambda: cp)
    monkeypatch.setattr(operations, "elapsed", elapsed)
    monkeypatch.setattr(operations, "device", lambda: SimpleNamespace(cache_bytes=1 << 16))
    facts = {name: KEPT["cache"].facts[name] for name in ("device", "driver", "date")}
    monkeypatch.setattr(signed, "facts", lambda command: {**facts, "command": command})
    monkeypatch.setattr(gpu, "calibrate", lambda say: KEPT.card)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of the user's cards."""
    monkeypatch.setenv("MMSIM_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data" / "cards"


def test_the_operations_are_measured_and_saved(played, tmp_path, capsys):
    file = tmp_path / "operations.json"
    assert main(["gpu", "calibrate", "--operations", "--json", str(file)]) == 0
    record = Record.read(file)
    assert record.experiment == "operations"
    assert record.facts["command"] == "mmsim gpu calibrate --operations"
    found = {(row["operation"], row["type"]): row for row in record.rows}
    kept = {(row["operation"], row["type"]) for row in KEPT["operations"].rows}
    assert found.keys() == kept
    assert [found["limit", name]["number"] for name in LIMITS] == [106_000, 82_000, 81_000, 111_000]
    assert found["sum", "int32"]["ps"] == 500  # of a trip, which has 2 x 16 for each of 64 warps
    assert found["exp", "float64"]["ps"] == 1000
    assert found["hot line", "int32"]["ps"] == pytest.approx(MS * 1e9 / (2 * 132 * 32), abs=1e-3)
    assert found["atomic on one word", "float32"]["ps"] == 1000
    assert found["lines from memory", "int32"]["ps"] == pytest.approx(31 * MS * 1e9 / 5)
    printed = capsys.readouterr().out.splitlines()
    assert "sum int32: 500 ps" in printed
    assert "limit, registers: 82,000" in printed
    assert "32,768 blocks of 256 threads: 33.56 ms" in printed


def test_every_statement_is_repeated_in_its_kernel():
    for one in operations.statements():
        text = operations.source(one)
        assert text.count(one.statement) == operations.OF_A_TRIP
        assert text.count("{") == text.count("}")


def test_the_costs_leave_out_what_brings_an_operand_into_range():
    def row(operation, type_, ps, within=""):
        return {"operation": operation, "type": type_, "ps": ps, "within": within}

    rows = [
        row("sum", "int32", 10.0),
        row("sum", "float64", 30.0),
        row("product", "float32", 20.0),
        row("division", "int32", 100.0, "3 sum"),
        row("exp", "float32", 90.0, "product"),
        *(row(f"convert from and to {one}", "float32", 60.0, "sum int32") for one in ("int32",)),
        *(row(f"convert from and to {one}", "float64", 70.0, "sum int32")
          for one in ("int32", "int64")),
        row("convert from and to int64", "float32", 90.0, "sum int32"),
        row("convert from and to float32", "float64", 80.0, "sum"),
        row("barrier", "int32", 40.0),
        row("exchange", "int32", 50.0),
        row("hot line", "int32", 1.0),
        row("lines from memory", "int32", 2.0),
    ]  # fmt: skip
    found = cards.costs(rows)
    assert found == {
        "sum int32": 100, "sum float64": 300, "product float32": 200, "division int32": 700,
        "exp float32": 700, "convert float32": 500, "convert float64": 625, OF_BARRIER: 400,
        OF_EXCHANGE: 500, "access": 100, "choice": 100,
    }  # fmt: skip


def test_a_block_takes_the_difference_of_the_longest_launches():
    def row(blocks, ms, threads=256):
        return {"operation": "empty blocks", "threads": threads, "blocks": blocks, "ms": ms}

    rows = [row(1000, 0.5), row(3000, 0.7), row(2000, 0.6), row(9000, 9.9, threads=32)]
    assert cards.of_block(rows) == pytest.approx(1e5)


def test_measured_limits_are_the_cards():
    """Without them, as on the H100, a card has those of compute capability 9.0."""
    records = {name: KEPT[name] for name in NEEDED}
    rows = [row for row in records["operations"].rows if row["operation"] != "limit"]
    records["operations"] = replace(records["operations"], rows=tuple(rows))
    limits = [{"operation": "limit", "type": name, "number": 7} for name in LIMITS]
    operations = replace(records["operations"], rows=(*rows, *limits))
    found = cards.of_records("mine", {**records, "operations": operations})
    assert [getattr(found, name) for name in LIMITS] == [7, 7, 7, 7]
    found = cards.of_records("mine", records)
    assert [getattr(found, name) for name in LIMITS] == [32, 65536, 233472, 1024]


def test_a_card_is_made_of_files_in_a_folder(folder, tmp_path, capsys):
    """The numbers are those of the kept card of the same files, but nothing was predicted on it."""
    given = tmp_path / "given"
    given.mkdir()
    for name in NEEDED:
        shutil.copy(FOLDER / f"{name}.json", given)
    saved = tmp_path / "card.json"
    words = ["gpu", "calibrate", "--save", "Mine", "--from", str(given), "--json", str(saved)]
    assert main(words) == 0
    assert mm.card("mine") == replace(mm.H200(), name="mine", errors=())
    assert saved.read_text() == (folder / "mine.json").read_text() == to_json(mm.card("mine"))
    said = " ".join(capsys.readouterr().out.split())
    assert "NVIDIA H200 is card mine now" in said
    assert "mm.card('mine')" in said


def test_a_card_is_made_of_new_measurements(folder, played, monkeypatch):
    asked = []

    def choose(name):
        def measured(command, say):
            asked.append(command)
            yield replace(KEPT[name], rows=())
            yield KEPT[name]

        return experiment.Campaign(name, measured, lambda record: ())

    monkeypatch.setattr(experiment, "choose_campaign", choose)
    assert main(["gpu", "calibrate", "--save", "mine"]) == 0
    assert asked == ["mmsim gpu calibrate --operations", "mmsim gpu calibrate --cache"]
    assert mm.card("mine") == replace(mm.H200(), name="mine", errors=())


def error_of(capsys, *words):
    assert main(["gpu", "calibrate", *words]) == 2
    return capsys.readouterr().err


def test_wrong_calls_say_what_to_write(folder, tmp_path, capsys):
    said = error_of(capsys, "--cache", "--save", "mine")
    assert "write --cache or --save, but not both; --save measures all" in said
    said = error_of(capsys, "--from", str(tmp_path))
    assert "add --save NAME" in said
    said = error_of(capsys, "--save", "a/b", "--from", str(tmp_path))
    assert "'a/b' can't be a card's name" in said
    said = error_of(capsys, "--save", "mine", "--from", str(tmp_path))
    file = tmp_path / "calibration.json"
    assert f"there is no {file}; `mmsim gpu calibrate --json {file}` measures it" in said
    shutil.copy(FOLDER / "cache.json", file)
    said = error_of(capsys, "--save", "mine", "--from", str(tmp_path))
    assert f"{file} has a record of cache, not of calibration" in said
    assert not list(folder.iterdir())


def test_files_of_different_gpus_make_no_card(folder, tmp_path, capsys):
    for name in NEEDED:
        shutil.copy(FOLDER / f"{name}.json", tmp_path)
    found = json.loads((tmp_path / "cache.json").read_text())
    (tmp_path / "cache.json").write_text(json.dumps({**found, "device": "Another"}))
    said = error_of(capsys, "--save", "mine", "--from", str(tmp_path))
    assert f"the files in {tmp_path} are of different GPUs: Another and NVIDIA H200" in said


def test_records_that_lack_something_make_no_card():
    records = {name: KEPT[name] for name in NEEDED}
    cache = records["cache"]
    uncounted = replace(cache, facts={**cache.facts, "not counted": "no profiler"})
    with pytest.raises(MMSimError, match="weren't counted: no profiler"):
        cards.of_records("mine", {**records, "cache": uncounted})
    for rows in (records["operations"].rows[1:], ()):
        empty = replace(records["operations"], rows=rows)
        with pytest.raises(FormatError, match="these measurements make no card"):
            cards.of_records("mine", {**records, "operations": empty})


def test_without_a_package_that_makes_cards_the_command_says_so(monkeypatch):
    monkeypatch.setattr(experiment, "registered_in", lambda group: [])
    with pytest.raises(MMSimError, match="no installed package makes cards"):
        experiment.choose_cards()


def test_errors_are_means_over_the_kernels_that_the_same_binds(tmp_path):
    """Of two sets: two kernels that tags bind, e and 1 / e^2 off, and one that memory does."""

    def row(kernel, **more):
        return {"kernel": kernel, "data": "d", "side": 64, **more}

    measured = {
        "KERNELS": Record("KERNELS", {}, (row("a", measured=1.0), row("b", measured=2.0))),
        "THIRD": Record("THIRD", {}, (row("c", measured=1.0),)),
    }
    predicted = {
        "kernels": [
            row("a", what="time", predicted=np.e, bound="tags"),
            row("a", what="counts"),
            row("b", what="time", predicted=2.0, bound="memory"),
        ],
        "third": [row("c", what="time", predicted=np.exp(-2), bound="tags")],
    }
    for name, rows in predicted.items():
        (tmp_path / f"{name}.json").write_text(Record(name, {}, tuple(rows)).to_json())
    assert cards.errors(measured, tmp_path) == (("memory", 1, 0.0), ("tags", 2, 1.5))
    assert cards.errors({}, tmp_path) == cards.errors(measured, tmp_path / "none") == ()


def test_the_kept_errors_are_those_of_all_kept_kernels():
    found = mm.H200().errors
    _, measured = cards.BLIND["h200"]
    assert sum(number for _, number, _ in found) == len(Record.read(measured).rows)
    assert all(0 < error < log(2) for _, _, error in found)
