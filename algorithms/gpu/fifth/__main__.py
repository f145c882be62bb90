"""Predicts, measures and compares the fifth set of kernels.

    python -m mmsim_algorithms.gpu.fifth --predict P.json
    python -m mmsim_algorithms.gpu.fifth --measure M.json --predicted P.json   # needs a GPU
    python -m mmsim_algorithms.gpu.fifth --compare P.json M.json

Commit the signed predictions before the measurement, which names them.
"""

from mmsim_algorithms.gpu.fifth.cases import CASES
from mmsim_algorithms.gpu.fourth.commands import main

if __name__ == "__main__":
    main("fifth", CASES)
