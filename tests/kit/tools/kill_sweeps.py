"""Kill a sweep with SIGKILL, again and again, and see what becomes of its rows.

Each time a sweep is started in a process of its own and killed at a random moment: while it
starts and reads its file, or while rows are written. Started once more and left alone, it must have
every row once, whole, and the same as a sweep that was never killed. `make kills` runs this.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import mmsim as mm
from tests.kit import ROOT

PER_LIFE = 160  # cases for each kill: more than most lives finish before they are killed
MORE = 1000  # and so many more where one finishes all
EVERY, LONG = 50, 500_000  # one case in so many has a row so long that a kill can hit its write
LOG, LIFE = "MMSIM_KILLS_LOG", "MMSIM_KILLS_LIFE"


@mm.program
def read(T, a):
    a[T.id]


def work(n):
    """A case: it notes that it was run, in which life; some fail with a long message."""
    if LOG in os.environ:
        with open(os.environ[LOG], "ab", buffering=0) as log:
            log.write(f"{os.environ[LIFE]} {n}\n".encode())
    if n % EVERY == 0:
        raise ValueError("x" * LONG)
    size = n % 7 + 1
    return mm.DMM(4, 5).run(read, np.zeros(size), threads=size)


@dataclass
class Outcome:
    """The effects of the kills; `wrong` must be 0."""

    cases: int
    kills: int = 0
    starting: int = 0
    torn_by_a_kill: int = 0
    rows: int = 0
    lost: int = 0
    doubled: int = 0
    torn: int = 0
    repeated: int = 0
    under_way: int = 0
    left_over: int = 0
    different: int = 0
    sessions: list[int] = field(default_factory=list)

    @property
    def wrong(self) -> int:
        return (
            (self.cases - self.rows)
            + (self.lost + self.doubled + self.torn)
            + (self.repeated + self.left_over + self.different)
        )


def kill_and_resume(folder: Path, kills: int, seed: int) -> Outcome:
    """Kill a sweep so often, let it finish, and count what went wrong."""
    chance = random.Random(seed)
    rows, log = folder / "rows.jsonl", folder / "log"
    rows.touch()
    outcome = Outcome(cases=PER_LIFE * kills)
    whole = b""
    there: list[set[int]] = []  # the cases whose rows each life found
    while outcome.kills < kills:
        there.append(cases_of(whole))
        child = start(rows, log, len(there) - 1, outcome.cases, jobs=1 + outcome.kills % 2)
        outcome.sessions.append(child.pid)
        early = chance.random() < 0.2
        if early:
            time.sleep(chance.uniform(0, 1.5))
        else:
            wait_for_rows(child, rows, len(whole) + chance.randint(1, 2 * LONG))
        child.send_signal(signal.SIGKILL)  # nothing where it has ended
        killed = child.wait() == -signal.SIGKILL
        if not killed and child.returncode:
            raise SystemExit(f"life {len(there)} failed, with {child.returncode}")
        text = rows.read_bytes()
        now = text[: text.rfind(b"\n") + 1]
        if killed:
            outcome.kills += 1
            outcome.starting += now == whole
            outcome.torn_by_a_kill += now != text
        else:  # it was done before the kill came; the next one gets more to do
            outcome.cases += MORE
        outcome.lost += not now.startswith(whole)  # what was there stays, byte for byte
        whole = now
    there.append(cases_of(whole))
    last = start(rows, log, len(there) - 1, outcome.cases, jobs=2)
    if last.wait():
        raise SystemExit(f"the last sweep failed, with {last.returncode}")
    judge(outcome, rows, log, whole, there)
    return outcome


def judge(outcome: Outcome, rows: Path, log: Path, whole: bytes, there: list[set[int]]) -> None:
    text = rows.read_bytes()
    outcome.lost += not text.startswith(whole)
    *lines, end = text.split(b"\n")
    outcome.torn = int(bool(end)) + sum(not is_json(line) for line in lines)
    found = Counter(json.loads(line)["n"] for line in lines if is_json(line))
    outcome.rows = len(found)
    outcome.doubled = sum(found.values()) - len(found)
    run = Counter[int]()
    for line in log.read_text().splitlines():
        life, n = map(int, line.split())
        run[n] += 1
        outcome.repeated += n in there[life]
    outcome.under_way = sum(run.values()) - len(run)
    never = rows.with_name("never_killed.jsonl")
    expected = mm.sweep(work, grid(outcome.cases), never, jobs=1, progress=False)
    got = {row["n"]: row for row in map(json.loads, filter(is_json, lines))}
    outcome.different = sum(
        {**got.get(row["n"], {}), "seconds": 0} != {**row, "seconds": 0} for row in expected
    )
    end = time.monotonic() + 20  # what is left of the killed sweeps ends within a second or two
    while processes_of(outcome.sessions) and time.monotonic() < end:
        time.sleep(0.5)
    outcome.left_over = processes_of(outcome.sessions)


def grid(cases: int) -> dict[str, range]:
    return {"n": range(cases)}


def cases_of(whole: bytes) -> set[int]:
    return {json.loads(line)["n"] for line in whole.splitlines()}


def is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def start(rows: Path, log: Path, life: int, cases: int, jobs: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", __spec__.name]
    return subprocess.Popen(
        [*command, "--sweep", rows, "--cases", str(cases), "--jobs", str(jobs)],
        cwd=ROOT,
        env={**os.environ, LOG: str(log), LIFE: str(life)},
        start_new_session=True,
        stderr=subprocess.DEVNULL,  # joblib reports that it cleaned up after the killed
    )


def wait_for_rows(child: subprocess.Popen[bytes], rows: Path, size: int) -> None:
    """Until the file has so many bytes, or the sweep has ended."""
    before = rows.stat().st_size
    while os.stat(rows).st_size == before and child.poll() is None:
        time.sleep(0.001)
    while os.stat(rows).st_size < size:  # without rest, so that the kill comes within the write
        if child.poll() is not None:
            return


def processes_of(sessions: list[int]) -> int:
    """The number of processes in these sessions, where the system reports it."""
    return sum(session_of(process) in sessions for process in Path("/proc").glob("[0-9]*"))


def session_of(process: Path) -> int:
    """The session of a process, -1 where it has ended."""
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[3])
    except (OSError, IndexError):
        return -1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sweep", type=Path, help=argparse.SUPPRESS)  # be the one to be killed
    parser.add_argument("--cases", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--jobs", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.sweep is not None:
        mm.sweep(work, grid(asked.cases), asked.sweep, jobs=asked.jobs, progress=False)
        return 0
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        outcome = kill_and_resume(Path(folder), asked.kills, asked.seed)
    seconds = time.monotonic() - begun
    print(f"seed {asked.seed}, {seconds:.0f} s")
    print(f"kills                             {outcome.kills:6}")
    print(f"  before it had written a row      {outcome.starting:5}")
    print(f"  in the middle of a row           {outcome.torn_by_a_kill:5}")
    print(f"cases                             {outcome.cases:6}")
    print(f"rows                              {outcome.rows:6}")
    print(f"rows lost                         {outcome.lost:6}")
    print(f"rows doubled                      {outcome.doubled:6}")
    print(f"rows torn                         {outcome.torn:6}")
    print(f"rows unlike those never killed    {outcome.different:6}")
    print(f"cases repeated that had a row     {outcome.repeated:6}")
    print(f"cases repeated, killed on the way {outcome.under_way:6}")
    print(f"processes left over               {outcome.left_over:6}")
    return 1 if outcome.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
