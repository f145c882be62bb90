"""`mmsim gpu`: the same programs on the GPU at hand, compared with the models."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mmsim.cli.loading import CommandError, load_program
from mmsim.cli.output import add_targets, check_target, save_text, show, status
from mmsim.errors import MMSimError

if TYPE_CHECKING:
    from mmsim.gpu.record import Record


ABOUT = {
    "description": "What can be done with a real GPU. Without a command, say which GPU there is, "
    "or what is missing, and list the commands."
}


def add_options(parser: argparse.ArgumentParser) -> None:
    subcommands = parser.add_subparsers(title="commands", metavar="COMMAND")
    parser.set_defaults(listed=subcommands)

    def command(call: Callable[..., int], text: str) -> Callable[..., Any]:
        """Add a command, which can save its results; return what adds further options to it."""
        own = subcommands.add_parser(call.__name__, help=text, description=f"{text}.")
        own.set_defaults(command=call)
        add_targets(own, json="save the results as JSON")
        return own.add_argument

    add = command(counters, "compare the GPU's counters of memory accesses with the models' stages")
    text = "MODULE:NAME or FILE.py:NAME, with an example (default: all that are registered)"
    add("programs", nargs="*", metavar="PROGRAM", help=text)
    text = "instead of programs, count patterns of addresses for each kind and width of access"
    add("--banks", action="store_true", help=text)
    add = command(calibrate, "measure the machines that stand for this GPU")
    text = "instead of these machines, measure the second-level cache and the memory"
    add("--cache", action="store_true", help=text)
    text = "instead of these machines, measure what the operations of a multiprocessor take"
    add("--operations", action="store_true", help=text)
    text = (
        "measure all three, and keep them as a card: then mm.card(NAME) and --machine NAME take it"
    )
    add("--save", metavar="NAME", help=text)
    text = "with --save, take them from the files in a folder that --json saved: this needs no GPU"
    add("--from", type=Path, metavar="FOLDER", dest="folder", help=text)
    command(atomics, "compare what atomics take with the model's stages")
    text = "measure a paper's table or figure again, and predict it by the calibrated model"
    add = command(reproduce, text)
    add("experiment", nargs="?", metavar="TABLE", help="as CFP-T2 (default: list)")
    text = "what `mmsim gpu calibrate --json` saved (default: measure it now)"
    add("--calibration", type=Path, metavar="FILE", help=text)
    text = "leave out what the model predicts; that needs no GPU"
    add("--measure-only", action="store_true", help=text)
    text = "signed predictions of these kernels; the results name them by their seal"
    add("--predicted", type=Path, metavar="FILE", help=text)
    add("--most", type=int, metavar="N", help="the largest sqrt n of ICPP's tables")


def command(arguments: argparse.Namespace) -> int:
    """Say which GPU there is."""
    from mmsim import gpu

    try:
        show(str(gpu.device()))
    except gpu.NoGPU as missing:
        show(str(missing))
    commands = arguments.listed._choices_actions
    show(*(f"mmsim gpu {action.dest:<12} {action.help}" for action in commands))
    return 0


def counters(arguments: argparse.Namespace) -> int:
    if arguments.banks:
        if arguments.programs:
            raise CommandError("--banks counts patterns of addresses; leave out the programs")
        return campaign("banks", "mmsim gpu counters --banks", "counting", arguments)
    from mmsim import gpu
    from mmsim.gpu.counting import registered_programs, to_record
    from mmsim.reports.gpu import counters_summary, counters_table, left_out

    programs = [load_program(target) for target in arguments.programs] or registered_programs()
    if not programs:
        raise CommandError("no installed package registers programs; name some, as MODULE:NAME")
    with status("counting"):
        found = gpu.counters(programs)
    called = " ".join(["mmsim gpu counters", *arguments.programs])
    save_text(arguments.json, lambda: to_record(found, called).to_json())
    show(*left_out(found), counters_table(found), counters_summary(found))
    return 1 if found.unexplained else 0


def calibrate(arguments: argparse.Namespace) -> int:
    asked = [name for name in ("cache", "operations", "save") if getattr(arguments, name)]
    if len(asked) > 1:
        raise CommandError(f"write --{asked[0]} or --{asked[1]}, but not both; --save measures all")
    if arguments.folder is not None and asked != ["save"]:
        raise CommandError("--from names the measurements of a card that is saved; add --save NAME")
    if arguments.save is not None:
        return save_card(arguments)
    if asked:
        name = asked[0]
        return campaign(name, f"mmsim gpu calibrate --{name}", "calibrating", arguments)
    from mmsim.gpu.calibrated import Calibration

    with status("calibrating") as say:
        record = plain(say)
    save_text(arguments.json, record.to_json)
    found = Calibration.from_dict(dict(record.rows[0]))
    show(*(f"{name}: {value}" for name, value in found.to_dict().items()))
    show(*map(str, (found.dmm, found.umm, found.hmm)))
    return 0


def plain(say: Callable[[str], None]) -> Record:
    """The record of the machines that stand for the GPU at hand."""
    from mmsim import gpu
    from mmsim.gpu.record import Record
    from mmsim.gpu.signed import facts

    known = facts("mmsim gpu calibrate")
    return Record("calibration", known, (gpu.calibrate(say).to_dict(),))


def save_card(arguments: argparse.Namespace) -> int:
    """Make a card of what is measured, or of the files in a folder, and keep it for the user."""
    from mmsim.gpu.experiment import choose_cards
    from mmsim.model.card import own_file, to_json

    file = own_file(arguments.save)
    file.parent.mkdir(parents=True, exist_ok=True)
    check_target(file)
    cards = choose_cards()
    records = measured_records() if arguments.folder is None else records_in(arguments.folder)
    card = cards.make(file.stem, records)
    save_text(file, lambda: to_json(card))
    save_text(arguments.json, lambda: to_json(card))
    show(f"{card.device} is card {card.name} now, in {file}: mm.card({card.name!r})")
    return 0


def measured_records() -> dict[str, Record]:
    """All that a card needs, measured on the GPU at hand."""
    from mmsim.gpu.experiment import choose_campaign

    with status("calibrating", lines=True) as say:
        found = {"calibration": plain(say)}
        for name in ("operations", "cache"):
            for record in choose_campaign(name).measured(f"mmsim gpu calibrate --{name}", say):
                found[name] = record
    return found


def records_in(folder: Path) -> dict[str, Record]:
    """All that a card needs, from the files in a folder; or `CommandError`."""
    from mmsim.gpu.record import Record

    found = {}
    for name, option in (
        ("calibration", ""),
        ("operations", " --operations"),
        ("cache", " --cache"),
    ):
        file = folder / f"{name}.json"
        if not file.exists():
            raise CommandError(
                f"there is no {file}; `mmsim gpu calibrate{option} --json {file}` measures it"
            )
        found[name] = Record.read(file)
        if found[name].experiment != name:
            raise CommandError(f"{file} has a record of {found[name].experiment}, not of {name}")
    devices = {str(record.facts.get("device")) for record in found.values()}
    if len(devices) > 1:
        raise CommandError(
            f"the files in {folder} are of different GPUs: {' and '.join(sorted(devices))}"
        )
    return found


def atomics(arguments: argparse.Namespace) -> int:
    return campaign("atomics", "mmsim gpu atomics", "atomics", arguments)


def campaign(name: str, words: str, what: str, arguments: argparse.Namespace) -> int:
    """Make a campaign's measurements by the command `words`."""
    from mmsim.gpu.experiment import choose_campaign

    chosen = choose_campaign(name)
    with status(what, lines=name == "cache") as say:
        record = last(chosen.measured(words, say), arguments)
    show(*chosen.shown(record))
    return int(chosen.differs(record))


