"""Random programs on all engines: each must give what the event engine gives.

    python -m tests.kit.tools.agreement [--count 20000] [--seed 0] [--jobs 2] [--json FILE]

Draws so many different programs and runs each under both schedules: on the event engine, by the
plain evaluation in reference.py, on the array engine interpreted and, where it can be, fused; some
are compiled too, which takes seconds. Time, accesses, rounds and arrays must be the same, the
arrays bit for bit. Under the asynchronous schedule a program with a data race has no result that
both engines must share: there they must agree that it has one. Where there is a GPU (with CuPy),
programs whose threads don't race run on it too, and their arrays must be the same.

At the end two tables: what was compared how often, and in how many of the programs each statement,
each operator and each other part of the language occurs. Exits with status 0 if all is the same and
every part of the language occurs, else with 1. Ctrl-C prints what there is.
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import json
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import typing
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numpy as np

from mmsim import gpu
from mmsim.engines.array import engine as array
from mmsim.engines.array.fused.analysis import CannotFuse
from mmsim.gpu.signed import facts
from mmsim.ir import nodes as ir
from mmsim.ir.atomics import TYPES
from mmsim.ir.dtypes import SUPPORTED
from mmsim.ir.functions import FUNCTIONS
from mmsim.ir.operators import BINARY, COMPARE, UNARY
from mmsim.ir.walk import expressions, parts, statements
from tests.kit.cards.gpu_programs import CANDIDATES as FOR_A_GPU
from tests.kit.cards.gpu_programs import on_the_gpu
from tests.kit.generators.lane_races import can_be_written, lanes_meet
from tests.kit.generators.language_forms import FORMS, forms
from tests.kit.generators.race_free_programs import CANDIDATES, SCHEDULES
from tests.kit.generators.random_programs import (
    DTYPES,
    RandomCase,
    drawn,
    evaluated,
    in_turn,
    races,
    run_case,
    same,
)
from tests.kit.oracle.reference import RefPlaced
from tests.kit.runs.paths import outcome

CHUNK = 50
"""Programs that are drawn together."""
COMPILED = 4
"""Of so many such chunks one has a program that is compiled."""
CASTS = [name for name in SUPPORTED if name != "bool"]
"""The types that a program can ask for."""
HUNG = 300
"""Seconds after which a chunk prints where it is and ends: it should take some."""


# ------------------------------------------------------------ the language


OF_KERNELS = ("as_integer", "as_float", "rint")
"""Functions that only kernels of numba.cuda have; these programs are of mm.program's language."""


def language() -> list[str]:
    """The name of every part of the language."""
    kinds = [*typing.get_args(ir.Stmt), *typing.get_args(ir.Expr)]
    plain = [kind.__name__ for kind in kinds if kind not in typing.get_args(ir.Operating)]
    plain.remove("Logic")
    return [
        *(name for name in plain if name != "ThreadField"),
        *(f"T.{field}" for field in ir.THREAD_FIELDS),
        *(f"unary {op}" for op in [*UNARY, *CASTS]),
        *(f"function {op}" for op in FUNCTIONS if op not in OF_KERNELS),
        *(f"binary {op}" for op in BINARY),
        *(f"compare {op}" for op in COMPARE),
        *(f"atomic {op}" for op in TYPES),
        *(f"warp.{op}" for op in typing.get_args(ir.ExchangeOp)),
        *(f"barrier_{op}" for op in typing.get_args(ir.BarrierOp)),
        "grid_barrier",
        *(f"array of {dtype}" for dtype in dict.fromkeys(DTYPES)),
        "and",
        "or",
        "mm.shared",
        "mm.registers",
        *FORMS,
    ]


def given(case: RandomCase) -> set[str]:
    """The kinds of arrays that a program is given."""
    data = [one.array if isinstance(one, RefPlaced) else one for one in case.args]
    return {f"array of {one.dtype}" for one in data if isinstance(one, np.ndarray)}


