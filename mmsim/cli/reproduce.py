"""`mmsim reproduce ID`: a paper's table, computed again and compared, or its figure."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mmsim.claims import printed
from mmsim.claims.claim import ClaimError
from mmsim.cli.output import add_targets, check_target, complain, save, show, status

if TYPE_CHECKING:
    from mmsim.gpu.experiment import Experiment
    from mmsim.gpu.record import Record


ABOUT = {
    "description": "Compute a table of a paper again, print it next to the paper's, with the "
    "differences, and where the paper measured times, those kept of a GPU and the model's; or draw "
    "a figure of a paper again, from runs of the programs, and save it. Exit status 1 if a "
    "difference is more than rounding and chance explain, or if the runs give something else than "
    "the paper's figure shows."
}


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("id", nargs="?", metavar="ID", help="as RAP-T2 or SMM-F5 (default: list)")
    add_targets(parser, output="where to save the figure: .svg, .png or .pdf (default: ID.svg)")
    every = "list all tables and figures of the papers: made from what, by which command, or why "
    add("--list", action="store_true", help=f"{every}left out")


def command(arguments: argparse.Namespace) -> int:
    from mmsim.gpu.experiment import registered_experiments
    from mmsim.reports.contents import list_of_contents, missing, reproductions

    tables, drawings = printed.registered_tables(), printed.registered_drawings()
    experiments = registered_experiments()
    every: list[printed.PaperTable | printed.Drawing] = [*tables, *drawings]
    known = {one.id: one for one in every}
    timed = {name: one.kept for name, one in experiments.items() if one.kept is not None}
    wanted = arguments.id
    if not arguments.list and (wanted in known or wanted in timed):
        chosen = known.get(wanted)
        if isinstance(chosen, printed.Drawing):
            return draw(chosen, arguments.output or Path(f"{chosen.id}.svg"))
        if arguments.output is not None:
            raise ClaimError(f"{wanted} is a table, which is printed; --output is for figures")
        code = 0 if chosen is None else compare(chosen)
        if wanted in timed:
            show_times(experiments[wanted], timed[wanted])
        return code
    found = reproductions(printed.registered_contents(), tables, drawings, experiments.values())
    if wanted is not None and not arguments.list:
        raise ClaimError(missing(wanted, found, [*known, *timed]))
    show(list_of_contents(found))
    return 0


def compare(table: printed.PaperTable) -> int:
    """Print a computed table next to the paper's."""
    from mmsim.reports.contents import paper_table, verdict_of_table

    figures = list(table.figures())
    show(paper_table(table, figures), verdict_of_table(figures))
    return 0 if all(figure.explained for figure in figures) else 1


def show_times(experiment: Experiment, kept: Callable[[], Record]) -> None:
    """Print the kept times of a GPU next to the paper's and the model's."""
    from mmsim.reports.gpu import kept_summary, measured_table

    with status(f"predicting {experiment.name}"):
        record = kept()
    show(measured_table(record, experiment.title), kept_summary(record))


def draw(drawing: printed.Drawing, path: Path) -> int:
    """Draw a figure and save it."""
    from mmsim.view.figures.paper import check_suffix, save_figure

    check_suffix(path)
    check_target(path)
    try:
        figure = drawing.draw()
    except ClaimError as error:
        complain(f"{drawing.id} is not as in the paper: {error}")
        return 1
    save(path, partial(save_figure, figure))
    notes = [drawing.note] if drawing.note else []
    title = f"{drawing.id} ({drawing.source}): {drawing.title}"
    show(title, f"made: {drawing.made}", *notes, f"saved as {path}")
    return 0
