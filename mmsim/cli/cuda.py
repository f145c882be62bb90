"""`mmsim cuda PROGRAM`: run a program of numba.cuda or CUDA C++, print the cost of its kernels."""

from __future__ import annotations

import argparse
import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from mmsim.api.cards import card
from mmsim.api.machines import Machine
from mmsim.cli import machine
from mmsim.cli.loading import CommandError
from mmsim.cli.output import add_targets, complain, save_text, show
from mmsim.model.byte_banks import BANK_BYTES

NONE = "no launch was simulated"
OWN = {"--check", "--lenient", "--profile", "--json", "--html", "--machine"}
OWN |= {f"--{name.replace('_', '-')}" for name in machine.OPTIONS}
"""The options of the command itself."""


ABOUT = {
    "description": "Run a Python program with mmsim in the place of numba.cuda, or a program of "
    "CUDA C++ with mmsim in the place of a GPU, and print for each of its kernels the launches, "
    "threads, time units, stages and wasted stages. Options stand before the program's name; what "
    "follows it is passed to the program. A program of CUDA C++ is one or more files for nvcc, the "
    "first one a .cu or .cpp, or what nvcc -cudart shared made of them."
}


NVCC = {
    "-I": "search headers in a FOLDER",
    "-D": "define a macro NAME[=VALUE]",
    "-std": "the version of C++, as c++20 VERSION",
    "--nvcc": "further options of nvcc as one text OPTIONS",
}


class Option(argparse.Action):
    """Adds an option of nvcc to those before it."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        if option_string == "--nvcc":
            new = shlex.split(values)
        else:
            new = [f"-std={values}" if option_string == "-std" else f"{option_string}{values}"]
        namespace.nvcc = [*(namespace.nvcc or []), *new]


def add_options(parser: argparse.ArgumentParser) -> None:
    check = "check every launch; status 1 if anything is found"
    parser.add_argument("--check", action="store_true", help=check)
    lenient = "go on with some mistakes as a card does, with a warning for each"
    parser.add_argument("--lenient", action="store_true", help=lenient)
    costs = "print the cost of each line in the first launch of each kernel"
    parser.add_argument("--profile", action="store_true", help=costs)
    page = "save a page: the table, and for each kernel its source with costs and the player of "
    page += "its first launch, if that is small"
    add_targets(parser, json="save the table as JSON", html=page)
    default = "the HMM that stands for an NVIDIA H200, with the numbers that are given"
    own = "that machine's; with --machine "
    numbers = {name: f"{own}{number}" for name, number in machine.DEFAULTS.items()}
    machine.add_machine_options(parser, {**numbers, "bank_bytes": 4, "machine": default})
    parser.add_argument("-m", dest="module", action="store_true", help="the program is a module")
    of_nvcc = "for a program of CUDA C++: "
    for option, what in NVCC.items():
        metavar = what.split()[-1]
        parser.add_argument(
            option, dest="nvcc", action=Option, metavar=metavar, help=f"{of_nvcc}{what}"
        )
    parser.add_argument("script", help="the program's file; with -m the module's name")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's arguments")


def command(arguments: argparse.Namespace) -> int:
    from mmsim.cuda import in_python  # loads what launches
    from mmsim.cuda.machines import set_machine
    from mmsim.cuda.mistakes import set_lenient
    from mmsim.cuda.report import Report
    from mmsim.view.tables import rich_table

    if not arguments.module and not Path(arguments.script).is_file():
        raise CommandError(f"no file {arguments.script!r}")
    if arguments.check and in_python.is_asked_for():
        raise CommandError(in_python.UNCHECKED)
    for option in OWN.intersection(arguments.arguments):
        complain(f"{option} stands after the program's name and is passed to the program")
    set_machine(machine_of(arguments))
    if arguments.lenient:
        set_lenient()
    report = Report()
    report.listen(check=arguments.check)
    try:
        status = run(arguments)
    finally:
        show(*(map(rich_table, report.tables()) if report.kernels else [NONE]))
        show(*report.verdicts(), soft_wrap=True)
        if arguments.profile:
            show(*report.profiles())
        save_text(arguments.json, report.to_json)
        save_text(arguments.html, report.to_html)
        if arguments.html is not None:
            show(f"open {arguments.html} in a browser", soft_wrap=True)
    return status or int(bool(report.findings))


def run(arguments: argparse.Namespace) -> int:
    """Run the program; return its exit status."""
    from mmsim.cudart.host import programs  # loads what launches

    if not arguments.module and programs.is_program(arguments.script):
        return programs.run(arguments.script, arguments.arguments, arguments.nvcc or [])
    if arguments.nvcc is not None:
        raise CommandError("the options -I, -D, -std and --nvcc are for a program of CUDA C++")
    from mmsim.cuda.replacing import run_script  # replaces numba.cuda

    begin = ("-m", [arguments.script]) if arguments.module else (arguments.script, [])
    return run_script(begin[0], [*begin[1], *arguments.arguments])


def machine_of(arguments: argparse.Namespace) -> Machine:
    """The machine of the launches: what other commands take, or the default with other numbers.

    The default is the card that MMSIM_MACHINE names, or the H200. Banks have 4 bytes, as a card's.
    """
    from mmsim.cuda.machines import VARIABLE, h200

    given, named = vars(arguments), os.environ.get(VARIABLE)
    if arguments.machine is None:
        default = card(named) if named else h200()
        return replace(default, **machine.numbers_of(named or "hmm", given))
    if given["bank_bytes"] is None and "bank_bytes" in machine.fields_by_option(arguments.machine):
        given = {**given, "bank_bytes": BANK_BYTES}
    return machine.machine_named(**given)
