"""Launches kernels for a profiler to count: `python -m mmsim.gpu.counted FILE`.

`save` writes FILE. It holds kernels and the numbers of repetitions of their launches, in their
order: the words of their arguments as NumPy's arrays, all else as JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mmsim.cuda_c.kernels import Argument, Kernel
from mmsim.gpu.replay import cupy, launch_each

Launches = tuple[Kernel, Sequence[int]]


def save(file: Path, launches: Iterable[Launches]) -> None:
    """Write kernels, each with its launches' numbers of repetitions, to a file ending in .npz."""
    heads: list[Any] = []
    words: dict[str, Any] = {}
    for number, (kernel, repeats) in enumerate(launches):
        arguments = []
        for argument in kernel.arguments:
            arguments.append((argument.name, argument.role))
            if argument.role in ("array", "offsets"):
                words[f"{number} {argument.role} {argument.name}"] = argument.words()
        about = (kernel.source, kernel.name, kernel.space, kernel.options, kernel.cooperative)
        sizes = (kernel.grid, kernel.block, kernel.shared_bytes)
        heads.append((about, sizes, arguments, list(repeats)))
    np.savez(file, heads=np.array(json.dumps(heads)), **words)


def read(file: Path) -> list[Launches]:
    """The data of `save` that launches need."""
    launches: list[Launches] = []
    with np.load(file, allow_pickle=False) as kept:
        for number, head in enumerate(json.loads(str(kept["heads"]))):
            (source, name, space, options, together), (grid, block, shared), known, repeats = head
            arguments = []
            for argument, role in known:
                key = f"{number} {role} {argument}"
                table: Any = kept[key] if key in kept else np.zeros(1, np.int64)
                arguments.append(Argument(argument, role, table.dtype, table.size, table=table))
            kernel = Kernel(
                source,
                name,
                space,
                tuple(arguments),
                tuple(grid),
                tuple(block),
                shared,
                tuple(options),
                together,
            )
            launches.append((kernel, repeats))
    return launches


def main(file: Path) -> None:
    """Launch each kernel of a file, once for each number of repetitions."""
    cp = cupy()
    for kernel, repeats in read(file):
        launch_each(cp, kernel, repeats)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
