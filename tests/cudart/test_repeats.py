"""Launches that repeat an earlier one take what it did."""

import numpy as np
import pytest

from mmsim import cuda
from mmsim.cuda.launches import Configuration
from mmsim.cudart.host import repeats
from mmsim.cudart.host.repeats import Repeats

ASKED = Configuration((1, 1, 1), (4, 1, 1), 0, 1024)


@cuda.jit
def add(a, b, number):
    i = cuda.grid(1)
    b[i] = a[i] + number


@pytest.fixture
def ran(monkeypatch):
    """The runs that were not taken from an earlier launch."""
    found = []
    run = repeats.run_kernel
    monkeypatch.setattr(repeats, "run_kernel", lambda *of: found.append(of) or run(*of))
    return found


def launches(kept, *, number=1, a=None, asked=ASKED):
    """Launch the kernel four times; return what it left and its time each time."""
    program = launches.program
    b = np.zeros(4, np.int64)
    found = []
    for _ in range(4):
        run = kept.run(program, (np.arange(4) if a is None else a, b, number), asked)
        b = run.arrays["b"].copy()
        found.append((b.tolist(), run.time))
    return found


launches.program = add.program.specialized((np.arange(4), np.zeros(4, np.int64), 1)).program


def test_an_equal_launch_is_not_run_again(ran):
    found = launches(Repeats(1 << 20))
    assert found == [found[0]] * 4
    assert found[0][0] == [1, 2, 3, 4]
    assert len(ran) == 2


def test_a_known_launch_leaves_its_writes_in_other_memory(ran):
    kept, zeros = Repeats(1 << 20), np.zeros(4, np.int64)
    runs = [kept.run(launches.program, (np.arange(4), zeros, 1), ASKED) for _ in range(3)]
    assert len(ran) == 2
    assert [run.arrays["b"].tolist() for run in runs] == [[1, 2, 3, 4]] * 3
    assert [run.arrays["a"].tolist() for run in runs] == [[0, 1, 2, 3]] * 3
    assert [run.accesses for run in runs] == [runs[0].accesses] * 3


@pytest.mark.parametrize("other", [{"number": 2}, {"a": np.arange(4) + 1}])
def test_another_number_or_other_contents_are_another_launch(ran, other):
    kept = Repeats(1 << 20)
    launches(kept)
    assert launches(kept, **other)[-1][0] == [2, 3, 4, 5]
    assert len(ran) > 2


def test_another_block_is_another_launch(ran):
    kept = Repeats(1 << 20)
    launches(kept)
    assert launches(kept, asked=Configuration((1, 1, 1), (2, 1, 1), 0, 1024))[-1][0] == [1, 2, 0, 0]


def test_runs_of_long_ago_are_dropped(ran, monkeypatch):
    zeros = np.zeros(4, np.int64)
    kept = Repeats(64)  # two arrays of 32 bytes
    for first in (0, 0, 1, 2, 3):
        kept.run(launches.program, (np.arange(4) + first, zeros, 1), ASKED)
    before = len(ran)
    kept.run(launches.program, (np.arange(4) + 3, zeros, 1), ASKED)
    assert len(ran) == before
    kept.run(launches.program, (np.arange(4) + 1, zeros, 1), ASKED)
    assert len(ran) == before + 1
    monkeypatch.setattr(repeats, "MANY", 1)
    kept.run(launches.program, (np.arange(4) + 2, zeros, 1), ASKED)
    kept.run(launches.program, (np.arange(4) + 1, zeros, 1), ASKED)
    assert len(ran) == before + 3
