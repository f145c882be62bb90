"""Random programs on the GPU at hand and on the simulator: their arrays must be the same.

    python -m tests.kit.cards.gpu_programs [--count 300] [--seed 0] [--json FILE]
        [--sanitize [TOOL ...]]

Draws programs whose threads don't race, for warps of 32 threads and blocks of up to 100. Each runs
once on the GPU with its arrays in global memory, and those of one block once more with them in
shared memory. What comes back must be what the event engine computes: whole numbers and floats
equal, bit for bit.

`--sanitize` repeats this under compute-sanitizer, which comes with the CUDA toolkit, once with each
of its tools or with those named; all have to be silent. `--json` saves one row a launch.

Exits with status 0 if all is the same and silent, 1 if not, 2 if a GPU, CuPy or
compute-sanitizer is missing.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
from hypothesis import strategies as st

from mmsim import gpu
from mmsim.cuda_c.kernels import WARP
from mmsim.gpu.record import Record
from mmsim.gpu.replay import cupy
from mmsim.gpu.signed import facts
from tests.kit import ROOT
from tests.kit.cards import OPTIONS, TOOLS
from tests.kit.generators.lane_races import draw_cases
from tests.kit.generators.race_free_programs import orderly_cases
from tests.kit.generators.random_programs import RandomCase, cases, run_case, same

ORDERLY = orderly_cases(100, WARP)
CANDIDATES = st.one_of(ORDERLY, ORDERLY, ORDERLY, cases(width=WARP))
"""Programs that may race, but most of them don't; three of four blocks have several warps."""

PROGRESS = 25
"""Programs from one line of progress to the next."""


# ------------------------------------------------------------ programs


