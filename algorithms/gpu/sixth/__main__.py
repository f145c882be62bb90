"""Predicts, measures and compares the sixth set of kernels.

    python -m mmsim_algorithms.gpu.sixth --predict P.json
    python -m mmsim_algorithms.gpu.sixth --measure M.json --predicted P.json   # needs a GPU
    python -m mmsim_algorithms.gpu.sixth --compare P.json M.json

Commit the signed predictions before the measurement, which names them.
"""

from mmsim_algorithms.gpu.fourth.commands import main
from mmsim_algorithms.gpu.sixth.cases import CASES

if __name__ == "__main__":
    main("sixth", CASES)
