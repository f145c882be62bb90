"""Predicts, measures and compares the seventh set of kernels.

    python -m mmsim_algorithms.gpu.seventh --predict P.json
    python -m mmsim_algorithms.gpu.seventh --measure M.json --predicted P.json   # needs a GPU
    python -m mmsim_algorithms.gpu.seventh --compare P.json M.json

Commit the signed predictions before the measurement, which names them.
"""

from mmsim_algorithms.gpu.fourth.commands import main
from mmsim_algorithms.gpu.seventh.cases import CASES

if __name__ == "__main__":
    main("seventh", CASES)
