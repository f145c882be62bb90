"""Launches kernels for a profiler to count: `python -m mmsim.gpu.counted FILE`.

FILE holds pickled pairs of a `Kernel` and the numbers of turns of its launches, in their order.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

from mmsim.gpu.replay import cupy, launch_each


def main(file: Path) -> None:
    """Launch each kernel of a file, once for each number of turns."""
    cp = cupy()
    with file.open("rb") as opened:
        kernels = pickle.load(opened)
    for written, repeats in kernels:
        launch_each(cp, written, repeats)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