@dataclass(frozen=True)
class Outcome:
    """One launch of a program: its arrays when simulated, and those of the GPU or what it said."""

    number: int
    case: RandomCase
    space: gpu.Space
    simulated: dict[str, Any]
    found: dict[str, Any] | str

    @property
    def equal(self) -> bool:
        return not isinstance(self.found, str) and same(self.found, self.simulated)

    def row(self) -> dict[str, Any]:
        """The launch as a row of a record."""
        case = self.case
        return {
            "number": self.number,
            "space": self.space,
            "threads": case.threads,
            "blocks": -(-case.threads // (case.block_size or case.threads)),
            "equal": self.equal,
            "source": hashlib.sha256(case.source.encode()).hexdigest()[:16],
        }

    def __str__(self) -> str:
        """The program, its arguments, and what the GPU made of them that the simulator didn't."""
        lines = [f"Program {self.number} in {self.space} memory:", self.case.describe()]
        for name, expected in self.simulated.items():
            if isinstance(self.found, str) or not same({name: self.found[name]}, {name: expected}):
                lines.append(f"{name}, {expected.dtype}, simulated:\n{expected!r}")
                if not isinstance(self.found, str):
                    lines.append(f"{name}, {self.found[name].dtype}, GPU:\n{self.found[name]!r}")
        if isinstance(self.found, str):
            lines.append(f"GPU: {self.found}")
        return "\n".join(lines)


def draw(count: int, number: int) -> list[RandomCase]:
    """Different programs for a GPU, the same for the same number and version of Hypothesis."""
    return draw_cases(count, number, CANDIDATES)


def simulated(case: RandomCase) -> dict[str, Any]:
    return run_case(case, "synchronous", engine="events", trace=False).arrays


def on_the_gpu(case: RandomCase, space: gpu.Space) -> dict[str, Any]:
    """The arrays after one launch.

    Without CuPy's pool each of them is an allocation of its own: compute-sanitizer knows its end.
    """
    with cupy().cuda.using_allocator(None):
        return gpu.once(case.program, *case.arguments, **case.launch, space=space)


def outcomes(drawn: list[RandomCase]) -> Iterator[Outcome]:
    """Every program launched in each space that can hold its arrays.

    After an error of CUDA's the GPU is of no more use to this process, so that one is the last.
    """
    for number, case in enumerate(drawn):
        expected = simulated(case)
        one_block = case.block_size in (None, case.threads)
        for space in ("global", "shared") if one_block else ("global",):
            try:
                found = on_the_gpu(case, space)
            except Exception as error:
                found = f"{type(error).__name__}: {error}"
            yield Outcome(number, case, space, expected, found)
            if isinstance(found, str) and re.search("cudaError|CUDA_ERROR", found):
                return


def compare(count: int, number: int) -> list[Outcome]:
    """Draw and launch programs, telling of the progress and of every difference."""
    say(f"Drawing {count} programs")
    done: list[Outcome] = []
    for outcome in outcomes(draw(count, number)):
        if outcome.number % PROGRESS == 0 and outcome.space == "global":
            say(f"Program {outcome.number} of {count}")
        if not outcome.equal:
            say(f"\n{outcome}\n")
        done.append(outcome)
    return done


def say(text: str) -> None:
    print(text, flush=True)


# ------------------------------------------------------------ compute-sanitizer


@dataclass(frozen=True)
class Verdict:
    """The words of a tool of compute-sanitizer of a run, and how that run ended."""

    tool: str
    summaries: tuple[str, ...]
    status: int

    @property
    def silent(self) -> bool:
        nothing = r"ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards.*\(0 errors, 0 warnings\)"
        clean = all(re.fullmatch(nothing, summary) for summary in self.summaries)
        return self.status == 0 and bool(self.summaries) and clean

    def __str__(self) -> str:
        return "; ".join(self.summaries) or "no summary"


def summaries(text: str) -> tuple[str, ...]:
    """The lines in which compute-sanitizer sums up."""
    return tuple(re.findall(r"^=+ ((?:[A-Z]+ )?SUMMARY: .*?)\s*$", text, re.MULTILINE))


def sanitize(sanitizer: str, tool: str, count: int, number: int) -> Verdict:
    """This script under a tool of compute-sanitizer; its lines are shown immediately."""
    options = ["--tool", tool, *OPTIONS]
    script = [sys.executable, "-m", __spec__.name, "--count", str(count), "--seed", str(number)]
    say(f"compute-sanitizer {' '.join(options)}")
    lines = []
    with subprocess.Popen(
        [sanitizer, *options, *script],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        cwd=ROOT,
    ) as running:
        assert running.stdout is not None
        for line in running.stdout:
            lines.append(line)
            say(f"  {line.rstrip()}")
    return Verdict(tool, summaries("".join(lines)), running.returncode)


# ------------------------------------------------------------ the command


def arguments_of(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Run random programs on the GPU at hand and in the simulator, and compare."
    )
    parser.add_argument("--count", type=int, default=300, help="how many programs (300)")
    parser.add_argument("--seed", type=int, default=0, help="which programs (0)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save a row for each launch")
    parser.add_argument(
        "--sanitize",
        nargs="*",
        choices=TOOLS,
        metavar="TOOL",
        help=f"also run under compute-sanitizer; all of {', '.join(TOOLS)}, or those named",
    )
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Do what the arguments ask for; the exit status."""
    arguments = arguments_of(argv)
    count, number = arguments.count, arguments.seed
    tools = () if arguments.sanitize is None else tuple(arguments.sanitize) or TOOLS
    try:
        device = gpu.device()
    except gpu.NoGPU as missing:
        print(missing)
        return 2
    sanitizer = shutil.which("compute-sanitizer")
    if tools and sanitizer is None:
        print("compute-sanitizer is not on the path; it comes with the CUDA toolkit")
        return 2
    done = compare(count, number)
    equal = sum(outcome.equal for outcome in done)
    verdicts = [sanitize(sanitizer, tool, count, number) for tool in tools]
    if arguments.json is not None:
        given = f"--count {count} --seed {number}" + (
            f" --sanitize {' '.join(tools)}" * bool(tools)
        )
        head = {
            **facts(f"python -m tests.kit.cards.gpu_programs {given}"),
            "hypothesis": hypothesis.__version__,
            "sanitizer": {verdict.tool: str(verdict) for verdict in verdicts},
        }
        record = Record("random-programs", head, tuple(outcome.row() for outcome in done))
        arguments.json.write_text(record.to_json(), encoding="utf-8")
    for verdict in verdicts:
        print(f"{verdict.tool:<10} {verdict} (exit status {verdict.status})")
    programs = len({outcome.number for outcome in done})
    print(
        f"{programs} of {count} programs, {len(done)} launches on {device}: "
        f"{equal} equal, {len(done) - equal} different"
    )
    whole = programs == count and equal == len(done)
    return 0 if whole and all(verdict.silent for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
