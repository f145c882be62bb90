"""`mmsim reproduce TABLE`: a paper's table beside ours."""

from __future__ import annotations

import argparse
from typing import Any

from mmsim.cli.output import console


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "reproduce",
        help="compute a paper's table again",
        description="Compute a table of a paper again and print it beside the paper's, with the "
        "differences. Exit status 1 if a difference is more than rounding and chance explain. "
        "Without TABLE, list the tables.",
    )
    parser.add_argument("table", nargs="?", metavar="TABLE", help="as RAP-T2")
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    from mmsim.claims.table import choose_table, registered_tables
    from mmsim.reports.papertables import list_of_tables, paper_table, verdict_of_table

    output = console()
    tables = registered_tables()
    if arguments.table is None:
        output.print(list_of_tables(tables))
        return 0
    table = choose_table(tables, arguments.table)
    figures = list(table.figures())
    output.print(paper_table(table, figures))
    output.print(verdict_of_table(figures), highlight=False)
    return 0 if all(figure.explained for figure in figures) else 1
