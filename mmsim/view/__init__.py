"""Everything that shows results: tables, figures and the player.

The functions of this file give the forms of a result: plain text, HTML for a notebook, what Rich
prints, and LaTeX. A `Tabular` result shows itself by them; they are entered in `FORMS`.
"""

from __future__ import annotations

from typing import Any

from mmsim.tabular import FORMS
from mmsim.view.tables import Table, rich_table, table_html, table_text, tables


def tables_of(value: Any) -> list[Table]:
    """Return the tables that show a result.

    Only the results of claims, sweeps and comparisons need more than the tables of a run: what
    makes theirs is loaded here, when the first of them is shown.
    """
    if tables.dispatch(type(value)) is tables.dispatch(object):
        from mmsim.view import cases as cases  # enters its tables
    return tables(value)


def text(value: Any) -> str:
    """Return a result as plain text: its tables one below the other."""
    return "\n\n".join(map(table_text, tables_of(value)))


def html(value: Any) -> str:
    """Return a result as HTML for a notebook. Names of programs and arrays are escaped."""
    return "".join(map(table_html, tables_of(value)))


def rich(value: Any) -> object:
    """Return a result as something that Rich prints."""
    from rich.console import Group

    return Group(*map(rich_table, tables_of(value)))


def latex(value: Any) -> str:
    """Return a result as LaTeX: its tables one below the other."""
    from mmsim.view.cases import table_latex

    return "\n".join(map(table_latex, tables_of(value)))


FORMS.update(text=text, html=html, rich=rich, latex=latex)
