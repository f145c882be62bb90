"""The script that compares random programs on a GPU with the simulator, without a GPU."""

import json
import re
import sys

import numpy as np
import pytest

from mmsim import gpu
from mmsim.gpu import kernel
from mmsim.gpu.record import Record
from tests.kit.cards import gpu_programs
from tests.kit.cards.gpu_programs import Verdict, draw, main, simulated, summaries
from tests.kit.generators.lane_races import threads_race
from tests.kit.oracle.emulated_gpu import Emulated, needs_compiler

CLEAN = """========= COMPUTE-SANITIZER
Program 0 of 300
300 of 300 programs, 410 launches on a GPU: 410 equal, 0 different
========= ERROR SUMMARY: 0 errors
"""
BAD = """========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 8 bytes
=========     at program+0x90
========= ERROR SUMMARY: 132 errors
========= ERROR SUMMARY: 32 errors were not printed. Use --print-limit option to adjust it
"""
NO_HAZARD = "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n"
HAZARD = "========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)\r\n"


@pytest.mark.parametrize(
    ("text", "found", "silent"),
    [
        (CLEAN, ("ERROR SUMMARY: 0 errors",), True),
        (NO_HAZARD, (NO_HAZARD.strip("= \n"),), True),
        (NO_HAZARD + CLEAN, (NO_HAZARD.strip("= \n"), "ERROR SUMMARY: 0 errors"), True),
        (HAZARD, ("RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)",), False),
        ("========= ERROR SUMMARY: 1 error\n", ("ERROR SUMMARY: 1 error",), False),
        ("========= ERROR SUMMARY: 10 errors\n", ("ERROR SUMMARY: 10 errors",), False),
        ("========= Target application terminated before it used CUDA\n", (), False),
    ],
)
def test_a_tools_summary(text, found, silent):
    assert summaries(text) == found
    assert Verdict("a tool", found, 0).silent == silent
    assert not Verdict("a tool", found, 9).silent


def test_every_summary_of_a_tool_counts():
    assert len(summaries(BAD)) == 2
    assert not Verdict("memcheck", summaries(BAD), 0).silent


