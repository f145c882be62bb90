"""`mmsim sweep PROGRAM --width 4 8 16 --out rows.jsonl`: many runs, in parallel, into a file."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from mmsim.api.machines import KINDS
from mmsim.claims import Claim, choose, registered
from mmsim.cli import machine
from mmsim.cli.loading import CommandError, load, load_program
from mmsim.cli.output import add_targets, save, show
from mmsim.cli.trial import LAYOUTS, RANDOM, SIZES, filled, layout_name, needs_threads, trial
from mmsim.cli.values import SEED, at_least, extents, jobs
from mmsim.frontend.program import Program
from mmsim.printable import printable, printable_lines
from mmsim.sweeps import sweep
from mmsim.sweeps.rows import FACTS, SweepRow, differing
from mmsim.sweeps.workers import by_value
from mmsim.view import figures
from mmsim.view.figures.paper import check_suffix
from mmsim.view.tables import Column, rich_rows

USAGE = """\
Every combination of the values given is a case. Without --arguments each program's own example is
run, at --size and --seed. Arguments are those of `mmsim run`; {size}, {width}, {threads} and the
other numbers of a case may stand in them, and permutation:{size} takes those of --permutation.

  mmsim sweep mmsim_algorithms.access:stride --width 4 8 16 32 --size 4096 --threads 128 \\
      --out rows.jsonl --plot stride.svg --over width --claim SMM-T3.1b
  mmsim sweep mmsim_algorithms.rap:crsw_to mmsim_algorithms.rap:drdw_to --layout RAW RAS RAP \\
      --width 8 16 32 --out rows.jsonl
  mmsim sweep mine.py:permute --arguments arange:{size} permutation:{size} zeros:{size} \\
      --permutation random mmsim_algorithms.permutations:shuffle \\
      --size 1024 4096 --threads size --out rows.jsonl

The file has one JSON object per line. The same call again runs the cases that it lacks, after a
kill too."""

OPTIONAL = (*SIZES, "size", "layout", "bank_bytes", *machine.OWN)
"""Optional parameters: a case has them only if they are given."""
FEW = 40
LONG = 1000
"""The most characters of a printed message; the row has all of them."""
SHOWN = ("time", "stages", "least")


ABOUT = {
    "description": "Run programs over a grid of parameters, in parallel, into a file. Exit status "
    "1 if a case failed; its row says why.",
    "epilog": USAGE,
    "formatter_class": argparse.RawDescriptionHelpFormatter,
}


def add_options(parser: argparse.ArgumentParser) -> None:
    whole: Any = at_least(1)
    words: Any = {"nargs": "+"}
    add = parser.add_argument
    add("programs", **words, metavar="PROGRAM", help="MODULE:NAME or FILE.py:NAME")
    add("--out", type=Path, required=True, metavar="FILE", help="for the rows, as rows.jsonl")
    add(
        "--machine",
        **words,
        type=machine.machine_name,
        default=["dmm"],
        help=f"{machine.SEVERAL} (default: dmm)",
    )
    add("--width", **words, type=whole, metavar="W", help="(default: 32)")
    add("--latency", **words, type=whole, metavar="L", help="(default: 5)")
    add("--dmms", **words, type=whole, metavar="D", help="of an HMM (default: 1)")
    add("--shared-latency", **words, type=whole, metavar="L", help="of an HMM (default: 1)")
    for name in ("bank_bytes", *machine.OWN):
        text = machine.HELP.get(name, argparse.SUPPRESS)
        add(
            f"--{name.replace('_', '-')}",
            **words,
            type=machine.type_of(name),
            metavar="N",
            help=text,
        )
    add("--schedule", **words, choices=("synchronous", "asynchronous"), default=["synchronous"])
    each = "p, or `size`: a thread for each word"
    add("--threads", **words, type=threads, metavar="P", help=each)
    add("--block-size", **words, type=whole, metavar="B", help="threads of a block (default: all)")
    add("--grid", **words, type=text_of_extents, metavar="G", help="blocks along x, y, z, as 4x2")
    add("--block", **words, type=text_of_extents, metavar="B", help="threads along x, y, z")
    add("--size", **words, type=whole, metavar="N", help="number of words")
    add("--seed", **words, type=SEED, metavar="N", default=[0], help="(default: 0)")
    arrays = "of every array of two or more dimensions"
    add("--layout", **words, type=layout_name, choices=LAYOUTS, help=arrays)
    add("--arguments", **words, metavar="ARGUMENT", help="after T, in order, as zeros:{size}")
    add("--permutation", **words, metavar="NAME", help="random, or MODULE:FUNCTION of a size")
    add("--jobs", type=jobs, metavar="N", help="processes (default: one a core)")
    add("--retry-failed", action="store_true", help="run the cases again that failed")
    add("--retry-changed", action="store_true", help="and those whose program has changed since")
    add_targets(parser, plot="draw the times: .svg, .pdf or .png")
    add("--over", metavar="NAME", help="the parameter of the figure's axis, as width")
    add("--claim", metavar="ID", help="the claim whose formula is drawn over the times")


def threads(text: str) -> int | str:
    """A number of threads, for argparse, or the word size."""
    return text if text == "size" else at_least(1)(text)


def text_of_extents(text: str) -> str:
    """Extents as the text for a row, for argparse."""
    return "x".join(map(str, extents(text)))


def command(arguments: argparse.Namespace) -> int:
    claim = _plotted(arguments)
    chosen = cases(arguments)
    if arguments.plot is not None:
        _check_axis(arguments.over, chosen)
    how = {name: getattr(arguments, name) for name in ("jobs", "retry_failed", "retry_changed")}
    rows = sweep(trial, chosen, arguments.out, **how)
    table = sweep_table(rows)
    show(*([] if table is None else [table]), sweep_summary(rows, arguments.out))
    if arguments.plot is not None:
        save(arguments.plot, partial(figures.save, figures.sweep(rows, arguments.over, claim)))
    return 1 if any(row["error"] is not None for row in rows) else 0


def cases(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Every combination of the given values, for `trial`."""
    programs = [_program(target, arguments) for target in arguments.programs]
    axes: dict[str, list[Any]] = {"program": programs, "machine": arguments.machine}
    kinds = {kind: machine.fields_by_option(kind) for kind in arguments.machine}
    for name in ("width", "latency", "dmms", "shared_latency", "schedule", "seed", *OPTIONAL):
        values = getattr(arguments, name)
        if values is None and name in machine.DEFAULTS:
            values = [machine.DEFAULTS[name]]
        elif values is not None and name in machine.OPTIONS.keys() - set().union(*kinds.values()):
            machine.numbers_of(next(iter(kinds)), {name: 1})  # refuses it; others have no such axis
        if values is not None:
            axes[name] = values
    if arguments.permutation is not None:
        axes["permutation"] = [_permutation(target) for target in arguments.permutation]
    if arguments.arguments is not None:
        axes["arguments"] = [tuple(arguments.arguments)]
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for chosen in product(*axes.values()):
        case = dict(zip(axes, chosen, strict=True))
        lacks = machine.OPTIONS.keys() - kinds[case["machine"]].keys()
        if case["machine"] not in KINDS:  # a card has its own numbers
            lacks |= {name for name in machine.DEFAULTS if getattr(arguments, name) is None}
        case = {name: value for name, value in case.items() if name not in lacks}
        if case.get("threads") == "size":
            case["threads"] = case["size"]
        if tuple(case.items()) not in found:  # a DMM has no number of DMMs
            found[tuple(case.items())] = case
            machine.machine_named(**case)
            for text in case.get("arguments", ()):
                filled(text, case)
    return list(found.values())


