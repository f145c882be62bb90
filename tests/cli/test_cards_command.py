"""Cards as the machine of commands."""

import argparse
import json
import re
import subprocess
import sys
from dataclasses import replace

import pytest

import mmsim as mm
from mmsim.api.report import Report
from mmsim.cli.cuda import machine_of
from mmsim.cli.machine import add_machine_options, machine_named
from mmsim.cli.main import main
from mmsim.errors import MachineError
from tests.kit.runs.command_files import KERNEL, PROGRAM


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "kernel.py").write_text(KERNEL, encoding="utf-8")


def test_run_and_check_take_a_card(tmp_path, capsys):
    assert main(["run", "mine.py:copy", "--machine", "h200", "--json", "run.json"]) == 0
    run = mm.Run.from_json((tmp_path / "run.json").read_text())
    assert run.machine == mm.H200()
    assert run.cache
    call = [
        "check",
        "mine.py:copy",
        "--machine",
        "H200",
        "--under-way",
        "1",
        "--json",
        "report.json",
    ]
    assert main(call) == 0
    report = Report.from_json((tmp_path / "report.json").read_text())
    assert report.machine == replace(mm.H200(), under_way=1)
    assert "card('h200')" in capsys.readouterr().out


def test_a_cards_numbers_can_be_replaced():
    assert machine_named("h200") == mm.H200()
    assert machine_named("h200", latency=5, width=8) == replace(
        mm.H200(), global_latency=5, width=8
    )


@pytest.mark.parametrize("command", ["run", "check", "step", "lab", "sweep", "cuda"])
def test_an_unknown_machine_is_refused_with_the_known_ones(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--machine", "h201", "mine.py:copy"])
    said = " ".join(capsys.readouterr().err.split())
    assert "argument --machine: 'h201' is none of dmm, umm, hmm, cached, h100, h200" in said


def test_a_card_has_the_users_name(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MMSIM_DATA_DIR", str(tmp_path))
    (tmp_path / "cards").mkdir()
    own = replace(mm.H200(), name="mine", device="Mine", dmms=132)
    from mmsim.model.card import to_json

    (tmp_path / "cards" / "mine.json").write_text(to_json(own))
    assert machine_named("mine") == own
    assert main(["run", "mine.py:copy", "--machine", "mine"]) == 0
    assert "card('mine')" in capsys.readouterr().out


def test_a_sweep_over_cards_takes_their_numbers(tmp_path, capsys):
    call = ["sweep", "mine.py:copy", "--machine", "h200", "dmm", "--jobs", "1"]
    assert main([*call, "--out", "rows.jsonl"]) == 0
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    found = {row["machine"]: row for row in rows if "kind" in row}
    card = mm.H200()
    assert [found["h200"][name] for name in ("kind", "width", "latency", "dmms")] == [
        *("Card", 32, card.global_latency, card.dmms)
    ]
    assert [found["dmm"][name] for name in ("kind", "width", "latency", "dmms")] == [
        *("DMM", 32, 5, None)
    ]
    assert main([*call, "--latency", "5", "7", "--out", "more.jsonl"]) == 0
    rows = [json.loads(line) for line in (tmp_path / "more.jsonl").read_text().splitlines()]
    times = {(row["machine"], row["latency"]): row["time"] for row in rows if "kind" in row}
    assert len(times) == 4
    assert times["h200", 7] == times["h200", 5] + 4  # a read, and a write
    capsys.readouterr()


def asked(*words):
    parser = argparse.ArgumentParser()
    add_machine_options(parser)
    return machine_of(parser.parse_args(words))


def test_the_environment_names_the_machine_of_kernels(monkeypatch):
    usual = asked()
    assert asked("--machine", "h200") == mm.H200()
    monkeypatch.setenv("MMSIM_MACHINE", "h200")
    assert asked() == mm.H200()
    assert asked("--under-way", "1") == replace(mm.H200(), under_way=1)
    assert asked("--machine", "umm") == mm.UMM(32, 5)
    monkeypatch.setenv("MMSIM_MACHINE", "h201")
    with pytest.raises(MachineError, match="no card is called 'h201'"):
        asked()
    monkeypatch.setenv("MMSIM_MACHINE", "")
    assert asked() == usual


def test_kernels_run_on_a_card():
    """In a process of its own, since the command replaces `numba.cuda` and `exec`."""
    done = subprocess.run(
        [sys.executable, "-m", "mmsim", "cuda", "--profile", "--machine", "h200", "kernel.py"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "bound by" in done.stdout
    said = " ".join(done.stdout.split())
    assert re.search(r"predicted on h200: [\d.]+ ms from an empty cache, bound by latency \(", said)


def test_a_profile_on_a_card_ends_with_the_predicted_time(capsys):
    for words in ([], ["--schedule", "asynchronous"]):
        assert main(["run", "mine.py:copy", "--machine", "h200", "--profile", *words]) == 0
        *_, line = " ".join(capsys.readouterr().out.split()).partition("predicted on ")
        found = re.fullmatch(
            r"h200: [\d.]+ ms( from an empty cache)?, bound by latency \(.*\)", line
        )
        assert found
        assert bool(found[1]) == bool(words)
