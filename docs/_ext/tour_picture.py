"""The picture of the tour: the rooms that one run goes through, floor by floor.

python docs/_ext/tour_picture.py docs/figures/tour.svg
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from mmsim.view.figures.paper import COLOURS, LETTERS, PAGE, drawing, save


class Step(NamedTuple):
    """A step of the run: the room that takes it, its file there, and what it does, in two lines."""

    room: str
    file: str
    does: str


STEPS = (
    Step("api", "machines.py", "Machine.run\ntakes the call"),
    Step("meaning", "launch.py", "checks and binds\nthe arguments"),
    Step("engines", "selection.py", "picks the\nengine"),
    Step("meaning", "meaning.py", "computes, up to\nthe next access"),
    Step("model", "conflicts.py", "counts its\nstages"),
    Step("model", "rounds.py", "times the\nround"),
    Step("engines", "tally.py", "adds up\nthe counts"),
    Step("results", "run.py", "holds them as\nplain data"),
    Step("api", "result.py", "the Run that\nusers see"),
)
FOR_EACH_ACCESS = (4, 5, 6)
"""The steps, counted from 1, that are taken for each access of the program."""

ROOMS = ("api", "engines", "meaning", "results", "model", "frontend", "ir")
"""The rooms, the highest floor first."""

BEFORE = {
    "frontend": (
        "python/parse.py",
        "before, at @mm.program: turns the text of the function into a tree",
    ),
    "ir": ("nodes.py", "the nodes of this tree, which step 4 executes"),
}
"""The rooms that have done their work before the run, each with a file."""


def picture(path: Path) -> None:
    """Draw the steps from left to right, each in the row of its room."""
    with drawing(None, PAGE, 3.6) as axes:
        for row, room in enumerate(ROOMS):
            axes.axhspan(-row - 0.46, -row + 0.46, color="#f0f0f0", lw=0)
            axes.text(-0.75, -row, room, ha="right", va="center", weight="bold", fontsize=8)
            if room in BEFORE:
                axes.text(-0.5, -row, " – ".join(BEFORE[room]), va="center", fontsize=LETTERS)
        places = [(number, -ROOMS.index(step.room)) for number, step in enumerate(STEPS)]
        for (x, y), (further, below) in pairwise(places):
            side = 0.34 if below < y else -0.34
            ends = (further, below + side), (x, y - side)
            if below == y:
                ends = (further - 0.4, y), (x + 0.4, y)
            axes.annotate("", *ends, arrowprops={"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0})
        for number, ((x, y), step) in enumerate(zip(places, STEPS, strict=True), 1):
            box = {
                "boxstyle": "round,pad=0.25",
                "facecolor": COLOURS[3] if number in FOR_EACH_ACCESS else "white",
                "linewidth": 0.6,
            }
            text = f"{number}  {step.file}\n{step.does}"
            axes.text(x, y, text, ha="center", va="center", fontsize=6, bbox=box)
        axes.text(2.2, -4, "4, 5 and 6:\nfor each access", ha="center", va="center")
        axes.set(xlim=(-1.75, len(STEPS) - 0.4), ylim=(-len(ROOMS) + 0.5, 0.5))
        axes.axis("off")
        save(axes, path)


if __name__ == "__main__":
    picture(Path(sys.argv[1]))
