"""Stepping through launches of `from mmsim import cuda`."""

import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import mmsim as mm
from mmsim import cuda
from mmsim.cuda import launches, machines
from mmsim.cuda.launches import history
from mmsim.errors import MachineError, MMSimError

SMALL = mm.HMM(2, 32, 5, 2, bank_bytes=machines.h200().bank_bytes)


def kernel():
    """A kernel that was never launched; what it computes depends on what was there before."""

    @cuda.jit
    def turn(a, b, factor):
        tile = cuda.shared.array(64, np.float32)
        i, n = cuda.threadIdx.x, cuda.blockDim.x
        first = cuda.blockIdx.x * n
        tile[i] = a[first + i]
        cuda.syncthreads()
        a[first + n - 1 - i] = factor * tile[i]
        b[first + i] += tile[i]

    return turn


def arrays():
    return np.arange(128, dtype=np.float32), np.ones(128, np.float32)


def memory(player, name):
    """The words of an array at the start of a player."""
    return next(one["data"][0] for one in player.data["arrays"] if one["name"] == name)


def test_a_launch_is_stepped_through_as_it_was(show):
    turn = kernel()
    a, b = arrays()
    turn[2, 64](a, b, 2)
    time = turn.last.time
    player = turn.player()
    assert (player.data["program"], player.data["threads"]) == ("turn", 128)
    assert memory(player, "a") == list(range(128))  # before the launch, not after it
    assert memory(player, "b") == [1] * 128
    assert (b == 1 + np.arange(128)).all()  # nothing is written a second time
    assert turn.last.time == time
    assert turn.last.machine == machines.h200()
    shown = show(player)
    assert shown.locator(".unit").count() == 3
    shown.keyboard.press("End")
    state = shown.evaluate("mmsim.state(mmsim.time)")
    assert state["memory"]["a"] == [a.tolist()]
    assert state["memory"]["b"] == [b.tolist()]


def test_the_player_starts_on_a_small_machine_of_the_same_rules_and_says_so(show):
    turn = kernel()
    turn[2, 64](*arrays(), 2)
    player = turn.player()
    assert player.data["machine"] == repr(SMALL)
    note = show(player).locator("#note").inner_text()
    assert str(machines.h200()) in note
    assert "turn.player(machine=...) shows any other" in note
    asked = turn.player(machine=turn.last.machine, start=0, end=100)
    assert asked.data["machine"] == repr(machines.h200())
    assert asked.data["note"] == ""


def test_a_machine_that_was_chosen_is_the_one_that_is_shown():
    turn = kernel()
    chosen = mm.HMM(1, 32, 40, 3)
    with cuda.machine(chosen):
        turn[2, 64](*arrays(), 2)
    player = turn.player()
    assert (player.data["machine"], player.data["note"]) == (repr(chosen), "")
    assert player.data["end"] == turn.last.time
    with pytest.raises(MachineError, match="4 is not a machine"):
        turn.player(machine=4)


def test_a_machine_without_a_trace_gives_way_to_a_small_one():
    turn = kernel()
    card = mm.Cached(2, 32, 20, sectors=4, sector_time=1, bank_bytes=4)
    with cuda.machine(card):
        turn[2, 64](*arrays(), 2)
        with cuda.trace():
            turn[2, 64](*arrays(), 2)
    assert turn.last.machine == mm.HMM(2, 32, 5, 2, bank_bytes=4)
    assert repr(card) in turn.player().data["note"]


def test_a_captured_array_is_shown_as_it_was():
    total = cuda.to_device(np.zeros(1, np.float32))

    @cuda.jit
    def add(a):
        cuda.atomic.add(total, 0, a[cuda.grid(1)])

    add[1, 32](np.ones(32, np.float32))
    add[1, 32](np.ones(32, np.float32))
    assert total.copy_to_host() == [64]
    assert [one["data"][0] for one in add.player().data["arrays"]] == [[1] * 32, [32]]


def test_a_window_of_a_launch():
    turn = kernel()
    turn[2, 64](*arrays(), 2)
    player = turn.player(start=3, end=9)
    assert (player.data["start"], player.data["end"]) == (3, 9)


def test_trace_records_the_launches_of_a_block():
    turn = kernel()
    with cuda.trace():
        turn[2, 64](*arrays(), 2)
        assert cuda.last.machine == SMALL
    assert cuda.last.trace is turn.last.trace
    assert cuda.last.player().data["time"] == turn.player().data["time"] == cuda.last.time
    mm.figures.warps(cuda.last)
    turn[2, 64](*arrays(), 2)
    assert cuda.last.record is None
    chosen = mm.HMM(1, 32, 40, 3)
    with cuda.machine(chosen), cuda.trace():
        turn[2, 64](*arrays(), 2)
    assert cuda.last.trace.machine == chosen


def test_trace_records_the_next_launches_until_it_is_switched_off():
    turn = kernel()
    cuda.trace()
    try:
        turn[2, 64](*arrays(), 2)
        assert cuda.last.record is not None
    finally:
        cuda.trace(False)
    turn[2, 64](*arrays(), 2)
    assert cuda.last.record is None