def used(code: ir.Code) -> set[str]:
    """The parts of the language that occur in a program."""
    found = {f"mm.{local.kind}" for local in code.locals}
    for statement in statements(code.body):
        found.add(type(statement).__name__)
        match statement:
            case ir.Exchange(_, op):
                found.add(f"warp.{op}")
            case ir.Barrier(scope="grid"):
                found.add("grid_barrier")
            case ir.Barrier(op=op) if op is not None:
                found.add(f"barrier_{op}")
            case ir.Atomic(_, op):
                found.add(f"atomic {op}")
        for expression in expressions(statement):
            for part in parts(expression):
                match part:
                    case ir.Unary(op):
                        found.add(f"unary {op}")
                    case ir.Call(op):
                        found.add(f"function {op}")
                    case ir.Binary(op):
                        found.add(f"binary {op}")
                    case ir.Compare(op):
                        found.add(f"compare {op}")
                    case ir.Logic(op):
                        found.add(op)
                    case ir.ThreadField(field):
                        found.add(f"T.{field}")
                    case _:
                        found.add(type(part).__name__)
    return found | forms(code)


# ------------------------------------------------------------ one program


PATHS = {"interpreted": "array, interpreted", "plain": "array, fused", "fused": "array, compiled"}
HANDED_ON = "array, handed on to events"


def paths(case: RandomCase, schedule: str, compiled: bool) -> Iterator[tuple[str, Any]]:
    """The array engine's outcomes of a case, interpreted and, where that can be, fused.

    Where results follow from the order of the warps it hands the run on to the event engine.
    """
    whole = array.run
    for path, name in PATHS.items():
        if path == "fused" and not compiled:
            continue
        array.run = lambda launch, check=False, path=path: whole(launch, check, path)
        try:
            run = run_case(case, schedule, engine="array")
        except CannotFuse:
            continue
        finally:
            array.run = whole
        if run.engine != "array":  # whatever the path
            yield HANDED_ON, outcome(run)
            return
        yield name, outcome(run)


def as_evaluated(case: RandomCase, schedule: str, run: Any) -> bool:
    """Return whether the plain evaluation of a case gives what a run gave."""
    plain = evaluated(case, schedule)
    rounds = [(one.line, one.array, one.kind, one.stages, one.time) for one in run.rounds]
    return (
        plain.time == run.time
        and (schedule == "asynchronous" or plain.rounds == rounds)
        and same(plain.arrays, run.arrays)
    )


def can_run_on_it(case: RandomCase, run: Any) -> bool:
    """Return whether a GPU must give a run's arrays.

    It can be written, no two of its lanes meet, and its atomics give the same in every order.
    """
    return can_be_written(case) and not lanes_meet(run.trace) and not in_turn(case)


def compare(case: RandomCase, on_gpu: bool, compiled: bool) -> tuple[Counter[str], list[str]]:
    """Compare the engines; what was compared, and what differs."""
    done: Counter[str] = Counter()
    wrong = []
    for schedule in SCHEDULES:
        events = run_case(case, schedule, engine="events", trace=on_gpu, check=True)
        done[f"{schedule}, the plain evaluation"] += 1
        if not as_evaluated(case, schedule, events):
            wrong.append(f"{schedule}, the plain evaluation")
        if schedule == "asynchronous" and races(events):
            done["asynchronous, a data race both find"] += 1
            if not races(run_case(case, schedule, engine="array", check=True)):
                wrong.append("array engine finds no race")
            continue
        expected = outcome(events)
        for name, found in paths(case, schedule, compiled):
            done[f"{schedule}, {name}"] += 1
            if found != expected:
                wrong.append(f"{schedule}, {name}")
        if on_gpu and schedule == "asynchronous" and can_run_on_it(case, events):
            done["GPU, arrays"] += 1
            if not same(on_the_gpu(case, "global"), events.arrays):
                wrong.append("GPU")
    return done, [f"{one}:\n{case.describe()}" for one in wrong]


# ------------------------------------------------------------ many programs


