"""One mutated program, through `mm.program` and, where that takes it, through the engines."""

from __future__ import annotations

import re
import types
import warnings
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.engines.array.fused.analysis import CannotFuse
from mmsim.errors import LaunchError, ProgramError, RoomError
from mmsim.ir import nodes as ir
from mmsim.ir.walk import accesses, expressions, parts, statements
from mmsim.results.run import Run
from tests.kit.fuzzing.surroundings import FILE, TOUCHED, contents, define
from tests.kit.runs.paths import outcome, run_along

MACHINES = (mm.DMM(4, 2), mm.UMM(4, 3), mm.HMM(2, 4, 5, 2))
SCHEDULES = ("synchronous", "asynchronous")
BOUND = 200
"""`max_accesses` of every run."""
DTYPES = ("int64", "int64", "float64", "int32", "bool", "uint8")


class Finding(Exception):
    """Something that must not happen."""


@dataclass
class Verdict:
    """The end of a program: a kind for the table, and the texts of what was said."""

    kind: str
    said: list[str] = field(default_factory=list)


def try_program(text: str, numbers: dict[str, Any], random: Random) -> Verdict:
    """Raise `Finding`, or whatever else mmsim shouldn't, else say what became of a program."""
    try:
        function = define(text, numbers)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return Verdict("no Python")
    if function is None:
        return Verdict("no function")
    space = function.__globals__
    before = contents(space)
    TOUCHED.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            verdict = judged(function, text, random)
        finally:
            if TOUCHED:
                raise Finding(f"an object outside was touched: {TOUCHED}")
            if contents(space) != before:
                raise Finding("a global was changed")
    return verdict


def judged(function: types.FunctionType, text: str, random: Random) -> Verdict:
    """The program decorated, and run if it is one."""
    try:
        program = mm.program(function)
        program.code  # which a function that returns a value has none of
    except mm.LanguageError as error:
        check_refusal(error, text)
        return Verdict("refused", [template(error.msg.removesuffix(f"; {error.advice}"))])
    return Verdict("accepted", run_all(program, random))