def test_large_arguments_are_not_kept_and_an_error_says_what_to_write(monkeypatch):
    turn = kernel()
    monkeypatch.setattr(launches, "MOST_COPIED", 1023)
    turn[2, 64](*arrays(), 2)
    with pytest.raises(MMSimError, match=r"put it into `with cuda\.trace\(\):`"):
        turn.player()
    with cuda.trace():
        turn[2, 64](*arrays(), 2)
    assert turn.player().data["machine"] == repr(SMALL)
    with pytest.raises(MMSimError, match=r"`with cuda.machine\(...\), cuda.trace\(\):`"):
        turn.player(machine=mm.HMM(1, 32, 7))


def test_a_kernel_that_was_not_launched():
    with pytest.raises(
        MMSimError, match=r"'turn' hasn't been launched yet; launch it as turn\[grid, block\]"
    ):
        kernel().player()


@pytest.mark.parametrize(
    "ask",
    [
        *(lambda run: run.trace, lambda run: run.player(), lambda run: mm.compare(run, run)),
        *(mm.figures.pipeline, mm.figures.warps, mm.figures.banks),
        lambda run: mm.figures.access(run, 0),
    ],
)
def test_without_a_trace_an_error_says_how_to_get_one(ask):
    turn = kernel()
    turn[2, 64](*arrays(), 2)
    with pytest.raises(MMSimError) as caught:
        ask(turn.last)
    for advice in ("machine.run(turn, ..., trace=True)", "turn.player()", "`with cuda.trace():`"):
        assert advice in str(caught.value)
    assert "engine" not in str(caught.value)
    twice = mm.total([turn.last, turn.last])
    with pytest.raises(MMSimError, match=r"trace=True, or within `with cuda.trace\(\):`"):
        ask(twice)


PROGRAM = """
import sys
import numpy as np
from numba import cuda

@cuda.jit
def scale(a, factor):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= factor

@cuda.jit
def long(a):
    for _ in range(4000):
        a[cuda.grid(1)] += 1

if __name__ == "__main__":
    scale[32, 128](np.ones(4096, np.float32), 2)
    print(cuda.get_current_device().name)
    if "long" in sys.argv:
        long[1, 32](np.ones(32, np.float32))
"""


@pytest.fixture
def call(tmp_path):
    """The command, in a folder that has the program."""
    (tmp_path / "program.py").write_text(PROGRAM)

    def run(*arguments, command=("-m", "mmsim")):
        command = [sys.executable, *command, *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    return run


def test_the_page_of_kernels_has_players_of_small_machines(call, tmp_path, new_page):
    done = call("cuda", "--html", "page.html", "program.py", "long")
    assert done.returncode == 0, done.stderr
    page = new_page()
    page.goto((tmp_path / "page.html").as_uri())
    assert page.locator("iframe").count() == 1
    shown = page.frame_locator("iframe")
    assert shown.locator("#title").get_attribute("title") == str(SMALL)
    assert "scale.player(machine=...)" in shown.locator("#note").inner_text()
    assert "8000 requests of warps are more than 2048" in page.locator("p").last.inner_text()
    assert "long.player()" in page.locator("p").last.inner_text()
    assert page.locator(".verdict code").first.inner_text() == "mmsim cuda --check"
    page.set_viewport_size({"width": 390, "height": 820})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


H200 = machines.h200()


MACHINES = {
    "": H200,
    "--latency 20": replace(H200, global_latency=20),
    "--width 16 --dmms 2": replace(H200, width=16, dmms=2),
    "--machine hmm": mm.HMM(1, 32, 5, bank_bytes=4),
    "--machine hmm --dmms 2 --latency 20 --shared-latency 3": mm.HMM(2, 32, 20, 3, 4),
    "--machine dmm --width 4": mm.DMM(4, 5, bank_bytes=4),
    "--machine umm --latency 7": mm.UMM(32, 7),
}
EACH = "from mmsim.cli import main\nfor one in {}: main(['cuda', *one.split(), 'program.py'])"


def test_the_command_takes_the_machine_of_the_launches(call):
    done = call(command=("-c", EACH.format(list(MACHINES))))
    assert re.findall("^mmsim (.*)$", done.stdout, re.M) == list(map(str, MACHINES.values()))


def test_the_command_refuses_a_machine_that_does_not_exist(call):
    done = call("cuda", "--width", "0", "program.py")
    assert (done.returncode, "width=0" in done.stderr) == (2, True)


def test_a_kernel_is_stepped_through_by_its_name(call, tmp_path):
    target = ("program.py:scale", "arange:64", "2", "--grid", "1", "--block", "64")
    done = call("step", *target, "--machine", "hmm", "--html", "page.html")
    assert done.returncode == 0, done.stderr
    assert "scale: " in done.stdout
    assert "a[i] *= factor" in (tmp_path / "page.html").read_text()


def test_a_trace_can_be_entered_twice():
    tracing = cuda.trace()
    for _ in range(2):
        with tracing:
            assert history.tracing
        assert not history.tracing
