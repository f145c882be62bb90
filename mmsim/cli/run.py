"""`mmsim run MODULE:PROGRAM`: run one program on one machine and print its cost."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from mmsim.api.machines import Machine
from mmsim.api.result import Run
from mmsim.cli.loading import load_program, programs_of
from mmsim.cli.machine import add_machine_options, machine_named
from mmsim.cli.numbers import SEED, at_least, extents
from mmsim.cli.output import console, named
from mmsim.cli.output import save as save_text
from mmsim.cli.trial import SIZES, launch_of, needs_threads
from mmsim.cli.values import parse_argument
from mmsim.frontend.program import Example, Program
from mmsim.reports.programs import list_of_programs
from mmsim.view.figures.paper import check_suffix, save
from mmsim.view.figures.plot import SHORT
from mmsim.view.tables import rich_table, rounds_table

ARRAYS = """\
arguments after T, in order, each a number or an array:
  5, 0.5, 1+2j      a number
  zeros:4x8         zeros of that shape (integers)
  arange:4x8        0, 1, 2, ... in row-major order
  random:64         random floats from 0 to 1 (--seed)
  permutation:64    a random permutation of 0..63 (--seed)
  data.npy          an array saved with numpy.save
Without arguments the program's own example is run, at --size and --seed."""


def add_parser(add: Any) -> None:
    parser = program_parser(
        add,
        description="Run a program and print its time and its accesses. A module or a file without "
        ":NAME lists its programs.",
    )
    parser.add_argument("--profile", action="store_true", help="print the cost of each line")
    parser.add_argument("--rounds", action="store_true", help="print each round")
    parser.add_argument("--check", action="store_true", help="look for mistakes; status 1 if any")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the run as JSON")
    parser.add_argument(
        "--csv", type=Path, metavar="FILE", help="save the accesses (with --rounds the rounds)"
    )
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help="draw the run: .svg, .pdf or .png"
    )
    parser.add_argument(
        "--chrome", type=Path, metavar="FILE", help="save a trace for ui.perfetto.dev"
    )
    parser.set_defaults(command=command)


def program_parser(
    add: Any, description: str, *, schedule: str = "synchronous"
) -> argparse.ArgumentParser:
    """Add a command on one program, with options for the program, the machine and the launch."""
    parser: argparse.ArgumentParser = add(
        description=description,
        epilog=ARRAYS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "program", help="MODULE:NAME or FILE.py:NAME, as mmsim_algorithms.transpose:diagonal"
    )
    parser.add_argument("arguments", nargs="*", metavar="ARGUMENT", help="see below")
    add_machine_options(parser)
    parser.add_argument("--threads", type=int, help="p (default: the example's)")
    parser.add_argument("--block-size", type=int, help="threads of a block (default: all)")
    parser.add_argument(
        "--grid", type=extents, help="blocks along x, y, z, as 4x2; with --block, not --threads"
    )
    parser.add_argument("--block", type=extents, help="threads of a block along x, y, z, as 16x16")
    parser.add_argument(
        "--schedule",
        choices=("synchronous", "asynchronous"),
        help=f"lock step, or every warp on its own (default: {schedule})",
    )
    parser.add_argument("--size", type=at_least(1), help="number of words of the example")
    parser.add_argument("--seed", type=SEED, default=0, help="for random data (default: 0)")
    return parser


def command(arguments: argparse.Namespace) -> int:
    if ":" not in arguments.program and not arguments.arguments:
        console().print(list_of_programs(programs_of(arguments.program)))
        return 0
    if arguments.plot is not None:
        check_suffix(arguments.plot)
    run = run_program(arguments, check=arguments.check, trace=arguments.chrome is not None)
    output = console()
    output.print(run)
    if arguments.profile:
        output.print(run.profile())
    if arguments.rounds:
        output.print(rich_table(rounds_table(run.rounds)))
    if arguments.json is not None:
        save_text(arguments.json, run.to_json())
    if arguments.csv is not None:
        with named(arguments.csv):
            run.to_csv(arguments.csv, "rounds" if arguments.rounds else "accesses")
    if arguments.chrome is not None:
        with named(arguments.chrome):
            run.trace.to_chrome(arguments.chrome)
    if arguments.plot is not None:
        # A short run is repeated for a figure of its pipeline.
        traced = (
            run
            if run.record is not None or run.time > SHORT
            else run_program(arguments, trace=True)
        )
        axes = traced.plot()
        with named(arguments.plot):
            save(axes, arguments.plot)
    return 1 if run.findings else 0


def run_program(arguments: argparse.Namespace, **how: Any) -> Run:
    """Run the program of the options of `program_parser`; `how` goes to `Machine.run`."""
    machine, program, args, options = program_call(arguments)
    return machine.run(program, *args, **options, **how)


def program_call(
    arguments: argparse.Namespace,
) -> tuple[Machine, Program, tuple[Any, ...], dict[str, Any]]:
    """The call by the options of `program_parser`: the machine, the program, its arguments after T,
    and the common options of `Machine.run` and `Machine.check`."""
    program = load_program(arguments.program)
    machine = machine_named(**vars(arguments))
    example = _example(program, machine, arguments)
    options = launch_of(vars(arguments), example)
    if arguments.schedule is not None:
        options["schedule"] = arguments.schedule
    return machine, program, example.arguments, options


def _example(program: Program, machine: Machine, arguments: argparse.Namespace) -> Example:
    """The arguments of the run: the given ones, else the program's own example."""
    if arguments.arguments:
        needs_threads(vars(arguments))
        generator = np.random.RandomState(arguments.seed)
        values = [parse_argument(text, generator) for text in arguments.arguments]
        return Example(*values, **{name: getattr(arguments, name) for name in SIZES})
    choices = {"seed": arguments.seed}
    if arguments.size is not None:
        choices["size"] = arguments.size
    return program.prepare(machine.width, **choices)
