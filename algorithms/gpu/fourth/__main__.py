"""Predicts, measures and compares the fourth set of kernels.

    python -m mmsim_algorithms.gpu.fourth --predict P.json
    python -m mmsim_algorithms.gpu.fourth --measure M.json --predicted P.json   # needs a GPU
    python -m mmsim_algorithms.gpu.fourth --compare P.json M.json

Commit the signed predictions before the measurement, which names them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from mmsim_algorithms.gpu.fourth import comparing, measuring, predicting
from mmsim_algorithms.gpu.fourth.cases import CASES


def main(arguments: Sequence[str] | None = None) -> None:
    """Predict, measure or compare."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--predict", type=Path, metavar="FILE", help="continues where the file ends")
    what.add_argument("--measure", type=Path, metavar="FILE", help="on the GPU at hand")
    what.add_argument("--compare", type=Path, nargs=2, metavar=("PREDICTED", "MEASURED"))
    parser.add_argument("--predicted", type=Path, metavar="FILE", help="what --measure will decide")
    asked = parser.parse_args(arguments)
    if asked.predict:
        predicting.predict(asked.predict, CASES)
    elif asked.measure:
        measuring.measure(asked.measure, CASES, asked.predicted)
    else:
        print(*comparing.report(comparing.compared(*asked.compare)), sep="\n")


if __name__ == "__main__":
    main()
