"""`mmsim gpu`: the same programs on the GPU at hand, compared with the models."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mmsim.cli.loading import CommandError, load_program
from mmsim.cli.output import console, status
from mmsim.cli.output import save as save_text
from mmsim.errors import MMSimError

if TYPE_CHECKING:
    from mmsim.gpu.record import Record


def add_parser(add: Any) -> None:
    parser = add(
        description="What can be done with a real GPU. Without a command, say which GPU there is, "
        "or what is missing, and list the commands.",
    )
    parser.set_defaults(command=about)
    subcommands = parser.add_subparsers(title="commands", metavar="COMMAND")
    parser.set_defaults(listed=subcommands)
    text = "compare the GPU's counters of memory accesses with the models' stages"
    counted = add_command(subcommands, "counters", text, counters)
    counted.add_argument(
        "programs",
        nargs="*",
        metavar="PROGRAM",
        help="MODULE:NAME or FILE.py:NAME, with an example (default: all that are registered)",
    )
    counted.add_argument(
        "--banks",
        action="store_true",
        help="instead of programs, count patterns of addresses for each kind and width of access",
    )
    text = "measure the machines that stand for this GPU"
    calibrated = add_command(subcommands, "calibrate", text, calibrate)
    calibrated.add_argument(
        "--cache",
        action="store_true",
        help="instead of these machines, measure the second-level cache and the memory",
    )
    add_command(
        subcommands, "atomics", "compare what atomics take with the model's stages", atomics
    )
    text = "measure a paper's table or figure again, and predict it by the calibrated model"
    again = add_command(subcommands, "reproduce", text, reproduce)
    again.add_argument("experiment", nargs="?", metavar="TABLE", help="as CFP-T2 (default: list)")
    again.add_argument(
        "--calibration",
        type=Path,
        metavar="FILE",
        help="what `mmsim gpu calibrate --json` saved (default: measure it now)",
    )
    again.add_argument(
        "--measure-only",
        action="store_true",
        help="leave out what the model predicts; that needs no GPU",
    )
    again.add_argument(
        "--predicted",
        type=Path,
        metavar="FILE",
        help="signed predictions of these kernels; the results name them by their seal",
    )
    again.add_argument("--most", type=int, metavar="N", help="the largest sqrt n of ICPP's tables")


def add_command(subcommands: Any, name: str, text: str, command: Callable[..., int]) -> Any:
    """Add a command of `mmsim gpu`; all can save their results."""
    parser = subcommands.add_parser(name, help=text, description=f"{text}.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the results as JSON")
    parser.set_defaults(command=command)
    return parser


def about(arguments: argparse.Namespace) -> int:
    from mmsim import gpu

    output = console()
    try:
        output.print(str(gpu.device()), highlight=False)
    except gpu.NoGPU as missing:
        output.print(str(missing), highlight=False)
    for action in arguments.listed._choices_actions:
        output.print(f"mmsim gpu {action.dest:<12} {action.help}", highlight=False)
    return 0


def counters(arguments: argparse.Namespace) -> int:
    if arguments.banks:
        return banks(arguments)
    from mmsim import gpu
    from mmsim.gpu.counting import registered_programs, to_record
    from mmsim.reports.gpu import counters_summary, counters_table, left_out

    programs = [load_program(target) for target in arguments.programs] or registered_programs()
    if not programs:
        raise CommandError("no installed package registers programs; name some, as MODULE:NAME")
    with status("counting"):
        found = gpu.counters(programs)
    if arguments.json is not None:
        save(to_record(found, " ".join(["mmsim gpu counters", *arguments.programs])), arguments)
    output = console()
    for line in left_out(found):
        output.print(line, highlight=False)
    output.print(counters_table(found))
    output.print(counters_summary(found), highlight=False)
    return 1 if found.unexplained else 0


def banks(arguments: argparse.Namespace) -> int:
    from mmsim.gpu.banks import measured
    from mmsim.reports.gpu import banks_table

    if arguments.programs:
        raise CommandError("--banks counts patterns of addresses; leave out the programs")
    command = "mmsim gpu counters --banks"
    with status("counting") as shown:
        for record in measured(command, lambda text: shown.update(f"counting: {text}")):
            save(record, arguments)  # what there is so far is not lost
    console().print(banks_table(record))
    return int(any(row["equal"] != row["patterns"] for row in record.rows))


def calibrate(arguments: argparse.Namespace) -> int:
    if arguments.cache:
        return calibrate_cache(arguments)
    from mmsim import gpu
    from mmsim.gpu.facts import facts
    from mmsim.gpu.record import Record

    known = facts("mmsim gpu calibrate")
    with status("calibrating") as shown:
        found = gpu.calibrate(lambda text: shown.update(f"calibrating: {text}"))
    save(Record("calibration", known, (found.to_dict(),)), arguments)
    output = console()
    for name, value in found.to_dict().items():
        output.print(f"{name}: {value}", highlight=False)
    for machine in (found.dmm, found.umm, found.hmm):
        output.print(str(machine), highlight=False)
    return 0


def calibrate_cache(arguments: argparse.Namespace) -> int:
    from mmsim.gpu.cache_calibration import measured, numbers

    command = "mmsim gpu calibrate --cache"
    with status("calibrating") as shown:

        def say(text: str) -> None:
            shown.update(f"calibrating: {text}")
            if not shown.console.is_terminal:
                shown.console.print(text, highlight=False, markup=False)

        for record in measured(command, say):
            save(record, arguments)  # what there is so far is not lost
    output = console()
    for name, value in numbers(record).items():
        output.print(f"{name}: {value:,.4g} ps", highlight=False)
    if "not counted" in record.facts:
        output.print(f"without counts: {record.facts['not counted']}", highlight=False)
    return 0


def atomics(arguments: argparse.Namespace) -> int:
    from mmsim.gpu.atomics import measured
    from mmsim.reports.gpu import atomics_counts, atomics_cycles

    with status("atomics") as shown:
        for record in measured("mmsim gpu atomics", lambda text: shown.update(f"atomics: {text}")):
            save(record, arguments)  # the times are not lost if nothing can be counted
    output = console()
    output.print(atomics_cycles(record))
    output.print(atomics_counts(record))
    return 0


def reproduce(arguments: argparse.Namespace) -> int:
    from mmsim import gpu
    from mmsim.gpu import signed
    from mmsim.gpu.experiment import Conditions, choose_experiment, registered_experiments
    from mmsim.gpu.facts import facts
    from mmsim.gpu.record import Record
    from mmsim.reports.gpu import measured_summary, measured_table

    output = console()
    if arguments.experiment is None:
        for one in registered_experiments().values():
            output.print(f"{one.name:<8} {one.title}", highlight=False)
        return 0
    experiment = choose_experiment(arguments.experiment)
    words = ["mmsim gpu reproduce", experiment.name]
    words += [] if arguments.most is None else ["--most", str(arguments.most)]
    words += ["--measure-only"] * arguments.measure_only
    named = (
        {}
        if arguments.predicted is None
        else {signed.NAMED: signed.checked_seal(arguments.predicted)}
    )
    known = facts(" ".join(words))
    with status(experiment.name) as shown:

        def say(text: str) -> None:
            shown.update(f"{experiment.name}: {text}")

        if arguments.calibration is None:
            calibration = gpu.calibrate(say)
        else:
            calibration = gpu.Calibration.read(arguments.calibration)
            if calibration.device != known["device"]:
                raise MMSimError(
                    f"{arguments.calibration} is the calibration of {calibration.device}, but the "
                    f"GPU here is {known['device']}; leave out --calibration to measure it"
                )
        about = {"unit": experiment.unit, **named, "calibration": calibration.to_dict()}
        record = Record(experiment.name, {**known, **about}, ())
        conditions = Conditions(calibration, arguments.most, say)
        for row in experiment.rows(conditions, predict=not arguments.measure_only):
            record = replace(record, rows=(*record.rows, row))
            save(record, arguments)  # what there is so far is not lost
    shown_record = replace(record, rows=tuple(experiment.shown(record.rows)))
    output.print(measured_table(shown_record, experiment.title))
    output.print(measured_summary(shown_record), highlight=False)
    return 0


def save(record: Record, arguments: argparse.Namespace) -> None:
    """Write a record to the file of `--json`."""

    if arguments.json is not None:
        save_text(arguments.json, record.to_json())