def reproduce(arguments: argparse.Namespace) -> int:
    from mmsim import gpu
    from mmsim.gpu import signed
    from mmsim.gpu.experiment import Conditions, choose_experiment, registered_experiments
    from mmsim.gpu.record import Record
    from mmsim.gpu.signed import facts
    from mmsim.reports.gpu import measured_summary, measured_table

    if arguments.experiment is None:
        show(*(f"{one.name:<8} {one.title}" for one in registered_experiments().values()))
        return 0
    experiment = choose_experiment(arguments.experiment)
    words = ["mmsim gpu reproduce", experiment.name]
    words += [] if arguments.most is None else ["--most", str(arguments.most)]
    words += ["--measure-only"] * arguments.measure_only
    named = {}
    if arguments.predicted is not None:
        named = {signed.NAMED: signed.checked_seal(arguments.predicted)}
    known = facts(" ".join(words))
    with status(experiment.name) as say:
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
            save_text(arguments.json, record.to_json)  # what there is so far is not lost
    record = replace(record, rows=tuple(experiment.shown(record.rows)))
    show(measured_table(record, experiment.title), measured_summary(record))
    return 0


def last(records: Iterable[Record], arguments: argparse.Namespace) -> Record:
    """The last of records that grow; each is saved, so that what there is so far is not lost."""
    for record in records:
        save_text(arguments.json, record.to_json)
    return record