def _program(target: str, arguments: argparse.Namespace) -> Program:
    """Return a program. It must have arguments and a number of threads."""
    program = load_program(target)
    if arguments.arguments is not None:
        needs_threads(vars(arguments))
    elif not program.has_example:
        raise CommandError(f"the program {program.name!r} has no example; give --arguments")
    _send_along(target, program.function)
    if arguments.threads is not None and "size" in arguments.threads and arguments.size is None:
        raise CommandError("--threads size needs --size")
    taking = [text for text in arguments.arguments or () if text.startswith("permutation:")]
    if arguments.permutation is not None and not taking:
        raise CommandError("--permutation is for an argument such as permutation:{size}; give one")
    return program


def _permutation(target: str) -> Any:
    if target == RANDOM:
        return RANDOM
    function = load(target)
    if isinstance(function, Program) or not callable(function):
        raise CommandError(f"{target} is not a function of a size that gives a permutation")
    _send_along(target, function)
    return function


def _send_along(target: str, function: Any) -> None:
    """Send a file's function by value, as other processes can't import a file by name."""
    if target.rpartition(":")[0].endswith(".py"):
        by_value(function.__module__)


def _plotted(arguments: argparse.Namespace) -> Claim | None:
    """Return the claim to draw. Raises `CommandError` before the work if no figure is possible."""
    if arguments.plot is None:
        if arguments.over is not None or arguments.claim is not None:
            raise CommandError("--over and --claim are for a figure; give --plot FILE")
        return None
    check_suffix(arguments.plot)
    if arguments.over is None:
        raise CommandError("say with --over which parameter the figure's axis has, as --over width")
    if arguments.claim is None:
        return None
    found = {claim.id: claim for claim in choose(registered(), [arguments.claim])}
    if arguments.claim not in found:
        raise CommandError(f"--claim takes one claim; there are {', '.join(found)}")
    return found[arguments.claim]


def _check_axis(over: str, cases: list[dict[str, Any]]) -> None:
    """Raise `CommandError` before the work for a parameter that the rows won't have."""
    known = dict.fromkeys((*(name for case in cases for name in case), *FACTS))
    if over not in known:
        raise CommandError(f"--over takes a parameter, not {over!r}; there are {', '.join(known)}")


def sweep_table(rows: Sequence[SweepRow]) -> object:
    """The parameters in which rows differ, and the results; None if a screen can't show them."""
    if len(rows) > FEW:
        return None
    names = differing(rows)
    columns = [
        Column(name.replace("_", " "), not any(isinstance(row.get(name), str) for row in rows))
        for name in (*names, *SHOWN)
    ]
    cells = []
    for row in rows:
        results = map(row.get, SHOWN) if row["error"] is None else (row["error"], None, None)
        values = (*map(row.get, names), *results)
        cells.append(["" if value is None else str(value) for value in values])
    return rich_rows(columns, cells)


def sweep_summary(rows: Sequence[SweepRow], path: Path) -> str:
    """The number of rows, their errors, and the first error's message."""
    text = f"{len(rows)} cases in {path}"
    failed = [row for row in rows if row["error"] is not None]
    if not failed:
        return text
    counts = Counter(row["error"] for row in failed).most_common()
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts)
    message: str = failed[0]["message"]
    short = message if len(message) <= LONG else f"{message[:LONG]} ..."
    return f"{text}; {len(failed)} failed ({printable(kinds)}), the first: {printable_lines(short)}"