def test_without_a_gpu_a_sentence_and_status_2(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert main(["--count", "1"]) == 2
    output = capsys.readouterr().out
    assert output.startswith("CuPy is not installed; install")
    assert output.count("\n") == 1


DRAWN = 12


@pytest.fixture(scope="module")
def drawn():
    return draw(DRAWN, 5)


def test_a_draw_gives_as_many_programs_as_asked_all_different_and_none_racing(drawn):
    assert len({case.source for case in drawn}) == len(drawn) == DRAWN
    assert not any(threads_race(case) for case in drawn)


def test_a_number_draws_the_same_programs_again():
    first, again, other = ([case.describe() for case in draw(3, one)] for one in (5, 5, 6))
    assert again == first
    assert again != other


def test_a_draw_suits_a_gpu(drawn):
    assert {case.machine_spec.width for case in drawn} == {32}
    assert any((case.block_size or case.threads) > 32 for case in drawn)
    for case in drawn:
        text = kernel(case.program, *case.arguments, **case.launch).source
        body = text[text.index("extern") :]
        assert not re.search(r"\bpow\(", body)  # a power of floats that is not the exact one


@pytest.fixture
def pretended(monkeypatch, drawn):
    """A GPU that gives what the simulator gives."""
    device = gpu.Device("A GPU", "1.2", "13.0", 2**20)
    monkeypatch.setattr(gpu, "device", lambda: device)
    monkeypatch.setattr(gpu_programs, "draw", lambda count, number: drawn[:count])
    monkeypatch.setattr(gpu_programs, "on_the_gpu", lambda case, space: simulated(case))
    monkeypatch.setattr(gpu_programs, "facts", lambda command: {"command": command})


def test_the_same_arrays_are_equal_and_saved(pretended, drawn, tmp_path, capsys):
    file = tmp_path / "programs.json"
    assert main(["--count", str(DRAWN), "--json", str(file)]) == 0
    record = Record.read(file)
    one_block = sum(case.block_size in (None, case.threads) for case in drawn)
    launches = DRAWN + one_block
    assert 0 < one_block < DRAWN
    assert capsys.readouterr().out.endswith(
        f"{DRAWN} of {DRAWN} programs, {launches} launches on A GPU, driver 1.2: "
        f"{launches} equal, 0 different\n"
    )
    assert (record.experiment, len(record.rows)) == ("random-programs", launches)
    assert all(row["equal"] for row in record.rows)
    assert {row["number"] for row in record.rows} == set(range(DRAWN))
    assert len({row["source"] for row in record.rows}) == DRAWN
    assert (
        record.facts["command"]
        == f"python -m tests.kit.cards.gpu_programs --count {DRAWN} --seed 0"
    )
    assert record.facts["sanitizer"] == {}


def test_one_changed_element_is_reported_with_its_program(pretended, drawn, monkeypatch, capsys):
    def changed(case, space):
        arrays = simulated(case)
        if case is drawn[7] and space == "global":
            arrays["a"] = arrays["a"].copy()
            first = arrays["a"].reshape(-1)[:1].view(np.uint8)
            first[0] ^= 1
        return arrays

    monkeypatch.setattr(gpu_programs, "on_the_gpu", changed)
    assert main(["--count", "10"]) == 1
    output = capsys.readouterr().out
    assert drawn[7].source in output
    assert output.count("Program 7 in global memory:") == output.count(" simulated:\n") == 1
    assert f"a, {simulated(drawn[7])['a'].dtype}, GPU:\n" in output
    assert re.search(r"\b1 different\n$", output)


def test_what_a_gpu_refuses_is_a_difference_and_its_own_errors_end_the_run(
    pretended, monkeypatch, capsys
):
    def refused(case, space):
        raise ValueError("this kernel can't be compiled")

    monkeypatch.setattr(gpu_programs, "on_the_gpu", refused)
    assert main(["--count", "3"]) == 1
    assert "GPU: ValueError: this kernel can't be compiled" in capsys.readouterr().out

    def broken(case, space):
        raise RuntimeError("cudaErrorIllegalAddress: an illegal memory access")

    monkeypatch.setattr(gpu_programs, "on_the_gpu", broken)
    assert main(["--count", "3"]) == 1
    assert capsys.readouterr().out.endswith(": 0 equal, 1 different\n")


SANITIZER = """#!{python}
import sys
tool = sys.argv[sys.argv.index("--tool") + 1]
assert sys.argv[sys.argv.index("--count") + 1] == "2"
print("========= COMPUTE-SANITIZER")
if tool == "racecheck":
    print("========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)")
else:
    errors = {errors} if tool == "initcheck" else 0
    print(f"========= ERROR SUMMARY: {{errors}} errors")
    sys.exit(9 if errors else 0)
"""


@pytest.mark.parametrize("errors", [0, 4])
def test_the_tools_of_compute_sanitizer_are_run_in_turn(
    pretended, errors, monkeypatch, tmp_path, capsys
):
    program, file = tmp_path / "compute-sanitizer", tmp_path / "programs.json"
    program.write_text(SANITIZER.format(python=sys.executable, errors=errors))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    status = main(["--count", "2", "--sanitize", "--json", str(file)])
    assert status == (1 if errors else 0)
    output = capsys.readouterr().out
    assert "memcheck   ERROR SUMMARY: 0 errors (exit status 0)\n" in output
    assert f"initcheck  ERROR SUMMARY: {errors} errors (exit status {status * 9})\n" in output
    shown = json.loads(file.read_text())["sanitizer"]
    assert list(shown) == ["memcheck", "racecheck", "initcheck", "synccheck"]
    assert shown["racecheck"] == "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)"


def test_a_missing_compute_sanitizer_is_reported_before_anything_runs(
    pretended, monkeypatch, tmp_path, capsys
):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["--sanitize", "memcheck"]) == 2
    sentence = "compute-sanitizer is not on the path; it comes with the CUDA toolkit\n"
    assert capsys.readouterr().out == sentence


@needs_compiler
def test_a_gpu_emulated_on_the_cpu_gives_the_same_arrays(pretended, monkeypatch, tmp_path):
    """The draw, the kernels and the comparison as on a GPU, with CUDA C run as C++."""
    turns = []

    def emulated(case, space):
        sizes = {**case.launch, "space": space}
        folder = tmp_path / str(len(turns))
        folder.mkdir()
        turns.append(folder)
        one = Emulated([kernel(case.program, *case.arguments, **sizes)], folder)
        return one.run(0, backward=len(turns) % 2 == 0)

    monkeypatch.setattr(gpu_programs, "on_the_gpu", emulated)
    assert main(["--count", "2"]) == 0
    assert len(turns) >= 2
