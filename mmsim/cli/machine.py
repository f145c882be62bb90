"""The options that choose a machine: the kinds by name, and the numbers that they take."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import Field, fields, replace
from typing import Any

from mmsim.api.cards import card
from mmsim.api.machines import KINDS, Cached, Machine
from mmsim.cli.loading import CommandError
from mmsim.errors import MachineError, shown
from mmsim.model.card import names

DEFAULTS = {"machine": "dmm", "width": 32, "latency": 5, "shared_latency": 1, "dmms": 1}
"""The defaults of the options that every kind needs, and of those that its help names."""
HELP = {
    "width": "w",
    "latency": "l, or L of the HMM's global memory",
    "shared_latency": "of an HMM",
    "dmms": "d of an HMM",
    "bank_bytes": "bytes of a bank, 4 on a GPU; without it a word holds an element",
}
"""The options with a help text. The others are for one kind; `--machine` names them."""


def fields_by_option(kind: str) -> dict[str, Field[Any]]:
    """The fields of a kind by the options that set them: `latency` is its first memory's.

    >>> list(fields_by_option("hmm"))
    ['dmms', 'width', 'latency', 'shared_latency', 'bank_bytes']
    """
    found = KINDS.get(kind, Cached)  # a card takes the numbers of the HMM with a cache
    first = found.first_latency
    return {"latency" if one.name == first else one.name: one for one in fields(found)}


OPTIONS = {name: one for kind in KINDS for name, one in fields_by_option(kind).items()}
"""The options of all kinds, each with its field."""
OWN = tuple(name for name in OPTIONS if name not in HELP)
"""The options that only one kind takes, without a help text of their own."""
SEVERAL = (
    f"{', '.join(KINDS)}, or a card as h200. `cached` is the HMM with a cache. It takes the "
    "numbers of mm.Cached too, as --sectors 4"
)


def add_machine_options(
    parser: argparse.ArgumentParser, defaults: Mapping[str, object] = DEFAULTS
) -> None:
    """Add the options, with the defaults that their help names; those not given are None."""
    parser.add_argument(
        "--machine", type=machine_name, help=f"{SEVERAL} (default: {defaults['machine']})"
    )
    for name in (*HELP, *OWN):
        text = HELP.get(name, argparse.SUPPRESS)
        if name in defaults:
            text += f" (default: {defaults[name]})"
        parser.add_argument(f"--{name.replace('_', '-')}", type=type_of(name), help=text)


def machine_name(text: str) -> str:
    """A kind of machine, or a card, for argparse."""
    if text not in KINDS:
        try:
            card(text)
        except MachineError:
            known = ", ".join([*KINDS, *names()])
            raise argparse.ArgumentTypeError(f"{shown(text)} is none of {known}") from None
    return text


def type_of(option: str) -> Any:
    """The type of an option's value for argparse."""
    return _sizes if "tuple" in str(OPTIONS[option].type) else int


def _sizes(text: str) -> str:
    """One number, or several as 6,4,6."""
    if not all(part.isdecimal() and len(part) < 20 for part in text.split(",")):
        raise argparse.ArgumentTypeError(
            f"{shown(text)} is not a number or a list of numbers, as 6,4,6"
        )
    return text


def machine_named(machine: str | None = None, **given: Any) -> Machine:
    """The machine of some options; others than a machine's are left out, and so is None.

    >>> machine_named("hmm", width=4, dmms=2), machine_named("umm", latency=3, seed=0)
    (HMM(dmms=2, width=4, global_latency=5, shared_latency=1), UMM(width=32, latency=3))
    """
    chosen = str(machine or DEFAULTS["machine"])
    if chosen not in KINDS:
        return replace(card(chosen), **numbers_of(chosen, given))
    numbers = numbers_of(chosen, given)
    takes = fields_by_option(chosen)
    for name in DEFAULTS.keys() & takes.keys():
        numbers.setdefault(takes[name].name, DEFAULTS[name])
    made: Machine = KINDS[chosen](**numbers)
    return made


def numbers_of(kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that options set; refuses numbers that this kind of machine lacks."""
    takes, numbers = fields_by_option(kind), {}
    for name in OPTIONS:
        value = given.get(name)
        if value is None:
            continue
        if name not in takes:
            others = [other for other in KINDS if name in fields_by_option(other)]
            raise CommandError(
                f"--{name.replace('_', '-')} is not a number of a {kind}; leave it out, or take "
                f"--machine {' or '.join(others)}"
            )
        if isinstance(value, str):
            parts = tuple(map(int, value.split(",")))
            value = parts if "," in value else parts[0]
        numbers[takes[name].name] = value
    return numbers
