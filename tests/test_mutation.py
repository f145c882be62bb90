"""Mutation testing itself: `make mutate` finds a rule that no test holds, and says so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
DRIVER = HERE / "mutation" / "mutate.py"

TOY = '''\
def cost(stages, latency, unit=1):
    """What a request takes."""
    left, time = stages, latency - 1
    while left > 0:
        left -= 1
        time += 1
    return time if time > 0 else 0


def __repr__(self):
    return 1 + 1


def refused(width: int | None) -> int | None:
    if width < 1:
        raise ValueError(1 + 1)
'''
RULES = '[[module]]\npath = "toy.py"\ntests = ["test_toy.py"]\nwithout = ["refused"]\n'
TEST = """\
from toy import cost

def test_cost():
    assert cost(2, 3) == 4
    assert cost(1, 1) == 1
"""
UNIT = """\
[[survivor]]
module = "toy.py"
where = "cost"
line = "def cost(stages, latency, unit=1):"
mutants = ["def cost(stages, latency, unit=2):", "def cost(stages, latency, unit=0):"]
why = "Nobody reads it."

[[survivor]]
module = "toy.py"
where = "cost"
line = "return time if time > 0 else 0"
mutants = [
    "return time if time >= 0 else 0",
    "return time if time > -1 else 0",
    "return time if time > 0 else 1",
    "return time if time > 0 else -1",
]
why = "No request takes less than a time unit."
"""


def mutate(folder, test, explained):
    """The verdicts on the toy: the exit status, and what is printed."""
    (folder / "tests" / "mutation").mkdir(parents=True)
    (folder / "toy.py").write_text(TOY)
    (folder / "tests" / "test_toy.py").write_text(test)
    (folder / "tests" / "mutation" / "timing_rules.toml").write_text(RULES)
    (folder / "tests" / "mutation" / "explained.toml").write_text(explained)
    done = subprocess.run(
        [sys.executable, DRIVER, "--root", folder], capture_output=True, text=True, timeout=300
    )
    return done.returncode, done.stdout + done.stderr
