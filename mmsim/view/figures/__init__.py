"""Figures of runs, drawn with matplotlib and ready for a paper: `mmsim.figures`.

Each function takes a run, or data, and returns the `Axes` that it drew on. Without `axes` it makes
new ones as wide as a column (3.3 inches; some are as wide as a page). Colour alone distinguishes
nothing. matplotlib is loaded when the first figure is drawn.
"""

from mmsim.host.guesses import guessed_in
from mmsim.model.drawn import FIGURES
from mmsim.view.figures.access import access
from mmsim.view.figures.banks import banks
from mmsim.view.figures.claim import claim
from mmsim.view.figures.conflicts import conflicts
from mmsim.view.figures.layout import layout
from mmsim.view.figures.paper import save
from mmsim.view.figures.pipeline import pipeline
from mmsim.view.figures.roofline import roofline
from mmsim.view.figures.stages import lines, plot, rounds
from mmsim.view.figures.sweep import sweep
from mmsim.view.figures.terms import formulas, terms
from mmsim.view.figures.times import times
from mmsim.view.figures.warps import warps

__all__ = [
    "access",
    "banks",
    "claim",
    "conflicts",
    "formulas",
    "layout",
    "lines",
    "pipeline",
    "plot",
    "roofline",
    "rounds",
    "save",
    "sweep",
    "terms",
    "times",
    "warps",
]

guessed_in(
    __name__,
    "mm.figures",
    __all__,
    {
        "timeline gantt": "mm.figures.warps(run)",
        "heatmap bank_conflicts": "mm.figures.banks(run)",
        "savefig to_file": "mm.figures.save(axes, path)",
        "show run": "mm.figures.plot(run)",
        "profile": "mm.figures.lines(run)",
        "compare": "mm.compare(first, second).plot()",
    },
)

FIGURES.update(claim=claim, layout=layout, conflicts=conflicts)
