"""The commands of a set of kernels: predict, measure, compare."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from mmsim_algorithms.gpu.fourth import comparing, measuring, predicting
from mmsim_algorithms.gpu.fourth.case import Case


def main(name: str, cases: Iterable[Case], arguments: Sequence[str] | None = None) -> None:
    """Predict, measure or compare the set of this name."""
    parser = argparse.ArgumentParser(
        description=f"Predicts, measures and compares the {name} set of kernels."
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--predict", type=Path, metavar="FILE", help="continues where the file ends")
    what.add_argument("--measure", type=Path, metavar="FILE", help="on the GPU at hand")
    what.add_argument("--compare", type=Path, nargs=2, metavar=("PREDICTED", "MEASURED"))
    parser.add_argument("--predicted", type=Path, metavar="FILE", help="what --measure will decide")
    parser.add_argument("--processes", type=int, default=1, metavar="N", help="to predict with")
    asked = parser.parse_args(arguments)
    if asked.predict:
        predicting.predict(name, asked.predict, cases, asked.processes)
    elif asked.measure:
        measuring.measure(name, asked.measure, cases, asked.predicted)
    else:
        if not comparing.named(*asked.compare):
            print("Not blind: the measurement does not name this prediction.")
        print(*comparing.report(comparing.compared(*asked.compare)), sep="\n")
