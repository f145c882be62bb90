"""The reference of the command line, made from the parsers that read it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from sphinx.application import Sphinx

from mmsim.cli.commands import make_parser

MARK = "<!-- commands -->"
WIDTH = 88


def commands(parser: argparse.ArgumentParser, level: int = 2) -> Iterator[str]:
    """Markdown on a parser's commands, each followed by its own."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield f"{'#' * level} {command.prog}"
                yield from one(command)
                yield from commands(command, level + 1)


def one(command: argparse.ArgumentParser) -> Iterator[str]:
    """Markdown on one command: how it is called, what it does, its arguments and options."""
    usage = argparse.HelpFormatter(command.prog, width=WIDTH, max_help_position=WIDTH)
    usage.add_usage(command.usage, command._actions, command._mutually_exclusive_groups, "")
    yield f"```text\n{usage.format_help().strip()}\n```"
    if command.description:
        yield plain(command.description)
    shown = [
        action
        for action in command._actions
        if not isinstance(action, argparse._SubParsersAction | argparse._HelpAction)
    ]
    for action in shown:
        yield f"{name(action)}\n: {plain(action.help or '')}"
    if command.epilog:
        yield f"```text\n{command.epilog}\n```"


def name(action: argparse.Action) -> str:
    """An option with its value, an argument as it is called in the usage."""
    value = action.metavar or (
        "{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper()
    )
    if not action.option_strings:
        return f"`{action.metavar or action.dest}`"
    takes = "" if action.nargs == 0 else f" {value}"
    return ", ".join(f"`{option}{takes}`" for option in action.option_strings)


def plain(text: str) -> str:
    """A sentence: as argparse would print it, a capital first and a full stop at the end."""
    text = text.replace("%%", "%").replace("<", r"\<").replace("*", r"\*")
    return text[:1].upper() + text[1:] + ("" if not text or text.endswith((".", ")")) else ".")


def fill_in(app: Sphinx, document: str, source: list[str]) -> None:
    """Replace the mark on a page by the reference."""
    if MARK in source[0]:
        made = "\n\n".join(commands(make_parser()))
        source[0] = source[0].replace(MARK, made)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", fill_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
