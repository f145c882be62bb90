"""`mmsim run MODULE:PROGRAM`: run one program on one machine and print its cost."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any, Literal

import numpy as np

from mmsim.api.machines import Machine
from mmsim.api.result import Run
from mmsim.cli.listing import line_of
from mmsim.cli.loading import load_program, programs_of
from mmsim.cli.machine import add_machine_options, machine_named
from mmsim.cli.output import add_targets, save, save_text, show
from mmsim.cli.trial import SIZES, launch_of, needs_threads
from mmsim.cli.values import SEED, at_least, extents, parse_argument
from mmsim.frontend.program import Example, Program
from mmsim.view import figures
from mmsim.view.figures.paper import check_suffix
from mmsim.view.figures.stages import SHORT
from mmsim.view.tables import columns, rich_rows, rich_table, rounds_table

ARRAYS = """\
arguments after T, in order, each a number or an array:
  5, 0.5, 1+2j      a number
  zeros:4x8         zeros of that shape (integers)
  arange:4x8        0, 1, 2, ... in row-major order
  random:64         random floats from 0 to 1 (--seed)
  permutation:64    a random permutation of 0..63 (--seed)
  data.npy          an array saved with numpy.save
Without arguments the program's own example is run, at --size and --seed."""
PROGRAM: dict[str, Any] = {
    "epilog": ARRAYS,
    "formatter_class": argparse.RawDescriptionHelpFormatter,
}
"""The parser of a command on one program."""
ABOUT = {
    **PROGRAM,
    "description": "Run a program and print its time and its accesses. A module or a file without "
    ":NAME lists its programs.",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    add_program_options(parser)
    add = parser.add_argument
    add("--profile", action="store_true", help="print the cost of each line")
    add("--rounds", action="store_true", help="print each round")
    add("--check", action="store_true", help="look for mistakes; status 1 if any")
    add_targets(
        parser,
        json="save the run as JSON",
        csv="save the accesses (with --rounds the rounds)",
        plot="draw the run: .svg, .pdf or .png",
        chrome="save a trace for ui.perfetto.dev",
    )


def add_program_options(parser: argparse.ArgumentParser, schedule: str = "synchronous") -> None:
    """Add the options of a command on one program: the program, the machine and the launch."""
    add = parser.add_argument
    add(
        "program",
        help="MODULE:NAME or FILE.py:NAME, as mmsim_algorithms.transpose:diagonal; "
        "FILE.py if it has only one",
    )
    add("arguments", nargs="*", metavar="ARGUMENT", help="see below")
    add_machine_options(parser)
    add("--threads", type=int, help="p (default: the example's)")
    add("--block-size", type=int, help="threads of a block (default: all)")
    grid = "blocks along x, y, z, as 4x2; with --block, not --threads"
    add("--grid", type=extents, help=grid)
    add("--block", type=extents, help="threads of a block along x, y, z, as 16x16")
    text = f"lock step, or every warp on its own (default: {schedule})"
    add("--schedule", choices=("synchronous", "asynchronous"), help=text)
    add("--size", type=at_least(1), help="number of words of the example")
    add("--seed", type=SEED, default=0, help="for random data (default: 0)")


def command(arguments: argparse.Namespace) -> int:
    if ":" not in arguments.program and not arguments.arguments:
        rows = [(one.name, line_of(one)) for one in programs_of(arguments.program)]
        show(rich_rows(columns("program", "what it does"), rows))
        return 0
    if arguments.plot is not None:
        check_suffix(arguments.plot)
    run = run_program(arguments, check=arguments.check, trace=arguments.chrome is not None)
    show(run)
    if arguments.profile:
        show(run.profile())
    if arguments.rounds:
        show(rich_table(rounds_table(run.rounds)))
    save_text(arguments.json, run.to_json)
    kind: Literal["rounds", "accesses"] = "rounds" if arguments.rounds else "accesses"
    save(arguments.csv, lambda file: run.to_csv(file, kind))
    save(arguments.chrome, lambda file: run.trace.to_chrome(file))
    if arguments.plot is not None:
        again = run.record is None and run.time <= SHORT  # for a figure of its pipeline
        axes = (run_program(arguments, trace=True) if again else run).plot()
        save(arguments.plot, partial(figures.save, axes))
    return 1 if run.findings else 0


def run_program(arguments: argparse.Namespace, **how: Any) -> Run:
    """Run the program of the options; `how` goes to `Machine.run`."""
    machine, program, args, options = program_call(arguments)
    return machine.run(program, *args, **options, **how)


def program_call(
    arguments: argparse.Namespace,
) -> tuple[Machine, Program, tuple[Any, ...], dict[str, Any]]:
    """The call by the options: the machine, the program, its arguments after T, and the common
    options of `Machine.run` and `Machine.check`."""
    given = vars(arguments)
    program = load_program(arguments.program)
    machine = machine_named(**given)
    if arguments.arguments:
        needs_threads(given)
        generator = np.random.RandomState(arguments.seed)
        values = [parse_argument(text, generator) for text in arguments.arguments]
        example = Example(*values, **{name: given[name] for name in SIZES})
    else:
        size = {} if arguments.size is None else {"size": arguments.size}
        example = program.prepare(machine.width, seed=arguments.seed, **size)
    options = launch_of(given, example)
    if arguments.schedule is not None:
        options["schedule"] = arguments.schedule
    return machine, program, example.arguments, options
