"""The papers' algorithms: programs, the host code that prepares them, the claims that they carry.

Each file holds what one part of a paper says about one problem, side by side: the per-thread
program in the paper's notation, what prepares its arguments, and what the paper claims of it.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

from mmsim import Program
from mmsim.claims import Claim, PaperTable

if TYPE_CHECKING:
    from mmsim.bench import Benchmark
    from mmsim.gpu.experiment import Experiment

PAPERS = ("SMM", "CFP", "ICPP", "IEICE", "RAP")


def claims() -> list[Claim]:
    """All claims, paper by paper (the entry point of `mmsim verify`)."""
    from algorithms import (
        access,
        dmm_permutation_claims,
        figures,
        hmm_permutation_claims,
        hmm_regular,
        hmm_rounds,
        many_arrays,
        rap,
        rap_cuda,
        rap_higher,
        transpose,
        umm_permutation,
        umm_transpose,
    )

    found = [
        *figures.CLAIMS,
        *access.CLAIMS,
        *transpose.CLAIMS,
        *umm_transpose.CLAIMS,
        *dmm_permutation_claims.CLAIMS,
        *umm_permutation.CLAIMS,
        *many_arrays.CLAIMS,
        *hmm_rounds.CLAIMS,
        *hmm_permutation_claims.CLAIMS,
        *hmm_regular.CLAIMS,
        *rap.CLAIMS,
        *rap_cuda.CLAIMS,
        *rap_higher.CLAIMS,
    ]
    return sorted(found, key=lambda claim: PAPERS.index(claim.paper))


def tables() -> list[PaperTable]:
    """All tables that can be computed again (the entry point of `mmsim reproduce`)."""
    from algorithms import papertables

    return papertables.TABLES


def programs() -> list[Program]:
    """All programs that have an example, module by module (the entry point of `mmsim gpu`)."""
    found = []
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        content = vars(importlib.import_module(module.name))
        own = (value for value in content.values() if isinstance(value, Program))
        found += [
            program
            for program in own
            if program.function.__module__ == module.name and program.has_example
        ]
    return found


def benchmarks() -> list[Benchmark]:
    """All benchmarks (the entry point of `mmsim bench`)."""
    from algorithms import bench

    return bench.BENCHMARKS


def experiments() -> list[Experiment]:
    """The papers' measurements (the entry point of `mmsim gpu reproduce`)."""
    from algorithms.gpu import global_tables, shared_tables

    return [*shared_tables.EXPERIMENTS, *global_tables.EXPERIMENTS]