def template(message: str) -> str:
    """A message without what differs from program to program."""
    message = re.sub(r"^.* is not a number$", "'...' is not a number", message, flags=re.DOTALL)
    message = re.sub(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", "'...'", message)
    return re.sub(r"-?\d[\d.e+]*", "N", message)


def check_refusal(error: mm.LanguageError, text: str) -> None:
    """A refusal names the file and a line of it, and shows that line."""
    place, lines = error.place, re.split("\r\n|\r|\n", text)
    if place.file != FILE or not 1 <= place.line <= len(lines):
        raise Finding(f"no line: {error}")
    if place.text != lines[place.line - 1] or not place.text.strip():
        raise Finding(f"another line: {place.text!r}, not {lines[place.line - 1]!r}: {error}")
    if not 0 <= place.column < place.end_column <= len(place.text):
        raise Finding(f"no text to point at: {place}")
    if f"line {place.line}" not in str(error) or "^" not in str(error) or not error.msg:
        raise Finding(f"says too little: {error}")


# ------------------------------------------------------------ runs


def run_all(program: mm.Program, random: Random) -> list[str]:
    """Run a program on every engine under both schedules; how each ended."""
    arguments = make_arguments(program.code, random)
    how = {
        "machine": random.choice(MACHINES),
        "threads": random.choice((8, 8, 5, 1)),
        "block_size": random.choice((None, None, 4, 1)),
    }
    if how["block_size"] is not None and how["block_size"] > how["threads"]:
        how["block_size"] = None
    copies = [one.copy() if isinstance(one, np.ndarray) else one for one in arguments]
    said = []
    more = random.random() < 0.3
    for schedule in SCHEDULES if more else random.sample(SCHEDULES, 1):
        said += compare(program, arguments, how, schedule, more)
    if more:
        said.append("CUDA: " + write_cuda(program, arguments, how))
    for one, copy in zip(arguments, copies, strict=True):
        if isinstance(one, np.ndarray) and not (
            one.dtype == copy.dtype and one.tobytes() == copy.tobytes()
        ):
            raise Finding("an argument was changed")
    return said


def make_arguments(code: ir.Code, random: Random) -> list[Any]:
    """Small arrays of the dimensions that a program uses, and small numbers."""
    dimensions: dict[str, int] = {}
    everything = list(statements(code.body))
    for one in accesses(code.body):
        dimensions[one.array] = len(one.index)
    for part in (p for one in everything for e in expressions(one) for p in parts(e)):
        if isinstance(part, ir.Extent):
            wanted = (
                part.rank or (part.axis if isinstance(part.axis, int) and part.axis < 4 else 0) + 1
            )
            dimensions.setdefault(part.array, max(1, wanted))
    values: list[Any] = []
    for parameter in code.parameters:
        if parameter.use == "number":
            values.append(random.choice((4, 2, 8, 1, 0, 3, 1.5)))
            continue
        count = min(dimensions.get(parameter.name, 1), 5)
        shape = (16,) if count == 1 else (4,) * count
        data = np.array([random.randrange(4) for _ in range(int(np.prod(shape)))])
        values.append(data.reshape(shape).astype(random.choice(DTYPES)))
    return values


def compare(
    program: mm.Program, arguments: list[Any], how: dict[str, Any], schedule: Any, more: bool
) -> list[str]:
    """Run on the engines; raise `Finding` where they differ and no race excuses it."""
    machine, options = how["machine"], {k: v for k, v in how.items() if k != "machine"}
    options |= {"schedule": schedule, "max_accesses": BOUND}

    def run(**choice: Any) -> mm.Run:
        return machine.run(program, *arguments, **options, **choice)

    events = ended(lambda: run(engine="events", trace=False))
    array = ended(lambda: run(engine="array"))
    found = [array]
    if more:
        try:
            how_all = {"machine": machine, **options}
            found.append(ended(lambda: run_along("plain", program, *arguments, **how_all)))
        except (CannotFuse, MemoryError, OverflowError):  # `Machine.run` says so with a RoomError
            pass
    # The array engine asks for room before it starts; the system may promise the other one more.
    found = [one for one in found if not isinstance(one, RoomError)]
    if any(fingerprint(one) != fingerprint(events) for one in found):
        # Only under the asynchronous schedule may a program with a race differ.
        checked = ended(lambda: run(engine="events", trace=False, check=True))
        # A missing sync within a warp is none in the model.
        racy = not isinstance(checked, Run) or any(
            one.kind != "warp-sync" for one in checked.findings or ()
        )
        if schedule == "synchronous" or not racy:
            raise Finding(f"the engines differ: {[fingerprint(one) for one in (events, *found)]}")
    said = "runs" if isinstance(events, Run) else type(events).__name__
    return [f"{schedule}: {said}"]


def ended(run: Any) -> mm.Run | LaunchError | ProgramError:
    """A run or the error that it may end with."""
    try:
        result: mm.Run = run()
    except LaunchError as error:
        return error
    except ProgramError as error:
        if error.place is None or error.place.file != FILE or error.place.line < 1:
            raise Finding(f"no line: {error!r}") from error
        if f"line {error.place.line}" not in str(error) or "^" not in str(error):
            raise Finding(f"says too little: {error}") from error
        return error
    return result


def fingerprint(ending: mm.Run | Exception) -> Any:
    """All that has to be the same on all engines."""
    return outcome(ending) if isinstance(ending, Run) else type(ending).__name__


def write_cuda(program: mm.Program, arguments: list[Any], how: dict[str, Any]) -> str:
    """Write CUDA C, and say how that ended."""
    try:
        program.cuda(*arguments, threads=how["threads"], block_size=how["block_size"])
    except mm.MMSimError as error:
        return type(error).__name__
    return "written"
