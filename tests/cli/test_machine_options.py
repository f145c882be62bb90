"""Each kind of machine on the command line, with the numbers that it takes."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import fields

import pytest

import mmsim as mm
from mmsim.api.machines import KINDS
from mmsim.api.report import Report
from mmsim.cli.cuda import machine_of
from mmsim.cli.loading import CommandError
from mmsim.cli.machine import OPTIONS, add_machine_options, fields_by_option, machine_named
from mmsim.cli.main import main
from tests.kit.runs.command_files import KERNEL, PROGRAM

WORDS = {
    "dmm": (["--width", "4", "--latency", "3"], mm.DMM(4, 3)),
    "umm": (["--width", "4", "--latency", "3"], mm.UMM(4, 3)),
    "hmm": (
        ["--width", "4", "--latency", "9", "--dmms", "2", "--shared-latency", "2"],
        mm.HMM(2, 4, 9, 2),
    ),
    "cached": (
        [
            *("--width", "4", "--latency", "9", "--dmms", "3", "--sectors", "2"),
            *("--capacity", "32", "--ways", "2", "--clusters", "2,1", "--miss-latency", "20"),
        ],
        mm.Cached(3, 4, 9, sectors=2, capacity=32, ways=2, clusters=(2, 1), miss_latency=20),
    ),
}


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(PROGRAM)
    (tmp_path / "kernel.py").write_text(KERNEL)


def test_every_kind_is_tested():
    assert WORDS.keys() == KINDS.keys()
    assert set(KINDS.values()) == {mm.DMM, mm.UMM, mm.HMM, mm.Cached}


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_and_a_check_on_each_kind(kind, capsys):
    words, machine = WORDS[kind]
    call = ["mine.py:copy", "--machine", kind, *words]
    assert main(["run", *call, "--json", "run.json"]) == 0
    with open("run.json", encoding="utf-8") as text:
        run = mm.Run.from_json(text.read())
    assert run.machine == machine
    assert bool(run.cache) == (kind == "cached")
    assert main(["check", *call, "--json", "report.json"]) == 0
    with open("report.json", encoding="utf-8") as text:
        assert Report.from_json(text.read()).machine == machine
    capsys.readouterr()


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_shows_each_kind_that_can_be_traced(kind, capsys):
    words, machine = WORDS[kind]
    call = ["step", "mine.py:copy", "--machine", kind, *words, "--html", "page.html"]
    assert main(call) == (0 if machine.pipelined else 2)
    assert machine.pipelined == (kind != "cached")
    said = capsys.readouterr()
    assert ("a trace shows the stages" in said.err) == (kind == "cached")


def test_kernels_run_on_each_kind_with_the_banks_of_a_card():
    calls = [["--machine", kind, *words] for kind, (words, _) in WORDS.items()]
    each = f"for one in {calls}: assert main(['cuda', *one, 'kernel.py']) == 0"
    # In a process of its own, since the command replaces `numba.cuda` and `exec`.
    done = subprocess.run(
        [sys.executable, "-c", f"from mmsim.cli import main\n{each}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.count("copy") == len(calls)
    parser = argparse.ArgumentParser()
    add_machine_options(parser)
    for call, (kind, (_, machine)) in zip(calls, WORDS.items(), strict=True):
        chosen = machine_of(parser.parse_args(call))
        assert type(chosen) is type(machine)
        assert chosen.bank_bytes == (None if kind == "umm" else 4)


def test_a_sweep_gives_each_kind_its_own_numbers(capsys):
    call = ["sweep", "mine.py:copy", "--machine", *KINDS, "--width", "4", "--dmms", "2"]
    call += ["--sectors", "1", "2", "--sector-time", "5", "--jobs", "1", "--out", "rows.jsonl"]
    assert main(call) == 0
    with open("rows.jsonl", encoding="utf-8") as text:
        rows = [json.loads(line) for line in text]
    axes = [(one["kind"], one["dmms"], one.get("sectors")) for one in rows if "kind" in one]
    assert sorted(axes, key=str) == sorted(
        [
            *(("DMM", None, None), ("UMM", None, None), ("HMM", 2, None)),
            *(("Cached", 2, 1), ("Cached", 2, 2)),
        ],
        key=str,
    )
    capsys.readouterr()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--dmms", "2"],
            "--dmms is not a number of a dmm; leave it out, or take --machine hmm",
        ),
        (["--machine", "hmm", "--capacity", "8"], "--capacity is not a number of a hmm"),
        (["--machine", "umm", "--bank-bytes", "4"], "--machine dmm or hmm or cached"),
        (["--machine", "cached", "--sectors", "3"], "sectors=3"),
    ],
)
def test_numbers_that_do_not_fit_the_machine_are_refused(words, said, capsys):
    assert main(["run", "mine.py:copy", *words]) == 2
    assert said in capsys.readouterr().err
    call = ["sweep", "mine.py:copy", *words, "--out", "rows.jsonl", "--jobs", "1"]
    assert main(call) == 2
    assert said in capsys.readouterr().err


def test_what_is_not_a_list_of_numbers_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["run", "mine.py:copy", "--machine", "cached", "--clusters", "2;1"])
    assert "'2;1' is not a number or a list of numbers" in capsys.readouterr().err


def test_every_field_of_every_kind_has_an_option():
    for name, kind in KINDS.items():
        assert {one.name for one in fields_by_option(name).values()} == {
            one.name for one in fields(kind)
        }
        assert fields_by_option(name).keys() <= OPTIONS.keys()
    assert machine_named() == mm.DMM(32, 5)
    with pytest.raises(CommandError, match="not a number of a dmm"):
        machine_named("dmm", half_of="0,1")
