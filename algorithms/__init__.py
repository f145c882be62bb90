"""Algorithms of the papers and of the field, a folder for each family: `mmsim_algorithms`.

A family's folder has its programs in the paper's notation, with the host code that prepares their
arguments (`programs`, or a file for each machine). The paper's claims about them stand in modules
whose names end in `claims`; `cases` has the checked runs that many claims share. A family of
textbook programs has no claims. The folder itself exports the most important names:
`mmsim_algorithms.transpose:diagonal`.

Other folders measure and print: `reports` has the papers' tables and the ledger, `drawings` their
figures, `bench` the simulator's speed, `gpu` a real GPU. A module registers itself: no list names
it.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

from mmsim import Program

if TYPE_CHECKING:
    from types import ModuleType

    from mmsim.bench import Benchmark
    from mmsim.claims import Claim, PaperTable
    from mmsim.claims.printed import Drawing, PrintedItem
    from mmsim.gpu.experiment import Campaign, Cards, Experiment

APART = ("reports", "drawings", "bench", "gpu")
"""The folders that measure and print: they are no families."""
FIELD = (
    *("sums", "prefix_sums", "summed_area", "product", "sorting", "convolution", "bulk"),
    *("fragments", "triangulation", "stencil", "sparse", "histogram", "string_matching"),
    *("dynamic_programming", "fft"),
)
"""The families of the field's algorithms, beyond the five papers."""
PAPERS = (
    *("SMM", "CFP", "ICPP", "IEICE", "RAP"),
    *("SUM", "SCAN", "SAT", "MATMUL", "SORT"),
    *("CONV", "ASM", "DP", "BULK"),
    *("LIST", "POLY", "FFT", "STENCIL", "HIST", "SPMV"),
)
"""The five papers by their short names, then the families that draw on several papers."""


def claims() -> list[Claim]:
    """All claims, paper by paper, then family by family (the entry point of `mmsim verify`).

    A paper's claims stand in the order of its sections; each module of claims states its SECTION.
    """
    found = [
        (PAPERS.index(claim.paper), module.SECTION, claim)
        for family in _folders()
        for module in _modules(family, "claims")
        for claim in module.CLAIMS
    ]
    return [claim for _, _, claim in sorted(found, key=lambda one: one[:2])]


def tables() -> list[PaperTable]:
    """All tables that can be computed again (the entry point of `mmsim reproduce`)."""
    return [table for module in _modules("reports", "tables") for table in module.TABLES]


def figures() -> list[Drawing]:
    """All figures that can be drawn again (the entry point of `mmsim reproduce`)."""
    return [one for module in _modules("drawings", "figures") for one in module.DRAWINGS]


def contents() -> list[PrintedItem]:
    """All tables and figures that the papers print (the entry point of `mmsim reproduce`)."""
    from mmsim_algorithms.drawings.contents import CONTENTS

    return CONTENTS


def programs() -> list[Program]:
    """All programs that have an example, family by family.

    They are the entry point of `mmsim list` and `mmsim gpu`.
    """
    from mmsim_algorithms.catalogue import CATALOGUE

    families = [folder for folder in _folders() if folder not in APART]
    modules = [module for family in families for module in _modules(family, without="claims")]
    found = [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Program)
        and value.function.__module__ == module.__name__
        and value.has_example
    ]
    for program in found:
        name = f"{program.function.__module__}:{program.name}".removeprefix(f"{__name__}.")
        program.listed = CATALOGUE.get(name, program.listed)
    return found


def benchmarks() -> list[Benchmark]:
    """All benchmarks (the entry point of `mmsim bench`)."""
    return [one for module in _modules("bench") for one in module.BENCHMARKS]


def experiments() -> list[Experiment | Campaign | Cards]:
    """The papers' measurements, campaigns and cards (the entry point of `mmsim gpu`)."""
    from mmsim_algorithms.gpu.campaigns import CAMPAIGNS, CARDS

    tables = [one for module in _modules("gpu", "tables") for one in module.EXPERIMENTS]
    return [*tables, *CAMPAIGNS, CARDS]


def _folders() -> list[str]:
    return sorted(found.name for found in pkgutil.iter_modules(__path__) if found.ispkg)


def _names(folder: str, ending: str = "") -> list[str]:
    """Return the names of a folder's modules with this ending, in order, without importing any."""
    places = [f"{place}/{folder}" for place in __path__]
    found = pkgutil.iter_modules(places)
    return sorted(one.name for one in found if not one.ispkg and one.name.endswith(ending))


def _modules(folder: str, ending: str = "", without: str | None = None) -> list[ModuleType]:
    """Import the modules of a folder with this ending, but none with an ending in `without`."""
    return [
        importlib.import_module(f"{__name__}.{folder}.{name}")
        for name in _names(folder, ending)
        if without is None or not name.endswith(without)
    ]
