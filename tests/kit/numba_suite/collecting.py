"""Collect the launches of the suite for a GPU: a plugin of pytest in addition to `in_place`.

They go to a file of this process's own, in the folder that MMSIM_SUITE_COLLECTED names.
"""

from __future__ import annotations

import copy
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np

from mmsim.cuda import launches
from tests.kit.numba_suite.collected import Collected, LeftOut, collect
from tests.kit.numba_suite.in_place import CURRENT

FOUND: dict[Any, Collected | str] = {}
"""By source and kinds of arguments: the first launch that fits, or why the last one didn't."""


def key_of(program, args, run):
    """The text of a kernel and of the functions it calls, and the kinds of its arguments."""
    texts = tuple("".join(source.lines) for source in run.sources)
    kinds = tuple(
        (value.dtype.str, value.ndim) if isinstance(value, np.ndarray) else type(value).__name__
        for value in args
    )
    return program.name, texts, kinds


def observed(run_launch):
    """Run launches, and collect those that are the first of their kind."""

    def run(program, args, asked):
        before = copy.deepcopy(args)
        done = run_launch(program, args, asked)
        key = key_of(program, args, done)
        if not isinstance(FOUND.get(key), Collected):
            try:
                FOUND[key] = collect(CURRENT[-1], program, before, asked)
            except LeftOut as error:
                FOUND[key] = str(error)
        return done

    return run


launches.run_kernel = observed(launches.run_kernel)


def pytest_sessionfinish():
    kept = {key: one for key, one in FOUND.items() if isinstance(one, Collected)}
    reasons = {key: one for key, one in FOUND.items() if isinstance(one, str)}
    folder = Path(os.environ["MMSIM_SUITE_COLLECTED"])
    with open(folder / f"{os.getpid()}.pickle", "wb") as stream:
        pickle.dump((kept, reasons), stream)