def chunk(
    task: tuple[int, int, bool],
) -> tuple[list[tuple[str, set[str]]], Counter[str], list[str]]:
    """Draw and compare some programs: their digests with what they use, the counts, the errors."""
    number, turn, on_gpu = task
    faulthandler.dump_traceback_later(HUNG, exit=True)
    found: dict[str, RandomCase] = {}
    for case in drawn(FOR_A_GPU if on_gpu else CANDIDATES, CHUNK, f"{number}, {turn}"):
        found.setdefault(hashlib.sha256(case.describe().encode()).hexdigest(), case)
    done: Counter[str] = Counter()
    wrong: list[str] = []
    programs = []
    for digest, case in reversed(found.items()):  # the simplest are drawn first
        compiled = turn % COMPILED == 0 and not any("compiled" in what for what in done)
        try:
            more, errors = compare(case, on_gpu, compiled)
            programs.append((digest, used(case.program.code) | given(case)))
        except Exception as error:  # the other programs still count
            more, errors = Counter(), [f"{type(error).__name__}: {error}:\n{case.describe()}"]
        done += more
        wrong += errors
    faulthandler.cancel_dump_traceback_later()
    return programs, done, wrong


def agree(count: int, number: int, jobs: int, on_gpu: bool) -> dict[str, Any]:
    """Compare `count` different programs; the counts of all."""
    begun = time.monotonic()
    seen: set[str] = set()
    done: Counter[str] = Counter()
    parts_used: Counter[str] = Counter()
    wrong: list[str] = []
    tasks = ((number, turn, on_gpu) for turn in range(100 * (count // CHUNK + 1)))
    spawn = multiprocessing.get_context("spawn")
    deaf = signal.SIGINT, signal.SIG_IGN  # Ctrl-C is for this process
    with ProcessPoolExecutor(jobs, spawn, signal.signal, deaf) as pool:
        for programs, more, errors in _until_interrupted(pool.map(chunk, tasks)):
            for error in errors:
                print(f"DIFFERENT {error}\n", flush=True)
            done += more
            wrong += errors
            for digest, uses in programs:
                if digest not in seen:
                    seen.add(digest)
                    parts_used.update(uses)
            rate = len(seen) / (time.monotonic() - begun)
            print(
                f"\r{len(seen)} of {count} programs, {rate:.0f} a second ", end="", file=sys.stderr
            )
            if len(seen) >= count:
                break
        pool.shutdown(cancel_futures=True)
    print(file=sys.stderr)
    return {
        "programs": len(seen),
        "compared": dict(sorted(done.items())),
        "language": {part: parts_used[part] for part in language()},
        "different": len(wrong),
    }


def _until_interrupted(results: Iterator[Any]) -> Iterator[Any]:
    try:
        yield from results
    except KeyboardInterrupt:
        print("\ninterrupted; here is what was compared until then", file=sys.stderr)
    except BrokenProcessPool:
        print("\na process died; here is what was compared until then", file=sys.stderr)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Run random programs on all engines and compare.")
    parser.add_argument("--count", type=int, default=20_000, help="how many programs (20000)")
    parser.add_argument("--seed", type=int, default=0, help="which programs (0)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the counts")
    arguments = parser.parse_args(argv)
    try:
        device = gpu.device()
        where = f"with {device}"
    except gpu.NoGPU as missing:
        device = None
        where = f"without a GPU ({missing})"
    command = (
        f"python -m tests.kit.tools.agreement --count {arguments.count} --seed {arguments.seed}"
    )
    made = {"command": command} if device is None else facts(command)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["MMSIM_CACHE_DIR"] = cache
        result = agree(arguments.count, arguments.seed, arguments.jobs, device is not None)
    for what, times in result["compared"].items():
        print(f"{times:>9}  {what}")
    print()
    for part, programs in result["language"].items():
        print(f"{programs:>9}  {part}{'' if programs else '   NEVER'}")
    print(f"\n{result['programs']} programs, {where}: {result['different']} differences")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps({**made, **result}, indent=1) + "\n", encoding="utf-8")
    whole = result["programs"] >= arguments.count and all(result["language"].values())
    return 0 if whole and not result["different"] else 1


if __name__ == "__main__":
    sys.exit(main())
